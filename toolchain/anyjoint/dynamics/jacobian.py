"""The equations of motion by the Jacobians of the bodies (seed 004, eq. 59):

    M = Σ Jᵀ M_c J        C = Σ Jᵀ (M_c J̇ + [ω̃] M_c J)

The paper takes them in world axes about the centres of mass. Here they are twists in body axes
about the origins, as everywhere, also of bodies without a mass; M_c is then any 6×6 inertia and
[ω̃] M_c becomes M_c ad_V − ad_Vᵀ M_c. Ṁ − 2C is skew."""

from __future__ import annotations

from functools import partial
from typing import Any

import casadi as ca

from anyjoint.dynamics import coriolis, kinematics
from anyjoint.dynamics.link import Link
from anyjoint.dynamics.tree import Tree
from anyjoint.geometry import se3


def of_body(link: Link, R: Any, r: Any, V: Any) -> tuple[Any, Any, Any]:
    """Ad from the world to the body, M_c and −ad_Vᵀ M_c (6×6 each); (R, r) its world pose, V its
    twist in world axes at the world origin."""
    M = link.inertia(ca.SX(6, 6))
    return se3.act_inv(R, r, ca.SX.eye(6)), M, se3.cross_dual(se3.act_inv(R, r, V), M)


def load(link: Link, R: Any, J: Any, g: Any, fext: Any) -> Any:
    """−Jᵀ of gravity g (world axes) and of fext."""
    return -J.T @ (link.momentum(ca.vertcat(ca.SX(3, 1), R.T @ g)) + fext)


def inertia_of_joint(link: Link) -> Any:
    """The armature's part of M."""
    return ca.diag(link.armature)


def _product(tree: Tree, A: Any, B: Any) -> Any:
    """A B outside of kernels: a loop in the rolled form, however many columns there are. Its
    operations count for the size of the inlined form."""
    ones = [ca.DM(x.sparsity(), 1) for x in (A, B)]
    tree.operations += 2 * int(ca.sum1(ones[0]) @ ca.sum2(ones[1]))
    return A @ B


def _wide(tree: Tree, i: int, columns: list[Any]) -> Any:
    """The columns of body i and of those that carry it, as 6×nv."""
    carry = kinematics.ancestors(tree, i)
    return ca.horzcat(*[columns[j] if j in carry else tree.zeros(6, body.joint.nv)
                        for j, body in enumerate(tree.bodies)])


def matrices(tree: Tree, q: Any, v: Any) -> tuple[Any, ...]:
    """M and C (nv×nv), armature included; the rotations (to the world) and the Jacobians (6×nv,
    body axes) of the bodies."""
    q, v = tree.split_q(q), tree.split_v(v)
    n, times = len(tree.bodies), partial(_product, tree)
    R, r, V, Psi, Psi_dot, J = ([tree.zeros(0)] * n for _ in range(6))
    M = ca.diagcat(*[tree.call(inertia_of_joint, i) for i in range(n)])
    C = tree.zeros(tree.nv, tree.nv)
    for i, k in tree.outward():
        parent = (R[k], r[k], V[k]) if k >= 0 else (tree.X.eye(3), tree.zeros(3), tree.zeros(6))
        R[i], r[i], V[i], Psi[i], Psi_dot[i], _, _ = tree.call(
            coriolis.outward, i, q[i], v[i], *parent)
        Ad, M_c, B = tree.call(of_body, i, R[i], r[i], V[i])
        J[i] = times(Ad, _wide(tree, i, Psi))  # (51), (57)
        whole = times(Ad, _wide(tree, i, Psi_dot))  # J̇ + ad_V J
        M = M + times(J[i].T, times(M_c, J[i]))  # (59)
        C = C + times(J[i].T, times(M_c, whole) + times(B, J[i]))
    return M, C, R, J


def equations(tree: Tree, q: Any, v: Any, fext: list[Any]) -> tuple[Any, Any]:
    """M and c = C v − Σ Jᵀ (weight + fext) of M a + c = tau."""
    M, C, R, J = matrices(tree, q, v)
    c = _product(tree, C, v)
    for i in range(len(tree.bodies)):
        c = c + tree.call(load, i, R[i], J[i], tree.gravity, fext[i])
    return M, c
