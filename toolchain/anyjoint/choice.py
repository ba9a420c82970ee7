"""Which algorithm a function is built with: the one asked for, if it can do the mechanism, or
with `auto` the one with the fewest operations."""

from __future__ import annotations

from collections.abc import Iterable

from anyjoint.backend.budget import operations
from anyjoint.dynamics.algorithms import AUTO, FORWARD
from anyjoint.errors import InputError
from anyjoint.functions import CATALOGUE
from anyjoint.mechanism import Mechanism

# Velocities before a velocity, on average: above that crba can't win (in chains of revolute joints
# and of tori it wins up to 6 or 7), and its graph is not built to find that out.
_DEEP = 16


def rolled(algorithm: str) -> bool:
    """Does it exist in the rolled form only?"""
    return algorithm in FORWARD and FORWARD[algorithm].rolled


def resolve(m: Mechanism, name: str, algorithm: str) -> str:
    """The algorithm for the function `name`; InputError where it can't do the mechanism."""
    if "auto" not in (CATALOGUE[name].options["algorithm"] or ()):
        return algorithm  # inverse dynamics: any of them does
    possible = able(m, FORWARD)
    if algorithm == "auto":
        names = _candidates(m)
        counts = compare(m) if len(names) > 1 else {}
        return min(names, key=lambda x: counts[x]["total"] if counts else 0)
    if algorithm not in possible:
        what = "couplings" if m.coupling is not None else "constraints"
        raise InputError(f"{name}: {algorithm} can't do a mechanism with "
                         f"{what}; {', '.join(possible)} can")
    return algorithm


def able(m: Mechanism, names: Iterable[str]) -> list[str]:
    """Those that can do the mechanism: couplings and constraints need the equations
    M a + c = tau."""
    tree = m.coupling is None and not m.constraints
    return [n for n in names if tree or FORWARD[n].equations is not None]


def compare(m: Mechanism) -> dict[str, dict[str, int]]:
    """Operations of forward dynamics by each algorithm that `auto` chooses from."""
    if not m.compared:
        for n in _candidates(m):
            m.compared[n] = operations(m.function("fd", algorithm=n))
    return m.compared


def _candidates(m: Mechanism) -> list[str]:
    names = [n for n in able(m, AUTO) if FORWARD[n].equations is None or not _deep(m)]
    return names or able(m, AUTO)


def _deep(m: Mechanism) -> bool:
    """Do velocities have so many others before them, on average, that O(n · depth) can't win?"""
    before: list[int] = [0] * len(m.bodies)  # velocities up to a body, its own included
    pairs = 0
    for i in m.order:
        k, n = m.bodies[i].parent, m.bodies[i].joint.nv
        before[i] = n + (before[k] if k >= 0 else 0)
        pairs += n * before[i]
    return pairs > _DEEP * sum(body.joint.nv for body in m.bodies)
