"""Wrenches that joints carry: every body alone obeys Newton and Euler, joints feel their tau, loops
are in balance; normal forces of contacts in closed form, with the place where a body takes off."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
import pytest

import anyjoint as aj
from mechanisms import COUPLED, FLOATING, MODELS, ONES, Case, close, over, random_tree

G = 9.81
LOOSE = [Case(f"loose_{k}", lambda k=k: random_tree(400 + k, 3 + k % 4, forces=False), k)
         for k in range(8)]


# -- Newton and Euler for each body alone -----------------------------------------------------


def momentum_rate(case: Case, s: Any, a: Any) -> dict[str, Any]:
    """d/dt of [angular about the world's origin; linear] momentum of every body, minus that of
    gravity, from the second derivatives of its pose along the motion."""
    m = case.m
    q, v, p = ca.SX.sym("q", m.nq), ca.SX.sym("v", m.nv), ca.SX.sym("p", m.np)
    poses, q_dot = case.f("poses")(q=q, p=p), case.f("qdot")(q, v, p)
    gravity, out = ca.substitute(m.gravity, m.p, p), []
    for body in m.bodies:
        mass, h, I6 = (ca.substitute(ca.SX(x), m.p, p) for x in (
            body.link.m, body.link.h, body.link.I6))
        G_i = poses[body.name]
        I6 = ca.vertsplit(I6)
        inertia = ca.blockcat([[I6[0], I6[3], I6[4]], [I6[3], I6[1], I6[5]],
                               [I6[4], I6[5], I6[2]]])
        # Σ dm x xᵀ of the body in the world, of points x = R y + r
        second = ca.trace(inertia) / 2 * ca.SX.eye(3) - inertia
        points = ca.blockcat([[second, h], [h.T, mass]])
        rate = ca.reshape(ca.jtimes(ca.vec(G_i), q, q_dot), 4, 4)
        spread = (G_i @ points @ rate.T)[:3, :3]  # Σ dm x ẋᵀ
        turn = spread - spread.T
        angular = ca.vertcat(turn[1, 2], turn[2, 0], turn[0, 1])
        linear = (rate @ points)[:3, 3]
        weight = ca.vertcat(ca.cross((G_i @ points)[:3, 3], gravity), mass * gravity)
        h_i = ca.vertcat(angular, linear)
        out.append(ca.jtimes(h_i, q, q_dot) + ca.jtimes(h_i, v, ca.DM(a)) - weight)
    values = ca.Function("f", [q, v, p], out).call([s["q"], s["v"], s["p"]])
    return {n: np.array(x).ravel() for n, x in zip(m.body_names, values, strict=True)}


def in_world(case: Case, s: Any, wrenches: Any) -> dict[str, Any]:
    """Wrenches by body, [moment; force] in world axes about the world's origin."""
    poses, out = case.f("poses")(q=s["q"], p=s["p"]), {}
    for name, w in zip(case.m.body_names, np.reshape(wrenches, (6, -1)).T, strict=True):
        T = np.array(poses[name])
        f = T[:3, :3] @ w[3:]
        out[name] = np.concatenate([T[:3, :3] @ w[:3] + np.cross(T[:3, 3], f), f])
    return out


def unbalanced(case: Case, s: Any) -> dict[str, Any]:
    """Momentum rate of each body minus gravity and the wrenches of the joints at it."""
    left = momentum_rate(case, s, case.call("fd", s))
    w = in_world(case, s, case.call("joint_wrenches", s)[0])
    for body in case.m.bodies:
        left[body.name] = left[body.name] - w[body.name]
        if body.parent >= 0:
            parent = case.m.bodies[body.parent].name
            left[parent] = left[parent] + w[body.name]
    return left


@over([*ONES[::5], *LOOSE, *FLOATING[:2], COUPLED[-1]])
def test_newton_and_euler(case: Case) -> None:
    s = case.state()
    scale = np.abs(case.call("joint_wrenches", s)[0]).max()
    for rest in unbalanced(case, s).values():
        close(rest, np.zeros(6), 1e-9, scale)


@over([*ONES[::5], *LOOSE, *FLOATING[:2]])
def test_joints_feel_their_tau(case: Case) -> None:
    """Sᵀ f = tau − passive forces − armature a; S are the joint's columns of its body's J."""
    s, m = case.state(), case.m
    w = case.call("joint_wrenches", s)[0].reshape(6, -1)
    a = case.call("fd", s)
    passive = case.call("bias", s) - case.call("bias", s, passive=False)
    felt = np.zeros(m.nv)
    for i, body in enumerate(m.bodies):
        J = case.call("frame_jacobian", s, frame=body.name, reference="body").reshape(6, m.nv)
        own = [k for k, n in enumerate(m.v_names) if n.partition(".")[0] == body.joint_name]
        felt[own] = J[:, own].T @ w[:, i]
    armature = ca.vertcat(*[ca.SX(b.link.armature) for b in m.bodies])
    armature = np.array(ca.DM(ca.substitute(armature, m.p, s["p"]))).ravel()
    close(felt, s["tau"] - passive - armature * a, 1e-9)


@pytest.mark.quick
def test_springs_are_not_carried() -> None:
    """What a spring between frames holds the joint need not; a joint's own spring it does."""
    text = """
anyjoint: 1
name: hung
bodies: {stone: {parent: world, mass: 2, joint: {type: fixed}, origin: {xyz: [0, 0, -1]}}}
forces: {rope: {type: spring, from: world, to: stone, stiffness: 8, length: 0.5}}
"""
    for passive, carried in ((True, 2 * G - 4), (False, 2 * G)):
        w, normal = aj.loads(text).function("joint_wrenches", passive=passive)([], [], [], [])
        close(w, [0, 0, 0, 0, 0, carried], 1e-13)
        assert normal.shape == (0, 1)
    own = aj.loads("{anyjoint: 1, name: lift, bodies: {stone: {parent: world, mass: 2, joint: "
                   "{type: prismatic, stiffness: 30}}}}")
    close(own.function("joint_wrenches")([0.2], [0], [5], [])[0][5], 5 - 30 * 0.2, 1e-13)


# -- normal forces ------------------------------------------------------------------------------

R, r, MASS = 1.2, 0.3, 1.7
BALL = {"mass": MASS, "inertia": [0.4 * MASS * r**2] * 3}
SPHERE = {"type": "sphere", "radius": r}


def contact(surface: Any, normals: str = "opposite", child: Any = None, **keys: Any) -> Case:
    joint = {"type": "contact", "surface": surface, "child_surface": SPHERE, "normals": normals}
    return Case("contact", {"anyjoint": 1, "name": "contact", "bodies": {
        "ball": {"parent": "world", "joint": joint | keys, **BALL, **(child or {})}}})


def normal(case: Case, q: Any, v: Any) -> float:
    given = {"q": q, "v": v, "tau": np.zeros(5), "p": case.m.p0}
    return float(case.call("joint_wrenches", given)[1])


def stepped(f: Any, x: Any, h: float) -> Any:
    """x after one step of Runge and Kutta of ẋ = f(x)."""
    k1 = f(x)
    k2 = f(x + h / 2 * k1)
    k3 = f(x + h / 2 * k2)
    return x + h / 6 * (k1 + 2 * k2 + 2 * k3 + f(x + h * k3))


@pytest.mark.quick
def test_ball_on_a_plane() -> None:
    """m g, however it moves; and with offsets of the frames."""
    rng, plane = np.random.default_rng(2), {"type": "plane"}
    placed = {"origin": {"xyz": [1, 2, 3], "rpy": [0, 0, 1]},
              "child_origin": {"rpy": [0.3, 0.2, 0.5]}}
    for case in (contact(plane), contact(plane, child=placed)):
        assert case.m.contact_names == ("ball",)
        for _ in range(5):
            q, v = rng.uniform(-0.7, 0.7, 5), rng.standard_normal(5)
            close(normal(case, q, v), MASS * G, 1e-11)
    tilted = contact(plane, child={"origin": {"rpy": ["30*deg", 0, 0]}})
    close(normal(tilted, 0.2 * np.ones(5), np.zeros(5)), MASS * G * np.cos(np.pi / 6), 1e-12)


@pytest.mark.quick
def test_ball_falls_off_a_sphere() -> None:
    """From rest at an angle θ₀ from the top, without friction: the normal force is
    m g (3 cos θ − 2 cos θ₀), zero where cos θ = ⅔ cos θ₀, and the contact would pull beyond."""
    case, start = contact({"type": "sphere", "radius": R}), 0.2
    f, x = case.f("xdot"), np.zeros(10)
    x[1] = np.pi / 2 - start
    angle, force = [], [1.0]
    for _ in range(1000):
        if force[-1] <= -3:
            break
        x = stepped(lambda x: np.array(f(x, np.zeros(5), [])).ravel(), x, 0.005)
        angle.append(np.pi / 2 - x[1])
        force.append(normal(case, x[:5], x[5:]))
    close(force[1:], MASS * G * (3 * np.cos(angle) - 2 * np.cos(start)), 1e-9)
    assert force[-1] <= -3
    k = int(np.argmax(np.array(force[1:]) < 0))  # the first one that pulls
    assert np.cos(angle[k]) < 2 / 3 * np.cos(start) < np.cos(angle[k - 1])


@pytest.mark.quick
@pytest.mark.parametrize("theta", [0.1, 0.5, 1.2, 2.0])
def test_ball_in_a_bowl(theta: float) -> None:
    """m (g cos θ + v²/(R − r)) at θ from the bottom: it falls off the ceiling if it is slow."""
    case = contact({"type": "sphere", "radius": R}, "same")
    for speed in (0.0, 0.8, 4.0):
        v = [0, speed / (R - r), 0, 0, 0]  # of u, w of the bowl, s, t of the ball, psi
        close(normal(case, [0.1, theta - np.pi / 2, 0.3, 0.2, 0], v),
              MASS * (G * np.cos(theta) + speed**2 / (R - r)), 1e-10)


@pytest.mark.quick
def test_more_contacts(tmp_path: Path) -> None:
    """In the order of the file; a disk's rim; a ball on a body. In C too."""
    wheel = {"type": "curve_surface", "surface": {"type": "plane"}, "name": "rim",
             "curve": {"type": "circle", "radius": 0.5}}
    table = {"parent": "world", "joint": {"type": "prismatic", "axis": "z"}, "mass": 10}
    ball = {"type": "contact", "surface": {"type": "plane"}, "child_surface": SPHERE}
    m = Case("m", {"anyjoint": 1, "name": "shop", "bodies": {
        "ball": {"parent": "table", "joint": ball, **BALL}, "table": table,
        "wheel": {"parent": "world", "joint": wheel, "mass": 3,
                  "inertia": [0.1, 0.1, 0.2]}}}).m
    assert m.contact_names == ("ball", "rim")
    q, tau = m.q0 + 0.1 * np.isin(m.q_names, ["ball.s", "ball.t"]), np.zeros(m.nv)
    lift = (10 + MASS) * (G + 2)  # accelerates upwards with 2
    tau[m.v_names.index("table")] = lift
    lib = aj.compile(m, tmp_path, ["joint_wrenches"])
    assert lib.contact_names == ["ball", "rim"]
    assert "SHOP_CONTACT_RIM = 1" in (tmp_path / "shop.h").read_text()
    for f in (m.function("joint_wrenches", form="rolled"), lib.joint_wrenches):
        wrenches, forces = f(q, np.zeros(m.nv), tau, m.p0)
        close(forces, [MASS * (G + 2), 3 * G], 1e-11)
        close(np.array(wrenches)[5, 1], lift, 1e-12)


# -- constraints ------------------------------------------------------------------------------


@pytest.mark.quick
def test_friction_is_carried_by_the_contact() -> None:
    """A ball that rolls down an incline: normal m g cos α, friction 2/7 m g sin α uphill."""
    slope = 0.4
    case = contact({"type": "plane"}, child={"origin": {"rpy": [0, slope, 0]}})
    case.doc["constraints"] = {"roll": {"type": "rolling", "joint": "ball"}}
    s = {"q": np.array([0.3, 0.2, 0.4, -0.1, 0.6]), "v": np.zeros(5), "tau": np.zeros(5), "p": []}
    w, pressing = case.call("joint_wrenches", s)
    close(pressing, MASS * G * np.cos(slope), 1e-12)
    on_ball = in_world(case, s, w)["ball"][3:]
    downhill, up = [np.cos(slope), 0, -np.sin(slope)], [np.sin(slope), 0, np.cos(slope)]
    close([on_ball @ downhill, on_ball @ up],
          [-2 / 7 * MASS * G * np.sin(slope), MASS * G * np.cos(slope)], 1e-12)


LOOP = """
anyjoint: 1
name: loop
parameters: {l: 1}
bodies:
  crank: {parent: world, joint: {type: revolute, axis: y}, mass: 1, com: [0.2, 0, 0.1],
          inertia: [0.1, 0.2, 0.3]}
  coupler: {parent: crank, origin: {xyz: [l, 0, 0]}, joint: {type: revolute, axis: y}, mass: 2,
            com: [0.7, 0, 0.2], inertia: [0.2, 0.3, 0.1], frames: {tip: {xyz: [2, 0, 0.1]}}}
  rocker: {parent: world, origin: {xyz: [2, 0, 0]}, joint: {type: revolute, axis: y}, mass: 1,
           com: [0, 0, 0.4], inertia: [0.3, 0.1, 0.2],
           frames: {end: {xyz: [0, 0, 1.5], rpy: [0, 0.3, 0]}}}
constraints:
  pin: {type: point, from: end, to: tip, directions: [x, z]}
  gear: {type: equality, coordinates: [coupler, crank], ratio: 2}
"""


@pytest.mark.quick
@pytest.mark.parametrize("form", ["inlined", "rolled"])
def test_a_pin_is_in_balance(form: str) -> None:
    """What is missing in the balance of coupler and rocker is the force λ in the pin, at `to`;
    what a gear between coordinates does is in the joints."""
    case = Case("loop", LOOP)
    s = case.state() | {"q": np.array([0.5, -0.3, 0.7])}
    left = unbalanced(case, s)
    poses = case.f("poses")(q=s["q"], p=s["p"])
    force = case.call("fd_constrained", s)[1]
    f = np.array(poses["end"])[:3, :3] @ [force[0], 0, force[1]]
    on_tip = np.concatenate([np.cross(np.array(poses["tip"])[:3, 3], f), f])
    assert np.abs(force).min() > 0.1
    for name, expected in (("crank", 0 * on_tip), ("coupler", on_tip), ("rocker", -on_tip)):
        close(left[name], expected, 1e-10, np.abs(on_tip).max())
    close(case.m.function("joint_wrenches", form=form)(s["q"], s["v"], s["tau"], s["p"])[0],
          case.call("joint_wrenches", s)[0], 1e-11)


@pytest.mark.quick
def test_a_weld_holds_moments() -> None:
    """A chain of six joints whose tip is held in the world: λ is what it needs there."""
    link = {"mass": 1, "com": [0.1, 0.2, 0.3], "inertia": [0.3, 0.4, 0.5],
            "origin": {"xyz": [0.3, 0.2, 0.4]}}
    bodies = {f"b{k}": {**link, "parent": f"b{k - 1}" if k else "world",
                        "joint": {"type": "revolute", "axis": "xyz"[k % 3], "rest": 0.3 * k - 0.7}}
              for k in range(7)}
    doc: dict[str, Any] = {"anyjoint": 1, "name": "arch", "bodies": bodies}
    tip = np.array(aj.loads(str(doc)).function("poses")(
        q=[0.3 * k - 0.7 for k in range(7)], p=[])["b6"])
    R_tip = tip[:3, :3]
    pitch = -np.arcsin(R_tip[2, 0])
    rpy = [np.arctan2(R_tip[2, 1], R_tip[2, 2]), pitch, np.arctan2(R_tip[1, 0], R_tip[0, 0])]
    doc["frames"] = {"wall": {"body": "world", "xyz": tip[:3, 3].tolist(),
                              "rpy": [float(x) for x in rpy]}}
    doc["constraints"] = {"weld": {"type": "frame", "from": "wall", "to": "b6"}}
    case = Case("arch", doc)
    s = {"q": case.m.q0, "v": np.zeros(7), "tau": np.linspace(-1, 2, 7), "p": []}
    force = case.call("fd_constrained", s)[1]
    order = [case.m.lambda_names.index(f"weld.{x}") for x in ("rx", "ry", "rz", "x", "y", "z")]
    moment, pull = np.split(force[order], 2)
    pull = R_tip @ pull
    expected = np.concatenate([R_tip @ moment + np.cross(tip[:3, 3], pull), pull])
    left = unbalanced(case, s)
    close(left.pop("b6"), expected, 1e-9, np.abs(expected).max())
    for rest in left.values():
        close(rest, np.zeros(6), 1e-9, np.abs(expected).max())


@pytest.mark.quick
def test_no_contact() -> None:
    m = aj.load(MODELS / "arm.yaml")
    assert m.contact_names == () and m.function("joint_wrenches").size_out("normal") == (0, 1)
