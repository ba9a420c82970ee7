"""Constraints against what nobody here computed (RedMax) and closed forms; bodies that roll are
in test_constrained_rolling.py."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np
import pytest
from scipy.integrate import solve_ivp

from mechanisms import MODELS, Case, close
from test_references import SCENES, redmax_scene

pytestmark = pytest.mark.quick
G = 9.81
CONSTRAINED = ("ellipsoid_on_ellipsoid", "four_bar_loop", "gears", "rolling_disk", "sleigh",
               "sphere_on_plane")


def of_models(name: str) -> Case:
    return Case(name, (MODELS / f"{name}.yaml").read_text())


def at(case: Case, q: Any = None, v: Any = None, tau: Any = None) -> dict[str, Any]:
    """A state, at rest and without forces where nothing is given; v is moved to what the
    constraints allow by the least change."""
    m = case.m
    s = {"q": m.q0 if q is None else np.array(q, float), "v": np.zeros(m.nv) if v is None else v,
         "tau": np.zeros(m.nv) if tau is None else np.array(tau, float), "p": m.p0}
    excess = np.atleast_1d(case.call("constraint_residual", s)[1])
    return s | {"v": s["v"] - np.linalg.pinv(rows(case, s)) @ excess}


def rows(case: Case, s: Any) -> Any:
    """A of A v = …"""
    return case.jacobian("constraint_residual", "rate", "v", s)


def solve(case: Case, s: Any) -> tuple[Any, dict[str, float]]:
    """a, and the multipliers by name; fd gives the same a, and A is kept."""
    a, multipliers = (np.atleast_1d(x) for x in case.call("fd_constrained", s))
    close(case.call("fd", s), a, 1e-12)
    tree = case.call("id", s | {"a": a})
    close(tree, s["tau"] + rows(case, s).T @ multipliers, 1e-9)
    return a, dict(zip(case.m.lambda_names, multipliers, strict=True))


def motion(case: Case, frame: str, s: Any, a: Any) -> tuple[Any, Any, Any, Any, Any]:
    """Pose (4×4), ω, velocity, ω̇ and acceleration of a frame's origin, in world axes."""
    keys: Any = {"frame": frame, "reference": "world_aligned"}
    V = case.call("frame_velocity", s, **keys)
    A = np.reshape(case.call("frame_jacobian", s, **keys), (6, -1)) @ a
    A += case.call("frame_bias", s, **keys)
    pose = np.array(case.f("poses")(q=s["q"], p=s["p"])[frame])
    return pose, V[:3], V[3:], A[:3], A[3:]


@pytest.mark.parametrize("name", CONSTRAINED)
def test_models_rest_where_their_constraints_hold(name: str) -> None:
    case = of_models(name)
    for q in (case.m.q0, *case.m.states.values()):
        phi, rate = case.call("constraint_residual", at(case, q))
        close(phi, 0 * np.array(phi), 1e-12)
        close(rate, 0 * np.array(rate), 1e-12)


# -- RedMax: qddot there is constrained -------------------------------------------------------


def redmax(number: int) -> Case:
    scene = SCENES[number]
    doc = redmax_scene(scene).doc
    doc["constraints"] = {}
    for i, c in enumerate(scene["constraints"]):
        if c["class"] == "ConstraintMultQ":
            doc["constraints"][f"c{i}"] = {"type": "equality", "ratio": c["factor"],
                                           "coordinates": [f"b{c['jointB']}", f"b{c['jointA']}"]}
            continue
        for end in "AB":  # points are given in the body's com frame
            body, x = c[f"body{end}"], np.array(c[f"x{end}"], float)
            E = np.array(scene["bodies"][body]["E_ji"], float)
            doc["bodies"][f"b{body}"]["frames"][f"{end}{i}"] = {
                "xyz": list(E[:3, :3] @ x + E[:3, 3])}
        doc["constraints"][f"c{i}"] = {"type": "point", "from": f"B{i}", "to": f"A{i}",
                                       "directions": ["x", "z"]}  # hinges are about y
    return Case(f"redmax_{number}", doc)


@pytest.mark.parametrize("number", [7, 15, 30, 34])
def test_redmax_accelerations(number: int) -> None:
    case, start = redmax(number), SCENES[number]["initial"]
    s = at(case, start["q"])
    close(s["v"], start["qdot"], 1e-12)
    a, _ = solve(case, s)
    for key in ("qddot_redmax", "qddot_recursive"):
        close(a, start[key], 1e-10)


