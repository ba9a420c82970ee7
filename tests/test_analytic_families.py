"""Closed forms of tests/data/analytic_references.json with joints on curves and surfaces and
with tops: accelerations, and invariants and periods along a motion by a tight integrator."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np
import pytest
from scipy.integrate import solve_ivp

from mechanisms import Case, close
from test_analytic import (
    ENTRIES,
    INVARIANTS,
    at,
    ellipsoid,
    joachimsthal,
    kovalevskaya,
    kovalevskaya_top,
    lagrange_top,
    model,
    on_formula,
)
from test_references import quaternion

pytestmark = pytest.mark.quick

# -- the same on curves and surfaces -------------------------------------------------------------


def taylor(k0: float, k1: float, s0: float, degree: int = 20) -> Any:
    """Coefficients of the clothoid's point in powers of s − s0: with e = exp(i φ(s)),
    e' = i (k + k1 (s − s0)) e, and the point is the integral of e in the x-z plane."""
    e = [np.exp(1j * (k0 * s0 + k1 * s0**2 / 2)), 0j]
    e[1] = 1j * (k0 + k1 * s0) * e[0]
    for n in range(1, degree):
        e.append(1j * ((k0 + k1 * s0) * e[n] + k1 * e[n - 1]) / (n + 1))
    terms = [0, *(x / (n + 1) for n, x in enumerate(e[:degree]))]
    return [[np.real(x), 0, np.imag(x)] for x in terms]


S0 = 0.3
# a joint, and A, b of its coordinates A q + b with the file's q
ON_FAMILY: dict[str, Any] = {
    "bead_helix": ({"curve": {"type": "helix", "radius": "r", "pitch": "c"}}, [[1]], [0]),
    "bead_parabola": ({"curve": {"type": "polynomial", "coefficients": [
        [0, 0, 0], [1, 0, 0], [0, 0, "A"]]}}, [[1]], [0]),
    "cycloid_tautochrone": ({"curve": {"type": "formula", "variable": "th", "point": [
        "R*(th + sin(th))", 0, "R*(1 - cos(th))"]}}, [[1]], [0]),
    "frenet_bead_spin_helix": (  # our parameter is the angle
        {"curve": {"type": "helix", "radius": "r", "pitch": "c"}, "rotation": "spin"},
        [[1 / np.hypot(0.8, 0.25), 0], [0, 1]], [0, 0]),
    "frenet_bead_spin_clothoid": ({"curve": {"type": "polynomial", "coefficients": taylor(
        0.5, 0.8, S0)}, "rotation": "spin"}, [[1, 0], [0, 1]], [-S0, 0]),
    "spherical_pendulum": (  # longitude and latitude, th from below
        {"surface": {"type": "sphere", "radius": "l"}}, [[0, 1], [1, 0]], [0, -np.pi / 2]),
    "torus_particle": ({"surface": {"type": "torus", "radius": "R", "tube": "r"}},
                       [[1, 0], [0, 1]], [0, 0]),
    "cone_particle": ({"surface": {"type": "cone", "angle": "alpha"}},  # distance from the tip
                      [[0, 1], [1 / np.sin(0.5), 0]], [0, 0]),
    "paraboloid_particle": ({"surface": {"type": "paraboloid", "focal": "p/2"}},
                            [[0, 1], [1, 0]], [0, 0])}


def on_family(name: str, frame: str = "") -> Case:
    """The file's point mass or axisymmetric body on a joint of our families."""
    c, (keys, _, _) = ENTRIES[name]["params"], ON_FAMILY[name]
    joint = {"type": "curve" if "curve" in keys else "surface", **keys}
    if frame:
        joint |= {"frame": frame} | ({"up": [0, 1, 0]} if frame == "up" else {})
    inertia = {"inertia": ["I_T", "I_perp", "I_perp"]} if "I_T" in c else {}
    doc = model({"bead": {"parent": "world", "joint": joint, "mass": c.get("m", 1.0), **inertia}},
                c["g"])
    return Case(name, doc | {"constants": c})


