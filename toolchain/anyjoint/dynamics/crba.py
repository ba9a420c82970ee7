"""The mass matrix by composite rigid bodies (seed 003, section 4): O(n · depth).

M = Hᵀ (R + Ãᵀ R + R Ã) H as in its footnote: R are the inertias of the composite bodies, Rᵢ Hᵢ
is taken inwards body by body (Ãᵀ), and what is above the diagonal follows by symmetry."""

from __future__ import annotations

from typing import Any

import casadi as ca

from anyjoint.dynamics import rnea
from anyjoint.dynamics.link import Link
from anyjoint.dynamics.tree import Tree
from anyjoint.geometry import se3


def subspace(link: Link, q: Any) -> tuple[Any, Any, Any]:
    """Pose in the parent and S."""
    R, r, S, _ = link.motion(q, ca.SX.sym("v", link.joint.nv))
    return R, r, S


def composite(link: Link, R: Any, r: Any, S: Any, behind: Any) -> tuple[Any, Any, Any]:
    """Momentum J^c S of the composite body, its block of M, and the composite inertia
    (10 numbers: m, h, I6) as the parent sees it; `behind` is the children's."""
    m, h, I6 = link.m + behind[0], link.h + behind[1:4], link.I6 + behind[4:]
    F = se3.inertia_times(m, h, I6, S)
    return F, S.T @ F + ca.diag(link.armature), shift_body(R, r, m, h, I6)


def project(S: Any, F: Any) -> Any:
    """What the joint feels of wrenches F."""
    return S.T @ F


def mass_matrix(tree: Tree, q: Any) -> Any:
    """M (nv×nv), armature included; structural zeros between branches."""
    q = tree.split_q(q)
    n = len(tree.bodies)
    R, r, S = ([None] * n for _ in range(3))
    for i, _ in tree.outward():
        R[i], r[i], S[i] = tree.call(subspace, i, q[i])
    behind = [tree.zeros(10)] * n
    sizes = [body.joint.nv for body in tree.bodies]
    blocks = [[tree.zeros(a, b) for b in sizes] for a in sizes]
    for i, k in tree.inward():
        F, blocks[i][i], up = tree.call(composite, i, R[i], r[i], S[i], behind[i])
        if k >= 0:
            behind[k] = behind[k] + up
        child, j = i, k
        while j >= 0 and sizes[i]:
            F = tree.apply(se3.act_dual, R[child], r[child], F)
            blocks[j][i] = tree.apply(project, S[j], F)
            blocks[i][j] = blocks[j][i].T
            child, j = j, tree.parents[j]
    return ca.blockcat(blocks)


def equations(tree: Tree, q: Any, v: Any, fext: list[Any]) -> tuple[Any, Any]:
    """M and c (nv) of M a + c = tau: c is the inverse dynamics at a = 0."""
    return mass_matrix(tree, q), rnea.rnea(tree, q, v, tree.zeros(tree.nv), fext)


def shift_body(R: Any, r: Any, m: Any, h: Any, I6: Any) -> Any:
    """The ten numbers of a rigid body's inertia in the parent frame."""
    xx, yy, zz, xy, xz, yz = (I6[k] for k in range(6))
    h = R @ h
    I_o = R @ ca.blockcat([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ R.T
    # −[r][h] − [h][r] − m [r]² = 2 (r·h + m r·r / 2) 1 − r hᵀ − h rᵀ − m r rᵀ
    h_shifted = h + m * r
    twice = ca.dot(r, h) + ca.dot(r, h_shifted)
    I_o = I_o + twice * ca.SX.eye(3) - r @ h.T - h_shifted @ r.T
    I6 = ca.vertcat(I_o[0, 0], I_o[1, 1], I_o[2, 2], I_o[0, 1], I_o[0, 2], I_o[1, 2])
    return ca.vertcat(m, h_shifted, I6)
