"""Lagrange's equations in the trace form (seed 001, eq. 13): inverse dynamics in O(n), and M
and c as the coefficients of q̈.

All comes from derivatives of the joint's transform A(q) by automatic differentiation; S is
never used. Matrices are 3×4: the last row of A is 0 0 0 1, that of its derivatives 0. The
virtual displacements of (4) are ∂A = ∂A/∂q N(q), so quaternions are as good as angles.

The paper has world axes on one side of its matrices. With Ẇ = W X and Ẅ = W Y they are body
axes on both, and W is not needed (R, r are the parts of A):

    Q_j = tr(∂A_j φ_j R_jᵀ)      φ_j = J_j Y_jᵀ + A_{j+1} φ_{j+1} R_{j+1}ᵀ       (13)

J = ∫ [x; 1][x; 1]ᵀ dm is the pseudo-inertia (4×4): J Yᵀ is t_cm aᵀ − ½ B Uᵀ, which needs no
centre of mass of a massless body, plus a symmetric part that no ∂A sees. What ∂A does see,
[−½ b̃; aᵀ], is kept as [b; a] (6×1); external wrenches are subtracted there, as in (4), (5)."""

from __future__ import annotations

from typing import Any

import casadi as ca

from anyjoint.dynamics import kinematics
from anyjoint.dynamics.link import Link
from anyjoint.dynamics.tree import Tree
from anyjoint.geometry import so3


def vee(M: Any) -> Any:
    """w of the skew matrix w̃."""
    return ca.vertcat(M[2, 1], M[0, 2], M[1, 0])


def pseudo_inertia(m: Any, h: Any, I6: Any) -> Any:
    """J (4×4) of mass, mass · centre of mass, and inertia about the origin."""
    xx, yy, zz, xy, xz, yz = (I6[k] for k in range(6))
    s = (xx + yy + zz) / 2
    return ca.blockcat([[s - xx, -xy, -xz, h[0]], [-xy, s - yy, -yz, h[1]],
                        [-xz, -yz, s - zz, h[2]], [h[0], h[1], h[2], m]])


def reaction(J: Any, Y: Any) -> Any:
    """[b; a] of φ = J Yᵀ: −½ b̃ is its skew part, aᵀ its last row."""
    phi = J @ Y.T
    return ca.vertcat(vee(phi[:3, :].T - phi[:3, :]), phi[3, :].T)


def displace(link: Link, q: Any) -> tuple[Any, Any]:
    """A (3×4), and the displacements ∂A as columns (12×nv)."""
    A = ca.horzcat(*link.pose(q))
    return A, ca.sparsify(ca.jacobian(ca.vec(A), q) @ link.joint.rate_matrix(q))


def outward(link: Link, q: Any, v: Any, a: Any, w: Any, Y: Any) -> tuple[Any, ...]:
    """A, ∂A, w of X = w̃ (its last column is not needed), Y and [b; a], all of the body, from
    w and Y of its parent."""
    A, columns = displace(link, q)
    R, dA = A[:, :3], columns @ v
    ddA = columns @ a + ca.jtimes(dA, q, link.joint.rate_matrix(q) @ v)
    dA, ddA = ca.reshape(dA, 3, 4), ca.reshape(ddA, 3, 4)
    still = ca.horzcat(ca.SX(3, 3), Y[:, 3])  # Y times the last row of A
    Y = R.T @ (Y[:, :3] @ A + still + so3.cross3(2 * w, dA) + ddA)  # W⁻¹ (W_p A)¨
    w = vee(R.T @ (so3.cross3(w, R) + dA[:, :3]))  # W⁻¹ (W_p A)˙
    X = so3.skew(w)
    XX = X @ X  # the symmetric part of Y: three entries give the others
    Y = ca.horzcat(so3.skew(vee(Y[:, :3] - XX)) + XX, Y[:, 3])
    return A, columns, w, Y, reaction(pseudo_inertia(link.m, link.h, link.I6), Y)


