"""The sections of a model file against numbers worked out by hand."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
import pytest

import anyjoint as aj
from mechanisms import call, close

pytestmark = pytest.mark.quick
INF = math.inf


def model(sections: str = "", gravity: float = 0, **bodies: str) -> Any:
    """Bodies of unit mass and moments on the world, by their joints, and other keys behind ;"""
    lines = [f"anyjoint: 1\nname: m\ngravity: [0, 0, {-gravity}]\n{sections}\nbodies:"]
    for name, keys in bodies.items():
        joint, _, more = keys.partition(";")
        mass = "" if "shapes" in more else "mass: 1, inertia: [1, 1, 1],"
        lines.append(f"  {name}: {{parent: world, {mass} joint: {{type: {joint}}}, {more}}}")
    return aj.loads("\n".join(lines))


def at(m: Any, name: str, **given: Any) -> Any:
    """Outputs of a function; p at its default and what is not given at zero."""
    f = m.function(name)
    return call(f, {n: np.zeros(f.size_in(n)) for n in f.name_in()} | {"p": m.p0} | given)


def test_gear_of_a_parameter() -> None:
    m = model("""
parameters: {g: 3}
actuators: {motor: {joint: wheel, gear: 2*g, limit: g + 1}, jet: {joint: hull.vy}}
""", hull="free", wheel="revolute")
    assert m.u_names == ("motor", "jet") and (m.nq, m.nv, m.nu) == (8, 7, 2)
    for p in (3, 5):
        x = [1, 0, 0, 0, 0, 0, 0, 0.5, *[0] * 6, 0.25]
        close(at(m, "xdot", x=x, u=[7, 11], p=[p]), [*[0] * 7, 0.25, 0, 0, 0, 0, 11, 0, 14 * p])
    assert m.bounds.u_max.tolist() == [4, INF] and m.bounds.tau_max.tolist() == [INF] * 7


@pytest.mark.parametrize("actuators", [
    "", "actuators: {a: {joint: cart, limit: 7}, b: {joint: d.y}}"])
def test_bounds(actuators: str) -> None:
    m = model("constants: {w: 2}\n" + actuators,
              hull="free, velocity: 3*w, range: {x: [-1, w]}, effort: {wx: 1, vz: 2}",
              d="planar, range: [-w, 4], velocity: [1, 2, 3], effort: 5",
              knee="universal, range: [[-1, 1], [0, 2]], velocity: {q2: 8}",
              cart="prismatic, range: [0, 9], effort: 4")
    effort = [1, INF, INF, INF, INF, 2, 5, 5, 5, INF, INF, 4]
    assert {key: x.tolist() for key, x in vars(m.bounds).items()} == {
        "q_min": [-INF] * 4 + [-1, -INF, -INF, -2, -2, -2, -1, 0, 0],
        "q_max": [INF] * 4 + [2, INF, INF, 4, 4, 4, 1, 2, 9],
        "v_max": [6] * 6 + [1, 2, 3, INF, 8, INF],
        "tau_max": effort, "u_max": [7, INF] if actuators else effort}
    assert m.u_names == (("a", "b") if actuators else m.v_names)


@pytest.mark.parametrize("length", [0, 0.5])
def test_spring_on_a_wheel(length: float) -> None:
    """At a quarter turn the rim is at (0, 1, 0), 2 m from the post, and moves by −ω along x."""
    m = model(f"""
