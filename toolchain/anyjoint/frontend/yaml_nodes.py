"""The values of a YAML tree, which remember where they stand, unquoted scalars by the YAML 1.2
core schema, and what can be wrong with the entries of one collection."""

from __future__ import annotations

import re
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
_SPECIAL = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")


class Map(dict[str, Any]):
    """A YAML mapping; `place` is its start, the two tables those of its entries."""

    def __init__(self, place: Place):
        super().__init__()
        self.place = place
        self.key_places: dict[str, Place] = {}
        self.value_places: dict[str, Place] = {}


class Seq(list[Any]):
    """A YAML sequence; `place` is its start, `item_places` those of its items."""

    def __init__(self, place: Place):
        super().__init__()
        self.place = place
        self.item_places: list[Place] = []


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
    children: list[Node] = field(default_factory=list)  # of an open collection
    problems: list[Problem] = field(default_factory=list)  # with the keys of a mapping


def key_problem(entries: Map, key: Node) -> Problem | None:
    """What is wrong with a new key of a mapping."""
    if key.plain == "<<":
        hint = "repeat the keys, or use an alias of the whole value"
        return Problem("merge keys (<<) are not part of YAML 1.2", key.place, hint=hint)
    if not isinstance(key.value, str):
        shown = "a list or mapping" if isinstance(key.value, (Map, Seq)) else key.plain or "nothing"
        return Problem(f"a key must be text, not {shown}", key.place, hint="quote it or rename it")
    if key.value in entries:
        message = f'"{key.value[:80]}" is here twice, first on line '
        message += str(entries.key_places[key.value].line)
        return Problem(message, key.place, hint="remove or rename one of them")
    return None


def cut_formulas(node: Node) -> list[Problem]:
    """Formulas that YAML cut at their commas: [0, atan2(y, x)] holds 'atan2(y' and 'x)'."""
    problems: list[Problem] = []
    run: list[Node] = []
    depth = 0
    for child in node.children:
        text = child.plain or ""
        change = text.count("(") - text.count(")")
        if run or change:
            run.append(child)
            depth += change
        if run and depth <= 0:
            problems.append(_cut_formula(run, depth))
            run, depth = [], 0
    return problems + ([_cut_formula(run, depth)] if run else [])


def _cut_formula(run: list[Node], depth: int) -> Problem:
    """The problem with one formula in the pieces `run`; depth 0: its parentheses match."""
    first, last = run[0].place, run[-1].place
    if depth == 0 and first.line == last.line:
        first = replace(first, length=last.column + last.length - first.column)
    text = ", ".join(piece.plain for piece in run if piece.plain)
    hint = f'write "{text}"' if depth == 0 else "its parentheses don't match either"
    return Problem("quote this formula: YAML cuts it at its commas", first, hint=hint)
