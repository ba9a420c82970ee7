"""Which algorithm a function is built with: the one asked for, if it can do the mechanism, or
with `auto` the one with the fewest operations."""

from __future__ import annotations

from collections.abc import Iterable

from anyjoint.backend.budget import operations
from anyjoint.dynamics.algorithms import AUTO, FORWARD, INVERSE
from anyjoint.errors import InputError
from anyjoint.mechanism import Mechanism

# Of all pairs (joint, joint before it) per joint: above that crba can't win, and its O(n²)
# graph is not built to find that out.
_DEEP = 25


def rolled(algorithm: str) -> bool:
    """Does it exist in the rolled form only?"""
    return algorithm in FORWARD and FORWARD[algorithm].rolled


def resolve(m: Mechanism, name: str, algorithm: str) -> str:
    """The algorithm for the function `name`; InputError where it can't do the mechanism."""
    if algorithm in INVERSE:
        return algorithm
    able = list(_able(m, FORWARD))
    if algorithm == "auto":
        if m.fastest:
            return m.fastest[0]
        counts = compare(m)
        m.fastest.append(min(counts, key=lambda x: counts[x]["total"]))
        return m.fastest[0]
    if algorithm not in able:
        raise InputError(f"{name}: {algorithm} can't do a mechanism with "
                         f"couplings; {', '.join(able)} can")
    return algorithm


def _able(m: Mechanism, names: Iterable[str]) -> Iterable[str]:
    """Those that can do the mechanism: couplings need the equations M a + c = tau."""
    return (n for n in names if m.coupling is None or FORWARD[n].equations is not None)


def compare(m: Mechanism) -> dict[str, dict[str, int]]:
    """Operations of forward dynamics by each algorithm that `auto` chooses from."""
    names = [n for n in _able(m, AUTO) if FORWARD[n].equations is None or not _deep(m)]
    names = names or list(_able(m, AUTO))
    return {n: operations(m.function("fd", algorithm=n)) for n in names}


def _deep(m: Mechanism) -> bool:
    """Is the mean depth of the joints so large that what is O(n · depth) can't win?"""
    depth = [0] * len(m.bodies)
    for i in m.order:
        depth[i] = 1 + (depth[m.bodies[i].parent] if m.bodies[i].parent >= 0 else 0)
    return sum(depth) > _DEEP * len(depth)
