"""Joints of one kind share kernels, and no others do: many joints in one model give what each
gives alone. The laws of mechanics can't see it, as a wrong joint obeys them too."""

from __future__ import annotations

import json
from typing import Any

import casadi as ca
import numpy as np
import pytest

import anyjoint as aj
from anyjoint.joints.contract import kinematics
from mechanisms import close, joint_cases

MORE: list[dict[str, Any]] = [  # pairs that differ in one key only
    *({"type": "curve", "frame": frame, "curve": {"type": "ellipse", "a": 0.9, "b": 0.5}}
      for frame in ("frenet", "fixed")),
    *({"type": "curve", "frame": "up", "curve": {
        "type": "bspline", "ends": ends, "outside": outside,
        "points": [[0, 0, 0], [0.5, 0.3, 0.2], [0.7, 0.9, 0.1], [1.3, 1.1, -0.3]]},
       "rest": -0.4} for ends in ("open", "clamped") for outside in ("extend", "linear")),
    {"type": "curve", "frame": "up", "rest": -0.4, "curve": {
        "type": "bspline", "ends": "periodic",
        "points": [[0, 0, 0], [0.5, 0.3, 0.2], [0.7, 0.9, 0.1], [1.3, 1.1, -0.3]]}},
    *({"type": "curve", "curve": {"type": "formula", "point": ["u", point, "u**2"], "rest": 0.2}}
      for point in ("u**3", "sin(u)", "2*u**3")),
    *({"type": "rolling", "radius": 0.3, "track": track, "track_radius": 0.9, "rest": 0.4}
      for track in ("inside", "outside")),
    *({"type": "spline_curve", "ends": ends, "rest": 0.7, "frames": [
        {"xyz": [0, 0, 0]}, {"xyz": [0.5, 0.1, 0.1], "rpy": [0.3, -0.4, 0.2]},
        {"xyz": [0.9, 0.4, 0.4], "rpy": [0.1, -0.7, 0.8]}, {"xyz": [1, 0.9, 0.3]}]}
      for ends in ("cyclic", "clamped", "open")),
    *({"type": "contact", "normals": normals, "surface": {"type": "plane"},
       "child_surface": {"type": "sphere", "radius": 0.2}} for normals in ("same", "opposite")),
    *({"type": "surface", "owner": owner, "surface": {"type": "sphere", "radius": 0.2}}
      for owner in ("parent", "child")),
]


def model(joints: list[dict[str, Any]]) -> Any:
    return aj.loads(json.dumps({"anyjoint": 1, "name": "many", "bodies": {
        f"b{k}": {"parent": "world", "joint": joint, "mass": 1 + 0.1 * (k % 7),
                  "com": [0.1, 0.2, -0.1], "inertia": [0.3, 0.4, 0.5]}
        for k, joint in enumerate(joints)}}))


@pytest.mark.quick
def test_joints_in_one_model_are_what_they_are_alone() -> None:
    joints = [keys for _, keys in joint_cases() if keys["type"] != "fixed"] + MORE
    together = model(joints)
    rng = np.random.default_rng(0)
    f = together.function("id", form="rolled")
    v, a = rng.standard_normal((2, together.nv))
    tau = f(together.q0, v, a, together.p0).full().ravel()
    start = 0
    for k, (body, keys) in enumerate(zip(together.bodies, joints, strict=True)):
        alone = model([keys] * (k % 7 + 1))  # the last of them has this body's mass
        n, own = body.joint.nv, alone.function("id", form="inlined")
        here = slice(start, start + n)
        count = len(alone.bodies)
        expected = own(alone.q0, np.tile(v[here], count), np.tile(a[here], count), alone.p0)
        try:
            close(tau[here], expected.full().ravel()[-n:], 1e-12)
        except AssertionError as e:
            raise AssertionError(f"{keys}: {e}") from None
        start += n


def test_one_kind_means_the_same_formulas() -> None:
    kinds: dict[Any, list[Any]] = {}
    for body in model([keys for _, keys in joint_cases()] + MORE).bodies:
        kinds.setdefault(body.joint.kind, []).append(body.joint)
    assert any(len(joints) > 1 for joints in kinds.values())
    for joints in kinds.values():
        q, v = ca.SX.sym("q", joints[0].nq), ca.SX.sym("v", joints[0].nv)
        args = ca.SX.sym("a", len(joints[0].arguments))
        graphs = {ca.Function("f", [q, v, args], [G.R, G.r, G.S, bias]).serialize()
                  for G, bias in (kinematics(joint, q, v, args) for joint in joints)}
        assert len(graphs) == 1, joints[0]


@pytest.mark.quick
@pytest.mark.parametrize("joint", [
    {"type": "surface", "surface": {"type": "paraboloid", "focal": "f"}},
    {"type": "curve", "frame": "fixed", "curve": {"type": "formula", "point": ["u", "u**2", 0],
                                                  "domain": [0, "f"]}},
    {"type": "surface", "surface": {"type": "formula", "point": ["u", "w", "u*w"],
                                    "domain": [[0, "f"], [-1, 1]]}},
    {"type": "surface", "surface": {"type": "formula", "point": ["u", "w", "u*w"],
                                    "rest": ["f", 0.1]}},
], ids=["paraboloid", "domain_of_curve", "domain_of_surface", "rest_of_surface"])
def test_springs_follow_the_parameters(joint: Any) -> None:
    """A spring's neutral position is the rest value, whatever p is."""
    def torque(default: float) -> Any:
        m = aj.loads(json.dumps({
            "anyjoint": 1, "name": "m", "parameters": {"f": default},
            "bodies": {"b": {"parent": "world", "mass": 1, "joint": {**joint, "stiffness": 3}}}}))
        return m.function("id")(0.3, 0, 0, [0.8]).full()

    close(torque(0.5), torque(0.8), 1e-14)
