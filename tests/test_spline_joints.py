"""spline_curve and spline_surface: algorithms 4 and 5 of seed 002, written as printed, with
exponentials and logarithms by mpmath; smoothness, ends, parameters, cost, problems. RedMax's
scenes 21 and 22 are in test_references.py."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import casadi as ca
import mpmath as mp
import numpy as np
import pytest

import anyjoint as aj
from anyjoint.joints.contract import kinematics
from anyjoint.joints.motion import Chart
from anyjoint.joints.spline_frames import SplineCurve, SplineSurface
from mechanisms import Case, close, single

STATES = 100
BASIS = np.array([[1, -3, 3, -1], [4, 0, -6, 3], [1, 3, 3, -3], [0, 0, 0, 1]]) / 6  # (53)
CURVES = [{"type": "spline_curve", **keys} for keys in SplineCurve.examples]
SURFACES = [{"type": "spline_surface", **keys} for keys in SplineSurface.examples]
QUAT = [0.1, 0.7, 0.4, -0.3]


def random_frames(n: int, ends: str) -> Any:
    rng = np.random.default_rng(n)
    return {"type": "spline_curve", "ends": ends, "frames": [
        {"xyz": list(rng.uniform(-1, 1, 3)), "rpy": list(rng.uniform(-0.7, 0.7, 3))}
        for _ in range(n)]}


def random_net(rows: int, columns: int) -> Any:
    points = np.random.default_rng(rows).uniform(-0.3, 0.3, (rows, columns, 6))
    points[..., 0] += np.arange(rows)[:, None]
    points[..., 1] += np.arange(columns)
    return {"type": "spline_surface", "points": points.tolist()}


LONG = [random_frames(9, "cyclic"), random_frames(12, "clamped"), random_frames(11, "open"),
        random_net(11, 4), random_net(5, 12)]
ALL = [*CURVES, *SURFACES, *LONG]


def joint_of(keys: Any) -> Any:
    return Case("single", single(keys)).m.bodies[0].joint


def at(joint: Any, q: Any) -> list[Any]:
    """G (4×4), S (6×nv) and ∂S/∂q_j (6×nv each) of a joint with numbers for arguments."""
    if not hasattr(joint, "tested"):
        x = ca.SX.sym("q", joint.nq)
        G = joint.motion(Chart(x, ca.SX.eye(joint.nq)), ca.SX(ca.DM(joint.arguments)))
        pose = ca.blockcat([[G.R, G.r], [ca.DM(1, 3), 1]])
        slopes = [ca.jtimes(G.S, x, ca.DM.eye(joint.nq)[:, j]) for j in range(joint.nq)]
        joint.tested = ca.Function("f", [x], [ca.densify(y) for y in (pose, G.S, *slopes)])
    return [np.array(y) for y in joint.tested(q)]


def states(joint: Any) -> Any:
    """Random states over the range."""
    low, high = np.transpose(joint.domain)
    return np.random.default_rng(1).uniform(low, high, (STATES, joint.nq))


# -- seed 002 in NumPy ---------------------------------------------------------------------------


def hat(x: Any) -> Any:
    (a, b, c), v = x[:3], x[3:]
    return np.array([[0, -c, b, v[0]], [c, 0, -a, v[1]], [-b, a, 0, v[2]], [0, 0, 0, 0]])


def exp(x: Any) -> Any:
    return np.array(mp.expm(mp.matrix(hat(x))).tolist(), float)


def log(E: Any) -> Any:
    X = np.array(mp.logm(mp.matrix(E)).tolist(), complex).real
    return np.array([X[2, 1], X[0, 2], X[1, 0], *X[:3, 3]])


def Ad(E: Any) -> Any:
    R, r = E[:3, :3], E[:3, 3]
    return np.block([[R, np.zeros((3, 3))], [hat([*r, 0, 0, 0])[:3, :3] @ R, R]])


def ad(x: Any) -> Any:
    w, v = hat([*x[:3], 0, 0, 0])[:3, :3], hat([*x[3:], 0, 0, 0])[:3, :3]
    return np.block([[w, np.zeros((3, 3))], [v, w]])


def q_vector(q: float, order: int = 0) -> Any:
    """(1, q, q², q³) and its derivatives, (54) and (61)."""
    return np.array([[1, q, q**2, q**3], [0, 1, 2 * q, 3 * q**2], [0, 0, 2, 6 * q]][order])


def algorithm_4(C: Any, dC: Any, q: float) -> Any:
    """C: the first frame; dC: three differences; q in [0, 1]."""
    b, b1, b2 = (np.cumsum((BASIS @ q_vector(q, k))[::-1])[::-1] for k in range(3))  # (57), (58)
    Q = C @ exp(dC[0] * b[1])
    S = dC[0] * b1[1]
    dS = dC[0] * b2[1]
    for i in (1, 2):
        Qi = exp(dC[i] * b[i + 1])
        Q = Q @ Qi
        Ad_i = Ad(np.linalg.inv(Qi))
        ad_i = ad(S)
        S = dC[i] * b1[i + 1] + Ad_i @ S
        dS = dC[i] * b2[i + 1] + Ad_i @ (dS + ad_i @ dC[i] * b1[i + 1])  # B̃′ for the misprint B̃
    return Q, S, dS


def algorithm_5(C: Any, q: Any) -> Any:
    """C: 4×4×6 control values; ê₂ is the shift along y, for the misprint in (62)."""
    def f(k: int, i: int = 0, j: int = 0) -> Any:
        return q_vector(q[0], i) @ BASIS.T @ C[:, :, k] @ BASIS @ q_vector(q[1], j)  # (60)

    first = ((1, 0), (0, 1))
    second = (((2, 0), (1, 1)), ((1, 1), (0, 2)))
    e = np.eye(6)[[3, 4, 5, 0, 1, 2]]
    Q = exp(e[0] * f(0))
    S = [e[0] * f(0, *first[i]) for i in range(2)]
    dS = [[e[0] * f(0, *second[i][j]) for j in range(2)] for i in range(2)]
    for k in range(1, 6):
        Qk = exp(e[k] * f(k))
        Q = Q @ Qk
        Ad_k = Ad(np.linalg.inv(Qk))
        for i in range(2):
            ad_i = ad(S[i])
            S[i] = e[k] * f(k, *first[i]) + Ad_k @ S[i]
            for j in range(2):
                dS[i][j] = e[k] * f(k, *second[i][j]) + Ad_k @ (
                    dS[i][j] + ad_i @ e[k] * f(k, *first[j]))
    return Q, np.transpose(S), np.array(dS)


def control_frames(keys: Any) -> list[Any]:
    """The 4×4 control frames, with the phantom frames C₁ C₂⁻¹ C₁ and Cₙ Cₙ₋₁⁻¹ Cₙ of clamped
    ends, and the first three again behind the last of cyclic ones."""
    bodies = {f"b{i}": {"parent": "world", "joint": {"type": "fixed"}, "origin": frame}
              for i, frame in enumerate(keys["frames"])}
    m = aj.loads(json.dumps({"anyjoint": 1, "name": "frames", "bodies": bodies}))
    C = [np.array(E) for E in m.function("poses").call([ca.DM(0, 1), ca.DM(0, 1)])]
    if keys["ends"] == "clamped":
        C = [C[0] @ np.linalg.inv(C[1]) @ C[0], *C, C[-1] @ np.linalg.inv(C[-2]) @ C[-1]]
    return C + (C[:3] if keys["ends"] == "cyclic" else [])


@pytest.mark.quick
@pytest.mark.parametrize("keys", [*CURVES, LONG[0], LONG[1]])
def test_algorithm_4(keys: Any) -> None:
    joint, C = joint_of(keys), control_frames(keys)
    dC = [log(np.linalg.inv(a) @ b) for a, b in pairwise(C)]
    assert joint.domain[0] == (0, len(C) - 3)
    for (u,) in states(joint):
        k = int(u)
        for own, other in zip(at(joint, u), algorithm_4(C[k], dC[k:k + 3], u - k), strict=True):
            close(own, other, 1e-11)


@pytest.mark.quick
@pytest.mark.parametrize("keys", [*SURFACES, *LONG[3:]])
def test_algorithm_5(keys: Any) -> None:
    joint, points = joint_of(keys), np.array(keys["points"])
    assert joint.domain == ((0, points.shape[0] - 3), (0, points.shape[1] - 3))
    for u in states(joint)[:40]:
        i, j = u.astype(int)
        G, S, *dS = at(joint, u)
        Q, S_5, dS_5 = algorithm_5(points[i:i + 4, j:j + 4], u - (i, j))
        close(G, Q, 1e-12)
        close(S, S_5, 1e-12)
        for k in range(2):
            close(dS[k], dS_5[:, k].T, 1e-12)


# -- the contract, smoothness, ends ---------------------------------------------------------------


@pytest.mark.parametrize("keys", ALL)
def test_subspace_is_the_derived_one(keys: Any) -> None:
    """Over the whole range; test_joints.py adds finite differences near rest."""
    joint = joint_of(keys)
    q, v = ca.SX.sym("q", joint.nq), ca.SX.sym("v", joint.nv)
    G, bias = kinematics(joint, q, v, ca.SX(ca.DM(joint.arguments)))
    S = Chart(q, ca.SX.eye(joint.nq)).derived(G.R, G.r).S
    f = ca.Function("f", [q, v], [G.S - S, bias - ca.jtimes(S @ v, q, v)])
    v = np.random.default_rng(2).standard_normal((STATES, joint.nv))
    for x, y in zip(states(joint), v, strict=True):
        assert max(float(ca.norm_inf(z)) for z in f(x, y)) < 1e-10


@pytest.mark.quick
@pytest.mark.parametrize("keys", ALL)
def test_twice_differentiable_at_the_knots(keys: Any) -> None:
    """G, S and ∂S/∂q from both sides; the slope of ∂S/∂q jumps."""
    joint, h = joint_of(keys), 1e-9
    low, high = np.transpose(joint.domain)
    for axis in range(joint.nq):
        for knot in range(0 if keys.get("ends") == "cyclic" else 1, int(high[axis])):
            q = low + 0.3 * (high - low)
            q[axis] = knot
            step = h * np.eye(joint.nq)[axis]
            for before, after in zip(at(joint, q - step), at(joint, q + step), strict=True):
                close(before, after, 1e-6)


@pytest.mark.quick
@pytest.mark.parametrize("keys", [CURVES[0], LONG[0]])
def test_cyclic_closes(keys: Any) -> None:
    joint, n = joint_of(keys), len(keys["frames"])
    for u in (0, 0.3, 1, n - 0.6):
        for turns in (-1, 1, 3):
            for own, other in zip(at(joint, u), at(joint, u + n * turns), strict=True):
                close(own, other, 1e-12)


@pytest.mark.quick
@pytest.mark.parametrize("keys", [CURVES[1], LONG[1], random_frames(2, "clamped")])
def test_clamped_starts_and_ends_at_frames(keys: Any) -> None:
    joint, C = joint_of(keys), control_frames(keys)[1:-1]
    for u, end, pair in ((0, C[0], C[:2]), (len(C) - 1, C[-1], C[-2:])):
        G, S, _ = at(joint, u)
        close(G, end, 1e-14)
        close(S, log(np.linalg.inv(pair[0]) @ pair[1]), 1e-13)


def test_two_frames_are_a_screw() -> None:
    joint = joint_of(random_frames(2, "clamped"))
    for u in (-0.5, 0.2, 0.9, 1.4):
        close(at(joint, u)[1], at(joint, 0)[1], 1e-13)


def test_far_turned_frames() -> None:
    """Differences close to half a turn keep their digits."""
    for angle in (3.0, 3.13, -3.1):
        joint = joint_of({"type": "spline_curve", "frames": [
            {"quat": QUAT}, {"xyz": [1, 0, 2], "quat": turned(QUAT, angle)}]})
        close(joint.arguments[-6:-3], angle * np.array([2, 1, -2]) / 3, 1e-10)


def turned(quat: Any, angle: float) -> Any:
    """quat ⊗ a turn by the angle about (2, 1, −2)/3."""
    w, v = quat[0], np.array(quat[1:])
    c, s = np.cos(angle / 2), np.sin(angle / 2) * np.array([2, 1, -2]) / 3
    return [w * c - v @ s, *(w * s + c * v + np.cross(v, s))]


# -- parameters, cost -----------------------------------------------------------------------------


@pytest.mark.parametrize("keys", [
    {"type": "spline_curve", "ends": "cyclic", "frames": [
        {"xyz": ["a", 0, 0], "rpy": [0, "a", 0]}, {"xyz": [0, "2*a", 0.1], "quat": [1, 0, "b", 0]},
        {"xyz": [-0.5, 0, "b"], "rpy": ["b", 0, 1]}, {"xyz": [0, -0.7, 0]}]},
    {"type": "spline_surface", "points": [
        [[f"{i}*a", j, f"b*{i * j}", 0, f"{i}*a/5", 0] for j in range(4)] for i in range(5)]}])
def test_control_frames_of_parameters(keys: Any) -> None:
    """id at p is that of the text with p for its defaults; ∂id/∂p against differences."""
    case, h = Case("p", single(keys) | {"parameters": {"a": 0.6, "b": 0.4}}, 3), 1e-6
    s = case.state()
    values = dict(zip("ab", map(float, s["p"]), strict=True))
    fixed = aj.loads(json.dumps(case.doc | {"parameters": values}), bake=True)
    close(case.call("id", s), fixed.function("id")(s["q"], s["v"], s["a"], []), 1e-11)
    J = case.jacobian("id", "tau", "p", s)
    for k, d in enumerate(h * np.eye(2)):
        ends = [case.call("id", s, {"p": s["p"] + e}) for e in (-d, d)]
        close(J[:, k], (ends[1] - ends[0]) / (2 * h), 1e-7, np.abs(ends[0]).max() * 10)


def instructions(keys: Any) -> int:
    """Of the pose, S and Ṡ v, with all arguments inputs."""
    joint = joint_of(keys)
    inputs = [ca.SX.sym("x", n) for n in (joint.nq, joint.nv, len(joint.arguments))]
    G, bias = kinematics(joint, *inputs)
    f = ca.Function("f", inputs, ca.cse([G.R, G.r, G.S, bias]))
    return int(f.n_instructions()) - f.nnz_in()


@pytest.mark.parametrize("ends", ["cyclic", "clamped", "open"])
def test_cost_of_a_further_frame(ends: str) -> None:
    few, many = (instructions(random_frames(n, ends)) for n in (10, 40))
    assert (many - few) / 30 <= 9 * 6


def test_cost_of_a_further_control_point() -> None:
    few, many, long = (instructions(random_net(*n)) for n in ((10, 10), (40, 10), (10, 40)))
    assert (many - few) / 300 <= 9 * 6
    assert (long - few) / 300 <= 9 * 6


# -- problems -------------------------------------------------------------------------------------


def shifted(*xs: float) -> list[Any]:
    return [{"xyz": [x, 0, 0]} for x in xs]


FLAT = [[[i, j, 0, 0, 0, 0] for j in range(4)] for i in range(4)]
HALF = {"xyz": [1, 0, 0], "rpy": ["pi", 0, 0]}
BAD: list[tuple[Any, list[tuple[str, str, str]]]] = [
    ({"frames": shifted(0)}, [("frames", "at least 2", "")]),
    ({"frames": shifted(0, 1), "ends": "cyclic"}, [("frames", "2 frames; cyclic", "clamped")]),
    ({"frames": shifted(0, 1, 2), "ends": "open"}, [("frames", "at least 4", "clamped")]),
    ({"frames": shifted(0, 1, 2), "ends": "periodic"}, [("ends", "'cyclic', 'clamped'", "cyclic")]),
    ({"frames": [*shifted(0, 1, 1, 2), HALF]},
     [("frames[1]", "next are equal", "remove"), ("frames[3]", "half a turn", "between")]),
    ({"frames": shifted(0, 1, 0), "ends": "cyclic"}, [("frames[2]", "next are equal", "remove")]),
    ({"frames": shifted(0, 1, "p0", 2)}, [("frames[1]", "next are equal", "remove")]),
    ({"frames": [*shifted(0, 1), {"quat": [0, 0, 0, 0]}, *shifted(2)]},
     [("frames[2].quat", "can't be zero", "")]),
    ({"frames": shifted(0, "x", 1)}, [("frames[1].xyz[0]", "unknown name", "")]),
    ({"points": FLAT[:3]}, [("points", "at least 4", "")]),
    ({"points": [*FLAT[:3], FLAT[3][:3]]}, [("points[3]", "at least 4", "")]),
    ({"points": [*FLAT[:3], FLAT[3] + FLAT[3]]}, [("points[3]", "8 points", "as many points")]),
    ({"points": [FLAT[0] + FLAT[0], *FLAT[1:]]}, [("points[0]", "8 points", "as many points")]),
    ({"points": [*FLAT[:3], [*FLAT[3][:3], [1, 2, 3]]]}, [("points[3][3]", "at least 6", "")]),
    ({"points": [[[0, 0, 0, 0, 0, 0]] * 4] * 4}, [("points", "all control points", "apart")]),
    ({"points": [FLAT[0], FLAT[1], FLAT[1], FLAT[3]]},
     [(f"points[2][{j}]", "same as its neighbour in the column", "apart") for j in range(4)]),
    ({"points": [[[x, j, 0, 0, 0, 0] for j in range(4)] for x in (0, 1e-3, 2e-3, 1, 0, 1, 2)]},
     [("points", "degenerate: at u = ", "coincide")]),
    ({"points": [[[i + j, 0, "p0", 0, 0, 0] for j in range(4)] for i in range(4)]},
     [("points", "degenerate", "on a line")]),
    ({"points": [*FLAT[:3], [*FLAT[3][:3], ["x", 0, 0, 0, 0, "1/0"]]]},
     [("points[3][3][0]", "unknown name", ""), ("points[3][3][5]", "division", "")]),
]


@pytest.mark.quick
@pytest.mark.parametrize(("keys", "expected"), BAD)
def test_problems(keys: Any, expected: Any) -> None:
    joint = {"type": "spline_curve" if "frames" in keys else "spline_surface"} | keys
    with pytest.raises(aj.ModelError) as caught:
        aj.loads(json.dumps(single(joint) | {"parameters": {"p0": 1}}, indent=1))
    found = caught.value.problems
    assert [p.key.removeprefix("bodies.b0.joint.") for p in found] == [key for key, *_ in expected]
    for problem, (_, message, hint) in zip(found, expected, strict=True):
        assert message in problem.message and hint in problem.hint and problem.place
