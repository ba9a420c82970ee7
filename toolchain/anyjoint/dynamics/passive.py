"""Forces that belong to the model: damping, friction, joint springs, and the forces
between frames; with the potential of those that have one."""

from __future__ import annotations

from typing import Any

import casadi as ca

from anyjoint.dynamics import kinematics
from anyjoint.dynamics.link import Link
from anyjoint.dynamics.tree import Tree
from anyjoint.forces import Force, Site
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
        return tree.zeros(tree.mechanism.nv), tree.zeros(1)
    columns = ca.horzcat(given.damping, given.friction, given.friction_velocity, given.stiffness)
    q, v = tree.split_q(q), tree.split_v(v)
    tau, energy = [], tree.zeros(1)
    first, rest = 0, 0
    for i, body in enumerate(tree.bodies):
        nq, nv = body.joint.nq, body.joint.nv
        c, q_rest = columns[first : first + nv, :], given.spring_rest[rest : rest + nq]
        first, rest = first + nv, rest + nq
        if c[:, [0, 1, 3]].is_zero():
            tau.append(tree.zeros(nv))
            continue
        c, q_rest = evaluate_at([ca.sparsify(c), q_rest], tree.mechanism.p, tree.p)
        force, V = tree.call(joint_forces, i, q[i], v[i], c, q_rest)
        tau.append(force)
        energy = energy + V
    return ca.vertcat(*tau), energy


def _sites(tree: Tree, force: Force, poses: list[Any], twists: list[Any]) -> list[Any]:
    """Inputs of a force's function: pose and twist of the body of each of its sites."""
    world = (tree.X.eye(3), tree.zeros(3))
    return [x for i, _, _ in force.sites
            for x in ((*poses[i], twists[i]) if i >= 0 else (*world, tree.zeros(6)))]


def _function(tree: Tree, force: Force, outputs: Any) -> ca.Function:
    """(pose and twist of each site's body, p) → outputs(sites, parameters)."""
    sites, inputs = [], []
    for k, (_, Rf, rf) in enumerate(force.sites):
        R, r, V = ca.SX.sym(f"R{k}", 3, 3), ca.SX.sym(f"r{k}", 3), ca.SX.sym(f"V{k}", 6)
        sites.append(Site(ca.sparsify(Rf), ca.sparsify(rf), R, r, V))
        inputs += [R, r, V]
    return ca.Function("force", [*inputs, tree.mechanism.p], outputs(sites, force.parameters))


def _listify(x: Any) -> list[Any]:
    return list(x) if isinstance(x, (tuple, list)) else [x]


def wrenches(tree: Tree, q: Any, v: Any, passive: bool) -> list[Any]:
    """Wrenches of the model's forces on all bodies (6×1, body axes, about the origin)."""
    out = [tree.zeros(6) for _ in tree.bodies]
    active = [f for f in tree.mechanism.forces if passive or not f.passive]
    if not active:
        return out
    poses, twists = kinematics.poses(tree, q), kinematics.twists(tree, q, v)
    for force in active:
        f = _function(tree, force, force.wrenches)
        results = _listify(f(*_sites(tree, force, poses, twists), tree.p))
        tree.operations += f.n_instructions()
        for (i, _, _), wrench in zip(force.sites, results, strict=True):
            if i >= 0:
                out[i] = out[i] + wrench
    return out


def potential(tree: Tree, poses: list[Any], passive: bool) -> Any:
    """Potential of the model's forces."""
    total = tree.zeros(1)
    still = [tree.zeros(6) for _ in tree.bodies]
    for force in tree.mechanism.forces:
        if passive or not force.passive:
            f = _function(tree, force, lambda sites, c, force=force: [force.potential(sites, c)])
            total = total + f(*_sites(tree, force, poses, still), tree.p)
    return total
