"""Surfaces: their points against other formulas, their frames against the tangents, S and Ṡ v
against differentiation and differences; what can't be a surface."""

from __future__ import annotations

import functools
import math
from typing import Any

import casadi as ca
import numpy as np
import pytest

import anyjoint as aj
from anyjoint.joints.motion import Chart
from anyjoint.surfaces import SURFACES, Surface
from mechanisms import close
from surface_samples import (
    CASES,
    STATES,
    STEP,
    Sample,
    cross,
    difference,
    dot,
    function,
    load,
    unit,
)

PRODUCTS = [n for n, keys in CASES.items() if SURFACES[keys["type"]].frame is not Surface.frame]


@pytest.fixture(scope="module", params=CASES)
def sample(request: Any) -> Any:
    return Sample(CASES[request.param])


# -- frames ------------------------------------------------------------------------------


@pytest.mark.quick
def test_frame_follows_the_tangents(sample: Sample) -> None:
    """R is a rotation with the columns of seed 003, section 6; where the tangents are at right
    angles those of seed 001, [p₀, n × p₀, n] with n = p₀ × p₁."""
    u, _ = sample.states()
    R, r, _ = sample.frame(u)
    close(np.einsum("ijn,ikn->jkn", R, R), np.eye(3)[:, :, None] + 0 * R, 1e-12)
    assert (np.linalg.det(R.transpose(2, 0, 1)) > 0).all()
    close(r, sample.point(u), 1e-13)
    cs, ct = sample.tangents(u)
    y = dot(cs, cs) * ct - dot(cs, ct) * cs
    for axis, expected in zip(R.swapaxes(0, 1), (cs, y, cross(cs, ct)), strict=True):
        close(axis.T, unit(expected).T, 1e-9)
    p0, p1 = unit(cs), unit(ct)
    if abs(dot(p0, p1)).max() < 1e-9:
        n = cross(p0, p1)
        close(R, np.stack([p0, cross(n, p0), n], axis=1), 1e-9)


@pytest.mark.quick
def test_subspace(sample: Sample) -> None:
    """S and Ṡ v against the derived ones and against differences."""
    u, v = sample.states()
    R, _, S = sample.frame(u)
    bias, _ = sample.bias(u, v)
    S_derived, bias_derived = sample.derived(u, v)
    size = max(1.0, abs(bias).max())
    close(S, S_derived, 1e-9)
    close(bias, bias_derived, 1e-9)
    columns = []
    for e in np.eye(2)[:, :, None]:
        dR = difference(lambda t, e=e: sample.frame(u + t * e)[0])
        dr = difference(lambda t, e=e: sample.frame(u + t * e)[1])
        W = np.einsum("jin,jkn->ikn", R, dR)
        columns.append([W[2, 1], W[0, 2], W[1, 0], *np.einsum("jin,jn->in", R, dr)])
    close(S, np.array(columns).swapaxes(0, 1), 1e-9)
    close(bias, difference(lambda t: sample.bias(u + t * v, v)[1], STEP / 4), 1e-9, size)


@pytest.mark.quick
@pytest.mark.parametrize("name", PRODUCTS)
def test_products_are_the_closed_form(name: str) -> None:
    sample = Sample(CASES[name])
    u, v = sample.states()
    own = [*sample.frame(u), sample.bias(u, v)[0]]
    for a, b in zip(own, sample.generic(u, v), strict=True):
        close(a, b, 1e-11)


@pytest.mark.quick
def test_products_are_cheaper() -> None:
    assert {CASES[n]["type"] for n in PRODUCTS} == {"sphere", "torus", "cylinder", "cone",
                                                    "paraboloid"}
    for name in PRODUCTS:
        surface = Sample(CASES[name]).surface
        u, v = ca.SX.sym("u", 2), ca.SX.sym("v", 2)
        args, counts = ca.SX.sym("a", len(surface.arguments)), []
        for frame in (surface.frame, functools.partial(Surface.frame, surface)):
            G = frame(Chart(u, ca.SX.eye(2)), u, args)
            outputs = ca.cse([G.R, G.r, G.S, ca.jtimes(G.S @ v, u, v)])
            counts.append(ca.Function("f", [u, v, args], outputs).n_instructions())
        assert counts[0] < 0.8 * counts[1], (name, counts)


