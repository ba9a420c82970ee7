"""Where the mass matrix is singular: the pivots D of the articulated-body elimination
(seed 003, section 5) at random configurations."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

from anyjoint.dynamics import aba, configuration, coupling, crba
from anyjoint.dynamics.link import Link
from anyjoint.dynamics.tree import Tree
from anyjoint.joints.contract import Condition

_SIZES = (0.7, 0.3, 0.1, 0.0)  # of random steps from rest
_SMALLEST = 1e-14  # of a pivot, relative to what the subspace and the inertia would allow


def pivot(link: Link, S: Any, J: Any) -> tuple[Any, Any]:
    """D = Sᵀ J S + armature, and its scale."""
    J = link.inertia(J)
    scale = ca.sumsqr(S) * ca.norm_fro(J) + ca.sum1(link.armature)
    return S.T @ J @ S + ca.diag(link.armature), ca.densify(scale)


def locked(link: Link, R: Any, r: Any, J: Any) -> Any:
    """What the parent feels of a body that does not move against it (lower triangle)."""
    return ca.tril(aba.shift_inertia(R, r, link.inertia(J)))


def singular_joints(tree: Tree, rest: Any) -> list[int] | None:
    """Bodies whose joint meets no inertia at any of some random configurations within ranges and
    domains; None: the inertia is finite at none of them."""
    generator, (lower, upper) = np.random.default_rng(0), _limits(tree)
    found: set[int] | None = None
    for size in _SIZES:
        dq = ca.DM(generator.uniform(-size, size, tree.nv))
        q = np.array(configuration.integrate(tree, rest, dq)).ravel()
        here = singular_at(tree, ca.DM(np.clip(q, lower, upper)))
        if here is not None:
            found = here if found is None else found & here
            if not found:
                break
    return None if found is None else sorted(found)


def _limits(tree: Tree) -> tuple[Any, Any]:
    """Ends of the ranges of all coordinates, and of the domains where there are none."""
    bounds = tree.mechanism.bounds
    natural = [(-np.inf, np.inf) if x is None else x for body in tree.bodies
               for x in body.joint.domain or [None] * body.joint.nq]
    ends = np.array(natural, dtype=float).reshape(-1, 2).T
    return tuple(np.where(np.isfinite(own), own, other)
                 for own, other in zip((bounds.q_min, bounds.q_max), ends, strict=True))


def dependent(tree: Tree, i: int, rest: Any, size: float = 0.1) -> bool:
    """Are the coordinates of body i's joint not independent, near rest and within limits?"""
    lower, upper = _limits(tree)
    dq = ca.DM(np.random.default_rng(1).uniform(-size, size, tree.nv))
    q = np.clip(np.array(configuration.integrate(tree, rest, dq)).ravel(), lower, upper)
    v = ca.DM(tree.bodies[i].joint.nv, 1)
    S = np.array(tree.call(aba.outward, i, tree.split_q(ca.DM(q))[i], v, tree.zeros(6))[2])
    return bool(np.isfinite(S).all() and np.linalg.matrix_rank(S, 1e-9 * abs(S).max(initial=0))
                < S.shape[1])


def singular_coordinates(tree: Tree) -> list[int] | None:
    """Velocities of a mechanism with couplings that meet no inertia, near rest; None: the
    inertia is finite nowhere."""
    m, generator = tree.mechanism, np.random.default_rng(0)
    found: set[int] | None = None
    for size in _SIZES:
        dq = ca.DM(generator.uniform(-size, size, m.nv))
        y = np.array(coupling.moved(configuration.integrate, tree, ca.DM(m.q0), dq)).ravel()
        y = ca.DM(np.clip(y, m.bounds.q_min, m.bounds.q_max))
        q, Gamma, *_ = coupling.motion(tree, y)
        M = np.array(coupling.mass_matrix(crba.mass_matrix, tree, y))
        s = np.sqrt(np.array(Gamma).T ** 2 @ scales(tree, q))
        if np.isfinite(M).all() and np.isfinite(s).all():
            s[s == 0] = 1.0
            values, vectors = np.linalg.eigh(M / np.outer(s, s))
            found = {int(abs(x).argmax()) for x in vectors[:, values <= _SMALLEST].T}
            if not found:
                break
    return None if found is None else sorted(found)


def scales(tree: Tree, q: Any) -> Any:
    """How large each diagonal entry of M would be (nv) if nothing were aligned."""
    parts = tree.split_q(q)
    J, out = [tree.zeros(6, 6) for _ in tree.bodies], [np.zeros(0)] * len(tree.bodies)
    for i, k in tree.inward():
        v = ca.DM(tree.bodies[i].joint.nv, 1)
        R, r, S, *_ = tree.call(aba.outward, i, parts[i], v, tree.zeros(6))
        out[i] = np.full(v.numel(), float(tree.call(pivot, i, S, J[i])[1]))
        if k >= 0:
            J[k] = J[k] + tree.call(locked, i, R, r, J[i])
    return np.concatenate([np.zeros(0), *out])


def undefined_joints(tree: Tree, rest: Any) -> list[int]:
    """Bodies whose pose or subspace is not finite at rest."""
    q = tree.split_q(rest)
    out = []
    for i, body in enumerate(tree.bodies):
        R, r, S, *_ = tree.call(aba.outward, i, q[i], ca.DM(body.joint.nv, 1), tree.zeros(6))
        if not all(np.isfinite(np.array(ca.DM(x).nonzeros())).all() for x in (R, r, S)):
            out.append(i)
    return out


def unmet_condition(tree: Tree, i: int, q: Any) -> Condition | None:
    """The condition of body i's joint that fails at q, of those that have a value there."""
    joint = tree.bodies[i].joint
    x, a = ca.SX.sym("q", joint.nq), ca.SX.sym("a", len(joint.arguments))
    p, given = tree.mechanism.p, tree.bodies[i].link.arguments
    for c in joint.conditions(x, a):
        value = ca.Function("c", [x, p], [ca.substitute(c.value, a, ca.SX(given))])
        if float(value(tree.split_q(q)[i], tree.p)) <= 1e-12:
            return c
    return None


def singular_at(tree: Tree, q: Any) -> set[int] | None:
    """Bodies whose joint meets no inertia at q; None: the inertia is not finite."""
    q = tree.split_q(q)
    zero = tree.zeros(6)
    J = [tree.zeros(6, 6) for _ in tree.bodies]
    singular: set[int] = set()
    for i, k in tree.inward():
        v = ca.DM(tree.bodies[i].joint.nv, 1)
        R, r, S, c, _, b = tree.call(aba.outward, i, q[i], v, zero)
        D, scale = tree.call(pivot, i, S, J[i])
        if D.shape[0]:
            if not (np.isfinite(np.array(D)).all() and np.isfinite(float(scale))):
                return None
            smallest = np.linalg.eigvalsh(np.array(D))[0]
            if not smallest > _SMALLEST * float(scale):
                singular.add(i)
                if k >= 0:  # those above are judged as if this joint were locked
                    J[k] = J[k] + tree.call(locked, i, R, r, J[i])
                continue
        J_up, _, _ = tree.call(aba.inward, i, R, r, S, c, b, v, J[i], zero)
        if k >= 0:
            J[k] = J[k] + J_up
    return singular
