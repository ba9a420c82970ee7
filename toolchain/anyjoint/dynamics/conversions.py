"""Generalised ↔ Cartesian velocities and forces (seed 004, section 6), joint by joint: O(n).

Cartesian ones are 6 × bodies, twists [ω; v] and wrenches [moment; force] in world axes at the
bodies' origins. Where the seed writes ω and torques of joints that only turn, these are whole
twists and wrenches, and its Ĵ is S, both in the child's axes."""

from __future__ import annotations

from typing import Any

import casadi as ca

from anyjoint.dynamics import coupling, crba, kinematics
from anyjoint.dynamics.joint_wrenches import gathered
from anyjoint.dynamics.link import Link
from anyjoint.dynamics.tree import Tree
from anyjoint.geometry import se3
from anyjoint.geometry.columns import scattered

_SMALLEST = 1e-16  # square of what is left of a column of S, relative: below it is dependent


# -- the pseudo-inverse of a joint's S ------------------------------------------------------


def orthogonal(S: Any) -> tuple[Any, Any, list[Any]]:
    """S = W U by Gram and Schmidt: orthogonal columns W, unit upper triangular U; and 1/|w|² of
    each column, 0 where it depends on those before it (its coordinate is left at rest)."""
    n = S.shape[1]
    W, U = ca.SX(S), ca.SX.eye(n)
    inverse: list[Any] = []
    for j in range(n):
        for k in range(j):
            U[k, j] = ca.dot(W[:, k], W[:, j]) * inverse[k]
            W[:, j] -= W[:, k] * U[k, j]
        size, whole = ca.sumsqr(W[:, j]), ca.sumsqr(S[:, j])
        is_free = size > _SMALLEST * whole
        inverse.append(is_free / ca.if_else(is_free, size, 1))
    return W, U, inverse


def least_squares(S: Any, V: Any) -> Any:
    """S⁺ V = U⁻¹ D⁻¹ Wᵀ V."""
    W, U, inverse = orthogonal(S)
    v = [ca.dot(W[:, j], V) * x for j, x in enumerate(inverse)]
    for j in reversed(range(len(v))):
        v[j] -= sum((U[j, k] * v[k] for k in range(j + 1, len(v))), ca.SX(1, 1))
    return ca.vertcat(ca.SX(0, 1), *v)


def least_norm(S: Any, tau: Any) -> Any:
    """(Sᵀ)⁺ tau = W D⁻¹ U⁻ᵀ tau."""
    W, U, inverse = orthogonal(S)
    y = [tau[j] for j in range(len(inverse))]
    for j in range(len(y)):
        y[j] -= sum((U[k, j] * y[k] for k in range(j)), ca.SX(1, 1))
    return sum((W[:, j] * inverse[j] * y[j] for j in range(len(y))), ca.SX(6, 1))


# -- kernels ----------------------------------------------------------------------------


def turned(R: Any, x: Any) -> Any:
    """A twist or wrench in other axes, at the same point."""
    return ca.vertcat(R @ x[:3], R @ x[3:])


def turned_back(R: Any, x: Any) -> Any:
    return turned(R.T, x)


def joint_velocity(link: Link, q: Any, V: Any, V_parent: Any) -> Any:
    """The joint's v from the twists of its bodies, each in its own axes."""
    R, r, S = crba.subspace(link, q)
    return least_squares(S, V - se3.act_inv(R, r, V_parent))  # (65), (66)


def largest(V: Any, given: Any) -> Any:
    return ca.norm_inf(ca.vec(V - given))


# -- drivers ------------------------------------------------------------------------------


def _in_bodies(t: Tree, q: Any, X: Any) -> list[Any]:
    """Columns of X (6 × bodies, world axes) in the bodies' axes."""
    return [t.apply(turned_back, R, x)
            for (R, _), x in zip(kinematics.poses(t, q), ca.horzsplit(X), strict=True)]


def _in_world(t: Tree, q: Any, columns: list[Any]) -> Any:
    """6 × bodies in world axes, of columns in the bodies' axes."""
    return ca.densify(ca.horzcat(*[
        t.apply(turned, R, x)
        for (R, _), x in zip(kinematics.poses(t, q), columns, strict=True)]))


def cartesian_velocities(t: Tree, q: Any, v: Any) -> Any:
    """V = J v (60)."""
    return _in_world(t, q, kinematics.twists(t, q, v))


def joint_velocities(t: Tree, q: Any, V: Any) -> Any:
    """v of all joints of the tree, each from the twists of its two bodies alone."""
    X, parts = _in_bodies(t, q, V), t.split_q(q)
    return ca.vertcat(*[
        t.call(joint_velocity, i, parts[i], X[i], X[k] if k >= 0 else t.zeros(6))
        for i, k in enumerate(t.parents)])


def generalised_velocities(t: Tree, y: Any, V: Any) -> tuple[Any, Any]:
    """v with J v = V, and max |J v − V|, which is zero where V can be reached. With couplings the
    independent ones of the joints' velocities are taken."""
    c = t.mechanism.coupling
    if c is None:
        v = joint_velocities(t, y, V)
        reached = cartesian_velocities(t, y, v)
    else:
        v = joint_velocities(t, coupling.motion(t, y)[0], V)[list(c.v_kept)]
        reached = coupling.state(cartesian_velocities, t, y, v)
    return v, t.apply(largest, reached, V)


def _subspaces(t: Tree, q: Any) -> list[Any]:
    """(R, r, S) of every body."""
    return [t.call(crba.subspace, i, x) for i, x in enumerate(t.split_q(q))]


def generalised_forces(t: Tree, q: Any, F: Any) -> Any:
    """tau = Jᵀ F (67)."""
    R, r, S = zip(*_subspaces(t, q), strict=True)
    carried = gathered(t, R, r, _in_bodies(t, q, F))
    return ca.vertcat(*[t.apply(crba.project, x, f) for x, f in zip(S, carried, strict=True)])


def cartesian_forces(t: Tree, y: Any, tau: Any) -> Any:
    """Of the many F with Jᵀ F = tau: those of the least joint wrench that has the joint's tau, on
    the child, and its reaction on the parent. With couplings only the joints of independent
    coordinates act."""
    c = t.mechanism.coupling
    q = y if c is None else coupling.motion(t, y)[0]
    tau = tau if c is None else scattered(tau, c.v_kept, t.nv)
    R, r, S = zip(*_subspaces(t, q), strict=True)
    joint = [t.apply(least_norm, *x) for x in zip(S, t.split_v(tau), strict=True)]  # (71)
    F = list(joint)
    for i, k in t.outward():
        if k >= 0:
            F[k] = F[k] - t.apply(se3.act_dual, R[i], r[i], joint[i])  # (68)
    return _in_world(t, q, F)
