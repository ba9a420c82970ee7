"""Constraints: the multipliers against Newton's balance and Gauss' principle, all forms and
algorithms, the least actuation, and what users see."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
import pytest
from typer.testing import CliRunner

import anyjoint as aj
from anyjoint.cli import app
from anyjoint.dynamics.algorithms import FORWARD, INVERSE
from anyjoint.errors import InputError
from constrained import CONSTRAINED, admissible, closed, each, four_bar, model, rows
from mechanisms import COUPLED, Case, call, close
from test_forms import same

quick = pytest.mark.quick
NEW = ("fd_constrained", "id_constrained", "constraint_residual", "xdot")
EQUATIONS = [name for name, method in FORWARD.items() if method.equations is not None]


def gains(m: Any, p: Any) -> tuple[Any, Any]:
    """Factors of rate and φ in the equation of each row, from its time constant."""
    first, second = [], []
    for c in m.constraints:
        T = None if c.time_constant is None else float(ca.DM(ca.substitute(
            c.time_constant, m.p, ca.DM(p))))
        pair = (0, 0) if T is None else (2 / T, 1 / T**2) if c.holonomic else (1 / T, 0)
        first += [pair[0]] * len(c.labels)
        second += [pair[1]] * len(c.labels)
    return np.array(first), np.array(second)


# -- laws -----------------------------------------------------------------------------------


@each(CONSTRAINED)
def test_equations(case: Case) -> None:
    """M a + c = tau + Aᵀ λ, d/dt rate = −2/T rate − φ/T², with A and d/dt by differentiation of
    what constraint_residual says; rate = dφ/dt; fd, fd_ext and xdot have the same a."""
    m = case.m
    for k in range(2):
        s = case.state(k)
        phi, rate, A, bias = rows(case, s)
        a, multipliers = case.call("fd_constrained", s)
        force = np.atleast_1d(multipliers) @ A
        balance = case.call("mass_matrix", s) @ a + case.call("bias", s) - s["tau"]
        close(balance, force, 1e-10)
        first, second = gains(m, s["p"])
        close(A @ a + bias, -first * rate - second * phi, 1e-9)
        close(case.call("fd", s), a, 1e-13)
        qdot = case.call("qdot", s)
        holonomic = np.repeat([c.holonomic for c in m.constraints],
                              [len(c.labels) for c in m.constraints])
        moved = case.rate("constraint_residual", s, {"q": qdot, "v": 0 * a, "p": 0 * s["p"]})[0]
        close(moved, rate * holonomic, 1e-11)
        pushed = case.call("fd_ext", s)
        force = case.call("id_ext", s, {"a": pushed}) - s["tau"]
        close(force - np.linalg.pinv(A) @ A @ force, 0 * force, 1e-9, np.abs(force).max())
        close(A @ pushed, A @ a, 1e-9)
        if m.u_names == m.v_names:
            x = np.concatenate([s["q"], s["v"]])
            close(case.call("xdot", s | {"x": x, "u": s["tau"]}), [*qdot, *a], 1e-12)


@each(CONSTRAINED)
def test_gauss(case: Case) -> None:
    """Of all accelerations that are allowed, a is the nearest to that without constraints, in the
    norm of M; and the forces of constraints without `equals` and error do no work."""
    s = admissible(case, case.state())
    free = aj.loads(json.dumps({**case.doc, "constraints": {}}))
    s0 = call(free.function("fd"), s)
    a, multipliers = case.call("fd_constrained", s)
    M, (_, _, A, _) = case.call("mass_matrix", s), rows(case, s)
    null = np.linalg.svd(A)[2][len(A):]
    close(null @ M @ (a - s0), 0 * null[:, 0], 1e-10, np.abs(M @ a).max())
    at_rest = case.call("constraint_residual", s | {"v": 0 * s["v"]})[1]
    works = np.atleast_1d(at_rest) == 0  # rate = A v − e
    close((np.atleast_1d(multipliers) * works) @ A @ s["v"], 0, 1e-11, np.abs(multipliers).max())


@each(CONSTRAINED)
@pytest.mark.parametrize("name", NEW)
def test_forms(case: Case, name: str) -> None:
    """Rolled and inlined are the same, baked and unbaked too."""
    s, m = case.state(), case.m
    s |= {"x": np.concatenate([s["q"], s["v"]]), "u": s["tau"][: m.nu]}
    inlined = case.call(name, s)
    same(call(m.function(name, form="rolled"), s), inlined, 1e-10)
    same(call(case.baked.function(name), s | {"p": np.zeros(0)}),
         case.call(name, s | {"p": m.p0}), 1e-9)


@each([CONSTRAINED[1], *CONSTRAINED[5:]])
@pytest.mark.parametrize("algorithm", EQUATIONS)
def test_algorithms_agree(case: Case, algorithm: str) -> None:
    s = case.state()
    f = case.m.function("fd_constrained", algorithm=algorithm)
    same(call(f, s), case.call("fd_constrained", s), 1e-9)


@quick
def test_those_that_can() -> None:
    m = CONSTRAINED[0].m
    for algorithm in FORWARD.keys() - {*EQUATIONS}:
        for name in ("fd", "fd_constrained", "xdot", "fd_ext"):
            with pytest.raises(InputError, match=f"{name}: {algorithm} can't do a mechanism with "
                                                 f"constraints; {', '.join(EQUATIONS)} can"):
                m.function(name, algorithm=algorithm)
    with pytest.raises(InputError, match="abc"):
        m.function("fd_constrained", algorithm="abc")


# -- inverse dynamics -----------------------------------------------------------------------------


@each(CONSTRAINED)
def test_least_actuation(case: Case) -> None:
    """fd of the tau that id_constrained finds for an admissible a is a; of all tau that do it, it
    is the smallest."""
    s = admissible(case, case.state())
    plain = Case("plain", json.loads(case.text))
    for c in plain.doc["constraints"].values():
        c.pop("time_constant", None)  # errors of φ would ask for more
    for algorithm in INVERSE if case.id == "egg_on_egg" else ("rnea",):
        tau, multipliers = case.call("id_constrained", s, algorithm=algorithm)
        close(plain.call("fd", s | {"tau": tau}), s["a"], 1e-8)
        A = rows(case, s)[2]
        close(tau + np.atleast_1d(multipliers) @ A, case.call("id", s), 1e-10)
        close(A @ tau, 0 * A[:, 0], 1e-9, np.abs(tau).max())  # so it is the smallest


@quick
def test_one_motor() -> None:
    """A four-bar with a motor at one hinge, of two in a row, and of a body that it can't hold."""
    loop = four_bar({"type": "point", "directions": ["x", "z"]})
    motor = Case("motor", {**loop.doc, "actuators": {"m": {"joint": "c", "gear": 50}}})
    s = closed(loop, loop.state())
    tau, _ = motor.call("id_constrained", s)
    close(tau[:2], [0, 0], 1e-10)
    close(loop.call("fd", s | {"tau": tau}), s["a"], 1e-8)
    two = Case("two", {**loop.doc, "actuators": {"m": {"joint": "c", "gear": 2}, "n": {
        "joint": "a"}}})
    tau, multipliers = two.call("id_constrained", s)
    A, B = rows(loop, s)[2], np.array([[0, 1], [0, 0], [2, 0]])
    u = np.linalg.pinv(np.linalg.svd(A)[2][2:] @ B) @ (np.linalg.svd(A)[2][2:] @ loop.call("id", s))
    close(tau, B @ u, 1e-9)
    close(tau + multipliers @ A, loop.call("id", s), 1e-10)
    open_chain = Case("open", {**motor.doc, "constraints": {}})
    with pytest.raises(InputError, match="act on 1 of its 3 velocities; id gives"):
        open_chain.m.function("id_constrained")


