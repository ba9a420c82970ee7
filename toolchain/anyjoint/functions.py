"""The catalogue: name → inputs, outputs, builder (docs/functions.md).

A builder gets a Tree and the symbols of its inputs, SX or MX alike, and returns its
outputs. `p` is the last input of all but integrate and difference."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import casadi as ca

from anyjoint.dynamics import (
    configuration,
    constrained,
    constraints,
    conversions,
    coriolis,
    coupling,
    crba,
    forward,
    frames,
    hybrid,
    joint_wrenches,
    momentum,
)
from anyjoint.dynamics import passive as passive_forces
from anyjoint.dynamics.algorithms import FORWARD, INVERSE
from anyjoint.dynamics.tree import Tree
from anyjoint.mechanism import Mechanism, evaluate_at


@dataclass(frozen=True)
class Entry:
    """One function: builder, names of inputs and outputs, and the allowed values of its
    options (the first is the default; None: the name of a frame, no default; "joints": names of
    joints, none by default)."""

    build: Callable[..., Any]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...] | Callable[[Mechanism], tuple[str, ...]]
    doc: str
    options: Mapping[str, tuple[Any, ...] | str | None] = field(default_factory=dict)


# -- builders -------------------------------------------------------------------------


def _id(t: Tree, q: Any, v: Any, a: Any, fext: Any = None, *, passive: bool,
        algorithm: str = "rnea") -> Any:
    joint_forces, wrenches = _loads(t, fext, passive)(q, v)
    return INVERSE[algorithm](t, q, v, a, wrenches) + joint_forces


def _fd(t: Tree, q: Any, v: Any, tau: Any, fext: Any = None, *, passive: bool,
        algorithm: str, solve: Callable[..., Any] = forward.acceleration) -> Any:
    return solve(t, q, v, tau, _loads(t, fext, passive), algorithm)


def _id_constrained(t: Tree, q: Any, v: Any, a: Any, **options: Any) -> Any:
    return constrained.least_actuation(t, q, outputs(t, "id", q, v, a, **options))


def _loads(t: Tree, fext: Any, passive: bool) -> forward.Loads:
    """Passive joint forces, and wrenches on the bodies: the model's own forces and the
    caller's (6 × bodies)."""
    def loads(q: Any, v: Any) -> tuple[Any, list[Any]]:
        wrenches = passive_forces.wrenches(t, q, v, passive)
        if fext is not None:
            wrenches = [a + b for a, b in zip(wrenches, ca.horzsplit(fext), strict=True)]
        return (passive_forces.passive(t, q, v)[0] if passive else t.zeros(t.nv)), wrenches
    return loads


def _hybrid(t: Tree, q: Any, v: Any, given: Any, *, prescribed: tuple[str, ...],
            passive: bool) -> Any:
    return hybrid.hybrid(t, q, v, given, _loads(t, None, passive), prescribed)


def _joint_wrenches(t: Tree, q: Any, v: Any, tau: Any, *, passive: bool, algorithm: str) -> Any:
    return joint_wrenches.joint_wrenches(t, q, v, tau, _loads(t, None, passive), algorithm)


def _bias(t: Tree, q: Any, v: Any, *, passive: bool) -> Any:
    return _id(t, q, v, t.zeros(t.nv), passive=passive)


def _gravity_torque(t: Tree, q: Any) -> Any:
    still = t.zeros(t.nv)
    return INVERSE["rnea"](t, q, still, still, [t.zeros(6)] * len(t.bodies))


def _xdot(t: Tree, x: Any, u: Any, **options: Any) -> Any:
    m = t.mechanism
    q, v = ca.vertsplit(x, [0, m.nq, m.nq + m.nv])
    actuation = evaluate_at([ca.sparsify(m.actuation)], m.p, t.p)[0]
    tau = t.X(actuation) @ u
    if m.coupling is not None:
        tau = coupling.force(lambda *_: tau, t, q)
    a = outputs(t, "fd", q, v, tau, **options)
    return ca.vertcat(outputs(t, "qdot", q, v), a)


_PASSIVE: dict[str, Any] = {"passive": (True, False)}
_FORWARD: dict[str, Any] = _PASSIVE | {"algorithm": ("auto", *FORWARD)}
_INVERSE: dict[str, Any] = _PASSIVE | {"algorithm": tuple(INVERSE)}
_PRESCRIBED: dict[str, Any] = {"prescribed": "joints"} | _PASSIVE
_FRAME: dict[str, Any] = {"frame": None, "reference": frames.REFERENCES}

