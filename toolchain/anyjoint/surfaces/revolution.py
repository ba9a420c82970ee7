"""Surfaces of revolution about z: u turns about z, w runs along the meridian.

Their frames are products of elementary motions: a turn by u, then the meridian's frame
in the x-z plane, then the axes (around, along the meridian, outward). With their bias they
take 20 to 69 instructions, against 69 to 278 of `Surface.frame`."""

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
LATITUDE = (-math.pi / 2, math.pi / 2)
POLES = ("the poles are at {w} = ±90*deg: turn the surface (origin or child_origin) so that they "
         "lie elsewhere, or give {w} a range")


def axes(dx: Any, dz: Any) -> Any:
    """Axes (around, along the meridian, outward) in columns, at a point of the x-z plane where
    the meridian has the direction (dx, 0, dz)."""
    return ca.blockcat([[0, dx, dz], [1, 0, 0], [0, dz, -dx]])


UPWARD = axes(0, 1)


class Sphere(Surface):
    """radius · (cos w cos u, cos w sin u, sin w): longitude and latitude."""

    class Keys(Strict):
        type: Literal["sphere"]
        radius: Formula = Field(description="m")

    examples = ({"radius": 0.6},)
    domain = (TURN, LATITUDE)
    advice = POLES

    def __init__(self, keys: Any, value: Evaluate):
        self.arguments = [value.positive(keys.radius, "radius")]

    def point(self, u: Any, args: Any) -> Any:
        ring = ca.cos(u[1])
        return args[0] * ca.vertcat(ring * ca.cos(u[0]), ring * ca.sin(u[0]), ca.sin(u[1]))

    def frame(self, chart: Chart, u: Any, args: Any) -> Motion:
        return (chart.turn([0, 0, 1], u[0]) @ chart.turn([0, 1, 0], -u[1])
                @ chart.fixed(UPWARD, ca.vertcat(args[0], 0, 0)))


class Torus(Surface):
    """Ring in the x-y plane: ((R + r cos w) cos u, (R + r cos w) sin u, r sin w)."""

    class Keys(Strict):
        type: Literal["torus"]
        radius: Formula = Field(description="of the ring's centre line, m")
        tube: Formula = Field(description="radius of the tube, m")

    examples = ({"radius": 1.1, "tube": 0.3},)
    domain = (TURN, TURN)
    advice = "the tube is not smaller than the radius and meets the axis: give {w} a range"

    def __init__(self, keys: Any, value: Evaluate):
        self.arguments = [value.positive(keys.radius, "radius"), value.positive(keys.tube, "tube")]

    def point(self, u: Any, args: Any) -> Any:
        arm = args[0] + args[1] * ca.cos(u[1])
        return ca.vertcat(arm * ca.cos(u[0]), arm * ca.sin(u[0]), args[1] * ca.sin(u[1]))

    def frame(self, chart: Chart, u: Any, args: Any) -> Motion:
        return (chart.turn([0, 0, 1], u[0]) @ chart.fixed(ca.SX.eye(3), ca.vertcat(args[0], 0, 0))
                @ chart.turn([0, 1, 0], -u[1]) @ chart.fixed(UPWARD, ca.vertcat(args[1], 0, 0)))


class Cylinder(Surface):
    """(radius cos u, radius sin u, w): angle and height."""

    class Keys(Strict):
        type: Literal["cylinder"]
        radius: Formula = Field(description="m")

    examples = ({"radius": 0.4},)
    domain = (TURN, (-math.inf, math.inf))

    def __init__(self, keys: Any, value: Evaluate):
        self.arguments = [value.positive(keys.radius, "radius")]

    def point(self, u: Any, args: Any) -> Any:
        return ca.vertcat(args[0] * ca.cos(u[0]), args[0] * ca.sin(u[0]), u[1])

    def frame(self, chart: Chart, u: Any, args: Any) -> Motion:
        return (chart.turn([0, 0, 1], u[0]) @ chart.fixed(UPWARD, ca.vertcat(args[0], 0, 0))
                @ chart.shift(ca.vertcat(0, u[1], 0)))


class Cone(Surface):
    """w · (sin angle cos u, sin angle sin u, cos angle): around, and the distance from the tip
    along the cone."""

    class Keys(Strict):
        type: Literal["cone"]
        angle: Formula = Field(description="between the cone and its axis, the positive z axis")

    examples = ({"angle": "35*deg"},)
    rest = (0.0, 1.0)
    domain = (TURN, (0.0, math.inf))
    advice = "the tip, {w} = 0, has no normal: give {w} a range without it"

    def __init__(self, keys: Any, value: Evaluate):
        angle, number = value(keys.angle, "angle"), value.number(keys.angle, "angle")
        if number <= 0 or number >= math.pi / 2:  # not for NaN, which is reported
            value.problem("the angle of a cone lies between 0 and 90*deg", "angle",
                          hint="in radians, or for example 30*deg; a plane has 90*deg")
        self.arguments = [ca.sin(angle), ca.cos(angle)]

    def point(self, u: Any, args: Any) -> Any:
        around = ca.vertcat(args[0] * ca.cos(u[0]), args[0] * ca.sin(u[0]), args[1])
        return u[1] * around

    def frame(self, chart: Chart, u: Any, args: Any) -> Motion:
        return (chart.turn([0, 0, 1], u[0]) @ chart.fixed(axes(args[0], args[1]), ca.SX(3, 1))
                @ chart.shift(ca.vertcat(0, u[1], 0)))


class Paraboloid(Surface):
    """(w cos u, w sin u, w²/(4 focal)): around, and the distance from the axis."""

    class Keys(Strict):
        type: Literal["paraboloid"]
        focal: Formula = Field(description="height of the focus above the vertex, m")

    examples = ({"focal": 0.35},)
    domain = (TURN, (0.0, math.inf))
    advice = ("at the vertex, {w} = 0, {u} no longer moves the point: give {w} a range without it, "
              "or use a surface by formula: [u, w, (u**2 + w**2)/(4*focal)]")

    def __init__(self, keys: Any, value: Evaluate):
        self.arguments = [value.positive(keys.focal, "focal")]
        self.rest = (0.0, self.arguments[0])

    def point(self, u: Any, args: Any) -> Any:
        return ca.vertcat(u[1] * ca.cos(u[0]), u[1] * ca.sin(u[0]), u[1]**2 / (4 * args[0]))

    def frame(self, chart: Chart, u: Any, args: Any) -> Motion:
        w, k = u[1], 1 / (2 * args[0])
        slope = k * w
        speed = ca.sqrt(1 + slope**2)
        R = axes(1 / speed, slope / speed)
        # along the meridian: its slope's angle grows by k/speed², about −x; y is its tangent
        twist = ca.vertcat(-k / speed**2, 0, 0, 0, speed, 0)
        meridian = Motion(ca.sparsify(R), ca.vertcat(w, 0, slope * w / 2),
                          ca.sparsify(twist) @ chart.rate(w))
        return chart.turn([0, 0, 1], u[0]) @ meridian
