"""Polynomials and Bézier curves."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import casadi as ca
from pydantic import Field

from anyjoint.curves.contract import Curve
from anyjoint.curves.points import Points
from anyjoint.frontend.fields import Strict, Vec3
from anyjoint.geometry import bernstein
from anyjoint.joints.contract import Evaluate


class Polynomial(Curve):
    """c₀ + c₁ u + c₂ u² + …"""

    class Keys(Strict):
        type: Literal["polynomial"]
        coefficients: Annotated[list[Vec3], Field(min_length=2)] = Field(
            description="of 1, u, u², …, three numbers each")

    examples = ({"coefficients": [[0, 0.1, 0], [1, 0.2, 0.3], [0.1, -0.5, 0.4], [0, 0.2, 0.3]]},
                {"coefficients": [[0, 0, 1], [1, 0, 0], [0, 0, 0.5]]})

    def __init__(self, keys: Any, value: Evaluate):
        points = Points(keys.coefficients, value, "coefficients")
        points.default[0] = 0  # where it is doesn't matter
        if not points.default.any():
            value.problem("a constant polynomial is a point, not a curve", "coefficients",
                          hint="give the coefficients of u, u², …")
        elif points.straight():
            self.no_frenet = "the polynomial is a line, without curvature"
        self.arguments = [x for point in points.values for x in point]

    def point(self, u: Any, args: Any) -> Any:
        powers = [ca.SX(1)]
        for _ in range(len(self.arguments) // 3 - 1):
            powers.append(powers[-1] * u)
        return ca.reshape(args, 3, -1) @ ca.vertcat(*powers)


class Bezier(Curve):
    """Bézier curve of any degree, 0 ≤ u ≤ 1, from the first control point to the last."""

    class Keys(Strict):
        type: Literal["bezier"]
        points: Annotated[list[Vec3], Field(min_length=2, max_length=500)] = Field(
            description="control points")

    examples = ({"points": [[0, 0, 0], [0.6, 0, 0.2], [1, 0.5, 0.7], [0.9, 1.1, 0.8]]},
                {"points": [[0, 0, 0], [0.4, 0, 0.2], [0.8, 0.3, 0.5], [0.9, 0.8, 0.4],
                            [1.2, 1, 0], [1.6, 0.9, -0.2], [1.9, 0.5, -0.1]]},
                {"points": [[0, 0, 0], [1, 0, 0.3], [1, 1, 0]]})
    rest = (0.5,)
    domain = ((0.0, 1.0),)

    def __init__(self, keys: Any, value: Evaluate):
        points = Points(keys.points, value, "points")
        if points.distinct(value, "points") and points.straight():
            self.no_frenet = "the control points lie on a line, so there is no curvature"
        self.arguments = points.combined(bernstein.to_chebyshev(len(keys.points) - 1))

    def point(self, u: Any, args: Any) -> Any:
        return ca.reshape(args, 3, -1) @ bernstein.chebyshev(u, len(self.arguments) // 3 - 1)
