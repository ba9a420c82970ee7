"""Curves: their points against formulas written out here, their frames over the whole domain,
the formulas of Frenet and Serret, control points as parameters, bad input."""

from __future__ import annotations

import json
import math
from typing import Any

import casadi as ca
import numpy as np
import pytest

import anyjoint as aj
from anyjoint.curves import CURVES, Curve
from anyjoint.joints.motion import Chart
from mechanisms import Case, Doc, close, single
from test_bad_input import check, rows
from test_joints import Contract
from test_splines import reference

pytestmark = pytest.mark.quick
STATES = 100
UP = [0.3, 0.2, 1]
EXAMPLES = [pytest.param({"type": kind, **keys}, id=f"{kind}_{k}")
            for kind, family in CURVES.items() for k, keys in enumerate(family.examples)]
FRAMES = [pytest.param(p.values[0], frame, id=f"{p.id}_{frame}")
          for p in EXAMPLES for frame in ("frenet", "up", "fixed")
          if frame != "frenet" or p.values[0]["type"] not in ("line", "bspline")]


def joint(curve: Doc, frame: str = "fixed") -> Doc:
    """Keys of a curve joint."""
    return {"type": "curve", "curve": curve, "frame": frame} | ({"up": UP} if frame == "up" else {})


def made(keys: Doc) -> Any:
    """The curve of these keys."""
    on: Any = aj.loads(json.dumps(single(joint(keys)))).bodies[0].joint
    return on.parts[0].curve


def places(curve: Curve, n: int = STATES) -> Any:
    """Random coordinates in the domain, away from its ends and the knots of a spline."""
    lower, upper = np.clip(curve.domain[0], -2, 10)
    u = np.random.default_rng(1).uniform(lower, upper, 3 * n)
    away = np.abs(u - np.round(u)) > 0.01
    return u[away & (u > lower + 0.01) & (u < upper - 0.01)][:n]


# -- points ------------------------------------------------------------------------------


def casteljau(points: Any, u: float) -> Any:
    P = np.array(points, float)
    while len(P) > 1:
        P = (1 - u) * P[:-1] + u * P[1:]
    return P[0]


def on_line(k: Doc, u: float) -> Any:
    d = np.array({"x": [1, 0, 0]}.get(str(k.get("direction", "x")), k.get("direction")), float)
    return u * d / np.linalg.norm(d)


def by_formula(k: Doc, u: float) -> Any:
    names = {"sin": math.sin, "cos": math.cos, k.get("variable", "u"): u}
    return [eval(str(x), names) for x in k["point"]]


POINTS: dict[str, Any] = {
    "line": on_line,
    "circle": lambda k, u: [k["radius"] * math.cos(u), k["radius"] * math.sin(u), 0],
    "ellipse": lambda k, u: [k["a"] * math.cos(u), k["b"] * math.sin(u), 0],
    "helix": lambda k, u: [k["radius"] * math.cos(u), k["radius"] * math.sin(u), k["pitch"] * u],
    "polynomial": lambda k, u: sum(np.array(c) * u**i for i, c in enumerate(k["coefficients"])),
    "bezier": lambda k, u: casteljau(k["points"], u),
    "bspline": lambda k, u: reference(k.get("ends", "clamped"), np.array(k["points"]).T, u),
    "formula": by_formula,
}


def point(curve: Curve) -> ca.Function:
    u = ca.SX.sym("u")
    args = ca.SX(ca.DM([float(x) for x in curve.arguments]))
    return ca.Function("f", [u], [curve.point(u, args)])


@pytest.mark.parametrize("keys", EXAMPLES)
def test_point(keys: Doc) -> None:
    if keys["type"] not in POINTS:
        pytest.skip("a newer family, without a formula here")
    curve = made(keys)
    f = point(curve)
    for u in places(curve, 30):
        close(f(u), POINTS[keys["type"]](keys, u), 1e-14)
    assert curve.domain[0][0] <= curve.rest[0] <= curve.domain[0][1]


