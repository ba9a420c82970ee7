"""Nets of control points: their values, and what makes a patch degenerate."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Annotated, Any

import casadi as ca
import numpy as np
from pydantic import Field

from anyjoint.frontend.fields import Vec3
from anyjoint.geometry.columns import usual_length
from anyjoint.joints.contract import Evaluate

if TYPE_CHECKING:
    from anyjoint.surfaces.contract import Surface

Row = Annotated[list[Vec3], Field(min_length=2)]
Rows = Annotated[list[Row], Field(min_length=2)]
_SAME = 1e-9  # distance of points that count as one, relative to theirs from the middle
_ROUND_OFF = 1e-14  # of a coefficient, relative to the largest


class Net:
    """Rows of control points, of a `shape` (rows, columns). What is wrong with them is a problem
    at its place, and points of a plane stand in."""

    def __init__(self, rows: Any, value: Evaluate, least: tuple[int, ...] = (2, 2),
                 cyclic: tuple[bool, ...] = (False, False)):
        """`rows` stand at "points"; of rows and of points in a row: how many are enough, and
        whether the first follows the last."""
        def evaluated(evaluate: Any) -> Any:
            return [[[evaluate(x, "points", i, j, k) for k, x in enumerate(point)]
                     for j, point in enumerate(row)] for i, row in enumerate(rows)]

        values, default = evaluated(value), evaluated(value.number)
        self.shape = max(least[0], len(rows)), max(least[1], usual_length(rows))
        if not (_complete(default, least, value) and _apart(np.array(default), cyclic, value)):
            flat = [0.0] * (len(rows[0][0]) - 2)
            values = default = [[[i, j, *flat] for j in range(self.shape[1])]
                                for i in range(self.shape[0])]
        self.values, self.default = _matrices(values), _matrices(default)

    def combined(self, left: Any, right: Any, at_default: bool = False) -> list[Any]:
        """left · X · rightᵀ of the matrices X of all x, y, z, …, listed row by row, the numbers of
        each point together. Numbers that are zero but for rounding are zero, and fold."""
        products = [ca.DM(left) @ X @ ca.DM(right).T
                    for X in (self.default if at_default else self.values)]
        entries = [X[i, j] for i, j in np.ndindex(*products[0].shape) for X in products]
        numbers = [float(x) for x in entries if x.is_constant()]
        tiny = _ROUND_OFF * np.abs(numbers).max(initial=0.0)
        return [x if not x.is_constant() else 0.0 if abs(float(x)) <= tiny else float(x)
                for x in entries]

    def check_normals(self, surface: Surface, left: Any, right: Any, grid: Any,
                      value: Evaluate) -> None:
        """Notes a problem if a point of the grid (values of u, values of w) has no normal, at
        the parameters' defaults; left and right as for its arguments."""
        args = self.combined(left, right, at_default=True)
        points = [(float(u), float(w)) for u, w in itertools.product(*grid)]
        bad = surface.parallel(args, points) if np.isfinite(args).all() else []
        for u, w in bad[:1]:
            value.problem(f"no normal at u = {u:g}, w = {w:g}: the tangents are parallel or zero",
                          "points", hint="no three points of a corner in line, no folds")


def _matrices(net: Any) -> list[Any]:
    return [ca.SX(ca.blockcat([[point[k] for point in row] for row in net]))
            for k in range(len(net[0][0]))]


def _complete(rows: Any, least: tuple[int, ...], value: Evaluate) -> bool:
    """Enough rows, all of one length that is enough?"""
    columns, sound = usual_length(rows), True
    for i, row in enumerate(rows):
        if len(row) != columns:
            value.problem(f"{len(row)} points, but {columns} in other rows", "points", i,
                          hint="every row has as many points")
            sound = False
    for count, enough, what, path in ((len(rows), least[0], "rows", ()),
                                      (columns, least[1], "points in a row", (0,))):
        if count < enough:
            value.problem(f"{count} {what}; at least {enough} are needed", "points", *path,
                          hint="more points; open and clamped ends need 4, periodic 3")
            sound = False
    return sound


def _apart(points: Any, cyclic: tuple[bool, ...], value: Evaluate) -> bool:
    """No neighbours coincide? Of each row and column the first that do are a problem."""
    sizes, sound = np.abs(points - np.median(points, (0, 1))).max(axis=2), True
    if not sizes.any():  # false for NaN
        value.problem("all control points are the same: no surface", "points",
                      hint="pull them apart")
        return False
    for axis, line in ((1, "row"), (0, "column")):
        step = np.abs(points - np.roll(points, 1, axis)).max(axis=2)
        size = np.maximum(sizes, np.roll(sizes, 1, axis))  # of the two: others may be far
        if not cyclic[axis]:
            step.swapaxes(0, axis)[0] = np.inf
        near = step <= _SAME * size  # false for NaN
        for k in np.flatnonzero(near.any(axis)):
            at = int(near.take(k, 1 - axis).argmax())
            value.problem(f"this control point is the same as its neighbour in the {line}",
                          "points", *((int(k), at) if axis else (at, int(k))),
                          hint="the surface has no normal there: pull them apart")
            sound = False
    return sound
