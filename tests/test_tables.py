"""Tables: `spline(x, table)` in formulas, and a knee made of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
import pytest
from scipy.interpolate import CubicSpline

import anyjoint as aj
from anyjoint.frontend import evaluation, formula
from anyjoint.geometry.tables import Table, interpolate
from mechanisms import MODELS, Case, close, single

KNEE = (MODELS / "knee_tables.yaml").read_text()
ENDS, OUTSIDE = ("not_a_knot", "natural", "opensim"), ("extend", "linear", "periodic")


def points(n: int) -> tuple[Any, Any]:
    """Uneven points of a closed table."""
    rng = np.random.default_rng(n)
    x, y = np.cumsum(rng.uniform(0.2, 1, n)) - 2, rng.standard_normal(n)
    return x, np.array([*y[:-1], y[0]])


def derivatives(table: Table, x: Any) -> list[Any]:
    """y, y′ and y″ by differentiation of the SX expression, at all x."""
    s = ca.SX.sym("s")
    y = table(s)
    first = ca.jacobian(y, s)
    f = ca.Function("f", [s], [y, first, ca.jacobian(first, s)])
    return [np.array(out).ravel() for out in f.map(len(x))(np.array(x)[None])]


@pytest.mark.quick
@pytest.mark.parametrize("n", [2, 3, 4, 5, 12, 60])
@pytest.mark.parametrize("ends", ["not_a_knot", "natural", "periodic"])
def test_scipy_agrees(n: int, ends: str) -> None:
    if ends == "periodic" and n < 3:
        return
    x, y = points(n)
    outside = "periodic" if ends == "periodic" else "extend"
    table = interpolate(x, y, "natural" if ends == "periodic" else ends, outside)
    theirs = CubicSpline(x, y, bc_type=ends.replace("_", "-"))
    beyond = 3.0 if ends == "periodic" else 0.3
    u = np.concatenate([x, np.linspace(x[0] - beyond, x[-1] + beyond, 101)])
    tolerance = 1e-12 * np.abs(theirs(u, 2)).max(initial=1)
    close([table(float(v)) for v in u], theirs(u), tolerance)
    for order, ours in enumerate(derivatives(table, u[n:])):
        close(ours, theirs(u[n:], order), 10 * tolerance)


def simm_spline(x: Any, y: Any) -> Any:
    """y″ at the points by the conditions that OpenSim's SimmSpline has: y‴ of the first and last
    piece is that of the cubic through the four outermost points."""
    h, n = np.diff(x), len(x)
    rows, rhs = np.zeros((n, n)), np.zeros(n)
    for k in range(1, n - 1):
        rows[k, k - 1 : k + 2] = h[k - 1] / 6, (h[k - 1] + h[k]) / 3, h[k] / 6
        rhs[k] = (y[k + 1] - y[k]) / h[k] - (y[k] - y[k - 1]) / h[k - 1]
    for row, columns, size in ((0, [0, 1], h[0]), (n - 1, [n - 2, n - 1], h[-1])):
        some = slice(0, 4) if row == 0 else slice(n - 4, n)
        rows[row, columns] = -1 / size, 1 / size
        rhs[row] = 6 * np.polyfit(x[some], y[some], 3)[0] if n > 3 else 0
    return np.linalg.solve(rows, rhs)


@pytest.mark.parametrize("n", [3, 4, 5, 12])
def test_ends_of_opensim(n: int) -> None:
    x, y = points(n)
    table = interpolate(x, y, "opensim")
    ours = derivatives(table, x)
    close(ours[0], y, 1e-12)
    close(ours[2], simm_spline(x, y), 1e-9)
    if n == 4:  # one cubic through all
        u = np.linspace(-3, 3, 20)
        close(derivatives(table, u)[0], np.polyval(np.polyfit(x, y, 3), u), 1e-9)


@pytest.mark.parametrize("outside", OUTSIDE)
@pytest.mark.parametrize("ends", ENDS)
def test_smooth(ends: str, outside: str) -> None:
    """C² at the points; at the ends too, but for the curvature of `linear`."""
    x, y = points(9)
    table = interpolate(x, y, ends, outside)
    close(derivatives(table, x)[0], y, 1e-12)
    inner = x[1:-1] if outside == "linear" else x
    step = 1e-9
    for before, after in zip(derivatives(table, inner - step), derivatives(table, inner + step),
                             strict=True):
        close(before, after, 1e-6)
    if outside == "linear":
        before, after = derivatives(table, x - step), derivatives(table, x + step)
        close(before[1], after[1], 1e-6)
        for far in (x[0] - 2, x[-1] + 3):
            assert derivatives(table, [far])[2] == 0
    if outside == "periodic":
        length = x[-1] - x[0]
        u = np.linspace(-5, 5, 30)
        for a, b in zip(derivatives(table, u), derivatives(table, u + 3 * length), strict=True):
            close(a, b, 1e-9)


@pytest.mark.parametrize("outside", OUTSIDE)
def test_numbers_and_symbols_are_the_same(outside: str) -> None:
    x, y = points(7)
    table = interpolate(x, y, outside=outside)
    env = {"table t": table, "k": 0.5}
    text = formula.parse("2*spline(v - k, t) + k")
    assert text.names == {"v", "k", "table t"}
    kinds: list[Any] = [ca.SX, ca.MX]
    for kind in kinds:
        v = kind.sym("v")
        f = ca.Function("f", [v], [evaluation.evaluate(text, {**env, "v": v})])
        for value in (*(x + 0.5), *np.linspace(-6.0, 8, 40)):
            number = evaluation.evaluate(text, {**env, "v": float(value)})
            assert type(number) is float and float(f(value)) == number


def test_growth() -> None:
    """At most 18 instructions for each point, and none for its derivatives."""
    s = ca.SX.sym("s")
    sizes = []
    for n in (20, 40):
        y = interpolate(*points(n))(s)
        value, both = (ca.Function("f", [s], ca.cse(out)) for out in ([y], [y, ca.jacobian(y, s)]))
        sizes.append((value.n_instructions(), both.n_instructions() - value.n_instructions()))
    assert sizes[1][0] - sizes[0][0] <= 18 * 20
    assert sizes[0][1] == sizes[1][1]


# -- in model files --------------------------------------------------------------------------

TABLES = {"wave": {"x": [-2, "-k", 0, 1.5, 2], "y": [0.1, 0.4, "k/2", 0.3, 0.1],
                   "outside": "periodic"},
          "ramp": {"x": [-1, 0, 0.5, 2], "y": [0.3, 0.2, "c", -0.4], "ends": "natural"}}
NAMES = {"constants": {"k": 1, "c": "spline(k, other)"}, "parameters": {"r": 0.8}}
JOINT = {"type": "formula", "coordinates": {"s": 0.3, "t": 0.1}, "arguments": {"L": "r"},
         "transform": [{"shift": ["L*spline(s, wave)", "spline(r*s + t, ramp)", "t"]},
                       {"rotx": "spline(s, ramp)"}, {"rotz": "s"}, {"roty": "spline(s, wave)"}]}


def document(joint: Any, bodies: int = 1) -> Any:
    other = {"other": {"x": [0, 1, "2*k"], "y": [1, 0.1, 2], "outside": "linear"}}
    return single(joint, bodies) | NAMES | {"tables": TABLES | other}


def test_tables_and_constants_use_each_other() -> None:
    m = aj.loads(json.dumps(document({"type": "revolute", "rest": "c + spline(3*k, wave)"})))
    x, y = np.array([-2, -1, 0, 1.5, 2]), [0.1, 0.4, 0.5, 0.3, 0.1]
    close(m.q0, 0.1 + CubicSpline(x, y, bc_type="periodic")(-1.0))


CASES = [Case("joint", document(JOINT)), Case("twice", document(JOINT, 2)), Case("knee", KNEE)]


@pytest.mark.quick
@pytest.mark.parametrize("case", CASES, ids=lambda c: c.id)
def test_subspace_and_bias(case: Case) -> None:
    """J and J̇ v of the last body against differences of its pose and of J v."""
    m, frame = case.m, case.m.body_names[-1]
    for k in range(5):
        s, h = case.state(k), 1e-5
        q, v = s["q"], s["v"]
        J, bias = (case.call(name, s, frame=frame, reference="body")
                   for name in ("frame_jacobian", "frame_bias"))

        def pose(q: Any, p: Any = s["p"]) -> Any:
            return np.array(case.f("poses")(q=q, p=p)[frame])

        J = np.reshape(J, (6, m.nv), order="A")
        for i, e in enumerate(np.eye(m.nv)):
            W = np.linalg.solve(pose(q), (pose(q + h * e) - pose(q - h * e)) / (2 * h))
            close(J[:, i], [W[2, 1], W[0, 2], W[1, 0], *W[:3, 3]], 1e-8)
        V = [case.call("frame_velocity", s, {"q": q + d * v}, frame=frame, reference="body")
             for d in (h, -h)]
        close(bias, (V[0] - V[1]) / (2 * h), 1e-4)  # y‴ jumps at the points


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.id)
def test_energy_and_lagrange(case: Case) -> None:
    """Several rotations share one coordinate: d(T + V)/dt = τᵀv, and Lagrange's equations
    d/dt ∂T/∂v − ∂T/∂q + ∂V/∂q = τ by differentiation of the energies."""
    m = case.m
    q, v, a = (ca.SX.sym(n, m.nv) for n in "qva")
    p = ca.SX.sym("p", m.np)
    T, V = case.f("energy")(q, v, p)
    momentum = ca.gradient(T, v)
    tau = ca.jtimes(momentum, ca.vertcat(q, v), ca.vertcat(v, a)) - ca.gradient(T - V, q)
    f = ca.Function("f", [q, v, a, p], [tau])
    for k in range(5):
        s = case.state(k)
        acceleration = case.call("fd", s)
        close(f(s["q"], s["v"], acceleration, s["p"]), s["tau"], 1e-9)
        rates = case.rate("energy", s, {"q": s["v"], "v": acceleration})
        close(sum(rates), s["v"] @ s["tau"], 1e-10, max(1, *map(abs, rates)))


def test_curve_by_tables() -> None:
    """A formula curve may use tables; S of a Frenet frame would jump, if they depend on u."""
    joint: Any = {"type": "curve", "frame": "up", "curve": {
        "type": "formula", "point": ["u", "r*spline(u, wave)", "spline(k, ramp)*u**2"]}}
    doc = document(joint)
    del doc["bodies"]["b0"]["child_origin"]
    case = Case("curve", doc)
    s = case.state()
    x, y = [-2, -1, 0, 1.5, 2], [0.1, 0.4, 0.5, 0.3, 0.1]
    slope = s["p"][0] * CubicSpline(x, y, bc_type="periodic")(s["q"][0], 1)
    rise = 2 * s["q"][0] * CubicSpline([-1, 0, 0.5, 2], [0.3, 0.2, 0.1, -0.4],
                                       bc_type="natural")(1.0)
    V = case.call("frame_velocity", s, {"v": [1.0]}, frame="b0", reference="body")
    close(V[3:], [np.sqrt(1 + slope**2 + rise**2), 0, 0], 1e-9)
    with pytest.raises(aj.ModelError, match="third derivative of a table"):
        aj.loads(case.text.replace('"up"', '"frenet"'))
    curved = case.text.replace("spline(u, wave)", "cos(u)")
    aj.loads(curved.replace('"up"', '"frenet"'))


def test_include(tmp_path: Path) -> None:
    (tmp_path / "part.yaml").write_text("constants: {k: 2}\ntables: {t: {x: [0, k], y: [1, 5]}}")
    rest = "spline(1, t) + spline(1, s)"
    (tmp_path / "m.yaml").write_text(
        "anyjoint: 1\nname: m\ninclude: part.yaml\ntables: {s: {x: [0, 1], y: [0, k]}}\n"
        f"bodies: {{a: {{parent: world, joint: {{type: prismatic, rest: '{rest}'}}, mass: 1}}}}")
    close(aj.load(tmp_path / "m.yaml").q0, 5)


def test_kinds_differ_by_their_tables() -> None:
    """Two bodies whose joints look alike but for a table's numbers."""
    joint: Any = {"type": "formula", "coordinates": {"s": 0}}
    doc = single(joint | {"transform": [{"shift": [0, 0, "spline(s, a)"]}]}, 2)
    doc["bodies"]["b1"]["joint"]["transform"] = [{"shift": [0, 0, "spline(s, b)"]}]
    doc["tables"] = {"a": {"x": [0, 1], "y": [0, 1]}, "b": {"x": [0, 1], "y": [0, 5]}}
    m = aj.loads(json.dumps(doc))
    J = [np.array(m.function("frame_jacobian", frame=f"b{i}", reference="body")(m.q0, []))[3:, i]
         for i in (0, 1)]
    close(np.linalg.norm(J[0]), 1)
    close(np.linalg.norm(J[1]), 5)


