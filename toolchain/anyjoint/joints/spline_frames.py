"""Joints through control frames (Lee and Terzopoulos; seed 002, sections 5.2 and 5.3): a
cumulative cubic B-spline in SE(3), and a patch whose position and angles are splines."""

from __future__ import annotations

import itertools
import math
from typing import Annotated, Any, Literal

import casadi as ca
import numpy as np
from pydantic import Field

from anyjoint.frontend.fields import Formula, JointKeys, Pose
from anyjoint.geometry import se3, so3
from anyjoint.geometry.columns import split
from anyjoint.geometry.splines import middle, segment, weights, window
from anyjoint.joints.axis import UNIT
from anyjoint.joints.contract import Evaluate, Joint
from anyjoint.joints.motion import Chart, Motion
from anyjoint.surfaces.net import Net

_LEAST = {"clamped": 2, "cyclic": 3, "open": 4}  # frames
_HALF_TURN = 1e-3  # frames so close to it, in radians, have no logarithm
_FRAME, _TWIST, _POINT = 9, 6, 6  # numbers in a frame, a difference, a control point
_ARC = [{"xyz": [0, 0, 0]}, {"xyz": [0.5, 0.1, 0.1], "rpy": [0.3, -0.4, 0.2]},
        {"xyz": [0.9, 0.4, 0.4], "rpy": [0.1, -0.7, 0.8]},
        {"xyz": [1.0, 0.9, 0.3], "quat": [0.8, 0.1, -0.3, 0.6]},
        {"xyz": [0.7, 1.3, 0.0], "rpy": [-0.2, 0.3, 1.7]},
        {"xyz": [0.1, 1.4, -0.3], "rpy": [-0.5, 0.4, 2.4]}]


class SplineCurve(Joint):
    """Q(u) = C₁ exp(ΔC₂ B̃₂) exp(ΔC₃ B̃₃) exp(ΔC₄ B̃₄), ΔCᵢ = log(Cᵢ₋₁⁻¹ Cᵢ), of the four control
    frames around u (eq. 59); C² in u.

    `open`: n frames, 0 ≤ u ≤ n − 3, near frame k + 1 (the first is 0) at u = k. `cyclic`: the
    first frame follows the last, u counts modulo n. `clamped`: 0 ≤ u ≤ n − 1, from the first
    frame to the last, through phantom frames C₀ = C₁ exp(−ΔC₂) and Cₙ₊₁ = Cₙ exp(ΔCₙ), which
    leave S = ΔC₂ and ΔCₙ at the ends (repeated frames would leave S = 0)."""

    class Keys(JointKeys):
        type: Literal["spline_curve"]
        frames: Annotated[list[Pose], Field(min_length=2)] = Field(
            description="control frames in the joint frame")
        ends: Literal["cyclic", "clamped", "open"] = Field(
            default="clamped", description="clamped: from the first frame to the last")

    examples = (
        {"frames": _ARC[:4], "ends": "cyclic"}, {"frames": _ARC, "ends": "clamped"},
        {"frames": _ARC[:5], "ends": "open"},
    )
    q_names = ("u",)
    advice = "the frames turn back there: let them go one way, or give u a range"

    def __init__(self, keys: Any, value: Evaluate):
        frames = [value.pose(f, "frames", i) for i, f in enumerate(keys.frames)]
        ends = keys.ends
        if len(frames) < _LEAST[ends]:
            value.problem(f"{len(frames)} frames; {ends} ends need at least {_LEAST[ends]}",
                          "frames", hint="more frames, or ends: clamped")
            ends = "clamped"
        around = frames[:1] if ends == "cyclic" else []
        deltas = [difference(i, *pair, value)
                  for i, pair in enumerate(itertools.pairwise([*frames, *around]))]
        if ends == "clamped":
            frames = [se3.compose(frames[0], se3.exp_se3(-deltas[0])), *frames]
            deltas = [deltas[0], *deltas, deltas[-1]]
        segments = len(deltas) - (0 if ends == "cyclic" else 2)
        # a segment starts from its first frame: two axes and the origin tell it
        starts = [ca.vertcat(R[:, 0], R[:, 1], r) for R, r in frames[:segments]]
        self.arguments = entries(ca.vertcat(*starts, *deltas))
        self.options = self.shape = (ends == "cyclic", segments, len(deltas))
        self.rest, self.domain = (middle(segments),), ((0.0, float(segments)),)

    def motion(self, chart: Chart, args: Any) -> Motion:
        """Algorithm 4: the product of motions is its lines 6, 7 and 9, and the bias, the rate
        of S, its line 10 (with B̃′ for the misprinted B̃)."""
        cyclic, segments, n = self.shape
        starts, deltas = split(args, [_FRAME * segments, _TWIST * n])
        k, t = segment(chart.q[0], segments, cyclic)
        (C,) = window(k, ca.reshape(starts, _FRAME, segments), segments, 1)
        x, y, r = split(C, [3, 3, 3])
        G = chart.fixed(ca.horzcat(x, y, so3.cross3(x, y)), r)
        B = weights(t)
        for i, delta in enumerate(window(k, ca.reshape(deltas, _TWIST, n), segments, 3)):
            b = ca.sum1(B[i + 1:])  # B̃ of (57)
            # a twist times b(q): the axis stays, so S is the twist times b′
            G = G @ Motion(*se3.exp_se3(delta * b), delta @ chart.rate(b))  # lines 1-3, 5
        return G


