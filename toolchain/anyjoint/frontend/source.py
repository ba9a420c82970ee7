"""Reads a YAML file to plain Python data that remembers where everything stands.

The tree is built from PyYAML's event stream rather than by its composer: that
recurses, expands aliases and follows YAML 1.1, where `off` is a boolean."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NoReturn

import yaml

from anyjoint.errors import ModelError, Place, Problem

MAX_BYTES, MAX_NODES, MAX_DEPTH, MAX_PROBLEMS, MAX_DIGITS = 8_000_000, 1_000_000, 60, 100, 100

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_LINE_BREAK = re.compile("\r\n|[\n\r\x85\u2028\u2029]")
_UNPRINTABLE = re.compile(
    "[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
)
_WORDS = {"": None, "~": None} | {
    form: value
    for word, value in (("null", None), ("true", True), ("false", False))
    for form in (word, word.capitalize(), word.upper())
}
_INT = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
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


def read(path: Path) -> Map:
    """The mapping in the YAML file at `path`; ModelError if there is none."""
    try:
        with open(path, "rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ModelError([Problem(f"can't read {path}: {reason}")]) from None
    if len(data) > MAX_BYTES:
        raise ModelError([Problem(f"{path} is too large: at most {MAX_BYTES:,} bytes")])
    try:
        return parse(data.decode("utf-8"), str(path))
    except UnicodeDecodeError as error:
        before = _LINE_BREAK.split(data[: error.start].decode("utf-8"))
        place = Place(str(path), len(before), len(before[-1]) + 1)
    raise ModelError([Problem("this is not UTF-8 text", place, hint="save the file as UTF-8")])


def parse(text: str, file: str) -> Map:
    """The mapping in a YAML text; `file` is the name shown in messages."""
    return _Builder(text.removeprefix("\ufeff"), file).build()


def resolve(text: str) -> Any:
    """The value of an unquoted scalar by the YAML 1.2 core schema."""
    if text in _WORDS:
        return _WORDS[text]
    if _INT.fullmatch(text):
        return int(text, {"0o": 8, "0x": 16}.get(text[:2], 10))
    if _FLOAT.fullmatch(text):
        return float(text)
    return float(text.replace(".", "")) if _SPECIAL.fullmatch(text) else text


def locate(tree: Any, path: Sequence[str | int]) -> Place | None:
    """Where the value at `path` starts, or else the deepest thing on the way to it."""
    place: Place | None = getattr(tree, "place", None)
    for step in path:
        if isinstance(tree, Map) and step in tree:
            tree, place = tree[str(step)], tree.value_places[str(step)]
        elif isinstance(tree, Seq) and isinstance(step, int) and 0 <= step < len(tree):
            tree, place = tree[step], tree.item_places[step]
        else:
            break
    return place


def locate_key(tree: Any, path: Sequence[str | int]) -> Place | None:
    """Where the key path[-1] stands; the value's place where there is no such key."""
    parent = tree
    for step in path[:-1]:
        try:
            parent = parent[step]
        except (KeyError, IndexError, TypeError):
            break
    else:
        if path and isinstance(parent, Map) and path[-1] in parent:
            return parent.key_places[str(path[-1])]
    return locate(tree, path)


def dotted(path: Sequence[str | int]) -> str:
    """('bodies', 'a', 'axis', 1) -> 'bodies.a.axis[1]'."""
    return "".join(f"[{s}]" if isinstance(s, int) else f".{s}" for s in path).removeprefix(".")


@dataclass
class _Node:
    """A value, under construction or done."""

    value: Any
    place: Place
    plain: str | None = None  # the text of an unquoted scalar
    size: int = 1  # nodes in it, aliases expanded
    height: int = 0  # levels of collections in it, aliases expanded
    open: bool = False
    flow: bool = False  # a collection in brackets
    children: list[_Node] = field(default_factory=list)  # of an open collection
    problems: list[Problem] = field(default_factory=list)  # with the keys of a mapping


