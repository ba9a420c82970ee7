"""Joints with one axis: revolute, prismatic, helical, cylindrical."""

from __future__ import annotations

import math
from typing import Any, Literal

import casadi as ca
from pydantic import Field

from anyjoint.frontend.fields import Axis, Formula, JointKeys
from anyjoint.joints.contract import Evaluate, Joint
from anyjoint.joints.motion import Chart, Motion

UNIT = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}


def unit_axis(axis: Any, value: Evaluate, *path: Any) -> list[Any]:
    """An axis of a model file as three numbers (or expressions of p) of length one."""
    if isinstance(axis, str):
        sign = -1.0 if axis.startswith("-") else 1.0
        return [sign * x if x else 0.0 for x in UNIT[axis[-1]]]
    entries = [value(x, *path, i) for i, x in enumerate(axis)]
    length = math.hypot(*(value.number(x, *path, i) for i, x in enumerate(axis)))
    if length < 1e-12:
        value.problem("an axis can't be zero", *path, hint="give a direction such as [0, 0, 1]")
        return [0.0, 0.0, 1.0]
    if not all(isinstance(x, float) for x in entries):
        length = ca.norm_2(ca.vertcat(*entries))
    return [x / length for x in entries]


class AxisJoint(Joint):
    """The axis is the first three arguments."""

    def __init__(self, keys: Any, value: Evaluate):
        self.arguments = unit_axis(keys.axis, value, "axis")


class Revolute(AxisJoint):
    class Keys(JointKeys):
        type: Literal["revolute"]
        axis: Axis = Field(default="z", description="axis in the joint frame")

    examples = ({"axis": "x"}, {"axis": "-y"}, {"axis": [1, 2, -2]})

    def motion(self, chart: Chart, args: Any) -> Motion:
        return chart.turn(args, chart.q)


class Prismatic(AxisJoint):
    class Keys(JointKeys):
        type: Literal["prismatic"]
        axis: Axis = Field(default="z", description="direction in the joint frame")

    examples = ({"axis": "z"}, {"axis": [1, 1, 0]})

    def motion(self, chart: Chart, args: Any) -> Motion:
        return chart.shift(args * chart.q)


class Helical(AxisJoint):
    class Keys(JointKeys):
        type: Literal["helical"]
        axis: Axis = Field(default="z", description="axis in the joint frame")
        pitch: Formula = Field(description="metres along the axis per radian")

    examples = ({"axis": "x", "pitch": 0.3}, {"axis": [0, 1, 1], "pitch": -0.1})

    def __init__(self, keys: Any, value: Evaluate):
        super().__init__(keys, value)
        self.arguments = [*self.arguments, value(keys.pitch, "pitch")]

    def motion(self, chart: Chart, args: Any) -> Motion:
        axis, pitch = args[:3], args[3]
        # the shift along the axis commutes with the turn: S = [axis; pitch axis] is constant
        turn, shift = chart.turn(axis, chart.q), chart.shift(axis * (pitch * chart.q))
        return Motion(turn.R, shift.r, turn.S + shift.S)


class Cylindrical(AxisJoint):
    class Keys(JointKeys):
        type: Literal["cylindrical"]
        axis: Axis = Field(default="z", description="axis in the joint frame")

    examples = ({"axis": "y"}, {"axis": [1, 0, 2]})
    q_names = ("angle", "shift")

    def motion(self, chart: Chart, args: Any) -> Motion:
        # as in Helical, the two commute and S is constant
        turn, shift = chart.turn(args, chart.q[0]), chart.shift(args * chart.q[1])
        return Motion(turn.R, shift.r, turn.S + shift.S)
