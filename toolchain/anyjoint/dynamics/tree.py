"""The tree that the sweeps walk, and the kernels they call.

A kernel is one body's step of a sweep, written as a Python function

    step(link, *inputs) → outputs

and built once per kind of body as a small casadi.Function over SX. A driver walks the
tree and calls `tree.call(step, i, …)`. With SX symbols every call is inlined, constants
fold and zeros vanish; with MX symbols the kernels stay calls, and the code grows with
the kinds of bodies, not with their number; with DM it computes numbers at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import casadi as ca

from anyjoint.geometry.columns import split

if TYPE_CHECKING:
    from anyjoint.mechanism import Body, Mechanism

Step = Callable[..., Any]


class Tree:
    """A mechanism seen with run-time parameters p (SX, MX or DM, np×1)."""

    def __init__(self, mechanism: Mechanism, p: Any):
        self.mechanism, self.p = mechanism, p
        self.bodies = mechanism.bodies
        self.parents = [body.parent for body in mechanism.bodies]
        self.nq = sum(body.joint.nq for body in mechanism.bodies)  # of all joints: couplings
        self.nv = sum(body.joint.nv for body in mechanism.bodies)  # make the mechanism's fewer
        self.X = type(p)
        self.constants = mechanism.constants_at(p)
        self.gravity = mechanism.gravity_at(p)
        self.operations = 0  # of all kernel calls: an upper bound of the inlined size
        self.kernels: set[ca.Function] = set()  # that were called

    def zeros(self, rows: int, columns: int = 1) -> Any:
        """Structural zeros of the tree's type."""
        return self.X(rows, columns)

    def base_acceleration(self) -> Any:
        """−g as the root's acceleration [0; −g]: gravity without a force on any body."""
        return ca.vertcat(ca.DM(3, 1), -self.gravity)

    def outward(self) -> list[tuple[int, int]]:
        """(body, parent) with parents before children; −1 is the world."""
        return [(i, self.parents[i]) for i in self.mechanism.order]

    def inward(self) -> list[tuple[int, int]]:
        """(body, parent) with children before parents."""
        return self.outward()[::-1]

    def split_q(self, q: Any) -> list[Any]:
        return split(q, [body.joint.nq for body in self.bodies])

    def split_v(self, v: Any) -> list[Any]:
        return split(v, [body.joint.nv for body in self.bodies])

    def call(self, step: Step, i: int, *inputs: Any) -> Any:
        """step(link i, *inputs); one output comes as such, several as a tuple."""
        return self._kernel(step, i, inputs)(self.constants[i], *inputs)

    def apply(self, step: Step, *inputs: Any) -> Any:
        """step(*inputs) for what belongs to no body, as one call too."""
        return self._kernel(step, None, inputs)(*inputs)

    def _kernel(self, step: Step, i: int | None, inputs: tuple[Any, ...]) -> ca.Function:
        sparsities = tuple(_matrix(x).sparsity() for x in inputs)
        kernel = self.mechanism.kernel(step, i, sparsities)
        self.operations += kernel.n_instructions()
        self.kernels.add(kernel)
        return kernel


def build_kernel(step: Step, body: Body | None, sparsities: tuple[Any, ...]) -> ca.Function:
    """The casadi.Function (free constants of the body, *inputs) → outputs of one step."""
    inputs = [ca.SX.sym(f"x{k}", sparsity) for k, sparsity in enumerate(sparsities)]
    first = []
    if body is None:
        outputs = step(*inputs)
    else:
        first = [ca.SX.sym("c", len(body.kind.free))]
        outputs = step(body.kind.link(body.joint, first[0]), *inputs)
    outputs = outputs if isinstance(outputs, (tuple, list)) else (outputs,)
    outputs = ca.cse([ca.sparsify(ca.SX(x)) for x in outputs])
    return ca.Function(step.__name__.strip("_"), [*first, *inputs], outputs)


def pattern(sparsity: Any) -> Any:
    """A hashable form of a sparsity pattern."""
    if sparsity.is_dense():
        return sparsity.shape
    return sparsity.shape, tuple(sparsity.colind()), tuple(sparsity.row())


def _matrix(x: Any) -> Any:
    return x if hasattr(x, "sparsity") else ca.DM(x)