parameters: {{k: 3}}
frames: {{post: {{body: world, xyz: [2, 1, 0]}}}}
forces: {{rope: {{type: spring, from: post, to: rim, stiffness: k, damping: 5, length: {length}}}}}
""", wheel="revolute; frames: {rim: {xyz: [1, 0, 0]}}")
    for p, v in ((3, 0.0), (3, 0.25), (7, 0.25)):
        state = {"q": [math.pi / 2], "v": [v], "p": [p]}
        close(at(m, "id", **state), p * (2 - length) + 5 * v)
        close(at(m, "energy", **state), [v * v / 2, p * (2 - length) ** 2 / 2])


@pytest.mark.parametrize("length", [0, 1])
def test_spring_between_bodies(length: float) -> None:
    """d = (2, 3, 6) of length 7, ḋ = (1, −1, 2)."""
    m = model(f"forces: {{rope: {{type: spring, from: a, to: hook, stiffness: 4, damping: 0.5, "
              f"length: {length}}}}}", a="translational",
              b="translational; frames: {hook: {xyz: [0, 1, 0]}}")
    d, rate = np.array([2, 3, 6]), np.array([1, -1, 2])
    pull = 4 * d + 0.5 * rate
    if length:
        pull = (4 * (7 - length) + 0.5 * (2 - 3 + 12) / 7) * d / 7
    q, v = np.array([1, 1, 1, 3, 3, 7]), np.array([1, 1, 0, 2, 0, 2])
    close(at(m, "id", q=q, v=v), [*-pull, *pull])
    close(at(m, "energy", q=q)[1], 2 * (7 - length) ** 2)
    if not length:  # the ends may meet
        close(at(m, "id", q=[0, 1, 0, 0, 0, 0], v=v), [*-0.5 * rate, *0.5 * rate])


@pytest.mark.parametrize(("joint", "q0", "neutral"), [  # neutral: "p", or the same for all p
    ("prismatic, rest: c", 0.5, "p"), ("prismatic, spring_rest: c", 0, "p"), ("own", 0.5, "p"),
    ("prismatic, rest: 2*c, spring_rest: c", 1, "p"), ("prismatic, rest: 3", 3, 3),
    ("prismatic, rest: c, spring_rest: 2", 0.5, 2), ("prismatic, rest: 3, spring_rest: 7", 3, 7),
    ("composite, joints: [{type: own}]", 0.5, "p")])
def test_neutral_position(joint: str, q0: float, neutral: Any) -> None:
    m = model("joint_types: {own: {coordinates: {s: c}, transform: [{shift: [s, 0, 0]}]}}\n"
              "parameters: {c: 0.5}", b=f"{joint}, stiffness: 1")
    close(m.q0, q0)
    for p in (0.5, 0.8):
        d = 0.9 - (p if neutral == "p" else neutral)
        close(at(m, "id", q=[0.9], p=[p]), d)
        close(at(m, "fd", q=[0.9], p=[p]), -d)
        close(at(m, "energy", q=[0.9], p=[p])[1], d * d / 2)
    close(at(m.baked(), "id", q=[0.9]), 0.4 if neutral == "p" else 0.9 - neutral)


def test_damping_and_friction() -> None:
    m = model(hull="free, damping: [1, 2, 3, 4, 5, 6]",
              disk="planar, damping: {y: 7}, friction: [1, 2, 0]",  # friction_velocity 0.01
              cart="prismatic, friction: 3, friction_velocity: 0.5",
              knee="universal, friction: 3, friction_velocity: [2, 4]")
    v = [0, 0, 0, 1, 2, 3, 0.01, -0.02, 5, 0.3, 1, 2]
    tanh = np.tanh([1, 2, 0.6, 0.5, 0.5])
    close(at(m, "id", q=m.q0, v=v), [0, 0, 0, 4, 10, 18, tanh[0], -0.14 - 2 * tanh[1], 0,
                                     3 * tanh[2], 3 * tanh[3], 3 * tanh[4]])
    close(at(m, "id", q=m.q0, v=[0, 2, *[0] * 10])[:3], [0, 4, 0])


def turn(axis: int, angle: float) -> Any:
    i, j = (axis + 1) % 3, (axis + 2) % 3
    R = np.eye(3)
    R[i, i] = R[j, j] = np.cos(angle)
    R[j, i], R[i, j] = np.sin(angle), -np.sin(angle)
    return R


def test_shapes_with_an_origin() -> None:
    m = model("parameters: {m: 3}", b="""free; shapes: [
    {type: box, size: [1, 2, 3], density: 0.5, origin: {xyz: [1, 2, -1], rpy: [0.3, -0.5, 0.8]}},
    {type: cylinder, radius: 0.5, length: 2, mass: m,
     origin: {xyz: [0, -1, 2], quat: [1, 2, 0, 2]}},
    {type: cone, radius: 1, length: 4, mass: 2, origin: {xyz: [0, 3, 0], rpy: [90*deg, 0, 0]}},
    {type: sphere, radius: 9}]""")
    for p in (3, 5):
        parts: Any = [  # mass, centre, moments per mass, rotation
            (3, [1, 2, -1], [13 / 12, 10 / 12, 5 / 12],
             turn(2, 0.8) @ turn(1, -0.5) @ turn(0, 0.3)),
            (p, [0, -1, 2], [1 / 16 + 1 / 3, 1 / 16 + 1 / 3, 1 / 8],
             np.array([[1, -4, 8], [4, -7, -4], [8, 4, 1]]) / 9),
            (2, [0, 2, 0], [3 / 4, 3 / 4, 3 / 10], turn(0, np.pi / 2))]
        M = np.zeros((6, 6))
        for mass, c, moments, R in parts:
            x = np.cross(c, np.eye(3)).T  # [c]
            M += mass * np.block([[R @ np.diag(moments) @ R.T - x @ x, x], [-x, np.eye(3)]])
        close(at(m, "mass_matrix", q=m.q0, p=[p]), M)


@pytest.mark.parametrize("parts", [[0, 1], [1, 0], [0, 1, 0]])
def test_composite_with_a_part_that_does_not_move(parts: list[int]) -> None:
    kinds, more = ("fixed", "revolute, axis: y"), "stiffness: 3; com: [1, 0, 0.5], frames: {f: {}}"
    joints = ", ".join(f"{{type: {kinds[k]}}}" for k in parts)
    m = model(gravity=9.81, b=f"composite, joints: [{joints}], {more}")
    plain = model(gravity=9.81, b=f"{kinds[1]}, {more}")
    assert (m.nq, m.nv) == (1, 1)
    for name, given in (("fd", {"tau": [2]}), ("id", {"a": [2]}), ("poses", {}), ("energy", {})):
        state = given | {"q": [0.4], "v": [0.7]}
        for ours, theirs in zip(at(m, name, **state), at(plain, name, **state), strict=True):
            close(ours, theirs)
    close(at(m, "id"), -9.81)


def test_states_and_rest() -> None:
    m, h = model("""
