"""Articulated bodies with the pivot of seed 003, section 7: D = Hᵀ M H + Hᵀ M̃ H, the joint's
share of the body's own inertia M and of the projected inertia M̃ of its children.

Two quadratic forms of the 6×6 matrices alone gain nothing: where the children are heavy, the
entries of M̃ are as wrong as those of the sum M + M̃. But M̃ = Pᵀ M̂ P + Yᵀ (armature) Y, with the
projector P = 1 − S Y past the child's joint. So M̃ H is had from the projected motion P H, without
large terms that cancel, and D from that. What it gains is measured in docs/stiffness.md."""

from __future__ import annotations

from typing import Any

import casadi as ca

from anyjoint.dynamics import aba
from anyjoint.dynamics.link import Link
from anyjoint.dynamics.tree import Tree
from anyjoint.geometry import se3


def inward(link: Link, R: Any, r: Any, S: Any, c: Any, b: Any, tau: Any, S_parent: Any,
           J_behind: Any, b_behind: Any, U_behind: Any) -> tuple[Any, ...]:
    """As aba.inward, with U_behind = M̃ S of the children; gives the same to the parent, whose
    joint has S_parent (6×nv, in the parent's axes)."""
    J, own, armature = link.inertia(J_behind), link.momentum(S), ca.diag(link.armature)
    D = S.T @ own + S.T @ U_behind + armature  # section 7
    J_up, b_up, Y = aba.eliminate(R, r, S, c, b + b_behind, tau, J, own + U_behind, D)
    S_parent = se3.act_inv(R, r, S_parent)
    rate = -Y[:, :6] @ S_parent  # of this joint, when the parent's moves and nothing holds this
    F = J @ (S_parent + S @ rate)  # M̂ P S_parent
    U_up = F - Y[:, :6].T @ (S.T @ F + armature @ rate)  # Pᵀ M̂ P S_parent + Yᵀ (armature) …
    return J_up, b_up, se3.act_dual(R, r, U_up), Y


def aba_modified(tree: Tree, q: Any, v: Any, tau: Any, fext: list[Any]) -> Any:
    """a (nv) that the joint forces tau cause; fext as in rnea."""
    R, r, S, c, b = aba.moving(tree, q, v, fext)
    tau, n = tree.split_v(tau), len(tree.bodies)
    Y: list[Any] = [None] * n
    behind = [[tree.zeros(6, 6), tree.zeros(6), tree.zeros(6, x.joint.nv)] for x in tree.bodies]
    for i, k in tree.inward():
        S_k = S[k] if k >= 0 else tree.zeros(6, 0)
        *up, Y[i] = tree.call(inward, i, R[i], r[i], S[i], c[i], b[i], tau[i], S_k, *behind[i])
        if k >= 0:
            behind[k] = [x + y for x, y in zip(behind[k], up, strict=True)]
    return ca.vertcat(*aba.accelerations(tree, R, r, S, c, Y)[0])
