"""Uniform cubic B-splines in SX: against Cox–de Boor, C² at the knots, beyond the ends, cost."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np
import pytest

from anyjoint.geometry import splines

KINDS = ("open", "clamped", "periodic")
SIZES = [(kind, n) for kind in KINDS for n in (3, 4, 5, 6, 9, 10, 11, 16, 23, 50)
         if n > 3 or kind == "periodic"]
pytestmark = pytest.mark.quick


def control_points(n: int, d: int = 3) -> Any:
    return np.random.default_rng(n).standard_normal((d, n))


def expression(kind: str, u: Any, P: Any, **options: Any) -> Any:
    """The spline of control points P (d×n, SX or numbers) at u, as the curves make it."""
    T = ca.DM(splines.clamped(P.shape[1])) if kind == "clamped" else ca.DM.eye(P.shape[1])
    return splines.cubic(u, ca.SX(P) @ T, kind == "periodic", **options)


def function(kind: str, P: Any, order: int = 3, **options: Any) -> ca.Function:
    """u → the spline and its derivatives up to `order`."""
    u = ca.SX.sym("u")
    out = [expression(kind, u, P, **options)]
    for _ in range(order):
        out.append(ca.jacobian(out[-1], u))
    return ca.Function("f", [u], out)


def evaluate(f: ca.Function, u: float) -> Any:
    return np.array([np.array(x).ravel() for x in f(u)])


def knots(kind: str, n: int) -> list[int]:
    """Knots of n control points, with 0 the start; periodic: of n + 3."""
    if kind == "clamped":
        return [0] * 3 + list(range(n - 2)) + [n - 3] * 3
    return list(range(-3, (n + 3 if kind == "periodic" else n) + 1))


def cox_de_boor(i: int, k: int, x: float, t: list[int], order: int = 0) -> float:
    """Derivative of the given order of the i-th B-spline of degree k on the knots t, at x."""
    if k == 0:
        return float(t[i] <= x < t[i + 1])
    total = 0.0
    for j, sign in ((i, 1), (i + 1, -1)):
        if width := t[j + k] - t[j]:
            lower = cox_de_boor(j, k - 1, x, t, max(order - 1, 0)) / width
            total += sign * lower * (k if order else x - t[i if sign > 0 else j + k])
    return total


def reference(kind: str, P: Any, x: float, order: int = 0) -> Any:
    t = knots(kind, P.shape[1])
    if kind == "periodic":
        x %= P.shape[1]
        P = np.hstack([P, P[:, :3]])
    return P @ [cox_de_boor(i, 3, x, t, order) for i in range(P.shape[1])]


def segments(kind: str, n: int) -> int:
    return n if kind == "periodic" else n - 3


@pytest.mark.parametrize(("kind", "n"), SIZES)
def test_is_cox_de_boor(kind: str, n: int) -> None:
    """Value and three derivatives."""
    P, end = control_points(n), segments(kind, n)
    f = function(kind, P)
    for x in (*range(end), *np.random.default_rng(1).uniform(0, end, 30)):
        expected = [reference(kind, P, x, order) for order in range(4)]
        assert np.abs(evaluate(f, x) - expected).max() < 1e-12


@pytest.mark.parametrize("n", [4, 5, 12])
def test_is_casadis(n: int) -> None:
    """Clamped, ends included, against another's code."""
    P, t = control_points(n), [float(x) for x in knots("clamped", n)]
    other, f = ca.Function.bspline("b", [t], P.T.ravel().tolist(), [3], 3), function("clamped", P)
    for x in np.linspace(0, n - 3, 40):
        assert np.abs(np.array(other(x)).ravel() - evaluate(f, x)[0]).max() < 1e-14
    assert np.abs(evaluate(f, 0)[0] - P[:, 0]).max() < 1e-14
    assert np.abs(evaluate(f, n - 3)[0] - P[:, -1]).max() < 1e-14


@pytest.mark.parametrize(("kind", "n"), SIZES)
def test_smooth_at_knots(kind: str, n: int) -> None:
    """Value, first and second derivative are the same from both sides; the third jumps."""
    f, end = function(kind, control_points(n)), segments(kind, n)
    inner = range(end + 1) if kind == "periodic" else range(1, end)
    for knot in inner:
        left, right = evaluate(f, knot - 1e-14), evaluate(f, knot + 1e-14)
        assert np.abs(left - right)[:3].max() < 1e-12
        assert np.abs(left - right)[3].max() > 1e-2


@pytest.mark.parametrize(("kind", "n"), [(k, n) for k, n in SIZES if k != "periodic"])
def test_outside(kind: str, n: int) -> None:
    """extend: the outermost cubics go on; linear: their tangents, and inside nothing changes."""
    P = control_points(n)
    extended, linear = function(kind, P), function(kind, P, linear=True)
    for x in np.random.default_rng(2).uniform(0, n - 3, 20):
        assert np.array_equal(evaluate(extended, x)[:1], evaluate(linear, x)[:1])
        assert np.abs(evaluate(extended, x) - evaluate(linear, x)).max() < 1e-13
    for end, inside, sign in ((0, 0.5, -1), (n - 3, n - 3.5, 1)):
        derivatives = evaluate(extended, inside)
        at_end = evaluate(linear, end)
        for distance in (0.1, 1.7, 20.0):
            x = end + sign * distance
            taylor = sum(d * (x - inside) ** k / (1, 1, 2, 6)[k] for k, d in enumerate(derivatives))
            got = evaluate(extended, x)
            assert np.abs(got[0] - taylor).max() < 1e-12 * np.abs(taylor).max() * distance
            assert np.abs(got[3] - derivatives[3]).max() < 1e-12
            line = [at_end[0] + sign * distance * at_end[1], at_end[1], 0 * at_end[1]]
            assert np.abs(evaluate(linear, x)[:3] - line).max() < 1e-12


@pytest.mark.parametrize("n", [3, 7, 20])
def test_periodic(n: int) -> None:
    f = function("periodic", control_points(n))
    for x in (0.0, 0.3, n - 0.5, -1e-17, n - 1e-17):
        for turns in (-3, -1, 1, 2, 100):
            assert np.abs(evaluate(f, x + turns * n) - evaluate(f, x))[:3].max() < 1e-11


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("d", [1, 3, 6])
@pytest.mark.parametrize("parametric", [False, True])
def test_cost(kind: str, d: int, parametric: bool) -> None:
    """At most 9 d instructions for each further control point, and none for its derivatives."""
    total, extra = [], []
    for n in (10, 100):
        u = ca.SX.sym("u")
        P = ca.SX.sym("P", d, n) if parametric else control_points(n, d)
        inputs = [u, P] if parametric else [u]
        out = [expression(kind, u, P)]
        total.append(ca.Function("f", inputs, ca.cse(out)).n_instructions())
        for _ in range(3):
            out.append(ca.jacobian(out[-1], u))
        extra.append(ca.Function("f", inputs, ca.cse(out)).n_instructions() - total[-1])
    assert total[1] - total[0] <= 9 * d * 90
    assert abs(extra[1] - extra[0]) <= 2  # constants that n = 10 happens to share


def test_planar_splines_stay_planar() -> None:
    """A row of zeros costs nothing."""
    P = ca.sparsify(ca.vertcat(ca.SX(control_points(20)[:2]), ca.SX(1, 20)))
    assert splines.cubic(ca.SX.sym("u"), P).nnz() == 2