states:
  lists: {cart: 5, hull: [0, 6, 0, 8, 1, 2, 3], knee: [1, 2], rig: [3, 0, 0, 5, 0]}
  mappings: {knee: {q2: 1}, hull: {qz: 0, x: 3}, ball: {qw: 3, qy: 4}, rig: {b_qx: 0, s: 2}}
  coordinates: {rig.b_qy: 0, rig.b_qx: 0, ball.qx: 1, knee.q1: 2, hull.y: 4}
""", ball="spherical", hull="free, rest: {qz: 1, z: 2}", knee="universal, rest: [8, 9]",
        rig="composite, rest: [7, 0, 3, 0, 4], joints: [{name: s, type: prismatic}, "
            "{name: b, type: spherical}]", cart="prismatic, rest: 6"), math.sqrt(0.5)
    assert (m.nq, m.nv) == (19, 16)
    ball, hull = [1, 0, 0, 0], [h, 0, 0, h, 0, 0, 2]
    for state, q in {
            "rest": [*ball, *hull, 8, 9, 7, 0, 0.6, 0, 0.8, 6],
            "lists": [*ball, 0, 0.6, 0, 0.8, 1, 2, 3, 1, 2, 3, 0, 0, 1, 0, 5],
            "mappings": [0.6, 0, 0.8, 0, 1, 0, 0, 0, 3, 0, 2, 8, 1, 2, 0, 0, 0, 1, 6],
            "coordinates": [h, h, 0, 0, *hull[:5], 4, 2, 2, 9, 7, 0, 0, 0, 1, 6]}.items():
        close(m.state(state), q)
    close(m.q0, m.state("rest"))


def test_include(tmp_path: Path) -> None:
    """Sections of included files come first; paths are relative to the including file."""
    def part(name: str, parent: str, more: dict[str, Any]) -> dict[str, Any]:
        body = {"parent": parent, "joint": {"type": "prismatic", "axis": "x"}, "mass": f"m_{name}",
                "origin": {"xyz": ["l", 0, 0]}}
        return {"parameters": {f"m_{name}": "2*l"}, "bodies": {name: body}} | more

    top = {"anyjoint": 1, "name": "m"}
    files = {"sub/deep/root.yaml": part("root", "world", {"constants": {"l": 2}}),
             "sub/base.yaml": part("base", "root", {"include": "deep/root.yaml"}),
             "other.yaml": part("other", "base", {}),
             "top.yaml": part("top", "other", {"include": ["sub/base.yaml", "other.yaml"]} | top)}
    (tmp_path / "sub" / "deep").mkdir(parents=True)
    flat: dict[str, Any] = {"parameters": {}, "bodies": {}, "constants": {"l": 2}} | top
    for name, content in files.items():
        (tmp_path / name).write_text(json.dumps(content))
        for section in ("parameters", "bodies"):
            flat[section] |= content[section]
    m = aj.load(tmp_path / "top.yaml")
    assert m.body_names == m.q_names == ("root", "base", "other", "top")
    assert m.p_names == ("m_root", "m_base", "m_other", "m_top") and m.p0.tolist() == [4] * 4
    assert m.hash == aj.loads(json.dumps(flat)).hash
    close(at(m, "poses", q=[0, 1, 0, 0])[3][:3, 3], [9, 0, 0])


def test_repeat() -> None:
    m = aj.loads("""