@pytest.mark.parametrize("number", [7, 15, 34])  # 30 has friction there, after the start
def test_redmax_euler(number: int) -> None:
    """Energy at the end of RedMax's linearly implicit Euler: M v₁ = M v₀ − h c + Aᵀλ with
    A v₁ = −5 φ, q₁ = q₀ + h v₁: some hundred states, each with its mass matrix, bias, A and φ."""
    case, scene = redmax(number), SCENES[number]
    s, h = at(case, scene["initial"]["q"]), scene["hEuler"]
    start = case.call("energy", s)[1]
    for _ in range(round(np.ptp(scene["tspan"]) / h)):
        A, phi = rows(case, s), np.atleast_1d(case.call("constraint_residual", s)[0])
        M = np.reshape(case.call("mass_matrix", s), (case.m.nv, -1))
        K = np.block([[M, A.T], [A, np.zeros((len(A), len(A)))]])
        right = [M @ s["v"] - h * case.call("bias", s), -5 * phi]
        v = np.linalg.solve(K, np.concatenate(right))[: case.m.nv]
        s |= {"q": s["q"] + h * v, "v": v}
    close(sum(case.call("energy", s)) - start, scene["Hexpected"]["redmax_euler"], 1e-9)


# -- the sleigh, the four-bar linkage, the gears ------------------------------------------------


def test_sleigh() -> None:
    """v̇ = a ω², ω̇ = −m a v ω / (I + m a²); the knife's force is m (v ω + a ω̇), to the left.
    In time v = c tanh(a c t / k²) with k² = I/m + a², after it stood still."""
    case, rng = of_models("sleigh"), np.random.default_rng(11)
    m, a, I = case.m.p0  # noqa: E741
    for _ in range(5):
        s = at(case, rng.standard_normal(3), rng.standard_normal(3))
        (x, y, turn), multipliers = solve(case, s)
        c, d = np.cos(s["q"][2]), np.sin(s["q"][2])
        v, w = c * s["v"][0] + d * s["v"][1], s["v"][2]
        close(c * x + d * y, a * w**2, 1e-12)
        close(turn, -m * a * v * w / (I + m * a**2), 1e-12)
        close(multipliers["knife"], m * (v * w + a * turn), 1e-11)
    k2, w = I / m + a**2, 1.7
    xdot, times = case.f("xdot"), np.linspace(0, 3, 13)
    run = solve_ivp(lambda t, x: np.ravel(xdot(x, np.zeros(3), case.m.p0)), (0, 3),
                    [0, 0, 0.4, 0, 0, w], "DOP853", times, rtol=1e-11, atol=1e-11)
    c, speed = np.sqrt(k2) * w, np.linalg.norm(run.y[3:5], axis=0)
    close(speed, c * np.tanh(a * c * times / k2), 1e-9)
    close(run.y[5], w / np.cosh(a * c * times / k2), 1e-9)


def four_bar() -> ca.Function:
    """θ̈, angles, rates and accelerations of the linkage from the angle and rate of the crank
    alone, by the triangle that coupler and rocker make and Lagrange's equation."""
    ground, a, b, c, w = 0.4, 0.1, 0.35, 0.3, 0.02
    th, rate, tau = (ca.SX.sym(n) for n in ("th", "rate", "tau"))
    dx, dz = ground - a * ca.cos(th), -a * ca.sin(th)
    d = ca.sqrt(dx**2 + dz**2)
    coupler = ca.atan2(dz, dx) + ca.acos((b**2 + d**2 - c**2) / (2 * b * d))
    rocker = ca.pi + ca.atan2(dz, dx) - ca.acos((c**2 + d**2 - b**2) / (2 * c * d))
    pin = a * ca.vertcat(ca.cos(th), ca.sin(th))
    T, V = 0, 0
    for length, angle, start in ((a, th, ca.DM([0, 0])), (b, coupler, pin),
                                 (c, rocker, ca.DM([ground, 0]))):
        mass = 2700 * length * w * w
        middle = start + length / 2 * ca.vertcat(ca.cos(angle), ca.sin(angle))
        T += mass / 2 * ca.sumsqr(ca.jacobian(middle, th))
        T += mass * (length**2 + w**2) / 24 * ca.jacobian(angle, th) ** 2
        V += mass * G * middle[1]
    M = 2 * T
    turn = ca.jacobian(rocker, th)
    loss = 0.001 * turn**2 * rate  # damping of the rocker's hinge
    acceleration = (tau - loss - ca.jacobian(M, th) * rate**2 / 2 - ca.jacobian(V, th)) / M
    q = ca.vertcat(th, coupler - th, rocker)
    J = ca.jacobian(q, th)
    a_q = J * acceleration + ca.jacobian(J, th) * rate**2
    return ca.Function("four_bar", [th, rate, tau], [q, J * rate, a_q])


