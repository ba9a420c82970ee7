"""Closed forms of tests/data/analytic_references.json: accelerations, and invariants whose
rate along the flow is zero. The same on curve and surface joints, and the invariants along a
motion, are in test_analytic_families; the file's free-floating tree is in test_laws, its tongs
are in test_couplings, its rolling wheels in test_rolling."""

from __future__ import annotations

import json
from typing import Any

import casadi as ca
import numpy as np
import pytest

from mechanisms import Case, close
from test_references import DATA, quaternion

ENTRIES = {e["id"]: e for e in json.loads((DATA / "analytic_references.json").read_text())}
pytestmark = pytest.mark.quick


def model(bodies: Any, g: float = 9.81) -> dict[str, Any]:
    return {"anyjoint": 1, "name": "analytic", "gravity": [0, 0, -g], "bodies": bodies}


def at(q: Any, v: Any, nv: int) -> dict[str, Any]:
    return {"q": np.array(q, float), "v": np.array(v, float), "tau": np.zeros(nv), "p": []}


def drift(invariant: Any, x: Any, rate: Any) -> float:
    """d/dt of invariant(x) with ẋ = rate."""
    X = ca.SX.sym("x", len(x))
    return float(ca.Function("f", [X], [ca.jtimes(invariant(X), X, ca.DM(rate))])(x))


# -- a point or a small body on a curve or surface: formula joints over the file's own coords ----

TORUS = [{"rotz": "u"}, {"shift": ["R", 0, 0]}, {"roty": "-v"}, {"shift": ["r", 0, 0]}]
HELIX = [{"shift": ["r*cos(s/L)", "r*sin(s/L)", "c*s/L"]}, {"rotz": "s/L + pi/2"},
         {"roty": "-atan2(c, r)"}, {"rotx": "psi"}]
# its osculating parabola at the state s0 has the clothoid's first and second derivative there
CLOTHOID = [{"shift": ["(s - s0)*cos(f0) - (s - s0)**2/2*k*sin(f0)", 0,
                       "(s - s0)*sin(f0) + (s - s0)**2/2*k*cos(f0)"]},
            {"roty": "-(k0*s + k1*s**2/2)"}, {"rotx": "psi"}]
ON_FORMULA = {
    "bead_helix": [{"shift": ["r*cos(q)", "r*sin(q)", "c*q"]}],
    "bead_parabola": [{"shift": ["x", 0, "A*x**2"]}],
    "cycloid_tautochrone": [{"shift": ["R*(th + sin(th))", 0, "R*(1 - cos(th))"]}],
    "frenet_bead_spin_helix": HELIX,
    "frenet_bead_spin_clothoid": CLOTHOID,
    "spherical_pendulum": [
        {"shift": ["l*sin(th)*cos(phi)", "l*sin(th)*sin(phi)", "-l*cos(th)"]}],
    "torus_particle": TORUS,
    "cone_particle": [{"shift": ["rho*cos(phi)", "rho*sin(phi)", "rho*cos(alpha)/sin(alpha)"]}],
    "paraboloid_particle": [{"shift": ["rho*cos(phi)", "rho*sin(phi)", "rho**2/(2*p)"]}],
    "compound_pendulum": [{"roty": "th"}, {"shift": [0, 0, "-l"]}]}
DERIVED = {  # constants that follow from the file's
    "frenet_bead_spin_helix": {"L": "sqrt(r**2 + c**2)"},
    "frenet_bead_spin_clothoid": {"s0": 0.3, "f0": "k0*s0 + k1*s0**2/2", "k": "k0 + k1*s0"}}
