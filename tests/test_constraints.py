"""Constraints: closures against the joints that they stand for, formulas against couplings,
rolling against material points that move; the multipliers against Newton's balance and Gauss'
principle; what a time constant does, redundant rows, the least actuation, and what goes wrong."""

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
from constrained import CONSTRAINED, ROLLING, admissible, closed, model, rows
from mechanisms import COUPLED, Case, Doc, body, call, close, over
from test_forms import same

quick = pytest.mark.quick
NEW = ("fd_constrained", "id_constrained", "constraint_residual", "xdot")
EQUATIONS = [name for name, method in FORWARD.items() if method.equations is not None]


def each(cases: list[Case]) -> Any:
    """Parametrizes `case`; two of them are quick."""
    return pytest.mark.parametrize("case", [pytest.param(
        c, id=c.id, marks=quick if c.id in ("egg_on_egg", "formulas") else ()) for c in cases])


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


# -- closures are joints --------------------------------------------------------------------

XYZ, TURNS = ["x", "y", "z"], ["rx", "ry", "rz"]
JOINTS: list[Any] = [  # directions, the joint that is left
    (XYZ, {"type": "spherical"}),
    ([*XYZ, "rx", "ry"], {"type": "revolute"}),
    ([*XYZ, "rz", "rx"], {"type": "revolute", "axis": "y"}),
    ([*TURNS, *XYZ], {"type": "fixed"}),
    (["x", "y", "rx", "ry"], {"type": "cylindrical"}),
    (["rx", "ry", "z"], {"type": "planar"}),
    (TURNS, {"type": "translational"}),
    ([*XYZ, "rx"], {"type": "universal", "axes": ["z", "y"]}),
    ([*XYZ, "rz"], {"type": "universal", "axes": ["y", "x"]}),
    (["y", "z", *TURNS], {"type": "prismatic", "axis": "x"}),
]


def pair(directions: list[str], joint: Doc) -> tuple[Case, Case]:
    """A body on a moving one by a joint, and the same one free but closed to it."""
    rng = np.random.default_rng(4)
    arm = body(rng, "world", {"type": "universal"}, "arm")
    hand = body(rng, "arm", joint, "hand")
    tool = body(rng, "hand", {"type": "revolute", "axis": [1, 2, 0]}, "tool")
    floating = {**hand, "parent": "world", "joint": {"type": "free"}, "origin": {},
                "child_origin": {}}
    frames = {"socket": {"body": "arm", **hand["origin"]},
              "plug": {"body": "hand", **hand["child_origin"]}}
    bodies = {"arm": arm, "hand": hand, "tool": tool}
    kind = "frame" if {*directions} - {*XYZ} else "point"
    return model(bodies, {}), model({**bodies, "hand": floating}, {"plug": {
        "type": kind, "from": "socket", "to": "plug", "directions": directions}}, frames=frames)


def quaternion(R: Any) -> Any:
    """(w, x, y, z) of a rotation matrix that is no half turn."""
    w = np.sqrt(1 + np.trace(R)) / 2
    return [w, *(np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]) / (4 * w))]


@quick
@pytest.mark.parametrize(("directions", "joint"), JOINTS)
def test_closure_is_joint(directions: list[str], joint: Doc) -> None:
    """Accelerations of a body held by a closure are those of a body held by the joint, and λ is
    the wrench that the joint carries."""
    held, loose = pair(directions, joint)
    s = held.state()
    hand = {"frame": "hand", "reference": "body"}
    G = held.call("poses", s)[1]
    J, V, bias = (held.call(f"frame_{x}", s, **hand) for x in ("jacobian", "velocity", "bias"))
    kept = [0, 1, -1]
    tau = np.zeros(held.m.nv)
    tau[kept] = s["tau"][kept]
    a = held.call("fd", s | {"tau": tau})
    free = s | {"q": [*s["q"][:2], *quaternion(G[:3, :3]), *G[:3, 3], s["q"][-1]],
                "v": np.array([*s["v"][:2], *V, s["v"][-1]]),
                "tau": np.array([*tau[:2], *np.zeros(6), tau[-1]])}
    phi, rate = loose.call("constraint_residual", free)
    close([phi, rate], 0 * np.array([phi, rate]), 1e-13)
    found, multipliers = loose.call("fd_constrained", free)
    close(found, [*a[:2], *(J @ a + bias), a[-1]], 1e-10)
    # the wrench on the hand at the plug, in the axes of the socket
    wrench = held.call("joint_wrenches", s | {"tau": tau})[0][:, 1]
    plug, socket = (loose.call("poses", free)[loose.m.frame_names.index(x) + 3]
                    for x in ("plug", "socket"))
    hand_to = G[:3, :3].T @ (plug[:3, 3] - G[:3, 3])
    n, f = wrench[:3] - np.cross(hand_to, wrench[3:]), wrench[3:]
    turn = socket[:3, :3].T @ G[:3, :3]
    full = dict(zip([*TURNS, *XYZ], [*(turn @ n), *(turn @ f)], strict=True))
    if sum(x in TURNS for x in directions) != 1:  # else it is about y_to × z_from, not an axis
        close(multipliers, [full[x] for x in directions], 1e-9)