@pytest.mark.parametrize("frame", ["frenet", "up", "fixed"])
def test_curve_curve_aligns_the_frames(frame: str) -> None:
    """C₁⁻¹ G C₂ = 1 (seed 000, section 1)."""
    pair = {"curve": {"type": "helix", "radius": 0.8, "pitch": 0.25},
            "child_curve": {"type": "ellipse", "a": 0.9, "b": 0.5}}
    up = {"up": [0.1, 0.3, 1]} if frame == "up" else {}
    keys = {"type": "curve_curve", "frame": frame, **up, **pair}
    joint = Case("pair", single(keys)).m.bodies[0].joint
    first, second = (Case("one", single({"type": "curve", "frame": frame, **up, "curve": c})).m
                     .bodies[0].joint for c in pair.values())
    for u, s in np.random.default_rng(4).uniform(-2, 2, (5, 2)):
        G, A, B = (homogeneous(j, q) for j, q in ((joint, [u, s]), (first, [u]), (second, [s])))
        close(np.linalg.solve(A, G @ B), np.eye(4), 1e-12)


def homogeneous(joint: Any, q: list[float]) -> Any:
    x, args = ca.SX.sym("q", joint.nq), ca.SX(ca.DM([float(a) for a in joint.arguments]))
    R, r = ca.Function("f", [x], [ca.densify(y) for y in joint.transform(x, args)])(q)
    return np.block([[np.array(R), np.array(r)], [np.zeros((1, 3)), 1]])


@pytest.mark.parametrize("degree", [1, 2, 8, 20, 60])
def test_bezier_of_any_degree(degree: int) -> None:
    """Accurate in the value and, by its control points' differences, in four derivatives."""
    P = np.random.default_rng(degree).uniform(-1, 1, (degree + 1, 3))
    curve, u = made({"type": "bezier", "points": P.tolist()}), ca.SX.sym("u")
    out = [curve.point(u, ca.SX(ca.DM(curve.arguments)))]
    for k in range(min(4, degree) + 1):
        f = ca.Function("f", [u], ca.cse([out[-1]]))
        for x in (0, 0.03, 0.5, 0.77, 1):
            close(f(x), casteljau(P, x), 1e-13 * (degree + 1) ** k)
        P = (degree - k) * np.diff(P, axis=0)
        out.append(ca.jacobian(out[-1], u))


def test_planar_and_straight_curves_fold() -> None:
    """A coordinate that does not change has no coefficients but the first."""
    curve = made({"type": "bezier", "points": [[0, 0.1, 0.3], [1, 0.2, 0.3], [2, 0.7, 0.3],
                                               [3, 0.1, 0.3]]})
    by_point = np.array([float(x) for x in curve.arguments]).reshape(-1, 3)
    assert not by_point[1:, 2].any() and not by_point[2:, 0].any()


# -- frames --------------------------------------------------------------------------------


@pytest.mark.parametrize(("keys", "frame"), FRAMES)
def test_subspace_over_the_domain(keys: Doc, frame: str) -> None:
    """S in closed form and Ṡ v against the derived ones and finite differences."""
    contract = Contract(Case("curve", single(joint(keys, frame))))
    rng = np.random.default_rng(2)
    u = places(made(keys))
    assert len(u) == STATES
    for q in u[:, None]:
        v = rng.uniform(0.5, 1.5, 1)
        R, _, S, bias, _, S_derived, bias_derived = contract(q, v)
        S_numbers, bias_numbers = contract.numbers(q, v, 1e-3)
        size = max(1, np.abs(S).max(), np.abs(bias).max())
        close(R.T @ R, np.eye(3), 1e-13)
        for own, others in ((S, (S_derived, S_numbers)), (bias, (bias_derived, bias_numbers))):
            for other in others:
                close(own, other, 1e-9, size)


@pytest.mark.parametrize("keys", [{"type": "circle", "radius": 0.7},
                                  {"type": "helix", "radius": 0.8, "pitch": 0.25},
                                  {"type": "helix", "radius": 0.5, "pitch": -0.1}])
