"""The surface contract: `point(u, args)`, and the frame that slides on a surface.

Axes (x, y, z) = (∂f/∂u normalised, n × x, n) with the unit normal n along ∂f/∂u × ∂f/∂w:
seed 001's frame where the parametrisation is orthogonal, and seed 003's orthonormal frame
where it is not."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import casadi as ca
import numpy as np

from anyjoint.geometry.maps import Interval, PointMap
from anyjoint.geometry.so3 import cross3
from anyjoint.joints.motion import Chart, Motion

_PARALLEL = 1e-9  # |∂f/∂u × ∂f/∂w| relative to the largest |∂f/∂u| |∂f/∂w|: no normal


class Surface(PointMap):
    """One surface f(u, w); its coordinates are a 2×1 SX column of symbols."""

    rest: Sequence[Any] = (0.0, 0.0)
    domain: Sequence[Interval] = ((-math.inf, math.inf), (-math.inf, math.inf))

    def frame(self, chart: Chart, u: Any, args: Any) -> Motion:
        """The frame at f(u); families with a cheaper product override it."""
        f = self.point(u, args)
        df = ca.jacobian(f, u)
        fs, ft = df[:, 0], df[:, 1]
        # Gram–Schmidt: fs = speed x and ft = shear x + height y
        speed = ca.norm_2(fs)
        x = fs / speed
        shear = ca.dot(ft, x)
        across = ft - shear * x
        height = ca.norm_2(across)
        y = across / height
        z = cross3(x, y)
        # ω from ẋ = ω × x and, as z ⟂ ft always, ż · ft = −z · ḟt
        dfs = ca.jacobian(fs, u)
        dft = ca.horzcat(dfs[:, 1], ca.jacobian(ft, u[1]))
        wy, wz = -z.T @ dfs / speed, y.T @ dfs / speed
        wx = (z.T @ dft + wy * shear) / height
        S = ca.vertcat(wx, wy, wz, ca.horzcat(speed, shear), ca.horzcat(0, height), ca.SX(1, 2))
        return Motion(ca.horzcat(x, y, z), f, ca.sparsify(S) @ chart.rate(u))

    def parallel(self, args: list[float], grid: list[tuple[float, float]]) -> list[Any]:
        """Those points of a grid of coordinates where the tangents are parallel or vanish (or are
        not finite), so that there is no normal; args: numbers."""
        u, a = ca.SX.sym("u", 2), ca.SX.sym("a", len(args))
        df = ca.jacobian(self.point(u, a), u)
        fs, ft = df[:, 0], df[:, 1]
        sizes = ca.vertcat(ca.norm_2(fs), ca.norm_2(ft), ca.norm_2(cross3(fs, ft)))
        rows = ca.Function("sizes", [u, a], [sizes])(ca.DM(grid).T, ca.DM(args)).full()
        fastest = rows[:2, np.isfinite(rows).all(0)].max(1, initial=0)
        least = _PARALLEL * fastest[0] * fastest[1]
        return [at for at, area in zip(grid, rows[2], strict=True) if not area > least]
