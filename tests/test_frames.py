"""Kinematics: every S and bias against differences and derivatives of the transform, frames
in their three references, and motion on the configuration space."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

from anyjoint.joints.contract import kinematics
from anyjoint.joints.motion import Chart
from mechanisms import ALL, COUPLED, ONES, OTHERS, TREES, TWOS, Case, close, over

REFERENCES = ("body", "world", "world_aligned")
FRAMES = [*TWOS, *TREES[:12], *COUPLED, *OTHERS]


def frames(case: Case) -> list[str]:
    """A body and a named frame, those of the last body of the file."""
    m = case.m
    return [m.body_names[-1], *m.frame_names[-1:]]


def vee(G: Any, G_dot: Any) -> Any:
    """Body twist (ω; v) = vee(G⁻¹ Ġ) of a 4×4 pose."""
    X = np.linalg.inv(G) @ G_dot
    return np.array([X[2, 1], X[0, 2], X[1, 0], *X[:3, 3]])


def pose(case: Case, frame: str, s: Any) -> Any:
    m = case.m
    out = case.f("poses")(q=s["q"], p=s["p"])
    k = [*m.body_names, *m.frame_names].index(frame)
    return np.array(out[case.f("poses").name_out(k)])


def matrix(case: Case, frame: str, s: Any, reference: str) -> Any:
    J = case.call("frame_jacobian", s, frame=frame, reference=reference)
    return np.reshape(J, (6, case.m.nv))


def adjoint(R: Any, r: Any) -> Any:
    r_hat = np.array([[0, -r[2], r[1]], [r[2], 0, -r[0]], [-r[1], r[0], 0]])
    return np.block([[R, np.zeros((3, 3))], [r_hat @ R, R]])


# -- one joint ---------------------------------------------------------------------------------


@over(ONES)
def test_closed_forms_are_the_derived_ones(case: Case) -> None:
    """`Joint.motion` and its bias against automatic differentiation of `Joint.transform`."""
    joint = case.m.bodies[0].joint
    q, v = ca.SX.sym("q", joint.nq), ca.SX.sym("v", joint.nv)
    args = ca.SX(ca.DM([float(x) for x in joint.arguments]))
    chart = Chart(q, joint.rate_matrix(q))
    G, bias = kinematics(joint, q, v, args)
    D = chart.derived(*joint.transform(q, args))
    derived = ca.jtimes(D.S @ v, q, chart.N @ v) if joint.nv else ca.SX(6, 1)
    pairs = [(G.R, D.R), (G.r, D.r), (G.S, D.S), (bias, derived)]
    f = ca.Function("f", [q, v], [ca.densify(x) for pair in pairs for x in pair])
    for k in range(20):
        s = case.state(k)
        out = f(s["q"], s["v"])
        for own, other in zip(out[::2], out[1::2], strict=True):
            close(own, other, 1e-10)


@over(ONES)
def test_joint_against_differences(case: Case) -> None:
    """S and bias against central differences of the transform along the flow of v."""
    joint, s, h = case.m.bodies[0].joint, case.state(), 1e-6
    q, v = ca.SX.sym("q", joint.nq), ca.SX.sym("v", joint.nv)
    args = ca.SX(ca.DM([float(x) for x in joint.arguments]))
    G, bias = kinematics(joint, q, v, args)
    f = ca.Function("f", [q, v], [ca.densify(x) for x in (G.R, G.r, G.S @ v, bias)])

    def at(step: float) -> tuple[Any, Any]:
        moved = case.call("integrate", s, {"dq": step * s["v"]})
        R, r, V, _ = (np.array(x) for x in f(moved, s["v"]))
        return np.block([[R, r], [np.zeros((1, 3)), np.ones((1, 1))]]), V

    (_, _, V, A), (G0, _) = f(s["q"], s["v"]), at(0)
    (G1, V1), (G2, V2) = at(-h), at(h)
    close(V, vee(G0, (G2 - G1) / (2 * h)), 1e-7)
    close(A, (V2 - V1) / (2 * h), 1e-7)


# -- frames -------------------------------------------------------------------------------------


@over(FRAMES)
def test_frame_velocity_is_the_rate_of_the_pose(case: Case) -> None:
    s = case.state()
    rates = case.rate("poses", s, {"q": case.call("qdot", s)})
    rates = rates if isinstance(rates, list) else [rates]
    for frame in frames(case):
        k = [*case.m.body_names, *case.m.frame_names].index(frame)
        twist = vee(pose(case, frame, s), np.array(rates[k]))
        close(case.call("frame_velocity", s, frame=frame, reference="body"), twist, 1e-10)


@over(FRAMES)
def test_references(case: Case) -> None:
    """J in `world` and `world_aligned` from J in `body`; velocity = J v; bias = J̇ v."""
    s = case.state()
    qdot = case.call("qdot", s)
    for frame in frames(case):
        G = pose(case, frame, s)
        to = {"body": np.eye(6), "world": adjoint(G[:3, :3], G[:3, 3]),
              "world_aligned": adjoint(G[:3, :3], np.zeros(3))}
        J_body = matrix(case, frame, s, "body")
        for reference in REFERENCES:
            options = {"frame": frame, "reference": reference}
            J = matrix(case, frame, s, reference)
            close(J, to[reference] @ J_body, 1e-12)
            close(case.call("frame_velocity", s, **options), J @ s["v"], 1e-12)
            J_dot = case.rate("frame_jacobian", s, {"q": qdot}, **options)
            bias = np.reshape(J_dot, (6, case.m.nv)) @ s["v"]
            close(case.call("frame_bias", s, **options), bias, 1e-10)


@over(FRAMES, quick=False)
def test_frame_bias_against_differences(case: Case) -> None:
    s, h = case.state(), 1e-6
    for reference in REFERENCES:
        options = {"frame": frames(case)[-1], "reference": reference}
        ends = [case.call("frame_velocity", s, {"q": case.call("integrate", s, {"dq": x * s["v"]})},
                          **options) for x in (-h, h)]
        bias = case.call("frame_bias", s, **options)
        close(bias, (ends[1] - ends[0]) / (2 * h), 1e-7, 10 * np.abs(ends[1]).max(initial=1))


# -- the configuration space --------------------------------------------------------------------


@over(ALL)
def test_integrate_and_difference(case: Case) -> None:
    """They invert each other for ‖dq‖ < 2 in every joint, and integrate starts as q̇ = N v."""
    s, m = case.state(), case.m
    for k in range(3):
        dq = case.state(k)["dq"]
        dq = 1.9 * dq / max(np.linalg.norm(dq), 1e-12)
        moved = case.call("integrate", s, {"dq": dq})
        close(case.call("difference", {"q0": s["q"], "q1": moved}), dq, 1e-10)
        other = case.state(k)["q"]
        back = case.call("difference", {"q0": s["q"], "q1": other})
        close(up_to_sign(case, case.call("integrate", s, {"dq": back}), other), other, 1e-10)
    close(case.call("integrate", s, {"dq": np.zeros(m.nv)}), s["q"], 1e-15)
    close(case.call("difference", {"q0": s["q"], "q1": s["q"]}), np.zeros(m.nv), 1e-15)
    N = case.jacobian("qdot", "qdot", "v", s)
    close(case.jacobian("integrate", "q_next", "dq", s | {"dq": np.zeros(m.nv)}), N, 1e-12)


def up_to_sign(case: Case, q: Any, like: Any) -> Any:
    """q with its quaternions turned to the signs of `like`: q and −q are one rotation."""
    q, names = np.array(q), [n[-2:] for n in case.m.q_names]
    for i in (k for k, n in enumerate(names) if n == "qw"):
        q[i : i + 4] *= np.sign(q[i : i + 4] @ like[i : i + 4])
    return q


@over([*TWOS, *TREES[:8]], quick=False)
def test_flow(case: Case) -> None:
    """integrate is the flow of constant v: its derivative along t is q̇ there."""
    s = case.state()
    moved = case.call("integrate", s, {"dq": 0.7 * s["v"]})
    rate = case.rate("integrate", s | {"dq": 0.7 * s["v"]}, {"dq": s["v"]})
    close(rate, case.call("qdot", s, {"q": moved}), 1e-10)
