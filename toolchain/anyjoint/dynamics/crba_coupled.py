"""The mass matrix Γᵀ M Γ of a mechanism with couplings, by composite rigid bodies as in crba.py,
but with one column for each independent velocity: what joints share is carried only once."""

from __future__ import annotations

from typing import Any

import casadi as ca

from anyjoint.dynamics import crba, rnea
from anyjoint.dynamics.tree import Tree
from anyjoint.geometry import se3
from anyjoint.geometry.columns import split


def carried(R: Any, r: Any, F: Any, Gamma: Any, behind: Any) -> Any:
    """Momentum, as the parent sees it, of the joint's own motion and of those behind it."""
    return se3.act_dual(R, r, F @ Gamma + behind)


def upper(D: Any, S: Any, Gamma: Any, behind: Any) -> Any:
    """The joint's rows of U Γ with M = U + Uᵀ: half of its block D, and the joints behind it."""
    return D @ Gamma / 2 + S.T @ behind


def symmetric(Gamma: Any, U: Any) -> Any:
    """Γᵀ (U + Uᵀ) Γ of U Γ."""
    A = Gamma.T @ U
    return ca.tril2symm(ca.tril(A + A.T))


def mass_matrix(tree: Tree, q: Any, Gamma: Any) -> Any:
    """Γᵀ M Γ for q of the tree, armature included."""
    q, G = tree.split_q(q), split(Gamma, [body.joint.nv for body in tree.bodies])
    n = len(tree.bodies)
    R, r, S, U = ([None] * n for _ in range(4))
    for i, _ in tree.outward():
        R[i], r[i], S[i] = tree.call(crba.subspace, i, q[i])
    behind, momenta = [tree.zeros(10)] * n, [tree.zeros(6, Gamma.shape[1])] * n
    for i, k in tree.inward():
        F, D, up = tree.call(crba.composite, i, R[i], r[i], S[i], behind[i])
        U[i] = tree.apply(upper, D, S[i], G[i], momenta[i])
        if k >= 0:
            behind[k] = behind[k] + up
            momenta[k] = momenta[k] + tree.apply(carried, R[i], r[i], F, G[i], momenta[i])
    return tree.apply(symmetric, Gamma, ca.vertcat(*U))


def equations(tree: Tree, q: Any, v: Any, Gamma: Any, bias: Any,
              fext: list[Any]) -> tuple[Any, Any]:
    """Γᵀ M Γ, and Γᵀ c with c the inverse dynamics at ÿ = 0, where a = Γ̇ ẏ (`bias`)."""
    c = rnea.rnea(tree, q, v, bias, fext)
    return mass_matrix(tree, q, Gamma), tree.apply(crba.project, Gamma, c)
