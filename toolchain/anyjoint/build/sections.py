"""The sections of a document beside the tree: rest values and states, limits, passive
forces of the joints, actuators, frames."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

from anyjoint.build.scope import Scope
from anyjoint.build.values import nonnegative, pose, spread, spread_pairs
from anyjoint.errors import suggest
from anyjoint.joints.contract import Joint
from anyjoint.mechanism import Body, Bounds, Frame, Passive


def v_names_of(joint: Joint) -> Any:
    return joint.q_names if joint.v_names is None else joint.v_names


def column(entries: Any) -> Any:
    return ca.SX(ca.vertcat(ca.SX(0, 1), *entries))


def full_names(body: Body, names: Any) -> list[str]:
    return [body.joint_name] if len(names) == 1 else [f"{body.joint_name}.{n}" for n in names]


def rest(scope: Scope, bodies: tuple[Body, ...]) -> Any:
    """q0 (nq) from the joints' own rest values and their `rest` keys."""
    parts = [np.zeros(0)]
    for body in bodies:
        keys, here = scope.document.spec.bodies[body.name], scope.at("bodies", body.name)
        own = _numbers(scope, body.joint.rest or [0.0] * body.joint.nq)
        given = keys.joint.rest
        if body.joint.nq > 1 and given is not None and not isinstance(given, (list, dict)):
            here.problem(f"{body.joint.nq} values are needed", "joint", "rest",
                         hint="in this order: " + ", ".join(body.joint.q_names))
            given = None
        q = spread(here, given, body.joint.q_names, own, "joint", "rest", number=True)
        parts.append(_normalized(here, body, np.array(q, dtype=float), "joint", "rest"))
    return np.concatenate(parts)


def _numbers(scope: Scope, values: Any) -> list[float]:
    """Values (float or SX of p) at the parameters' defaults."""
    defaults = [scope.numbers[n] for n in scope.document.spec.parameters]
    return [x if isinstance(x, float) else
            float(ca.Function("f", [scope.p], [x])(defaults)) for x in values]


def _normalized(scope: Scope, body: Body, q: Any, *path: Any) -> Any:
    with np.errstate(invalid="ignore", divide="ignore"):
        moved = body.joint.normalize(q) if np.linalg.norm(q) > 0 else q
    if body.joint.nq != body.joint.nv and np.isfinite(q).all() and (
            not np.isfinite(moved).all() or not q.any()):
        scope.problem("a quaternion can't be zero", *path, hint="(w, x, y, z) = (1, 0, 0, 0)")
        return q
    return moved


def states(scope: Scope, bodies: tuple[Body, ...], q0: Any) -> dict[str, Any]:
    """Named configurations: entries by joint, joint.coordinate, or a list for a joint."""
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
        here, q = scope.at("states", state), q0.copy()
        for key, value in entries.items():
            joint, _, coordinate = key.partition(".")
            found = by_joint.get(joint)
            if not found or (coordinate and coordinate not in found[0].joint.q_names):
                here.problem(f'unknown coordinate "{key}"', key, key=True,
                             hint=suggest(key, dict.fromkeys(known), "coordinates"))
                continue
            body, a = found
            b = a + body.joint.nq
            given = {coordinate: value} if coordinate else value
            if not isinstance(given, (list, dict)) and body.joint.nq > 1:
                here.problem(f"{body.joint.nq} values are needed", key,
                             hint="in this order: " + ", ".join(body.joint.q_names))
                continue
            path = () if coordinate else (key,)
            q[a:b] = spread(here, given, body.joint.q_names, list(q[a:b]), *path, number=True)
        for other, a in by_joint.values():
            b = a + other.joint.nq
            q[a:b] = _normalized(here, other, q[a:b])
        states[state] = q
    return states


def bounds(scope: Scope, bodies: tuple[Body, ...], u_max: list[float] | None) -> Bounds:
    lower: list[float] = []
    upper: list[float] = []
    v_max: list[float] = []
    tau_max: list[float] = []
    for body in bodies:
        keys = scope.document.spec.bodies[body.name].joint
        here = scope.at("bodies", body.name)
        ends = spread_pairs(here, keys.range, body.joint.q_names, "joint", "range")
        lower, upper = lower + ends[0], upper + ends[1]
        for limits, key in ((v_max, "velocity"), (tau_max, "effort")):
            nonnegative(here, getattr(keys, key), v_names_of(body.joint), np.inf, "joint", key)
            limits += spread(here, getattr(keys, key), v_names_of(body.joint), np.inf,
                             "joint", key, number=True)
    u_max = tau_max if u_max is None else u_max
    return Bounds(*(np.array(x, dtype=float) for x in (lower, upper, v_max, tau_max, u_max)))


def passive(scope: Scope, bodies: tuple[Body, ...]) -> Passive:
    """Passive forces of the joints; a spring's neutral position is the rest value by
    default, and both follow p at run time."""
    columns: dict[str, list[Any]] = {k: [] for k in Passive.__dataclass_fields__}
    defaults = {"damping": 0.0, "friction": 0.0, "friction_velocity": 0.01, "stiffness": 0.0}
    for body in bodies:
        joint, keys = body.joint, scope.document.spec.bodies[body.name].joint
        here = scope.at("bodies", body.name)
        for key, default in defaults.items():
            columns[key] += nonnegative(here, getattr(keys, key), v_names_of(joint), default,
                                        "joint", key, positive=key == "friction_velocity")
        rest = spread(here, keys.rest, joint.q_names, joint.rest or [0.0] * joint.nq,
                      "joint", "rest")
        neutral = spread(here, keys.spring_rest, joint.q_names, rest, "joint", "spring_rest")
        if keys.spring_rest is not None:
            _normalized(here, body, np.array(_numbers(scope, neutral), dtype=float),
                        "joint", "spring_rest")
        columns["spring_rest"] += neutral
    return Passive(**{k: column(x) for k, x in columns.items()})


def actuators(scope: Scope, v_names: list[str]) -> tuple[list[str], Any, list[float] | None]:
    """Names of u, the matrix of tau = B u, and the limits of u (None: those of tau)."""
    actuators = scope.document.spec.actuators
    if actuators is None:
        return v_names, ca.SX.eye(len(v_names)), None
    B, limits = ca.SX(len(v_names), len(actuators)), []
    for j, (name, keys) in enumerate(actuators.items()):
        here = scope.at("actuators", name)
        if keys.joint in v_names:
            B[v_names.index(keys.joint), j] = here(keys.gear, "gear")
        else:
            own = [n for n in v_names if n.startswith(f"{keys.joint}.")]
            what = f'"{keys.joint}" has several coordinates' if own else \
                f'no joint or coordinate "{keys.joint}"'
            hint = suggest(keys.joint, own or v_names, "coordinates")
            here.problem(what, "joint", hint=hint)
        nonnegative(here, keys.limit, [name], np.inf, "limit")
        limits.append(np.inf if keys.limit is None else here.number(keys.limit, "limit"))
    return list(actuators), B, limits


def frames(scope: Scope, index: dict[str, int]) -> list[Frame]:
    frames = []
    for body, keys in scope.document.spec.bodies.items():
        for name, given in keys.frames.items():
            R, r = pose(scope.at("bodies", body), given, "frames", name)
            frames.append(Frame(name, index[body], R, r))
    for name, given in scope.document.spec.frames.items():
        here = scope.at("frames", name)
        if given.body not in index:
            here.problem(f'no body "{given.body}"', "body",
                         hint=suggest(given.body, index, "bodies"))
        R, r = pose(here, given)
        frames.append(Frame(name, index.get(given.body, -1), R, r))
    return frames