def ours(name: str) -> Any:
    """State and acceleration of the file's entry in the coordinates of our joint."""
    e, (_, A, b) = ENTRIES[name], ON_FAMILY[name]
    q, v, a = (np.array(A) @ x for x in (e["state"]["q"], e["state"]["qd"], e["acceleration"]))
    return q + b, v, a


@pytest.mark.parametrize(("name", "frame"), [
    (name, frame) for name, (keys, A, _) in ON_FAMILY.items()
    for frame in (("fixed", "frenet", "up") if "curve" in keys and len(A) == 1 else ("",))])
def test_on_family(name: str, frame: str) -> None:
    """A point mass is the same in any frame; bodies and surfaces are in the default one."""
    case = on_family(name, frame)
    q, v, a = ours(name)
    close(case.call("fd", at(q, v, case.m.nv)), a, 1e-10)


@pytest.mark.parametrize("s", [-0.2, 0.1, 0.6])
def test_clothoid_elsewhere(s: float) -> None:
    """s̈ = −(I⊥ κ k1 ṡ² + m g sin φ) / (m + I⊥ κ²), away from the state of the file."""
    c = ENTRIES["frenet_bead_spin_clothoid"]["params"]
    k, phi = c["k0"] + c["k1"] * s, c["k0"] * s + c["k1"] * s**2 / 2
    expected = -(c["I_perp"] * k * c["k1"] * 1.7**2 + c["m"] * c["g"] * np.sin(phi)) / (
        c["m"] + c["I_perp"] * k**2)
    case = on_family("frenet_bead_spin_clothoid")
    close(case.call("fd", at([s - S0, 0.2], [1.7, 1.1], 2)), [expected, 0], 1e-10)


def test_frenet_with_spin_on_a_twisted_curve() -> None:
    """The entry frenet_bead_spin_general, s̈ = −(I⊥ κ κ' ṡ² + m g z') / (m + I⊥ κ²) and
    ψ̈ = −τ s̈ − τ' ṡ² with ' = d/ds, on a cubic whose parameter is not its length."""
    C = np.array([[0, 0, 0], [1, 0.2, 0.3], [0.1, -0.5, 0.4], [0, 0.2, 0.6]])
    m, I_T, I_perp, g, q, v = 1.3, 0.04, 0.09, 9.81, 0.4, 1.7
    u = ca.SX.sym("u")
    f = C.T @ ca.vertcat(1, u, u**2, u**3)
    f1 = ca.jacobian(f, u)
    f2 = ca.jacobian(f1, u)
    f3 = ca.jacobian(f2, u)
    speed, c = ca.norm_2(f1), ca.cross(f1, f2)
    kappa, tau = ca.norm_2(c) / speed**3, ca.dot(c, f3) / ca.sumsqr(c)
    rates = [ca.jacobian(x, u) / speed for x in (kappa, tau, f[2])]
    values = ca.Function("f", [u], [speed, ca.jacobian(speed, u), kappa, tau, *rates])(q)
    w, dw, k, t, dk, dt, dz = (float(x) for x in values)
    sd = w * v
    sdd = -(I_perp * k * dk * sd**2 + m * g * dz) / (m + I_perp * k**2)
    expected = [(sdd - dw * v**2) / w, -t * sdd - dt * sd**2]
    joint = {"type": "curve", "rotation": "spin",
             "curve": {"type": "polynomial", "coefficients": C.tolist()}}
    case = Case("twisted", model({"bead": {"parent": "world", "joint": joint, "mass": m,
                                           "inertia": [I_T, I_perp, I_perp]}}))
    close(case.call("fd", at([q, 0.3], [v, 1.1], 2)), expected, 1e-10)


