"""The sections of a document beside the tree: limits, passive forces of the joints,
actuators, frames."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

from anyjoint.build.scope import Scope
from anyjoint.build.states import normalized, numbers, rest_of_p
from anyjoint.build.values import column, nonnegative, pose, spread, spread_pairs, v_names_of
from anyjoint.dynamics.coupling import Coupling
from anyjoint.errors import suggest
from anyjoint.joint_properties import Bounds, Passive
from anyjoint.mechanism import Body, Frame


def ranges(scope: Scope, bodies: tuple[Body, ...]) -> tuple[Any, Any]:
    """Lower and upper ends of the coordinates (nq of the tree)."""
    ends = [spread_pairs(scope.at("bodies", body.name),
                         scope.document.spec.bodies[body.name].joint.range, body.joint.q_names,
                         "joint", "range") for body in bodies]
    lower, upper = (np.array([x for pair in ends for x in pair[k]], dtype=float) for k in (0, 1))
    return lower, upper


def bounds(scope: Scope, bodies: tuple[Body, ...], ends: tuple[Any, Any],
           u_max: list[float] | None, q_kept: list[int], v_kept: list[int]) -> Bounds:
    """Limits of the independent coordinates; `ends` are the ranges of all."""
    v_max: list[float] = []
    tau_max: list[float] = []
    for body in bodies:
        keys = scope.document.spec.bodies[body.name].joint
        here = scope.at("bodies", body.name)
        for limits, key in ((v_max, "velocity"), (tau_max, "effort")):
            nonnegative(here, getattr(keys, key), v_names_of(body.joint), np.inf, "joint", key)
            limits += spread(here, getattr(keys, key), v_names_of(body.joint), np.inf,
                             "joint", key, number=True)
    v_limit, tau_limit = (np.array(x, dtype=float)[v_kept] for x in (v_max, tau_max))
    return Bounds(ends[0][q_kept], ends[1][q_kept], v_limit, tau_limit,
                  tau_limit if u_max is None else np.array(u_max, dtype=float))


def passive(scope: Scope, bodies: tuple[Body, ...], coupling: Coupling | None) -> Passive:
    """Passive forces of the joints; a spring's neutral position is the rest value by
    default, and both follow p at run time."""
    rest = rest_of_p(scope, bodies, coupling)
    columns: dict[str, list[Any]] = {k: [] for k in Passive.__dataclass_fields__}
    defaults = {"damping": 0.0, "friction": 0.0, "friction_velocity": 0.01, "stiffness": 0.0}
    for body in bodies:
        joint, keys = body.joint, scope.document.spec.bodies[body.name].joint
        here = scope.at("bodies", body.name)
        for key, default in defaults.items():
            columns[key] += nonnegative(here, getattr(keys, key), v_names_of(joint), default,
                                        "joint", key, positive=key == "friction_velocity")
        neutral = spread(here, keys.spring_rest, joint.q_names, rest.pop(0), "joint", "spring_rest")
        if keys.spring_rest is not None:
            normalized(here, body, np.array(numbers(scope, neutral), dtype=float),
                        "joint", "spring_rest")
        columns["spring_rest"] += neutral
    return Passive(**{k: column(x) for k, x in columns.items()})


def actuators(scope: Scope, bodies: tuple[Body, ...], v_names: list[str],
              v_kept: list[int]) -> tuple[list[str], Any, list[float] | None]:
    """Names of u, the matrix of tau = B u, and the limits of u (None: those of tau)."""
    actuators = scope.document.spec.actuators
    if actuators is None:
        return [v_names[k] for k in v_kept], ca.SX.eye(len(v_names))[:, v_kept], None
    B, limits = ca.SX(len(v_names), len(actuators)), []
    shorts = (f"{body.joint_name}.{n}" for body in bodies for n in v_names_of(body.joint))
    index = {n: k for names in (shorts, v_names) for k, n in enumerate(names)}  # elbow.q is elbow
    for j, (name, keys) in enumerate(actuators.items()):
        here = scope.at("actuators", name)
        if keys.joint in index:
            B[index[keys.joint], j] = here(keys.gear, "gear")
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
