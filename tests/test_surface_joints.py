"""Joints on surfaces: the frames of the surfaces meet as seeds 001 and 003 say."""

from __future__ import annotations

import math
from typing import Any

import casadi as ca
import numpy as np
import pytest

from anyjoint.joints.motion import Chart
from mechanisms import close
from surface_samples import CASES, Sample, function, load, unit

PAIRS = [("ellipsoid_0", "torus_0"), ("bezier_1", "plane_0"), ("sphere_0", "bspline_3"),
         ("formula_0", "bezier_2")]


class On:
    """A joint on surfaces: its pose and S at one configuration, and the surfaces' frames."""

    def __init__(self, keys: Any, seed: int = 0):
        self.joint = joint = load(keys).bodies[0].joint
        samples = [Sample(keys[k]) for k in ("surface", "child_surface") if k in keys]
        at = [s.states()[0][:, seed] for s in samples]
        rng = np.random.default_rng(seed)
        self.q = np.concatenate([*at, rng.standard_normal(joint.nq - 2 * len(at))])
        self.G, self.S = transform(joint, self.q)
        self.frames = []
        for s, u in zip(samples, at, strict=True):
            R, r, S = (x[..., 0] for x in s.frame(u[:, None]))
            self.frames.append((matrix(R, r), S))


def transform(joint: Any, q: Any) -> tuple[Any, Any]:
    x = ca.SX.sym("q", joint.nq)
    G = joint.motion(Chart(x, joint.rate_matrix(x)), ca.SX(ca.DM(list(joint.arguments))))
    R, r, S = (v[..., 0] for v in function([x], G.R, G.r, G.S)(np.array(q, float)[:, None]))
    return matrix(R, r), S


def matrix(R: Any, r: Any) -> Any:
    return np.block([[R, r[:, None]], [np.zeros(3), 1.0]])


def adjoint(G: Any) -> Any:
    R, r = G[:3, :3], G[:3, 3]
    W = np.array([[0, -r[2], r[1]], [r[2], 0, -r[0]], [-r[1], r[0], 0]])
    return np.block([[R, np.zeros((3, 3))], [W @ R, R]])


@pytest.mark.quick
@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_contact_is_seed_003(pair: Any) -> None:
    """G = ¹E_1c · E_ψ · (²E_2c)⁻¹ with the printed E_ψ, and H of eq. 9 to 12."""
    for seed in range(5):
        on = On({"type": "contact", "surface": CASES[pair[0]], "child_surface": CASES[pair[1]]},
                seed)
        assert on.joint.q_names == ("u", "w", "s", "t", "psi")
        (E1, H1), (E2, H2) = on.frames
        c, s = math.cos(on.q[4]), math.sin(on.q[4])
        E = np.array([[c, -s, 0, 0], [-s, -c, 0, 0], [0, 0, -1, 0], [0, 0, 0, 1.0]])
        close(E @ E, np.eye(4), 1e-15)  # as the text below it says
        back = E @ np.linalg.inv(E2)
        close(on.G, E1 @ back, 1e-12)
        # φ(1, 2) in frame 1c (eq. 12, whose last sign is +); S v is the same twist in frame 2
        H = np.column_stack([H1, -np.kron(np.eye(2), E[:3, :3]) @ H2, [0, 0, -1, 0, 0, 0]])
        close(adjoint(back) @ on.S, H, 1e-11)


@pytest.mark.quick
@pytest.mark.parametrize("normals", ["same", "opposite"])
@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_surface_surface_aligns_frames(pair: Any, normals: str) -> None:
    twist = 0.7
    for seed in range(5):
        on = On({"type": "surface_surface", "surface": CASES[pair[0]], "normals": normals,
                 "child_surface": CASES[pair[1]], "twist": twist}, seed)
        assert on.joint.q_names == ("u", "w", "s", "t") and on.joint.nv == 4
        (E1, _), (E2, _) = on.frames
        between = np.linalg.inv(E1) @ on.G @ E2  # the child's surface frame in the parent's
        side = 1 if normals == "same" else -1
        close(between[:3, 3], np.zeros(3), 1e-12)
        close(between[:3, 2], [0, 0, side], 1e-12)
        close(between[:3, 0], [math.cos(twist), side * math.sin(twist), 0], 1e-12)


@pytest.mark.quick
@pytest.mark.parametrize("name", ["plane_0", "ellipsoid_0", "bezier_1"])
def test_rim_touches_the_surface(name: str) -> None:
    """Point on the rim = point on the surface, the rim's tangent lies in the tangent plane,
    `heading` from ∂f/∂u; `lean` turns about it."""
    a, b = 0.3, 0.2
    for seed in range(5):
        on = On({"type": "curve_surface", "surface": CASES[name],
                 "curve": {"type": "ellipse", "a": a, "b": b}}, seed)
        assert on.joint.q_names == ("u", "w", "s", "heading", "lean") and on.joint.nv == 5
        _, _, s, heading, lean = on.q
        rim = np.array([a * math.cos(s), b * math.sin(s), 0, 1])
        tangent = unit(np.array([-a * math.sin(s), b * math.cos(s), 0]))
        E1 = on.frames[0][0]
        close(on.G @ rim, E1[:, 3], 1e-12)
        local = E1[:3, :3].T @ on.G[:3, :3]
        close(local @ tangent, [math.cos(heading), math.sin(heading), 0], 1e-12)
        axis = local @ [0, 0, 1.0]  # of the wheel: along the normal if it does not lean
        close(axis[2], math.cos(lean), 1e-12)
        assert np.linalg.matrix_rank(on.S) == 5


@pytest.mark.quick
@pytest.mark.parametrize("rotation", ["none", "spin", "free"])
def test_body_on_surface(rotation: str) -> None:
    on = On({"type": "surface", "surface": CASES["ellipsoid_0"], "rotation": rotation}, 3)
    assert on.joint.nv == {"none": 2, "spin": 3, "free": 5}[rotation]
    close(on.G[:3, 3], on.frames[0][0][:3, 3], 1e-13)
    if rotation != "free":
        close(on.G[:3, 2], on.frames[0][0][:3, 2], 1e-13)


@pytest.mark.quick
@pytest.mark.parametrize("normals", ["same", "opposite"])
def test_a_ball_in_a_bowl_or_below_it(normals: str) -> None:
    """The normal of a paraboloid points down: with normals alike the ball is in the bowl."""
    on = On({"type": "contact", "normals": normals, "child_surface": {"type": "sphere",
             "radius": 0.02}, "surface": {"type": "paraboloid", "focal": 0.25}})
    (bowl, _), _ = on.frames
    side = 1 if normals == "opposite" else -1
    assert bowl[2, 2] < 0
    close(on.G[:3, 3], bowl[:3, 3] + side * 0.02 * bowl[:3, 2], 1e-12)


@pytest.mark.quick
def test_a_wheel_stands_upright_at_rest() -> None:
    keys = {"type": "curve_surface", "surface": {"type": "plane"},
            "curve": {"type": "circle", "radius": 0.3}}
    m = load(keys)
    G, S = transform(m.bodies[0].joint, m.q0)
    close(G[:3, 3], [0, 0, 0.3], 1e-15)
    assert np.linalg.matrix_rank(S) == 5