INVARIANTS: dict[str, Any] = {  # of x = (q, v) and the parameters
    "bead_helix": lambda x, c: (c["r"] ** 2 + c["c"] ** 2) * x[1] ** 2 / 2 + c["g"] * c["c"] * x[0],
    "bead_parabola": lambda x, c: ((1 + 4 * c["A"] ** 2 * x[0] ** 2) * x[1] ** 2 / 2
                                   + c["g"] * c["A"] * x[0] ** 2),
    "cycloid_tautochrone": lambda x, c: (  # a spring along the arc 4 R sin(th/2)
        c["R"] * ca.cos(x[0] / 2) ** 2 * x[1] ** 2 + c["g"] * ca.sin(x[0] / 2) ** 2),
    "frenet_bead_spin_helix": lambda x, c: x[3] + c["tau"] * x[2],
    "frenet_bead_spin_clothoid": lambda x, c: x[3],
    "spherical_pendulum": lambda x, c: ca.sin(x[0]) ** 2 * x[3],
    "torus_particle": lambda x, c: (c["R"] + c["r"] * ca.cos(x[1])) ** 2 * x[2],
    "cone_particle": lambda x, c: x[0] ** 2 * x[3],
    "paraboloid_particle": lambda x, c: x[0] ** 2 * x[3]}


def on_formula(name: str) -> Case:
    e = ENTRIES[name]
    c, q = e["params"], e["state"]["q"]
    inertia = ["I_T", "I_perp", "I_perp"] if "I_T" in c else [0, c.get("I", 0), c.get("I", 0)]
    joint = {"type": "formula", "coordinates": dict(zip(e["coords"], q, strict=True)),
             "transform": ON_FORMULA[name]}
    doc = model({"bead": {"parent": "world", "joint": joint, "mass": c.get("m", 1.0),
                          "inertia": inertia}}, c["g"])
    return Case(name, doc | {"constants": c | DERIVED.get(name, {})})


@pytest.mark.parametrize("case", [on_formula(n) for n in ON_FORMULA], ids=lambda c: c.id)
def test_on_formula(case: Case) -> None:
    e = ENTRIES[case.id]
    s = at(e["state"]["q"], e["state"]["qd"], case.m.nv)
    a = case.call("fd", s)
    close(a, e["acceleration"], 1e-10)
    if case.id in INVARIANTS:
        x, rate = [*s["q"], *s["v"]], [*s["v"], *a]
        assert abs(drift(lambda x: INVARIANTS[case.id](x, e["params"]), x, rate)) < 1e-9


def test_generic_curve() -> None:
    """q̈ = (r'·G − r'·r'' q̇²) / (r'·r') for a curve that no other entry has."""
    joint = {"type": "formula", "coordinates": {"q": 0.4},
             "transform": [{"shift": ["exp(q)", "q**3", "sin(2*q)"]}, {"rotx": 1}]}
    case = Case("curve", model({"bead": {"parent": "world", "joint": joint, "mass": 0.7}}))
    q, v = 0.4, 1.3
    r1 = np.array([np.exp(q), 3 * q**2, 2 * np.cos(2 * q)])
    r2 = np.array([np.exp(q), 6 * q, -4 * np.sin(2 * q)])
    expected = (r1 @ [0, 0, -9.81] - r1 @ r2 * v**2) / (r1 @ r1)
    close(case.call("fd", at([q], [v], 1)), expected, 1e-12)


@pytest.mark.parametrize("joint", ["formula", "helical"])
def test_rigid_bead_on_helix(joint: str) -> None:
    """A body that turns with the helix, by formula and as a screw with the com off its axis."""
    c = ENTRIES["bead_helix"]["params"]
    m, Izz = 1.7, 0.03
    keys: dict[str, Any] = {"type": "helical", "axis": "z", "pitch": c["c"]}
    if joint == "formula":
        keys = {"type": "formula", "coordinates": {"q": 0}, "transform": [
            {"shift": ["0.8*cos(q)", "0.8*sin(q)", "0.25*q"]}, {"rotz": "q"}]}
    com = [0, 0, 0] if joint == "formula" else [c["r"], 0, 0]
    case = Case("bead", model({"bead": {"parent": "world", "joint": keys, "mass": m, "com": com,
                                        "inertia": [Izz, Izz, Izz]}}))
    expected = -m * c["g"] * c["c"] / (m * (c["r"] ** 2 + c["c"] ** 2) + Izz)
    close(case.call("fd", at([0.7], [1.1], 1)), expected, 1e-12)


