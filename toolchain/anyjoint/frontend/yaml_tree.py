"""Builds the tree of a YAML text from PyYAML's event stream. Its composer won't do: that
recurses, expands aliases and follows YAML 1.1, where `off` is a boolean."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NoReturn

import yaml

from anyjoint.errors import ModelError, Place, Problem
from anyjoint.frontend.yaml_nodes import (
    INT,
    Map,
    Node,
    Path,
    Seq,
    Tree,
    cut_formulas,
    dotted,
    fits,
    key_problem,
    resolve,
    step,
)

MAX_BYTES, MAX_NODES, MAX_DEPTH, MAX_PROBLEMS, MAX_DIGITS = 8_000_000, 1_000_000, 60, 100, 100

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
LINE_BREAK = re.compile("\r\n|[\n\r\x85\u2028\u2029]")
_UNPRINTABLE = re.compile(
    "[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
)


class Builder:
    """Turns one text to a tree and collects what is wrong with it."""

    def __init__(self, text: str, file: str):
        self.text, self.file, self.lines = text, file, LINE_BREAK.split(text)
        self.problems: list[Problem] = []
        self.damaged: set[str] = set()  # dotted paths, besides those of the problems
        self.stack: list[Node] = []  # the collections that are open
        self.anchors: dict[str, Node] = {}
        self.root: Node | None = None

    def build(self) -> Tree:
        """The tree and its problems; ModelError where there is none."""
        if len(self.text) > MAX_BYTES:
            self._stop(Problem(f"the text is too large: at most {MAX_BYTES:,} characters"))
        if odd := _UNPRINTABLE.search(self.text):
            before = LINE_BREAK.split(self.text[: odd.start()])
            place = self._place(len(before) - 1, len(before[-1]))
            self._stop(Problem(f"control character {odd[0]!r}", place, hint="remove it"))
        for event in self._events():
            self._take(event)
        root = self.root or Node(None, self._place(0, 0))
        if not isinstance(root.value, Map):
            what = "the file is empty" if root.value is None else "this is no mapping"
            self._stop(Problem(what, root.place, hint="a model is lines of `key: value`"))
        return Tree(root.value, self.problems, self.damaged | {p.key for p in self.problems})

    def _stop(self, *problems: Problem) -> NoReturn:
        found = [*self.problems, *problems, *(p for node in self.stack for p in node.problems)]
        found.sort(key=lambda p: (p.place.line, p.place.column) if p.place else (0, 0))
        raise ModelError(found)

    def _report(self, problem: Problem) -> None:
        self.problems.append(problem)
        if len(self.problems) >= MAX_PROBLEMS:
            self._stop()

    def _path(self) -> Path:
        """The path of the next value; for a key that of its mapping."""
        path: list[str | int] = []
        for node in self.stack:
            if isinstance(node.value, Seq):
                path.append(len(node.children))
            elif len(node.children) % 2:
                path.append(step(node.children[-1]))
        return tuple(path)

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
            if place and "\t" in place.text:
                hint = "there is a tab in this line; YAML indents with spaces"
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
            node = Node(kind(place), place, height=1, open=True, flow=flow)
            self.stack.append(self._new(event, node))
            if len(self.stack) > MAX_DEPTH:
                self._stop(Problem(f"nested deeper than {MAX_DEPTH} levels", place))
        elif isinstance(event, yaml.CollectionEndEvent):
            node = self.stack.pop()
            # the halves of a cut formula make odd keys: one message is enough
            found = (cut_formulas(node, self._path()) if node.flow else []) or node.problems
            for problem in found:
                self._report(problem)
            node.open, node.children, node.broken = False, [], node.broken or bool(found)
            self._add(node)

    def _new(self, event: Any, node: Node) -> Node:
        """Notes the anchor of a new node; a tag is a problem."""
        if event.anchor is not None:
            self.anchors[event.anchor] = node
        if event.tag is not None:
            hint = "leave it out; quote what shall be text"
            self._wrong(node, f"tag {event.tag!r} is not supported", hint)
        return node

    def _scalar(self, event: Any) -> Node:
        place, text = self._span(event), event.value
        if _UNPRINTABLE.search(text):  # by an escape
            return self._wrong(Node(None, place), "text with a control character", "remove it")
        if not event.implicit[0]:
            return Node(text, place)
        if len(text) > MAX_DIGITS and INT.fullmatch(text):
            return self._wrong(Node(0, place, text), f"a number of more than {MAX_DIGITS} digits")
        return Node(resolve(text), place, text)

    def _wrong(self, node: Node, message: str, hint: str = "") -> Node:
        """The node, with a problem."""
        self._report(Problem(message, node.place, dotted(self._path()), hint))
        node.broken = True
        return node

    def _alias(self, event: Any) -> Node:
        place, node = self._span(event), self.anchors.get(event.anchor)
        if node and not node.open:
            if node.broken:
                self.damaged.add(dotted(self._path()))
            return Node(node.value, place, node.plain, node.size, node.height, broken=node.broken)
        what = "is part of itself" if node else f"has no anchor &{event.anchor} above it"
        return self._wrong(Node(None, place), f"*{event.anchor} {what}")

    def _add(self, node: Node) -> None:
        """Puts a finished node where it belongs."""
        if not self.stack:
            self.root = node
            return
        parent = self.stack[-1]
        parent.children.append(node)
        parent.size += node.size
        parent.height = max(parent.height, node.height + 1)
        parent.broken |= node.broken
        if parent.size > MAX_NODES:
            self._stop(Problem(f"more than {MAX_NODES:,} values, aliases expanded", node.place))
        if len(self.stack) + node.height > MAX_DEPTH:
            self._stop(Problem(f"nested deeper than {MAX_DEPTH} levels", node.place))
        if isinstance(parent.value, Seq):
            parent.value.append(node.value)
            parent.value.item_places.append(node.place)
        elif len(parent.children) % 2 == 0:
            key = parent.children[-2]
            if key.broken:
                return
            if not fits(parent.value, key):
                parent.problems.append(key_problem(parent.value, key, self._path()))
            else:
                parent.value[key.value] = node.value
                parent.value.key_places[key.value] = key.place
                parent.value.value_places[key.value] = node.place