# -- points --------------------------------------------------------------------------------

SHEETS: dict[str, Any] = {  # F(x, y, z) = 0, positive on the side that the normal points to
    "plane": lambda x, y, z: z,
    "sphere": lambda x, y, z: x**2 + y**2 + z**2 - 0.6**2,
    "ellipsoid": lambda x, y, z: (x / 0.9) ** 2 + (y / 0.5) ** 2 + (z / 0.7) ** 2 - 1,
    "torus": lambda x, y, z: (np.hypot(x, y) - 1.1) ** 2 + z**2 - 0.3**2,
    "cylinder": lambda x, y, z: np.hypot(x, y) - 0.4,
    "cone": lambda x, y, z: np.hypot(x, y) - z * math.tan(math.radians(35)),
    "paraboloid": lambda x, y, z: (x**2 + y**2) / (4 * 0.35) - z,
}


@pytest.mark.quick
@pytest.mark.parametrize("name", SHEETS)
def test_implicit_equation_and_outward_normal(name: str) -> None:
    sample = Sample(CASES[f"{name}_0"])
    u, _ = sample.states()
    F, (R, r, _) = SHEETS[name], sample.frame(u)
    close(F(*r), np.zeros(STATES), 1e-14)
    assert (F(*(r + 1e-3 * R[:, 2])) > 0).all() and (F(*(r - 1e-3 * R[:, 2])) < 0).all()


def test_continued_past_the_pole() -> None:
    """The product of a sphere goes on smoothly where ∂f/∂u changes its sign."""
    R = Sample(CASES["sphere_0"]).frame(np.array([[0.3, 0.3], [1.57, 1.58]]))[0]
    close(R[:, :, 0], R[:, :, 1], 0.02)


@pytest.mark.quick
@pytest.mark.parametrize("degrees", [(1, 1), (1, 3), (4, 4), (12, 7)])
def test_bezier_is_de_casteljau(degrees: tuple[int, int]) -> None:
    P = net(*(n + 1 for n in degrees))
    u, _ = (sample := Sample({"type": "bezier", "points": P.tolist()})).states(20)
    for k, point in zip(u.T, sample.point(u).T, strict=True):
        close(casteljau([casteljau(row, k[1]) for row in P], k[0]), point, 1e-13, 10)
    corners = sample.point(np.array([[0, 0, 1, 1], [0, 1, 0, 1]])).T
    close(corners, P[[0, 0, -1, -1], [0, -1, 0, -1]], 1e-12)


def net(rows: int, columns: int) -> Any:
    """A rough surface over the x-y plane."""
    rng = np.random.default_rng(2)
    return np.array([[[i + 0.1 * j, 0.9 * j - 0.2 * i, rng.uniform()] for j in range(columns)]
                     for i in range(rows)])


def casteljau(P: Any, t: float) -> Any:
    P = np.array(P)
    while len(P) > 1:
        P = P[:-1] + t * (P[1:] - P[:-1])
    return P[0]


def de_boor(i: int, degree: int, knots: Any, t: float) -> float:
    """B-spline i over any knots (Cox and de Boor)."""
    if degree == 0:
        return float(knots[i] <= t < knots[i + 1])
    total = 0.0
    for j, sign in ((i, 1), (i + 1, -1)):
        width = knots[j + degree] - knots[j]
        edge = t - knots[i] if sign > 0 else knots[i + degree + 1] - t
        total += edge / width * de_boor(j, degree - 1, knots, t) if width else 0.0
    return total