@quick
def test_frames_of_p_and_the_world() -> None:
    """A pendulum of a free body, with its pivot at run time: α = −m g l sin / (I + m l²)."""
    case = model({"b": {"parent": "world", "joint": {"type": "planar"}, "mass": 2,
                        "inertia": [1, 1, 0.3]}},
                 {"pin": {"type": "point", "from": "world", "to": "pivot",
                          "directions": ["x", "y"]}},
                 parameters={"l": 0.8}, gravity=[0, -9.81, 0],
                 frames={"pivot": {"body": "b", "xyz": [0, "l", 0]}})
    for length in (0.5, 0.8):
        q, w = 0.4, 0.7
        s = {"q": [length * np.sin(q), -length * np.cos(q), q], "p": [length], "tau": [0, 0, 0],
             "v": [length * np.cos(q) * w, length * np.sin(q) * w, w]}
        close(case.call("constraint_residual", s)[0], [0, 0], 1e-15)
        a, multipliers = case.call("fd_constrained", s)
        alpha = -2 * 9.81 * length * np.sin(q) / (0.3 + 2 * length**2)
        close(a[2], alpha, 1e-13)
        acceleration = length * np.array([np.cos(q) * alpha - np.sin(q) * w**2,
                                     np.sin(q) * alpha + np.cos(q) * w**2])
        close(a[:2], acceleration, 1e-13)
        close(multipliers, 2 * (acceleration + [0, 9.81]), 1e-12)


@quick
def test_derivatives_where_an_arm_vanishes() -> None:
    """A pendulum that hangs at rest: A has an entry that is zero there, and changes with q."""
    case = model({"b": {"parent": "world", "joint": {"type": "planar"}, "mass": 2,
                        "inertia": [1, 1, 0.3]}},
                 {"pin": {"type": "point", "from": "world", "to": "pivot",
                          "directions": ["x", "y"]}},
                 gravity=[0, -9.81, 0], frames={"pivot": {"body": "b", "xyz": [0, 0.8, 0]}})
    s = {"q": np.array([0, -0.8, 0]), "v": np.zeros(3), "tau": np.array([0.7, 0.2, 0.1]), "p": []}
    assert 0.0 in rows(case, s)[2]
    for k, step in enumerate(1e-5 * np.eye(3)):
        ahead, back = (case.call("fd", s | {"q": s["q"] + x}) for x in (step, -step))
        close(case.jacobian("fd", "a", "q", s)[:, k], (ahead - back) / 2e-5, 1e-8)


# -- formulas and couplings --------------------------------------------------------------------


@over([COUPLED[0], COUPLED[3], COUPLED[-1]])
def test_holonomic_is_coupling(case: Case) -> None:
    """The same formulas as couplings and as constraints: the same accelerations."""
    tree = Case("tree", {**case.doc, "couplings": {}, "constraints": {
        f"c{k}": {"type": "holonomic", "formula": f"{name} - ({text})"}
        for k, (name, text) in enumerate(case.doc["couplings"].items())}})
    for k in range(2):
        s = case.state(k)
        q, _, v, _, drift = (np.array(x) for x in case.m.coupling.graph(s["q"], s["v"], s["p"]))
        kept = list(case.m.coupling.v_kept)
        tau = np.zeros(tree.m.nv)
        tau[kept] = s["tau"]
        a = tree.call("fd", s | {"q": q, "v": v, "tau": tau})
        close(a[kept], case.call("fd", s), 1e-9)
        dependent = [i for i in range(tree.m.nv) if i not in kept]
        Gamma = np.array(case.m.coupling.graph(s["q"], s["v"], s["p"])[1])
        close(a[dependent], (Gamma @ a[kept] + drift.ravel())[dependent], 1e-9)
        close(tree.call("constraint_residual", s | {"q": q, "v": v}), np.zeros((2, len(dependent))),
              1e-12)