anyjoint: 1
name: m
bodies:
  b0: {parent: world, joint: {type: prismatic}, mass: 1}
  b<k>: {repeat: {k: [1, 2]}, parent: b<k-1>, origin: {xyz: [<k>/2, 0, 0]}, mass: 1,
         joint: {name: j<k>, type: prismatic, axis: x, range: [-<k>, <k+1>]}}
  leg<i>_<j>: {repeat: {i: [1, 2], j: [0, 1]}, parent: b<i>, joint: {type: prismatic, axis: y},
               mass: <10*i+j>}
frames: {f<k>: {repeat: {k: [0, 1]}, body: leg<2-k>_<k>, xyz: [0, <k>, 1]}}
actuators: {m<k>: {repeat: {k: [1, 2]}, joint: j<k>, gear: 10*<k>, limit: <k>}}
forces: {w<k>: {repeat: {k: [1, 2]}, type: constant, frame: f<k-1>, force: [0, <k>, 0]}}
""")
    legs = ("leg1_0", "leg1_1", "leg2_0", "leg2_1")
    assert m.body_names == ("b0", "b1", "b2", *legs) and m.q_names == ("b0", "j1", "j2", *legs)
    assert m.bounds.q_min[1:3].tolist() == [-1, -2] and m.bounds.q_max[1:3].tolist() == [2, 3]
    assert m.frame_names == ("f0", "f1") and m.u_names == ("m1", "m2")
    close([x[:3, 3] for x in at(m, "poses")][1:], [
        [0.5, 0, 0], [1.5, 0, 0], *[[0.5, 0, 0]] * 2, *[[1.5, 0, 0]] * 2, [1.5, 0, 1], [0.5, 1, 1]])
    close(np.diag(at(m, "mass_matrix")), [65, 64, 42, 10, 11, 20, 21])
    close(at(m, "id")[3:], [0, -2, -1, 0])  # w1 at f0 on leg2_0, w2 at f1 on leg1_1
    close(np.array(ca.DM(m.actuation))[1:3], [[10, 0], [0, 20]])