def ellipsoid(joint: str) -> tuple[Case, Any]:
    """A point on the ellipsoid of the file, and q at the state of the file."""
    e = ENTRIES["triaxial_ellipsoid_geodesic"]
    (a, b, c), x = e["params"]["semi_axes"], e["state"]["q"]
    keys: dict[str, Any] = {"type": "surface", "surface": {
        "type": "ellipsoid", "a": a, "b": b, "c": c}}
    if joint == "formula":
        keys = {"type": "formula", "coordinates": {"u": 0.5, "w": 0.5}, "transform": [
            {"shift": [f"{a}*cos(w)*cos(u)", f"{b}*cos(w)*sin(u)", f"{c}*sin(w)"]}]}
    case = Case("ellipsoid", model({"bead": {"parent": "world", "joint": keys, "mass": 2.0}}, 0))
    return case, [np.arctan2(x[1] / b, x[0] / a), np.arcsin(x[2] / c)]


def joachimsthal(y: Any) -> Any:
    """The invariant of geodesics on that ellipsoid, of y = (x, ẋ)."""
    A = ca.DM(ENTRIES["triaxial_ellipsoid_geodesic"]["params"]["semi_axes"])
    return ca.sumsqr(y[:3] / A**2) * ca.sumsqr(y[3:] / A)


@pytest.mark.parametrize("joint", ["formula", "surface"])
def test_ellipsoid_geodesic(joint: str) -> None:
    """State and acceleration of the file are Cartesian: ẍ = J a + J̇ v, J of world axes."""
    e = ENTRIES["triaxial_ellipsoid_geodesic"]
    x, xd = e["state"]["q"], e["state"]["qd"]
    case, q = ellipsoid(joint)
    given = {"frame": "bead", "reference": "world_aligned"}
    J = case.call("frame_jacobian", at(q, [0, 0], 2), **given)[3:]
    s = at(q, np.linalg.lstsq(J, np.array(xd), rcond=None)[0], 2)
    close(case.call("poses", s)[:3, 3], x, 1e-12)
    close(J @ s["v"], xd, 1e-12)
    acceleration = J @ case.call("fd", s) + case.call("frame_bias", s, **given)[3:]
    close(acceleration, e["acceleration"], 1e-10)
    assert abs(drift(joachimsthal, [*x, *xd], [*xd, *acceleration])) < 1e-9


# -- pendulums and tops ------------------------------------------------------------------------


def test_double_pendulum() -> None:
    """The file's angles are absolute, the joints' relative."""
    e = ENTRIES["double_pendulum_point_masses"]
    c, (q1, q2), (w1, w2) = e["params"], e["state"]["q"], e["state"]["qd"]
    hinge = {"type": "revolute", "axis": "y"}
    case = Case("double", model({
        "one": {"parent": "world", "joint": hinge, "mass": c["m1"], "com": [0, 0, -c["l1"]]},
        "two": {"parent": "one", "joint": hinge, "mass": c["m2"], "com": [0, 0, -c["l2"]],
                "origin": {"xyz": [0, 0, -c["l1"]]}}}, c["g"]))
    a = case.call("fd", at([q1, q2 - q1], [w1, w2 - w1], 2))
    close([a[0], a[0] + a[1]], e["acceleration"], 1e-10)


def test_free_rigid_body() -> None:
    e = ENTRIES["euler_free_rigid_body"]
    case = Case("euler", model({"body": {"parent": "world", "joint": {"type": "spherical"},
                                         "mass": 1.0, "inertia": e["params"]["I"]}}, 0))
    s = at([0.5, -0.5, 0.1, 0.7], e["state"]["qd"], 3)
    a = case.call("fd", s)
    close(a, e["acceleration"], 1e-10)
    h_dot = case.rate("momentum", s, {"q": case.call("qdot", s), "v": a})
    close(h_dot[:3], np.zeros(3), 1e-12)


