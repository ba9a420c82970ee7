"""Stand-ins for the invalid parts of a document: they let the rest of it be checked in the
same run, and nothing else; a document with problems is never built.

First the invalid keys alone are left out (`without`); where that is not enough, whole
entries are replaced (`patch`)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

_TOP = {"anyjoint": 1, "name": "unnamed"}
_VALUE = {"constants": 1.0, "parameters": 1.0, "joint_types": {"transform": []}}
_MASS = "(mass|com|inertia|shapes)"


def without(tree: Any, paths: Iterable[tuple[Any, ...]]) -> tuple[Any, frozenset[str]]:
    """A copy of the tree without the keys at invalid paths, and their dotted paths. Lists
    go as a whole."""
    removed = set()
    for path in paths:
        for cut, step in enumerate(path):
            if isinstance(step, int):
                path = path[:cut]
                break
        if path and path[0] not in _VALUE:
            tree = _drop(tree, path)
        removed.add(".".join(map(str, path)))
    return tree, frozenset(removed)


def _drop(tree: Any, path: tuple[Any, ...]) -> Any:
    if not isinstance(tree, dict) or path[0] not in tree:
        return tree
    copy = dict(tree)
    if len(path) == 1:
        del copy[path[0]]
    else:
        copy[path[0]] = _drop(copy[path[0]], path[1:])
    return copy


def patch(tree: Any, paths: Iterable[tuple[Any, ...]]) -> tuple[Any, frozenset[str]]:
    """A copy of the tree with the entries at invalid paths replaced or left out, and the
    dotted paths of those entries."""
    out: dict[str, Any] = dict(tree)
    replaced: set[str] = set()
    for path in paths:
        section = path[0] if path else ""
        entries = tree.get(section)
        if len(path) < 2 or not isinstance(entries, dict):
            out.pop(section, None)
            if section in _TOP:
                out[section] = _TOP[section]
            replaced.add(str(section))
            continue
        name = str(path[1])
        out[section] = dict(out.get(section, {}))
        if section == "bodies":
            out[section][name] = _body(entries.get(name))
        elif section in _VALUE:
            out[section][name] = _VALUE[section]
        else:
            out[section].pop(name, None)
        replaced.add(f"{section}.{name}")
    types = {path.split(".")[1] for path in replaced if path.startswith("joint_types.")}
    for name, body in dict(out.get("bodies") or {}).items():
        joint = body.get("joint") if isinstance(body, dict) else None
        if isinstance(joint, dict) and joint.get("type") in types:
            out["bodies"] = {**out["bodies"], name: _body(body)}
            replaced.add(f"bodies.{name}")
    return out, frozenset(replaced)


def _body(given: Any) -> dict[str, Any]:
    """A body that keeps its place in the tree and its names."""
    given = given if isinstance(given, dict) else {}
    joint = given.get("joint") if isinstance(given.get("joint"), dict) else {}
    parent, name = given.get("parent"), joint.get("name")
    return {"parent": parent if isinstance(parent, str) else "world",
            "joint": {"type": "fixed"} | ({"name": name} if isinstance(name, str) else {})}


def caused(key: str, replaced: frozenset[str]) -> bool:
    """Can a problem at the dotted path `key` come from stand-ins rather than from the file?"""
    if not replaced:
        return False
    for path in replaced:
        section, _, rest = path.partition(".")
        whole = section in ("bodies", "frames", "joint_types") and "." not in rest
        if (whole or ".joint" in path or "frames" in path) and re.match(
                "states|actuators|forces|frames", key):
            return True  # names that the rest refers to may be gone
        if whole and re.fullmatch(rf"{re.escape(path)}\.(parent|joint\.name)", key):
            continue  # these were kept
        if key == path or key.startswith((f"{path}.", f"{path}[")):
            return True
        mass = re.match(rf"(bodies\.[^.]*)\.{_MASS}", path)
        if mass and re.match(rf"{re.escape(mass[1])}\.{_MASS}", key):
            return True
    return False
