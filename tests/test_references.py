"""Numbers from systems that nobody here wrote: spatial_v2 and RedMax (tests/data)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mechanisms import Case, close

DATA = Path(__file__).parent / "data"
TREES = json.loads((DATA / "spatialv2_trees.json").read_text())
SCENES = {s["scene_id"]: s for s in json.loads((DATA / "redmax_scenes.json").read_text())}


def quaternion(R: Any) -> list[float]:
    """(w, x, y, z) of a rotation: the eigenvector of K for its largest eigenvalue."""
    R = np.asarray(R, float)
    skew = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    K = np.block([[np.array([[np.trace(R)]]), skew[None]],
                  [skew[:, None], R + R.T - np.trace(R) * np.eye(3)]])
    return [float(x) for x in np.linalg.eigh(K)[1][:, -1]]


def tensor(entries: Any) -> dict[str, float]:
    names = ("xx", "yy", "zz", "xy", "xz", "yz")
    return {n: float(entries["xyz".index(n[0])]["xyz".index(n[1])]) for n in names}


def placed(R: Any, r: Any) -> dict[str, Any]:
    return {"xyz": [float(x) for x in r], "quat": quaternion(R)}


def homogeneous(R: Any, r: Any) -> Any:
    return np.block([[np.array(R, float), np.reshape(r, (3, 1))], [np.eye(4)[3:]]])


# -- spatial_v2 --------------------------------------------------------------------------------

SPATIAL = {"R": "revolute", "P": "prismatic", "H": "helical", "S": "spherical", "F": "free"}


def spatial_joint(j: Any) -> dict[str, Any]:
    """Types R, Rx, …, P, H (about z, with a pitch), S, Fb."""
    keys = {"type": SPATIAL[j["type"][0]]}
    if j["type"][0] in "RPH":
        keys["axis"] = j["type"][1:] or "z"
    return keys | ({"pitch": j["pitch"]} if "pitch" in j else {})


def spatial_tree(t: Any) -> Case:
    bodies = {}
    for k, (j, parent) in enumerate(zip(t["joints"], t["parent"], strict=True)):
        bodies[f"b{k}"] = {
            "parent": f"b{parent}" if parent >= 0 else "world", "joint": spatial_joint(j),
            # columns are the joint frame's axes in the parent (the transpose fits no tree)
            "origin": placed(j["R_parent_to_joint"], j["p_in_parent"]),
            "mass": j["mass"], "com": j["com"], "inertia": tensor(j["I_com"])}
    return Case(t["name"], {"anyjoint": 1, "name": "tree", "gravity": t["gravity"],
                            "check_inertia": False, "bodies": bodies})


@pytest.mark.quick
@pytest.mark.parametrize("case", [spatial_tree(t) for t in TREES], ids=lambda c: c.id)
def test_spatial_v2(case: Case) -> None:
    tree = next(t for t in TREES if t["name"] == case.id)
    assert len(tree["states"]) == 4
    for s in tree["states"]:
        at = {"q": s["q"], "v": s["qd"], "tau": s["tau"], "a": s["qdd_in"], "p": []}
        close(case.call("fd", at), s["qdd_FDab"], 1e-10)
        close(case.call("id", at), s["tau_ID"], 1e-10)
        close(case.call("mass_matrix", at), s["H"], 1e-10)
        close(case.call("bias", at), s["C_bias"], 1e-10)
        poses = [*case.call("poses", at), np.eye(4)]  # parent −1: the world
        for k, (j, G) in enumerate(zip(tree["joints"], s["joint_pose"], strict=True)):
            origin = homogeneous(j["R_parent_to_joint"], j["p_in_parent"])
            expected = poses[tree["parent"][k]] @ origin @ homogeneous(G["R"], G["p"])
            close(poses[k], expected, 1e-10)


# -- RedMax ------------------------------------------------------------------------------------

REDMAX = (-1, 0, 1, 2, 3, 5, 10, 11, 14, 16, 17, 18, 19, 21, 22, 23, 25, 26, 35)
REDMAX_JOINTS = {
    "JointFixed": {"type": "fixed"}, "JointRevolute": {"type": "revolute"},
    "JointPrismatic": {"type": "prismatic"}, "JointUniversal": {"type": "universal"},
    "JointPlanar": {"type": "planar", "rotation": False}, "JointFree2D": {"type": "planar"},
    "JointTranslational": {"type": "translational"}, "JointSphericalExp": {"type": "spherical_exp"},
    "JointFree3D": {"type": "free_exp"}, "JointComposite": {"type": "composite"},
    "JointSplineCurve": {"type": "spline_curve", "ends": "cyclic"},
    "JointSplineSurface": {"type": "spline_surface"}}


def redmax_joint(j: Any) -> dict[str, Any]:
    keys = dict(REDMAX_JOINTS[j["class"]])
    if "axis" in j:
        keys["axis"] = j["axis"]
    if "joint1" in j:
        keys["joints"] = [redmax_joint(j["joint1"]), redmax_joint(j["joint2"])]
    if "control_frames" in j:
        keys["frames"] = [placed(E[:3, :3], E[:3, 3]) for E in np.array(j["control_frames"], float)]
    if "control_cs_4x4x6" in j:  # its first index goes with its second coordinate
        keys["points"] = np.array(j["control_cs_4x4x6"], float).swapaxes(0, 1).tolist()
    return keys | {k: j[k] for k in ("stiffness", "damping") if j.get(k)}


def redmax_scene(scene: Any) -> Case:
    """The body frame is RedMax's joint frame; com_<k> its body frame (com, principal axes)."""
    bodies, forces = {}, {}
    for j, b in zip(scene["joints"], scene["bodies"], strict=True):
        k, E, E0 = j["index"], np.array(b["E_ji"], float), np.array(j["E_pj0"], float)
        R = E[:3, :3]
        bodies[f"b{k}"] = {
            "parent": f"b{j['parent']}" if j["parent"] >= 0 else "world",
            "joint": redmax_joint(j), "origin": placed(E0[:3, :3], E0[:3, 3]),
            "mass": b["mass"], "com": list(E[:3, 3]),
            "inertia": tensor(R @ np.diag(b["inertia_diag_com"]) @ R.T),
            "frames": {f"com_{k}": placed(R, E[:3, 3])}}
        if b["damping"]:
            forces[f"drag_{k}"] = {"type": "drag", "frame": f"com_{k}", "angular": b["damping"],
                                   "linear": b["damping"]}
    for i, spring in enumerate(scene["springs"]):
        forces[f"spring_{i}"] = redmax_spring(scene, bodies, i, spring)
    return Case(f"redmax_{scene['scene_id']}", {
        "anyjoint": 1, "name": "scene", "gravity": scene["gravity"], "bodies": bodies,
        "forces": forces})


