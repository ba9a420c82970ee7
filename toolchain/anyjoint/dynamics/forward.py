"""Forward dynamics of a mechanism by any of the algorithms: the tree's own, and around it the
layers of couplings and constraints, which need the equations M a + c = tau."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from anyjoint.dynamics import constrained, constraints, coupling, crba, factor
from anyjoint.dynamics.algorithms import FORWARD, Forward
from anyjoint.dynamics.tree import Tree

# (q, v of the tree) → passive joint forces, as they stand on the left, and wrenches on the bodies
Loads = Callable[[Any, Any], tuple[Any, list[Any]]]


def _project(M: Any, c: Any, Gamma: Any, bias: Any) -> tuple[Any, Any]:
    return Gamma.T @ M @ Gamma, Gamma.T @ (M @ bias + c)


def _coupled(method: Forward, t: Tree, q: Any, v: Any, Gamma: Any, bias: Any,
             wrenches: list[Any]) -> tuple[Any, Any]:
    if method.coupled is not None:
        return method.coupled(t, q, v, Gamma, bias, wrenches)
    assert method.equations is not None
    M, c = t.apply(_project, *method.equations(t, q, v, wrenches), Gamma, bias)
    return M, c


def equations(t: Tree, q: Any, v: Any, loads: Loads, algorithm: str) -> tuple[Any, Any]:
    """M (nv×nv) and c (nv) of M a + c = tau in the coordinates of the mechanism: those of the
    tree, or the independent ones where there are couplings. Passive forces are in c."""
    method = FORWARD[algorithm]
    assert method.equations is not None
    if t.mechanism.coupling is None:
        passive, wrenches = loads(q, v)
        M, c = method.equations(t, q, v, wrenches)
        return M, c + passive
    q, Gamma, v, _, bias = coupling.motion(t, q, v)
    passive, wrenches = loads(q, v)
    M, c = _coupled(method, t, q, v, Gamma, bias, wrenches)
    return M, c + t.apply(crba.project, Gamma, passive)


def acceleration(t: Tree, q: Any, v: Any, tau: Any, loads: Loads, algorithm: str) -> Any:
    """a (nv) in the coordinates of the mechanism."""
    return constrained_acceleration(t, q, v, tau, loads, algorithm)[0]


def constrained_acceleration(t: Tree, q: Any, v: Any, tau: Any, loads: Loads,
                             algorithm: str) -> tuple[Any, Any]:
    """a, and the constraint forces λ (nc) of M a + c = tau + Aᵀ λ."""
    method = FORWARD[algorithm]
    if t.mechanism.constraints:
        M, c = equations(t, q, v, loads, algorithm)
        rows = constraints.rows(t, q, v)
        return constrained.solve(t, M, tau - c, rows.A, constraints.target(t, rows))
    if method.solve is not None:
        passive, wrenches = loads(q, v)
        return method.solve(t, q, v, tau - passive, wrenches), t.zeros(0)
    M, c = equations(t, q, v, loads, algorithm)
    return factor.solve(t, M, tau - c), t.zeros(0)
