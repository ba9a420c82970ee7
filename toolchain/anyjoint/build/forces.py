"""The section `forces` of a document."""

from __future__ import annotations

from typing import Any

import casadi as ca

from anyjoint.build.scope import Scope
from anyjoint.build.values import nonnegative
from anyjoint.errors import suggest
from anyjoint.forces import BodyForce, Drag, Force, Spring, WorldForce, ZeroLengthSpring


def forces(scope: Scope, entries: Any, index: dict[str, int],
           frames: dict[str, Any]) -> tuple[Force, ...]:
    """The forces of a document; `index` of bodies and world, `frames` by name."""
    return tuple(_force(scope.at("forces", name), name, keys, index, frames)
                 for name, keys in entries.items())


def _force(scope: Scope, name: str, keys: Any, index: dict[str, int],
           frames: dict[str, Any]) -> Force:
    if keys.type == "spring":
        sites = tuple(site(scope, key, where, index, frames)
                      for key, where in (("from", keys.from_), ("to", keys.to)))
        c = _sizes(scope, keys, "stiffness", "damping", "length")
        return ZeroLengthSpring(name, sites, c[:2]) if c[2].is_zero() else Spring(name, sites, c)
    at = (site(scope, "frame", keys.frame, index, frames),)
    if keys.type == "drag":
        return Drag(name, at, _sizes(scope, keys, "angular", "linear"))
    vectors = [scope(x, key, i) for key in ("force", "moment")
               for i, x in enumerate(getattr(keys, key))]
    kind = WorldForce if keys.axes == "world" else BodyForce
    return kind(name, at, ca.SX(ca.vertcat(*vectors)), passive=False)


def site(scope: Scope, key: str, where: str, index: dict[str, int],
         frames: dict[str, Any]) -> tuple[int, Any, Any]:
    """Body, R and r of the frame, body or world that stands at `key`."""
    if where in frames:
        return frames[where].body, frames[where].R, frames[where].r
    if where not in index:
        scope.problem(f'no frame or body "{where}"', key,
                      hint=suggest(where, [*frames, *index], "frames and bodies"))
    return index.get(where, -1), ca.SX.eye(3), ca.SX(3, 1)


def _sizes(scope: Scope, keys: Any, *names: str) -> Any:
    """A column of values that are zero or more."""
    return ca.SX(ca.vertcat(*[nonnegative(scope, getattr(keys, n), [n], 0.0, n)[0] for n in names]))