def redmax_spring(scene: Any, bodies: Any, i: int, spring: Any) -> dict[str, Any]:
    """Points are given in the body's com frame."""
    def frame(body: int, x: Any, end: str) -> str:
        E = np.array(scene["bodies"][body]["E_ji"], float)
        bodies[f"b{body}"]["frames"][f"spring_{i}_{end}"] = {"xyz": list(E[:3, :3] @ x + E[:3, 3])}
        return f"spring_{i}_{end}"

    if spring["class"] == "SpringPointDirection":
        force = [spring["stiffness"] * x for x in spring["dir_world"]]
        at = frame(spring["body"], spring["x"], "a")
        return {"type": "constant", "frame": at, "force": force}
    return {"type": "spring", "stiffness": spring["stiffness"],
            "from": frame(spring["body1"], spring["x1"], "a"),
            "to": frame(spring["body2"], spring["x2"], "b")}


def order(case: Case) -> Any:
    """Indices of our coordinates in RedMax's: its free joint has q = (t, r), ours (r, t)."""
    if [b.joint.nq for b in case.m.bodies] == [6]:
        return np.array([3, 4, 5, 0, 1, 2])
    return np.arange(case.m.nq)


@pytest.mark.quick
@pytest.mark.parametrize("case", [redmax_scene(SCENES[i]) for i in (*REDMAX, 15)],
                         ids=lambda c: c.id)
def test_redmax(case: Case) -> None:
    number = int(case.id.removeprefix("redmax_"))
    scene, k = SCENES[number], order(case)
    assert len(scene["random_states"]) == (0 if number == 15 else 6)
    zero = None
    for s in (scene["initial"], *scene["random_states"]):
        at = {"q": np.array(s["q"])[k], "v": np.array(s["qdot"])[k], "p": [],
              "tau": np.zeros(case.m.nv)}
        check_kinematics(case, at, s)
        close(case.call("mass_matrix", at), np.atleast_2d(s["M"])[np.ix_(k, k)], 1e-10)
        C = np.reshape(case.call("coriolis_matrix", at), (case.m.nv, case.m.nv))
        bias = np.array(s["bias_C_plus_G"]).ravel()[k]
        close(C @ at["v"] + case.call("gravity_torque", at), bias, 1e-10)
        T, V = case.call("energy", at)
        close(T, s["T"], 1e-10)
        zero = (V, s["V"]) if zero is None else zero
        if number != 10:  # RedMax counts no potential of a constant force
            close(V - zero[0], s["V"] - zero[1], 1e-10, abs(s["V"]))
            close(case.call("bias", at, passive=False), bias, 1e-10)
        if number != 15:  # a loop: its accelerations are constrained
            if number == 5:  # at the start, says its note; the data has it in every state
                at["tau"] = np.array([0, 0, 100.0])
            close(case.call("fd", at), np.array(s["qddot_redmax"]).ravel()[k], 1e-10)


def check_kinematics(case: Case, at: Any, s: Any) -> None:
    poses = case.f("poses")(q=at["q"], p=[])
    for i, (E, phi) in enumerate(zip(s["E_wi"], s["phi_body"], strict=True)):
        close(poses[f"com_{i}"], E, 1e-10)
        close(case.call("frame_velocity", at, frame=f"com_{i}", reference="body"), phi, 1e-10)
