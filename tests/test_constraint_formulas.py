"""Constraints by formula against couplings and closed forms; rolling against material points that
move; what a time constant does."""

from __future__ import annotations

import json
from typing import Any

import casadi as ca
import numpy as np
import pytest

import anyjoint as aj
from constrained import CONSTRAINED, ROLLING, admissible, each, model, simulate
from mechanisms import COUPLED, Case, call, close, over

quick = pytest.mark.quick


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