def test_curvature_and_torsion(keys: Doc) -> None:
    """S = speed (torsion, 0, curvature, 1, 0, 0) of a helix; its product of motions is what any
    curve's Frenet frame is."""
    r, p = keys["radius"], keys.get("pitch", 0)
    speed = math.hypot(r, p)
    expected = [p / speed, 0, r / speed, speed, 0, 0]
    curve, u = made(keys), ca.SX.sym("u")
    args, chart = ca.SX(ca.DM([float(x) for x in curve.arguments])), Chart(u, ca.SX.eye(1))
    for G in (curve.frenet(chart, u, args), Curve.frenet(curve, chart, u, args)):
        f = ca.Function("f", [u], [ca.densify(x) for x in (G.R, G.r, G.S)])
        for x in (-3, 0.1, 2):
            R, point, S = f(x)
            close(S, expected, 1e-14)
            close(point, POINTS[keys["type"]](keys, x), 1e-14)
            inward = [-math.cos(x), -math.sin(x), 0]
            close(np.array(R)[:, 1], inward, 1e-14)
            close(np.array(R)[:, 0] @ inward, 0, 1e-14)


@pytest.mark.parametrize("keys", EXAMPLES)
def test_up_frame(keys: Doc) -> None:
    """x along the curve, y level, z on the side of `up`."""
    contract = Contract(Case("curve", single(joint(keys, "up"))))
    curve = made(keys)
    f = point(curve)
    for u in places(curve, 20):
        R = contract([u], [1])[0]
        tangent = np.array(f(u + 1e-5) - f(u - 1e-5)).ravel()
        close(R[:, 0], tangent / np.linalg.norm(tangent), 1e-8)
        close(R[:, 1] @ UP, 0, 1e-14)
        assert R[:, 2] @ UP > 0


# -- parameters ----------------------------------------------------------------------------


ROWS = [[0, 0, "h"], ["a", 0.1, 0.2], [1.1, "a*h", 0.3], ["1 + a", 1, "h**2"], [0.9, 1.7, 0]]
PARAMETRIC = [
    pytest.param({"type": "bezier", "points": ROWS}, "frenet", id="bezier"),
    pytest.param({"type": "polynomial", "coefficients": ROWS[:4]}, "frenet", id="polynomial"),
    *(pytest.param({"type": "bspline", "points": ROWS, "ends": ends}, "up", id=ends)
      for ends in ("open", "clamped", "periodic")),
    pytest.param({"type": "formula", "point": ["a*cos(t)", "sin(t)", "h*t*c"], "variable": "t",
                  "rest": "a"}, "frenet", id="formula")]


@pytest.mark.parametrize(("curve", "frame"), PARAMETRIC)
def test_parameters(curve: Doc, frame: str) -> None:
    """A function at another p is that of the text with other numbers, and is not the same."""
    def case(**parameters: float) -> Case:
        doc = single(joint(curve, frame)) | {"constants": {"c": "2*h"}, "parameters": parameters}
        return Case("curve", doc)

    given, changed = case(a=0.7, h=0.3), case(a=0.8, h=0.25)
    s = given.state() | {"p": [0.8, 0.25]}
    accelerations = given.call("fd", s), changed.baked.function("fd")(
        q=s["q"], v=s["v"], tau=s["tau"])["a"]
    assert np.isfinite(accelerations[0]).all()
    close(*accelerations, 1e-10)
    assert abs(given.call("fd", s, {"p": [0.7, 0.3]}) - accelerations[0]).max() > 1e-3
    assert np.abs(given.jacobian("fd", "a", "p", s)).min() > 1e-3


# -- bad input -------------------------------------------------------------------------------

