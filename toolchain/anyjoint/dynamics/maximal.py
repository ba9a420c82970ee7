"""The reduced equations of motion from the maximal ones (seed 002, sections 2 and 3).

The twists φ of all bodies, in body axes, are q̇_m = J q̇; `times`, `rate_times` and
`transposed_times` are the products J x, J̇ x and Jᵀ y in O(n), without J. With them

    Jᵀ M_m J q̈ = Jᵀ (f_m − M_m J̇ q̇)        (12)

The joint frames of the paper are body frames here (its Ad from j to i is in S)."""

from __future__ import annotations

from typing import Any

import casadi as ca

from anyjoint.dynamics import crba, jacobian, kinematics
from anyjoint.dynamics.link import Link
from anyjoint.dynamics.tree import Tree
from anyjoint.geometry import se3
from anyjoint.geometry.columns import split

# -- kernels --------------------------------------------------------------------------------


def rates(link: Link, q: Any, v: Any) -> tuple[Any, ...]:
    """Pose in the parent, S, Ṡ and the twist S v relative to the parent."""
    R, r, S, _ = link.motion(q, v)
    S_dot = ca.jtimes(ca.vec(S), q, link.joint.rate_matrix(q) @ v)
    return R, r, S, ca.reshape(S_dot, *S.shape), S @ v


def out(R: Any, r: Any, S: Any, x: Any, y: Any) -> Any:
    """y(i) = S x(j) + Ad y(p)."""
    return S @ x + se3.act_inv(R, r, y)  # algorithm 2, lines 2 and 5


def out_rate(R: Any, r: Any, S_dot: Any, Sv: Any, x: Any, y: Any, z: Any) -> Any:
    """z(i) = Ṡ x(j) + Ad z(p) + Ȧd y(p)."""
    y, z = se3.act_inv(R, r, y), se3.act_inv(R, r, z)
    return S_dot @ x + z - se3.cross(Sv, y)  # lines 3 and 6, with (49) for (21)


def back(R: Any, r: Any, S: Any, y: Any) -> tuple[Any, Any]:
    """x(j) = Sᵀ y_i, and α = Adᵀ y_i for the parent."""
    return S.T @ y, se3.act_dual(R, r, y)  # algorithm 3, lines 7 and 6


def force(link: Link, R: Any, V: Any, z: Any, g: Any, fext: Any) -> Any:
    """f_m − M J̇ q̇ of one body: R to the world, V its twist, z = J̇ q̇, g in the world."""
    weight = link.momentum(ca.vertcat(ca.SX(3, 1), R.T @ g))
    return weight + fext - se3.cross_dual(V, link.momentum(V)) - link.momentum(z)  # (9), (12)


def momentum(link: Link, J: Any) -> Any:
    """M_i J."""
    return link.momentum(J)


# -- products ---------------------------------------------------------------------------------


def _rows(tree: Tree, x: Any, per_body: bool = False) -> list[Any]:
    return split(x, [6 if per_body else body.joint.nv for body in tree.bodies])


def times(tree: Tree, q: Any, x: Any) -> Any:
    """y = J x (6·bodies × k) for x (nv×k): with x = v the twists of all bodies, each in its own
    axes, one below the other. Algorithm 2; with x = 1 it is algorithm 1 and gives J."""
    q, x = tree.split_q(q), _rows(tree, x)
    y: list[Any] = [None] * len(tree.bodies)
    for i, p in tree.outward():
        y_p = y[p] if p >= 0 else tree.zeros(6, x[i].shape[1])
        y[i] = tree.apply(out, *tree.call(crba.subspace, i, q[i]), x[i], y_p)
    return ca.vertcat(*y)


def rate_times(tree: Tree, q: Any, v: Any, x: Any) -> Any:
    """z = J̇ x (6·bodies × k) for x (nv×k), J̇ along q̇ = N v: with x = v the accelerations of the
    bodies at q̈ = 0. Algorithm 2; with x = 1 it is algorithm 1 and gives J̇."""
    q, v, x = tree.split_q(q), tree.split_v(v), _rows(tree, x)
    y, z = ([tree.zeros(0)] * len(tree.bodies) for _ in range(2))
    for i, p in tree.outward():
        still = tree.zeros(6, x[i].shape[1])
        y_p, z_p = (y[p], z[p]) if p >= 0 else (still, still)
        R, r, S, S_dot, Sv = tree.call(rates, i, q[i], v[i])
        y[i] = tree.apply(out, R, r, S, x[i], y_p)
        z[i] = tree.apply(out_rate, R, r, S_dot, Sv, x[i], y_p, z_p)
    return ca.vertcat(*z)


def transposed_times(tree: Tree, q: Any, y: Any) -> Any:
    """x = Jᵀ y (nv×k) for y (6·bodies × k): joint forces of wrenches on the bodies, each in its
    body's axes about its origin. Algorithm 3."""
    q, y = tree.split_q(q), _rows(tree, y, per_body=True)
    x: list[Any] = [None] * len(tree.bodies)
    for i, p in tree.inward():
        x[i], alpha = tree.apply(back, *tree.call(crba.subspace, i, q[i]), y[i])
        if p >= 0:
            y[p] = y[p] + alpha
    return ca.vertcat(*x)


# -- equations of motion ------------------------------------------------------------------------


def equations(tree: Tree, q: Any, v: Any, fext: list[Any]) -> tuple[Any, Any]:
    """M and c of M a + c = tau."""
    bodies, R = range(len(tree.bodies)), [pose[0] for pose in kinematics.poses(tree, q)]
    J, V, z = (_rows(tree, y, per_body=True) for y in (
        times(tree, q, tree.X.eye(tree.nv)), times(tree, q, v), rate_times(tree, q, v, v)))
    MJ = [tree.call(momentum, i, J[i]) for i in bodies]
    f = [tree.call(force, i, R[i], V[i], z[i], tree.gravity, fext[i]) for i in bodies]
    armature = ca.diagcat(*[tree.call(jacobian.inertia_of_joint, i) for i in bodies])
    M = transposed_times(tree, q, ca.vertcat(*MJ)) + armature
    return M, -transposed_times(tree, q, ca.vertcat(*f))