def test_knee_of_opensim() -> None:
    """At the points of its tables the shank is where they say."""
    m = aj.loads(KNEE)
    tables = m.document.spec.tables
    for angle, ty in zip(tables["knee_ty"].x, tables["knee_ty"].y, strict=True):
        G = np.array(m.function("poses")(q=[0, -angle], p=[])["shank"])
        assert G[2, 3] == pytest.approx(1 + ty)
    straight = np.array(m.function("poses")(q=m.state("standing"), p=[])["shank"])
    close(straight[:3, :3], [[1, 0, 0], [0, 0, -1], [0, 1, 0]], 1e-12)


# -- errors ------------------------------------------------------------------------------------

HEAD = "anyjoint: 1\nname: m\nparameters: {p: 1}\nconstants: {c: %s}\ntables:\n  t: {%s}\n" \
    "bodies: {a: {parent: world, joint: {type: prismatic}, mass: 'spline(1, t)'}}\n"
GOOD = "x: [0, 1, 2], y: [3, 4, 3]"
BAD: dict[tuple[str, str], tuple[str, str]] = {  # (constant, keys of the table): (key, message)
    ("1", "x: [0, 2, 1], y: [1, 2, 3]"): ("tables.t.x[2]", "x must increase: 1 follows 2"),
    ("2", "x: [0, c, 2], y: [1, 2, 3]"): ("tables.t.x[2]", "x must increase: 2 follows 2"),
    ("1", "x: [0, 1, 2], y: [1, 2]"): ("tables.t.y", "2 values of y for 3 of x"),
    ("1", "x: [0], y: [1, 2]"): ("tables.t.x", "at least 2 items"),
    ("1", "x: [0, 1], y: [1, 1], outside: periodic"): ("tables.t.x", "at least 3 points"),
    ("1", "x: [0, 1, 2], y: [1, 2, 3], outside: periodic"): ("tables.t.y[2]", "ends at 3, but"),
    ("1", GOOD + ", outside: periodic, ends: natural"): ("tables.t.ends", "no ends"),
    ("1", GOOD + ", outside: clamp"): ("tables.t.outside", "'extend', 'linear' or 'periodic'"),
    ("1", "x: [0, 1], y: [1, p]"): ("tables.t.y[1]", "depends on the run-time p"),
    ("2*p", "x: [0, 1], y: [1, c]"): ("tables.t.y[1]", "depends on the run-time c"),
    ("1", "x: [0, 1], y: [1, zz]"): ("tables.t.y[1]", 'unknown name "zz"'),
    ("1", "x: [0, 1], y: [1, 1/0]"): ("tables.t.y[1]", "division by zero"),
    ("1", "x: [0, 1], y: [1, 'spline(1, t)']"): ("tables.t.y[1]", "can't use tables"),
    ("'spline(1, t)'", "x: [0, 1], y: [1, c]"): ("constants.c", "c → table t → c"),
    ("'spline(1, tt)'", GOOD): ("constants.c", 'unknown table "tt"'),
    ("'spline(p, c)'", GOOD): ("constants.c", 'unknown table "c"'),
    ("2*t", GOOD): ("constants.c", '"t" is a table'),
    ("'spline(1, 2)'", GOOD): ("constants.c", "takes the name of a table"),
    ("'spline(1, pi)'", GOOD): ("constants.c", "takes the name of a table"),
    ("'spline(t, 1)'", GOOD): ("constants.c", "takes the name of a table"),
    ("spline(1)", GOOD): ("constants.c", "takes 2 argument(s), not 1"),
    ("1", GOOD + "}\n  sin: {" + GOOD): ("tables.sin", "already a function"),
    ("1", GOOD + "}\n  1a: {" + GOOD): ("tables.1a", "no identifier"),
}


@pytest.mark.quick
@pytest.mark.parametrize("given", BAD, ids=lambda given: given[1][:40] + " " + given[0])
def test_bad_table(given: tuple[str, str]) -> None:
    with pytest.raises(aj.ModelError) as caught:
        aj.loads(HEAD % given)
    key, message = BAD[given]
    assert [p.key for p in caught.value.problems] == [key], caught.value
    assert message in caught.value.problems[0].message and caught.value.problems[0].place


def test_bad_table_in_a_joint() -> None:
    text = json.dumps(document(JOINT)).replace("spline(s, ramp)", "spline(s, rapm) + wave", 1)
    with pytest.raises(aj.ModelError) as caught:
        aj.loads(text)
    (problem,) = caught.value.problems
    assert problem.key == "bodies.b0.joint.transform[1].rotx"
    assert problem.message == 'unknown table "rapm"' and 'mean "ramp"' in problem.hint
