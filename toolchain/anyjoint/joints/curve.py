"""Joints on curves: a body on a curve, two curves aligned."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import casadi as ca
from pydantic import Field

from anyjoint.frontend.fields import Axis, JointKeys
from anyjoint.geometry.so3 import cross3
from anyjoint.joints.axis import unit_axis
from anyjoint.joints.contract import Condition, Evaluate, Joint
from anyjoint.joints.motion import Chart, Motion
from anyjoint.joints.product import Product
from anyjoint.joints.rotation import Spherical, Turn

if TYPE_CHECKING:
    from anyjoint.curves.contract import Curve
    from anyjoint.frontend.schema import AnyCurve

FrameKind = Literal["frenet", "up", "fixed"]
Rotation = Literal["none", "spin", "free"]
Owner = Literal["parent", "child"]
_NO_CUSP = "give {u} a range that leaves this out, or a curve without it"
_NO_FRENET = "frame: up does without curvature; or give {u} a range that leaves this out"
_NO_UP = "choose another up direction, or give {u} a range that leaves this out"


class OnCurve(Joint):
    """The frame that travels along a curve: one coordinate. `up` are three values."""

    q_names = ("u",)

    def __init__(self, curve: Curve, frame: str, up: Any):
        self.curve, self.frame = curve, frame
        self.rest, self.domain = curve.rest, curve.domain
        self.options = (curve.kind, frame)
        self.arguments = [*curve.arguments, *(up if frame == "up" else [])]

    @staticmethod
    def of(keys: Any, value: Evaluate, key: str = "curve") -> OnCurve:
        """From the keys `key`, frame and up of a joint; a frame that a curve can't have is a
        problem."""
        curve = value.curve(getattr(keys, key), key)
        if keys.frame == "frenet" and curve.no_frenet:
            given = "frame" in keys.model_fields_set
            value.problem(f"no Frenet frame{'' if given else ', the default,'} here: "
                          f"{curve.no_frenet}", "frame" if given else key,
                          hint="frame: up (tangent and an up direction), or fixed")
        if "up" in keys.model_fields_set and keys.frame != "up":
            value.problem(f'"up" goes with frame: up, not {keys.frame}', "up", hint="remove it")
        return OnCurve(curve, keys.frame, unit_axis(keys.up, value, "up"))

    def motion(self, chart: Chart, args: Any) -> Motion:
        n = len(self.curve.arguments)
        u, own, up = chart.q[0], args[:n], args[n:]
        if self.frame == "up":
            return self.curve.up(chart, u, own, up)
        return getattr(self.curve, self.frame)(chart, u, own)  # type: ignore[no-any-return]

    def conditions(self, q: Any, args: Any) -> list[Condition]:
        n, advice = len(self.curve.arguments), self.curve.advice
        f1 = ca.jacobian(self.curve.point(q[0], args[:n]), q)
        out = [Condition("the curve has no tangent", ca.norm_2(f1), advice or _NO_CUSP)]
        if self.frame == "frenet":
            bend = ca.norm_2(cross3(f1, ca.jacobian(f1, q))) / ca.norm_2(f1) ** 3
            out.append(Condition("the curve has no curvature", bend, advice or _NO_FRENET))
        if self.frame == "up":
            side = ca.norm_2(cross3(args[n:], f1)) / ca.norm_2(f1)
            out.append(Condition("the curve runs along its up direction", side, advice or _NO_UP))
        return out


class CurveJoint(Product):
    """The body's origin runs along a curve; A = C(q_p) R_x(q_r) with a spin (seed 001)."""

    class Keys(JointKeys):
        type: Literal["curve"]
        curve: AnyCurve
        frame: FrameKind = Field(default="frenet", description="axes that travel along")
        up: Axis = Field(default="z", description="of frame up, the curve's axes")
        rotation: Rotation = Field(
            default="none", description="spin: about x, the tangent; free: a quaternion")
        owner: Owner = Field(default="parent", description="child: its curve slides through the "
                             "joint frame")

    examples = (
        {"curve": {"type": "circle", "radius": 0.7}},
        {"curve": {"type": "helix", "radius": 0.8, "pitch": 0.25}, "rotation": "spin"},
        {"curve": {"type": "ellipse", "a": 0.9, "b": 0.5}, "frame": "frenet"},
        {"curve": {"type": "ellipse", "a": 0.9, "b": 0.5}, "frame": "up", "up": [0, 0.6, 1],
         "rotation": "spin"},
        {"curve": {"type": "line", "direction": [1, 2, 2]}, "frame": "up"},
        {"curve": {"type": "ellipse", "a": 0.9, "b": 0.5}, "owner": "child", "rotation": "spin"},
        {"curve": {"type": "helix", "radius": 0.8, "pitch": 0.25}, "frame": "fixed",
         "rotation": "free"},
        {"curve": {"type": "polynomial", "coefficients": [[0, 0, 1], [1, 0, 0], [0, 0.2, 0.5]]}},
        {"curve": {"type": "bezier", "points": [[0, 0, 0], [0.6, 0, 0.2], [1, 0.5, 0.7],
                                                [0.9, 1.1, 0.8]]}, "rotation": "spin"},
        *({"curve": {"type": "bspline", "ends": ends,
                     "points": [[1, 0, 0], [0.6, 0.9, 0.3], [-0.5, 0.8, -0.1], [-1, -0.1, 0.2],
                                [0, -0.9, -0.3]]}, "frame": "up", "up": [0.1, 0.2, 1]}
          for ends in ("open", "clamped", "periodic")),
        {"curve": {"type": "formula", "point": ["u - sin(u)", "u/5", "1 - cos(u)"], "rest": "pi"}},
    )

    def __init__(self, keys: Any, value: Evaluate):
        along = OnCurve.of(keys, value)
        self._multiply(*sliding(along, rotation(keys.rotation, "x"), keys.owner))


class CurveCurve(Product):
    """Frames of two curves aligned: C₁ C₂⁻¹ (seed 000, section 1)."""

    class Keys(JointKeys):
        type: Literal["curve_curve"]
        curve: AnyCurve = Field(description="of the parent")
        child_curve: AnyCurve = Field(description="of the child")
        frame: FrameKind = Field(default="frenet", description="axes that travel along")
        up: Axis = Field(default="z", description="of frame up, the curves' axes")

    examples = (
        {"curve": {"type": "helix", "radius": 0.8, "pitch": 0.25},
         "child_curve": {"type": "ellipse", "a": 0.9, "b": 0.5}},
        {"curve": {"type": "circle", "radius": 0.8}, "frame": "up", "up": [0, 0.5, 1],
         "child_curve": {"type": "line"}},
    )

    def __init__(self, keys: Any, value: Evaluate):
        pair = [OnCurve.of(keys, value), OnCurve.of(keys, value, "child_curve")]
        self._multiply(pair, (0, ~1), ("u", "s"))


def sliding(on: Joint, turns: list[Joint], owner: str) -> tuple[list[Joint], Sequence[int]]:
    """Parts and factors of a frame `on` a curve or surface, with the turns on its outer side:
    C R where it is the parent's, R C⁻¹ where it is the child's."""
    after = range(1, 1 + len(turns))
    return [on, *turns], (0, *after) if owner == "parent" else (*after, ~0)


def rotation(kind: str, axis: str) -> list[Joint]:
    """The joint of a `rotation` key: none, a spin about one axis, or a quaternion."""
    if kind == "none":
        return []
    return [Turn(axis, "spin")] if kind == "spin" else [Spherical()]
