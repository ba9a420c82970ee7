"""The rolling joint: no slip at the contact, curves that rim points trace, and closed forms of
the motion on an incline and in a bowl."""

from __future__ import annotations

import json
from typing import Any

import casadi as ca
import numpy as np
import pytest

import anyjoint as aj
from mechanisms import MODELS, Case, close

pytestmark = pytest.mark.quick
R1, R2 = 0.9, 0.3
TRACKS: dict[str, Any] = {
    "line": {"radius": R2},
    "inside": {"radius": R2, "track": "inside", "track_radius": R1},
    "outside": {"radius": R2, "track": "outside", "track_radius": R1}}


def rolling(keys: Any, parent: str = "world", **others: Any) -> dict[str, Any]:
    return {"parent": parent, "joint": {"type": "rolling", **keys}, "mass": 1.3,
            "inertia": [0.02, 0.02, 0.04], **others}


def model(bodies: Any, g: Any = (0, -9.81, 0)) -> dict[str, Any]:
    return {"anyjoint": 1, "name": "wheels", "gravity": list(g), "bodies": bodies}


def contact(joint: Any, q: float) -> Any:
    """The point of the track where the wheel touches it, in the joint frame."""
    if joint.options == "line":
        return np.array([q, 0, 0])
    return float(joint.arguments[1]) * np.array([np.cos(q), np.sin(q), 0])


def velocity(case: Case, name: str, s: Any, G: Any, x: Any) -> Any:
    """World velocity of the point of a body that is at x (world axes)."""
    if name == "world":
        return np.zeros(3)
    twist = case.call("frame_velocity", s, frame=name, reference="world_aligned")
    return twist[3:] + np.cross(twist[:3], x - G[name][:3, 3])


def wheels() -> list[Case]:
    """Each track alone, and wheels within wheels within wheels, on a hinge."""
    tilted = {"xyz": [0.1, -0.2, 0.05], "rpy": [0.3, 0.2, -0.4]}
    nested = {"hub": {"parent": "world", "joint": {"type": "revolute", "axis": [1, 2, 2]},
                      "mass": 1.0, "inertia": [0.1, 0.1, 0.1]}}
    tracks = [TRACKS["inside"], {"radius": 0.12, "track": "inside", "track_radius": R2},
              {"radius": 0.05, "track": "outside", "track_radius": 0.12}, TRACKS["line"]]
    for k, keys in enumerate(tracks):
        nested[f"w{k}"] = rolling(keys, list(nested)[-1], origin=tilted if k in (0, 3) else {})
    alone = [Case(name, model({"w0": rolling(keys)})) for name, keys in TRACKS.items()]
    return [*alone, Case("nested", model(nested)),
            Case("rolling_wheels", (MODELS / "rolling_wheels.yaml").read_text())]


@pytest.mark.parametrize("case", wheels(), ids=lambda c: c.id)
def test_no_slip(case: Case) -> None:
    """The wheel's and the track's points at the contact have the same velocity, and the contact
    is on the rim."""
    rng, m, found = np.random.default_rng(1), case.m.baked(), 0
    for _ in range(5):
        q, v = 3 * rng.standard_normal(m.nq), rng.standard_normal(m.nv)
        s = {"q": q, "v": v, "p": case.m.p0}
        G = {n: np.array(x) for n, x in case.f("poses")(q=q, p=s["p"]).items()} | {
            "world": np.eye(4)}
        for body in m.bodies:
            if type(body.joint).__name__ != "Rolling":
                continue
            parent = "world" if body.parent < 0 else m.bodies[body.parent].name
            R0, r0 = (np.array(ca.DM(ca.SX(x))) for x in (body.link.R0, body.link.r0))
            touch = R0 @ contact(body.joint, q[m.q_names.index(body.name)]) + r0.ravel()
            x = (G[parent] @ [*touch, 1])[:3]
            close(np.linalg.norm(x - G[body.name][:3, 3]), float(body.joint.arguments[0]), 1e-12)
            close(velocity(case, body.name, s, G, x), velocity(case, parent, s, G, x), 1e-11)
            found += 1
    assert found


def rim(keys: Any, start: Any, angles: Any) -> Any:
    """Where the rim point goes that is at `start` (wheel's axes) at first."""
    case = Case("rim", model({"w": rolling(keys, frames={"rim": {"xyz": start}})}))
    return np.array([np.array(case.f("poses")(q=[a], p=[])["rim"])[:2, 3] for a in angles])