class _Builder:
    """Turns one text to a tree and collects what is wrong with it."""

    def __init__(self, text: str, file: str):
        self.text, self.file, self.lines = text, file, _LINE_BREAK.split(text)
        self.problems: list[Problem] = []
        self.stack: list[_Node] = []  # the collections that are open
        self.anchors: dict[str, _Node] = {}
        self.root: _Node | None = None

    def build(self) -> Map:
        if len(self.text) > MAX_BYTES:
            self._stop(Problem(f"the text is too large: at most {MAX_BYTES:,} characters"))
        if odd := _UNPRINTABLE.search(self.text):
            before = _LINE_BREAK.split(self.text[: odd.start()])
            place = self._place(len(before) - 1, len(before[-1]))
            self._stop(Problem(f"control character {odd[0]!r}", place, hint="remove it"))
        for event in self._events():
            self._take(event)
        root = self.root or _Node(None, self._place(0, 0))
        if not isinstance(root.value, Map):
            what = "the file is empty" if root.value is None else "this is no mapping"
            self._stop(Problem(what, root.place, hint="a model is lines of `key: value`"))
        if self.problems:
            self._stop()
        return root.value

    def _stop(self, *problems: Problem) -> NoReturn:
        found = [*self.problems, *problems, *(p for node in self.stack for p in node.problems)]
        found.sort(key=lambda p: (p.place.line, p.place.column) if p.place else (0, 0))
        raise ModelError(found)

    def _report(self, problem: Problem) -> None:
        self.problems.append(problem)
        if len(self.problems) >= MAX_PROBLEMS:
            self._stop()

    def _place(self, line: int, column: int, end: int | None = None) -> Place:
        """From PyYAML's line and column, which count from 0; without end: one character."""
        text = self.lines[line] if line < len(self.lines) else ""
        length = max(1, min(column + 1 if end is None else end, len(text)) - column)
        return Place(self.file, line + 1, column + 1, text, length)

    def _span(self, event: Any) -> Place:
        start, end = event.start_mark, event.end_mark
        # a scalar over several lines is underlined to the end of its first
        stop = end.column if end.line == start.line else MAX_BYTES
        return self._place(start.line, start.column, stop)

    def _events(self) -> Iterator[Any]:
        """PyYAML's events; an error of its own becomes a problem."""
        try:
            yield from yaml.parse(self.text, Loader=_LOADER)
        except (yaml.YAMLError, ValueError, OverflowError) as error:
            mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
            parts = (getattr(error, name, None) for name in ("context", "problem"))
            what = " ".join(filter(None, parts)) or str(error)
            place = self._place(mark.line, mark.column) if mark else None
            hint = "indent with spaces; quote text with `: ` or ` #` in it"
            self._stop(Problem(f"this is not YAML: {what}", place, hint=hint))

    def _take(self, event: Any) -> None:
        """One event of the stream."""
        if isinstance(event, yaml.DocumentStartEvent) and self.root:
            self._stop(Problem("a second document", self._span(event), hint="one model per file"))
        elif isinstance(event, yaml.ScalarEvent):
            self._add(self._new(event, self._scalar(event)))
        elif isinstance(event, yaml.AliasEvent):
            self._add(self._alias(event))
        elif isinstance(event, yaml.CollectionStartEvent):
            kind = Map if isinstance(event, yaml.MappingStartEvent) else Seq
            place, flow = self._span(event), bool(event.flow_style)
            node = _Node(kind(place), place, height=1, open=True, flow=flow)
            self.stack.append(self._new(event, node))
            if len(self.stack) > MAX_DEPTH:
                self._stop(Problem(f"nested deeper than {MAX_DEPTH} levels", place))
        elif isinstance(event, yaml.CollectionEndEvent):
            node = self.stack.pop()
            # the halves of a cut formula make odd keys: one message is enough
            for problem in (_cut_formulas(node) if node.flow else []) or node.problems:
                self._report(problem)
            node.open, node.children = False, []
            self._add(node)

    def _new(self, event: Any, node: _Node) -> _Node:
        """Notes the anchor of a new node; a tag is a problem."""
        if event.anchor is not None:
            self.anchors[event.anchor] = node
        if event.tag is not None:
            hint = "leave it out; quote what shall be text"
            self._report(Problem(f"tag {event.tag!r} is not supported", node.place, hint=hint))
        return node

    def _scalar(self, event: Any) -> _Node:
        place, text = self._span(event), event.value
        if _UNPRINTABLE.search(text):  # by an escape
            self._report(Problem("text with a control character", place, hint="remove it"))
        if not event.implicit[0]:
            return _Node(text, place)
        if len(text) > MAX_DIGITS and _INT.fullmatch(text):
            self._report(Problem(f"a number of more than {MAX_DIGITS} digits", place))
            return _Node(0, place, text)
        return _Node(resolve(text), place, text)

    def _alias(self, event: Any) -> _Node:
        place, node = self._span(event), self.anchors.get(event.anchor)
        if node and not node.open:
            return _Node(node.value, place, node.plain, node.size, node.height)
        what = "is part of itself" if node else f"has no anchor &{event.anchor} above it"
        self._report(Problem(f"*{event.anchor} {what}", place))
        return _Node("", place)

    def _add(self, node: _Node) -> None:
        """Puts a finished node where it belongs."""
        if not self.stack:
            self.root = node
            return
        parent = self.stack[-1]
        parent.children.append(node)
        parent.size += node.size
        parent.height = max(parent.height, node.height + 1)
        if parent.size > MAX_NODES:
            self._stop(Problem(f"more than {MAX_NODES:,} values, aliases expanded", node.place))
        if len(self.stack) + node.height > MAX_DEPTH:
            self._stop(Problem(f"nested deeper than {MAX_DEPTH} levels", node.place))
        if isinstance(parent.value, Seq):
            parent.value.append(node.value)
            parent.value.item_places.append(node.place)
        elif len(parent.children) % 2 == 0:
            key = parent.children[-2]
            if problem := _key_problem(parent.value, key):
                parent.problems.append(problem)
            else:
                parent.value[key.value] = node.value
                parent.value.key_places[key.value] = key.place
                parent.value.value_places[key.value] = node.place


def _key_problem(entries: Map, key: _Node) -> Problem | None:
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


def _cut_formulas(node: _Node) -> list[Problem]:
    """Formulas that YAML cut at their commas: [0, atan2(y, x)] holds 'atan2(y' and 'x)'."""
    problems: list[Problem] = []
    run: list[_Node] = []
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


def _cut_formula(run: list[_Node], depth: int) -> Problem:
    """The problem with one formula in the pieces `run`; depth 0: its parentheses match."""
    first, last = run[0].place, run[-1].place
    if depth == 0 and first.line == last.line:
        first = replace(first, length=last.column + last.length - first.column)
    text = ", ".join(piece.plain for piece in run if piece.plain)
    hint = f'write "{text}"' if depth == 0 else "its parentheses don't match either"
    return Problem("quote this formula: YAML cuts it at its commas", first, hint=hint)
