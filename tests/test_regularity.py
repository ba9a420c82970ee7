"""`anyjoint check`: where joints are singular, and what is out of range; no false alarms."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import anyjoint as aj
from anyjoint.cli import app
from mechanisms import MODELS, joint_cases, single

pytestmark = pytest.mark.quick
Keys = dict[str, Any]
SINE: Keys = {"type": "curve", "curve": {"type": "formula", "point": ["u", "sin(u)", 0],
                                         "domain": [-2, 4]}}
WHEEL: Keys = {"type": "curve", "frame": "up", "up": [0, 0, 1], "rest": {"u": 1}, "curve": {
    "type": "formula", "point": ["cos(u)", 0, "sin(u)"]}, "range": {"u": [-1, 4]}}
CYCLOID: Keys = {"type": "curve", "frame": "fixed", "rest": {"u": 3}, "range": {"u": [-1, 7]},
                 "curve": {"type": "formula", "point": ["u - sin(u)", 0, "1 - cos(u)"]}}
BALL: Keys = {"type": "surface", "surface": {"type": "sphere", "radius": 0.6}, "rotation": "spin"}
EGG: Keys = {"type": "surface", "surface": {"type": "ellipsoid", "a": 2, "b": 1, "c": 0.5},
             "range": {"w": [-2, 1.3]}}
CONE: Keys = {"type": "surface", "surface": {"type": "cone", "angle": 0.6}}
FOLD: Keys = {"type": "surface", "rest": [1, 0], "range": {"u": [-0.7, 1.9], "w": [-1, 1]},
              "surface": {"type": "formula", "point": ["u**3/3", "w", 0]}}


def formula(*factors: Keys, rest: float = 0.5, **keys: Any) -> Keys:
    return {"type": "formula", "coordinates": {"u": rest}, "transform": list(factors), **keys}


SINGULAR: dict[str, tuple[Keys, str, dict[str, list[float]]]] = {  # joint, why, values
    "euler": ({"type": "spherical_euler", "range": [-2, 2.1]}, "not independent",
              {"q2": [-np.pi / 2, np.pi / 2]}),
    "euler_zxz": ({"type": "spherical_euler", "order": "zxz", "rest": [0, 1, 0],
                   "range": {"q2": [-0.7, 1.5]}}, "not independent", {"q2": [0]}),
    "exp": ({"type": "spherical_exp", "range": {"rx": [-2, 7]}}, "not independent",
            {"rx": [2 * np.pi]}),
    "inflection": (SINE, "no curvature", {"u": [0, np.pi]}),
    "along_up": (WHEEL, "along its up direction", {"u": [0, np.pi]}),
    "cusp": (CYCLOID, "no tangent", {"u": [0, 2 * np.pi]}),
    "pole": (BALL, "tangents", {"w": [-np.pi / 2, np.pi / 2]}),
    "pole_inside": (BALL | {"range": {"w": [-1, 2]}}, "tangents", {"w": [np.pi / 2]}),
    "egg": (EGG, "tangents", {"w": [-np.pi / 2]}),
    "tip": (CONE, "tangents", {"w": [0]}),
    "tip_inside": (CONE | {"range": {"w": [-0.3, 1]}}, "tangents", {"w": [0]}),
    "fold": (FOLD, "tangents", {"u": [0]}),
    "root": (formula({"shift": ["sqrt(u)", 0, 0]}, range=[0, 1]), "not finite", {"u": [0]}),
    "pole_of_tan": (formula({"shift": ["tan(u)", 0, 0]}, range=[0, 2]), "not finite",
                    {"u": [np.pi / 2]}),
    "turning_point": (formula({"rotz": "u**2 - u"}, rest=1, range=[0, 3]), "not independent",
                      {"u": [0.5]}),
    "never": ({"type": "composite", "armature": 1, "range": {"b": [-1, 1]}, "joints": [
        {"name": "a", "type": "revolute"}, {"name": "b", "type": "revolute"}]},
        "at rest: the coordinates are not independent", {}),
}


def document(joint: Keys) -> Keys:
    return single(joint) | {"states": {}}


def check(doc: Keys) -> list[Any]:
    return aj.check(aj.loads(json.dumps(doc, indent=1)))


@pytest.mark.parametrize("name", SINGULAR)
def test_singular(name: str) -> None:
    joint, why, values = SINGULAR[name]
    (problem,) = check(document(joint))
    assert problem.severity == "warning" and why in problem.message, problem
    assert problem.key == "bodies.b0.joint" + ".rest" * ("at rest" in why and "rest" in joint)
    assert problem.place and problem.hint
    found: dict[str, list[float]] = {}
    for key, value in re.findall(r"(\w+) = (-?[\d.e-]+)", problem.message):
        found.setdefault(key, []).append(float(value))
    assert {k: sorted(x) for k, x in found.items()} == {
        k: pytest.approx(x, abs=1e-3) for k, x in values.items()}, problem.message


REGULAR: dict[str, Keys] = {
    "euler": {"type": "spherical_euler", "range": [-1.5, 1.5]},
    "sine": SINE | {"range": {"u": [0.01, 3.1]}},
    "sine_up": SINE | {"frame": "up"},
    "wheel": WHEEL | {"range": {"u": [0.01, 3]}},
    "ball": BALL | {"range": {"w": ["-89*deg", "89*deg"]}},
    "cone": CONE | {"range": {"w": [0.001, 2]}},
    "tan": formula({"shift": ["tan(u)", 0, 0]}, range=[-1.55, 1.55]),
    "exp": {"type": "spherical_exp", "range": {"rx": [-6, 6]}},
}


@pytest.mark.parametrize("name", REGULAR)
def test_close_but_regular(name: str) -> None:
    assert check(document(REGULAR[name])) == []


@pytest.mark.parametrize("size", [1e-6, 1, 1e6])
def test_units_do_not_count(size: float) -> None:
    """Lengths in other units, and a small part beside a large one."""
    joints: list[Keys] = [
        {"type": "surface", "surface": {"type": "torus", "radius": size, "tube": size / 5},
         "rotation": "spin"},
        {"type": "helical", "pitch": size, "range": [-3, 3]},
        {"type": "composite", "joints": [{"type": "revolute"}, {"type": "prismatic"}],
         "range": [[-3, 3], [-size, size]]},
        {"type": "curve", "curve": {"type": "helix", "radius": size, "pitch": size / 50}},
        formula({"shift": [f"{size}*cos(u)", f"{size}*sin(u)", 0]}, {"rotz": "u"}, range=[-3, 3]),
    ]
    for joint in joints:
        assert check(document(joint)) == []


# Examples of joints that are singular, within the natural range of their coordinates
KNOWN = {
    "spherical_euler": "order zxz at rest",
    "surface": "poles, a cone's tip, a paraboloid's vertex",
    "surface_surface": "poles, surfaces that bend alike",
    "contact": "tori that bend alike, where one is in the other's hole",
    "curve_surface": "a rim that bends like the ring, a wheel that lies flat",
}


@pytest.mark.parametrize("name", [name for name, _ in joint_cases()])
def test_examples(name: str) -> None:
    found = check(document(dict(joint_cases())[name]))
    assert not found or name.rpartition("_")[0] in KNOWN, found


@pytest.mark.parametrize("path", sorted(MODELS.glob("*.yaml")), ids=lambda p: p.stem)
def test_models(path: Path) -> None:
    assert aj.check(path) == []


def test_distinct_joints_of_a_kind() -> None:
    """Found for each of many, whatever the others are like."""
    doc, rng = single({"type": "spherical_euler"}, 60), np.random.default_rng(3)
    ends = rng.uniform(1, 2, 60)
    for body, end in zip(doc["bodies"].values(), ends, strict=True):
        body["joint"]["range"] = {"q2": [-1, float(end)]}
    found = {p.key for p in check(doc)}
    assert found == {f"bodies.b{i}.joint" for i in np.flatnonzero(ends > np.pi / 2)}


COUPLED = """
anyjoint: 1
name: coupled
bodies:
  a: {parent: world, joint: {type: revolute, range: [-0.5, 1.5]}, mass: 1, com: [1, 0, 0]}
  b: {parent: a, joint: {type: revolute}, mass: 1, com: [1, 0, 0]}
  c: {parent: b, joint: {type: revolute, range: [-2, 2]}, mass: 1, com: [1, 0, 0]}
