"""The laws of mechanics over all joints, alone and in chains, and over random trees."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np
import pytest

from mechanisms import (
    ALL,
    COUPLED,
    FLOATING,
    ONES,
    OTHERS,
    TREES,
    Case,
    close,
    joint_cases,
    over,
    single,
)


def square(case: Case, name: str, s: Any, **options: Any) -> Any:
    n = case.m.nv
    return np.reshape(case.call(name, s, **options), (n, n))


def rates(case: Case, s: Any) -> Any:
    """q̇ and N of q̇ = N v."""
    N = case.jacobian("qdot", "qdot", "v", s)
    return case.call("qdot", s), N


@over(ALL)
def test_forward_inverts_inverse(case: Case) -> None:
    for passive in (True, False):
        s = case.state()
        tau = case.call("id", s, passive=passive)
        close(case.call("fd", s, {"tau": tau}, passive=passive), s["a"], 1e-9)
        a = case.call("fd", s, passive=passive)
        close(case.call("id", s, {"a": a}, passive=passive), s["tau"], 1e-9)


@over(ALL)
def test_mass_matrix(case: Case) -> None:
    """M = ∂id/∂a, symmetric, positive definite; id = M a + bias; T = ½ vᵀ M v."""
    s = case.state()
    M = square(case, "mass_matrix", s)
    close(case.jacobian("id", "tau", "a", s), M, 1e-12)
    close(M, M.T, 1e-13)
    assert np.linalg.eigvalsh(M).min(initial=1.0) > 0
    close(case.call("id", s), M @ s["a"] + case.call("bias", s), 1e-11)
    close(case.call("energy", s)[0], s["v"] @ M @ s["v"] / 2, 1e-12)


@over(ALL)
def test_coriolis(case: Case) -> None:
    """Ṁ − 2C is skew, and C v is what the bias has beyond its value at rest."""
    s = case.state()
    C = square(case, "coriolis_matrix", s)
    M_dot = np.reshape(case.rate("mass_matrix", s, {"q": rates(case, s)[0]}), C.shape)
    X = M_dot - 2 * C
    close(X, -X.T, 1e-10)
    still = case.call("bias", s, {"v": 0 * s["v"]}, passive=False)
    moving = case.call("bias", s, passive=False)
    close(C @ s["v"], moving - still, 1e-10, np.abs(still).max(initial=1))


@over(ALL)
def test_potential(case: Case) -> None:
    """The bias at rest is Nᵀ ∂V/∂q: gravity alone, and with springs."""
    s = case.state() | {"v": np.zeros(case.m.nv)}
    _, N = rates(case, s)
    for passive in (False, True):
        dV = case.jacobian("energy", "potential", "q", s, passive=passive)
        close(case.call("bias", s, passive=passive), N.T @ dV.ravel(), 1e-10)
    if not any(f.sites and not f.passive for f in case.m.forces):  # no constant forces
        close(case.call("bias", s, passive=False), case.call("gravity_torque", s), 1e-12)


@over(ALL)
def test_power(case: Case) -> None:
    """d(T + V)/dt = τᵀv − vᵀDv along the flow; friction is a loss as well, and forces of
    constraints do no work but where the velocity violates them."""
    s = case.state()
    v = joint_velocities(case, s)
    loss = column(case, s, "damping") * v
    loss += column(case, s, "friction") * np.tanh(v / column(case, s, "friction_velocity"))
    flow = {"q": rates(case, s)[0], "v": case.call("fd", s)}
    T_dot, V_dot = case.rate("energy", s, flow)
    power = s["v"] @ (s["tau"] + constraint_force(case, s)) - v @ loss
    close(T_dot + V_dot, power, 1e-9, max(1, abs(T_dot), abs(V_dot)))


def constraint_force(case: Case, s: Any) -> Any:
    """Aᵀ λ (nv), of A = ∂rate/∂v; zero without constraints."""
    if not case.m.constraints:
        return np.zeros(case.m.nv)
    A = case.jacobian("constraint_residual", "rate", "v", s)
    return A.T @ np.atleast_1d(case.call("fd_constrained", s)[1])


def joint_velocities(case: Case, s: Any) -> Any:
    """v of all joints, the dependent ones of couplings included."""
    if case.m.coupling is None:
        return s["v"]
    return np.array(case.m.coupling.graph(s["q"], s["v"], s["p"])[2]).ravel()


def column(case: Case, s: Any, key: str) -> Any:
    """A passive joint constant (nv) at p."""
    f = ca.Function("f", [case.m.p], [ca.densify(ca.SX(getattr(case.m.passive, key)))])
    return np.array(f(s["p"])).ravel()


def test_passive_constants_are_the_texts() -> None:
    for case in TREES[:10]:
        for key in ("damping", "friction", "stiffness"):
            text = [case.doc["bodies"][b.name]["joint"].get(key, 0) for b in case.m.bodies
                    for _ in range(b.joint.nv)]
            close(column(case, case.state(), key), text, 0)


# -- a tree on a free joint -----------------------------------------------------------------


@over([*FLOATING, COUPLED[-1]], quick=False)
def test_momentum_is_kept(case: Case) -> None:
    """Torques, springs and armature inside the tree leave its momentum alone; gravity moves
    the centre of mass as it moves a point."""
    s = case.state()
    base = [i for i, n in enumerate(case.m.v_names) if n.startswith("b0.")]
    tau = s["tau"].copy()
    tau[base] = 0
    flow = {"q": rates(case, s)[0], "v": case.call("fd", s, {"tau": tau})}
    pull = total_mass(case, s["p"]) * np.array(case.doc["gravity"])
    scale = np.abs(case.call("momentum", s)).max() + np.abs(pull).max()
    close(case.rate("momentum", s, flow), [0, 0, 0, *pull], 1e-9, scale)


@over([*FLOATING, *TREES, *COUPLED], quick=False)
def test_momentum_is_mass_times_velocity(case: Case) -> None:
    s = case.state()
    velocity = case.rate("center_of_mass", s, {"q": rates(case, s)[0]})
    close(case.call("momentum", s)[3:], total_mass(case, s["p"]) * velocity, 1e-11)


def total_mass(case: Case, p: Any) -> float:
    values = dict(zip(case.m.p_names, p, strict=True))
    return sum(values.get(b["mass"], b["mass"]) for b in case.doc["bodies"].values())


# -- external wrenches, actuators, quaternions ------------------------------------------------


@over([*ONES, *TREES[:10], *COUPLED, *OTHERS])
def test_external_wrenches(case: Case) -> None:
    """fext acts through the bodies' Jacobians: id_ext = id − Σ Jᵀ f."""
    s = case.state()
    push = sum(jacobian(case, n, s).T @ s["fext"][:, i] for i, n in enumerate(case.m.body_names))
    close(case.call("id_ext", s), case.call("id", s) - push, 1e-11)
    close(case.call("fd_ext", s), case.call("fd", s, {"tau": s["tau"] + push}), 1e-9)


