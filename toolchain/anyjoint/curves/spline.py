"""Uniform cubic B-splines."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import casadi as ca
import numpy as np
from pydantic import Field

from anyjoint.curves.contract import Curve
from anyjoint.curves.points import Points
from anyjoint.frontend.fields import Strict, Vec3
from anyjoint.geometry import splines
from anyjoint.joints.contract import Evaluate

_ARC = [[0, 0, 0], [0.5, 0.3, 0.2], [0.7, 0.9, 0.1], [1.3, 1.1, -0.3], [1.9, 0.7, 0.2],
        [2.2, 0.1, 0.6], [2.9, -0.2, 0.3]]
_RING = [[1, 0, 0], [0.6, 0.9, 0.3], [-0.5, 0.8, -0.1], [-1, -0.1, 0.2], [0, -0.9, -0.3]]


class BSpline(Curve):
    """Uniform cubic B-spline, C² at the knots u = 1, 2, …

    open: n control points, 0 ≤ u ≤ n − 3. clamped: the same, from the first control point to
    the last. periodic: the first point follows the last, u counts modulo n."""

    class Keys(Strict):
        type: Literal["bspline"]
        points: Annotated[list[Vec3], Field(min_length=3)] = Field(
            description="control points: 4 or more, periodic 3 or more")
        ends: Literal["open", "clamped", "periodic"] = Field(
            default="clamped", description="clamped: from the first control point to the last")
        outside: Literal["extend", "linear"] = Field(
            default="extend", description="beyond the ends: the last cubics go on (C²), or their "
            "tangents (C¹)")

    examples = ({"points": _ARC, "ends": "open"}, {"points": _ARC[:5], "ends": "clamped"},
                {"points": _ARC[:4], "ends": "clamped", "outside": "linear"},
                {"points": _RING, "ends": "periodic"})
    no_frenet = "the third derivative of a cubic spline jumps at its knots"

    def __init__(self, keys: Any, value: Evaluate):
        self.periodic = keys.ends == "periodic"
        points = Points(keys.points, value, "points")
        points.distinct(value, "points", closed=self.periodic)
        n = len(keys.points)
        if self.periodic and "outside" in keys.model_fields_set:
            value.problem("a periodic spline has no outside", "outside", hint="remove it")
        if n < 4 and not self.periodic:
            value.problem(f"{n} control points; {keys.ends} ends need at least 4", "points",
                          hint="more points, or ends: periodic")
            self.periodic = True
        T = splines.clamped(n) if keys.ends == "clamped" and n > 3 else np.eye(n)
        self.arguments = points.combined(T)
        self.linear = keys.outside == "linear"
        self.options = (self.periodic, self.linear)
        segments = n if self.periodic else n - 3
        self.rest, self.domain = (splines.middle(segments),), ((0.0, float(segments)),)

    def point(self, u: Any, args: Any) -> Any:
        return splines.cubic(u, ca.reshape(args, 3, -1), self.periodic, self.linear)