def weights(ends: str, n: int, t: float) -> Any:
    """Of n control points (rows or points of a row) at t."""
    if ends == "periodic":  # the points repeat
        t += n
        spread = [de_boor(i, 3, np.arange(-3.0, 3 * n + 4), t) for i in range(3 * n)]
        return np.array(spread).reshape(3, n).sum(axis=0)
    knots = np.arange(-3.0, n + 1)
    if ends == "clamped":
        knots = np.clip(knots, 0, n - 3)
    return np.array([de_boor(i, 3, knots, t) for i in range(n)])


@pytest.mark.quick
@pytest.mark.parametrize("shape", [(4, 4), (4, 6), (5, 11), (9, 5)])
@pytest.mark.parametrize("ends", [("open", "clamped"), ("periodic", "open"),
                                  ("clamped", "periodic"), ("clamped", "clamped")])
def test_bspline_is_de_boor(ends: Any, shape: Any) -> None:
    P = net(*shape)
    u, _ = (sample := Sample({"type": "bspline", "points": P.tolist(), "ends": ends})).states(20)
    for (s, t), point in zip(u.T, sample.point(u).T, strict=True):
        expected = weights(ends[0], shape[0], s) @ np.tensordot(
            P, weights(ends[1], shape[1], t), (1, 0))
        close(expected, point, 1e-12)


def jets(sample: Sample, u: Any) -> Any:
    """f and its first and second derivatives (3×6) at columns of u."""
    x = ca.SX.sym("u", 2)
    f = sample.surface.point(x, ca.SX(ca.DM(sample.surface.arguments)))
    df = ca.jacobian(f, x)
    return function([x], ca.horzcat(f, df, ca.jacobian(df[:, 0], x), ca.jacobian(df[:, 1], x)))(
        np.array(u, float).T)[0]


@pytest.mark.quick
def test_bspline_is_smooth_across_knots() -> None:
    """C² there and, with `extend` or periodic ends, everywhere; `linear` is C¹ at the ends and
    straight beyond them; periodic coordinates count modulo the number of points."""
    P, eps = net(6, 5).tolist(), 1e-9
    for keys in ({}, {"ends": ["periodic", "open"]}, {"ends": "periodic"}):
        sample = Sample({"type": "bspline", "points": P, **keys})
        knots = [(float(k), 0.3) for k in range(-1, 8)] + [(0.7, float(k)) for k in range(-1, 7)]
        before, after = (jets(sample, np.array(knots) + side) for side in (-eps, eps))
        close(before, after, 1e-7)
    close(jets(sample, [(0.2, 0.7)]), jets(sample, [(6.2, 5.7)]), 1e-12)
    sample = Sample({"type": "bspline", "points": P, "outside": "linear"})
    for side in (-eps, eps):
        close(jets(sample, [(side, 0.4), (1.3, 2 + side)])[:, :3],
              jets(sample, [(0, 0.4), (1.3, 2)])[:, :3], 1e-7)
    close(jets(sample, [(-0.7, 0.3), (3.6, 0.3)])[:, 3], np.zeros((3, 2)), 1e-13)
    a, b, c = sample.point(np.array([[3.0, 3.5, 4.0], [2.5, 2.5, 2.5]])).T
    close(a + c, 2 * b, 1e-13)


@pytest.mark.quick
@pytest.mark.parametrize("keys", [
    {"type": "sphere", "radius": "2*p"}, {"type": "torus", "radius": "p", "tube": "p/3"},
    {"type": "ellipsoid", "a": "p", "b": 0.4, "c": "k*p"}, {"type": "cone", "angle": "p*k"},
    {"type": "paraboloid", "focal": "p"}, {"type": "cylinder", "radius": "p"},
    {"type": "bezier", "points": [[[0, 0, "p"], [0, 1, 0]], [["p**2", 0, 0], [1, 1, "k"]]]},
    {"type": "bspline", "points": [[[f"{i}*p", j, f"p*{(i * j) % 3}"]
                                    for j in range(4)] for i in range(4)]},
    {"type": "formula", "point": ["u*p", "w", "k*u*w + p"]},
], ids=lambda keys: keys["type"])
def test_parameters_are_numbers(keys: Any) -> None:
    """Sizes and control points that depend on p are those of the text at that p."""
    names, values = {"constants": {"k": 0.7}}, {"p": 0.9}
    run_time = Sample(keys, parameters=values, **names)
    constant = Sample(keys, constants={"k": 0.7, **values})
    assert any(isinstance(x, ca.SX) for x in run_time.surface.arguments)
    assert all(isinstance(x, float) for x in constant.surface.arguments)
    u, _ = constant.states(10)
    for a, b in zip(run_time.frame(u), constant.frame(u), strict=True):
        close(a, b, 1e-12)


