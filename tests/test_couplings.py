"""Couplings: against the same mechanisms without them, against Lagrange's equations, closed forms
and loops that close; what the section allows and what it reports."""

from __future__ import annotations

import json
import math
import re
from typing import Any

import casadi as ca
import numpy as np
import pytest
from typer.testing import CliRunner

import anyjoint as aj
from anyjoint.backend.budget import operations
from anyjoint.cli import app
from anyjoint.functions import CATALOGUE
from mechanisms import COUPLED, MODELS, Case, Doc, body, call, close, over
from test_analytic import ENTRIES
from test_forms import same, variants

pytestmark = pytest.mark.quick
INF = math.inf


def model(bodies: Doc, couplings: Doc, **sections: Any) -> Case:
    return Case("m", {"anyjoint": 1, "name": "m", "bodies": bodies, "couplings": couplings,
                      **sections})


def at(m: Any, name: str, **given: Any) -> Any:
    """Outputs of a function; p at its default and what is not given at zero."""
    f = m.function(name)
    return call(f, {n: np.zeros(f.size_in(n)) for n in f.name_in()} | {"p": m.p0} | given)


# -- the same mechanism with the coupling inside one joint --------------------------------------

# (joints one after the other on massless bodies, couplings, the same as one formula joint)
WITHIN: list[Any] = [
    ([{"name": "j", "type": "planar"}],
     {"j.x": "c*sin(j.angle)", "j.y": "j.angle**2 + j.x"},
     [{"shift": ["c*sin(u)", "u**2 + c*sin(u)", 0]}, {"rotz": "u"}]),
    ([{"name": "i", "type": "universal"}, {"name": "j", "type": "helical", "pitch": 0.3}],
     {"i.q2": "exp(i.q1)/c", "j": "-2*i.q2"},
     [{"rotx": "u"}, {"roty": "exp(u)/c"}, {"shift": [0, 0, "-0.6*exp(u)/c"]},
      {"rotz": "-2*exp(u)/c"}]),
    ([{"name": "i", "type": "prismatic", "axis": "x"}, {"name": "j", "type": "revolute"},
      {"name": "k", "type": "cylindrical", "axis": "y"}],
     {"k.shift": "0.2", "k.angle": "atan2(j, c)", "j": "i - c*i**3"},
     [{"shift": ["u", 0, 0]}, {"rotz": "u - c*u**3"}, {"roty": "atan2(u - c*u**3, c)"},
      {"shift": [0, 0.2, 0]}]),
]


@pytest.mark.parametrize(("joints", "couplings", "transform"), WITHIN)
@pytest.mark.parametrize("form", ["inlined", "rolled"])
def test_as_one_joint(joints: Any, couplings: Doc, transform: Any, form: str) -> None:
    """All functions of a mechanism with couplings are those of a formula joint."""
    rng = np.random.default_rng(3)
    ball = body(rng, "world", {"type": "spherical"}, "ball")
    moved = body(rng, "ball", joints[-1], "moved")
    moved["child_origin"] = {}
    on_it = body(rng, "moved", {"type": "revolute", "axis": [1, 2, 3]}, "on_it")
    names = [f"m{k}" for k in range(len(joints) - 1)]
    one: Doc = {"ball": ball, "moved": moved | {"joint": {
        "name": "j", "type": "formula", "coordinates": {"u": 0}, "transform": transform}}}
    many: Doc = {"ball": ball}
    for parent, name, joint in zip(["ball", *names], names, joints, strict=False):
        many[name] = {"parent": parent, "joint": joint}
        if parent == "ball":
            many[name]["origin"] = moved["origin"]
    many["moved"] = moved if not names else moved | {"parent": names[-1], "origin": {}}
    parameters = {"parameters": {"c": 0.7}, "gravity": [1, 2, -9]}
    coupled = model(many | {"on_it": on_it}, couplings, **parameters)
    plain = model(one | {"on_it": on_it}, {}, **parameters)
    assert (coupled.m.nq, coupled.m.nv) == (plain.m.nq, plain.m.nv) == (6, 5)
    s = plain.state()
    s |= {"x": np.concatenate([s["q"], s["v"]]), "u": s["tau"], "q0": s["q"],
          "q1": plain.state(1)["q"], "given": s["a"], "F": s["fext"]}
    fext = {name: s["fext"][:, k] for k, name in enumerate(plain.m.body_names)}
    wide = np.column_stack([fext.get(name, np.zeros(6)) for name in coupled.m.body_names])
    kept = [k for k, name in enumerate(coupled.m.body_names) if name not in names]
    for name in CATALOGUE:
        if name in ("generalised_velocities", "cartesian_forces"):
            continue  # what they say of the massless bodies has no counterpart
        for options in variants(plain, name):
            f = coupled.m.function(name, form=form, **options)
            ours, theirs = call(f, s | {"fext": wide, "F": wide}), call(plain.f(name, **options), s)
            if name == "cartesian_velocities":
                ours = ours[:, kept]
            if name == "joint_wrenches":
                ours[0] = ours[0][:, kept]
            if name == "poses":
                ours = [x for x, n in zip(ours, [*coupled.m.body_names, *coupled.m.frame_names],
                                          strict=True) if n not in names]
            same(ours, theirs, 1e-10)


