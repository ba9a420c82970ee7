"""The rank of constraints over configurations that meet them, and a set of rows that has it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from anyjoint.assembly import Assembly
from anyjoint.dynamics.closure import Closure
from anyjoint.dynamics.rows import TURNS, Constraint
from anyjoint.joint_properties import Array

_SMALL = 1e-6  # of a singular value, with rows and columns of size 1: no rank
_CLEAR = (0.1, 1e-3, _SMALL)  # what is left of a row to keep, in terms of all that A has there


def walk(assembly: Assembly, starts: Sequence[Array], n: int) -> tuple[list[Array], bool]:
    """The starts, and n configurations further on: steps along φ = 0 from the first one on; and
    whether they tell the rank, by several steps or as no velocity is free."""
    rng, out, q = np.random.default_rng(3), [*starts], starts[0]
    for _ in range(n):
        A = assembly.errors(q).A
        _, s, Vt = np.linalg.svd((A / assembly.scale(A)[:, None])[assembly.holonomic])
        free = Vt[int((s > _SMALL * s.max(initial=0)).sum()):]
        if not len(free):
            return out, True
        for size in (0.3, 0.1, 0.03, 3e-3, 1e-4):
            step = size * rng.standard_normal(len(free)) @ free
            ahead = assembly.move(q, step)
            x = assembly.project(ahead) if np.isfinite(ahead).all() else None
            if x is not None and assembly.inside(x) and _went(assembly, q, step, ahead, x):
                q = x
                out.append(x)
                break
    return out, len(out) >= len(starts) + n // 2


def _went(assembly: Assembly, q: Array, step: Array, ahead: Array, x: Array) -> bool:
    """Did a step to `ahead`, corrected to x, stay near and not fall back?"""
    size = np.linalg.norm(step)
    return bool(assembly.distance(ahead, x) <= 2 * size and assembly.distance(q, x) >= size / 4)


@dataclass(frozen=True)
class Ranks:
    """Of A at samples, with rows and columns brought to the same size."""

    assembly: Assembly
    samples: list[Array]  # where A has the generic rank
    A: Array  # there, n × nc × nv
    e: Array  # n × nc
    rows: Array  # nc: what rows of A are divided by
    columns: Array  # nv
    generic: int
    sure: bool  # is it the generic one?

    @staticmethod
    def of(assembly: Assembly, samples: list[Array], sure: bool = True) -> Ranks:
        found = [assembly.errors(q) for q in samples]
        A, e = np.array([x.A for x in found]), np.array([x.e for x in found])
        rows = assembly.scale(A)
        largest = np.abs(A / rows[:, None]).max((0, 1), initial=0)
        columns = np.where(largest > _SMALL**2, largest, 1.0)
        ranks = rank(A / rows[:, None] / columns)
        keep = ranks == ranks.max()
        return Ranks(assembly, [q for q, k in zip(samples, keep, strict=True) if k],
                     (A / rows[:, None] / columns)[keep], (e / rows)[keep], rows, columns,
                     int(ranks.max()), sure or int(ranks.max()) == min(A.shape[1:]))

    def rank(self, A: Array) -> Any:
        return rank(self.scaled(A))

    def scaled(self, A: Array) -> Array:
        return A / self.rows[:, None] / self.columns


def rank(A: Array) -> Any:
    """Of A (… × nc × nv), scaled."""
    if not A.shape[-1]:
        return np.zeros(A.shape[:-2], int)
    return (np.linalg.svd(A, compute_uv=False) > _SMALL).sum(-1)


def independent(A: Array, order: Sequence[int], clear: Any) -> list[int]:
    """Rows of A (n × nc × nv) that are independent of those before them, in every sample: more
    than `clear` (n, or one for all) is left of them."""
    basis: list[Array] = []
    kept = []
    for k in order:
        left = A[:, k]
        for b in [*basis, *basis]:  # twice: for round-off
            left = left - (left * b).sum(1, keepdims=True) * b
        size = np.linalg.norm(left, axis=1)
        if (size > clear).all():
            basis.append(left / size[:, None])
            kept.append(k)
    return kept


def _orders(constraints: Sequence[Constraint]) -> list[list[int]]:
    """Holonomic rows before those of velocities, shifts before turns, and in the file's order;
    then with turns the other way round, and before shifts."""
    rows = [(not c.holonomic, k, x in TURNS, i)
            for k, c in enumerate(constraints) for i, x in enumerate(c.labels)]
    index = range(len(rows))
    return [sorted(index, key=lambda r: (*rows[r][:2], first * rows[r][2], turn * rows[r][3]))
            for first in (1, -1) for turn in (1, -1)]


def minimal(ranks: Ranks) -> list[int] | None:
    """Rows that have the rank of all in every sample, as constraints of their own too: what a
    turn means depends on the other turns of its closure."""
    least = np.linalg.svd(ranks.A, compute_uv=False)[:, ranks.generic - 1] if ranks.generic else 1
    for clear in _CLEAR:
        for order in _orders(ranks.assembly.m.constraints):
            kept = sorted(independent(ranks.A, order, clear * least))
            if len(kept) == ranks.generic and _enough(ranks, kept):
                return kept
    return None


def _enough(ranks: Ranks, kept: list[int]) -> bool:
    m, start = ranks.assembly.m, 0
    few: list[Constraint] = []
    for c in m.constraints:
        own = range(start, start := start + len(c.labels))
        labels = tuple(x for k, x in zip(own, c.labels, strict=True) if k in kept)
        if labels:
            few.append(replace(c, labels=labels) if isinstance(c, Closure) else c)
    other = Ranks.of(Assembly(replace(m, constraints=tuple(few))), ranks.samples)
    return other.generic == ranks.generic and len(other.samples) == len(ranks.samples)


def first_lost(ranks: Ranks, A: Array) -> int:
    """The first of the rows that count which depends on those before it at A (nc × nv)."""
    kept = minimal(ranks) or list(range(len(A)))
    here = independent(ranks.scaled(A)[None], kept, _SMALL)
    return next((k for k in kept if k not in here), kept[-1])


def causes(ranks: Ranks, rows: Sequence[int], kept: Sequence[int]) -> list[int]:
    """Those kept rows that others follow from."""
    factors = np.array([np.linalg.lstsq(A[list(kept)].T, A[list(rows)].T, rcond=None)[0]
                        for A in ranks.A])
    return [k for i, k in enumerate(kept) if (np.abs(factors[:, i]) > _SMALL).any()]


def contradiction(ranks: Ranks) -> int | None:
    """A row that no velocity meets together with the others."""
    for A, e in zip(ranks.A, ranks.e, strict=True):
        left = np.abs(A @ np.linalg.lstsq(A, e, rcond=_SMALL)[0] - e)
        if left.max() > _SMALL * max(1.0, np.abs(e).max()):
            return int(np.flatnonzero(left > 0.5 * left.max())[-1])
    return None
