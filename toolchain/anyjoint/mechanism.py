"""The mechanism: a tree of bodies with index ranges, names, parameters and states.

Built from a spec by `build.py`; plain data after that. What depends on the run-time
parameters is an SX expression of `p`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import casadi as ca

from anyjoint.dynamics.link import Kind, Link
from anyjoint.dynamics.tree import build_kernel, pattern
from anyjoint.errors import InputError, suggest
from anyjoint.joint_properties import Array, Bounds, Passive
from anyjoint.joints.contract import Joint

if TYPE_CHECKING:
    from anyjoint.dynamics.coupling import Coupling
    from anyjoint.dynamics.rows import Constraint


@dataclass(frozen=True)
class Body:
    """A body and the joint that carries it; `parent` is an index, −1 for the world."""

    name: str
    parent: int
    joint_name: str
    link: Link = field(repr=False)
    kind: Kind = field(repr=False)
    constants: Any = field(repr=False)  # of the link that its kernels take as inputs, of p

    @property
    def joint(self) -> Joint:
        return self.link.joint


@dataclass(frozen=True)
class Frame:
    """A named frame: pose (R, r) in the body with index `body` (−1: the world)."""

    name: str
    body: int
    R: Any
    r: Any


@dataclass(frozen=True, repr=False)
class Mechanism:
    """A mechanism; `function(name)` gives its dynamics as a casadi.Function."""

    name: str
    hash: str  # of the content of the model file, comments and layout aside
    bodies: tuple[Body, ...]  # in file order, as every index
    order: tuple[int, ...]  # of the sweeps: parents before children
    frames: tuple[Frame, ...]
    gravity: Any  # 3×1 expression of p
    p: Any  # SX symbols, np×1
    p_names: tuple[str, ...]
    p0: Array
    q_names: tuple[str, ...]
    v_names: tuple[str, ...]
    u_names: tuple[str, ...]
    actuation: Any  # expression of p: tau = actuation u, with rows for all joints of the tree
    q0: Array
    states: Mapping[str, Array]
    bounds: Bounds
    passive: Passive
    forces: tuple[Any, ...]
    coupling: Coupling | None  # q, v and tau are those of the tree without its dependent ones
    constraints: tuple[Constraint, ...]
    document: Any = field(repr=False, compare=False)
    compared: dict[str, dict[str, int]] = field(  # operations of fd by algorithm, see choice.py
        default_factory=dict, init=False, repr=False, compare=False)
    _kernels: dict[Any, ca.Function] = field(default_factory=dict, repr=False, compare=False)

    def __repr__(self) -> str:
        return (f"<mechanism {self.name}: {len(self.bodies)} bodies, nq={self.nq}, nv={self.nv}, "
                f"nu={self.nu}, np={self.np}>")

    @property
    def nq(self) -> int:
        return len(self.q_names)

    @property
    def nv(self) -> int:
        return len(self.v_names)

    @property
    def nu(self) -> int:
        return len(self.u_names)

    @property
    def np(self) -> int:
        return len(self.p_names)

    @property
    def body_names(self) -> tuple[str, ...]:
        return tuple(body.name for body in self.bodies)

    @property
    def frame_names(self) -> tuple[str, ...]:
        return tuple(frame.name for frame in self.frames)

    @property
    def contact_names(self) -> tuple[str, ...]:
        """Joints with a normal force in `joint_wrenches`."""
        return tuple(body.joint_name for body in self.bodies if body.joint.touches)

    @property
    def lambda_names(self) -> tuple[str, ...]:
        """Of the constraint forces."""
        return tuple(name for c in self.constraints for name in c.lambda_names)

    def state(self, name: str) -> Array:
        """Configuration q (nq) of a named state; "rest" is q0."""
        if name == "rest":
            return self.q0.copy()
        if name not in self.states:
            raise InputError(f'no state "{name}" in {self.name}; '
                             + suggest(name, [*self.states, "rest"], "states"))
        return self.states[name].copy()

    def function(self, name: str, **options: Any) -> ca.Function:
        """The function `name` of the catalogue (functions.py) for this mechanism."""
        from anyjoint import graphs
        return graphs.function(self, name, **options)

    def velocities_from(self, q: Array, V: Array, p: Array | None = None,
                        tol: float = 1e-9) -> Array:
        """v (nv) of the bodies' twists V (6 × bodies, world axes at their origins); InputError
        that names the first body whose velocity can't be reached."""
        from anyjoint.consistency import reached
        return reached(self, q, V, p, tol)

    def assembled(self, q: Array | None = None, p: Array | None = None,
                  hold: Sequence[str] = ()) -> Array:
        """q (default: rest) moved to where the constraints are met; see consistency.py."""
        from anyjoint.consistency import assembled
        return assembled(self, q, p, hold)

    def consistent(self, q: Array, v: Array, p: Array | None = None,
                   hold: Sequence[str] = ()) -> Array:
        """v as the constraints allow it at q; see consistency.py."""
        from anyjoint.consistency import consistent
        return consistent(self, q, v, p, hold)

    def baked(self) -> Mechanism:
        """The same mechanism with the parameters' defaults as constants (np = 0)."""
        from anyjoint.build import build
        return build(self.document, bake=True) if self.np else self

    def frame(self, name: str) -> Frame:
        """A frame by name; a body's own frame has the body's name."""
        for frame in self.frames:
            if frame.name == name:
                return frame
        if name in self.body_names:
            return Frame(name, self.body_names.index(name), ca.SX.eye(3), ca.SX(3, 1))
        raise InputError(f'no frame or body "{name}" in {self.name}; '
                         + suggest(name, [*self.frame_names, *self.body_names], "frames"))

    # -- what the sweeps use ------------------------------------------------------------

    def kernel(self, step: Callable[..., Any], i: int | None,
               sparsities: tuple[Any, ...]) -> ca.Function:
        """The kernel of `step` for body i, built once per kind of body and input."""
        body = None if i is None else self.bodies[i]
        key = (step, body and body.kind, tuple(map(pattern, sparsities)))
        if key not in self._kernels:
            self._kernels[key] = build_kernel(step, body, sparsities)
        return self._kernels[key]

    def constants_at(self, p: Any) -> list[Any]:
        """Free constants of every body at p: numbers (DM) where they don't depend on it."""
        return evaluate_at([body.constants for body in self.bodies], self.p, p)

    def gravity_at(self, p: Any) -> Any:
        return evaluate_at([self.gravity], self.p, p)[0]


def evaluate_at(expressions: list[Any], symbols: Any, p: Any) -> list[Any]:
    """Expressions of `symbols` at p (SX, MX or DM); DM where they are constant."""
    out: list[Any] = [ca.DM(x) if x.is_constant() else None for x in expressions]
    varying = [i for i, x in enumerate(out) if x is None]
    if varying:
        f = ca.Function("constants", [symbols], ca.cse([expressions[i] for i in varying]))
        values = f(p)
        for i, x in zip(varying, values if len(varying) > 1 else [values], strict=True):
            out[i] = x
    return out
