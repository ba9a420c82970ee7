"""Joints on surfaces: a body on a surface, two surfaces in contact, a curve on a surface."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal

import casadi as ca
from pydantic import Field

from anyjoint.frontend.fields import Axis, Formula, JointKeys
from anyjoint.geometry.so3 import cross3
from anyjoint.joints.contract import Condition, Evaluate, Joint
from anyjoint.joints.curve import FrameKind, OnCurve, Owner, Rotation, rotation, sliding
from anyjoint.joints.motion import Chart, Motion
from anyjoint.joints.product import Product
from anyjoint.joints.rotation import FixedTurn, Turn

if TYPE_CHECKING:
    from anyjoint.frontend.schema import AnyCurve, AnySurface
    from anyjoint.surfaces.contract import Surface

Normals = Literal["same", "opposite"]
_HILLS = [[[0.5 * i, 0.4 * j + 0.1 * i, 0.2 * ((i + j * j) % 3)] for j in range(4)]
          for i in range(4)]


class OnSurface(Joint):
    """The frame that slides on a surface: two coordinates."""

    q_names = ("u", "w")

    def __init__(self, surface: Surface):
        self.surface = surface
        self.rest, self.domain = surface.rest, surface.domain
        self.options, self.arguments = surface.kind, surface.arguments

    def motion(self, chart: Chart, args: Any) -> Motion:
        return self.surface.frame(chart, chart.q, args)

    def conditions(self, q: Any, args: Any) -> list[Condition]:
        df = ca.jacobian(self.surface.point(q, args), q)
        normal = ca.norm_2(cross3(df[:, 0], df[:, 1]))
        return [Condition("the surface's tangents are parallel or vanish", normal,
                          self.surface.advice)]


class SurfaceJoint(Product):
    """The body's frame slides on a surface, z along the normal."""

    class Keys(JointKeys):
        type: Literal["surface"]
        surface: AnySurface
        rotation: Rotation = Field(
            default="none", description="spin: about z, the normal; free: a quaternion")
        owner: Owner = Field(default="parent", description="child: its surface slides along the "
                             "joint frame")

    examples = (
        {"surface": {"type": "torus", "radius": 1.1, "tube": 0.3}},
        {"surface": {"type": "torus", "radius": 1.1, "tube": 0.3}, "rotation": "spin"},
        {"surface": {"type": "torus", "radius": 1.1, "tube": 0.3}, "rotation": "free"},
        {"surface": {"type": "torus", "radius": 1.1, "tube": 0.3}, "owner": "child"},
        {"surface": {"type": "plane"}, "rotation": "spin"},
        {"surface": {"type": "sphere", "radius": 0.6}},
        {"surface": {"type": "ellipsoid", "a": 0.9, "b": 0.5, "c": 0.7}, "rotation": "spin"},
        {"surface": {"type": "cylinder", "radius": 0.4}},
        {"surface": {"type": "cone", "angle": "35*deg"}},
        {"surface": {"type": "paraboloid", "focal": 0.6}, "rotation": "free", "rest": {"w": 0.8}},
        {"surface": {"type": "bezier", "points": _HILLS}},
        {"surface": {"type": "bspline", "points": _HILLS}, "rotation": "spin"},
        {"surface": {"type": "formula", "point": ["u", "w + u/5", "0.3*sin(u)*cos(2*w)"]}},
    )

    def __init__(self, keys: Any, value: Evaluate):
        on = OnSurface(value.surface(keys.surface, "surface"))
        self._multiply(*sliding(on, rotation(keys.rotation, "z"), keys.owner))


class Touching(Product):
    """A product whose first factor is the frame of the surface that is touched."""

    normals: str = "opposite"

    def contact(self, q: Any, args: Any) -> tuple[Any, Any]:
        on = self.parts[0]
        x = q[: on.nq]
        G = on.motion(Chart(x, ca.SX.eye(on.nq)), args[: len(on.arguments)])
        return (G.R, G.r) if self.normals == "opposite" else (G.R @ ca.diag([1, -1, -1]), G.r)