couplings: {b: acos(a), c: FORMULA}
"""


def test_couplings() -> None:
    """Formulas without a value in the ranges of others, and dependent coordinates that leave
    their own range; neither where it can't happen."""
    found = aj.check(aj.loads(COUPLED.replace("FORMULA", "2*a")))
    assert [p.key for p in found] == ["couplings.b", "couplings.c"]
    assert "no value or no derivatives at a = " in found[0].message
    assert float(found[0].message.split("= ")[1]) >= 1
    assert "outside the range of this coordinate, [-2, 2]" in found[1].message
    assert all(p.severity == "warning" for p in found)
    regular = COUPLED.replace("FORMULA", "a").replace("-0.5, 1.5", "-0.5, 0.5")
    assert aj.check(aj.loads(regular)) == []


def test_advice_calls_coordinates_by_their_names() -> None:
    """The poles of the child's sphere are at t, not at w."""
    joint = {"type": "contact", "surface": {"type": "torus", "radius": 0.3, "tube": 0.1},
             "child_surface": {"type": "sphere", "radius": 0.02}}
    (found,) = check(document(joint))
    assert "t = 1.571 (90°)" in found.message and "give t a range" in found.hint
    assert "torus" not in found.hint and "{" not in found.hint


def test_formulas_without_a_value_are_not_called_vertical() -> None:
    curve = {"type": "formula", "point": ["u", 0, "sqrt(u)"], "domain": [-3, 3], "rest": 1}
    found = check(document({"type": "curve", "frame": "up", "curve": curve}))
    assert any("its motion is not finite" in p.message for p in found)
    assert not any("up direction" in p.message and "-2" in p.message for p in found)


