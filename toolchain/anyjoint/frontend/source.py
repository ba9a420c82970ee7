"""Reads a YAML file to plain Python data that remembers where everything stands."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from anyjoint.errors import ModelError, Place, Problem
from anyjoint.frontend.yaml_nodes import Map, Seq, Tree, dotted, resolve
from anyjoint.frontend.yaml_tree import (
    LINE_BREAK,
    MAX_BYTES,
    MAX_DEPTH,
    MAX_DIGITS,
    MAX_NODES,
    MAX_PROBLEMS,
    Builder,
)

__all__ = [
    "MAX_BYTES", "MAX_DEPTH", "MAX_DIGITS", "MAX_NODES", "MAX_PROBLEMS",
    "Map", "Seq", "Tree", "dotted", "find", "locate", "locate_key", "parse", "read", "resolve",
]  # fmt: skip


def read(path: Path) -> Tree:
    """The mapping in the YAML file at `path`, with its problems; ModelError if there is none."""
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
        before = LINE_BREAK.split(data[: error.start].decode("utf-8"))
        place = Place(str(path), len(before), len(before[-1]) + 1)
    raise ModelError([Problem("this is not UTF-8 text", place, hint="save the file as UTF-8")])


def parse(text: str, file: str) -> Tree:
    """The same for a YAML text; `file` is the name shown in messages."""
    return Builder(text.removeprefix("\ufeff"), file).build()


def find(tree: Any, path: Sequence[str | int]) -> tuple[Any, Place | None]:
    """The value at `path` and its place, or else the deepest thing on the way to it."""
    place: Place | None = getattr(tree, "place", None)
    for step in path:
        if isinstance(tree, Map) and step in tree:
            tree, place = tree[str(step)], tree.value_places[str(step)]
        elif isinstance(tree, Seq) and isinstance(step, int) and 0 <= step < len(tree):
            tree, place = tree[step], tree.item_places[step]
        else:
            break
    return tree, place


def locate(tree: Any, path: Sequence[str | int]) -> Place | None:
    """The place that `find` finds."""
    return find(tree, path)[1]


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
