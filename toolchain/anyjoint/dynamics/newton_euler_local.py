"""Inverse dynamics by Newton and Euler in each body's own axes, linear and angular parts apart,
from centre of mass to centre of mass (seed 004, section 7).

The paper's joints turn (78 to 80) or shift (82 to 84); a joint here does both at once. Its own
rates, in body axes, are w_j of its rotation (R_kᵀ ω̂_k) and u of its origin (R_kᵀ ḋ_k). Forces
don't need the velocity (76) of the centre of mass, only its acceleration."""

from __future__ import annotations

from typing import Any

import casadi as ca

from anyjoint.dynamics.link import Link
from anyjoint.dynamics.tree import Tree
from anyjoint.geometry import se3
from anyjoint.geometry.so3 import cross3


def outward(link: Link, q: Any, v: Any, a: Any, c_p: Any, w_p: Any, dw_p: Any,
            dv_p: Any) -> tuple[Any, ...]:
    """Pass 1: R, d (in the parent) and S, then centre of mass c, angular velocity w and
    acceleration dw, and linear acceleration dv of c, from those of the parent."""
    R, d, S, bias = link.motion(q, v)
    (w_j, u), (dw_j, du) = (ca.vertsplit(x, 3) for x in (S @ v, bias + S @ a))
    c = link.h / ca.if_else(link.m > 0, link.m, 1)  # of a massless body: its origin
    w_p_k = R.T @ w_p
    w = w_p_k + w_j  # (78)
    dw = R.T @ dw_p + dw_j + cross3(w_p_k, w_j)  # (80)
    arm = d - c_p
    dv = R.T @ (dv_p + cross3(dw_p, arm) + cross3(w_p, cross3(w_p, arm)))  # (79) …
    dv = dv + cross3(w_p_k + w, u) + du  # … (84), with 2 ω_p × ḋ + d̈ for (v̇)ˡ
    return R, d, S, c, w, dw, dv + cross3(dw, c) + cross3(w, cross3(w, c))  # … (79)


def inward(link: Link, R: Any, d: Any, S: Any, a: Any, c: Any, w: Any, dw: Any, dv: Any,
           fext: Any, moment: Any, force: Any) -> tuple[Any, Any, Any]:
    """Pass 2: joint force, and what the body passes on to its parent, about the parent's origin;
    moment, force: those of the children, fext: a wrench from outside, all about the origin."""
    I_c = centroidal(link.h, link.I6, c)
    f_c = link.m * dv
    f = f_c - fext[3:] + force  # (72)
    tau = I_c @ dw + cross3(w, I_c @ w) + cross3(c, f_c) - fext[:3] + moment  # (73) with (72)
    Rf = R @ f
    return S.T @ ca.vertcat(tau, f) + link.armature * a, R @ tau + cross3(d, Rf), Rf


def centroidal(h: Any, I6: Any, c: Any) -> Any:
    """Inertia (3×3) about the centre of mass c; I6 is about the origin."""
    I_o = se3.inertia_matrix(0, h, I6)[:3, :3]
    return I_o - ca.dot(c, h) * ca.SX.eye(3) + c @ h.T


def newton_euler_local(tree: Tree, q: Any, v: Any, a: Any, fext: list[Any]) -> Any:
    """tau (nv) as rnea gives it; fext too."""
    q, v, a = tree.split_q(q), tree.split_v(v), tree.split_v(a)
    zero = tree.zeros(3)
    n = len(tree.bodies)
    joint, body = [()] * n, [()] * n
    for i, k in tree.outward():
        parent = body[k] if k >= 0 else (zero, zero, zero, -tree.gravity)  # (85)
        made = tree.call(outward, i, q[i], v[i], a[i], *parent)
        joint[i], body[i] = made[:3], made[3:]
    tau, moment, force = [None] * n, [zero] * n, [zero] * n
    for i, k in tree.inward():
        tau[i], n_i, f_i = tree.call(
            inward, i, *joint[i], a[i], *body[i], fext[i], moment[i], force[i])
        if k >= 0:
            moment[k], force[k] = moment[k] + n_i, force[k] + f_i
    return ca.vertcat(*tau)
