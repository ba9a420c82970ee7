"""The joint contract: nq, nv, coordinate names with rest values, and one transform.

A family is a subclass of `Joint` in a file of its own, with the pydantic model of
its keys. `transform` is all it must give; S, the bias, the flow on the configuration
space and every derivative follow. Overriding `motion` with a product of elementary
motions is an optimisation, proven equal to the derived form by the tests."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol

import casadi as ca

from anyjoint.frontend.fields import JointKeys
from anyjoint.joints.motion import Chart, Motion

if TYPE_CHECKING:
    from anyjoint.curves.contract import Curve
    from anyjoint.surfaces.contract import Surface


class Evaluate(Protocol):
    """What a joint gets to turn its keys into numbers (see build/scope.py): paths are keys and
    indices below the joint's own place in the document."""

    @property
    def joint_types(self) -> Any: ...

    @property
    def names(self) -> dict[str, Any]:
        """Constants and parameters of the file: float, or SX where it depends on p; tables
        (with formula.TABLE before their names)."""

    def __call__(self, text: Any, *path: Any) -> Any:
        """Value of a formula: float, or SX where it depends on p."""

    def number(self, text: Any, *path: Any) -> float:
        """The same with the parameters at their defaults."""

    def positive(self, text: Any, *path: Any) -> Any:
        """The value of a formula; not positive at the parameters' defaults is a problem."""

    def identifier(self, name: str, *path: Any, key: bool = False) -> None:
        """Notes a problem where a name is no identifier."""

    def problem(self, message: str, *path: Any, hint: str = "") -> None:
        """Notes a problem; the joint goes on with some stand-in."""

    def formula_problem(self, e: Any, *path: Any) -> None: ...

    def at(self, *path: Any) -> Evaluate: ...

    def joint(self, keys: Any, *path: Any) -> Joint:
        """The joint of other keys that stand at `path`."""

    def curve(self, keys: Any, *path: Any) -> Curve:
        """The curve of keys that stand at `path`."""

    def surface(self, keys: Any, *path: Any) -> Surface:
        """The surface of keys that stand at `path`."""

    def pose(self, keys: Any, *path: Any) -> tuple[Any, Any]:
        """(R 3×3, r 3×1), SX, of a Pose that stands at `path`."""


class Condition(NamedTuple):
    """A number ≥ 0 that must not be zero: what is wrong where it is, and what helps there;
    {u} in the advice stands for the joint's coordinate u."""

    text: str
    value: Any
    advice: str


class Joint:
    """One joint of a mechanism.

    `options` are what shapes its formulas (hashable; part of `kind`), `arguments`
    the numbers or expressions of p that enter them (axis, pitch, …)."""

    Keys: ClassVar[type[JointKeys]]
    examples: ClassVar[Sequence[dict[str, Any]]] = ()  # keys of valid joints, for the tests
    q_names: Sequence[str] = ("q",)
    v_names: Sequence[str] | None = None  # None: the same as q_names
    rest: Sequence[Any] | None = None  # None: zeros
    options: Hashable = ()
    arguments: Sequence[Any] = ()
    domain: Sequence[Any] | None = None  # natural [lower, upper] of each coordinate, or None
    advice: str = ""  # where S loses rank or the frame is undefined, and what helps

    def __init__(self, keys: Any, value: Evaluate):
        """`keys`: the validated keys; `value(formula, *path)` evaluates one of them."""

    @property
    def nq(self) -> int:
        return len(self.q_names)

    @property
    def nv(self) -> int:
        return len(self.v_names if self.v_names is not None else self.q_names)

    @property
    def kind(self) -> Hashable:
        """Joints of one kind share their kernels; only `arguments` differ."""
        return (type(self), self.options, self.nq, len(self.arguments))

    # -- what a family writes: at least one of transform and motion -------------

    def transform(self, q: Any, args: Any) -> tuple[Any, Any]:
        """Pose (R 3×3, r 3×1) of the child in the joint frame; q nq×1, args k×1 SX."""
        G = self.motion(Chart(q, self.rate_matrix(q)), args)
        return G.R, G.r

    def motion(self, chart: Chart, args: Any) -> Motion:
        """The same with its subspace S, by default derived from `transform`."""
        return chart.derived(*self.transform(chart.q, args))

    def conditions(self, q: Any, args: Any) -> list[Condition]:
        """What must not be zero for the frame to be defined, beside what S shows."""
        return []

    def contact(self, q: Any, args: Any) -> tuple[Any, Any] | None:
        """Pose (R, r), in the joint frame, of the frame in which two bodies touch: z points into
        the child (if its surface's normal points out of it). None: no contact."""
        return None

    @property
    def touches(self) -> bool:
        """Does it have a contact?"""
        arguments = ca.SX.sym("a", len(self.arguments))
        return self.contact(ca.SX.sym("q", self.nq), arguments) is not None

    def rate_matrix(self, q: Any) -> Any:
        """N(q) of q̇ = N v, nq×nv."""
        return ca.SX.eye(self.nq)

    def integrate(self, q: Any, dq: Any) -> Any:
        """q moved by the tangent vector dq (nv): the flow of constant v for unit time."""
        return q + dq

    def difference(self, q0: Any, q1: Any) -> Any:
        """dq (nv) with integrate(q0, dq) = q1."""
        return q1 - q0

    def normalize(self, q: Any) -> Any:
        """The nearest valid configuration (numpy): unit quaternions."""
        return q


def kinematics(joint: Joint, q: Any, v: Any, args: Any) -> tuple[Motion, Any]:
    """Motion of the joint and its bias Ṡ(q, v) v (6×1), all SX symbols."""
    chart = Chart(q, joint.rate_matrix(q))
    G = joint.motion(chart, args)
    return G, chart.bias(G, v) if joint.nv else ca.SX(6, 1)