def test_four_bar_loop() -> None:
    """Against the linkage in one coordinate; the pin's force by the moments on the rocker."""
    case, f = of_models("four_bar_loop"), four_bar()
    rng = np.random.default_rng(13)
    for _ in range(8):
        angle, rate, tau = rng.uniform(-3, 3), 3 * rng.standard_normal(), rng.standard_normal()
        q, v, expected = (np.ravel(x) for x in f(angle, rate, tau))
        s = at(case, q, v, [tau, 0, 0])
        close(s["v"], v, 1e-12)
        a, multipliers = solve(case, s)
        close(a, expected, 1e-9)
        m, c = 2700 * 0.3 * 0.02**2, 0.3
        I = m * (c**2 / 3 + 0.02**2 / 12)  # noqa: E741
        hinge = I * a[2] + 0.001 * v[2] + m * G * c / 2 * np.cos(q[2])
        close(-c * multipliers["pin.z"], hinge, 1e-9)  # on the rocker acts −λ, z is across it
        torque, same = case.call("id_constrained", s | {"a": a})
        close(torque, [tau, 0, 0], 1e-9)  # the motor alone moves it so
        close(same, list(multipliers.values()), 1e-9)


def test_a_redundant_closure_is_the_same() -> None:
    """All three directions, though y can't move, and two pins in one place: no λ there, the
    same motion."""
    text = (MODELS / "four_bar_loop.yaml").read_text()
    plain, rng = Case("plain", text), np.random.default_rng(15)
    more = text.replace("directions: [x, z], ", "")
    twice = text.replace("constraints:\n", "constraints:\n  again: {type: point, "
                         "from: coupler_end, to: rocker_end, directions: [x, z]}\n")
    for case in (Case("more", more), Case("twice", twice)):
        assert len(case.m.lambda_names) > 2
        s = at(plain, plain.m.q0, 3 * rng.standard_normal(3))
        a, _ = solve(case, s)
        close(a, plain.call("fd", s), 1e-9)


def test_gears() -> None:
    """One turning inertia, seen by the pinion; the rack's force is its mass times acceleration,
    the wheel's moment what turns it and drives the rack."""
    case, rng = of_models("gears"), np.random.default_rng(17)
    r1, r2, steel, t = 0.03, 0.09, 7800, 0.02
    disks = [steel * np.pi * r**2 * t * r**2 / 2 for r in (r1, r2)]
    wheel = disks[1] + 0.4 * (0.06**2 + 0.4 * 0.02**2)
    rack, k = steel * 0.6 * t * t, -r1 / r2
    for _ in range(5):
        angle, rate, tau = rng.standard_normal(3)
        q = [angle, k * angle + np.pi / 6, r2 * (k * angle + np.pi / 6)]
        s = at(case, q, np.array([rate, k * rate, r2 * k * rate]), [tau, 0, 0])
        a, multipliers = solve(case, s)
        load = 0.4 * G * 0.06 * np.cos(q[1]) + 0.001 * k * rate  # weight, damping
        inertia = disks[0] + k**2 * (wheel + rack * r2**2)
        close(a, (tau - k * load) / inertia * np.array([1, k, r2 * k]), 1e-10)
        close(multipliers["teeth"], rack * a[2], 1e-10)
        close(multipliers["mesh"], wheel * a[1] + load + r2 * rack * a[2], 1e-10)


