"""The surface contract: `point(u, args)`, and the frame that slides on a surface.

Axes (x, y, z) = (∂f/∂u normalised, n × x, n) with the unit normal n along ∂f/∂u × ∂f/∂w:
seed 001's frame where the parametrisation is orthogonal, and seed 003's orthonormal frame
where it is not."""

from __future__ import annotations

import math
from typing import Any

import casadi as ca

from anyjoint.geometry.maps import PointMap
from anyjoint.geometry.so3 import cross3
from anyjoint.joints.motion import Chart, Motion


class Surface(PointMap):
    """One surface f(u, w); its coordinates are a 2×1 SX column of symbols."""

    rest = (0.0, 0.0)
    domain = ((-math.inf, math.inf), (-math.inf, math.inf))

    def frame(self, chart: Chart, u: Any, args: Any) -> Motion:
        """The frame at f(u); families with a cheaper product override it."""
        f = self.point(u, args)
        df = ca.jacobian(f, u)
        fs, ft = df[:, 0], df[:, 1]
        speed = ca.norm_2(fs)
        x = fs / speed
        normal = cross3(fs, ft)
        z = normal / ca.norm_2(normal)
        y = cross3(z, x)
        R = ca.horzcat(x, y, z)
        # ω from ẋ = ω × x and, as z ⟂ ∂f/∂w always, ż · ft = −z · ḟt
        dx, dt = ca.jacobian(fs, u) / speed, ca.jacobian(ft, u)
        wy, wz = -z.T @ dx, y.T @ dx
        wx = (z.T @ dt + wy * ca.dot(ft, x)) / ca.dot(ft, y)
        S = ca.vertcat(wx, wy, wz, R.T @ df)
        S[5, :] = 0  # both tangents are normal to z
        return Motion(R, f, ca.sparsify(S) @ chart.rate(u))
