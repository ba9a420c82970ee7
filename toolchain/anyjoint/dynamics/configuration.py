"""Motion on the configuration space, joint by joint: q̇ = N(q) v, q moved by a tangent
vector, and the tangent vector between two configurations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import casadi as ca

from anyjoint.dynamics.link import Link
from anyjoint.dynamics.tree import Tree


def rate(link: Link, q: Any, v: Any) -> Any:
    return link.joint.rate_matrix(q) @ v


def move(link: Link, q: Any, dq: Any) -> Any:
    return link.joint.integrate(q, dq)


def between(link: Link, q0: Any, q1: Any) -> Any:
    return link.joint.difference(q0, q1)


def _per_joint(tree: Tree, step: Callable[..., Any], *vectors: Any) -> Any:
    parts = [tree.call(step, i, *own) for i, own in enumerate(zip(*vectors, strict=True))]
    return ca.vertcat(tree.zeros(0), *parts)


def qdot(tree: Tree, q: Any, v: Any) -> Any:
    """q̇ (nq) of the velocity v (nv)."""
    return _per_joint(tree, rate, tree.split_q(q), tree.split_v(v))


def integrate(tree: Tree, q: Any, dq: Any) -> Any:
    """q moved by dq (nv): the flow of constant v for unit time."""
    return _per_joint(tree, move, tree.split_q(q), tree.split_v(dq))


def difference(tree: Tree, q0: Any, q1: Any) -> Any:
    """dq (nv) with integrate(q0, dq) = q1."""
    return _per_joint(tree, between, tree.split_q(q0), tree.split_q(q1))
