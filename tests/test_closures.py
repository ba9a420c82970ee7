"""Closed loops: against the joints that they stand for; redundant rows, and rows of round-off."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np
import pytest

from constrained import closed, four_bar, model, rows
from mechanisms import Case, Doc, body, close

quick = pytest.mark.quick


# -- closures are joints --------------------------------------------------------------------

XYZ, TURNS = ["x", "y", "z"], ["rx", "ry", "rz"]
JOINTS: list[Any] = [  # directions, the joint that is left
    (XYZ, {"type": "spherical"}),
    ([*XYZ, "rx", "ry"], {"type": "revolute"}),
    ([*XYZ, "rz", "rx"], {"type": "revolute", "axis": "y"}),
    ([*TURNS, *XYZ], {"type": "fixed"}),
    (["x", "y", "rx", "ry"], {"type": "cylindrical"}),
    (["rx", "ry", "z"], {"type": "planar"}),
    (TURNS, {"type": "translational"}),
    ([*XYZ, "rx"], {"type": "universal", "axes": ["z", "y"]}),
    ([*XYZ, "rz"], {"type": "universal", "axes": ["y", "x"]}),
    (["y", "z", *TURNS], {"type": "prismatic", "axis": "x"}),
]


def pair(directions: list[str], joint: Doc) -> tuple[Case, Case]:
    """A body on a moving one by a joint, and the same one free but closed to it."""
    rng = np.random.default_rng(4)
    arm = body(rng, "world", {"type": "universal"}, "arm")
    hand = body(rng, "arm", joint, "hand")
    tool = body(rng, "hand", {"type": "revolute", "axis": [1, 2, 0]}, "tool")
    floating = {**hand, "parent": "world", "joint": {"type": "free"}, "origin": {},
                "child_origin": {}}
    frames = {"socket": {"body": "arm", **hand["origin"]},
              "plug": {"body": "hand", **hand["child_origin"]}}
    bodies = {"arm": arm, "hand": hand, "tool": tool}
    kind = "frame" if {*directions} - {*XYZ} else "point"
    return model(bodies, {}), model({**bodies, "hand": floating}, {"plug": {
        "type": kind, "from": "socket", "to": "plug", "directions": directions}}, frames=frames)


def quaternion(R: Any) -> Any:
    """(w, x, y, z) of a rotation matrix that is no half turn."""
    w = np.sqrt(1 + np.trace(R)) / 2
    return [w, *(np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]) / (4 * w))]


@quick
@pytest.mark.parametrize(("directions", "joint"), JOINTS)
def test_closure_is_joint(directions: list[str], joint: Doc) -> None:
    """Accelerations of a body held by a closure are those of a body held by the joint, and λ is
    the wrench that the joint carries."""
    held, loose = pair(directions, joint)
    s = held.state()
    hand = {"frame": "hand", "reference": "body"}
    G = held.call("poses", s)[1]
    J, V, bias = (held.call(f"frame_{x}", s, **hand) for x in ("jacobian", "velocity", "bias"))
    kept = [0, 1, -1]
    tau = np.zeros(held.m.nv)
    tau[kept] = s["tau"][kept]
    a = held.call("fd", s | {"tau": tau})
    free = s | {"q": [*s["q"][:2], *quaternion(G[:3, :3]), *G[:3, 3], s["q"][-1]],
                "v": np.array([*s["v"][:2], *V, s["v"][-1]]),
                "tau": np.array([*tau[:2], *np.zeros(6), tau[-1]])}
    phi, rate = loose.call("constraint_residual", free)
    close([phi, rate], 0 * np.array([phi, rate]), 1e-13)
    found, multipliers = loose.call("fd_constrained", free)
    close(found, [*a[:2], *(J @ a + bias), a[-1]], 1e-10)
    # the wrench on the hand at the plug, in the axes of the socket
    wrench = held.call("joint_wrenches", s | {"tau": tau})[0][:, 1]
    plug, socket = (loose.call("poses", free)[loose.m.frame_names.index(x) + 3]
                    for x in ("plug", "socket"))
    hand_to = G[:3, :3].T @ (plug[:3, 3] - G[:3, 3])
    n, f = wrench[:3] - np.cross(hand_to, wrench[3:]), wrench[3:]
    turn = socket[:3, :3].T @ G[:3, :3]
    full = dict(zip([*TURNS, *XYZ], [*(turn @ n), *(turn @ f)], strict=True))
    if sum(x in TURNS for x in directions) != 1:  # else it is about y_to × z_from, not an axis
        close(multipliers, [full[x] for x in directions], 1e-9)


@quick
def test_frames_of_p_and_the_world() -> None:
    """A pendulum of a free body, with its pivot at run time: α = −m g l sin / (I + m l²)."""
    case = model({"b": {"parent": "world", "joint": {"type": "planar"}, "mass": 2,
                        "inertia": [1, 1, 0.3]}},
                 {"pin": {"type": "point", "from": "world", "to": "pivot",
                          "directions": ["x", "y"]}},
                 parameters={"l": 0.8}, gravity=[0, -9.81, 0],
                 frames={"pivot": {"body": "b", "xyz": [0, "l", 0]}})
    for length in (0.5, 0.8):
        q, w = 0.4, 0.7
        s = {"q": [length * np.sin(q), -length * np.cos(q), q], "p": [length], "tau": [0, 0, 0],
             "v": [length * np.cos(q) * w, length * np.sin(q) * w, w]}
        close(case.call("constraint_residual", s)[0], [0, 0], 1e-15)
        a, multipliers = case.call("fd_constrained", s)
        alpha = -2 * 9.81 * length * np.sin(q) / (0.3 + 2 * length**2)
        close(a[2], alpha, 1e-13)
        acceleration = length * np.array([np.cos(q) * alpha - np.sin(q) * w**2,
                                     np.sin(q) * alpha + np.cos(q) * w**2])
        close(a[:2], acceleration, 1e-13)
        close(multipliers, 2 * (acceleration + [0, 9.81]), 1e-12)


@quick
def test_derivatives_where_an_arm_vanishes() -> None:
    """A pendulum that hangs at rest: A has an entry that is zero there, and changes with q."""
    case = model({"b": {"parent": "world", "joint": {"type": "planar"}, "mass": 2,
                        "inertia": [1, 1, 0.3]}},
                 {"pin": {"type": "point", "from": "world", "to": "pivot",
                          "directions": ["x", "y"]}},
                 gravity=[0, -9.81, 0], frames={"pivot": {"body": "b", "xyz": [0, 0.8, 0]}})
    s = {"q": np.array([0, -0.8, 0]), "v": np.zeros(3), "tau": np.array([0.7, 0.2, 0.1]), "p": []}
    assert 0.0 in rows(case, s)[2]
    for k, step in enumerate(1e-5 * np.eye(3)):
        ahead, back = (case.call("fd", s | {"q": s["q"] + x}) for x in (step, -step))
        close(case.jacobian("fd", "a", "q", s)[:, k], (ahead - back) / 2e-5, 1e-8)


@quick
def test_redundant_rows() -> None:
    """All directions in space for a planar loop: λ is zero where a row adds nothing, a and its
    derivatives are those of the minimal set, and all is finite."""
    few = four_bar({"type": "point", "directions": ["x", "z"]})
    many = four_bar({"type": "frame", "directions": ["x", "y", "z", "rx", "rz"]})
    twice = Case("twice", {**few.doc, "constraints": {
        **few.doc["constraints"], "again": few.doc["constraints"]["close"] | {"type": "point"},
        "turned": {"type": "point", "from": "tip_c", "to": "tip_b"}}})
    s = closed(few, few.state())
    a, force = few.call("fd_constrained", s)
    for case in (many, twice):
        for form in ("inlined", "rolled"):
            found, multipliers = case.call("fd_constrained", s, form=form)
            close(found, a, 1e-9)
            for wrt in ("q", "v", "tau"):
                close(case.jacobian("fd_constrained", "a", wrt, s, form=form),
                      few.jacobian("fd_constrained", "a", wrt, s), 1e-6)
                J = case.jacobian("fd_constrained", "lambda", wrt, s, form=form)
                assert np.isfinite(J).all()
        by_name = dict(zip(case.m.lambda_names, multipliers, strict=True))
        close([by_name["close.x"], by_name["close.z"]], force, 1e-8)
        close([x for n, x in by_name.items() if n not in ("close.x", "close.z")],
              np.zeros(len(by_name) - 2), 1e-8)
    second = many.f("fd_constrained").jacobian().jacobian()
    assert all(np.isfinite(np.array(x)).all() for x in second.call(
        [ca.DM(s[n] if n in s else np.zeros(shape)) for n, shape in zip(
            second.name_in(), map(second.size_in, range(second.n_in())), strict=True)]))


def tilted(case: Case) -> Case:
    """The four bars in another plane: what was zero in it is round-off."""
    roll, pitch, yaw = rpy = [0.3, 0.5, 0.7]
    x = np.array([np.cos(yaw) * np.cos(pitch), np.sin(yaw) * np.cos(pitch), -np.sin(pitch)])
    turned = {n: {**bar, "origin": {"xyz": (bar["origin"]["xyz"][0] * x).tolist(), "rpy": rpy}}
              if bar["parent"] == "world" else bar for n, bar in case.doc["bodies"].items()}
    return Case("tilted", {**case.doc, "bodies": turned})


@quick
@pytest.mark.parametrize("form", ["inlined", "rolled"])
def test_round_off_is_no_row(form: str) -> None:
    few, many, alone = (tilted(four_bar({"time_constant": 0.05, **x})) for x in (
        {"type": "point", "directions": ["x", "z"]}, {"type": "frame", "directions": [
            "x", "y", "z", "rx", "rz"]}, {"type": "point", "directions": ["y"]}))
    s = closed(few, few.state())
    a, force = few.call("fd_constrained", s, form=form)
    found, multipliers = many.call("fd_constrained", s, form=form)
    close(found, a, 1e-9)
    close(multipliers, [force[0], 0, force[1], 0, 0], 1e-8)
    found, multipliers = alone.call("fd_constrained", s, form=form)
    close(found, Case("open", {**alone.doc, "constraints": {}}).call("fd", s), 1e-9)
    close(multipliers, [0], 1e-9)


@quick
def test_coupled_already() -> None:
    """What couplings keep in any case, up to round-off, is no row."""
    doc = four_bar({"type": "point"}).doc | {"couplings": {"b": "0.1*3*a"}}
    doc["bodies"]["b"]["joint"].pop("rest")
    free = Case("free", doc | {"constraints": {}})
    kept = Case("kept", doc | {"constraints": {
        "k": {"type": "equality", "coordinates": ["b", "a"], "ratio": 0.3, "time_constant": 0.1}}})
    s = free.state()
    a, force = kept.call("fd_constrained", s)
    close(a, free.call("fd", s), 1e-9)
    close(force, [0], 1e-9)


@quick
def test_nearly_redundant_rows() -> None:
    """Slides a = b and a = b + c/1000: the second row is independent, though hardly (1e-6 of it is
    left), so c is held, by a large force."""
    slide = {"parent": "world", "joint": {"type": "prismatic", "axis": "x"}, "mass": 1}
    case = model({n: slide for n in "abc"}, {
        "one": {"type": "holonomic", "formula": "a - b"},
        "two": {"type": "holonomic", "formula": "a - b - c/1000"}})
    a, multipliers = case.call("fd_constrained", {"q": [0] * 3, "v": [0] * 3, "tau": [1, 0, 1],
                                                  "p": []})
    close(a, [0.5, 0.5, 0], 1e-9)
    close(multipliers, [-1000.5, 1000], 1e-7)
