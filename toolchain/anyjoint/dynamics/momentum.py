"""Energy, centre of mass and momentum of the whole mechanism, as written by the user."""

from __future__ import annotations

from typing import Any

import casadi as ca

from anyjoint.dynamics import kinematics
from anyjoint.dynamics import passive as passive_forces
from anyjoint.dynamics.link import Link
from anyjoint.dynamics.tree import Tree
from anyjoint.geometry import se3, so3


def kinetic(link: Link, V: Any, v: Any) -> Any:
    return ca.densify(ca.dot(V, link.momentum(V)) + ca.dot(link.armature * v, v)) / 2


def first_moment(link: Link, R: Any, r: Any) -> Any:
    """(m, m · com) in world axes."""
    return ca.vertcat(link.m, link.m * r + R @ link.h)


def spatial_momentum(link: Link, R: Any, r: Any, V: Any) -> Any:
    """Momentum in world axes about the world origin."""
    return se3.act_dual(R, r, link.momentum(V))


def _first_moments(tree: Tree, poses: list[Any]) -> tuple[Any, Any]:
    total = tree.zeros(4)
    for i, _ in tree.outward():
        total = total + tree.call(first_moment, i, *poses[i])
    return total[0], total[1:]


def energy(tree: Tree, q: Any, v: Any, *, passive: bool) -> tuple[Any, Any]:
    """Kinetic and potential energy: gravity, springs, constant world forces."""
    poses, twists = kinematics.poses(tree, q), kinematics.twists(tree, q, v)
    T = tree.zeros(1)
    for i, v_i in enumerate(tree.split_v(v)):
        T = T + tree.call(kinetic, i, twists[i], v_i)
    _, moment = _first_moments(tree, poses)
    V = -ca.dot(tree.X(tree.gravity), moment) + passive_forces.potential(tree, poses, passive)
    if passive:
        V = V + passive_forces.passive(tree, q, v)[1]
    return T, V


def center_of_mass(tree: Tree, q: Any) -> Any:
    """Position of the centre of mass in the world, 3×1."""
    mass, moment = _first_moments(tree, kinematics.poses(tree, q))
    return moment / mass


def momentum(tree: Tree, q: Any, v: Any) -> Any:
    """[angular about the com; linear] momentum in world axes, 6×1 (no armature)."""
    poses, twists = kinematics.poses(tree, q), kinematics.twists(tree, q, v)
    total = tree.zeros(6)
    for i, _ in tree.outward():
        total = total + tree.call(spatial_momentum, i, *poses[i], twists[i])
    mass, moment = _first_moments(tree, poses)
    return tree.apply(_about, total, moment / mass)


def _about(h: Any, c: Any) -> Any:
    """Momentum about the point c from that about the origin."""
    return ca.vertcat(h[:3] - so3.cross3(c, h[3:]), h[3:])