def test_pendulum_by_a_formula() -> None:
    """A point mass with x² + z² = l²: θ̈ = −g/l sin θ, and the tension is −2 l λ."""
    l, m = 0.8, 1.3  # noqa: E741
    case = Case("pendulum", {
        "anyjoint": 1, "name": "pendulum", "constants": {"l": l},
        "bodies": {"bob": {"parent": "world", "origin": {"rpy": [np.pi / 2, 0, 0]}, "mass": m,
                           "joint": {"type": "planar", "rotation": False, "rest": [0, "-l"]}}},
        "constraints": {"rod": {"type": "holonomic", "formula": "bob.x**2 + bob.y**2 - l**2"}}})
    for th, rate in ((0.0, 0.0), (0.7, 1.9), (-2.5, 3.0)):
        down, along = np.array([np.sin(th), -np.cos(th)]), np.array([np.cos(th), np.sin(th)])
        a, multipliers = solve(case, at(case, l * down, l * rate * along))
        close(a, -G * np.sin(th) * along - l * rate**2 * down, 1e-12)
        close(-2 * l * multipliers["rod"], m * (l * rate**2 + G * np.cos(th)), 1e-11)


def test_shafts_with_a_universal_joint() -> None:
    """hooke_joint_pair: ω₂ = ω₁ cos β / (1 − sin²β cos²φ₁), the bearing of the second shaft by a
    frame closure that leaves the turn about its axis; φ₁ is from where the first axis of the cross
    lies in the plane of both shafts, which is a quarter turn from φ = 0 here."""
    beta, I = 0.6, [0.02, 0.02, 0.03]  # noqa: E741
    body = {"mass": 1.0, "inertia": I}
    case = Case("hooke", {
        "anyjoint": 1, "name": "hooke", "gravity": [0, 0, 0],
        "frames": {"bearing": {"body": "world", "rpy": [beta, 0, 0]}},
        "bodies": {"first": {"parent": "world", "joint": {"type": "revolute"}, **body},
                   "second": {"parent": "first", "joint": {"type": "universal"}, **body}},
        "constraints": {"hold": {"type": "frame", "from": "bearing", "to": "second",
                                 "directions": ["rx", "ry"]}}})
    for phi in (0.0, 0.4, 1.2, 2.0):
        q = np.array([phi, 0, 0])  # of the cross: the second shaft's z is the bearing's
        z = np.array([0, -np.sin(beta), np.cos(beta)])
        x, y, _ = np.array([[np.cos(phi), np.sin(phi), 0], [-np.sin(phi), np.cos(phi), 0],
                            [0, 0, 1]]) @ z
        q[2] = np.arcsin(x)  # Rx(q₁) Ry(q₂) z = (sin q₂, −sin q₁ cos q₂, cos q₁ cos q₂)
        q[1] = np.arcsin(-y / np.cos(q[2]))
        s = at(case, q, np.array([1.0, 0, 0]))
        close(case.call("constraint_residual", s)[0], [0, 0], 1e-12)
        s = at(case, q, s["v"] / s["v"][0])
        a, _ = solve(case, s)
        _, omega, _, alpha, _ = motion(case, "second", s, a)
        part, k = 1 - np.sin(beta) ** 2 * np.sin(phi) ** 2, np.sin(beta) ** 2 * np.sin(2 * phi)
        ratio, slope = np.cos(beta) / part, np.cos(beta) * k / part**2
        close(omega, ratio * z, 1e-11)
        # the second rate is the first one times the ratio, and energy is kept
        close(alpha, (ratio * a[0] + slope) * z, 1e-10)
        close(a[0], -ratio * slope / (1 + ratio**2), 1e-10)


# -- over some seconds --------------------------------------------------------------------------


@pytest.mark.parametrize("name", CONSTRAINED)
def test_constraints_hold_in_time(name: str) -> None:
    """From a push at rest; without time_constant the drift is the integrator's."""
    case = of_models(name)
    m, rng = case.m, np.random.default_rng(19)
    s, f, none = at(case, v=0.3 * rng.standard_normal(case.m.nv)), case.f("xdot"), np.zeros(m.nu)
    run = solve_ivp(lambda t, x: np.ravel(f(x, none, m.p0)), (0, 2),
                    np.concatenate([s["q"], s["v"]]), "DOP853", rtol=1e-10, atol=1e-10)
    assert run.success and run.t[-1] == 2
    for x in run.y.T[::10]:
        phi, rate = case.call("constraint_residual", s | {"q": x[: m.nq], "v": x[m.nq :]})
        close(phi, 0 * np.array(phi), 1e-8)
        close(rate, 0 * np.array(rate), 1e-7)