def test_rim_points_trace_the_curves_of_the_books() -> None:
    a = np.linspace(-3, 7, 41)
    c, s = np.cos(a), np.sin(a)
    circle = {"radius": R2, "track": "inside"}
    cycloid = rim({"radius": R2}, [0, -R2, 0], R2 * a)
    close(cycloid, R2 * np.transpose([a - s, 1 - c]), 1e-12)
    diameter = rim(circle | {"track_radius": 2 * R2}, [R2, 0, 0], a)  # the couple of Tusi
    close(diameter, 2 * R2 * np.transpose([c, 0 * c]), 1e-12)
    astroid = rim(circle | {"track_radius": 4 * R2}, [R2, 0, 0], a)
    close(astroid, 4 * R2 * np.transpose([c**3, s**3]), 1e-12)
    cardioid = rim({"radius": R2, "track": "outside", "track_radius": R2}, [-R2, 0, 0], a)
    close(cardioid, R2 * np.transpose([2 * c - np.cos(2 * a), 2 * s - np.sin(2 * a)]), 1e-12)


def test_turn_of_figure_5c() -> None:
    """Centre at r₁ − r₂, turn by (1 − r₁/r₂) q."""
    case = Case("in", model({"w": rolling(TRACKS["inside"])}))
    q = 0.7
    G = case.call("poses", {"q": [q], "p": []})
    close(G[:3, 3], (R1 - R2) * np.array([np.cos(q), np.sin(q), 0]), 1e-14)
    close(np.arctan2(G[1, 0], G[0, 0]), (1 - R1 / R2) * q, 1e-14)


@pytest.mark.parametrize("slope", [0.0, 0.3, 1.2])
def test_down_an_incline(slope: float) -> None:
    """s̈ = g sin α / (1 + I / (m r²)): the entry ball_on_incline."""
    g, m, I = 9.81, 1.3, 0.04  # noqa: E741
    case = Case("incline", model({"w": rolling(TRACKS["line"])},
                                 (g * np.sin(slope), -g * np.cos(slope), 0)))
    a = case.call("fd", {"q": [0.4], "v": [1.1], "tau": [0], "p": []})
    close(a, g * np.sin(slope) / (1 + I / (m * R2**2)), 1e-12)


@pytest.mark.parametrize("track", ["inside", "outside"])
def test_in_a_bowl_and_on_a_hill(track: str) -> None:
    """φ̈ = −g sin φ / ((Rb − r)(1 + I / (m r²))), φ from the bottom: ball_in_bowl_planar; on a
    hill φ is from the top, and the sign and Rb + r change."""
    g, m, I = 9.81, 1.3, 0.04  # noqa: E741
    case = Case("bowl", model({"w": rolling(TRACKS[track])}))
    phi, side = 0.6, 1 if track == "outside" else -1
    a = case.call("fd", {"q": [phi + side * np.pi / 2], "v": [1.4], "tau": [0], "p": []})
    close(a, side * g * np.sin(phi) / ((R1 + side * R2) * (1 + I / (m * R2**2))), 1e-12)


@pytest.mark.parametrize(("keys", "where", "message"), [
    ({"radius": 0.9, "track": "inside", "track_radius": 0.5}, "radius", "can't roll inside"),
    ({"radius": 0.5, "track": "inside", "track_radius": 0.5}, "radius", "can't roll inside"),
    ({"radius": 0.5, "track": "inside"}, "track", 'needs "track_radius"'),
    ({"radius": 0.5, "track": "outside"}, "track", 'needs "track_radius"'),
    ({"radius": 0.5, "track_radius": 1}, "track_radius", "goes with track: inside or outside"),
    ({"radius": 0}, "radius", "radius is not positive"),
    ({"radius": 0.1, "track": "outside", "track_radius": -1}, "track_radius", "not positive"),
    ({"radius": 0.1, "track": "around"}, "track", "expected 'line', 'inside' or 'outside'")])
def test_errors(keys: Any, where: str, message: str) -> None:
    with pytest.raises(aj.ModelError) as e:
        aj.loads(json.dumps(model({"w": rolling(keys)})))
    (problem,) = e.value.problems
    assert problem.key == f"bodies.w.joint.{where}" and message in problem.message
