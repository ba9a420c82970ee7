"""M = Lᵀ D L of a mass matrix, without fill-in where its zeros are those of a tree (seed 003,
section 4, and Featherstone's factorisation along the parents of the velocities), and M⁻¹ by it.

Velocities are eliminated by least degree in the pattern of M, the last ones first. On a tree
that is always a leaf, which touches its ancestors only, and those touch each other anyway: so
branches stay apart. Zeros beyond those of the tree are made use of, and Γᵀ M Γ of couplings,
whose pattern is no tree, is treated alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca

from anyjoint.dynamics.tree import Tree


@dataclass(frozen=True, eq=False)
class Factor:
    """M[order, order] = Lᵀ D L."""

    order: list[int]  # of the velocities, roots before leaves
    L: Any  # n×n, strictly lower triangular: without the ones on its diagonal
    D: Any  # n×1, the diagonal


def elimination_order(pattern: ca.Sparsity, preferred: list[int]) -> list[int]:
    """Order in which the last one has the least degree in a pattern, the next to last
    has it then, and so on; among equals the one that comes last in `preferred`."""
    near: dict[int, set[int]] = {i: set() for i in preferred}
    for i, j in zip(*pattern.get_triplet(), strict=True):
        if i != j:
            near[i].add(j)
            near[j].add(i)
    order = []
    while near:
        i = min(reversed(near), key=lambda k: len(near[k]))
        order.append(i)
        touched = near.pop(i)
        for j in touched:  # what a velocity leaves behind couples all that it touches
            near[j] = (near[j] | touched) - {i, j}
    return order[::-1]


def _outward(t: Tree, n: int) -> list[int]:
    """Velocities from the root to the leaves: of the tree, or the n independent ones."""
    start, rows = 0, []
    for body in t.bodies:
        rows.append(list(range(start, start := start + body.joint.nv)))
    order = [k for i, _ in t.outward() for k in rows[i]]
    if (c := t.mechanism.coupling) is None or n == t.nv:
        return order
    return [c.v_kept.index(k) for k in order if k in c.v_kept]


# -- kernels: what is structurally zero costs nothing --------------------------------------------


def _left(row: Any, i: int) -> list[int]:
    """Columns before i where the row (1×…) has entries."""
    return [j for j in row.sparsity().get_col() if j < i]


def ltdl(M: Any) -> tuple[Any, Any]:
    """L and D, row by row from the last to the first."""
    n = M.shape[0]
    rows, D = [M[i, :i + 1] for i in range(n)], ca.SX(n, 1)
    for i in reversed(range(n)):
        row, D[i] = rows[i], rows[i][i]
        rows[i] = ca.horzcat(row[:, :i] / D[i], ca.SX(1, n - i))
        for j in _left(row, i):
            rows[j] = rows[j] - rows[i][j] * row[:, :j + 1]
    return ca.vertcat(ca.SX(0, n), *rows), D


def _half(L: Any, B: Any) -> Any:
    n = L.shape[0]
    rows = [B[i, :] for i in range(n)]
    for i in reversed(range(n)):
        for j in _left(L[i, :], i):
            rows[j] = rows[j] - L[i, j] * rows[i]
    return ca.vertcat(ca.SX(0, B.shape[1]), *rows)


def _finish(L: Any, D: Any, Y: Any) -> Any:
    n = L.shape[0]
    rows = [Y[i, :] / D[i] for i in range(n)]
    for i in range(n):
        for j in _left(L[i, :], i):
            rows[i] = rows[i] - L[i, j] * rows[j]
    return ca.vertcat(ca.SX(0, Y.shape[1]), *rows)


def _solve(M: Any, B: Any) -> Any:
    L, D = ltdl(M)
    return _finish(L, D, _half(L, B))


# -- for any tree ----------------------------------------------------------------------------------


def _order(t: Tree, M: Any) -> list[int]:
    return elimination_order(M.sparsity(), _outward(t, M.shape[0]))


def _inverse(order: list[int]) -> list[int]:
    return sorted(range(len(order)), key=order.__getitem__)


def factor(t: Tree, M: Any) -> Factor:
    """L and D of M (n×n, symmetric positive definite; n velocities of the tree, or the
    independent ones)."""
    order = _order(t, M)
    return Factor(order, *t.apply(ltdl, M[order, order]))


def half(t: Tree, F: Factor, B: Any) -> Any:
    """Y = L⁻ᵀ B for B (n×k), rows in F.order: Aᵀ M⁻¹ B = Y(A)ᵀ D⁻¹ Y(B)."""
    return t.apply(_half, F.L, B[F.order, :])


def finish(t: Tree, F: Factor, Y: Any) -> Any:
    """M⁻¹ B = L⁻¹ D⁻¹ Y of Y = half(B), rows in the order of the velocities again."""
    return t.apply(_finish, F.L, F.D, Y)[_inverse(F.order), :]


def solve(t: Tree, M: Any, B: Any) -> Any:
    """M⁻¹ B for M (n×n, symmetric positive definite) and B (n×k), in one call."""
    order = _order(t, M)
    return t.apply(_solve, M[order, order], B[order, :])[_inverse(order), :]