# -- Lagrange's equations over the energies of the tree -----------------------------------------


def substituted(case: Case) -> tuple[Any, Any, Any]:
    """y, q of the tree as SX by Python's own evaluation of the formulas, and the tree."""
    m, tree = case.m, aj.loads(json.dumps({**case.doc, "couplings": {}}))
    y = ca.SX.sym("y", m.nq)
    plain = {n: n.replace(".", "__") for n in sorted(tree.q_names, key=len, reverse=True)}
    values = {"sin": ca.sin, **dict(zip(m.p_names, m.p0, strict=True))}
    values |= {plain[n]: y[k] for k, n in enumerate(m.q_names)}
    for name, text in case.doc["couplings"].items():  # in order
        for other in plain:
            text = text.replace(other, plain[other])
        values[plain[name]] = eval(text, values)
    return y, ca.vertcat(*[values[plain[n]] for n in tree.q_names]), tree


@over(COUPLED)
def test_lagrange(case: Case) -> None:
    """M = ∂²T/∂ẏ², tau = d/dt ∂L/∂ẏ − ∂L/∂y with the energies of the tree without couplings."""
    m, (y, q, tree) = case.m, substituted(case)
    if m.nq != m.nv:
        pytest.skip("q̇ = v is assumed here")
    w, b, p = ca.SX.sym("w", m.nv), ca.SX.sym("b", m.nv), ca.DM(m.p0)
    v = ca.jtimes(q, y, w)
    T, V = tree.function("energy", form="inlined")(q, v, p[: tree.np])
    momentum = ca.gradient(T, w)
    tau = ca.jtimes(momentum, w, b) + ca.jtimes(momentum, y, w) - ca.gradient(T - V, y)
    damping, friction, rate = (ca.DM(ca.substitute(x, m.p, p)) for x in (
        m.passive.damping, m.passive.friction, m.passive.friction_velocity))
    loss = damping * v + friction * ca.tanh(v / rate)
    tau += ca.jacobian(q, y).T @ loss
    f = ca.Function("f", [y, w, b], [tau, ca.hessian(T, w)[0], T, V])
    for k in range(3):
        s = case.state(k) | {"p": m.p0}
        tau, M, T, V = f(s["q"], s["v"], s["a"])
        close(case.call("id", s), tau, 1e-9)
        close(case.call("mass_matrix", s), M, 1e-10)
        close(case.call("energy", s), [float(T), float(V)], 1e-12)
        close(case.call("fd", s, {"tau": np.array(tau).ravel()}), s["a"], 1e-8)


# -- closed forms and closed loops --------------------------------------------------------------


