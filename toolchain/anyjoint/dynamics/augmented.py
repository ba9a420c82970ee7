"""Forward dynamics as one sparse linear system (seed 003, section 3, eq. 5): wrenches in the
joints, accelerations of the bodies and of the joints are all unknown at once. A reference for
the algorithms that eliminate cleverly; it is solved by a sparse QR factorisation at run time."""

from __future__ import annotations

from typing import Any

import casadi as ca

from anyjoint.dynamics import kinematics
from anyjoint.dynamics.link import Link
from anyjoint.dynamics.tree import Tree
from anyjoint.geometry import se3
from anyjoint.geometry.columns import split


def rows(link: Link, q: Any, v: Any, V: Any, tau: Any, fext: Any) -> tuple[Any, ...]:
    """The rows of one body, for the unknowns f, −φ̇ and q̈: its own block ((12+nv) square), Ad from
    the parent to the body (6×6), and the right side (12+nv)."""
    R, r, S, bias = link.motion(q, v)
    M, one, Sv = link.inertia(ca.SX(6, 6)), ca.SX.eye(6), S @ v
    n = link.joint.nv
    own = ca.blockcat([[one, M, ca.SX(6, n)],  # (2), with what the children take outside
                       [ca.SX(6, 6), one, S],  # (3), with what the parent gives outside
                       [S.T, ca.SX(n, 6), ca.diag(link.armature)]])  # (4), motors turn as well
    b = se3.cross_dual(V, M @ V) - fext  # the paper's −[φ]ᵀ M φ
    a = se3.cross(V, Sv) + bias
    return own, se3.act_inv(R, r, one), ca.vertcat(b, -a, tau)


def augmented(tree: Tree, q: Any, v: Any, tau: Any, fext: list[Any]) -> Any:
    """a (nv) that the joint forces tau cause; fext as in rnea."""
    V, sizes = kinematics.twists(tree, q, v), [body.joint.nv for body in tree.bodies]
    q, v, tau = tree.split_q(q), tree.split_v(v), tree.split_v(tau)
    A = [[tree.zeros(12 + m, 12 + n) for n in sizes] for m in sizes]
    right = [tree.zeros(0)] * len(sizes)
    for i, k in tree.outward():
        A[i][i], Ad, right[i] = tree.call(rows, i, q[i], v[i], V[i], tau[i], fext[i])
        if k < 0:
            right[i] = right[i] - ca.vertcat(  # (3): the world's acceleration is known, −g
                tree.zeros(6), Ad @ tree.base_acceleration(), tree.zeros(sizes[i]))
        else:
            A[i][k] = ca.diagcat(tree.zeros(6, 6), -Ad, tree.zeros(sizes[i], sizes[k]))
            A[k][i] = ca.diagcat(-Ad.T, tree.zeros(6 + sizes[k], 6 + sizes[i]))
    x = ca.solve(ca.blockcat(A), ca.vertcat(*right), "qr")  # (5)
    return ca.vertcat(*[part[12:] for part in split(x, [12 + n for n in sizes])])