def jacobian(case: Case, frame: str, s: Any) -> Any:
    J = case.call("frame_jacobian", s, frame=frame, reference="body")
    return np.reshape(J, (6, case.m.nv), order="A")


@over([*ONES, *TREES[:10], *COUPLED, *OTHERS])
def test_xdot(case: Case) -> None:
    s, m = case.state(), case.m
    u = np.random.default_rng(3).standard_normal(m.nu)
    tau = u
    if case.id == "arm":
        tau = np.array([0.0, 50 * u[0]])  # one motor, gear 50
    expected = [*case.call("qdot", s), *case.call("fd", s, {"tau": tau})]
    close(case.call("xdot", s | {"x": np.concatenate([s["q"], s["v"]]), "u": u}), expected, 1e-12)


@over(ALL, quick=False)
def test_quaternions_need_not_be_unit(case: Case) -> None:
    s = case.state()
    q = np.array([2 * x if n[-2:] in ("qw", "qx", "qy", "qz") else x
                  for n, x in zip(case.m.q_names, s["q"], strict=True)])
    assert case.m.nq == case.m.nv or not np.array_equal(q, s["q"])
    close(case.call("fd", s, {"q": q}), case.call("fd", s), 1e-10)


@pytest.mark.parametrize("name", [
    pytest.param(name, marks=pytest.mark.quick if name in ("revolute_0", "free_0") else ())
    for name, _ in joint_cases()])
def test_forces(name: str) -> None:
    """Every kind of force against Jᵀ f of its frame: id with it = id without − Jᵀ f."""
    plain = Case("plain", single(dict(joint_cases())[name], 2), 4)
    f, n = [1.0, -2.0, 0.5], [0.3, 0.7, -0.4]
    forces = {
        "body": {"type": "constant", "frame": "tool_b0", "force": f, "moment": n, "axes": "body"},
        "world": {"type": "constant", "frame": "tool_b1", "force": f, "moment": n},
        "drag": {"type": "drag", "frame": "tool_b1", "angular": 0.6, "linear": 0.9},
        "spring": {"type": "spring", "from": "tool_b0", "to": "tool_b1", "stiffness": 3.0,
                   "damping": 0.8, "length": 0.4}}
    s, G = plain.state(), plain.f("poses")
    J = {(k, r): np.reshape(plain.call("frame_jacobian", s, frame=f"tool_b{k}", reference=r),
                            (6, plain.m.nv)) for k in (0, 1) for r in ("body", "world_aligned")}
    ends = [np.array(G(q=s["q"], p=[])[f"tool_b{k}"])[:3, 3] for k in (0, 1)]
    d, A = ends[1] - ends[0], J[1, "world_aligned"][3:] - J[0, "world_aligned"][3:]
    u = d / np.linalg.norm(d)
    pull = 3.0 * (np.linalg.norm(d) - 0.4) + 0.8 * u @ A @ s["v"]
    expected = {"body": J[0, "body"].T @ [*n, *f], "world": J[1, "world_aligned"].T @ [*n, *f],
                "drag": -J[1, "body"].T @ np.diag([0.6] * 3 + [0.9] * 3) @ J[1, "body"] @ s["v"],
                "spring": -pull * A.T @ u}
    for kind, keys in forces.items():
        case = Case(kind, plain.doc | {"forces": {kind: keys}})
        close(case.call("id", s), plain.call("id", s) - expected[kind], 1e-11)
        passive = 0 if kind in ("drag", "spring") else expected[kind]
        close(case.call("id", s, passive=False), plain.call("id", s) - passive, 1e-11)
