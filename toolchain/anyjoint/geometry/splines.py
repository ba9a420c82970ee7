"""Uniform cubic B-splines in SX: selection of the local control points.

Segment k covers k ≤ u ≤ k + 1 and uses the columns k … k + 3 of the control points. Sums of
indicators pick them, fewer than 9 d instructions for each further control point of d numbers;
the derivatives use the same four and cost the same for any number (docs/splines.md). C² across
the knots; outside the range the first and last polynomials go on, or their end tangents."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

_FEW = 6  # segments that are chosen from one by one
# Rows: the weights of four control points as polynomials 1, t, t², t³ (seed 002, eq. 53).
BASIS = ca.DM([[1, -3, 3, -1], [4, 0, -6, 3], [1, 3, 3, -3], [0, 0, 0, 1]]) / 6


def powers(t: Any) -> Any:
    """(1, t, t², t³)."""
    return ca.vertcat(1, t, t**2, t**3)


def segment(u: Any, segments: int, periodic: bool = False) -> tuple[Any, Any]:
    """Index k of the segment that holds u, and t = u − k; periodic: u counts modulo
    `segments`, else the first and last segment have no outer end."""
    if periodic:
        u = u - segments * ca.floor(u / segments)
    if segments == 1 and not periodic:
        return ca.SX(1, 1), u
    k = ca.fmin(ca.fmax(ca.floor(u), 0), segments - 1)  # fmin: rounding of u / segments
    return k, u - k


def middle(segments: int) -> float:
    """A place about the middle, but at no knot: a value at rest."""
    return (segments - 1) // 2 + 0.5


def window(k: Any, columns: Any, segments: int, width: int = 4, stride: int = 1) -> list[Any]:
    """Columns stride · k … stride · k + width − 1 (cyclic) of a d×n matrix, for one of the
    segments k = 0 … segments − 1."""
    n = columns.shape[1]
    if segments <= _FEW:
        chosen = [k == j for j in range(segments)] if segments > 1 else [1]
        return [sum((here * columns[:, (i + j * stride) % n] for j, here in enumerate(chosen)),
                    start=ca.SX(0)) for i in range(width)]
    # pairs of segments share a wider window; the last bit of k chooses in it
    half = ca.floor(k / 2)
    odd = k - 2 * half
    even = 1 - odd
    wide = window(half, columns, (segments + 1) // 2, width + stride, 2 * stride)
    return [even * wide[i] + odd * wide[i + stride] for i in range(width)]


def weights(t: Any, linear: bool = False) -> Any:
    """The weights (4×1) of the control points around t; linear: beyond 0 ≤ t ≤ 1 those of the
    tangent there."""
    if not linear:
        return BASIS @ powers(t)
    end = ca.fmin(ca.fmax(t, 0), 1)
    return BASIS @ (powers(end) + (t - end) * ca.vertcat(0, 1, 2 * end, 3 * end**2))


def cubic(u: Any, points: Any, periodic: bool = False, linear: bool = False) -> Any:
    """The spline (d×1) of control points (d×n, n ≥ 4; periodic: n ≥ 3) at u; it has n − 3
    segments, n if periodic. linear: it is so outside 0 ≤ u ≤ n − 3, where it is only C¹."""
    segments = points.shape[1] - (0 if periodic else 3)
    k, t = segment(u, segments, periodic)
    return ca.horzcat(*window(k, points, segments)) @ weights(t, linear and not periodic)


def clamped(n: int) -> Any:
    """T (n×n, NumPy) for the uniform control points Q = P T of the spline that starts at the
    first of the points P and ends at the last: its outer knots are fourfold, the others as in
    Q, so both are the C² cubics on the same segments. Column i is the blossom of P's spline at
    the knots i − 2, i − 1, i of Q_i, which differ from those of P_i only near the ends."""
    T = np.eye(n)
    T[:3, :2] = np.array([[6, 0], [-6, 1.5], [1, -0.5]] if n > 4 else [[6, 0], [-7, 2], [2, -1]])
    T[-3:, -2:] = T[2::-1, 1::-1]
    return T