@quick
def test_equality_is_coupling() -> None:
    """Gears: the multiplier is the torque between them."""
    wheels = {n: {"parent": "world", "joint": {"type": "revolute"}, "mass": 1,
                  "inertia": [1, 1, i]} for n, i in (("a", 2.0), ("b", 0.5))}
    gear = {"type": "equality", "coordinates": ["b", "a.q"], "ratio": "-r", "offset": 0.3}
    case = model(wheels, {"gear": gear}, parameters={"r": 3.0})
    s = {"q": [0.2, 0.3 - 0.6], "v": [1, -3], "tau": [1.7, 0.4], "p": [3.0]}
    a, torque = case.call("fd_constrained", s)
    first = (1.7 - 3 * 0.4) / (2 + 9 * 0.5)
    close(a, [first, -3 * first], 1e-14)
    close(torque, 0.5 * a[1] - 0.4, 1e-14)
    close(case.call("constraint_residual", s), np.zeros((2, 1)), 1e-15)


@quick
def test_sleigh() -> None:
    """Chaplygin's: v̇ = l ω², (I + m l²) ω̇ = −m l ω v, with the centre of mass l ahead."""
    m, ahead, inertia = 2.0, 0.4, 0.7
    case = model({"s": {"parent": "world", "joint": {"type": "planar"}, "mass": m,
                        "com": [ahead, 0, 0], "inertia": [inertia, inertia, inertia]}},
                 {"knife": {"type": "pfaffian", "coefficients": {
                     "s.x": "sin(s.angle)", "s.y": "-cos(s.angle)"}}})
    angle, v, w = 0.6, 1.3, 0.8
    c, s = np.cos(angle), np.sin(angle)
    a, force = case.call("fd_constrained", {"q": [1, 2, angle], "v": [v * c, v * s, w],
                                            "tau": [0, 0, 0], "p": []})
    rate = -m * ahead * w * v / (inertia + m * ahead**2)
    close(a, [ahead * w**2 * c - v * w * s, ahead * w**2 * s + v * w * c, rate], 1e-13)
    close(force, -m * (v * w + ahead * rate), 1e-13)  # along (sin, −cos), on the blade


@quick
def test_pfaffian_equals() -> None:
    """A conveyor: a body moved at a given speed that depends on the place."""
    case = model({"b": {"parent": "world", "joint": {"type": "prismatic", "axis": "x"}, "mass": 2}},
                 {"belt": {"type": "pfaffian", "coefficients": {"b": 2}, "equals": "6 - 4*b"}})
    a, force = case.call("fd_constrained", {"q": [0.5], "v": [2], "tau": [1], "p": []})
    close([a, force], [-2 * 2, (2 * -4 - 1) / 2], 1e-14)


# -- rolling ------------------------------------------------------------------------------------


@each(ROLLING)
def test_material_points(case: Case) -> None:
    """The rate is the velocity of the child's point at the contact relative to the parent's, by
    central differences of points that move with the bodies; none of it is along the normal."""
    m, s = case.m, case.state()
    i = m.body_names.index("ball")
    keys = case.doc["bodies"]["ball"]
    origin = aj.loads(json.dumps({**case.doc, "constraints": {}, "frames": {
        "socket": {"body": "lift", **keys["origin"]}}}))

    def pose(f: ca.Function, q: Any, name: str) -> Any:
        return np.array(f(q=q, p=s["p"])[name])

    poses, q = origin.function("poses"), s["q"]
    joint, link = m.bodies[i].joint, m.bodies[i].link
    x, args = ca.SX.sym("x", 5), ca.DM(link.arguments)
    contact = ca.Function("c", [x], list(joint.contact(x, args)))
    R, r = (np.array(y) for y in contact(q[2:7]))
    socket = pose(poses, q, "socket")
    here, axes = socket[:3, :3] @ r.ravel() + socket[:3, 3], socket[:3, :3] @ R
    ends = []
    for h in (-1e-5, 1e-5):
        moved = call(m.function("integrate"), {"q": q, "dq": h * s["v"]})
        shift = []
        for name in ("ball", "lift"):
            G0, G = pose(poses, q, name), pose(poses, moved, name)
            local = G0[:3, :3].T @ (here - G0[:3, 3])
            shift.append(G[:3, :3] @ local + G[:3, 3])
        ends.append(shift[0] - shift[1])
    velocity = axes.T @ (ends[1] - ends[0]) / 2e-5
    rate = np.atleast_1d(case.call("constraint_residual", s)[1])
    close(velocity, [*rate[:2], 0], 1e-8)
    spin = case.call("frame_velocity", s, frame="ball")[:3] - \
        case.call("frame_velocity", s, frame="lift")[:3]
    if len(rate) == 3:
        close(axes[:, 2] @ spin, rate[2], 1e-12)


