"""The values of a YAML tree, which remember where they stand, unquoted scalars by the YAML 1.2
core schema, and what can be wrong with the entries of one collection."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from anyjoint.errors import Place, Problem

_WORDS = {"": None, "~": None} | {
    form: value
    for word, value in (("null", None), ("true", True), ("false", False))
    for form in (word, word.capitalize(), word.upper())
}
INT = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
Path = tuple[str | int, ...]
_SPECIAL = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")


class Map(dict[str, Any]):
    """A YAML mapping; `place` is its start, the two tables those of its entries."""

    def __init__(self, place: Place):
        super().__init__()
        self.place = place
        self.key_places: dict[str, Place] = {}
        self.value_places: dict[str, Place] = {}

    def put(self, key: str, value: Any, origin: Map, old_key: str | None = None) -> None:
        """self[key] = value, with the places that it has in `origin`."""
        self[key] = value
        self.key_places[key] = origin.key_places[old_key or key]
        self.value_places[key] = origin.value_places[old_key or key]

    def copy(self) -> Map:
        """The same entries in the same places."""
        out = Map(self.place)
        for key, value in self.items():
            out.put(key, value, self)
        return out


class Tree(Map):
    """The mapping of a whole file, and what was wrong with the file. `damaged` are the dotted
    paths of what these problems touch; its values are not what the file means."""

    def __init__(self, top: Map, problems: Iterable[Problem] = (), damaged: Iterable[str] = ()):
        super().__init__(top.place)
        for key, value in top.items():
            self.put(key, value, top)
        self.problems, self.damaged = list(problems), set(damaged)

    def note(self, problem: Problem, damaged: str) -> None:
        """One more problem."""
        self.problems.append(problem)
        self.damaged.add(damaged)


class Seq(list[Any]):
    """A YAML sequence; `place` is its start, `item_places` those of its items."""

    def __init__(self, place: Place):
        super().__init__()
        self.place = place
        self.item_places: list[Place] = []


def dotted(path: Sequence[str | int]) -> str:
    """('bodies', 'a', 'axis', 1) -> 'bodies.a.axis[1]'."""
    return "".join(f"[{s}]" if isinstance(s, int) else f".{s}" for s in path).removeprefix(".")


def resolve(text: str) -> Any:
    """The value of an unquoted scalar by the YAML 1.2 core schema."""
    if text in _WORDS:
        return _WORDS[text]
    if INT.fullmatch(text):
        return int(text, {"0o": 8, "0x": 16}.get(text[:2], 10))
    if _FLOAT.fullmatch(text):
        return float(text)
    return float(text.replace(".", "")) if _SPECIAL.fullmatch(text) else text


@dataclass
class Node:
    """A value, under construction or done."""

    value: Any
    place: Place
    plain: str | None = None  # the text of an unquoted scalar
    size: int = 1  # nodes in it, aliases expanded
    height: int = 0  # levels of collections in it, aliases expanded
    open: bool = False
    flow: bool = False  # a collection in brackets
    broken: bool = False  # there is a problem in it
    children: list[Node] = field(default_factory=list)  # of an open collection
    problems: list[Problem] = field(default_factory=list)  # with the keys of a mapping


def fits(entries: Map, key: Node) -> bool:
    """Can this be a new key of a mapping?"""
    return isinstance(key.value, str) and key.plain != "<<" and key.value not in entries


def key_problem(entries: Map, key: Node, path: Path) -> Problem:
    """Why a key does not fit into the mapping at `path`."""
    own, owner = dotted((*path, step(key))), dotted(path)
    if key.plain == "<<":
        hint = "repeat the keys, or use an alias of the whole value"
        return Problem("merge keys (<<) are not part of YAML 1.2", key.place, owner, hint)
    if not isinstance(key.value, str):
        shown = "a list or mapping" if isinstance(key.value, (Map, Seq)) else key.plain or "nothing"
        return Problem(f"a key must be text, not {shown}", key.place,
                       own if key.plain else owner, "quote it or rename it")
    message = f'"{key.value[:80]}" is here twice, first on line '
    message += str(entries.key_places[key.value].line)
    return Problem(message, key.place, own, "remove or rename one of them")


def step(key: Node) -> str:
    """A key as a step of a path."""
    return key.value[:200] if isinstance(key.value, str) else key.plain or "?"


def cut_formulas(node: Node, path: Path) -> list[Problem]:
    """Formulas in the collection at `path` that YAML cut at their commas: [0, atan2(y, x)]
    holds 'atan2(y' and 'x)'."""
    problems: list[Problem] = []
    start: int | None = None
    depth = 0
    for i, child in enumerate(node.children, 1):
        text = child.plain or ""
        change = text.count("(") - text.count(")")
        if start is None and change:
            start = i - 1
        depth += change
        if start is not None and (depth <= 0 or i == len(node.children)):
            problems.append(_cut_formula(node, start, i, depth, path))
            start, depth = None, 0
    return problems


def _cut_formula(node: Node, start: int, stop: int, depth: int, path: Path) -> Problem:
    """The problem with the formula in the children from start to stop, which became keys of a
    mapping perhaps: these go. Depth 0: its parentheses match."""
    run = node.children[start:stop]
    if isinstance(node.value, Map) and start % 2:
        path = (*path, step(node.children[start - 1]))
        for key in run[1::2]:
            if isinstance(key.value, str) and node.value.key_places.get(key.value) is key.place:
                node.value.pop(key.value)
    first, last = run[0].place, run[-1].place
    if depth == 0 and first.line == last.line:
        first = replace(first, length=last.column + last.length - first.column)
    text = ", ".join(piece.plain for piece in run if piece.plain)
    hint = f'write "{text}"' if depth == 0 else "its parentheses don't match either"
    return Problem("quote this formula: YAML cuts it at its commas", first, dotted(path), hint)
