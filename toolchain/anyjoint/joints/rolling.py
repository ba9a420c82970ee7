"""Rolling without slip where it is holonomic: a wheel on a line, on a circle, in a circle."""

from __future__ import annotations

import math
from typing import Any, Literal

import casadi as ca
from pydantic import Field

from anyjoint.frontend.fields import Formula, JointKeys
from anyjoint.joints.contract import Evaluate, Joint
from anyjoint.joints.motion import Chart, Motion

Z = (0, 0, 1)


class Rolling(Joint):
    """A wheel in the x-y plane of the joint frame; the body frame is at its centre, z along
    its axle.

    line: the wheel rolls on the x axis, its centre at (q, radius)
    inside, outside: it rolls in or on a circle about the origin, its centre at the angle q
    from x. Rolling is measured from q = 0, where the frames are parallel."""

    class Keys(JointKeys):
        type: Literal["rolling"]
        radius: Formula = Field(description="of the wheel, m")
        track: Literal["line", "inside", "outside"] = Field(
            default="line", description="the x axis, or the in- or outside of a circle")
        track_radius: Formula = Field(default=None, description="of the circle, m")

    examples = ({"radius": 0.4}, {"radius": 0.3, "track": "inside", "track_radius": 0.9},
                {"radius": 0.3, "track": "outside", "track_radius": 0.5})

    def __init__(self, keys: Any, value: Evaluate):
        self.options = keys.track
        self.arguments = [value.positive(keys.radius, "radius")]
        if keys.track == "line":
            if keys.track_radius is not None:
                value.problem('"track_radius" goes with track: inside or outside, not line',
                              "track_radius", hint="remove it, or say track: inside")
            return
        self.domain = ((-math.pi, math.pi),)
        self.arguments.append(self._track_radius(keys, value))

    def _track_radius(self, keys: Any, value: Evaluate) -> Any:
        if keys.track_radius is None:
            value.problem(f'track: {keys.track} needs "track_radius"', "track",
                          hint="the radius of the circle, m")
            return math.nan
        R = value.positive(keys.track_radius, "track_radius")
        small, large = (value.number(getattr(keys, key), key) for key in ("radius", "track_radius"))
        if keys.track == "inside" and 0 < large <= small:
            value.problem(f"a wheel of radius {small:g} m can't roll inside a circle of "
                          f"{large:g} m", "radius", hint="smaller than track_radius; or let the "
                          "larger body be the parent of the smaller")
        return R

    def motion(self, chart: Chart, args: Any) -> Motion:
        """r θ̇ is the speed along the track: zero velocity of the wheel where they touch."""
        q, r = chart.q, args[0]
        if self.options == "line":
            return chart.shift(ca.vertcat(q, r, 0)) @ chart.turn(Z, -q / r)
        # seed 001, section 5 with the turn relative to the line of centres: as printed it slips
        side, R = (-1 if self.options == "inside" else 1), args[1]
        return (chart.turn(Z, q) @ chart.shift(ca.vertcat(R + side * r, 0, 0))
                @ chart.turn(Z, side * R / r * q))
