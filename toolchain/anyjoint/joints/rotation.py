"""Joints that turn about a point: universal, spherical with quaternions, with the
exponential map, with Euler angles of any order."""

from __future__ import annotations

import math
import re
from typing import Annotated, Any, Literal

import casadi as ca
import numpy as np
from pydantic import Field

from anyjoint.frontend.fields import Axis, JointKeys
from anyjoint.geometry import so3
from anyjoint.joints.axis import UNIT, unit_axis
from anyjoint.joints.contract import Evaluate, Joint
from anyjoint.joints.motion import Chart, Motion


class Turn(Joint):
    """A turn about x, y or z, as a part of products."""

    def __init__(self, axis: str, name: str, rest: float = 0.0):
        self.options, self.q_names, self.rest = axis, (name,), (rest,)
        self.domain = ((-math.pi, math.pi),)

    def motion(self, chart: Chart, args: Any) -> Motion:
        return chart.turn(UNIT[str(self.options)], chart.q)


class FixedTurn(Joint):
    """A constant turn about x, y or z, as a part of products; the angle is a number or an
    expression of p. Its arguments are cos and sin, so that right angles fold into kernels."""

    q_names = ()

    def __init__(self, axis: str, angle: Any):
        self.options = axis
        number = isinstance(angle, float) and math.isfinite(angle)
        cs = [math.cos(angle), math.sin(angle)] if number else [ca.cos(angle), ca.sin(angle)]
        self.arguments = [round(x) + 0.0 if number and abs(x - round(x)) < 4e-16 else x
                          for x in cs]

    def motion(self, chart: Chart, args: Any) -> Motion:
        i = "xyz".index(str(self.options))
        j, k = (i + 1) % 3, (i + 2) % 3
        R = ca.SX.eye(3)
        R[j, j] = R[k, k] = args[0]
        R[k, j], R[j, k] = args[1], -args[1]
        return chart.fixed(R, ca.SX(3, 1))


class Universal(Joint):
    """A turn about the first axis, then one about the second."""

    class Keys(JointKeys):
        type: Literal["universal"]
        axes: Annotated[list[Axis], Field(min_length=2, max_length=2)] = Field(
            default=["x", "y"], description="first and second axis")

    examples = ({}, {"axes": ["z", [0, 1, 1]]})
    q_names = ("q1", "q2")

    def __init__(self, keys: Any, value: Evaluate):
        self.arguments = [x for i, axis in enumerate(keys.axes)
                          for x in unit_axis(axis, value, "axes", i)]

    def motion(self, chart: Chart, args: Any) -> Motion:
        return chart.turn(args[:3], chart.q[0]) @ chart.turn(args[3:], chart.q[1])


class SphericalEuler(Joint):
    """Intrinsic Euler angles: order xyz is Rx(q₁) Ry(q₂) Rz(q₃)."""

    class Keys(JointKeys):
        type: Literal["spherical_euler"]
        order: str = Field(default="xyz", json_schema_extra={"pattern": "^[xyz]{3}$"},
                           description="three of x, y, z, neighbours different")

    examples = ({}, {"order": "zxz"}, {"order": "zyx"}, {"order": "yxz"})
    q_names = ("q1", "q2", "q3")
    advice = "use spherical (a quaternion) or another order, or give q2 a range without this"

    def __init__(self, keys: Any, value: Evaluate):
        self.options = keys.order
        if not re.fullmatch("[xyz]{3}", keys.order):
            value.problem("an order is three of x, y, z", "order", hint="xyz, zyx, zxz, …")
            self.options = "xyz"
        elif keys.order[0] == keys.order[1] or keys.order[1] == keys.order[2]:
            value.problem(f'order "{keys.order}" turns about one axis twice in a row', "order",
                          hint="neighbours must differ: xyz, zyx, zxz, …")

    def motion(self, chart: Chart, args: Any) -> Motion:
        first, second, third = (chart.turn(UNIT[axis], chart.q[i])
                                for i, axis in enumerate(str(self.options)))
        return first @ second @ third


class SphericalExp(Joint):
    """R = exp[q] (seed 002, section 4.7); singular at ‖q‖ = 2π."""

    class Keys(JointKeys):
        type: Literal["spherical_exp"]

    examples = ({},)
    q_names = ("rx", "ry", "rz")
    advice = "use spherical (a quaternion), or ranges that leave full turns out"

    def motion(self, chart: Chart, args: Any) -> Motion:
        return chart.exp(chart.q)


class Spherical(Joint):
    """Unit quaternion q = (w, x, y, z), v = body angular velocity."""

    class Keys(JointKeys):
        type: Literal["spherical"]

    examples = ({},)
    q_names = ("qw", "qx", "qy", "qz")
    v_names = ("wx", "wy", "wz")
    rest = (1.0, 0.0, 0.0, 0.0)

    def __init__(self, keys: Any = None, value: Evaluate | None = None):
        """Without keys it is a part of a product."""

    def motion(self, chart: Chart, args: Any) -> Motion:
        S = ca.vertcat(ca.SX.eye(3), ca.SX(3, 3))
        return Motion(so3.quat_rotation(chart.q), ca.SX(3, 1), S)

    def rate_matrix(self, q: Any) -> Any:
        return so3.quat_rate_matrix(q)

    def integrate(self, q: Any, dq: Any) -> Any:
        return so3.quat_multiply(q, so3.exp_quat(dq))

    def difference(self, q0: Any, q1: Any) -> Any:
        return so3.log_so3_from_quat(so3.quat_multiply(conjugate(q0), q1))

    def normalize(self, q: Any) -> Any:
        return q / np.linalg.norm(q)


def conjugate(quat: Any) -> Any:
    return ca.vertcat(quat[0], -quat[1:])
