"""Rolling without slip by constraints: Newton's and Euler's laws with the forces that the
multipliers say, and the closed forms of disks and balls (tests/data/analytic_references.json)."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from mechanisms import MODELS, Case, close
from test_constrained_references import G, at, motion, of_models, rows, solve
from test_references import DATA

pytestmark = pytest.mark.quick
ANALYTIC = {e["id"]: e for e in json.loads((DATA / "analytic_references.json").read_text())}


# -- Newton and Euler for a body that rolls ---------------------------------------------------


def plane(u: float, w: float) -> tuple[Any, Any]:
    return np.array([u, w, 0]), np.eye(3)


def hill(u: float, w: float, axes: Any = (1.5, 0.5, 1.0)) -> tuple[Any, Any]:
    """Point and frame (x along ∂/∂u, z outward) of the ellipsoid, in the world."""
    x = np.array(axes) * [np.cos(w) * np.cos(u), np.cos(w) * np.sin(u), np.sin(w)]
    along, normal = np.array([-axes[0] * np.sin(u), axes[1] * np.cos(u), 0]), x / np.square(axes)
    X, Z = along / np.linalg.norm(along), normal / np.linalg.norm(normal)
    R = np.array([[1, 0, 0], [0, 0, -1], [0, 1, 0]])
    return R @ x, R @ np.transpose([X, np.cross(Z, X), Z])


def solid_ellipsoid(a: float, b: float, c: float, density: float) -> tuple[float, Any]:
    m = density * 4 / 3 * np.pi * a * b * c
    return m, m / 5 * np.array([b * b + c * c, a * a + c * c, a * a + b * b])


ROLLING: dict[str, Any] = {  # body, surface, (mass, principal inertias)
    "sphere_on_plane": ("ball", plane, (1.5, [0.4 * 1.5 * 0.2**2] * 3)),
    "rolling_disk": ("disk", plane, (1.2, [0.027, 0.027, 0.054])),
    "ellipsoid_on_ellipsoid": ("ball", hill, solid_ellipsoid(0.12, 0.15, 0.20, 700))}


@pytest.mark.parametrize("pivot", ["free", "forbidden"])
@pytest.mark.parametrize("name", ROLLING)
def test_rolling_obeys_newton_and_euler(name: str, pivot: str) -> None:
    """No slip; m (a − g) is the contact force, whose tangential part the multipliers are, and
    its moment turns the body (with the multiplier about the normal, if it may not pivot)."""
    text = (MODELS / f"{name}.yaml").read_text()
    text = text.replace(", pivot: free}", "}").replace("{type: rolling,",
                                                       f"{{type: rolling, pivot: {pivot},")
    case, (body, surface, (mass, inertia)) = Case(name, text), ROLLING[name]
    rng = np.random.default_rng(3)
    for _ in range(5):
        s = at(case, case.m.q0 + 0.4 * rng.standard_normal(5), rng.standard_normal(5))
        a, multipliers = solve(case, s)
        pose, omega, velocity, alpha, acceleration = motion(case, body, s, a)
        x, frame = surface(*s["q"][:2])
        arm, R = x - pose[:3, 3], pose[:3, :3]
        close(velocity + np.cross(omega, arm), np.zeros(3), 1e-12)
        force = mass * (acceleration + [0, 0, G])
        close(frame.T[:2] @ force, [multipliers["roll.x"], multipliers["roll.y"]], 1e-9)
        close(frame[:, 2] @ force, case.call("joint_wrenches", s)[1], 1e-9)  # the normal force
        I = R @ np.diag(inertia) @ R.T  # noqa: E741
        moment = I @ alpha + np.cross(omega, I @ omega) - np.cross(arm, force)
        close(moment, multipliers.get("roll.pivot", 0) * frame[:, 2], 1e-9)
        if pivot == "forbidden":
            close(omega @ frame[:, 2], 0, 1e-12)


# -- closed forms of rolling ------------------------------------------------------------------


def velocities(case: Case, **given: float) -> Any:
    """v by names of coordinates; _ stands for the dot."""
    names = [n.replace(".", "_") for n in case.m.v_names]
    v = np.zeros(case.m.nv)
    for name, x in given.items():
        v[names.index(name)] = x
    return v


def disk_state(case: Case, q: Any, qd: Any) -> dict[str, Any]:
    """R = Rz(φ) Rx(θ) Rz(ψ): heading φ, lean θ, and ψ = −s − 90°."""
    (phi, th, psi), (phid, thd, psid) = q, qd
    v = velocities(case, rim_u=-0.3 * psid * np.cos(phi), rim_w=-0.3 * psid * np.sin(phi),
                   rim_s=-psid, rim_heading=phid, rim_lean=thd)
    s = at(case, [0.7, -0.4, -psi - np.pi / 2, phi, th], v)
    close(s["v"], v, 1e-14)  # this rolls
    return s


def test_rolling_disk() -> None:
    case, entry = of_models("rolling_disk"), ANALYTIC["rolling_disk"]
    a, _ = solve(case, disk_state(case, entry["state"]["q"], entry["state"]["qd"]))
    assert entry["params"] == {"m": 1.2, "r": 0.3, "I1": 0.027, "I3": 0.054, "g": G}
    close([a[3], a[4], -a[2]], entry["acceleration"], 1e-9)


def test_steady_rolling_of_a_disk() -> None:
    """θ̈ = 0 of the formula, solved for ψ̇: the disk runs in a circle, leaning."""
    case, m, r, I1, I3 = of_models("rolling_disk"), 1.2, 0.3, 0.027, 0.054
    for th, phid in ((1.1, 0.9), (0.6, -2.0), (1.9, 1.3)):
        s, c = np.sin(th), np.cos(th)
        w3 = (I1 * phid**2 * s * c - m * G * r * c) / ((I3 + m * r * r) * phid * s)
        a, _ = solve(case, disk_state(case, [0.2, th, 0.4], [phid, 0, w3 - phid * c]))
        close(a[2:], np.zeros(3), 1e-10)


@pytest.mark.parametrize("slope", [0.0, 0.3, 1.2])
def test_ball_on_an_incline(slope: float) -> None:
    case = of_models("sphere_on_plane")
    s = at(case, [0.3, -0.2, 0.4, 0.5, 0.6], np.array([0.3, 0.5, -0.2, 0.4, 0.7]))
    s["p"] = np.array([slope, 0.2])
    a, multipliers = solve(case, s)
    close(a[:2], [5 / 7 * G * np.sin(slope), 0], 1e-11, G)
    close(list(multipliers.values()), [-2 / 7 * 1.5 * G * np.sin(slope), 0], 1e-11, G)
    close(case.call("joint_wrenches", s)[1], 1.5 * G * np.cos(slope), 1e-11, G)  # and m g cos α


def ball(surface: Any, origin: Any = None, parent: str = "world", r: float = 0.1,
         normals: str = "same", **more: Any) -> dict[str, Any]:
    """A solid ball of 1 kg that rolls on a surface."""
    bodies = {"ball": {
        "parent": parent, "origin": origin or {}, "mass": 1.0, "inertia": [0.4 * r * r] * 3,
        "joint": {"type": "contact", "surface": surface, "normals": normals,
                  "child_surface": {"type": "sphere", "radius": r}}}}
    return {"anyjoint": 1, "name": "ball", "bodies": bodies,
            "constraints": {"roll": {"type": "rolling", "joint": "ball"}}, **more}


def test_ball_in_a_bowl() -> None:
    """In a plane φ̈ = −g sin φ / (7/5 (R − r)) from the bottom; in any motion the spin about
    the normal is kept. The bowl's poles lie across: u = φ − 90°."""
    R, r = 0.8, 0.1
    bowl = {"type": "sphere", "radius": R}
    case = Case("bowl", ball(bowl, {"rpy": [np.pi / 2, 0, 0]}, r=r))
    phi, phid = 0.6, 1.4
    s = at(case, [phi - np.pi / 2, 0, 0.3, 0, 0])
    A = rows(case, s)  # rolls across the ball's equator: ṡ from u̇
    v = velocities(case, ball_u=phid)
    v[2:] = np.linalg.lstsq(A[:, 2:], -A @ v, rcond=None)[0]
    a, multipliers = solve(case, at(case, s["q"], v))
    close(a[:2], [-G * np.sin(phi) / (7 / 5 * (R - r)), 0], 1e-10)
    # x of the contact is that of the bowl, along φ: with `normals: same` y and z are opposite
    close(list(multipliers.values()), [2 / 7 * G * np.sin(phi), 0], 1e-10)
    rng = np.random.default_rng(5)
    for _ in range(5):
        s = at(case, case.m.q0 + 0.5 * rng.standard_normal(5), rng.standard_normal(5))
        a, _ = solve(case, s)
        pose, omega, velocity, alpha, _ = motion(case, "ball", s, a)
        close(alpha @ pose[:3, 3] + omega @ velocity, 0, 1e-10)


