"""The catalogue: name → inputs, outputs, builder (docs/functions.md).

A builder gets a Tree and the symbols of its inputs, SX or MX alike, and returns its
outputs. `p` is the last input of all but integrate and difference."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import casadi as ca

from anyjoint import requests
from anyjoint.dynamics import aba, configuration, coriolis, coupling, crba, frames, momentum, rnea
from anyjoint.dynamics import passive as passive_forces
from anyjoint.dynamics.tree import Tree
from anyjoint.errors import InputError
from anyjoint.geometry import se3
from anyjoint.mechanism import Mechanism, evaluate_at

# A function whose kernels have more operations than this in all keeps them as calls
# ("rolled") if they are called twice or more on average; one without such reuse from four
# times as many on, for gcc's sake. Measured in docs/rolled.md.
ROLLED_ABOVE = 10_000


@dataclass(frozen=True)
class Entry:
    """One function: builder, names of inputs and outputs, and the allowed values of its
    options (the first is the default; None: the name of a frame, no default)."""

    build: Callable[..., Any]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...] | Callable[[Mechanism], tuple[str, ...]]
    doc: str
    options: Mapping[str, tuple[Any, ...] | None] = field(default_factory=dict)


# -- builders -------------------------------------------------------------------------


def _id(t: Tree, q: Any, v: Any, a: Any, fext: Any = None, *, passive: bool) -> Any:
    tau = rnea.rnea(t, q, v, a, _wrenches(t, q, v, fext, passive))
    return tau + passive_forces.passive(t, q, v)[0] if passive else tau


def _fd(t: Tree, q: Any, v: Any, tau: Any, fext: Any = None, *, passive: bool) -> Any:
    tau = tau - passive_forces.passive(t, q, v)[0] if passive else tau
    return aba.aba(t, q, v, tau, _wrenches(t, q, v, fext, passive))


def _wrenches(t: Tree, q: Any, v: Any, fext: Any, passive: bool) -> list[Any]:
    """Wrenches on the bodies: the model's own forces and the caller's (6 × bodies)."""
    own = passive_forces.wrenches(t, q, v, passive)
    return own if fext is None else [a + b for a, b in zip(own, ca.horzsplit(fext), strict=True)]


def _bias(t: Tree, q: Any, v: Any, *, passive: bool) -> Any:
    return _id(t, q, v, t.zeros(t.nv), passive=passive)


def _gravity_torque(t: Tree, q: Any) -> Any:
    still = t.zeros(t.nv)
    return rnea.rnea(t, q, still, still, [t.zeros(6)] * len(t.bodies))


def _poses(t: Tree, q: Any) -> list[Any]:
    m = t.mechanism
    own = [m.frame(name) for name in m.body_names]
    return [ca.densify(t.apply(se3.homogeneous, *pose))
            for pose in frames.world_poses(t, [*own, *m.frames], q)]


def _xdot(t: Tree, x: Any, u: Any, *, passive: bool) -> Any:
    m = t.mechanism
    q, v = ca.vertsplit(x, [0, m.nq, m.nq + m.nv])
    actuation = evaluate_at([ca.sparsify(m.actuation)], m.p, t.p)[0]
    tau = t.X(actuation) @ u
    if m.coupling is not None:
        tau = coupling.force(lambda *_: tau, t, q)
    a = _outputs(t, "fd", q, v, tau, passive=passive)
    return ca.vertcat(_outputs(t, "qdot", q, v), a)


def _pose_names(m: Mechanism) -> tuple[str, ...]:
    """Bodies, then frames, in file order; one called like an input gets an x behind it."""
    given = (*m.body_names, *m.frame_names)
    names: list[str] = []
    for name in given:
        plain = name
        while plain in ("q", "p") or (plain != name and plain in given):
            plain += "x"
        names.append(plain)
    return tuple(names)


_PASSIVE: dict[str, Any] = {"passive": (True, False)}
_FRAME: dict[str, Any] = {"frame": None, "reference": frames.REFERENCES}

CATALOGUE: dict[str, Entry] = {
    "fd": Entry(_fd, ("q", "v", "tau", "p"), ("a",), "forward dynamics", _PASSIVE),
    "id": Entry(_id, ("q", "v", "a", "p"), ("tau",), "inverse dynamics", _PASSIVE),
    "fd_ext": Entry(_fd, ("q", "v", "tau", "fext", "p"), ("a",),
                    "forward dynamics with wrenches on the bodies", _PASSIVE),
    "id_ext": Entry(_id, ("q", "v", "a", "fext", "p"), ("tau",),
                    "inverse dynamics with wrenches on the bodies", _PASSIVE),
    "mass_matrix": Entry(crba.mass_matrix, ("q", "p"), ("M",), "mass matrix, armature included"),
    "bias": Entry(_bias, ("q", "v", "p"), ("bias",), "tau − M a", _PASSIVE),
    "gravity_torque": Entry(_gravity_torque, ("q", "p"), ("tau",), "tau that holds gravity"),
    "coriolis_matrix": Entry(coriolis.coriolis_matrix, ("q", "v", "p"), ("C",),
                             "C with Ṁ − 2C skew"),
    "energy": Entry(momentum.energy, ("q", "v", "p"), ("kinetic", "potential"),
                    "kinetic and potential energy", _PASSIVE),
    "poses": Entry(_poses, ("q", "p"), _pose_names, "4×4 world pose of every body and frame"),
    "frame_jacobian": Entry(frames.jacobian, ("q", "p"), ("J",), "6×nv Jacobian", _FRAME),
    "frame_velocity": Entry(frames.velocity, ("q", "v", "p"), ("V",), "twist of a frame", _FRAME),
    "frame_bias": Entry(frames.bias, ("q", "v", "p"), ("bias",), "J̇ v of a frame", _FRAME),
    "center_of_mass": Entry(momentum.center_of_mass, ("q", "p"), ("com",), "in the world"),
    "momentum": Entry(momentum.momentum, ("q", "v", "p"), ("h",),
                      "[angular; linear], world axes, about the com"),
    "qdot": Entry(configuration.qdot, ("q", "v", "p"), ("qdot",), "q̇ = N(q) v"),
    "integrate": Entry(configuration.integrate, ("q", "dq"), ("q_next",), "q moved by dq"),
    "difference": Entry(configuration.difference, ("q0", "q1"), ("dq",), "dq from q0 to q1"),
    "xdot": Entry(_xdot, ("x", "u", "p"), ("xdot",), "ẋ = [q̇; a] of x = [q; v]", _PASSIVE),
}


_LAYERS: dict[str, Callable[..., Any]] = {  # of couplings; others depend on the state alone
    "fd": partial(coupling.forward, _id), "fd_ext": partial(coupling.forward, _id),
    "id": coupling.inverse, "id_ext": coupling.inverse, "bias": partial(coupling.bias, _id),
    "gravity_torque": coupling.force, "mass_matrix": coupling.mass_matrix,
    "coriolis_matrix": coupling.coriolis_matrix, "frame_jacobian": coupling.jacobian,
    "frame_bias": coupling.frame_bias, "qdot": coupling.moved, "integrate": coupling.moved,
    "difference": coupling.difference, "xdot": coupling.inside}


def _outputs(t: Tree, name: str, *inputs: Any, **options: Any) -> Any:
    """What the builder of a function makes of its inputs, in the independent coordinates."""
    build = CATALOGUE[name].build
    if t.mechanism.coupling is None:
        return build(t, *inputs, **options)
    layer: Callable[..., Any] = _LAYERS.get(name, coupling.state)
    return layer(build, t, *inputs, **options)


# -- making one ---------------------------------------------------------------------------


def function(m: Mechanism, name: str, *, form: str = "auto", dense: bool = False,
             **options: Any) -> ca.Function:
    """The casadi.Function `name` of a mechanism, named <mechanism>_<function>.

    form: "inlined" (one SX graph), "rolled" (MX, kernels as calls), or "auto": rolled where
    the inlined graph would be large. dense: matrices with their structural zeros."""
    options = requests.complete(CATALOGUE, m, name, options)
    entry = CATALOGUE[name]
    if form not in ("auto", "inlined", "rolled"):
        raise InputError(f'unknown form "{form}"; allowed: auto, inlined, rolled')
    if form != "inlined":
        rolled, tree = _make(m, name, entry, options, dense, ca.MX)
        if form == "rolled" or _large(tree):
            return rolled
    inlined, _ = _make(m, name, entry, options, dense, ca.SX)
    return rolled if form == "auto" and _large(tree, inlined.n_instructions()) else inlined


def _large(tree: Tree, inlined: int | None = None) -> bool:
    """Is the rolled form the better one? Without the instructions of the inlined form: for
    sure, whatever folds in it; couplings may leave less than half of the kernels' operations."""
    reused = tree.operations >= 2 * sum(f.n_instructions() for f in tree.kernels)
    limit = ROLLED_ABOVE if reused else 4 * ROLLED_ABOVE
    if inlined is None:
        return tree.operations > 4 * limit
    return tree.operations > limit and 2 * inlined > tree.operations


