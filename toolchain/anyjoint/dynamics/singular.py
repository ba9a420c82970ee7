"""Where joints are singular: S loses rank or is not finite, or one of the joint's conditions
fails (a surface without a normal, a curve without curvature).

Joints of one kind are sampled together; Newton's method looks for zeros of the criteria between
the samples."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from anyjoint.dynamics.criteria import SINGULAR, Array, Criteria

_LINE, _CLOUD = 101, 200  # samples of one coordinate, of several
_STARTS, _STEPS = 16, 30  # of Newton's method
_POINTS = 60_000  # about so many samples for all joints of a kind, and a tenth of starts
_SPOTS = 10  # of a joint at most
_ELSEWHERE = (0.2137, 0.618, 0.8765)  # of a range, to see whether a coordinate matters


@dataclass(frozen=True)
class Spot:
    """A singular configuration q (nq) of a joint: the criterion that is zero, and the
    coordinates that matter (the others may have any value)."""

    q: Array
    criterion: int
    about: tuple[int, ...]

    def includes(self, q: Array, width: Array) -> bool:
        """Is q the same place, but for coordinates that don't matter?"""
        i = list(self.about)
        return bool((abs(self.q[i] - q[i]) <= 1e-3 * width[i]).all())


def find(criteria: Criteria) -> list[list[Spot]]:
    """Singular configurations in the ranges, for each joint."""
    moving = np.flatnonzero((criteria.width > 0).any(0)) if criteria.moves else np.zeros(0, int)
    z = samples(moving, criteria.joint.nq, max(32, min(_CLOUD, _POINTS // len(criteria))))
    n, joints = len(z), len(criteria)
    j, Z = np.repeat(np.arange(joints), n), np.tile(z, (joints, 1))
    values = criteria(j, criteria.at(j, Z))
    found: list[list[Spot]] = [[] for _ in range(joints)]
    for c in reversed(range(values.shape[1])):  # conditions tell more than S
        hits = [(j[i], Z[i]) for i in np.flatnonzero(values[:, c] < SINGULAR)]
        hits += _zeros(criteria, c, values[:, c].reshape(joints, n), z)
        for k, at in hits:
            q = criteria.at(np.array([k]), at[None])[0]
            known = any(spot.includes(q, criteria.width[k]) for spot in found[k])
            if not known and len(found[k]) < _SPOTS:
                found[k].append(Spot(q, c, _about(criteria, k, at, c)))
    return found


def samples(moving: Array, nq: int, count: int = _CLOUD) -> Array:
    """Points of the unit cube (n×nq), of which the coordinates `moving` vary: ends and middles
    of all ranges, and a cloud of low discrepancy between them (count)."""
    d = len(moving)
    out = np.full((1, nq), 0.5)
    if d == 1:
        out = np.repeat(out, _LINE, 0)
        out[:, moving] = np.linspace(0, 1, _LINE)[:, None]
    elif d > 1:
        steps = (0, 0.5, 1) if d <= 5 else (0, 1)
        corners = np.array(list(itertools.product(steps, repeat=min(d, 9))))
        golden = (1 + 5**0.5) / 2
        out = np.repeat(out, len(corners) + count, 0)
        out[: len(corners), moving[:9]] = corners
        strides = golden ** -np.arange(1.0, d + 1)
        out[len(corners):, moving] = np.outer(np.arange(1, count + 1), strides) % 1
    return out


def _zeros(criteria: Criteria, c: int, values: Array, z: Array) -> list[tuple[int, Array]]:
    """(joint, fractions of the ranges) of zeros of criterion c that no sample hits."""
    j, f, Z = _starts(values, z)
    h, damping = np.full(len(j), 1e-4), np.ones(len(j))
    for _ in range(_STEPS):
        on = np.flatnonzero((f >= 1e-9) & (damping > 1e-2))
        if not len(on):
            break
        step = _newton(criteria, c, j[on], Z[on], f[on], h[on]) * damping[on, None]
        moved = np.clip(Z[on] + step, 0, 1)
        new = criteria(j[on], criteria.at(j[on], moved))[:, c]
        # a small part of the step: on the same side of a zero, where f has a kink
        h[on] = np.clip(0.01 * np.linalg.norm(moved - Z[on], axis=1), 1e-10, 1e-4)
        better = new < f[on]
        damping[on] = np.where(better, 1.0, 0.3 * damping[on])
        Z[on[better]], f[on[better]] = moved[better], new[better]
    return [(j[i], Z[i]) for i in np.flatnonzero(f < SINGULAR)]


def _starts(values: Array, z: Array) -> tuple[Array, Array, Array]:
    """Joints, values and points to start from: the smallest of each of some groups of inner
    points, so that they don't all lie around one minimum."""
    inner = np.flatnonzero(((z > 0) & (z < 1)).all(1))
    count = min(len(inner), max(4, min(len(z) if len(z) <= _LINE else _STARTS,
                                       _POINTS // 10 // len(values))))
    groups = [inner[g::count] for g in range(count)]
    best = np.column_stack([group[values[:, group].argmin(1)] for group in groups])
    f = np.take_along_axis(values, best, 1)
    keep = (f >= SINGULAR) & (f < 0.9)
    return np.nonzero(keep)[0], f[keep], z[best[keep]]


def _newton(criteria: Criteria, c: int, j: Array, Z: Array, f: Array, h: Array) -> Array:
    """Steps −f ∇f / |∇f|², by differences, without what leads out of the unit cube."""
    n, nq = Z.shape
    side = np.where(Z > 0.5, -1.0, 1.0) * h[:, None]
    many = np.repeat(j, nq)
    moved = criteria.at(many, (Z[:, None] + side[:, :, None] * np.eye(nq)).reshape(-1, nq))
    slope = (criteria(many, moved)[:, c].reshape(n, nq) - f[:, None]) / side
    slope[((Z <= 0) & (slope > 0)) | ((Z >= 1) & (slope < 0)) | (criteria.width[j] <= 0)] = 0
    size = (slope**2).sum(1)
    step = -slope * (f / np.where(size > 0, size, 1))[:, None]
    return step / np.maximum(1, 4 * np.linalg.norm(step, axis=1))[:, None]


def _about(criteria: Criteria, j: int, z: Array, c: int) -> tuple[int, ...]:
    """The coordinates that matter at z, where criterion c is zero: the others can all be
    changed together."""
    about, others = [], np.tile(z, (len(_ELSEWHERE), 1))
    many = np.full(len(others), j)
    for i in np.flatnonzero(criteria.width[j] > 0):
        trial = others.copy()
        trial[:, i] = np.roll(_ELSEWHERE, i)
        if (criteria(many, criteria.at(many, trial))[:, c] < SINGULAR).all():
            others = trial
        else:
            about.append(int(i))
    return tuple(about)
