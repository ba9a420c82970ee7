"""Forces that belong to the model: damping, friction, joint springs, and the forces
between frames; with the potential of those that have one."""

from __future__ import annotations

from typing import Any

import casadi as ca

from anyjoint.dynamics import kinematics
from anyjoint.dynamics.link import Link
from anyjoint.dynamics.tree import Tree
from anyjoint.forces import Force
from anyjoint.geometry.columns import split
from anyjoint.mechanism import evaluate_at


def joint_forces(link: Link, q: Any, v: Any, c: Any, rest: Any) -> tuple[Any, Any]:
    """D v + friction + Nᵀ ∂V/∂q of one joint, and the potential V = ½ dᵀ K d of its spring
    with d = difference(rest, q): K (q − q₀) where v = q̇. c = damping, friction, its
    velocity, stiffness (nv×4)."""
    d = link.joint.difference(rest, q)
    energy = ca.dot(c[:, 3] * d, d) / 2
    spring = link.joint.rate_matrix(q).T @ ca.gradient(energy, q)
    return c[:, 0] * v + c[:, 1] * ca.tanh(v / c[:, 2]) + spring, energy


def passive(tree: Tree, q: Any, v: Any) -> tuple[Any, Any]:
    """Passive joint forces (nv) as they stand on the left of the equation of motion, and
    the potential of the joint springs."""
    given = tree.mechanism.passive
    if not given.any:
        return tree.zeros(tree.nv), tree.zeros(1)
    columns = ca.horzcat(given.damping, given.friction, given.friction_velocity, given.stiffness)
    c = split(columns, [body.joint.nv for body in tree.bodies])
    rest = split(given.spring_rest, [body.joint.nq for body in tree.bodies])
    acting = [not x[:, [0, 1, 3]].is_zero() for x in c]
    c = evaluate_at([ca.sparsify(x) for x in c], tree.mechanism.p, tree.p)
    rest = evaluate_at(rest, tree.mechanism.p, tree.p)
    q, v = tree.split_q(q), tree.split_v(v)
    tau, energy = [tree.zeros(body.joint.nv) for body in tree.bodies], tree.zeros(1)
    for i, acts in enumerate(acting):
        if acts:
            tau[i], V = tree.call(joint_forces, i, q[i], v[i], c[i], rest[i])
            energy = energy + V
    return ca.vertcat(*tau), energy


def _inputs(tree: Tree, forces: list[Force], poses: list[Any],
            twists: list[Any]) -> list[list[Any]]:
    """Inputs of the kernel of each force: its parameters, and (Rf, rf, R, r, V) of each site."""
    world = (tree.X.eye(3), tree.zeros(3), tree.zeros(6))
    fixed = [ca.sparsify(x) for force in forces
             for x in (force.parameters, *(x for _, Rf, rf in force.sites for x in (Rf, rf)))]
    values = iter(evaluate_at(fixed, tree.mechanism.p, tree.p))
    out = []
    for force in forces:
        inputs = [next(values)]
        for i, _, _ in force.sites:
            body = (*poses[i], twists[i]) if i >= 0 else world
            inputs += [next(values), next(values), *body]
        out.append(inputs)
    return out


def _acting(tree: Tree, passive: bool) -> list[Force]:
    return [f for f in tree.mechanism.forces if passive or not f.passive]


def wrenches(tree: Tree, q: Any, v: Any, passive: bool) -> list[Any]:
    """Wrenches of the model's forces on all bodies (6×1, body axes, about the origin)."""
    out = [tree.zeros(6) for _ in tree.bodies]
    forces = _acting(tree, passive)
    if not forces:
        return out
    poses, twists = kinematics.poses(tree, q), kinematics.twists(tree, q, v)
    for force, inputs in zip(forces, _inputs(tree, forces, poses, twists), strict=True):
        results = tree.apply(force.wrench_kernel, *inputs)
        results = results if isinstance(results, (tuple, list)) else [results]
        for (i, _, _), wrench in zip(force.sites, results, strict=True):
            if i >= 0:
                out[i] = out[i] + wrench
    return out


def potential(tree: Tree, poses: list[Any], passive: bool) -> Any:
    """Potential of the model's forces."""
    forces, still = _acting(tree, passive), [tree.zeros(6) for _ in tree.bodies]
    total = tree.zeros(1)
    for force, inputs in zip(forces, _inputs(tree, forces, poses, still), strict=True):
        total = total + tree.apply(force.potential_kernel, *inputs)
    return total
