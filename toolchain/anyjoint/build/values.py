"""Keys of a document that stand for several numbers: poses, and values or ranges given per
coordinate; names of coordinates."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from anyjoint.errors import suggest
from anyjoint.geometry import so3

if TYPE_CHECKING:
    from anyjoint.build.scope import Scope
    from anyjoint.joints.contract import Joint
    from anyjoint.mechanism import Body


def v_names_of(joint: Joint) -> Any:
    return joint.q_names if joint.v_names is None else joint.v_names


def column(entries: Any) -> Any:
    return ca.SX(ca.vertcat(ca.SX(0, 1), *entries))


def full_names(body: Body, names: Any) -> list[str]:
    return [body.joint_name] if len(names) == 1 else [f"{body.joint_name}.{n}" for n in names]


def full_name(body: Body, coordinate: str) -> str:
    names = list(body.joint.q_names)
    return full_names(body, names)[names.index(coordinate)]


def pose(scope: Scope, keys: Any, *path: Any) -> tuple[Any, Any]:
    """(R, r) of a Pose, SX; round-off of right angles is cleaned."""
    r = ca.vertcat(*[scope(x, *path, "xyz", i) for i, x in enumerate(keys.xyz)])
    if keys.rpy is not None and keys.quat is not None:
        scope.problem("give rpy or quat, not both", *path)
    R = ca.SX.eye(3)
    if keys.rpy is not None:
        R = so3.rpy(*[scope(x, *path, "rpy", i) for i, x in enumerate(keys.rpy)])
    elif keys.quat is not None:
        quat = [scope(x, *path, "quat", i) for i, x in enumerate(keys.quat)]
        numbers = (scope.number(x, *path, "quat", i) for i, x in enumerate(keys.quat))
        if math.hypot(*numbers) < 1e-12:
            scope.problem("a quaternion can't be zero", *path, "quat", hint="(w, x, y, z)")
            quat = [1.0, 0.0, 0.0, 0.0]
        R = so3.quat_rotation(ca.SX(ca.vertcat(*quat)))
    R = ca.SX(R)
    return (_clean(R) if R.is_constant() else R), ca.SX(r)


def _clean(R: Any) -> Any:
    """Entries within round-off of 0, 1 and −1 are those: cos(90°) is not 6e-17."""
    entries = np.array(ca.DM(R))
    nearest = np.round(entries)
    return ca.SX(ca.DM(np.where(abs(entries - nearest) < 4e-16, nearest, entries)))


def spread(scope: Scope, value: Any, names: Any, default: Any, *path: Any,
           number: bool = False) -> list[Any]:
    """A PerCoordinate value as a list, one entry for each of `names`; `default` fills gaps
    (one value, or a list)."""
    defaults = list(default) if isinstance(default, (list, tuple)) else [default] * len(names)
    evaluate = scope.number if number else scope
    if value is None:
        return defaults
    if not names:
        scope.problem("the joint has no coordinates", *path, key=True, hint="remove this key")
        return []
    if isinstance(value, dict):
        for name in value:
            if name not in names:
                scope.problem(f'no coordinate "{name}"', *path, name, key=True,
                              hint=suggest(name, names, "coordinates"))
        return [evaluate(value[n], *path, n) if n in value else d
                for n, d in zip(names, defaults, strict=True)]
    if isinstance(value, list):
        if len(value) != len(names):
            scope.problem(f"{len(value)} values for {len(names)} coordinates", *path,
                          hint="in this order: " + ", ".join(names))
            return defaults
        return [evaluate(x, *path, i) for i, x in enumerate(value)]
    return [evaluate(value, *path)] * len(names)


def spread_pairs(scope: Scope, value: Any, names: Any,
                 *path: Any) -> tuple[list[float], list[float]]:
    """Lower and upper ends of a range, ±inf where there is none."""
    n = len(names)
    steps: list[tuple[Any, ...]] = [(i,) for i in range(n)]
    given: list[Any] = [None] * n
    if value is not None and not n:
        scope.problem("the joint has no coordinates", *path, key=True, hint="remove this key")
    elif isinstance(value, dict):
        spread(scope, {k: 0.0 for k in value}, names, 0.0, *path)  # reports unknown names
        given, steps = [value.get(name) for name in names], [(name,) for name in names]
    elif isinstance(value, list) and not isinstance(value[0], list):
        given, steps = [value] * n, [()] * n  # one pair for all
    elif value is not None and len(value) != n:
        scope.problem(f"{len(value)} ranges for {n} coordinates", *path,
                      hint="in this order: " + ", ".join(names))
    elif value is not None:
        given = value
    lower, upper = [-np.inf] * n, [np.inf] * n
    for i, pair in enumerate(given):
        if pair is not None:
            lower[i], upper[i] = (scope.number(x, *path, *steps[i], k) for k, x in enumerate(pair))
            if lower[i] > upper[i]:
                scope.problem(f"the lower end {lower[i]:g} is above the upper end {upper[i]:g}",
                              *path, *steps[i], hint="[lower, upper]")
    return lower, upper


def nonnegative(scope: Scope, value: Any, names: Any, default: Any, *path: Any,
                positive: bool = False) -> list[Any]:
    """`spread` of values that are zero or more (or positive) at the parameters' defaults."""
    numbers = spread(scope, value, names, default, *path, number=True)
    if any(x < 0 or (positive and x == 0) for x in numbers):
        what = "not positive" if positive else "negative"
        scope.problem(f"{path[-1]} is {what}", *path, hint="> 0" if positive else "zero or more")
    return spread(scope, value, names, default, *path)
