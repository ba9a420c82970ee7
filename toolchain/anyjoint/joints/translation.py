"""Joints without a turning axis of their own: fixed, translational, planar."""

from __future__ import annotations

from typing import Any, Literal

import casadi as ca
from pydantic import Field

from anyjoint.frontend.fields import JointKeys
from anyjoint.joints.contract import Evaluate, Joint
from anyjoint.joints.motion import Chart, Motion


class Fixed(Joint):
    class Keys(JointKeys):
        type: Literal["fixed"]

    examples = ({},)
    q_names = ()

    def motion(self, chart: Chart, args: Any) -> Motion:
        return chart.fixed(ca.SX.eye(3), ca.SX(3, 1))


class Translational(Joint):
    """Three translations along the axes of the joint frame."""

    class Keys(JointKeys):
        type: Literal["translational"]

    examples = ({},)
    q_names = ("x", "y", "z")

    def motion(self, chart: Chart, args: Any) -> Motion:
        return chart.shift(chart.q)


class Planar(Joint):
    """Two translations in the x-y plane of the joint frame, then a turn about z."""

    class Keys(JointKeys):
        type: Literal["planar"]
        rotation: bool = Field(default=True, description="false: the two translations only")

    examples = ({}, {"rotation": False})

    def __init__(self, keys: Any, value: Evaluate):
        self.q_names = ("x", "y", "angle") if keys.rotation else ("x", "y")

    def motion(self, chart: Chart, args: Any) -> Motion:
        G = chart.shift(ca.vertcat(chart.q[0], chart.q[1], 0))
        return G @ chart.turn([0, 0, 1], chart.q[2]) if self.nq == 3 else G
