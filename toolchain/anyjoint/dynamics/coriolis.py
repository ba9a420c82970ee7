"""The Coriolis matrix C with Ṁ − 2C skew, for quaternions too:

    C = Σ Jᵀ (M J̇ + (M ad_v − ad_vᵀ M) J)

over body Jacobians. In world axes J = X⁻¹ Ψ and J̇ = X⁻¹ (Ψ̇ − ad_v Ψ), so that
C = Σ Ψᵀ (M Ψ̇ + B Ψ) with B = −ad_vᵀ M, summed over subtrees (B^c, M^c)."""

from __future__ import annotations

from typing import Any

import casadi as ca

from anyjoint.dynamics import crba
from anyjoint.dynamics.link import Link
from anyjoint.dynamics.tree import Tree
from anyjoint.geometry import se3


def outward(link: Link, q: Any, v: Any, R: Any, r: Any, V: Any) -> tuple[Any, ...]:
    """World pose, world twist, Ψ, Ψ̇, world inertia (10 numbers) and B of the body."""
    G = link.motion(q, v)
    S = G[2]
    S_dot = ca.reshape(ca.jtimes(ca.vec(S), q, link.joint.rate_matrix(q) @ v), *S.shape)
    R, r = se3.compose((R, r), (G[0], G[1]))
    Psi = se3.act(R, r, S)
    V = V + Psi @ v
    Psi_dot = se3.cross(V, Psi) + se3.act(R, r, S_dot)
    inertia = crba.shift_body(R, r, link.m, link.h, link.I6)
    matrix = se3.inertia_matrix(inertia[0], inertia[1:4], inertia[4:])
    return R, r, V, Psi, Psi_dot, inertia, se3.cross_dual(V, matrix)


def above(Psi: Any, Psi_dot: Any, inertia: Any, B: Any) -> Any:
    """M^c Ψ̇ + B^c Ψ: the column of C for the rows of the body and its ancestors."""
    return se3.inertia_times(inertia[0], inertia[1:4], inertia[4:], Psi_dot) + B @ Psi


def below(Psi: Any, inertia: Any, B: Any) -> tuple[Any, Any]:
    """M^c Ψ and B^cᵀ Ψ: the row of C for the columns of the body's ancestors."""
    return se3.inertia_times(inertia[0], inertia[1:4], inertia[4:], Psi), B.T @ Psi


def project2(P: Any, Psi_dot: Any, Q: Any, Psi: Any) -> Any:
    return P.T @ Psi_dot + Q.T @ Psi


def coriolis_matrix(tree: Tree, q: Any, v: Any) -> Any:
    """C (nv×nv): C v are the Coriolis and centrifugal forces."""
    q, v = tree.split_q(q), tree.split_v(v)
    n = len(tree.bodies)
    R, r, V, Psi, Psi_dot, inertia, B = ([tree.zeros(0)] * n for _ in range(7))
    for i, k in tree.outward():
        parent = (R[k], r[k], V[k]) if k >= 0 else (tree.X.eye(3), tree.zeros(3), tree.zeros(6))
        R[i], r[i], V[i], Psi[i], Psi_dot[i], inertia[i], B[i] = tree.call(
            outward, i, q[i], v[i], *parent)
    sizes = [body.joint.nv for body in tree.bodies]
    blocks = [[tree.zeros(a, b) for b in sizes] for a in sizes]
    for i, k in tree.inward():
        F = tree.apply(above, Psi[i], Psi_dot[i], inertia[i], B[i])
        blocks[i][i] = tree.apply(crba.project, Psi[i], F)
        P, Q = tree.apply(below, Psi[i], inertia[i], B[i])
        j = k
        while j >= 0 and sizes[i]:
            blocks[j][i] = tree.apply(crba.project, Psi[j], F)
            blocks[i][j] = tree.apply(project2, P, Psi_dot[j], Q, Psi[j])
            j = tree.parents[j]
        if k >= 0:
            inertia[k], B[k] = inertia[k] + inertia[i], B[k] + B[i]
    return ca.blockcat(blocks)