def test_zeros_of_a_regular_net_fold() -> None:
    """x and y of points on a grid are linear: most coefficients of the patch are zero."""
    P = [[[0.3 * i, 0.7 * j, 0.1 * i * j] for j in range(5)] for i in range(5)]
    surface = Sample({"type": "bezier", "points": P}).surface
    assert np.count_nonzero(surface.arguments) == 8


@pytest.mark.quick
def test_rest_is_regular(sample: Sample) -> None:
    """With a spin about the normal, S has full rank at rest."""
    s = sample.surface
    assert all(a <= x <= b for x, (a, b) in zip(s.rest, s.domain, strict=True))
    R, _, S = sample.frame(np.array(s.rest, float)[:, None])
    spun = np.column_stack([S[:, :, 0], [0, 0, 1, 0, 0, 0]])
    assert np.linalg.svd(spun)[1].min() > 1e-2


def test_poles_are_singular() -> None:
    """There u only turns the frame about the normal, as the spin does."""
    for name, at in (("sphere", (0.3, math.pi / 2)), ("paraboloid", (0.3, 0.0))):
        S = Sample(CASES[f"{name}_0"]).frame(np.array(at)[:, None])[2][:, :, 0]
        spun = np.column_stack([S, [0, 0, 1, 0, 0, 0]])
        assert np.linalg.svd(spun)[1].min() < 1e-12


# -- what can't be a surface -------------------------------------------------------------------

FLAT = [[[i, j, 0] for j in range(4)] for i in range(4)]
SQUARE = [row[:2] for row in FLAT[:2]]


def changed(points: Any, *places: Any) -> Any:
    """Points with some replaced: ((row, column), point)."""
    points = [list(row) for row in points]
    for (i, j), point in places:
        points[i][j] = point
    return points


