"""Errors of validation in the words of a model file: where, what is wrong, what to write."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from anyjoint.curves import CURVES
from anyjoint.errors import Place, Problem, near, suggest
from anyjoint.frontend import source, standins
from anyjoint.frontend.spots import Spot, form, members, walk
from anyjoint.joints import JOINTS
from anyjoint.surfaces import SURFACES

Path = tuple[Any, ...]
# what to write where a key is missing or has a value of the wrong kind
_HINTS = {"anyjoint": "write anyjoint: 1", "joint": "for example {type: revolute, axis: z}",
          "inertia": "[xx, yy, zz] or {xx: …, yy: …, zz: …}", "parent": "a body, or world",
          "bodies": "bodies: {name: {parent: …, joint: …, mass: …}}",
          "coefficients": "velocities and their coefficients, as in {slide: 1, wheel: -radius}",
          "string_type": "text; a number goes in quotes", "bool_type": "true or false"}
_NO_MAPPING = ("union_tag_not_found", "union_tag_invalid", "model_type", "model_attributes_type",
               "dict_type")
_LISTS = ("list_type", "too_short", "too_long")
_WORDS = (("Input should be", "expected"), ("List should have", "expected"),
          ("Dictionary should have", "expected"), (" after validation", ""),
          ("String should", "the text should"), ("a valid ", "a "))


def problems(tree: source.Tree, errors: Sequence[Any]) -> list[tuple[Problem, Path]]:
    """The errors as problems. Of lists in lists with the same fault the first is told."""
    found, lists = [], set()
    whole = (tree.damaged | unknown(tree, errors)[1]).isdisjoint(standins.EVERYTHING)
    for error in errors:
        spot = walk(error["loc"])
        steps = [step for step in spot.path if isinstance(step, str)]
        if error["type"] in _LISTS and isinstance(spot.path[-1], int):
            fault = (error["type"], *steps)
            if fault in lists:
                continue
            lists.add(fault)
        found.append((_translate(tree, error, spot, whole), spot.path))
    return found


def paths(tree: source.Tree, errors: Sequence[Any]) -> list[Path]:
    """What to leave out for the errors to go away; a joint of an unknown type goes as a whole."""
    spots = [walk(error["loc"]) for error in errors]
    return [(*spot.joint, "type") if spot.joint and _untyped(tree, spot.joint) else spot.path
            for spot in spots]


def unknown(tree: source.Tree, errors: Sequence[Any]) -> tuple[set[str], set[str]]:
    """Dotted paths of unknown keys, and of those missing that were probably meant by them."""
    keys, meant = set(), set()
    for spot in (walk(e["loc"]) for e in errors if e["type"] == "extra_forbidden"):
        keys.add(source.dotted(spot.path))
        likely = near(str(spot.path[-1]), spot.keys)
        if likely and likely not in source.find(tree, spot.path[:-1])[0]:
            meant.add(source.dotted((*spot.path[:-1], likely)))
    return keys, meant


def locate_problem(tree: source.Map, message: str, path: Path, hint: str = "", *,
                   key: bool = False, offset: int = 0, length: int = 0) -> Problem:
    """A problem at `path`; `offset` counts into the text of a scalar there. With escapes, in
    a block or behind an alias the text is not that of the file: then the whole scalar counts."""
    value, place = source.find(tree, path)
    if key:
        place = source.locate_key(tree, path)
    elif place and length and isinstance(value, str):
        start = place.column - 1
        start += place.text[start : start + 1] in ("'", '"')
        if place.text.startswith(value, start):
            place = Place(place.file, place.line, start + offset + 1, place.text, length)
    return Problem(message, place, source.dotted(path), hint)


def _translate(tree: source.Tree, error: Any, spot: Spot, whole: bool) -> Problem:
    """A pydantic error in the words of a model file. whole: are all joint types known?"""
    path, kind, context = spot.path, error["type"], error.get("ctx", {})
    value = source.find(tree, path)[0]
    if spot.joint and whole and (options := _untyped(tree, spot.joint)):
        return _no_type(tree, spot.joint, options, JOINTS.failed, "joint type")
    if kind == "anyjoint":
        path = (*path, *context.get("step", ()))
        return locate_problem(tree, context["message"], path, context.get("hint", ""),
                              offset=context.get("offset", 0), length=context.get("length", 0))
    if kind == "extra_forbidden":
        hint = suggest(str(path[-1]), spot.keys, "allowed keys")
        return locate_problem(tree, f'unknown key "{path[-1]}"', path, hint, key=True)
    if kind == "missing":
        return _missing(tree, path, spot.keys)
    if kind in _NO_MAPPING and (options := list(members(spot.kind))):
        return _no_type(tree, path, options, {**CURVES.failed, **SURFACES.failed})
    if kind in _NO_MAPPING:
        hint = _HINTS.get(path[-1] if path else "", "key: value pairs")
        return locate_problem(tree, "expected a mapping here", path, hint)
    message = str(error["msg"])
    for word, ours in _WORDS:
        message = message.replace(word, ours)
    written = form(spot.whole) or form(spot.kind)
    hint = f"write {_key(path)}: {written}" if written else \
        _HINTS.get(kind) or _HINTS.get(_key(path), "")
    if kind == "literal_error":
        hint = suggest(str(value), re.findall("'([^']*)'", context["expected"]))
    return locate_problem(tree, message[:1].lower() + message[1:], path, hint)


def _untyped(tree: source.Tree, joint: Path) -> list[str]:
    """The types of joints, if what is at this path has none of them."""
    types, given = tree.get("joint_types"), source.find(tree, joint)[0]
    options = [*JOINTS, *(types if isinstance(types, dict) else ())]
    return [] if isinstance(given, dict) and given.get("type") in options else options


def _key(path: Path) -> str:
    return next((step for step in reversed(path) if isinstance(step, str)), "")


def _missing(tree: source.Tree, path: Path, keys: list[str]) -> Problem:
    """The key at the end of `path` is missing, or another one stands for it by mistake."""
    for given in source.find(tree, path[:-1])[0]:
        if given not in keys and near(str(given), keys) == path[-1]:
            return locate_problem(tree, f'unknown key "{given}"', (*path[:-1], given),
                                  suggest(str(given), keys, "allowed keys"), key=True)
    hint = f"keys: {', '.join(keys)}"
    if len(path) == 1 or path[0] == "bodies":
        hint = _HINTS.get(path[-1], hint)
    return locate_problem(tree, f'the key "{path[-1]}" is missing', path[:-1], hint, key=True)


def _no_type(tree: source.Tree, path: Path, options: list[str],
             failed: dict[str, str], what: str = "type") -> Problem:
    """What is at `path` has no type, or one that is not among the options."""
    value, types = source.find(tree, path)[0], suggest("", options, "types")
    if not isinstance(value, dict):
        hint = f"write {{type: {value}}}" if isinstance(value, str) and value in options else types
        return locate_problem(tree, "expected a mapping with a type here", path, hint)
    if "type" not in value:
        problem = _missing(tree, (*path, "type"), ["type"])
        typo = 'did you mean "type"? ' * problem.message.startswith("unknown")
        return replace(problem, hint=typo + types)
    if not isinstance(value["type"], str):
        return locate_problem(tree, "expected the name of a type", (*path, "type"), types)
    return locate_problem(tree, f'unknown {what} "{value["type"]}"', (*path, "type"),
                          failed.get(value["type"], suggest(value["type"], options, "types")))