@quick
def test_none() -> None:
    """A mechanism without constraints has no multipliers."""
    case = COUPLED[0]
    s = case.state()
    a, multipliers = case.call("fd_constrained", s)
    tau, none = case.call("id_constrained", s)
    close(a, case.call("fd", s), 1e-10)
    close(tau, case.call("id", s), 1e-10)
    assert np.size(multipliers) == np.size(none) == 0 and case.m.lambda_names == ()


# -- compiled, shown, written in short ------------------------------------------------------------


@quick
def test_compiled(tmp_path: Path) -> None:
    case = CONSTRAINED[5]
    s = case.state()
    lib = aj.compile(case.m, tmp_path, NEW)
    assert lib.lambda_names == lib.manifest["model"]["lambda_names"] == ["gear", "cam", "knife"]
    s |= {"x": np.concatenate([s["q"], s["v"]]), "u": s["tau"]}
    for name in NEW:
        same(call(lib[name].function, s), case.call(name, s), 1e-10)
    header = (tmp_path / f"{case.m.name}.h").read_text()
    assert "FORMULAS_LAMBDA_KNIFE = 2" in header and "constraint forces" in header


@quick
def test_shown(tmp_path: Path) -> None:
    file = tmp_path / "m.yaml"
    for case in (CONSTRAINED[3], CONSTRAINED[4], CONSTRAINED[5]):
        file.write_text(case.text)
        shown = CliRunner().invoke(app, ["show", str(file)]).stdout
        for name in case.m.lambda_names:
            assert name in shown
    assert "a = (-2*c) · b.angle + c" in shown and "c*sin(b.x) - b.y*a**2 = 0" in shown
    plain = CliRunner().invoke(app, ["show", "--output-format", "json", str(file)]).stdout
    assert json.loads(plain)["constraints"]["gear"] == "a = (-2*c) · b.angle + c"


@quick
def test_repeat() -> None:
    bodies = {"w<k>": {"repeat": {"k": [1, 4]}, "parent": "world", "joint": {"type": "revolute"},
                       "mass": 1, "inertia": [1, 1, 1]}}
    m = model(bodies, {"g<k>": {"repeat": {"k": [2, 4]}, "type": "equality", "ratio": "<k>",
                                "coordinates": ["w<k>", "w<k-1>"]}}).m
    assert m.lambda_names == ("g2", "g3", "g4")
    close(call(m.function("fd"), {"q": [0] * 4, "v": [0] * 4, "tau": [1, 0, 0, 0], "p": []}),
          np.array([1, 2, 6, 24]) / (1 + 4 + 36 + 576), 1e-13)


@pytest.mark.quick
def test_formulas_that_end_near_rest() -> None:
    """What is sampled near rest to check actuation need not be finite there."""
    slide = {"type": "prismatic", "axis": "x"}
    case = model({"a": {"parent": "world", "mass": 1, "joint": {**slide, "rest": 0.05}},
                  "b": {"parent": "world", "mass": 2, "joint": {**slide, "rest": 0.05**0.5}}},
                 {"c": {"type": "holonomic", "formula": "sqrt(a) - b"}})
    m = case.m
    a = np.array([1.0, 0.5 / 0.05**0.5])  # at v = 0
    tau, force = m.function("id_constrained")(m.q0, [0, 0], a, [])
    again, same = m.function("fd_constrained")(m.q0, [0, 0], tau, [])
    close(again, a, 1e-9)
    close(same, force, 1e-9)
    m.function("hybrid", prescribed=["a"])