@pytest.mark.parametrize(("curve", "frame", "message", "hint"), [
    ({"type": "formula", "point": ["u", 0, "sin(u)"]}, "frenet", "no curvature at rest", "up"),
    ({"type": "line", "direction": "z"}, "up", "runs along its up direction at rest",
     "another up direction")])
def test_frames_that_are_undefined_at_rest(curve: Keys, frame: str, message: str,
                                           hint: str) -> None:
    with pytest.raises(aj.ModelError) as e:
        check(document({"type": "curve", "frame": frame, "curve": curve}))
    (problem,) = e.value.problems
    assert message in problem.message and hint in problem.hint


def test_copies_are_told_once() -> None:
    m = aj.loads("""
anyjoint: 1
name: m
bodies:
  b<k>: {repeat: {k: [1, 9]}, parent: world, mass: 1, inertia: [1, 1, 1],
         joint: {type: spherical_euler, range: [-2, 2], rest: 3}}
""".replace("rest: 3", "rest: [3, 0, 0]"))
    found = aj.check(m)
    assert [p.message.partition(" at")[0] for p in found] == ["singular", "q1 = 3"]


# -- rest values and states ----------------------------------------------------------------------

STATES = """
anyjoint: 1
name: m
constants: {limit: 1}
bodies:
  a: {parent: world, mass: 1, inertia: [1, 1, 1], joint: {name: hip, type: revolute, %s}}
  b: {parent: a, mass: 1, inertia: [1, 1, 1], joint: {name: ball, type: spherical_euler, %s}}
%s
"""
BAD = [  # joint of a, joint of b, sections, key, message
    ("range: [limit, 2]", "", "", "bodies.a.joint.range", "0 at rest is outside the range [1, 2]"),
    ("rest: 3, range: [0, 2]", "", "", "bodies.a.joint.rest", "3 at rest is outside"),
    ("", "rest: {q3: 2}, range: {q3: [0, 1]}", "", "bodies.b.joint.rest", "q3 = 2 at rest is"),
    ("range: [-1, 1]", "", "states: {far: {hip: 2}}", "states.far.hip", "2 is outside the range"),
    ("range: [-1, 1]", "", "states: {far: {hip.q: 2}}", "states.far.hip.q", "2 is outside"),
    ("", "range: {q1: [0, 1]}", "states: {far: {ball.q1: -2}}", "states.far.ball.q1", "q1 = -2"),
    ("", "range: {q1: [0, 1]}", "states: {far: {ball: [2, 0, 0]}}", "states.far.ball", "q1 = 2"),
    ("", "rest: [0, 90*deg, 0]", "", "bodies.b.joint.rest", "singular at rest: the coordinates"),
    ("", "order: xyx", "", "bodies.b.joint", "singular at rest"),
    ("", "", "states: {up: {ball: [1, 90*deg, 2]}}", "states.up.ball", "singular here: the coord"),
    ("", "", "states: {up: {ball.q2: -90*deg}}", "states.up.ball.q2", "singular here"),
    ("", "", "couplings: {hip: ball.q1 + 2}\nstates: {up: {ball.q2: 90*deg}}", "states.up.ball.q2",
     "singular here"),
    ("range: [0, 1]", "", "couplings: {hip: ball.q1 + 2}", "bodies.a.joint.range",
     "2 at rest is outside the range [0, 1]"),
    ("range: [0, 1]", "", "couplings: {hip: ball.q1}\nstates: {s: {ball.q1: 2}}", "states.s",
     "hip: 2 is outside the range"),
]