BAD = {
    "sphere": ({"type": "sphere", "radius": 0}, "radius", "positive"),
    "half axis": ({"type": "ellipsoid", "a": 1, "b": 1, "c": "-k"}, "c", "positive"),
    "tube": ({"type": "torus", "radius": 1, "tube": -1}, "tube", "positive"),
    "degrees": ({"type": "cone", "angle": 30}, "angle", "between 0 and 90"),
    "flat cone": ({"type": "cone", "angle": "pi/2"}, "angle", "between 0 and 90"),
    "focal": ({"type": "paraboloid", "focal": 0}, "focal", "positive"),
    "one row": ({"type": "bezier", "points": SQUARE[:1]}, "points", "at least 2"),
    "one column": ({"type": "bezier", "points": [[[0, 0, 0]], [[1, 0, 0]]]}, "points[0]",
                   "at least 2"),
    "ragged": ({"type": "bezier", "points": [FLAT[0], FLAT[1][:3], FLAT[2]]}, "points[1]",
               "3 points, but 4"),
    "ragged first": ({"type": "bezier", "points": [FLAT[0][:3], *FLAT[1:]]}, "points[0]",
                     "3 points, but 4"),
    "one far away": ({"type": "bezier", "points": changed(
        FLAT, ((1, 1), [1, 1, 1e9]), ((2, 3), [2, 2, 0]))}, "points[2][3]", "in the row"),
    "one point": ({"type": "bezier", "points": [[[1, 2, 3]] * 3] * 3}, "points", "all control"),
    "repeated in a row": ({"type": "bezier", "points": changed(FLAT, ((2, 1), [2, 2, 0]))},
                          "points[2][2]", "in the row"),
    "repeated in a column": ({"type": "bspline", "points": changed(FLAT, ((2, 1), [3, 1, "0*k"]))},
                             "points[3][1]", "in the column"),
    "collapsed row": ({"type": "bezier", "points": [[[0, 0, 0]] * 4, *FLAT[1:]]},
                      "points[0][1]", "in the row"),
    "closed by hand": ({"type": "bspline", "points": [*FLAT, FLAT[0]], "ends": "periodic"},
                       "points[0][0]", "in the column"),
    "in line": ({"type": "bezier", "points": [[[i + 2 * j, 0, 0] for j in range(2)]
                                              for i in range(2)]}, "points", "no normal at"),
    "corner": ({"type": "bezier", "points": changed(SQUARE, ((0, 1), [2, 0, 0]))},
               "points", "no normal at u = 0, w = 0"),
    "fold": ({"type": "bspline", "points": [[[abs(i - 2), j, 0] for j in range(4)]
                                            for i in range(5)], "ends": "open"},
             "points", "no normal at u = 1, w = 0"),
    "few": ({"type": "bspline", "points": [row[:3] for row in FLAT]}, "points[0]",
            "3 points in a row; at least 4"),
    "few periodic": ({"type": "bspline", "points": FLAT[:2], "ends": ["periodic", "open"]},
                     "points", "2 rows; at least 3"),
    "ends": ({"type": "bspline", "points": FLAT, "ends": "natural"}, "ends", "open, clamped"),
    "three ends": ({"type": "bspline", "points": FLAT, "ends": ["open"] * 3}, "ends", "pair"),
    "no outside": ({"type": "bspline", "points": FLAT, "ends": "periodic", "outside": "linear"},
                   "outside", "no outside"),
    "unknown name": ({"type": "formula", "point": ["u", "w", "x"]}, "point[2]", 'unknown name "x"'),
    "no surface": ({"type": "formula", "point": ["u + w", "k*(u + w)", 1]}, "point", "parallel"),
    "one variable": ({"type": "formula", "point": ["u", "u**2", 1]}, "point", 'depend on "w"'),
    "empty": ({"type": "formula", "point": ["u", "w", 1], "domain": [[0, 1], [2, 2]]}, "domain[1]",
              "empty"),
    "outside": ({"type": "formula", "point": ["u", "w", 1], "domain": [[0, 1], [0, 1]],
                 "rest": [0.5, 3]}, "rest[1]", "outside the domain"),
}


ONE = ("one column", "ragged first", "one far away", "one point")


@pytest.mark.quick
@pytest.mark.parametrize("name", BAD)
def test_degenerate_input(name: str) -> None:
    keys, key, message = BAD[name]
    with pytest.raises(aj.ModelError) as e:
        load({"type": "surface", "surface": keys}, parameters={"k": 0.8})
    found = {(p.key, message in p.message) for p in e.value.problems}
    assert (f"bodies.b0.joint.surface.{key}", True) in found, e.value
    assert len(e.value.problems) <= (1 if name in ONE else 4)


def test_nets_without_values_are_reported_once() -> None:
    """A formula with an error is no degenerate patch as well."""
    with pytest.raises(aj.ModelError) as e:
        load({"type": "surface", "surface": {"type": "bezier", "points": changed(
            FLAT, ((1, 1), [1, "x", 0]), ((2, 3), ["1/0", 0, 0]))}})
    assert [p.key.rpartition(".")[2] for p in e.value.problems] == [
        "points[1][1][1]", "points[2][3][0]"]


def test_patches_of_one_kind_share_kernels() -> None:
    """Clamped ends are in the arguments, periodic ones in the formulas."""
    points = net(4, 4)
    kinds = [Sample({"type": "bspline", "points": P.tolist(), **keys}).surface.kind
             for P, keys in ((points, {}), (points * [1, 1.1, 2], {"ends": "open"}),
                             (points, {"ends": "periodic"}), (points, {"outside": "linear"}))]
    assert kinds[0] == kinds[1] and len(set(kinds)) == 3