def test_steady_motions() -> None:
    """Circles of the conical pendulum, on the cone and on the paraboloid: only the azimuth
    moves, at a constant rate."""
    for name, height, rate in (("spherical_pendulum", 0.7, np.sqrt(9.81 / (1.1 * np.cos(0.7)))),
                               ("cone_particle", 0.7, np.sqrt(9.81 / np.tan(0.5) / 0.7)),
                               ("paraboloid_particle", 0.3, np.sqrt(9.81 / 0.7)),
                               ("paraboloid_particle", 1.3, np.sqrt(9.81 / 0.7))):
        _, A, b = ON_FAMILY[name]
        q, v = np.array(A) @ [height, 0.4] + b, np.array(A) @ [0, rate]
        close(on_family(name).call("fd", at(q, v, 2)), [0, 0], 1e-10, 9.81)


# -- along a motion --------------------------------------------------------------------------------


def motion(case: Case, q: Any, v: Any, time: float = 5.0) -> Any:
    """States x = (q, v) at the steps of the integrator, one a row."""
    f = case.f("xdot")
    flow = solve_ivp(lambda t, x: f(x, np.zeros(case.m.nu), []).full().ravel(), (0, time),
                     [*q, *v], method="DOP853", rtol=1e-12, atol=1e-12)
    assert flow.success
    return flow.y.T


def kept(values: Any, tol: float = 1e-9) -> None:
    """All values are the first one."""
    values = np.array(values, float)
    close(values, np.full_like(values, values[0]), tol, np.abs(values).max())


def energies(case: Case, states: Any) -> list[float]:
    f, n = case.f("energy"), case.m.nq
    return [float(sum(np.array(x).item() for x in f(x[:n], x[n:], []))) for x in states]


@pytest.mark.parametrize("name", list(ON_FAMILY))
def test_invariants_on_curves_and_surfaces(name: str) -> None:
    e, (_, A, b) = ENTRIES[name], ON_FAMILY[name]
    case = on_family(name)
    # the clothoid is a polynomial, which is good near the file's state only
    states = motion(case, *ours(name)[:2], time=0.3 if "clothoid" in name else 5.0)
    n = len(A)
    theirs = [np.linalg.solve(A, y) for x in states for y in (x[:n] - b, x[n:])]
    pairs = np.reshape(theirs, (len(states), 2 * n))
    kept([INVARIANTS[name](x, e["params"]) for x in pairs])
    kept(energies(case, states))


def test_geodesic_of_the_ellipsoid() -> None:
    case, q = ellipsoid("surface")
    given = {"frame": "bead", "reference": "world_aligned"}
    J = case.call("frame_jacobian", at(q, [0, 0], 2), **given)[3:]
    xd = ENTRIES["triaxial_ellipsoid_geodesic"]["state"]["qd"]
    points = []
    for x in motion(case, q, np.linalg.lstsq(J, np.array(xd), rcond=None)[0]):
        s = at(x[:2], x[2:], 2)
        points.append([*case.call("poses", s)[:3, 3], *case.call("frame_velocity", s, **given)[3:]])
    kept([joachimsthal(ca.DM(y)) for y in points])
    kept(np.linalg.norm(np.array(points)[:, 3:], axis=1))


@pytest.mark.parametrize("amplitude", [0.2, 1.5, 2.9])
def test_tautochrone(amplitude: float) -> None:
    """The cycloid has one period for all amplitudes: 4 π √(R/g)."""
    c = ENTRIES["cycloid_tautochrone"]["params"]
    case = on_family("cycloid_tautochrone")
    close(c["period"], 4 * np.pi * np.sqrt(c["R"] / c["g"]), 1e-14)
    for time, expected in ((c["period"], amplitude), (c["period"] / 2, -amplitude)):
        close(motion(case, [amplitude], [0], time)[-1], [expected, 0], 1e-8)


def test_period_of_a_compound_pendulum() -> None:
    c = ENTRIES["compound_pendulum"]["params"]
    close(motion(on_formula("compound_pendulum"), [c["th0"]], [0], c["period"])[-1],
          [c["th0"], 0], 1e-8)


