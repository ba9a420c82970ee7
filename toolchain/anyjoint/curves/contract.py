"""The curve contract: `point(u, args)`, and the frames that travel along a curve.

x is the tangent in `frenet` and `up`, so that a spin about it is a turn about x."""

from __future__ import annotations

import math
from typing import Any

import casadi as ca

from anyjoint.geometry.maps import PointMap
from anyjoint.geometry.so3 import cross3
from anyjoint.joints.motion import Chart, Motion


class Curve(PointMap):
    """One curve f(u); u is a scalar SX symbol."""

    rest = (0.0,)
    domain = ((-math.inf, math.inf),)
    # Why a Frenet frame can't be used, where it never can; S contains the third derivative
    # and its rate the fourth, which cubic splines don't have.
    no_frenet: str = ""

    def frenet(self, chart: Chart, u: Any, args: Any) -> Motion:
        """Axes tangent, principal normal, binormal (seed 001, section 5), at f(u)."""
        f = self.point(u, args)
        f1 = ca.jacobian(f, u)
        f2 = ca.jacobian(f1, u)
        f3 = ca.jacobian(f2, u)
        speed = ca.norm_2(f1)
        c = cross3(f1, f2)
        size = ca.norm_2(c)
        b, n = f1 / speed, c / size
        # Frenet–Serret: ω = speed · (torsion, 0, curvature), v = speed · x
        twist = ca.vertcat(speed * ca.dot(c, f3) / size**2, 0, size / speed**2, speed, 0, 0)
        R = ca.horzcat(b, cross3(n, b), n)
        return Motion(R, f, ca.sparsify(twist) @ chart.rate(u))

    def up(self, chart: Chart, u: Any, args: Any, up: Any) -> Motion:
        """Axes tangent, up × tangent, and what is left of `up` (3×1, the curve's axes)."""
        f = self.point(u, args)
        f1 = ca.jacobian(f, u)
        f2 = ca.jacobian(f1, u)
        speed = ca.norm_2(f1)
        b = f1 / speed
        side = cross3(up, b)
        size = ca.norm_2(side)
        y = side / size
        z = cross3(b, y)
        # ω of a frame whose x turns by f2 / speed and whose y stays normal to up
        turn = f2 / speed
        wy, wz = -ca.dot(z, turn), ca.dot(y, turn)
        wx = wz * ca.dot(up, b) / size  # z · (up × turn) / size, and z × up = (up · b) y
        twist = ca.vertcat(wx, wy, wz, speed, 0, 0)
        return Motion(ca.horzcat(b, y, z), f, ca.sparsify(twist) @ chart.rate(u))

    def fixed(self, chart: Chart, u: Any, args: Any) -> Motion:
        """The axes of the curve, moved to f(u)."""
        return chart.shift(self.point(u, args))