def test_ball_on_a_turntable() -> None:
    """The centre's acceleration is 2/7 Ω z × v, wherever the ball is: it runs in circles. The
    table's rate is prescribed; what holds it is the multiplier."""
    Omega = 2.3
    doc = ball({"type": "plane"}, parent="table", normals="opposite")
    doc["bodies"] = {"table": {"parent": "world", "joint": {"type": "revolute"}, "mass": 3,
                               "inertia": [0.1, 0.1, 0.2]}} | doc["bodies"]
    doc["constraints"]["rate"] = {"type": "pfaffian", "coefficients": {"table": 1},
                                  "equals": Omega}
    case, rng = Case("turntable", doc), np.random.default_rng(7)
    for _ in range(5):
        s = at(case, 0.6 * rng.standard_normal(6), rng.standard_normal(6))
        close(s["v"][0], Omega, 1e-12)
        a, multipliers = solve(case, s)
        pose, omega, velocity, _, acceleration = motion(case, "ball", s, a)
        close(acceleration, 2 / 7 * Omega * np.cross([0, 0, 1], velocity), 1e-11)
        touch = pose[:3, 3] - [0, 0, 0.1]
        close(velocity + np.cross(omega, touch - pose[:3, 3]),
              np.cross([0, 0, Omega], touch), 1e-11)  # moves with the table
        close(multipliers["rate"], np.cross(touch, acceleration)[2], 1e-10)  # of 1 kg


def test_ball_in_a_vertical_cylinder() -> None:
    """φ̇ is constant and z̈ = −2/7 φ̇² (z − z₀): so z⃛ = −2/7 φ̇² ż, in every state."""
    case = Case("pipe", ball({"type": "cylinder", "radius": 0.5}))
    rng = np.random.default_rng(9)
    for _ in range(5):
        s = at(case, 0.6 * rng.standard_normal(5), 2 * rng.standard_normal(5))
        a, _ = solve(case, s)
        assert abs(a[1]) > 0.1
        close(a[0], 0, 1e-11, abs(a).max())
        jerk = case.rate("fd", s, {"q": s["v"], "v": a})
        close(jerk[0], 0, 1e-10, abs(jerk).max())
        close(jerk[1], -2 / 7 * s["v"][0] ** 2 * s["v"][1], 1e-10, abs(jerk).max())