def lagrange_top(joint: dict[str, Any]) -> Case:
    I1, I3, mgl = (ENTRIES["lagrange_top"]["params"][n] for n in ("I1", "I3", "mgl"))
    l = mgl / 9.81  # noqa: E741
    return Case("top", model({"top": {
        "parent": "world", "joint": joint, "mass": 1.0, "com": [0, 0, l],
        "inertia": [I1 - l**2, I1 - l**2, I3]}}))


def test_lagrange_top() -> None:
    e = ENTRIES["lagrange_top"]
    I1, I3 = e["params"]["I1"], e["params"]["I3"]
    case = lagrange_top({"type": "spherical_euler", "order": "zxz"})
    k = [1, 0, 2]  # the file has (th, phi, psi)
    s = at(np.array(e["state"]["q"])[k], np.array(e["state"]["qd"])[k], 3)
    a = case.call("fd", s)
    close(a[k], e["acceleration"], 1e-10)

    def p_psi(x: Any) -> Any:
        return I3 * (x[5] + x[3] * ca.cos(x[1]))

    def p_phi(x: Any) -> Any:
        return I1 * ca.sin(x[1]) ** 2 * x[3] + p_psi(x) * ca.cos(x[1])

    for invariant in (p_psi, p_phi):
        assert abs(drift(invariant, [*s["q"], *s["v"]], [*s["v"], *a])) < 1e-9


def kovalevskaya_top() -> tuple[Case, Any]:
    """The top, and its state in the file."""
    e = ENTRIES["kovalevskaya_top"]
    c, w, gamma = e["params"], np.array(e["state"]["w"]), np.array(e["state"]["gamma"])
    lever = c["m"] * c["l"] ** 2
    case = Case("top", model({"top": {
        "parent": "world", "joint": {"type": "spherical"}, "mass": c["m"], "com": [c["l"], 0, 0],
        "inertia": [2 * c["I3"], 2 * c["I3"] - lever, c["I3"] - lever]}}, c["g"]))
    x = np.cross(gamma, [0, 0, 1.0])
    x /= np.linalg.norm(x)
    return case, at(quaternion([x, np.cross(gamma, x), gamma]), w, 3)  # Rᵀ z = gamma


def kovalevskaya(y: Any) -> Any:
    """Her invariant K of y = (ω, γ)."""
    w, g, nu = y[:3], y[3:], ENTRIES["kovalevskaya_top"]["params"]["nu"]
    return (w[0] ** 2 - w[1] ** 2 - nu * g[0]) ** 2 + (2 * w[0] * w[1] - nu * g[1]) ** 2


def test_kovalevskaya_top() -> None:
    e = ENTRIES["kovalevskaya_top"]
    case, s = kovalevskaya_top()
    a, w, gamma = case.call("fd", s), s["v"], np.array(e["state"]["gamma"])
    close(a, e["acceleration"], 1e-10)
    assert abs(drift(kovalevskaya, [*w, *gamma], [*a, *np.cross(gamma, w)])) < 1e-9


@pytest.mark.parametrize("size", [0.0, 1e-9, 1e-4, 0.3, 2.0, 5.0])
def test_exponential_map(size: float) -> None:
    """ω = Jr(q) q̇ in the body, Jr(−q) q̇ in space."""
    case = Case("ball", model({"ball": {"parent": "world", "joint": {"type": "spherical_exp"},
                                        "mass": 1.0, "inertia": [1, 1, 1]}}))
    q, v = size * np.array([2, -3, 6]) / 7, np.array([0.4, 1.1, -0.7])

    def Jr(q: Any) -> Any:
        X = np.array([[0, -q[2], q[1]], [q[2], 0, -q[0]], [-q[1], q[0], 0]])
        t = np.linalg.norm(q)
        b, c = ((1 - np.cos(t)) / t**2, (t - np.sin(t)) / t**3) if t > 1e-2 else (0.5, 1 / 6)
        return np.eye(3) - b * X + c * X @ X

    for reference, sign in (("body", 1), ("world_aligned", -1)):
        twist = case.call("frame_velocity", at(q, v, 3), frame="ball", reference=reference)
        close(twist[:3], Jr(sign * q) @ v, 1e-12)