# -- tops ------------------------------------------------------------------------------------------


def rotation(q: Any) -> Any:
    """R of a quaternion."""
    w, x, y, z = q / np.linalg.norm(q)
    X = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + 2 * w * X + 2 * X @ X


def upright(states: Any) -> Any:
    """(ω, γ) with γ the vertical in body axes, one a row."""
    return np.array([[*x[4:], *rotation(x[:4])[2]] for x in states])


def test_lagrange_top_by_quaternion() -> None:
    """The file's Euler angles and rates as quaternion and body rates; E, p_φ and p_ψ are kept."""
    e = ENTRIES["lagrange_top"]
    I1, I3, mgl = (e["params"][n] for n in ("I1", "I3", "mgl"))
    x = ca.SX.sym("x", 6)  # th, phi, psi and their rates
    s, c, sp, cp = ca.sin(x[0]), ca.cos(x[0]), ca.sin(x[2]), ca.cos(x[2])
    w = ca.vertcat(x[4] * s * sp + x[3] * cp, x[4] * s * cp - x[3] * sp, x[4] * c + x[5])
    R = ca.mtimes([turn(2, x[1]), turn(0, x[0]), turn(2, x[2])])
    rate = ca.DM([*e["state"]["qd"], *e["acceleration"]])
    f = ca.Function("f", [x], [R, w, ca.jtimes(w, x, rate)])
    R0, w0, wd = (np.array(y) for y in f([*e["state"]["q"], *e["state"]["qd"]]))
    case = lagrange_top({"type": "spherical"})
    q = quaternion(R0)
    close(case.call("fd", at(q, w0.ravel(), 3)), wd, 1e-10)
    states = motion(case, q, w0.ravel())
    y, inertia = upright(states), np.array([I1, I1, I3])
    kept(I3 * y[:, 2])
    kept(np.sum(inertia * y[:, :3] * y[:, 3:], axis=1))
    kept(np.sum(inertia * y[:, :3] ** 2, axis=1) / 2 + mgl * y[:, 5])
    kept(energies(case, states))


def turn(axis: int, angle: Any) -> Any:
    """Rotation about x (0) or z (2)."""
    c, s = ca.cos(angle), ca.sin(angle)
    return (ca.blockcat([[1, 0, 0], [0, c, -s], [0, s, c]]) if axis == 0 else
            ca.blockcat([[c, -s, 0], [s, c, 0], [0, 0, 1]]))


@pytest.mark.parametrize("sign", [-1, 1])
def test_steady_precession(sign: int) -> None:
    """I₁ cos θ Ω² − p_ψ Ω + m g l = 0: θ stays, both rates stay."""
    I1, I3, mgl = (ENTRIES["lagrange_top"]["params"][n] for n in ("I1", "I3", "mgl"))
    th, p_psi = 0.7, 0.9
    c = I1 * np.cos(th)
    rate = (p_psi + sign * np.sqrt(p_psi**2 - 4 * c * mgl)) / (2 * c)
    case = lagrange_top({"type": "spherical_euler", "order": "zxz"})
    v = [rate, 0, p_psi / I3 - rate * np.cos(th)]
    close(case.call("fd", at([0.2, th, 0.4], v, 3)), [0, 0, 0], 1e-10, mgl / I1)


def test_kovalevskaya_top_keeps_k() -> None:
    c = ENTRIES["kovalevskaya_top"]["params"]
    case, s = kovalevskaya_top()
    states = motion(case, s["q"], s["v"], 10.0)
    y = upright(states)
    close(y[0, 3:], ENTRIES["kovalevskaya_top"]["state"]["gamma"], 1e-12)
    kept([kovalevskaya(x) for x in y])
    kept(np.sum(c["I3"] * np.array([2, 2, 1]) * y[:, :3] * y[:, 3:], axis=1))
    kept(energies(case, states))
