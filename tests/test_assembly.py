"""Rest and states that don't meet the constraints or where they lose rank, no motion left; and what
`assembled` and `consistent` find."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
import yaml

import anyjoint as aj
from anyjoint.errors import InputError
from constrained import CONSTRAINED, model
from loops import PLANE, TIPS, bars, check, suggested, with_
from mechanisms import MODELS, Case, Doc, close, over

# -- rest and states ------------------------------------------------------------------------------


@pytest.mark.quick
def test_not_met() -> None:
    """A rest and a state that don't meet the constraints: one warning each, with values which,
    pasted, do; another state that inherits the error is not told of."""
    states = {"open": {"a": 0.5, "b": 1.0}, "same": {"a": 0.2}}
    case = model(bars((0.5, 0.7, 0.6), 0.8, (0.2, 1.1, 0.1)), {
        "pin": PLANE.doc["constraints"]["pin"]}, states=states)
    rest, state = check(case)
    assert rest.key == "constraints.pin" and state.key == "states.open"
    phi = case.call("constraint_residual", {"q": case.m.q0, "v": [0, 0, 0], "p": []})[0]
    assert f'at rest the constraints are not met: the frames of "pin" are ' \
           f"{np.linalg.norm(phi):.3g} m apart" == rest.message
    assert "in this state the constraints are not met" in state.message
    values = [yaml.safe_load(p.hint[p.hint.index("{"):]) for p in (rest, state)]
    close([values[0][n] for n in "abc"], case.m.assembled(), 1e-8)
    fixed = with_(case, case.doc["constraints"], [values[0][n] for n in "abc"],
                  states={"open": values[1]})
    assert check(fixed) == [] == aj.check(fixed.m, ranges=False)
    close(fixed.m.state("open"), case.m.assembled(case.m.state("open")), 1e-8)


@pytest.mark.quick
def test_shown() -> None:
    """As a user sees it."""
    text = (MODELS / "four_bar_loop.yaml").read_text().replace("rest: at_rocker", "rest: 2")
    (problem,) = aj.check(aj.loads(text), ranges=False)
    assert problem.place and "pin:" in problem.place.text and problem.severity == "warning"
    assert re.search(r"rest values: \{crank: [\d.]+, coupler: -?[\d.]+, rocker: [\d.]+\}",
                     problem.hint)
    full = text.replace("rest: 2", "rest: at_rocker").replace("directions: [x, z], ", "")
    (problem,) = aj.check(aj.loads(full))
    assert suggested(problem) == ["x", "z"] and problem.key == "constraints.pin"


def test_other_errors() -> None:
    """Formulas, turns, and frames that are turned half around, where φ is zero too."""
    case = with_(PLANE, {"gear": {"type": "equality", "coordinates": ["b", "a"], "offset": 3}})
    (problem,) = check(case)
    assert re.search('not met: "gear" is off by -[0-9.]+$', problem.message)
    ball = model({"b": {"parent": "world", "joint": {"type": "free", "rest": {"x": 1, "qw": 0.9,
                                                                             "qz": 0.3}},
                        "mass": 1, "inertia": [1, 1, 1]},
                  "c": {"parent": "b", "joint": {"type": "revolute"}, "mass": 1,
                        "inertia": [1, 1, 1]}},
                 {"weld": {"type": "frame", "from": "world", "to": "b"}})
    (problem,) = check(ball)
    assert re.search(r'"weld" are 1 m apart and turned by 0\.\d+ rad$', problem.message)
    values = yaml.safe_load(problem.hint[problem.hint.index("{"):])
    assert values["b.qw"] == pytest.approx(1) and values["b.x"] == pytest.approx(0)
    half = with_(ball, ball.doc["constraints"])
    half.doc["bodies"]["b"]["joint"]["rest"] = {"qw": 0, "qx": 0.6, "qz": 0.8}
    (problem,) = check(half)
    assert '"weld" are turned half around' in problem.message and "{" in problem.hint
    q = half.m.assembled()
    close(np.abs(q[list(half.m.q_names).index("b.qw")]), 1, 1e-9)


@pytest.mark.quick
def test_singular() -> None:
    """A four-bar stretched flat, and a parallelogram in line: singular there, not elsewhere."""
    pin = {"pin": {"type": "point", **TIPS, "directions": ["x", "z"]}}
    flat = model(bars((0.5, 0.7, 0.4), 0.8, (np.pi / 2, 0, np.pi / 2)), pin)
    (problem,) = check(flat)
    assert problem.key == "constraints.pin"
    assert problem.message == "singular at rest: the constraints have rank 1 here, 2 elsewhere"
    line = model(bars((0.5, 0.8, 0.5), 0.8, (0.3, np.pi / 2 - 0.3, 0.3)), pin,
                 states={"line": {"a": np.pi / 2, "b": 0, "c": np.pi / 2}})
    (problem,) = check(line)
    assert problem.key == "states.line" and "singular in this state" in problem.message
    assert [problem.key] == [p.key for p in aj.check(line.m, ranges=False)]


def test_just_reaching() -> None:
    """Two links that meet at one point only: no suggestion to leave out a row."""
    bodies = bars((0.5, 0.7, 0.3), 0.8, (np.pi / 2, 0, 0))
    bodies["a"]["frames"]["tip_a"] = {"xyz": [0, 0, 0.5]}
    two = model({n: bodies[n] for n in "ac"}, {"pin": {
        "type": "point", "from": "tip_a", "to": "tip_c", "directions": ["x", "z"]}})
    two.doc["bodies"]["c"]["joint"]["rest"] = -np.pi / 2
    found = check(two)
    assert found and not any("enough" in p.message for p in found)


@pytest.mark.quick
def test_no_motion() -> None:
    """All velocities are held; not where constraints ask for velocities."""
    lock: Doc = {n: {"type": "holonomic", "formula": f"{n} - {x}"}
                 for n, x in zip("abc", PLANE.m.q0, strict=True)}
    (problem,) = check(with_(PLANE, lock))
    assert problem.message == "no motion left: 3 velocities, and the constraints have rank 3"
    driven = {n: {"type": "pfaffian", "coefficients": {n: 1}, "equals": 1} for n in "abc"}
    assert check(with_(PLANE, driven)) == []
    fixed = model({"a": {"parent": "world", "joint": {"type": "fixed"}, "mass": 1}},
                  {"pin": {"type": "point", "from": "world", "to": "a"}})
    (problem,) = check(fixed)
    assert problem.message == '"pin" always holds: no joint can break it'


# -- assembled ----------------------------------------------------------------------------------


@over([c for c in CONSTRAINED if c.id != "loops"], quick=False)
def test_assembled(case: Case) -> None:
    """q of `assembled` meets the constraints, also with quaternions, couplings and other p; what
    meets them already stays as it is; it is the nearest, but for terms of second order."""
    m, s = case.m, case.state()
    q = m.assembled(s["q"], s["p"])
    phi = np.atleast_1d(case.call("constraint_residual", s | {"q": q})[0])
    close(phi, 0 * phi, 1e-9)
    close(m.assembled(q, s["p"]), q, 1e-9)
    A = case.jacobian("constraint_residual", "rate", "v", s | {"q": q})
    A = A[np.repeat([c.holonomic for c in m.constraints], [len(c.labels) for c in m.constraints])]
    away = np.array(m.function("integrate")(q, 1e-5 * s["dq"])).ravel()
    back = np.array(m.function("difference")(m.assembled(away, s["p"]), away)).ravel()
    close(back / 1e-5, np.linalg.pinv(A) @ A @ s["dq"], 1e-3)


def test_assembled_in_range() -> None:
    """Of two ways to close a triangle, the one in the ranges."""
    case = with_(PLANE, {"pin": PLANE.doc["constraints"]["pin"]})
    case.doc["bodies"]["b"]["joint"] |= {"range": [-3.2, 0], "rest": -0.1}
    assert -3.2 <= case.m.assembled()[1] <= 0
    case.doc["bodies"]["b"]["joint"] |= {"range": [0, 3.2], "rest": 0.1}
    assert 0 <= aj.loads(json.dumps(case.doc)).assembled()[1] <= 3.2


@pytest.mark.quick
def test_assembled_input() -> None:
    far = with_(PLANE, {"pin": {"type": "point", "from": "tip_a", "to": "tip_c"}})
    far.doc["bodies"]["c"]["origin"]["xyz"] = [5, 0.1, 0]
    with pytest.raises(InputError, match=r"no configuration near this one meets .* left: pin.x = "):
        far.m.assembled()
    with pytest.raises(InputError, match="q must have 3 numbers, not 2"):
        PLANE.m.assembled([0, 1])
    with pytest.raises(InputError, match="p must have 0 numbers, not 1"):
        PLANE.m.assembled(PLANE.m.q0, [1])
    free = Case("free", {**PLANE.doc, "constraints": {}})
    assert free.m.assembled([1, 2, 3]).tolist() == [1, 2, 3]


# -- configurations and velocities that fit ------------------------------------------------------

CRANK = {"anyjoint": 1, "name": "slider", "bodies": {
    "crank": {"parent": "world", "mass": 1, "com": [0.1, 0, 0], "inertia": [0, 0.01, 0.01],
              "joint": {"type": "revolute", "axis": "y", "range": [-0.7, -0.35], "rest": -0.5}},
    "rod": {"parent": "crank", "mass": 1, "com": [0.2, 0, 0], "inertia": [0, 0.02, 0.02],
            "origin": {"xyz": [0.2, 0, 0]}, "joint": {"type": "revolute", "axis": "y"},
            "frames": {"end": {"xyz": [0.4, 0, 0]}}},
    "piston": {"parent": "world", "mass": 2, "joint": {"type": "prismatic", "axis": "x",
                                                        "rest": 0.4}}},
    "constraints": {"pin": {"type": "point", "from": "piston", "to": "end",
                            "directions": ["x", "z"]}}}


@pytest.mark.quick
def test_assembled_stays_in_range_and_holds() -> None:
    m = aj.loads(json.dumps(CRANK))
    q = m.assembled()
    assert -0.7 <= q[0] <= -0.35
    held = m.assembled(hold=["crank"])
    assert held[0] == -0.5
    x = 0.2 * np.cos(0.5) + np.sqrt(0.16 - (0.2 * np.sin(0.5)) ** 2)
    close(held[2], x, 1e-9)
    with pytest.raises(InputError, match='nothing called "krank" to hold; did you mean "crank"'):
        m.assembled(hold=["krank"])
    with pytest.raises(InputError, match="no configuration near"):
        m.assembled(hold=["crank", "piston"])


@pytest.mark.quick
def test_consistent_velocities() -> None:
    """Held ones stay; else the change has no momentum along motions that are allowed."""
    m = aj.loads(json.dumps(CRANK))
    q, wanted = m.assembled(hold="crank"), np.array([3.0, 0.0, 0.0])
    A = m.function("constraint_jacobian")(q, m.p0).full()
    held = m.consistent(q, wanted, hold=["crank"])
    assert held[0] == 3
    close(A @ held, np.zeros(2), 1e-12)
    free = m.consistent(q, wanted)
    close(A @ free, np.zeros(2), 1e-12)
    M = m.function("mass_matrix")(q, m.p0).full()
    close(held @ M @ (free - wanted), 0, 1e-12)
    with pytest.raises(InputError, match='"pin.x" is off by .*hold fewer'):
        m.consistent(q, wanted, hold=["crank", "piston"])
