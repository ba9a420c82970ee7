"""Planes and ellipsoids."""

from __future__ import annotations

from typing import Any, Literal

import casadi as ca
from pydantic import Field

from anyjoint.frontend.fields import Formula, Strict
from anyjoint.joints.contract import Evaluate
from anyjoint.surfaces.contract import Surface
from anyjoint.surfaces.revolution import LATITUDE, POLES, TURN


class Plane(Surface):
    """The x-y plane: (u, w, 0)."""

    class Keys(Strict):
        type: Literal["plane"]

    examples = ({},)

    def point(self, u: Any, args: Any) -> Any:
        return ca.vertcat(u, 0)


class Ellipsoid(Surface):
    """(a cos w cos u, b cos w sin u, c sin w); for a ≠ b the parameter lines are not at right
    angles."""

    class Keys(Strict):
        type: Literal["ellipsoid"]
        a: Formula = Field(description="half axis along x, m")
        b: Formula = Field(description="half axis along y, m")
        c: Formula = Field(description="half axis along z, m")

    examples = ({"a": 0.9, "b": 0.5, "c": 0.7},)
    domain = (TURN, LATITUDE)
    advice = POLES

    def __init__(self, keys: Any, value: Evaluate):
        self.arguments = [value.positive(getattr(keys, axis), axis) for axis in "abc"]

    def point(self, u: Any, args: Any) -> Any:
        ring = ca.cos(u[1])
        return ca.vertcat(args[0] * ring * ca.cos(u[0]), args[1] * ring * ca.sin(u[0]),
                          args[2] * ca.sin(u[1]))