def simulate(case: Case, s: Doc, time: float, steps: int) -> Any:
    """States after each of these steps of Runge and Kutta's, without forces."""
    m = case.m
    f = m.function("xdot")
    x, h, out = np.concatenate([s["q"], s["v"]]), time / steps, []
    for _ in range(steps):
        k = [call(f, {"x": x, "u": np.zeros(m.nu), "p": s["p"]})]
        for part in (h / 2, h / 2, h):
            k.append(call(f, {"x": x + part * k[-1], "u": np.zeros(m.nu), "p": s["p"]}))
        x = x + h / 6 * (k[0] + 2 * k[1] + 2 * k[2] + k[3])
        out.append(s | {"q": x[: m.nq], "v": x[m.nq:]})
    return out


@each([ROLLING[0], ROLLING[2]])
def test_no_slip_is_kept(case: Case) -> None:
    """Without a time constant too; and energy is."""
    s = admissible(case, case.state())
    end = simulate(case, s, 0.3, 60)[-1]
    close(case.call("constraint_residual", end)[1], 0 * case.call("constraint_residual", s)[1],
          1e-6)
    close(sum(case.call("energy", end)), sum(case.call("energy", s)), 1e-6)


# -- stabilisation and redundant rows -----------------------------------------------------------


@each([CONSTRAINED[1], CONSTRAINED[5]])
def test_time_constant(case: Case) -> None:
    """φ(t) = (φ₀ + (φ̇₀ + φ₀/T) t) e^(−t/T), of velocities rate(t) = rate₀ e^(−t/T)."""
    s = case.state()
    phi, rate = (np.atleast_1d(x) for x in case.call("constraint_residual", s))
    time = 0.2
    phi_end, rate_end = (np.atleast_1d(x) for x in case.call(
        "constraint_residual", simulate(case, s, time, 200)[-1]))
    at = 0
    for c in case.m.constraints:
        own = slice(at, at := at + len(c.labels))
        T = np.inf if c.time_constant is None else float(ca.DM(ca.substitute(
            c.time_constant, case.m.p, ca.DM(s["p"]))))
        decay, speed = np.exp(-time / T), rate[own] + phi[own] / T
        if c.holonomic:
            close(phi_end[own], (phi[own] + speed * time) * decay, 1e-6)
        else:
            close(rate_end[own], rate[own] * decay, 1e-6)


def four_bar(constraint: Doc) -> Case:
    """Bars that turn about y, closed by a constraint."""
    rng = np.random.default_rng(2)
    hinge = {"type": "revolute", "axis": "y"}
    bars = {n: {**body(rng, parent, {**hinge, "rest": rest}, n), "origin": {"xyz": [x, 0, z]},
                "child_origin": {}, "frames": {f"tip_{n}": {"xyz": [0, 0, length]}}}
            for n, parent, x, z, length, rest in (
                ("a", "world", 0, 0, 0.5, 0.2), ("b", "a", 0, 0.5, 0.7, 1.1),
                ("c", "world", 0.8, 0, 0.6, 0.1))}
    return model(bars, {"close": {"from": "tip_b", "to": "tip_c", **constraint}})


