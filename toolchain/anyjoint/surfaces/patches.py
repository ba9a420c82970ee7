"""Patches over a net of control points: Bézier and uniform cubic B-splines."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import casadi as ca
import numpy as np
from pydantic import Field, PlainValidator, WithJsonSchema

from anyjoint.frontend.fields import Strict, bad
from anyjoint.geometry import bernstein, splines
from anyjoint.joints.contract import Evaluate
from anyjoint.surfaces.contract import Surface
from anyjoint.surfaces.net import Net, Rows

_ENDS = ("open", "clamped", "periodic")
_WAVES = [[[0.5 * i + 0.03 * j * j, 0.4 * j - 0.05 * i, 0.1 * ((3 * i + j * j) % 4)]
           for j in range(6)] for i in range(5)]
_ROWS = Field(description="rows of control points; u runs from row to row, w along a row")
_ADVICE = "control points too close to each other, or in line at a corner, leave no normal"


def _ends(value: Any) -> list[str]:
    pair = value if isinstance(value, list) else [value, value]
    if len(pair) != 2 or any(x not in _ENDS for x in pair):
        raise bad(f"expected {', '.join(_ENDS)} or a pair of them",
                  "for example [periodic, open]: of u, then of w")
    return pair


_ONE = {"enum": list(_ENDS)}
Ends = Annotated[Any, PlainValidator(_ends), WithJsonSchema({"anyOf": [
    _ONE, {"type": "array", "items": _ONE, "minItems": 2, "maxItems": 2}]})]


class Bezier(Surface):
    """Σ Bᵢ(u) Bⱼ(w) pointᵢⱼ with row i and column j of the points, 0 ≤ u, w ≤ 1; any degree."""

    class Keys(Strict):
        type: Literal["bezier"]
        points: Rows = _ROWS

    examples = (
        {"points": [[[0, 0, 0.1], [0.1, 1, 0]], [[1, 0.2, 0], [1.2, 1, 0.3]]]},
        {"points": [[[0.5 * i, 0.5 * j, 0.2 * ((2 * i + j * j) % 3)] for j in range(5)]
                    for i in range(5)]},
        {"points": [[[i + 0.1 * j, j - 0.2 * i, 0.2 * i * j - 0.1 * i * i] for j in range(4)]
                    for i in range(3)]},
    )
    rest = (0.5, 0.5)
    domain = ((0.0, 1.0), (0.0, 1.0))
    advice = _ADVICE

    def __init__(self, keys: Any, value: Evaluate):
        net = Net(keys.points, value)
        self.options = self.shape = net.shape
        left, right = (bernstein.to_chebyshev(n - 1).T for n in net.shape)
        self.arguments = net.combined(left, right)
        net.check_normals(self, left, right, [np.linspace(0, 1, 9)] * 2, value)

    def point(self, u: Any, args: Any) -> Any:
        rows, columns = self.shape
        by_row = ca.reshape(args, 3 * columns, rows)
        by_column = ca.reshape(by_row @ bernstein.chebyshev(u[0], rows - 1), 3, columns)
        return by_column @ bernstein.chebyshev(u[1], columns - 1)


class BSpline(Surface):
    """Uniform cubic B-spline patch, C² at the knots u, w = 1, 2, …

    In each direction, of n rows or n points in a row: `open` 0 ≤ u ≤ n − 3; `clamped` the same,
    from the first to the last; `periodic`: the first follows the last, u counts modulo n."""

    class Keys(Strict):
        type: Literal["bspline"]
        points: Rows = _ROWS
        ends: Ends = Field(default=["clamped", "clamped"],
                           description="of both directions, or a pair for u and w")
        outside: Literal["extend", "linear"] = Field(
            default="extend", description="beyond the ends: the last cubics go on (C²), or their "
            "tangents (C¹)")

    examples = (
        {"points": _WAVES, "ends": "open"},
        {"points": [row[:4] for row in _WAVES[:4]], "outside": "linear"},
        {"points": [[[(2 + x) * c, (2 + x) * s, z] for x, z in ((0.5, 0), (0, 0.6), (-0.5, 0))]
                    for c, s in ((1, 0), (0.3, 1), (-0.8, 0.6), (-0.8, -0.6), (0.3, -1))],
         "ends": "periodic"},
        {"points": [[[c, s, z] for z in (-1, 0, 0.9, 2.2, 3)]
                    for c, s in ((1, 0), (0.2, 1), (-1, 0), (0, -0.8))],
         "ends": ["periodic", "clamped"]},
    )
    advice = _ADVICE

    def __init__(self, keys: Any, value: Evaluate):
        self.cyclic = tuple(x == "periodic" for x in keys.ends)
        if all(self.cyclic) and "outside" in keys.model_fields_set:
            value.problem("a periodic patch has no outside", "outside", hint="remove it")
        net = Net(keys.points, value, tuple(3 if x else 4 for x in self.cyclic), self.cyclic)
        left, right = (splines.clamped(n).T if x == "clamped" else np.eye(n)
                       for n, x in zip(net.shape, keys.ends, strict=True))
        self.arguments = net.combined(left, right)
        self.shape, self.linear = net.shape, keys.outside == "linear"
        self.options = (self.shape, self.cyclic, self.linear)
        self.segments = [n if x else n - 3 for n, x in zip(net.shape, self.cyclic, strict=True)]
        self.domain = tuple((0.0, float(n)) for n in self.segments)
        self.rest = tuple(map(splines.middle, self.segments))
        net.check_normals(self, left, right,
                          [np.linspace(0, n, 2 * n + 1) for n in self.segments], value)

    def point(self, u: Any, args: Any) -> Any:
        (k, s), (j, t) = map(splines.segment, (u[0], u[1]), self.segments, self.cyclic)
        rows, columns = self.shape
        # the 4×4 points around u: four rows, then four points of each, (4·3)×4
        near = splines.window(k, ca.reshape(args, 3 * columns, rows), self.segments[0])
        near = ca.vertcat(*[ca.reshape(row, 3, columns) for row in near])
        near = ca.horzcat(*splines.window(j, near, self.segments[1]))
        along, across = (splines.weights(x, self.linear and not cyclic)
                         for x, cyclic in zip((s, t), self.cyclic, strict=True))
        return ca.reshape(near @ across, 3, 4) @ along