def scissors(N: int, c: Doc) -> Case:
    """2N links as two zigzags; the lowest centre slides along z."""
    link = {"mass": c["m"], "inertia": [0, c["I"], c["I"]]}
    foot = {"type": "formula", "coordinates": {"q": 0.9, "z": 0},
            "transform": [{"shift": [0, 0, "z"]}, {"roty": "q"}]}
    hinge = {"origin": {"xyz": [0, 0, c["a"]]}, "child_origin": {"xyz": [0, 0, -c["a"]]},
             "joint": {"type": "revolute", "axis": "y"}}
    repeat = {"repeat": {"k": [2, N]}} if N > 1 else {}
    bodies, couplings = {}, {"r_1.z": "a*cos(r_1.q)", "l_1.z": "r_1.z", "l_1.q": "-r_1.q"}
    for side, sign in (("r", "-"), ("l", "")):
        bodies[f"{side}_1"] = {"parent": "world", "joint": foot, **link}
        if N > 1:
            bodies[f"{side}_<k>"] = {"parent": f"{side}_<k-1>", **repeat, **hinge, **link}
            couplings[f"{side}_<k>"] = {"formula": f"{sign}2*(-1)**<k>*r_1.q", **repeat}
    return model(bodies, couplings, constants={"a": c["a"]}, gravity=[0, 0, -c["g"]])


@pytest.mark.parametrize("N", [1, 2, 4, 7])
def test_lazy_tongs(N: int) -> None:
    e = ENTRIES["lazy_tongs"]
    c, q, v = e["params"], e["state"]["q"][0], e["state"]["qd"][0]
    m, a, inertia, g = (c[n] for n in ("m", "a", "I", "g"))
    case = scissors(N, c)
    assert case.m.q_names == ("r_1.q",)
    S = N * (4 * N**2 - 1) / 3
    M = 2 * (m * a**2 * S * np.sin(q) ** 2 + N * inertia)
    force = 2 * m * a**2 * S * np.sin(q) * np.cos(q) * v**2 - 2 * m * g * a * N**2 * np.sin(q)
    state = {"q": [q], "v": [v]}
    close(at(case.m, "mass_matrix", **state), M, 1e-12)
    close(at(case.m, "bias", **state), force, 1e-12)
    close(at(case.m, "energy", **state), [M * v**2 / 2, 2 * m * g * a * N**2 * np.cos(q)], 1e-12)
    close(at(case.m, "fd", **state), -force / M, 1e-10)
    if N == c["N"]:
        close(at(case.m, "fd", **state), e["acceleration"], 1e-10)


def points(m: Any, q: Any) -> dict[str, Any]:
    out = m.function("poses")(q=q, p=m.p0)
    return {name: np.array(x)[:3, 3] for name, x in out.items()}


def test_tongs_close() -> None:
    """r_k and l_k cross at their centres, and the tongs reach (k − 1) 2a cos q."""
    m = aj.load(MODELS / "tongs_and_fish.yaml")
    assert len(m.bodies) == 33 and m.q_names == ("angle", "fish.q1", "fish.q2")
    rng = np.random.default_rng(5)
    for q in rng.uniform(m.bounds.q_min[0], m.bounds.q_max[0], 20):
        r = points(m, [q, *rng.standard_normal(2)])
        for k in range(1, 17):
            close(r[f"r_{k}"], [2 * 0.06 * (k - 1) * np.cos(q), 0, 0], 1e-14)
            close(r[f"l_{k}"], r[f"r_{k}"], 1e-14)
    f = m.function("fd", form="inlined")
    assert operations(f)["total"] <= 3500 and operations(m.function("id"))["total"] <= 1900


def test_tongs_hang_still() -> None:
    m = aj.load(MODELS / "tongs_and_fish.yaml")
    close(at(m, "fd", q=m.q0), np.zeros(3), 1e-9)


def test_knee_closes() -> None:
    """Both ligaments end on the tibia, for all angles of the range."""
    m = aj.load(MODELS / "knee.yaml")
    assert m.q_names == ("hip", "knee.flexion")
    lower, upper = m.bounds.q_min[1], m.bounds.q_max[1]
    for flexion in np.linspace(lower, upper, 50):
        r = points(m, [0.4, flexion])
        for ligament, length in (("acl", 0.033), ("pcl", 0.035)):
            close(r[f"{ligament}_end"], r[f"{ligament}_on_tibia"], 1e-14)
            close(np.linalg.norm(r[f"{ligament}_on_femur"] - r[f"{ligament}_end"]), length, 1e-14)
    tibia = [points(m, [0, x])["shank"] for x in (0, np.pi / 2)]
    assert 0.01 < tibia[0][0] - tibia[1][0] < 0.04  # it goes back on the femur as the knee bends


