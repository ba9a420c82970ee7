"""Mechanisms with constraints, for the tests; states that satisfy them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mechanisms import Case, Doc, body, call, coupled, random_tree

PLANE, ROUND = {"type": "plane"}, {"type": "sphere", "radius": 0.3}
EGG = {"type": "ellipsoid", "a": 0.5, "b": 0.3, "c": 0.4}


def model(bodies: Doc, constraints: Doc, **sections: Any) -> Case:
    return Case("m", {"anyjoint": 1, "name": "m", "bodies": bodies, "constraints": constraints,
                      **sections})


def _on_a_lift(rng: Any, joint: Doc, constraint: Doc) -> Doc:
    """A contact on a body that moves itself, and a body that the one in contact carries."""
    bodies = {"lift": body(rng, "world", {"type": "universal"}, "lift"),
              "ball": body(rng, "lift", joint, "ball"),
              "rider": body(rng, "ball", {"type": "revolute", "axis": [1, 2, 3]}, "rider")}
    return {"anyjoint": 1, "name": "lift", "bodies": bodies,
            "constraints": {"roll": {"type": "rolling", "joint": "ball", **constraint}}}


def _loops(rng: Any) -> Doc:
    """A tree of four with closures of every kind, at frames that p moves."""
    doc = random_tree(41, 6, forces=True)
    doc["parameters"] |= {"T": 0.3, "shift": 0.1}
    doc["frames"] = {"anchor": {"body": "world", "xyz": ["shift", 1, 0], "rpy": [0.1, "shift", 0]},
                     "hook": {"body": "b2", "xyz": [0.1, "2*shift", 0], "rpy": [0.3, 0, 1]}}
    doc["constraints"] = {
        "pin": {"type": "point", "from": "tool_b0", "to": "hook", "directions": ["z", "x"]},
        "weld": {"type": "frame", "from": "tool_b5", "to": "anchor", "directions": ["rx", "y"],
                 "time_constant": "T"},
        "turn": {"type": "frame", "from": "world", "to": "b4", "directions": ["rz", "rx"],
                 "time_constant": 0.5}}
    return doc


def _formulas() -> Doc:
    """Formulas of coordinates with quaternions among the velocities, and of p."""
    rng = np.random.default_rng(8)
    bodies = {"base": body(rng, "world", {"type": "free"}, "base"),
              "ball": body(rng, "base", {"type": "spherical", "damping": 0.3}, "ball"),
              "a": body(rng, "ball", {"type": "revolute"}, "a"),
              "b": body(rng, "base", {"type": "planar", "rest": [0.3, 0.2, 0.5]}, "b")}
    return {"anyjoint": 1, "name": "formulas", "bodies": bodies, "parameters": {"c": 0.7, "T": 0.2},
            "constraints": {
                "gear": {"type": "equality", "coordinates": ["a", "b.angle"], "ratio": "-2*c",
                         "offset": "c", "time_constant": "T"},
                "cam": {"type": "holonomic", "formula": "c*sin(b.x) - b.y*a**2"},
                "knife": {"type": "pfaffian", "coefficients": {
                    "base.vy": "1 + c*base.qx", "ball.wz": "sin(a)*ball.qw", "a": -1},
                    "equals": "c*b.x + 0.1", "time_constant": "2*T"}}}


def _both() -> Doc:
    """Couplings and constraints, of dependent coordinates too."""
    doc = coupled(203, 6)
    dependent = list(doc["couplings"])
    doc["constraints"] = {
        "sum": {"type": "holonomic", "formula": f"{dependent[0]}**2 - ratio*{dependent[1]}"},
        "pin": {"type": "point", "from": "tool_b5", "to": "world", "directions": ["y"],
                "time_constant": "ratio"},
        "pull": {"type": "pfaffian", "coefficients": {dependent[0]: "cos(ratio)",
                                                      dependent[-1]: dependent[1]}}}
    return doc


def _rng(k: int) -> Any:
    return np.random.default_rng([17, k])


ROLLING = [
    Case("ball_on_plane", lambda: _on_a_lift(_rng(0), {
        "type": "contact", "surface": PLANE, "child_surface": ROUND}, {}), 1),
    Case("egg_on_egg", lambda: _on_a_lift(_rng(1), {
        "type": "contact", "surface": EGG, "child_surface": {**EGG, "b": 0.35}},
        {"pivot": "forbidden", "time_constant": 0.2}), 2),
    Case("ball_in_bowl", lambda: _on_a_lift(_rng(2), {
        "type": "contact", "surface": {"type": "paraboloid", "focal": 0.8}, "normals": "same",
        "child_surface": ROUND}, {"pivot": "forbidden"}), 3),
    Case("wheel_on_torus", lambda: _on_a_lift(_rng(3), {
        "type": "curve_surface", "surface": {"type": "torus", "radius": 1.1, "tube": 0.3},
        "curve": {"type": "circle", "radius": 0.2}}, {"time_constant": 0.1}), 4),
]
CONSTRAINED = [*ROLLING, Case("loops", lambda: _loops(_rng(4)), 5), Case("formulas", _formulas, 6),
               Case("coupled_too", _both, 7)]


def rows(case: Case, s: Doc) -> tuple[Any, Any, Any, Any]:
    """φ, rate, A and bias at s, the last two by differentiation of the rate."""
    phi, rate = (np.atleast_1d(x) for x in case.call("constraint_residual", s))
    A = case.jacobian("constraint_residual", "rate", "v", s)
    qdot = case.call("qdot", s)
    bias = case.rate("constraint_residual", s, {"q": qdot, "v": 0 * s["v"], "p": 0 * s["p"]})[1]
    return phi, rate, A, np.atleast_1d(bias)


def admissible(case: Case, s: Doc) -> Doc:
    """s with v and a that the constraints allow (the nearest ones); q stays as it is."""
    _, rate, A, _ = rows(case, s)
    s = s | {"v": s["v"] - np.linalg.pinv(A) @ rate}
    _, _, A, bias = rows(case, s)
    return s | {"a": s["a"] - np.linalg.pinv(A) @ (A @ s["a"] + bias)}


def closed(case: Case, s: Doc) -> Doc:
    """s with q on φ = 0, by Newton steps, and v and a that the constraints allow."""
    move = case.m.function("integrate")
    for _ in range(30):
        phi, rate, A, _ = rows(case, s)
        J = A * (phi != 0)[:, None]  # rows of velocities alone don't count
        s = s | {"q": call(move, {"q": s["q"], "dq": -np.linalg.pinv(J, 1e-9) @ phi})}
    assert np.abs(rows(case, s)[0]).max(initial=0) < 1e-12
    return admissible(case, s)


def each(cases: list[Case]) -> Any:
    """Parametrizes `case`; two of them are quick."""
    few = ("egg_on_egg", "formulas")
    return pytest.mark.parametrize("case", [pytest.param(
        c, id=c.id, marks=pytest.mark.quick if c.id in few else ()) for c in cases])


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
