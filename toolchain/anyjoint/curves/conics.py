"""Lines, circles, ellipses and helices."""

from __future__ import annotations

import math
from typing import Any, Literal

import casadi as ca
from pydantic import Field

from anyjoint.curves.contract import Curve
from anyjoint.frontend.fields import Axis, Formula, Strict
from anyjoint.joints.axis import unit_axis
from anyjoint.joints.contract import Evaluate
from anyjoint.joints.motion import Chart, Motion

_TURN = ((-math.pi, math.pi),)
# axes (tangent, inward normal, z) of a circle at (r, 0, 0), in columns
_CIRCLE = ca.DM([[0, -1, 0], [1, 0, 0], [0, 0, 1]])


class Line(Curve):
    """u · direction, u in metres."""

    class Keys(Strict):
        type: Literal["line"]
        direction: Axis = Field(default="x", description="along the line")

    examples = ({}, {"direction": [1, 2, 2]})
    no_frenet = "a line has no curvature"

    def __init__(self, keys: Any, value: Evaluate):
        self.arguments = unit_axis(keys.direction, value, "direction")

    def point(self, u: Any, args: Any) -> Any:
        return args * u


class Circle(Curve):
    """(radius cos u, radius sin u, 0)."""

    class Keys(Strict):
        type: Literal["circle"]
        radius: Formula = Field(description="m")

    examples = ({"radius": 0.7},)
    domain = _TURN

    def __init__(self, keys: Any, value: Evaluate):
        self.arguments = [value.positive(keys.radius, "radius")]

    def point(self, u: Any, args: Any) -> Any:
        return ca.vertcat(args[0] * ca.cos(u), args[0] * ca.sin(u), 0)

    def frenet(self, chart: Chart, u: Any, args: Any) -> Motion:
        arm = ca.vertcat(args[0], 0, 0)
        return chart.turn([0, 0, 1], u) @ chart.fixed(_CIRCLE, arm)


class Ellipse(Curve):
    """(a cos u, b sin u, 0)."""

    class Keys(Strict):
        type: Literal["ellipse"]
        a: Formula = Field(description="half axis along x, m")
        b: Formula = Field(description="half axis along y, m")

    examples = ({"a": 0.9, "b": 0.4},)
    domain = _TURN

    def __init__(self, keys: Any, value: Evaluate):
        self.arguments = [value.positive(keys.a, "a"), value.positive(keys.b, "b")]

    def point(self, u: Any, args: Any) -> Any:
        return ca.vertcat(args[0] * ca.cos(u), args[1] * ca.sin(u), 0)


class Helix(Curve):
    """(radius cos u, radius sin u, pitch u)."""

    class Keys(Strict):
        type: Literal["helix"]
        radius: Formula = Field(description="m")
        pitch: Formula = Field(description="metres along z per radian")

    examples = ({"radius": 0.8, "pitch": 0.25}, {"radius": 0.5, "pitch": -0.1})
    domain = ((-4 * math.pi, 4 * math.pi),)

    def __init__(self, keys: Any, value: Evaluate):
        self.arguments = [value.positive(keys.radius, "radius"), value(keys.pitch, "pitch")]

    def point(self, u: Any, args: Any) -> Any:
        return ca.vertcat(args[0] * ca.cos(u), args[0] * ca.sin(u), args[1] * u)

    def frenet(self, chart: Chart, u: Any, args: Any) -> Motion:
        """A screw motion carries a constant frame: cos and sin of its climb."""
        r, p = args[0], args[1]
        speed = ca.sqrt(r**2 + p**2)
        c, s = r / speed, p / speed
        climb = ca.blockcat([[0, -1, 0], [c, 0, -s], [s, 0, c]])
        screw = chart.turn([0, 0, 1], u)
        lift = chart.shift(ca.vertcat(0, 0, p * u))
        # turn and lift along z commute, so their subspaces add
        G = Motion(screw.R, lift.r, screw.S + lift.S)
        return G @ chart.fixed(climb, ca.vertcat(r, 0, 0))