# -- gears, actuators, passive forces -----------------------------------------------------------

SOLID = {"mass": 1, "inertia": [2, 3, 5]}


def wheel(**joint: Any) -> Doc:
    return {"parent": "world", "joint": {"type": "revolute", **joint}, **SOLID}


def test_gear() -> None:
    """A rotor that turns n times as fast adds n² of its inertia, and of its damping."""
    m = model({"wheel": wheel(damping=0.1), "rotor": wheel(armature=1, damping=0.01)},
              {"rotor": "n*wheel"}, parameters={"n": 3}).m
    assert (m.q_names, m.v_names, m.u_names) == (("wheel",), ("wheel",), ("wheel",))
    for n in (3, -7):
        close(at(m, "mass_matrix", p=[n]), 5 + 6 * n**2, 1e-14)
        close(at(m, "id", v=[2], a=[1], p=[n]), 5 + 6 * n**2 + 0.2 + 0.02 * n**2, 1e-14)
        close(at(m, "fd", tau=[1], p=[n]), 1 / (5 + 6 * n**2), 1e-14)


ACTUATED = {
    "bodies": {
        "upper": {**wheel(axis="y", stiffness=2, rest=0.3), "com": [0, 0, -1]},
        "lower": {**wheel(axis="y", stiffness=1), "parent": "upper", "com": [0.1, 0, -1],
                  "origin": {"xyz": [0, 0, -2]}},
        "slide": {**wheel(), "joint": {"type": "planar"}, "parent": "lower"}},
    "couplings": {"lower": "-ratio*upper + 0.1", "slide.x": "sin(lower)",
                  "slide.y": "slide.x*upper"},
    "parameters": {"ratio": 1.5, "gear": 20},
    "actuators": {"motor": {"joint": "lower", "gear": "gear"}, "jet": {"joint": "slide.x"},
                  "own": {"joint": "slide.angle", "gear": 2}}}


def test_actuators_on_dependent_coordinates() -> None:
    """d(T + V)/dt = Σ u (gear · velocity of what it drives)."""
    case = model(**ACTUATED)  # type: ignore[arg-type]
    m = case.m
    assert m.u_names == ("motor", "jet", "own") and m.v_names == ("upper", "slide.angle")
    for k in range(3):
        s = case.state(k)
        u = np.random.default_rng(k).standard_normal(3)
        x_dot = case.call("xdot", s | {"x": np.concatenate([s["q"], s["v"]]), "u": u})
        close(x_dot[:2], s["v"], 0)
        ratio, gear = s["p"]
        lower = -ratio * s["v"][0]
        x = np.cos(-ratio * s["q"][0] + 0.1) * lower
        power = u @ [gear * lower, x, 2 * s["v"][1]]
        energy = case.rate("energy", s, {"q": x_dot[:2], "v": x_dot[2:]})
        close(sum(energy), power, 1e-11, max(map(abs, energy)))


def test_springs_on_dependent_coordinates() -> None:
    """The neutral position is the value at rest, for every p, unless it is given."""
    for given, neutral in ((None, lambda p: 0.5 * p + 1), (4, lambda p: 4)):
        m = model({"a": wheel(rest=0.5), "b": wheel(stiffness=3, **(
            {} if given is None else {"spring_rest": given}))}, {"b": "r*a + 1"},
            parameters={"r": 2}).m
        for p in (2, 5):
            d = p * 0.9 + 1 - neutral(p)
            close(at(m, "energy", q=[0.9], p=[p])[1], 1.5 * d**2, 1e-14)
            close(at(m, "id", q=[0.9], p=[p]), 3 * d * p, 1e-14)


# -- what the mechanism shows -------------------------------------------------------------------


