"""Lagrange multipliers: M x = b + Aᵀ λ with A x = target, by the Schur complement A M⁻¹ Aᵀ."""

from __future__ import annotations

from typing import Any

import casadi as ca

from anyjoint.dynamics import constraints, coupling, factor
from anyjoint.dynamics.tree import Tree
from anyjoint.mechanism import evaluate_at

# A row whose pivot is so small a part of its diagonal follows from those before it.
REDUNDANT = 1e-10
_NOISE = 1e-17  # of all rows, as the square of a relative error
_TINY = 1e-100  # in place of the diagonal of a row without velocities


def _inverse(pivot: Any, diagonal: Any) -> Any:
    """1/pivot, but smoothly 0 for a redundant row: s³/(s⁴ + ε⁴) of s = pivot/diagonal, which is
    1/s to machine precision from s = 1e4 ε on, and nothing for s of the size of round-off."""
    scale = diagonal + _TINY
    s = pivot / scale
    return s**3 / (s**4 + REDUNDANT**4) / scale


def eliminate(S: Any, b: Any) -> Any:
    """x (n×1) of S x = b for S symmetric and positive semidefinite; zero in redundant rows."""
    diagonal, steps = ca.diag(S), []
    diagonal = diagonal + _NOISE * ca.sum1(diagonal)  # a row of nothing but round-off is redundant
    for k in range(diagonal.shape[0]):
        inverse = _inverse(S[0, 0], diagonal[k])
        factors = S[1:, 0] * inverse
        steps.append((b[0] * inverse, factors))
        b, S = b[1:, :] - factors * b[0], S[1:, 1:] - factors @ S[1:, 0].T
    x = ca.SX(0, 1)
    for top, factors in reversed(steps):
        x = ca.vertcat(top - factors.T @ x, x)
    return x


def _multipliers(Y: Any, d: Any, target: Any) -> tuple[Any, Any]:
    """λ, and L⁻ᵀ(b + Aᵀ λ), for Y = L⁻ᵀ [Aᵀ, b] and M = Lᵀ D L."""
    Y_A, y = Y[:, :-1], Y[:, -1]
    scaled = ca.diag(1 / d) @ Y_A
    x = eliminate(Y_A.T @ scaled, target - scaled.T @ y)
    return x, y + Y_A @ x


def solve(t: Tree, M: Any, b: Any, A: Any, target: Any) -> tuple[Any, Any]:
    """x (n) and λ (nc) of M x = b + Aᵀ λ, A x = target."""
    F = factor.factor(t, M)
    Y = factor.half(t, F, ca.horzcat(A.T, b))
    multipliers, y = t.apply(_multipliers, Y, F.D, target)
    return factor.finish(t, F, y), multipliers


# -- inverse dynamics --------------------------------------------------------------------------


def _weighted(B: Any, A: Any) -> tuple[Any, Any]:
    """K = B Bᵀ and K + Aᵀ A: on A x = 0 they are the same, and the second is regular."""
    K = B @ B.T
    return K, K + A.T @ A


def _times(K: Any, x: Any) -> Any:
    return K @ x


def matrices(t: Tree, q: Any) -> tuple[Any, Any]:
    """B (nv×nu) of tau = B u, and A (nc×nv)."""
    m = t.mechanism
    B = t.X(evaluate_at([ca.sparsify(m.actuation)], m.p, t.p)[0])
    if m.coupling is not None:
        B = coupling.force(lambda *_: B, t, q)
    return B, constraints.jacobian(t, q)


def least_actuation(t: Tree, q: Any, force: Any) -> tuple[Any, Any]:
    """tau = B u with the least norm of u, and λ, so that tau + Aᵀ λ = force (nv): from
    [B Bᵀ, Aᵀ; A, 0][μ; λ] = [force; 0], tau = B Bᵀ μ."""
    B, A = matrices(t, q)
    K, H = t.apply(_weighted, B, A)
    mu, multipliers = solve(t, H, force, A, t.zeros(A.shape[0]))
    return t.apply(_times, K, mu), -multipliers
