"""M⁻¹ of a mass matrix (or of Γᵀ M Γ), sparse as the tree is."""

from __future__ import annotations

from typing import Any

from anyjoint.dynamics import aba
from anyjoint.dynamics.tree import Tree


def _solve(M: Any, B: Any) -> Any:
    """From the last coordinate to the first, so that branches stay apart."""
    back = list(range(M.shape[0]))[::-1]
    return aba.ldl_solve(*aba.ldl(M[back, back]), B[back, :])[back, :]


def solve(t: Tree, M: Any, B: Any) -> Any:
    """M⁻¹ B for M (nv×nv, symmetric positive definite) and B (nv×k)."""
    return t.apply(_solve, M, B)