def _make(m: Mechanism, name: str, entry: Entry, options: dict[str, Any], dense: bool,
          X: Any) -> tuple[ca.Function, Tree]:
    """The function over symbols of type X (SX or MX), and the tree that it was built with."""
    sizes = {"q": m.nq, "v": m.nv, "a": m.nv, "tau": m.nv, "q0": m.nq, "q1": m.nq, "dq": m.nv,
             "x": m.nq + m.nv, "u": m.nu, "p": m.np, "fext": (6, len(m.bodies))}
    symbols = {n: X.sym(n, *(s if isinstance(s := sizes[n], tuple) else (s,)))
               for n in entry.inputs}
    tree = Tree(m, symbols.get("p", X(m.p0)))
    keywords = {k: m.frame(x) if k == "frame" else x for k, x in options.items()}
    outputs = _outputs(tree, name, *[x for n, x in symbols.items() if n != "p"], **keywords)
    outputs = [X(x) for x in (outputs if isinstance(outputs, (list, tuple)) else [outputs])]
    # vectors are dense; matrices keep their structural zeros, which solvers make use of
    outputs = [ca.densify(x) if dense or x.shape[1] == 1 else x for x in outputs]
    outputs = ca.cse(outputs) if X is ca.SX else outputs
    names = entry.outputs(m) if callable(entry.outputs) else entry.outputs
    symbol = f"{m.name}_{requests.alias(CATALOGUE, name, options)}"
    # p left out of a call is not silently zero: the result is not a number
    default = [math.nan if n == "p" else 0.0 for n in symbols]
    made = ca.Function(symbol, list(symbols.values()), outputs, list(symbols), list(names),
                       {"default_in": default})
    return made, tree
