"""Jacobian, velocity and bias acceleration of one frame, expressed in

- `body`: the frame's own axes, at its origin (body twist);
- `world`: world axes, at the world origin (spatial twist);
- `world_aligned`: world axes, at the frame's origin (ω and the origin's velocity)."""

from __future__ import annotations

from typing import Any

import casadi as ca

from anyjoint.dynamics import kinematics
from anyjoint.dynamics.tree import Tree
from anyjoint.geometry import se3, so3
from anyjoint.mechanism import Frame, Mechanism, evaluate_at

REFERENCES = ("world_aligned", "body", "world")


def _compose(R: Any, r: Any, Rf: Any, rf: Any) -> tuple[Any, Any]:
    return se3.compose((R, r), (Rf, rf))


def _offset(tree: Tree, frame: Frame) -> list[Any]:
    """(R, r) of a frame in its body, at the tree's p."""
    return evaluate_at([ca.sparsify(frame.R), ca.sparsify(frame.r)], tree.mechanism.p, tree.p)


def world_poses(tree: Tree, frames: list[Frame], q: Any) -> list[tuple[Any, Any]]:
    """World pose (R, r) of each frame."""
    bodies = kinematics.poses(tree, q)
    world = (tree.X.eye(3), tree.zeros(3))
    return [tree.apply(_compose, *(bodies[f.body] if f.body >= 0 else world), *_offset(tree, f))
            for f in frames]


def poses(tree: Tree, q: Any) -> list[Any]:
    """World pose (4×4) of every body, then of every frame."""
    m = tree.mechanism
    own = [m.frame(name) for name in m.body_names]
    return [ca.densify(tree.apply(se3.homogeneous, *pose))
            for pose in world_poses(tree, [*own, *m.frames], q)]


def pose_names(m: Mechanism) -> tuple[str, ...]:
    """Bodies, then frames, in file order; one called like an input gets an x behind it."""
    given = (*m.body_names, *m.frame_names)
    names: list[str] = []
    for name in given:
        plain = name
        while plain in ("q", "p") or (plain != name and plain in given):
            plain += "x"
        names.append(plain)
    return tuple(names)


def _columns_aligned(R: Any, r: Any, J: Any) -> Any:
    return se3.act_inv(ca.SX.eye(3), r, J)


def jacobian(tree: Tree, q: Any, *, frame: Frame, reference: str) -> Any:
    """J (6×nv) of the frame's twist = J v."""
    bodies, parts = kinematics.poses(tree, q), tree.split_q(q)
    carrying = kinematics.ancestors(tree, frame.body)
    blocks = [tree.call(kinematics.columns, i, parts[i], *bodies[i]) if i in carrying
              else tree.zeros(6, body.joint.nv) for i, body in enumerate(tree.bodies)]
    J = ca.horzcat(*blocks)
    if reference == "world":
        return J
    step = se3.act_inv if reference == "body" else _columns_aligned
    pose = world_poses(tree, [frame], q)[0]
    return tree.apply(step, *pose, J)


def _to_aligned(R: Any, r: Any, V: Any) -> Any:
    return ca.vertcat(R @ V[:3], R @ V[3:])


def _bias_to_aligned(R: Any, r: Any, V: Any, A: Any) -> Any:
    """d/dt of R v is R (v̇ + ω × v)."""
    return ca.vertcat(R @ A[:3], R @ (A[3:] + so3.cross3(V[:3], V[3:])))


def velocity(tree: Tree, q: Any, v: Any, *, frame: Frame, reference: str) -> Any:
    """Twist (6×1) of the frame."""
    V = kinematics.twists(tree, q, v)[frame.body] if frame.body >= 0 else tree.zeros(6)
    V = tree.apply(se3.act_inv, *_offset(tree, frame), V)
    if reference == "body":
        return V
    step = se3.act if reference == "world" else _to_aligned
    return tree.apply(step, *world_poses(tree, [frame], q)[0], V)


def bias(tree: Tree, q: Any, v: Any, *, frame: Frame, reference: str) -> Any:
    """J̇ v (6×1), with J the Jacobian in the same reference."""
    zero = tree.zeros(6)
    pair = kinematics.biases(tree, q, v)[frame.body] if frame.body >= 0 else (zero, zero)
    V, A = (tree.apply(se3.act_inv, *_offset(tree, frame), x) for x in pair)
    if reference == "body":
        return A
    pose = world_poses(tree, [frame], q)[0]
    if reference == "world":
        return tree.apply(se3.act, *pose, A)  # d/dt (Ad V) = Ad (A + ad_V V) = Ad A
    return tree.apply(_bias_to_aligned, *pose, V, A)
