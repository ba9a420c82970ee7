"""What a mechanism must have for a function to make sense, told before the function is built."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import casadi as ca
import numpy as np

from anyjoint.dynamics.constrained import matrices
from anyjoint.dynamics.tree import Tree
from anyjoint.errors import InputError
from anyjoint.mechanism import Mechanism


def check(m: Mechanism, name: str, options: Mapping[str, Any]) -> None:
    """InputError where the function `name` has no answer for this mechanism."""
    if name in _CHECKS:
        _CHECKS[name](m, options)


def _near_rest(m: Mechanism) -> Iterator[tuple[Any, Any]]:
    """B (nv×nu) of tau = B u and A (nc×nv) of the constraints at some configurations."""
    tree, move = Tree(m, ca.DM(m.p0)), m.function("integrate", form="inlined")
    for step in [np.zeros(m.nv), *np.random.default_rng(1).uniform(-0.1, 0.1, (3, m.nv))]:
        B, A = (x.full() for x in matrices(tree, move(m.q0, step)))
        if np.isfinite(A).all():  # formulas may end near rest
            yield B, A


def _rank(A: Any, columns: Any = slice(None)) -> int:
    """Of some columns of A; what is small against all of A is zero."""
    return int(np.linalg.matrix_rank(A[:, columns], 1e-9 * np.abs(A).max(initial=0.0)))


def _actuation(m: Mechanism, _: Mapping[str, Any]) -> None:
    """Actuators and constraints together can hold every motion, somewhere."""
    rank = max((_rank(np.hstack([B, A.T])) for B, A in _near_rest(m)), default=m.nv)
    if rank < m.nv:
        raise InputError(f"id_constrained: the actuators and constraints of {m.name} act on "
                         f"{rank} of its {m.nv} velocities; id gives the forces on all, "
                         "or add actuators")


def _prescribed(m: Mechanism, options: Mapping[str, Any]) -> None:
    """Velocities that are not prescribed can meet the constraints alone, somewhere."""
    if not m.constraints:
        return
    held = [n for n in m.v_names if n.partition(".")[0] in options["prescribed"]]
    free = [k for k, n in enumerate(m.v_names) if n not in held]
    excess = min((_rank(A) - _rank(A, free) for _, A in _near_rest(m)), default=0)
    if excess:
        raise InputError(f"hybrid: the constraints of {m.name} leave {len(held) - excess} of "
                         f"{', '.join(held)} free to be prescribed, not {len(held)}")


_CHECKS: dict[str, Callable[[Mechanism, Mapping[str, Any]], None]] = {
    "id_constrained": _actuation, "hybrid": _prescribed}
