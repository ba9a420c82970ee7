"""Stand-ins for the invalid parts of a document: they let the rest of it be checked in the
same run, and nothing else; a document with problems is never built.

First the invalid keys alone are left out (`without`); where that is not enough, whole
entries are replaced (`patch`)."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Set
from typing import Any

from anyjoint.frontend.fields import JointKeys

_TOP = {"anyjoint": 1, "name": "unnamed"}
# formulas that use a constant without a value are not checked
_VALUE = {"constants": "__lost__", "parameters": "__lost__", "joint_types": {"transform": []},
          "tables": dict.fromkeys("xy", ["__lost__"] * 2)}
# where these are incomplete, any formula, joint or reference may lack what it needs
EVERYTHING = frozenset(("", "include", "constants", "parameters", "tables", "joint_types"))
_MASS = re.compile(r"(bodies\.[^.]*)\.(mass|com|inertia|shapes)")
_KEPT = re.compile(r"(bodies\.[^.]*)\.(parent|joint\.name)")
_COMMON = set(JointKeys.model_fields) - {"name"}  # numbers, which don't shape a joint
_JOINT = re.compile(r"(bodies\.[^.]*\.joint)\.(\w+)")
_NAMING = re.compile(  # paths on which names of bodies, coordinates and frames depend
    r"(bodies|frames|joint_types)(\.[^.]*)?|bodies\.[^.]*\.frames(\.[^.]*)?"
    rf"|bodies\.[^.]*\.joint(\.(?!({'|'.join(_COMMON)})\b).*)?", re.DOTALL)


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


def within(key: str, paths: Set[str], but: str = "") -> bool:
    """Is the dotted path `key` one of `paths`, or below one, other than `but`?"""
    above = (key[: end.start()] for end in re.finditer(r"[.\[]|\Z", key))
    return any(path in paths and path != but for path in above)


@functools.lru_cache(maxsize=2)
def _lost(replaced: frozenset[str]) -> tuple[str, frozenset[str], frozenset[str]]:
    """A pattern of the keys that may refer to names which are gone, the bodies whose mass is not
    that of the file, and the joints that are not."""
    patterns = ["(?!)"]
    if not replaced.isdisjoint(EVERYTHING):
        patterns.append("")
    if any(map(_NAMING.fullmatch, replaced)):
        patterns.append("states|actuators|forces|frames|couplings|constraints")
    if any(path.startswith("bodies.") and "<" in path for path in replaced):
        patterns.append(r"bodies\..*\.parent\Z")  # bodies that were not written out
    if any(path.startswith("joint_types.") for path in replaced):
        patterns.append(r".*\.with\b")
    masses = filter(None, map(_MASS.match, replaced))
    joints = filter(None, map(_JOINT.match, replaced))
    return ("|".join(patterns), frozenset(match[1] for match in masses),
            frozenset(match[1] for match in joints if match[2] not in {*_COMMON, "name"}))


def caused(key: str, replaced: frozenset[str]) -> bool:
    """Can a problem at the dotted path `key` come from stand-ins rather than from the file?"""
    pattern, bodies, joints = _lost(replaced)
    if re.match(pattern, key, re.DOTALL) or within(key, joints):
        return True
    mass = _MASS.match(key)
    if mass and mass[1] in bodies:
        return True
    kept = _KEPT.fullmatch(key)  # by stand-ins for a whole body
    return within(key, replaced, kept[1] if kept and "<" not in key else "")
