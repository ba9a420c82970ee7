"""Poses and twists of all bodies, root to leaves (seed 000, eq. 6 and 8)."""

from __future__ import annotations

from typing import Any

import casadi as ca

from anyjoint.dynamics.link import Link
from anyjoint.dynamics.tree import Tree
from anyjoint.geometry import se3


def place(link: Link, q: Any, R: Any, r: Any) -> tuple[Any, Any]:
    """World pose of the body from its parent's."""
    return se3.compose((R, r), link.pose(q))  # (6)


def move(link: Link, q: Any, v: Any, V: Any) -> Any:
    """Twist of the body, in its axes."""
    R, r, S, _ = link.motion(q, v)
    return se3.act_inv(R, r, V) + S @ v  # (8)


def columns(link: Link, q: Any, R: Any, r: Any) -> Any:
    """Ψ = Ad S: the joint's subspace in world axes at the world origin; (R, r) the body's."""
    _, _, S, _ = link.motion(q, ca.SX.sym("v", link.joint.nv))
    return se3.act(R, r, S)


def accelerate(link: Link, q: Any, v: Any, V: Any, A: Any) -> tuple[Any, Any]:
    """Twist and bias acceleration J̇ v of the body, in its axes."""
    R, r, S, bias = link.motion(q, v)
    Sv = S @ v
    V = se3.act_inv(R, r, V) + Sv
    return V, se3.act_inv(R, r, A) + se3.cross(V, Sv) + bias  # (11) with q̈ = 0


def poses(tree: Tree, q: Any) -> list[tuple[Any, Any]]:
    """World pose (R, r) of every body."""
    q = tree.split_q(q)
    world = (tree.X.eye(3), tree.zeros(3))
    out: list[Any] = [None] * len(tree.bodies)
    for i, k in tree.outward():
        out[i] = tree.call(place, i, q[i], *(out[k] if k >= 0 else world))
    return out


def twists(tree: Tree, q: Any, v: Any) -> list[Any]:
    """Twist of every body, in its own axes."""
    q, v = tree.split_q(q), tree.split_v(v)
    out: list[Any] = [None] * len(tree.bodies)
    for i, k in tree.outward():
        out[i] = tree.call(move, i, q[i], v[i], out[k] if k >= 0 else tree.zeros(6))
    return out


def biases(tree: Tree, q: Any, v: Any) -> list[tuple[Any, Any]]:
    """(twist, acceleration at a = 0) of every body, in its own axes."""
    q, v = tree.split_q(q), tree.split_v(v)
    out: list[Any] = [None] * len(tree.bodies)
    for i, k in tree.outward():
        V, A = out[k] if k >= 0 else (tree.zeros(6), tree.zeros(6))
        out[i] = tree.call(accelerate, i, q[i], v[i], V, A)
    return out


def ancestors(tree: Tree, i: int) -> list[int]:
    """i and the bodies that carry it, down to the root."""
    chain = []
    while i >= 0:
        chain.append(i)
        i = tree.parents[i]
    return chain
