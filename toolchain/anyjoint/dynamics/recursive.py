"""Forward dynamics by the six sweeps of seed 000 (eq. 18 to 35 and appendix B), for trees.

M⁻¹ = (I − Sᵀ Y Π)ᵀ Ω⁻¹ (I − Sᵀ Y Π) (58) is applied to τ̄ from the leaves to the root and back.
The print's matrices Y (29) and Π (30, with Ad*) are never formed: by their definitions

    Y z + Π τ̄ = Ad* (z + J̄ S c̄)          (31), c̄ = Ω⁻¹ (τ̄ − Sᵀ z)
    q̈ = c̄ − Πᵀ η = Ω⁻¹ (c − Sᵀ J̄ Ad η)    (35)
    Yᵀ η + S c̄ = Ad η + S q̈                (34)

Gravity is the root's acceleration instead of a force in b. The wrenches p (24) and z (31) go
down the tree by the same Ad*, so they go as one, the z of this file: c = τ − Sᵀ(p + z).

Method I and method II of the paper are the same text. They differ in how Ω⁻¹ (nv×nv of one
joint, armature included) is applied: see `symbolic` and `numeric`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import casadi as ca

from anyjoint.dynamics import aba, rnea
from anyjoint.dynamics.link import Link
from anyjoint.dynamics.tree import Tree
from anyjoint.geometry import se3

# (tree, Ω, X) → P, Q, L with Pᵀ Q = Xᵀ Ω⁻¹ X and L⁻ᵀ Q = Ω⁻¹ X: two halves of Ω⁻¹.
# L is unit lower triangular and comes without its diagonal.
Halves = Callable[[Tree, Any, Any], tuple[Any, Any, Any]]


# -- steps of one body -----------------------------------------------------------------


def project(link: Link, S: Any, tau: Any, z: Any, J_behind: Any) -> tuple[Any, Any, Any]:
    """J̄ (its lower triangle), X = [Sᵀ J̄, c] (nv×7) and Ω; J_behind is the children's part."""
    J = link.inertia(J_behind)  # (27)
    U = J @ S
    c = tau - S.T @ z  # (26), (32)
    return ca.tril(J), ca.horzcat(U.T, c), S.T @ U + ca.diag(link.armature)  # (28)


def reduce(R: Any, r: Any, J: Any, z: Any, P: Any, Q: Any) -> tuple[Any, Any]:
    """What the parent gets of J̄ (a lower triangle) and of z."""
    J = ca.tril2symm(J - ca.tril(P[:, :6].T @ Q[:, :6]))
    z = z + P[:, :6].T @ Q[:, 6]  # z + J̄ S c̄
    return ca.tril(aba.shift_inertia(R, r, J)), se3.act_dual(R, r, z)  # (27), (24) and (31)


def accelerate(R: Any, r: Any, S: Any, Q: Any, L: Any, eta: Any) -> tuple[Any, Any]:
    """q̈ and η of a body from its parent's η."""
    eta = se3.act_inv(R, r, eta)
    a = ca.solve(ca.SX.eye(L.shape[0]) + L.T, Q[:, 6] - Q[:, :6] @ eta)  # (35)
    return a, eta + S @ a  # (34)


def halve(Omega: Any, X: Any) -> tuple[Any, Any, Any]:
    """L⁻¹ X, D⁻¹ L⁻¹ X and L of Ω = L D Lᵀ: the back substitution is left to (35), where it
    is for one column instead of seven."""
    L, d = aba.ldl(Omega)
    P = ca.solve(L, X)
    return P, ca.diag(1 / d) @ P, ca.tril(L, False)


# -- sweeps ----------------------------------------------------------------------------


def symbolic(tree: Tree, Omega: Any, X: Any) -> tuple[Any, Any, Any]:
    """Method I: Gaussian elimination written out."""
    P, Q, L = tree.apply(halve, Omega, X)
    return P, Q, L


def numeric(tree: Tree, Omega: Any, X: Any) -> tuple[Any, Any, Any]:
    """Method II: Ω is factorised at run time (MX or DM)."""
    n = Omega.shape[0]
    return X, ca.solve(Omega, X, "ldl") if n else X, tree.zeros(n, n)


def inward(tree: Tree, R: list[Any], r: list[Any], S: list[Any], alpha_bar: list[Any],
           tau: list[Any], halves: Halves) -> tuple[list[Any], ...]:
    """Sweeps 3 to 5: Ω, X = [Sᵀ J̄, c], and Q and L for the last sweep."""
    n, z = len(tree.bodies), list(alpha_bar)
    Omega, X, Q, L = ([None] * n for _ in range(4))
    J_behind = [tree.zeros(6, 6)] * n
    for i, k in tree.inward():
        J, X[i], Omega[i] = tree.call(project, i, S[i], tau[i], z[i], J_behind[i])
        P, Q[i], L[i] = halves(tree, Omega[i], X[i])  # (33) among others
        if k >= 0:
            J, z_i = tree.apply(reduce, R[i], r[i], J, z[i], P, Q[i])
            J_behind[k], z[k] = J_behind[k] + J, z[k] + z_i
    return Omega, X, Q, L


def outward(tree: Tree, R: list[Any], r: list[Any], S: list[Any], Q: list[Any],
            L: list[Any]) -> tuple[list[Any], list[Any]]:
    """Sweep 6: q̈ and η of every body."""
    a, eta = ([None] * len(tree.bodies) for _ in range(2))
    for i, k in tree.outward():
        a[i], eta[i] = tree.apply(
            accelerate, R[i], r[i], S[i], Q[i], L[i], eta[k] if k >= 0 else tree.zeros(6))
    return a, eta


def recursive(tree: Tree, q: Any, v: Any, tau: Any, fext: list[Any],
              halves: Halves = symbolic) -> Any:
    """a (nv) that the joint forces tau cause; fext as in rnea."""
    still = [tree.zeros(body.joint.nv) for body in tree.bodies]  # q̈ = 0, as structural zeros
    # sweeps 1 and 2, (18) to (23), are those of inverse dynamics at q̈ = 0; its F is ᾱ
    R, r, S, alpha_bar = rnea.needed(tree, tree.split_q(q), tree.split_v(v), still, fext)
    _, _, Q, L = inward(tree, R, r, S, alpha_bar, tree.split_v(tau), halves)
    return ca.vertcat(*outward(tree, R, r, S, Q, L)[0])


def recursive_mixed(tree: Tree, q: Any, v: Any, tau: Any, fext: list[Any]) -> Any:
    """The same by method II: small factorisations at run time. No SX."""
    return recursive(tree, q, v, tau, fext, numeric)