@quick
def test_redundant_rows() -> None:
    """All directions in space for a planar loop: λ is zero where a row adds nothing, a and its
    derivatives are those of the minimal set, and all is finite."""
    few = four_bar({"type": "point", "directions": ["x", "z"]})
    many = four_bar({"type": "frame", "directions": ["x", "y", "z", "rx", "rz"]})
    twice = Case("twice", {**few.doc, "constraints": {
        **few.doc["constraints"], "again": few.doc["constraints"]["close"] | {"type": "point"},
        "turned": {"type": "point", "from": "tip_c", "to": "tip_b"}}})
    s = closed(few, few.state())
    a, force = few.call("fd_constrained", s)
    for case in (many, twice):
        for form in ("inlined", "rolled"):
            found, multipliers = case.call("fd_constrained", s, form=form)
            close(found, a, 1e-9)
            for wrt in ("q", "v", "tau"):
                close(case.jacobian("fd_constrained", "a", wrt, s, form=form),
                      few.jacobian("fd_constrained", "a", wrt, s), 1e-6)
                J = case.jacobian("fd_constrained", "lambda", wrt, s, form=form)
                assert np.isfinite(J).all()
        by_name = dict(zip(case.m.lambda_names, multipliers, strict=True))
        close([by_name["close.x"], by_name["close.z"]], force, 1e-8)
        close([x for n, x in by_name.items() if n not in ("close.x", "close.z")],
              np.zeros(len(by_name) - 2), 1e-8)
    second = many.f("fd_constrained").jacobian().jacobian()
    assert all(np.isfinite(np.array(x)).all() for x in second.call(
        [ca.DM(s[n] if n in s else np.zeros(shape)) for n, shape in zip(
            second.name_in(), map(second.size_in, range(second.n_in())), strict=True)]))


def tilted(case: Case) -> Case:
    """The four bars in another plane: what was zero in it is round-off."""
    roll, pitch, yaw = rpy = [0.3, 0.5, 0.7]
    x = np.array([np.cos(yaw) * np.cos(pitch), np.sin(yaw) * np.cos(pitch), -np.sin(pitch)])
    turned = {n: {**bar, "origin": {"xyz": (bar["origin"]["xyz"][0] * x).tolist(), "rpy": rpy}}
              if bar["parent"] == "world" else bar for n, bar in case.doc["bodies"].items()}
    return Case("tilted", {**case.doc, "bodies": turned})


@quick
@pytest.mark.parametrize("form", ["inlined", "rolled"])
def test_round_off_is_no_row(form: str) -> None:
    few, many, alone = (tilted(four_bar({"time_constant": 0.05, **x})) for x in (
        {"type": "point", "directions": ["x", "z"]}, {"type": "frame", "directions": [
            "x", "y", "z", "rx", "rz"]}, {"type": "point", "directions": ["y"]}))
    s = closed(few, few.state())
    a, force = few.call("fd_constrained", s, form=form)
    found, multipliers = many.call("fd_constrained", s, form=form)
    close(found, a, 1e-9)
    close(multipliers, [force[0], 0, force[1], 0, 0], 1e-8)
    found, multipliers = alone.call("fd_constrained", s, form=form)
    close(found, Case("open", {**alone.doc, "constraints": {}}).call("fd", s), 1e-9)
    close(multipliers, [0], 1e-9)


@quick
def test_coupled_already() -> None:
    """What couplings keep in any case, up to round-off, is no row."""
    doc = four_bar({"type": "point"}).doc | {"couplings": {"b": "0.1*3*a"}}
    doc["bodies"]["b"]["joint"].pop("rest")
    free = Case("free", doc | {"constraints": {}})
    kept = Case("kept", doc | {"constraints": {
        "k": {"type": "equality", "coordinates": ["b", "a"], "ratio": 0.3, "time_constant": 0.1}}})
    s = free.state()
    a, force = kept.call("fd_constrained", s)
    close(a, free.call("fd", s), 1e-9)
    close(force, [0], 1e-9)


@quick
def test_nearly_redundant_rows() -> None:
    """Slides a = b and a = b + c/1000: the second row is independent, though hardly (1e-6 of it is
    left), so c is held, by a large force."""
    slide = {"parent": "world", "joint": {"type": "prismatic", "axis": "x"}, "mass": 1}
    case = model({n: slide for n in "abc"}, {
        "one": {"type": "holonomic", "formula": "a - b"},
        "two": {"type": "holonomic", "formula": "a - b - c/1000"}})
    a, multipliers = case.call("fd_constrained", {"q": [0] * 3, "v": [0] * 3, "tau": [1, 0, 1],
                                                  "p": []})
    close(a, [0.5, 0.5, 0], 1e-9)
    close(multipliers, [-1000.5, 1000], 1e-7)


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
