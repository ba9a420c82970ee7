"""Forward dynamics by articulated bodies for any joint (seed 003, section 5: block
elimination from the leaves to the root)."""

from __future__ import annotations

from typing import Any

import casadi as ca

from anyjoint.dynamics.link import Link
from anyjoint.dynamics.tree import Tree
from anyjoint.geometry import se3, so3


def outward(link: Link, q: Any, v: Any, V: Any) -> tuple[Any, ...]:
    """Twist of the body, its velocity-dependent acceleration c and bias wrench b."""
    R, r, S, bias = link.motion(q, v)
    Sv = S @ v
    V = se3.act_inv(R, r, V) + Sv
    c = se3.cross(V, Sv) + bias  # seed 000, (19); for the root too, where Ṡ v stays
    b = se3.cross_dual(V, link.momentum(V))
    return R, r, S, c, V, b


def inward(link: Link, R: Any, r: Any, S: Any, c: Any, b: Any, tau: Any, J_behind: Any,
           b_behind: Any) -> tuple[Any, ...]:
    """Eliminates the joint: what the parent feels of this body and those behind it, which
    are given by J_behind (a lower triangle) and b_behind."""
    J, b = link.inertia(J_behind), b + b_behind
    U = J @ S
    armature = link.armature if S.shape[1] else ca.SX(0, 1)  # a joint that is held has none
    D = S.T @ U + ca.diag(armature)  # D_k of section 5; Ω of seed 000, (28)
    return eliminate(R, r, S, c, b, tau, J, U, D)


def eliminate(R: Any, r: Any, S: Any, c: Any, b: Any, tau: Any, J: Any, U: Any,
              D: Any) -> tuple[Any, Any, Any]:
    """J and b without the joint, as the parent sees them, and Y = D⁻¹ [Uᵀ, u]; U = J S, and D
    is the joint's own inertia (nv×nv)."""
    L, D = ldl(D)
    u = tau - S.T @ b
    Y = ldl_solve(L, D, ca.horzcat(U.T, u))  # D⁻¹ [Uᵀ, u]
    J = ca.tril2symm(ca.tril(J - U @ Y[:, :6]))  # seed 000, (27)
    b = b + J @ c + U @ Y[:, 6]  # b̂ + M̂ a + M̂ H D⁻¹ (τ − c_k) of section 5
    return ca.tril(shift_inertia(R, r, J)), se3.act_dual(R, r, b), Y


def acceleration(link: Link, R: Any, r: Any, S: Any, c: Any, Y: Any, A: Any) -> tuple[Any, Any]:
    """q̈ = D⁻¹ (u − Uᵀ A') with A' the body's acceleration before the joint's own."""
    A = se3.act_inv(R, r, A) + c
    a = Y[:, 6] - Y[:, :6] @ A
    return a, A + S @ a


def moving(tree: Tree, q: Any, v: Any, fext: list[Any]) -> tuple[list[Any], ...]:
    """R, r, S, c and b of every body at q, v; fext as in rnea."""
    q, v = tree.split_q(q), tree.split_v(v)
    R, r, S, c, V, b = ([None] * len(tree.bodies) for _ in range(6))
    for i, k in tree.outward():
        V_k = V[k] if k >= 0 else tree.zeros(6)
        R[i], r[i], S[i], c[i], V[i], b[i] = tree.call(outward, i, q[i], v[i], V_k)
        b[i] = b[i] - fext[i]
    return R, r, S, c, b


def solve(tree: Tree, R: list[Any], r: list[Any], S: list[Any], c: list[Any], b: list[Any],
          tau: list[Any]) -> tuple[list[Any], ...]:
    """Joint by joint a; the bodies' accelerations A; and J, b of what each of them carries. A
    joint that is given with an S of no columns is held: its acceleration is all in c."""
    n = len(tree.bodies)
    Y = [None] * n
    J_behind, b_behind = [tree.zeros(6, 6)] * n, [tree.zeros(6)] * n
    for i, k in tree.inward():
        J, p, Y[i] = tree.call(
            inward, i, R[i], r[i], S[i], c[i], b[i], tau[i], J_behind[i], b_behind[i])
        if k >= 0:
            J_behind[k], b_behind[k] = J_behind[k] + J, b_behind[k] + p
    return *accelerations(tree, R, r, S, c, Y), J_behind, b_behind


def accelerations(tree: Tree, R: Any, r: Any, S: Any, c: Any, Y: Any) -> tuple[Any, Any]:
    """Joint by joint a, and the bodies' accelerations A."""
    A, a = ([None] * len(tree.bodies) for _ in range(2))
    for i, k in tree.outward():
        A_k = A[k] if k >= 0 else tree.base_acceleration()
        a[i], A[i] = tree.call(acceleration, i, R[i], r[i], S[i], c[i], Y[i], A_k)
    return a, A


def aba(tree: Tree, q: Any, v: Any, tau: Any, fext: list[Any]) -> Any:
    """a (nv) that the joint forces tau cause; fext as in rnea."""
    R, r, S, c, b = moving(tree, q, v, fext)
    return ca.vertcat(*solve(tree, R, r, S, c, b, tree.split_v(tau))[0])


def shift_inertia(R: Any, r: Any, J: Any) -> Any:
    """Ad_{G⁻¹}ᵀ J Ad_{G⁻¹} for symmetric J (6×6), block by block: turned, then shifted."""
    A, B, C = (R @ J[i, j] @ R.T for i, j in ((slice(0, 3), slice(0, 3)),
                                              (slice(0, 3), slice(3, 6)),
                                              (slice(3, 6), slice(3, 6))))
    B_shifted = B + so3.cross3(r, C)  # B + [r] C
    A = A + so3.cross3(r, B.T) + so3.cross3(r, B_shifted.T).T  # … − B' [r]
    return ca.blockcat([[A, B_shifted], [B_shifted.T, C]])


def ldl(D: Any) -> tuple[Any, Any]:
    """D = L diag(d) Lᵀ of a small symmetric positive definite matrix (SX): unit lower
    triangular L, column d."""
    n = D.shape[0]
    L, d = ca.SX.eye(n), ca.SX(n, 1)
    for j in range(n):
        d[j] = D[j, j] - sum((L[j, k] ** 2 * d[k] for k in range(j)), ca.SX(1, 1))
        for i in range(j + 1, n):
            rest = sum((L[i, k] * L[j, k] * d[k] for k in range(j)), ca.SX(1, 1))
            L[i, j] = (D[i, j] - rest) / d[j]
    return L, d


def ldl_solve(L: Any, d: Any, B: Any) -> Any:
    """D⁻¹ B by forward and back substitution."""
    n = L.shape[0]
    rows = [B[i, :] for i in range(n)]
    for i in range(n):
        for k in range(i):
            rows[i] = rows[i] - L[i, k] * rows[k]
    rows = [row / d[i] for i, row in enumerate(rows)]
    for i in reversed(range(n)):
        for k in range(i + 1, n):
            rows[i] = rows[i] - L[k, i] * rows[k]
    return ca.vertcat(ca.SX(0, B.shape[1]), *rows)
