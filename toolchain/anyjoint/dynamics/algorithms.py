"""The algorithms of forward and inverse dynamics by name, and what each of them can do.

An algorithm knows a tree of joints and nothing else. Forward dynamics comes in two kinds:

- `solve(tree, q, v, tau, wrenches) → a` goes from forces to accelerations in its own way;
- `equations(tree, q, v, wrenches) → (M, c)` with M a + c = tau, which are then factorised.
  Couplings and constraints are layers around these (forward.py).

Inverse dynamics is `build(tree, q, v, a, wrenches) → tau`. All take vectors of the whole tree
and wrenches on the bodies (6×1 each, body axes, about the body's origin)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from anyjoint.dynamics import (
    aba,
    aba_modified,
    augmented,
    crba,
    crba_coupled,
    jacobian,
    lagrange,
    maximal,
    newton_euler_local,
    recursive,
    rnea,
)
from anyjoint.dynamics.tree import Tree

Solve = Callable[[Tree, Any, Any, Any, list[Any]], Any]
Equations = Callable[[Tree, Any, Any, list[Any]], tuple[Any, Any]]


@dataclass(frozen=True)
class Forward:
    """A way to forward dynamics: one of solve and equations."""

    doc: str
    solve: Solve | None = None
    equations: Equations | None = None
    # (tree, q, v, Γ, Γ̇ ẏ, wrenches) → (Γᵀ M Γ, Γᵀ(M Γ̇ ẏ + c)), where that is to be had for less
    coupled: Callable[..., tuple[Any, Any]] | None = None
    rolled: bool = False  # exists in the rolled form only: it factorises at run time


FORWARD: dict[str, Forward] = {
    "aba": Forward("articulated bodies, seed 003 section 5", solve=aba.aba),
    "aba_modified": Forward("the same with the pivot of section 7",
                            solve=aba_modified.aba_modified),
    "crba": Forward("composite rigid bodies and LᵀDL, seed 003 section 4",
                    equations=crba.equations, coupled=crba_coupled.equations),
    "augmented": Forward("all unknowns in one sparse system, seed 003 eq. 5",
                         solve=augmented.augmented, rolled=True),
    "jacobian": Forward("body Jacobians, seed 004 eq. 59", equations=jacobian.equations),
    "jacobian_maximal": Forward("reduced from maximal coordinates, seed 002 section 3",
                                equations=maximal.equations),
    "lagrange": Forward("trace form and Cholesky, seed 001", equations=lagrange.equations),
    "recursive": Forward("six sweeps, seed 000 method I", solve=recursive.recursive),
    "recursive_mixed": Forward("the same with factorisations at run time, seed 000 method II",
                               solve=recursive.recursive_mixed, rolled=True),
}
INVERSE: dict[str, Solve] = {
    "rnea": rnea.rnea,
    "lagrange": lagrange.lagrange,
    "newton_euler_local": newton_euler_local.newton_euler_local,
}
AUTO = ("aba", "crba", "recursive")  # that `auto` chooses from: the fewest operations
