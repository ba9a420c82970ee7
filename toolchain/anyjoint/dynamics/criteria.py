"""What tells where a joint is singular: numbers that are zero there and about one at its usual
places, whatever the units."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

from anyjoint.joints.contract import Joint
from anyjoint.joints.motion import Chart

Array = Any  # numpy.ndarray of floats

SINGULAR = 1e-6  # of a criterion
_PROBES = 16  # points for the usual values
_INDEPENDENT = 1e-3  # usual smallest singular value of the scaled S; less: never independent


class Criteria:
    """Of joints of one kind, each with its numbers: arguments (k), rest values and ranges (nq,
    equal ends where a coordinate stays at rest), one row a joint."""

    def __init__(self, joint: Joint, arguments: Array, rest: Array, lower: Array, upper: Array):
        self.joint, self.arguments, self.rest = joint, arguments, rest
        self.lower, self.width = lower, upper - lower
        q, a = ca.SX.sym("q", joint.nq), ca.SX.sym("a", len(joint.arguments))
        G = joint.motion(Chart(q, joint.rate_matrix(q)), a)
        conditions = joint.conditions(q, a)
        outputs = [ca.densify(ca.vec(ca.SX(x))) for x in (
            G.S, ca.sum1(ca.vec(G.R)) + ca.sum1(G.r), ca.vertcat(*[c.value for c in conditions]))]
        self.function = ca.Function("joint", [q, a], ca.cse(outputs))
        self.texts = ["the coordinates are not independent", "its motion is not finite",
                      *(c.text for c in conditions)]
        self.advice = ["", "", *(c.advice for c in conditions)]
        self.moves = ca.depends_on(ca.vertcat(*outputs), q)
        self._scale()

    def __len__(self) -> int:
        return len(self.rest)

    def at(self, j: Array, z: Array) -> Array:
        """q (n×nq) of the joints j where the ranges have the fractions z."""
        return np.where(self.width[j] > 0, self.lower[j] + z * self.width[j], self.rest[j])

    def __call__(self, j: Array, q: Array) -> Array:
        """Of the joints j at q (n×nq): smallest singular value of the scaled S, inverse of its
        size, the conditions; n × criteria, in the order of `texts`. Where a condition has no
        value, the motion has none either, which says it."""
        S, finite, conditions = self._evaluate(j, q)
        least, size = _singular_values(S * self.weights[j])
        conditions = np.where(np.isfinite(conditions), conditions, self.usual[j, 2:])
        out = np.column_stack([least, 1 / np.maximum(size, 1e-100), conditions])
        out[~finite, :2] = 0.0
        return out / self.usual[j]

    def _evaluate(self, j: Array, q: Array) -> tuple[Array, Array, Array]:
        """S (n×6×nv, zero where not finite), whether all is finite, and the conditions."""
        S, pose, conditions = (x.full().T for x in self.function(
            ca.DM(q.T), ca.DM(self.arguments[j].T)))
        S = S.reshape(len(j), self.joint.nv, 6).transpose(0, 2, 1)
        finite = np.isfinite(S).all((1, 2)) & np.isfinite(pose).all(1)
        return np.where(finite[:, None, None], S, 0.0), finite, conditions

    def _scale(self) -> None:
        """Usual values, from points in the ranges and, for the other coordinates, near rest."""
        rng = np.random.default_rng(0)
        shape = (len(self), _PROBES if self.moves else 1, self.joint.nq)
        near = self.rest[:, None] + rng.uniform(-0.5, 0.5, shape)
        inside = self.lower[:, None] + self.width[:, None] * rng.uniform(0, 1, shape)
        q = np.where(self.width[:, None] > 0, inside, near).reshape(-1, self.joint.nq)
        S, finite, conditions = self._evaluate(np.repeat(np.arange(shape[0]), shape[1]), q)
        S[~finite] = np.nan
        S, conditions = S.reshape(*shape[:2], 6, -1), conditions.reshape(*shape[:2], -1)
        # metres per radian, so that both halves of S count; then columns of length one
        turn, shift = (np.linalg.norm(half, axis=(2, 3)) for half in (S[:, :, :3], S[:, :, 3:]))
        length = _usual(np.where(turn > 0, shift, np.nan) / np.where(turn > 0, turn, 1))
        rows = np.ones((len(self), 6, 1))
        rows[:, 3:] /= length[:, None, None]
        self.weights = rows / _usual(np.linalg.norm(S * rows[:, None], axis=2))[:, None]
        least, size = _singular_values(np.nan_to_num(S * self.weights[:, None]))
        with np.errstate(divide="ignore"):
            self.usual = np.column_stack([_usual(least), _usual(1 / size), _usual(conditions)])
        self.usual[:, 0] = np.maximum(self.usual[:, 0], _INDEPENDENT)


def _singular_values(S: Array) -> tuple[Array, Array]:
    """Smallest singular value of matrices (…×6×nv), zero for nv > 6, and the norm."""
    size = np.linalg.norm(S, axis=(-2, -1))
    if S.shape[-1] == 1:
        return size, size
    least = np.linalg.svd(S, compute_uv=False)[..., -1]
    return (least if S.shape[-1] <= 6 else 0 * least), size


def _usual(values: Array) -> Array:
    """Median of the positive finite values along axis 1; 1 where there are none."""
    known = (values > 0) & np.isfinite(values)
    none = ~known.any(1, keepdims=True)
    return np.nanmedian(np.where(none, 1.0, np.where(known, values, np.nan)), axis=1)