def inward(link: Link, A: Any, columns: Any, phi: Any, a: Any) -> tuple[Any, Any]:
    """Joint forces tr(∂A_k φ Rᵀ), and A φ Rᵀ; for one or many φ = [b; a] and q̈ at once."""
    R, r = A[:, :3], A[:, 3]
    n, f = R @ phi[:3, :], R @ phi[3:, :]  # R b̃ Rᵀ = (R b)~
    turns = [vee(ca.reshape(columns[:9, k], 3, 3) @ R.T) for k in range(link.joint.nv)]
    turns = ca.horzcat(ca.SX(3, 0), *turns)
    Q = turns.T @ n + columns[9:, :].T @ f  # (13), its trace by (10)
    return Q + ca.diag(link.armature) @ a, ca.vertcat(n + so3.cross3(r, f), f)


def lagrange(tree: Tree, q: Any, v: Any, a: Any, fext: list[Any]) -> Any:
    """tau (nv) as rnea gives it; fext too."""
    q, v, a = tree.split_q(q), tree.split_v(v), tree.split_v(a)
    root = ca.horzcat(tree.zeros(3, 3), -tree.gravity)
    n = len(tree.bodies)
    A, dA, w, Y, phi, tau = ([None] * n for _ in range(6))
    for i, k in tree.outward():
        w_k, Y_k = (tree.zeros(3), root) if k < 0 else (w[k], Y[k])
        A[i], dA[i], w[i], Y[i], phi[i] = tree.call(outward, i, q[i], v[i], a[i], w_k, Y_k)
        phi[i] = phi[i] - fext[i]
    for i, k in tree.inward():
        tau[i], up = tree.call(inward, i, A[i], dA[i], phi[i], a[i])
        if k >= 0:
            phi[k] = phi[k] + up
    return ca.vertcat(*tau)


# -- M: the coefficients of q̈ (section 4) -------------------------------------------------


def composite(link: Link, A: Any, columns: Any, behind: Any) -> tuple[Any, Any]:
    """φ of a unit q̈_k for every k (6×nv), and J of the body with those behind it, which move
    along with it, as the parent sees it (lower triangle)."""
    J = pseudo_inertia(link.m, link.h, link.I6) + ca.tril2symm(behind)
    R = A[:, :3]
    phi = [reaction(J, R.T @ ca.reshape(columns[:, k], 3, 4)) for k in range(columns.shape[1])]
    A = ca.vertcat(A, ca.horzcat(ca.SX(1, 3), 1))
    return ca.horzcat(ca.SX(6, 0), *phi), ca.tril(A @ J @ A.T)


def mass_matrix(tree: Tree, q: Any) -> Any:
    """M (nv×nv), armature included: of each q̈ the coefficients in the equations of its own
    joint and those before it, the others by symmetry."""
    q = tree.split_q(q)
    n, sizes = len(tree.bodies), [body.joint.nv for body in tree.bodies]
    A, dA = [None] * n, [None] * n
    for i, _ in tree.outward():
        A[i], dA[i] = tree.call(displace, i, q[i])
    J = [tree.zeros(4, 4)] * n
    blocks = [[tree.zeros(a, b) for b in sizes] for a in sizes]
    for i, k in tree.inward():
        phi, up = tree.call(composite, i, A[i], dA[i], J[i])
        if k >= 0:
            J[k] = J[k] + up
        for j in kinematics.ancestors(tree, i) if sizes[i] else []:
            unit = tree.X.eye(sizes[i]) if i == j else tree.zeros(sizes[j], sizes[i])
            blocks[j][i], phi = tree.call(inward, j, A[j], dA[j], phi, unit)
            blocks[i][j] = blocks[j][i].T
    return ca.blockcat(blocks)


def equations(tree: Tree, q: Any, v: Any, fext: list[Any]) -> tuple[Any, Any]:
    """M and c (nv) of (14), M a + c = tau: c is the inverse dynamics at q̈ = 0."""
    return mass_matrix(tree, q), lagrange(tree, q, v, tree.zeros(tree.nv), fext)