BAD = """
joint | type: curve, frame: §frenet, curve: {type: bspline, points: [[0, 0, 0], [1, 0, 0],
 [1, 1, 0], [0, 1, 1]]} | ~.frame | third derivative of a cubic spline jumps | frame: up
joint | type: curve, frame: §frenet, curve: {type: bezier, points: [[0, 0, 0], [1, 1, 1]]} |
 ~.frame | no curvature | frame: up
joint | type: curve, frame: §frenet, curve: {type: polynomial, coefficients: [[0, 0, 0],
 [1, 1, 1], [2, 2, 2]]} | ~.frame | without curvature | frame: up
joint | type: curve, curve: {type: formula, point: [2*u, pi, 1 - u]}, frame: §frenet | ~.frame |
 without curvature | frame: up
joint | type: curve, frame: up, curve: {type: bezier, points: [[0, 0, 0], [1, 0, 0],
 §[1, 0, 0], §[1, 0, 0], [2, 1, 0]]} | ~.curve.points[2] | repeats the one before | remove ||
 ~.curve.points[3] | repeats
joint | type: curve, frame: up, curve: {type: bspline, points: [[0, 0, 0], [1, 0, 0], [1, 1, 0],
 §[1, 1.0, 0]]} | ~.curve.points[3] | repeats the one before
joint | type: curve, frame: up, curve: {type: bspline, ends: periodic, points: [[0, 0, 0],
 [1, 0, 0], [1, 1, 0], §[0, 0, 0]]} | ~.curve.points[3] | repeats the first | by themselves
joint | type: curve, frame: up, curve: {type: bspline, ends: periodic, outside: §linear, points:
 [[0, 0, 0], [1, 0, 0], [1, 1, 0]]} | ~.curve.outside | has no outside | remove it
joint | type: curve, frame: up, curve: {type: bspline, ends: open, points: §[[0, 0, 0], [1, 0, 0],
 [1, 1, 0]]} | ~.curve.points | 3 control points; open ends need at least 4 | periodic
joint | type: curve, frame: up, curve: {type: bezier, points: §[[1, 0, 2], [1, 0, 2], [1, 0, 2]]} |
 ~.curve.points | all control points are the same
joint | type: curve, curve: {type: bezier, points: [[0, 0, 0], [1, 0, 0], §[1, 0, 0]]} |
 ~.curve.points[2] | repeats the one before
joint | type: curve, curve: {type: bezier, points: §[[1, 0, 2], [1, 0, 2], [1, 0, 2]]} |
 ~.curve.points | all control points are the same | apart
joint | type: curve, frame: up, curve: {type: bspline, points: [[0, 0, 0], [1e200, 0, 0], §[1e200,
 0, 0], [2, 1, 0], [3, 1, 0]]} | ~.curve.points[2] | repeats the one before
joint | type: curve, frame: up, curve: {type: formula, variable: §2x, point: [u, u, 0]} |
 ~.curve.variable | no identifier
joint | type: curve, frame: up, curve: {type: formula, variable: §lambda, point: [u, u, 0]} |
 ~.curve.variable | reserved word | rename
joint | type: curve, frame: up, curve: {type: formula, variable: s, point: [§u, 2*u, 0]} |
 ~.curve.point[0] | unknown name "u" | s
joint | type: curve, frame: up, up: §[0, 0, 0], curve: {type: line} | ~.up | can't be zero
joint | type: curve, frame: up, curve: {type: polynomial, coefficients: §[[1, 1, 1], [0, 0, 0]]} |
 ~.curve.coefficients | a constant polynomial | of u
joint | type: curve, frame: up, curve: {type: bezier, points: [[0, 0, 0], [1, §k, 0]]} |
 ~.curve.points[1][1] | unknown name "k"
joint | type: curve, curve: {type: circle, radius: §0} | ~.curve.radius | not positive | > 0
joint | type: curve, curve: {type: formula, point: [cos(u), sin(§v), 2*§w]} | ~.curve.point[1] |
 unknown name "v" | u || ~.curve.point[2] | unknown name "w"
file | parameters: {radius: 1}⏎bodies: {b: {parent:
 world, joint: {type: curve, curve: {type: formula, point: [u, u**2, §radios*u]}}}} |
 bodies.b.joint.curve.point[2] | unknown name "radios" | did you mean "radius"?
joint | type: curve, curve: {type: formula, point: §[1, 2, pi]} | ~.curve.point | depend on "u"
joint | type: curve, curve: {type: formula, variable: §pi, point: [1, 2, pi]} |
 ~.curve.variable | already a function or constant | rename
joint | type: curve, curve: {type: formula, variable: §a b, point: [1, 2, pi]} |
 ~.curve.variable | no identifier
joint | type: curve, curve: {type: formula, domain: §[1, 0], point: [u, 0, u**2]} |
 ~.curve.domain | from 1 to 0 is empty
joint | type: curve, curve: {type: formula, domain: [0, 1], rest: §3, point: [u, 0, u**2]} |
 ~.curve.rest | outside the domain
joint | type: curve, curve: {type: §spiral} | ~.curve.type | - | bezier
"""


@pytest.mark.parametrize(("template", "text", "problems"), rows(BAD))
def test_problem(template: str, text: str, problems: list[list[str]]) -> None:
    check(template, text, problems)
