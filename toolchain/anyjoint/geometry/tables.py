"""Tables in formulas: `spline(x, table)` is a cubic spline through the points of a table,
C² between its ends.

In SX the local polynomial is selected by sums of indicators, some 17 instructions for each
point; its derivatives use the same polynomial and cost the same for any number of points."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

Piece = tuple[float, float, float, float, float]


@dataclass(frozen=True)
class Table:
    """Piecewise cubic y(x): a piece (x₀, a, b, c, d) is a + b t + c t² + d t³ with t = x − x₀.

    Piece k ends where piece k + 1 begins, at breaks[k]; the first and the last have no outer
    end. With a period, x counts modulo it from the x₀ of the first piece."""

    breaks: tuple[float, ...]
    pieces: tuple[Piece, ...]
    period: float = 0.0

    def __call__(self, x: Any) -> Any:
        """y at x: float for a float, else an expression of the same CasADi type."""
        number = isinstance(x, float)
        if self.period:
            turns = (x - self.pieces[0][0]) / self.period
            x = x - self.period * (math.floor(turns) if number else ca.floor(turns))
        x0, a, b, c, d = self.pieces[bisect_right(self.breaks, x)] if number else self._piece(x)
        t = x - x0
        return a + t * (b + t * (c + t * d))

    def _piece(self, x: Any) -> tuple[Any, ...]:
        """The piece that holds the symbol x; exact, because all others count zero times."""
        beyond = [1.0, *(x >= end for end in self.breaks), 0.0]
        here = [begun - ended for begun, ended in zip(beyond[:-1], beyond[1:], strict=True)]
        return tuple(sum(is_here * entry for is_here, entry in zip(here, column, strict=True))
                     for column in zip(*self.pieces, strict=True))


def interpolate(x: Sequence[float], y: Sequence[float], ends: str = "not_a_knot",
                outside: str = "extend") -> Table:
    """The table through n ≥ 2 points with increasing x (periodic: n ≥ 3, y[0] = y[-1]).

    ends: natural (y″ = 0), not_a_knot (y‴ continuous at the points next to the ends), opensim
    (y‴ is that of the cubic through the four outermost points, as in OpenSim's SimmSpline)
    outside: extend (the outermost polynomials go on), linear, or periodic (no ends)"""
    X, Y = np.array(x, dtype=float), np.array(y, dtype=float)
    h = np.diff(X)
    slope = np.diff(Y) / h
    c = _curvatures(X, h, slope, "periodic" if outside == "periodic" else ends) / 2
    b = slope - h * (2 * c[:-1] + c[1:]) / 3
    pieces = np.column_stack([X[:-1], Y[:-1], b, c[:-1], np.diff(c) / h / 3])
    breaks = X[1:-1]
    if outside == "linear":
        last = slope[-1] + h[-1] * (c[-2] + 2 * c[-1]) / 3
        pieces = np.vstack([[X[0], Y[0], b[0], 0, 0], pieces, [X[-1], Y[-1], last, 0, 0]])
        breaks = X
    period = float(X[-1] - X[0]) if outside == "periodic" else 0.0
    return Table(tuple(breaks.tolist()), tuple(map(tuple, pieces.tolist())), period)


def _curvatures(X: Any, h: Any, slope: Any, ends: str) -> Any:
    """y″ at the points: y′ is continuous between the ends, and what `ends` asks for there."""
    n = len(X)
    A, rhs = np.zeros((n, n)), np.zeros(n)
    for k in range(1, n - 1):
        A[k, k - 1 : k + 2] = h[k - 1], 2 * (h[k - 1] + h[k]), h[k]
        rhs[k] = 6 * (slope[k] - slope[k - 1])
    if ends == "periodic":  # y′ and y″ at the two ends are the same
        A[0, :2] += 2 * h[0], h[0]
        A[0, -2:] += h[-1], 2 * h[-1]
        rhs[0] = 6 * (slope[0] - slope[-1])
        A[-1, 0], A[-1, -1] = 1, -1
    elif ends == "natural" or n == 2:
        A[0, 0] = A[-1, -1] = 1
    else:
        A[0, :2] = A[-1, -2:] = -1, 1  # h y‴
        if n > 3 and ends == "not_a_knot":
            A[0, :3] += 0, h[0] / h[1], -h[0] / h[1]
            A[-1, -3:] += h[-1] / h[-2], -h[-1] / h[-2], 0
        elif n > 3:
            second = np.diff(slope) / (X[2:] - X[:-2])  # divided differences
            rhs[0] = 6 * h[0] * (second[1] - second[0]) / (X[3] - X[0])
            rhs[-1] = 6 * h[-1] * (second[-1] - second[-2]) / (X[-1] - X[-4])
    try:
        curvatures = np.linalg.solve(A, rhs)
    except np.linalg.LinAlgError:
        curvatures = np.full(n, np.nan)
    return curvatures
