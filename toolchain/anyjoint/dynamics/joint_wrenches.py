"""The wrench that each joint carries, and the normal forces of contacts (seed 003, section 6:
"the contact wrench f which can be monitored to detect contact breaking")."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import casadi as ca

from anyjoint.dynamics import coupling, forward, kinematics, rnea
from anyjoint.dynamics.link import Link
from anyjoint.dynamics.tree import Tree
from anyjoint.geometry import se3
from anyjoint.geometry.columns import split


def normal_force(link: Link, q: Any, R: Any, F: Any) -> Any:
    """Force of the wrench F on the child along the contact's z; R: the child in its parent."""
    contact = link.joint.contact(q, link.arguments)
    assert contact is not None
    z = R.T @ link.R0 @ contact[0][:, 2]
    return ca.dot(z, F[3:])


def joint_wrenches(t: Tree, q: Any, v: Any, tau: Any, loads: forward.Loads,
                   algorithm: str) -> tuple[Any, Any]:
    """Wrenches (6 × bodies, body axes, about the body's origin) that the joints exert on their
    bodies, with forces of actuators and joint springs in them; and the normal force of each
    contact, positive while it presses."""
    a, multipliers = forward.constrained_acceleration(t, q, v, tau, loads, algorithm)
    if t.mechanism.coupling is not None:
        q, Gamma, v, _, bias = coupling.motion(t, q, v)
        a = t.apply(coupling.acceleration, Gamma, a, bias)
    fext = closures(t, q, multipliers, loads(q, v)[1])
    q = t.split_q(q)
    R, r, _, F = rnea.needed(t, q, t.split_v(v), t.split_v(a), fext)
    F = gathered(t, R, r, F)
    normal = [t.call(normal_force, i, q[i], R[i], F[i]) for i, body in enumerate(t.bodies)
              if body.joint.touches]
    return ca.densify(ca.horzcat(*F)), ca.vertcat(t.zeros(0), *normal)


def closures(t: Tree, q: Any, multipliers: Any, fext: list[Any]) -> list[Any]:
    """Wrenches on the bodies with those of closed loops, for q of the tree. What other constraints
    do is carried by the joints: rolling is friction in a contact, formulas are joint forces."""
    m, out = t.mechanism, list(fext)
    poses = kinematics.poses(t, q) if m.constraints else []
    parts = split(multipliers, [len(c.labels) for c in m.constraints])
    for c, x in zip(m.constraints, parts, strict=True):
        for i, F in c.wrenches(t, poses, x):
            if i >= 0:
                out[i] = out[i] + F
    return out


def gathered(t: Tree, R: Sequence[Any], r: Sequence[Any], F: Sequence[Any]) -> list[Any]:
    """The wrench of each body with those of all that it carries (seed 000, eq. 13 and 14);
    (R, r): poses in the parents."""
    out = list(F)
    for i, k in t.inward():
        if k >= 0:
            out[k] = out[k] + t.apply(se3.act_dual, R[i], r[i], out[i])
    return out