class SurfaceSurface(Touching):
    """Frames of two surfaces aligned: S₁ S₂⁻¹ (seed 001, eq. 15), the normals along each
    other or opposed, with a fixed twist about the normal."""

    class Keys(JointKeys):
        type: Literal["surface_surface"]
        surface: AnySurface = Field(description="of the parent")
        child_surface: AnySurface = Field(description="of the child")
        normals: Normals = Field(default="same", description="opposite: bodies touch outside")
        twist: Formula = Field(default=0.0, description="angle about the normal")

    examples = (
        {"surface": {"type": "torus", "radius": 1.1, "tube": 0.3},
         "child_surface": {"type": "torus", "radius": 0.9, "tube": 0.2}},
        {"surface": {"type": "torus", "radius": 1.1, "tube": 0.3}, "normals": "opposite",
         "child_surface": {"type": "torus", "radius": 0.9, "tube": 0.2}, "twist": "90*deg"},
        {"surface": {"type": "sphere", "radius": 1.1}, "normals": "opposite",
         "child_surface": {"type": "ellipsoid", "a": 0.3, "b": 0.5, "c": 0.4}},
        {"surface": {"type": "bezier", "points": _HILLS}, "twist": 0.3,
         "child_surface": {"type": "cone", "angle": "50*deg"}},
    )

    def __init__(self, keys: Any, value: Evaluate):
        parent, child = (OnSurface(value.surface(getattr(keys, key), key))
                         for key in ("surface", "child_surface"))
        self.normals = keys.normals
        turns = [FixedTurn("z", value(keys.twist, "twist")), *flip(keys.normals)]
        between = range(2, 2 + len(turns))[::-1]  # flip first, as in Contact
        self._multiply([parent, child, *turns], (0, *between, ~1), ("u", "w", "s", "t"))


class Contact(Touching):
    """Two surfaces touch: the five contact coordinates (u₁, u₂, ψ) of seed 003, section 6."""

    class Keys(JointKeys):
        type: Literal["contact"]
        surface: AnySurface = Field(description="of the parent")
        child_surface: AnySurface = Field(description="of the child")
        normals: Normals = Field(default="opposite", description="same: one is in the other, as "
                                 "a ball in a bowl")

    examples = (
        {"surface": {"type": "torus", "radius": 1.1, "tube": 0.3},
         "child_surface": {"type": "torus", "radius": 0.9, "tube": 0.2}},
        {"surface": {"type": "plane"}, "child_surface": {"type": "bezier", "points": _HILLS}},
        {"surface": {"type": "paraboloid", "focal": 0.6}, "normals": "same",
         "child_surface": {"type": "sphere", "radius": 0.2}},
    )

    def __init__(self, keys: Any, value: Evaluate):
        parent, child = (OnSurface(value.surface(getattr(keys, key), key))
                         for key in ("surface", "child_surface"))
        # flip · Rz(ψ) is seed 003's matrix between the contact frames
        self.normals = keys.normals
        turns = [Turn("z", "psi"), *flip(keys.normals)]
        between = range(2, 2 + len(turns))[::-1]
        self._multiply([parent, child, *turns], (0, *between, ~1), ("u", "w", "s", "t", "psi"))


class CurveSurface(Touching):
    """A curve of the child (a wheel's rim) touches a surface of the parent: the point on the
    surface, the point on the curve, heading about the normal (of the curve's tangent, from the
    surface's x) and lean about the tangent: 90° is upright, at 0 the curve's y lies flat."""

    class Keys(JointKeys):
        type: Literal["curve_surface"]
        surface: AnySurface = Field(description="of the parent")
        curve: AnyCurve = Field(description="of the child")
        frame: FrameKind = Field(default="frenet", description="axes that travel along the curve")
        up: Axis = Field(default="z", description="of frame up, the curve's axes")

    examples = (
        {"surface": {"type": "torus", "radius": 1.1, "tube": 0.3},
         "curve": {"type": "circle", "radius": 0.2}},
        {"surface": {"type": "torus", "radius": 1.1, "tube": 0.3}, "frame": "up",
         "up": [0, 0.5, 1], "curve": {"type": "ellipse", "a": 0.2, "b": 0.3}},
        {"surface": {"type": "plane"}, "curve": {"type": "circle", "radius": 0.3},
         "rest": {"lean": "80*deg"}},
    )

    advice = ("a rim that lies flat touches all around, and one that bends as the surface does not "
              "at one point: lean = 90*deg is upright; give lean a range")

    def __init__(self, keys: Any, value: Evaluate):
        on, along = OnSurface(value.surface(keys.surface, "surface")), OnCurve.of(keys, value)
        turns = [Turn("z", "heading"), Turn("x", "lean", rest=math.pi / 2)]
        self._multiply([on, along, *turns], (0, 2, 3, ~1), ("u", "w", "s", "heading", "lean"))


def flip(normals: str) -> list[Joint]:
    """Half a turn about x where normals are opposed."""
    return [FixedTurn("x", math.pi)] if normals == "opposite" else []
