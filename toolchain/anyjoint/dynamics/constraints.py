"""Constraints of a mechanism, and all their rows at a state (see rows.py)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca

from anyjoint.dynamics import coupling
from anyjoint.dynamics.link import Link
from anyjoint.dynamics.rows import TWIST, Constraint, Rows, settled, spread
from anyjoint.dynamics.tree import Tree
from anyjoint.geometry import se3
from anyjoint.joints.motion import Chart
from anyjoint.mechanism import evaluate_at

# -- rolling ------------------------------------------------------------------------------


def slip(link: Link, q: Any, v: Any) -> tuple[Any, Any, Any]:
    """Twist (6×1) of the child relative to the parent in the axes of the contact frame and at its
    origin, its Jacobian (6×nv) and its bias: the motion of material points (seed 001, eq. 16)."""
    chart = Chart(q, link.joint.rate_matrix(q))
    G, contact = link.joint.motion(chart, link.arguments), link.joint.contact(q, link.arguments)
    assert contact is not None
    J = se3.act_inv(*contact, se3.act(G.R, G.r, G.S))
    V = J @ v
    return V, J, ca.jtimes(V, q, chart.N @ v)


@dataclass(frozen=True, eq=False)
class Rolling(Constraint):
    """The points of two bodies that touch have the same velocity along x and y of the contact
    frame; pivot forbidden: and there is no relative angular velocity along z."""

    body: int  # whose joint is the contact

    def rows(self, t: Tree, q: Any, v: Any) -> Rows:
        i, pick = self.body, [TWIST.index("rz" if x == "pivot" else x) for x in self.labels]
        V, J, bias = t.call(slip, i, t.split_q(q)[i], t.split_v(v)[i])
        return Rows(t.zeros(len(pick)), V[pick], spread(t, [i], J[pick, :]), bias[pick])


# -- formulas ---------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Formulas(Constraint):
    """A row given by formulas of the tree's coordinates."""

    graph: ca.Function  # (q, v, p) → φ, rate, A, bias

    @staticmethod
    def position(q: Any, v: Any, p: Any, N: Any, phi: Any) -> ca.Function:
        """The graph of φ(q, p) = 0, with q̇ = N v."""
        return Formulas.velocity(q, v, p, N, ca.jacobian(phi, q) @ N, ca.SX(1, 1), phi)

    @staticmethod
    def velocity(q: Any, v: Any, p: Any, N: Any, A: Any, e: Any, phi: Any = None) -> ca.Function:
        """The graph of A(q, p) v = e(q, p)."""
        A = ca.sparsify(A)
        rate = A @ v - e
        outputs = [ca.SX(1, 1) if phi is None else phi, rate, A, ca.jtimes(rate, q, N @ v)]
        return ca.Function("constraint", [q, v, p], ca.cse(outputs))

    def kernel(self, q: Any, v: Any, p: Any) -> Any:
        return self.graph(q, v, p)

    def rows(self, t: Tree, q: Any, v: Any) -> Rows:
        return Rows(*t.apply(self.kernel, q, v, t.p))


# -- all of a mechanism -------------------------------------------------------------------------


def _project(A: Any, bias: Any, Gamma: Any, drift: Any) -> tuple[Any, Any]:
    return settled(A @ Gamma, A**2 @ Gamma**2), bias + A @ drift


def of_tree(t: Tree, q: Any, v: Any) -> Rows:
    """All rows for q and v of the tree."""
    none = Rows(t.zeros(0), t.zeros(0), t.zeros(0, t.nv), t.zeros(0))
    parts = [none, *(c.rows(t, q, v) for c in t.mechanism.constraints)]
    return Rows(*(ca.vertcat(*x) for x in zip(*parts, strict=True)))


def rows(t: Tree, q: Any, v: Any) -> Rows:
    """All rows in the coordinates of the mechanism: A Γ and bias + A Γ̇ ẏ with couplings."""
    if t.mechanism.coupling is None:
        return of_tree(t, q, v)
    q, Gamma, v, _, drift = coupling.motion(t, q, v)
    tree = of_tree(t, q, v)
    A, bias = t.apply(_project, tree.A, tree.bias, Gamma, drift)
    return Rows(tree.phi, tree.rate, A, bias)


def jacobian(t: Tree, q: Any) -> Any:
    """A (nc×nv) in the coordinates of the mechanism."""
    return rows(t, q, t.zeros(t.mechanism.nv)).A


def residual(t: Tree, q: Any, v: Any) -> tuple[Any, Any]:
    """φ and rate (nc each), for q and v of the tree."""
    found = of_tree(t, q, v)
    return found.phi, found.rate


def _target(phi: Any, rate: Any, bias: Any, gains: Any) -> Any:
    return -(bias + gains[:, 0] * rate + gains[:, 1] * phi)


def target(t: Tree, found: Rows) -> Any:
    """What A a must be (nc): d/dt rate = 0, or with a time constant T φ̈ + 2/T φ̇ + φ/T² = 0, of
    velocities d/dt rate + rate/T = 0."""
    gains = ca.vertcat(*[c.gains for c in t.mechanism.constraints])
    gains = evaluate_at([ca.sparsify(gains)], t.mechanism.p, t.p)[0]
    return t.apply(_target, found.phi, found.rate, found.bias, gains)
