"""Control points and coefficients of curves: their values, and what makes a curve unsmooth."""

from __future__ import annotations

from typing import Any

import numpy as np

from anyjoint.joints.contract import Evaluate

_SAME = 1e-12  # relative distance of points that are one


class Points:
    """`values`: n points of three values (float, or SX of p) each; `default`: n×3 numbers, at
    the parameters' defaults."""

    def __init__(self, rows: Any, value: Evaluate, key: str):
        """`rows`: n Vec3, which stand at `key`."""
        self.values = [[value(x, key, i, j) for j, x in enumerate(row)]
                       for i, row in enumerate(rows)]
        self.default = np.array([[value.number(x, key, i, j) for j, x in enumerate(row)]
                                 for i, row in enumerate(rows)])

    def distinct(self, value: Evaluate, key: str, closed: bool = False) -> bool:
        """Notes a problem where a point repeats the one before it (closed: the first follows
        the last). Is there none?"""
        before = np.roll(self.default, 1, axis=0)
        size = np.abs([self.default, before]).max(axis=(0, 2))  # of the two: others may be far
        same = np.abs(self.default - before).max(axis=1) <= _SAME * size
        if same.all():
            value.problem("all control points are the same: no curve", key, hint="move them apart")
            return False
        for i in np.flatnonzero(same):
            if i:
                value.problem("this control point repeats the one before: the curve is not smooth",
                              key, int(i), hint="remove it, or move it")
            elif closed:
                value.problem("the last control point repeats the first", key, len(same) - 1,
                              hint="remove it: periodic ends close the curve by themselves")
        return not (same[1:].any() or (closed and same[0]))

    def straight(self) -> bool:
        """All of them on a line, at the parameters' defaults?"""
        steps = self.default - self.default[0]
        sizes = np.abs(steps).max(axis=1)
        if not np.isfinite(sizes).all() or not sizes.any():
            return bool(np.isfinite(sizes).all())
        line = steps[sizes.argmax()] / sizes.max()
        aside = np.abs(np.cross(steps, line)).max(axis=1)  # each step with its own size: one
        # point far away must not hide how the others bend
        return bool((aside <= 1e-9 * sizes + 1e-14 * np.abs(self.default).max(axis=1)).all())

    def combined(self, T: Any) -> list[Any]:
        """The points P T (3×n times n×n numbers), one after the other. Sums of numbers that are
        zero but for rounding are zero."""
        tiny = 1e-15 * np.abs(self.default).max(axis=0)
        out: list[Any] = []
        for weights in np.transpose(T):
            for c in range(3):
                total = sum((float(w) * p[c] for w, p in zip(weights, self.values, strict=True)
                             if w), start=0.0)
                zero = isinstance(total, float) and abs(total) <= tiny[c]
                out.append(0.0 if zero else total)
        return out