CATALOGUE: dict[str, Entry] = {
    "fd": Entry(_fd, ("q", "v", "tau", "p"), ("a",), "forward dynamics", _FORWARD),
    "id": Entry(_id, ("q", "v", "a", "p"), ("tau",), "inverse dynamics", _INVERSE),
    "fd_ext": Entry(_fd, ("q", "v", "tau", "fext", "p"), ("a",),
                    "forward dynamics with wrenches on the bodies", _FORWARD),
    "id_ext": Entry(_id, ("q", "v", "a", "fext", "p"), ("tau",),
                    "inverse dynamics with wrenches on the bodies", _INVERSE),
    "hybrid": Entry(_hybrid, ("q", "v", "given", "p"), ("found",), "given accelerations of "
                    "prescribed joints and forces of the others: the other half", _PRESCRIBED),
    "joint_wrenches": Entry(_joint_wrenches, ("q", "v", "tau", "p"), ("wrenches", "normal"),
                            "what the joints exert on their bodies; normal forces of contacts",
                            _FORWARD),
    "fd_constrained": Entry(partial(_fd, solve=forward.constrained_acceleration),
                            ("q", "v", "tau", "p"), ("a", "lambda"),
                            "fd, and constraint forces: M a + c = tau + Aᵀ lambda", _FORWARD),
    "id_constrained": Entry(_id_constrained, ("q", "v", "a", "p"), ("tau", "lambda"),
                            "least actuation with tau + Aᵀ lambda = id", _INVERSE),
    "constraint_residual": Entry(constraints.residual, ("q", "v", "p"), ("phi", "rate"),
                                 "errors of the constraints, of positions and velocities"),
    "constraint_jacobian": Entry(constraints.jacobian, ("q", "p"), ("A",),
                                 "A of the constraints A v = e"),
    "mass_matrix": Entry(crba.mass_matrix, ("q", "p"), ("M",), "mass matrix, armature included"),
    "bias": Entry(_bias, ("q", "v", "p"), ("bias",), "tau − M a", _PASSIVE),
    "gravity_torque": Entry(_gravity_torque, ("q", "p"), ("tau",), "tau that holds gravity"),
    "coriolis_matrix": Entry(coriolis.coriolis_matrix, ("q", "v", "p"), ("C",),
                             "C with Ṁ − 2C skew"),
    "energy": Entry(momentum.energy, ("q", "v", "p"), ("kinetic", "potential"),
                    "kinetic and potential energy", _PASSIVE),
    "poses": Entry(frames.poses, ("q", "p"), frames.pose_names,
                   "4×4 world pose of every body and frame"),
    "frame_jacobian": Entry(frames.jacobian, ("q", "p"), ("J",), "6×nv Jacobian", _FRAME),
    "frame_velocity": Entry(frames.velocity, ("q", "v", "p"), ("V",), "twist of a frame", _FRAME),
    "frame_bias": Entry(frames.bias, ("q", "v", "p"), ("bias",), "J̇ v of a frame", _FRAME),
    "center_of_mass": Entry(momentum.center_of_mass, ("q", "p"), ("com",), "in the world"),
    "momentum": Entry(momentum.momentum, ("q", "v", "p"), ("h",),
                      "[angular; linear], world axes, about the com"),
    "cartesian_velocities": Entry(conversions.cartesian_velocities, ("q", "v", "p"), ("V",),
                                  "twists of all bodies, world axes at their origins"),
    "generalised_velocities": Entry(conversions.generalised_velocities, ("q", "V", "p"),
                                    ("v", "error"), "v with these twists, and max |J v − V|"),
    "cartesian_forces": Entry(conversions.cartesian_forces, ("q", "tau", "p"), ("F",),
                              "wrenches on the bodies with Jᵀ F = tau, world axes at the origins"),
    "generalised_forces": Entry(conversions.generalised_forces, ("q", "F", "p"), ("tau",),
                                "tau = Jᵀ F of wrenches on the bodies"),
    "qdot": Entry(configuration.qdot, ("q", "v", "p"), ("qdot",), "q̇ = N(q) v"),
    "integrate": Entry(configuration.integrate, ("q", "dq"), ("q_next",), "q moved by dq"),
    "difference": Entry(configuration.difference, ("q0", "q1"), ("dq",), "dq from q0 to q1"),
    "xdot": Entry(_xdot, ("x", "u", "p"), ("xdot",), "ẋ = [q̇; a] of x = [q; v]", _FORWARD),
}


_LAYERS: dict[str, Callable[..., Any]] = {  # of couplings; others depend on the state alone
    "fd": coupling.inside, "fd_ext": coupling.inside, "id": coupling.inverse,
    "id_ext": coupling.inverse, "bias": partial(coupling.bias, _id),
    "gravity_torque": coupling.force, "mass_matrix": coupling.mass_matrix,
    "coriolis_matrix": coupling.coriolis_matrix, "frame_jacobian": coupling.jacobian,
    "frame_bias": coupling.frame_bias, "qdot": coupling.moved, "integrate": coupling.moved,
    "difference": coupling.difference, "xdot": coupling.inside,
    "constraint_jacobian": coupling.inside,
    "fd_constrained": coupling.inside, "id_constrained": coupling.inside, "hybrid": coupling.inside,
    "joint_wrenches": coupling.inside, "generalised_velocities": coupling.inside,
    "cartesian_forces": coupling.inside, "generalised_forces": coupling.force}


def outputs(t: Tree, name: str, *inputs: Any, **options: Any) -> Any:
    """What the builder of a function makes of its inputs, in the independent coordinates."""
    build = CATALOGUE[name].build
    if t.mechanism.coupling is None:
        return build(t, *inputs, **options)
    layer: Callable[..., Any] = _LAYERS.get(name, coupling.state)
    return layer(build, t, *inputs, **options)
