"""Configurations of a document: the rest values of the joints, and the named states."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import casadi as ca
import numpy as np

from anyjoint.build.scope import Scope
from anyjoint.build.values import column, full_name, full_names, spread
from anyjoint.dynamics.coupling import Coupling
from anyjoint.errors import suggest
from anyjoint.geometry.columns import split
from anyjoint.mechanism import Body


def _free(scope: Scope, given: Any, body: Body, dependent: Collection[str], *path: Any) -> Any:
    """What a document gives for the coordinates of a joint; `dependent` ones are a problem."""
    names = {short: full_name(body, short) for short in body.joint.q_names}
    coupled = [short for short, name in names.items() if name in dependent]
    if isinstance(given, dict):
        for short in (x for x in coupled if x in given):
            scope.problem(f'"{names[short]}" is given by a coupling', *path, short, key=True,
                          hint="leave it out")
        return {k: x for k, x in given.items() if k not in coupled}
    if given is None or not coupled:
        return given
    others = ", ".join(f"{short}: …" for short in names if short not in coupled)
    scope.problem(f'"{names[coupled[0]]}" is given by a coupling', *path, key=True,
                  hint=f"give the others by name: {{{others}}}" if others else "leave it out")
    return None


def rest(scope: Scope, bodies: tuple[Body, ...], dependent: Collection[str]) -> Any:
    """q (nq of the tree) from the joints' own rest values and their `rest` keys."""
    parts = [np.zeros(0)]
    for body in bodies:
        keys, here = scope.document.spec.bodies[body.name], scope.at("bodies", body.name)
        own = numbers(scope, body.joint.rest or [0.0] * body.joint.nq)
        given = _free(here, keys.joint.rest, body, dependent, "joint", "rest")
        if body.joint.nq > 1 and given is not None and not isinstance(given, (list, dict)):
            here.problem(f"{body.joint.nq} values are needed", "joint", "rest",
                         hint="in this order: " + ", ".join(body.joint.q_names))
            given = None
        q = spread(here, given, body.joint.q_names, own, "joint", "rest", number=True)
        parts.append(normalized(here, body, np.array(q, dtype=float), "joint", "rest"))
    return np.concatenate(parts)


def numbers(scope: Scope, values: Any) -> list[float]:
    """Values (float or SX of p) at the parameters' defaults."""
    defaults = [scope.numbers[n] for n in scope.document.spec.parameters]
    return [x if isinstance(x, float) else
            float(ca.Function("f", [scope.p], [x])(defaults)) for x in values]


def normalized(scope: Scope, body: Body, q: Any, *path: Any) -> Any:
    with np.errstate(invalid="ignore", divide="ignore"):
        moved = body.joint.normalize(q) if np.linalg.norm(q) > 0 else q
    if body.joint.nq != body.joint.nv and np.isfinite(q).all() and (
            not np.isfinite(moved).all() or not q.any()):
        scope.problem("a quaternion can't be zero", *path, hint="(w, x, y, z) = (1, 0, 0, 0)")
        return q
    return moved


def rest_of_p(scope: Scope, bodies: tuple[Body, ...], coupling: Coupling | None) -> list[Any]:
    """Rest values (float, or SX of p) of each joint."""
    given = [(scope.at("bodies", body.name), scope.document.spec.bodies[body.name].joint.rest,
              body.joint) for body in bodies]
    rest = [spread(here, keys, joint.q_names, joint.rest or [0.0] * joint.nq, "joint", "rest")
            for here, keys, joint in given]
    if coupling is None:
        return rest
    q = coupling.complete(column([x for own in rest for x in own]), scope.p)
    return [ca.vertsplit(own) if own.numel() else [] for own in
            split(q, [body.joint.nq for body in bodies])]


def completed(scope: Scope, rest: Any, coupling: Coupling | None) -> Any:
    """Rest values (nq of the tree) with those of dependent coordinates, nan after a problem."""
    if coupling is None:
        return rest
    if any(p.key.startswith("couplings") for p in scope.problems):
        return np.where(np.isin(np.arange(len(rest)), coupling.q_kept), rest, np.nan)
    p = [scope.numbers[n] for n in scope.document.spec.parameters][: scope.p.numel()]
    return np.array(coupling.complete(ca.DM(rest), p)).ravel()


def states(scope: Scope, bodies: tuple[Body, ...], rest: Any,
           dependent: Collection[str]) -> dict[str, Any]:
    """Named configurations (nq of the tree; the dependent rows don't count): entries by joint,
    joint.coordinate, or a list for a joint."""
    by_joint: dict[str, tuple[Body, int]] = {}
    start = 0
    for body in bodies:
        by_joint[body.joint_name] = (body, start)
        start += body.joint.nq
    known = [n for b in bodies for n in [b.joint_name, *full_names(b, b.joint.q_names)]]
    states = {}
    for state, entries in scope.document.spec.states.items():
        if state == "rest":
            scope.at("states").problem('"rest" is the state of the rest values', "rest", key=True,
                                       hint="rename it, or give the joints' rest")
        here, q = scope.at("states", state), rest.copy()
        for key, value in entries.items():
            joint, _, coordinate = key.partition(".")
            found = by_joint.get(joint)
            if not found or (coordinate and coordinate not in found[0].joint.q_names):
                here.problem(f'unknown coordinate "{key}"', key, key=True,
                             hint=suggest(key, dict.fromkeys(known), "coordinates"))
                continue
            body, a = found
            b = a + body.joint.nq
            if coordinate and full_name(body, coordinate) in dependent:
                here.problem(f'"{key}" is given by a coupling', key, key=True, hint="leave it out")
                continue
            if coordinate:
                q[a + list(body.joint.q_names).index(coordinate)] = here.number(value, key)
                continue
            if not isinstance(value, (list, dict)) and body.joint.nq > 1:
                here.problem(f"{body.joint.nq} values are needed", key,
                             hint="in this order: " + ", ".join(body.joint.q_names))
                continue
            given = _free(here, value, body, dependent, key)
            q[a:b] = spread(here, given, body.joint.q_names, list(q[a:b]), key, number=True)
        for other, a in by_joint.values():
            b = a + other.joint.nq
            q[a:b] = normalized(here, other, q[a:b])
        states[state] = q
    return states
