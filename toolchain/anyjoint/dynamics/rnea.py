"""Inverse dynamics by Newton and Euler for any joint (seed 000, eq. 8 to 15)."""

from __future__ import annotations

from typing import Any

import casadi as ca

from anyjoint.dynamics.link import Link
from anyjoint.dynamics.tree import Tree
from anyjoint.geometry import se3


def outward(link: Link, q: Any, v: Any, a: Any, V: Any, A: Any) -> tuple[Any, ...]:
    """Twist and acceleration of the body from its parent's, and the wrench it needs."""
    R, r, S, bias = link.motion(q, v)
    Sv = S @ v
    V = se3.act_inv(R, r, V) + Sv  # (8)
    A = se3.act_inv(R, r, A) + se3.cross(V, Sv) + bias + S @ a  # (11)
    F = link.momentum(A) + se3.cross_dual(V, link.momentum(V))  # (4)
    return R, r, S, V, A, F


def inward(link: Link, R: Any, r: Any, S: Any, a: Any, F: Any, behind: Any) -> tuple[Any, Any]:
    """Joint force, and the wrench on the parent; `behind` is that of the children."""
    F = F + behind  # (13)
    return S.T @ F + link.armature * a, se3.act_dual(R, r, F)  # (15), (14)


def needed(tree: Tree, q: Any, v: Any, a: Any, fext: list[Any]) -> tuple[list[Any], ...]:
    """Poses R, r in the parents, subspaces S, and the wrench F that each body alone needs beside
    fext (gravity is in it); q, v and a by joint."""
    root = tree.base_acceleration()
    R, r, S, V, A, F = ([None] * len(tree.bodies) for _ in range(6))
    for i, k in tree.outward():
        V_k, A_k = (tree.zeros(6), root) if k < 0 else (V[k], A[k])
        R[i], r[i], S[i], V[i], A[i], F[i] = tree.call(outward, i, q[i], v[i], a[i], V_k, A_k)
        F[i] = F[i] - fext[i]  # (13)
    return R, r, S, F


def rnea(tree: Tree, q: Any, v: Any, a: Any, fext: list[Any]) -> Any:
    """tau (nv) = M a + coriolis + gravity − Σ Jᵀ fext, armature included.

    fext: wrenches on the bodies (6×1 each, body axes, about the body's origin)."""
    n, a = len(tree.bodies), tree.split_v(a)
    R, r, S, F = needed(tree, tree.split_q(q), tree.split_v(v), a, fext)
    tau, behind = [None] * n, [tree.zeros(6)] * n
    for i, k in tree.inward():
        tau[i], up = tree.call(inward, i, R[i], r[i], S[i], a[i], F[i], behind[i])
        if k >= 0:
            behind[k] = behind[k] + up
    return ca.vertcat(*tau)