class SplineSurface(Joint):
    """Trans(x, y, z) Rx Ry Rz, six tensor-product cubic B-splines of u and w (eq. 60 to 63).
    The first index of `points` goes with u, 0 ≤ u ≤ rows − 3, the second with w. The angles
    are Euler angles: between control points they mean a turn only if they are small."""

    class Keys(JointKeys):
        type: Literal["spline_surface"]
        points: Annotated[
            list[Annotated[list[Annotated[list[Formula], Field(min_length=6, max_length=6)]],
                           Field(min_length=4)]],
            Field(min_length=4)] = Field(
                description="rows (along u) of control points [x, y, z, rx, ry, rz] (along w)")

    examples = tuple(
        {"points": [[[0.4 * i, 0.5 * j, 0.1 * (i - 1) ** 2 - 0.1 * j * i, 0.2 * j - 0.1 * i,
                      0.3 - 0.1 * i * j, 0.1 * i] for j in range(4)] for i in range(rows)]}
        for rows in (4, 5))
    q_names = ("u", "w")
    advice = "control points there coincide or lie on a line: pull them apart, or give a range"

    def __init__(self, keys: Any, value: Evaluate):
        net = Net(keys.points, value, (4, 4))
        rows, columns = self.shape = net.shape
        self.options, self.arguments = self.shape, net.combined(np.eye(rows), np.eye(columns))
        self.rest = (middle(rows - 3), middle(columns - 3))
        self.domain = ((0.0, rows - 3.0), (0.0, columns - 3.0))
        self._check(net.combined(np.eye(rows), np.eye(columns), at_default=True), value)

    def _check(self, args: list[float], value: Evaluate) -> None:
        """S has rank 2 at the knots and between them, at the parameters' defaults."""
        q, a = ca.SX.sym("q", 2), ca.SX.sym("a", len(args))
        S = ca.Function("S", [q, a], [ca.densify(self.motion(Chart(q, ca.SX.eye(2)), a).S)])
        ends = [np.linspace(0, n - 3, 2 * n - 5) for n in self.shape]
        grid = np.array(list(itertools.product(*ends)))
        values = S.map(len(grid))(grid.T, ca.repmat(ca.DM(args), 1, len(grid))).full()
        if not np.isfinite(values).all():  # reported
            return
        large, small = np.linalg.svd(values.T.reshape(-1, 2, 6), compute_uv=False).T
        for u, w in grid[small <= 1e-9 * large.max()][:1]:
            value.problem(f"the patch is degenerate: at u = {u:g}, w = {w:g} the two coordinates "
                          "don't move the frame independently", "points",
                          hint="control points must not coincide or lie on a line")

    def motion(self, chart: Chart, args: Any) -> Motion:
        """(63); algorithm 5 is the product rule of motions again."""
        f = self.spline(chart.q, args)
        G = chart.shift(f[:3])
        for i, axis in enumerate("xyz"):
            G = G @ chart.turn(UNIT[axis], f[3 + i])
        return G

    def spline(self, q: Any, args: Any) -> Any:
        """f(C_k, q), k = 1 … 6 (60): the four rows around u are chosen, of them four columns."""
        rows, columns = self.shape
        (i, s), (j, t) = segment(q[0], rows - 3), segment(q[1], columns - 3)
        strip = window(i, ca.reshape(args, _POINT * columns, rows), rows - 3)
        strip = ca.vertcat(*[ca.reshape(row, _POINT, columns) for row in strip])
        local = [ca.reshape(column, _POINT, 4) for column in window(j, strip, columns - 3)]
        return ca.horzcat(*[column @ weights(s) for column in local]) @ weights(t)


def difference(i: int, a: tuple[Any, Any], b: tuple[Any, Any], value: Evaluate) -> Any:
    """ΔC = log(A⁻¹ B) (6×1) of frame i and the next; equal ones and half turns are problems."""
    R, r = se3.compose(se3.inverse(*a), b)
    turn = ca.vertcat(R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1])
    delta = se3.log_se3(ca.vertcat(1 + ca.trace(R), turn), r)  # 4w times the quaternion
    if at_defaults(ca.trace(R), value).item() < 2 * math.cos(math.pi - _HALF_TURN) + 1:
        value.problem("from this frame to the next is half a turn, which has no direction",
                      "frames", i, hint="put a frame between them")
    elif np.linalg.norm(at_defaults(delta, value)) < 1e-9:
        value.problem("this frame and the next are equal, so that the curve is not smooth",
                      "frames", i, hint="remove one of them")
    return delta


def at_defaults(x: Any, value: Evaluate) -> Any:
    """An expression of p as numbers, at the parameters' defaults."""
    p = ca.symvar(x)
    f = ca.Function("f", [ca.vertcat(ca.SX(0, 1), *p)], [x])
    return np.array(f(ca.DM([value.number(s.name()) for s in p])))


def entries(x: Any) -> list[Any]:
    """The entries of a column: float, or SX where they depend on p."""
    return [float(e) if e.is_constant() else e for e in ca.vertsplit(ca.densify(x))]
