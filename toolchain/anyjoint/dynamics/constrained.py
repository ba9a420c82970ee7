"""Lagrange multipliers: M x = b + Aᵀ λ with A x = target, by the Schur complement A M⁻¹ Aᵀ."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import casadi as ca
import numpy as np

from anyjoint.dynamics import constraints, coupling, factor
from anyjoint.dynamics.tree import Tree
from anyjoint.errors import InputError
from anyjoint.mechanism import Mechanism, evaluate_at

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


def _matrices(t: Tree, q: Any) -> tuple[Any, Any]:
    """B (nv×nu) of tau = B u, and A (nc×nv)."""
    m = t.mechanism
    B = t.X(evaluate_at([ca.sparsify(m.actuation)], m.p, t.p)[0])
    if m.coupling is not None:
        B = coupling.force(lambda *_: B, t, q)
    return B, constraints.jacobian(t, q)


def _near_rest(m: Mechanism) -> Iterator[tuple[Any, Any]]:
    """B and A at some configurations."""
    tree, move = Tree(m, ca.DM(m.p0)), m.function("integrate", form="inlined")
    for step in [np.zeros(m.nv), *np.random.default_rng(1).uniform(-0.1, 0.1, (3, m.nv))]:
        B, A = (x.full() for x in _matrices(tree, move(m.q0, step)))
        if np.isfinite(A).all():  # formulas may end near rest
            yield B, A


def _rank(A: Any, columns: Any = slice(None)) -> int:
    """Of some columns of A; what is small against all of A is zero."""
    return int(np.linalg.matrix_rank(A[:, columns], 1e-9 * np.abs(A).max(initial=0.0)))


def check_actuation(m: Mechanism) -> None:
    """InputError where actuators and constraints together can't hold every motion, anywhere."""
    rank = max((_rank(np.hstack([B, A.T])) for B, A in _near_rest(m)), default=m.nv)
    if rank < m.nv:
        raise InputError(f"id_constrained: the actuators and constraints of {m.name} act on "
                         f"{rank} of its {m.nv} velocities; id gives the forces on all, "
                         "or add actuators")


def check_prescribed(m: Mechanism, held: list[bool]) -> None:
    """InputError where the constraints don't let the velocities that are held be chosen freely:
    where the others alone can't meet them, anywhere."""
    free = [k for k, x in enumerate(held) if not x]
    excess = min((_rank(A) - _rank(A, free) for _, A in _near_rest(m)), default=0)
    if excess:
        names = ", ".join(n for n, x in zip(m.v_names, held, strict=True) if x)
        raise InputError(f"hybrid: the constraints of {m.name} leave {sum(held) - excess} of "
                         f"{names} free to be prescribed, not {sum(held)}")


def least_actuation(t: Tree, q: Any, force: Any) -> tuple[Any, Any]:
    """tau = B u with the least norm of u, and λ, so that tau + Aᵀ λ = force (nv): from
    [B Bᵀ, Aᵀ; A, 0][μ; λ] = [force; 0], tau = B Bᵀ μ."""
    check_actuation(t.mechanism)
    B, A = _matrices(t, q)
    K, H = t.apply(_weighted, B, A)
    mu, multipliers = solve(t, H, force, A, t.zeros(A.shape[0]))
    return t.apply(_times, K, mu), -multipliers
