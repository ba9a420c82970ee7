"""Configurations that meet the constraints of a mechanism, by the method of Levenberg and
Marquardt: Newton's with steps of least norm, damped while the errors are large."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from anyjoint.build.couplings import Coordinates
from anyjoint.dynamics import constraints, coupling, kinematics
from anyjoint.dynamics.closure import Closure
from anyjoint.dynamics.rows import TURNS
from anyjoint.dynamics.tree import Tree
from anyjoint.joint_properties import Array
from anyjoint.mechanism import Mechanism, evaluate_at

MET = 1e-10  # errors, as motions of the joints that would mend them
_STEPS, _TRIES, _SHOWN = 60, 12, 6
_NOTHING = 1e-12  # a row without velocities: round-off


class Errors(NamedTuple):
    """Of the constraints at a configuration (nc rows)."""

    phi: Array  # nc; zero for constraints of velocities
    A: Array  # nc × nv
    e: Array  # nc: what A v must be
    flipped: Array  # nc: is the frame turned half around, where φ of three turns vanishes too?


class Assembly:
    """The constraints of a mechanism as functions of q alone."""

    def __init__(self, m: Mechanism, p: Array | None = None):
        self.m, self.p = m, m.p0 if p is None else p
        self._rows, self._move, self._difference = (
            _rows(m), *(m.function(name, form="rolled") for name in ("integrate", "difference")))
        rows = [(k, c, x) for k, c in enumerate(m.constraints) for x in c.labels]
        self.holonomic = np.array([c.holonomic for _, c, _ in rows], bool)
        own = Coordinates(m.bodies)
        kept = range(m.nq) if m.coupling is None else m.coupling.q_kept
        v_kept = [*range(m.nv)] if m.coupling is None else [*m.coupling.v_kept]
        self.rates = [None if k is None else v_kept.index(k) for k in (own.rates[i] for i in kept)]
        self.groups = np.array([(k, x in TURNS) for k, _, x in rows]).reshape(-1, 2)

    def errors(self, q: Array) -> Errors:
        phi, rate, A, flipped = (x.full() for x in self._rows(q, self.p))
        return Errors(phi.ravel(), A, -rate.ravel(), flipped.ravel() > 0)

    def scale(self, A: Array) -> Array:
        """For each row of A (… × nc × nv) the largest norm of those of its constraint and kind
        (turn or not): what a unit of velocity does to it."""
        norms = np.linalg.norm(A, axis=-1).max(axis=tuple(range(A.ndim - 2)))
        same = (self.groups[:, None] == self.groups[None]).all(2)
        largest = np.where(same, norms, 0).max(1, initial=0)
        return np.where(largest > _NOTHING, largest, 1.0)

    def sizes(self, found: Errors) -> Array:
        """Errors (nc) as motions of joints that would mend them."""
        return np.where(found.flipped, 1, np.abs(found.phi) / self.scale(found.A))

    def move(self, q: Array, dq: Array) -> Array:
        return self._move(q, dq).full().ravel()

    def distance(self, q0: Array, q1: Array) -> float:
        return float(ca.norm_2(self._difference(q0, q1)))

    def inside(self, q: Array) -> bool:
        """Is q in the ranges?"""
        low, high = self.m.bounds.q_min, self.m.bounds.q_max
        return bool(((low - 1e-9 <= q) & (q <= high + 1e-9)).all())

    def met(self, found: Errors, tolerance: float = MET) -> bool:
        return bool((self.sizes(found) <= tolerance).all() and np.isfinite(found.A).all())

    def named(self, found: Errors) -> str:
        """loop.y = 0.02: the errors that are not small."""
        left = [f"{name} = {x:.4g}" + " (half a turn)" * bool(flipped) for name, x, flipped, size
                in zip(self.m.lambda_names, found.phi, found.flipped, self.sizes(found),
                       strict=True) if not size <= MET]
        return ", ".join(left[:_SHOWN]) + ", …" * (len(left) > _SHOWN)

    def descend(self, q: Array, free: Array | None = None) -> tuple[Array, Errors]:
        """Where the steps from q end, and what is left there; free: velocities to move (nv of 1
        and 0, all by default)."""
        found, damping = self.errors(q), 1e-2
        scale = self.scale(found.A)  # one for all steps, so that they compare

        def size(x: Errors) -> float:
            total = float(np.linalg.norm(x.phi / scale)) + x.flipped.any()
            return total if np.isfinite(x.A).all() and np.isfinite(total) else np.inf

        left = size(found)
        for _ in range(_STEPS):
            if not 1e-3 * MET < left < np.inf or damping > 1e6:
                break
            J = np.where(self.holonomic[:, None], found.A, 0) / scale[:, None]
            J = J if free is None else J * free
            U, s, Vt = np.linalg.svd(J, full_matrices=False)
            # damped so, steps converge quadratically where rows are redundant too (Yamashita and
            # Fukushima 2001)
            step = -(s / (s**2 + damping * left**2) * (found.phi / scale @ U)) @ Vt
            trial = self.move(q, step)
            after = self.errors(trial)
            if (smaller := size(after)) < left:
                slow = smaller > 0.999 * left
                q, found, left, damping = trial, after, smaller, max(damping / 10, 1e-3)
                if slow:
                    break
            else:
                damping *= 10
        return q, found

    def project(self, q: Array) -> Array | None:
        """A configuration near q that meets the constraints; None where there seems to be none."""
        q, found = self.descend(q)
        return q if self.met(found) else None

    def nearest(self, q: Array, free: Array | None = None) -> Array | None:
        """The same with further tries where the first one fails or leaves the ranges."""
        rng = np.random.default_rng(1)
        free = np.ones(self.m.nv) if free is None else free
        # what the constraints don't reach stays where it is
        moved = free * (np.abs(self.errors(self.move(q, free * 0.1)).A).max(0, initial=0) > 0)

        def tries() -> Iterable[Array]:
            yield q
            for size in np.linspace(0.1, 1.5, _TRIES):
                yield self.move(q, size * moved * rng.standard_normal(self.m.nv))

        found: list[Array] = []
        for start in tries():
            found += self._inside(start, free)
            if found and start is q and self.inside(found[0]):
                break
        return min(found, key=lambda x: (not self.inside(x), self.distance(q, x)), default=None)

    def _inside(self, q: Array, free: Array) -> list[Array]:
        """At most one configuration: coordinates that leave their ranges are held at the ends."""
        low, high, found = self.m.bounds.q_min, self.m.bounds.q_max, []
        for _ in range(1 + self.m.nv):
            x, errors = self.descend(q, free)
            if not self.met(errors):
                break
            found = [x]
            out = [k for i, k in enumerate(self.rates) if not low[i] <= x[i] <= high[i]
                   and k is not None and free[k]]
            if self.inside(x) or not out:
                break
            free, q = free.copy(), np.clip(x, low, high)
            free[out] = 0
        return found


def _rows(m: Mechanism) -> ca.Function:
    """(q, p) → φ, the rate at rest, A, and `flipped` of Errors."""
    q, p = ca.MX.sym("q", m.nq), ca.MX.sym("p", m.np)
    t = Tree(m, p)
    found = constraints.rows(t, q, t.zeros(m.nv))
    poses = kinematics.poses(t, q if m.coupling is None else coupling.motion(t, q)[0])
    flipped = [_flipped(t, c, poses) for c in m.constraints for _ in c.labels]
    outputs = [found.phi, found.rate, found.A, ca.vertcat(*flipped)]
    return ca.Function("rows", [q, p], [ca.densify(ca.MX(x)) for x in outputs])


def _flipped(t: Tree, c: Any, poses: list[Any]) -> Any:
    if not isinstance(c, Closure) or not {*TURNS} <= {*c.labels}:
        return ca.MX.zeros(1)
    frames = evaluate_at([ca.sparsify(R) for _, R, _ in c.sites], t.mechanism.p, t.p)
    F, T = (R if i < 0 else poses[i][0] @ R for (i, _, _), R in zip(c.sites, frames, strict=True))
    return ca.trace(ca.mtimes(F.T, T)) < 0
