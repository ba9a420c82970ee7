"""Surfaces of revolution about z: u turns about z, w runs along the meridian.

Their frames are products of elementary motions: a turn by u, then the meridian's frame
in the x-z plane, then the axes (around, along the meridian, outward)."""

from __future__ import annotations

import math
from typing import Any, Literal

import casadi as ca
from pydantic import Field

from anyjoint.frontend.fields import Formula, Strict
from anyjoint.joints.contract import Evaluate
from anyjoint.joints.motion import Chart, Motion
from anyjoint.surfaces.contract import Surface

TURN = (-math.pi, math.pi)
# axes (around, along the meridian, outward) at a point on the x axis, in columns
AXES = ca.DM([[0, 0, 1], [1, 0, 0], [0, 1, 0]])


class Torus(Surface):
    """Ring in the x-y plane: ((R + r cos w) cos u, (R + r cos w) sin u, r sin w)."""

    class Keys(Strict):
        type: Literal["torus"]
        radius: Formula = Field(description="of the ring's centre line, m")
        tube: Formula = Field(description="radius of the tube, m")

    examples = ({"radius": 1.1, "tube": 0.3},)
    domain = (TURN, TURN)

    def __init__(self, keys: Any, value: Evaluate):
        self.arguments = [value.positive(keys.radius, "radius"), value.positive(keys.tube, "tube")]

    def point(self, u: Any, args: Any) -> Any:
        arm = args[0] + args[1] * ca.cos(u[1])
        return ca.vertcat(arm * ca.cos(u[0]), arm * ca.sin(u[0]), args[1] * ca.sin(u[1]))

    def frame(self, chart: Chart, u: Any, args: Any) -> Motion:
        return (chart.turn([0, 0, 1], u[0]) @ chart.fixed(ca.SX.eye(3), ca.vertcat(args[0], 0, 0))
                @ chart.turn([0, 1, 0], -u[1]) @ chart.fixed(AXES, ca.vertcat(args[1], 0, 0)))