def test_names_states_and_limits() -> None:
    sections = {**ACTUATED, "states": {"bent": {"upper": 1, "slide": {"angle": 2}}}}
    sections["bodies"] = {**ACTUATED["bodies"], "upper": {**ACTUATED["bodies"]["upper"], "joint": {
        "type": "revolute", "range": [-1, 2], "velocity": 3, "effort": 4, "rest": 0.3}}}
    sections["bodies"]["lower"] = {**sections["bodies"]["lower"], "joint": {
        "type": "revolute", "range": [-5, 5], "velocity": 6, "effort": 7}}
    m = model(**sections).m
    assert m.q_names == m.v_names == ("upper", "slide.angle")
    close(m.q0, [0.3, 0])
    close(m.state("bent"), [1, 2])
    assert {k: x.tolist() for k, x in vars(m.bounds).items()} == {
        "q_min": [-1, -INF], "q_max": [2, INF], "v_max": [3, INF], "tau_max": [4, INF],
        "u_max": [INF] * 3}
    assert m.coupling.dependent["lower"].range == (-5, 5)
    del sections["actuators"]
    m = model(**sections).m
    assert m.u_names == m.v_names and m.bounds.u_max.tolist() == [4, INF]


def test_show_and_describe() -> None:
    path = MODELS / "tongs_and_fish.yaml"
    shown = CliRunner().invoke(app, ["show", str(path)]).output
    assert "fish.q1" in shown and re.search(r"r_2 +-2\*angle", shown) and ", 1 dof" in shown
    summary = json.loads(CliRunner().invoke(app, ["show", str(path), "--output-format", "json"])
                         .output)
    assert summary["dimensions"]["nq"] == 3 and summary["couplings"]["l_16"] == "-r_16"
    assert [b["nv"] for b in summary["bodies"]] == [1, *[0] * 31, 2]


def test_ways_to_write_it() -> None:
    """In any order, by both names of a coordinate, long or short, repeated: the same functions."""
    chain = {"b0": wheel(axis="x")} | {f"b{k}": {**wheel(axis="y"), "parent": f"b{k - 1}"}
                                       for k in range(1, 5)}
    short = {"b1": "-2*b0", "b2": "b1 + b0", "b3": "b2**2", "b4": "b3 - 1"}
    state = {"q": [0.3], "v": [0.7], "a": [-0.4]}
    expected = at(model(chain, short).m, "id", **state)
    for other in (
            dict(reversed(short.items())),
            {f"{k}.q": x.replace("b0", "b0 . q") for k, x in short.items()},
            {k: {"formula": x} for k, x in short.items()}):
        close(at(model(chain, other).m, "id", **state), expected, 1e-13)
    twice = {"b<k>": {"repeat": {"k": [1, 4]}, "formula": "<k>*b<k-1>"}}
    close(at(model(chain, twice).m, "id", **state),
          at(model(chain, {f"b{k}": f"{math.factorial(k)}*b0" for k in range(1, 5)}).m, "id",
             **state), 1e-13)


def test_locked_coordinates() -> None:
    """A constant formula locks a joint; all may be locked."""
    bodies = {"a": wheel(axis="x"), "b": {**wheel(), "parent": "a", "com": [1, 0, 0]}}
    locked, turned = model(bodies, {"b": "90*deg"}).m, model({**bodies, "b": {
        **bodies["b"], "joint": {"type": "fixed"}, "origin": {"rpy": [0, 0, "90*deg"]}}}, {}).m
    state = {"q": [0.3], "v": [0.5], "a": [2]}
    close(at(locked, "id", **state), at(turned, "id", **state), 1e-14)
    none = model(bodies, {"a": 1, "b": 2})
    assert (none.m.nq, none.m.nv, none.m.nu) == (0, 0, 0) and aj.check(none.m) == []
    for name in CATALOGUE:
        for form in ("inlined", "rolled"):
            for options in variants(none, name):
                none.m.function(name, form=form, **options)
    close(at(none.m, "energy")[0], 0, 0)


def test_without_couplings_nothing_changes() -> None:
    """An empty section makes the same graph."""
    text = (MODELS / "torus_chain_4.yaml").read_text()
    f, g = (aj.loads(x).function("fd") for x in (text, text + "\ncouplings: {}\n"))
    assert f.n_instructions() == g.n_instructions()