@pytest.mark.parametrize(("a", "b", "more", "key", "message"), BAD)
def test_rest_and_states(a: str, b: str, more: str, key: str, message: str) -> None:
    (problem,) = aj.check(aj.loads(STATES % (a, b, more)))
    assert problem.key == key and message in problem.message and problem.place
    assert problem.severity == "warning"


def test_ends_of_a_range_are_inside() -> None:
    states = "states: {bent: {hip: 150*deg}, other: {ball.q1: 1}}"
    text = STATES % ("range: [0, 150*deg]", "", states)
    assert aj.check(aj.loads(text)) == []


# -- the command line ----------------------------------------------------------------------------


def test_show_and_compile_warn_of_states(tmp_path: Path) -> None:
    """What is singular at rest is told without `check`, what is so elsewhere is not."""
    for lean, expected in (("0", 1), ("90*deg", 0)):
        file = tmp_path / "coin.yaml"
        file.write_text(json.dumps(document(
            {"type": "curve_surface", "surface": {"type": "plane"},
             "curve": {"type": "circle", "radius": 0.1}, "rest": {"lean": lean}})))
        for command in (["show"], ["compile", "-o", str(tmp_path / "out"), "-f", "poses"]):
            done = CliRunner().invoke(app, [command[0], str(file), *command[1:]])
            assert done.exit_code == 0
            assert done.stderr.count("singular at rest") == expected


def test_command_line(tmp_path: Path) -> None:
    file = tmp_path / "m.yaml"
    file.write_text(STATES % ("rest: 3, range: [0, 2]", "range: [-2, 2]", ""))
    run = CliRunner().invoke
    result = run(app, ["check", str(file)])
    assert result.exit_code == 0
    assert f"{file}:6:" in result.stderr and "warning: 3 at rest is outside" in result.stderr
    assert "q2 = 1.571 (90°)" in result.stderr and "hint: use spherical" in result.stderr
    assert result.stdout == f"{file}: ok, bodies: 2, nq = 4, nv = 4, np = 0, warnings: 2\n"
    data = json.loads(run(app, ["check", str(file), "--output-format", "json"]).stdout)
    assert data["ok"] and [p["severity"] for p in data["problems"]] == ["warning"] * 2
    assert data["problems"][0]["line"] == 6 and data["problems"][0]["key"] == "bodies.a.joint.rest"
    strict = run(app, ["check", str(file), "--strict"])
    assert strict.exit_code == 2 and "not ok" in strict.stdout
    strict = run(app, ["check", str(file), "--strict", "--output-format", "json"])
    assert strict.exit_code == 2 and json.loads(strict.stdout)["ok"] is False
    good = run(app, ["check", str(MODELS / "arm.yaml"), "--strict"])
    assert good.exit_code == 0 and good.stderr == ""
