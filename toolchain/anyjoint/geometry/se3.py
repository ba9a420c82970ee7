"""Rigid transforms (R, r), twists [ω; v], wrenches [n; f] and spatial inertia.

x_parent = R x_child + r. Functions take CasADi types, floats, lists or arrays; the structural
zeros of the inputs are kept.
"""

from __future__ import annotations

from typing import Any

import casadi as ca

from anyjoint.geometry.so3 import (
    column,
    cross3,
    exp_so3,
    guarded,
    horner,
    log_so3_from_quat,
    skew,
    stumpff_all,
)

# |B_2k|/(2k)!, k = 1..11: the Taylor series of (1 − t/2 · cot(t/2))/t² in t².
_COTANGENT = [1 / 12, 1 / 720, 1 / 30240, 1 / 1209600, 1 / 47900160, 691 / 1307674368000,
              1 / 74724249600, 3617 / 10670622842880000, 43867 / 5109094217170944000,
              174611 / 802857662698291200000, 77683 / 14101100039391805440000]


def _halves(x: Any) -> tuple[Any, Any]:
    """Upper and lower three rows of x (6×k)."""
    x = column(x)
    return x[0:3, :], x[3:6, :]


def act(R: Any, r: Any, x: Any) -> Any:
    """Ad(R, r) x = [[R, 0], [[r] R, R]] x: twists x (6×k) from child to parent frame."""
    w, v = _halves(x)
    w = ca.mtimes(column(R), w)
    return ca.vertcat(w, ca.mtimes(column(R), v) + cross3(r, w))


def act_inv(R: Any, r: Any, x: Any) -> Any:
    """Ad(R, r)⁻¹ x: twists x (6×k) from parent to child frame."""
    w, v = _halves(x)
    Rt = column(R).T
    return ca.vertcat(ca.mtimes(Rt, w), ca.mtimes(Rt, v - cross3(r, w)))


def act_dual(R: Any, r: Any, f: Any) -> Any:
    """Ad(R, r)⁻ᵀ f: wrenches f (6×k) from child to parent frame."""
    n, f = _halves(f)
    f = ca.mtimes(column(R), f)
    return ca.vertcat(ca.mtimes(column(R), n) + cross3(r, f), f)


def cross(x: Any, y: Any) -> Any:
    """ad(x) y = [[[ω], 0], [[v], [ω]]] y: the twist x (6) cross the twists y (6×k)."""
    (w, v), (yw, yv) = _halves(x), _halves(y)
    return ca.vertcat(cross3(w, yw), cross3(v, yw) + cross3(w, yv))


def cross_dual(x: Any, f: Any) -> Any:
    """−ad(x)ᵀ f: the twist x (6) cross the wrenches f (6×k)."""
    (w, v), (n, f) = _halves(x), _halves(f)
    return ca.vertcat(cross3(w, n) + cross3(v, f), cross3(w, f))


def compose(a: tuple[Any, Any], b: tuple[Any, Any]) -> tuple[Any, Any]:
    """(R, r) of the transform a ∘ b: b is applied first."""
    R = column(a[0])
    return ca.mtimes(R, column(b[0])), ca.mtimes(R, column(b[1])) + column(a[1])


def inverse(R: Any, r: Any) -> tuple[Any, Any]:
    """(R, r) of the inverse transform."""
    Rt = column(R).T
    return Rt, -ca.mtimes(Rt, column(r))


def homogeneous(R: Any, r: Any) -> Any:
    """4×4 matrix [[R, r], [0, 1]]."""
    return ca.blockcat([[column(R), column(r)], [ca.DM(1, 3), 1]])


def exp_se3(xi: Any) -> tuple[Any, Any]:
    """(R, r) of the twist xi = [ω; v] (6): r = v + c2 ω × v + c3 ω × (ω × v)."""
    w, v = _halves(xi)
    c2, c3 = stumpff_all(ca.dot(w, w), (2, 3))
    wv = cross3(w, v)
    return exp_so3(w), v + c2 * wv + c3 * cross3(w, wv)


def log_se3(quat: Any, t: Any) -> Any:
    """Twist [ω; v] (6) of the transform with rotation quat (4) and translation t (3).

    v = V⁻¹ t with V⁻¹ = 1 − ½ [ω] + d [ω]² and d = (1 − θ/2 · cot(θ/2))/θ².
    """
    w, t = log_so3_from_quat(quat), column(t)
    small, low, high = guarded(ca.dot(w, w), 1.0)
    half = ca.sqrt(high) / 2
    closed = (1 - half * ca.cos(half) / ca.sin(half)) / high
    d = ca.if_else(small, horner(low, _COTANGENT), closed)
    wt = cross3(w, t)
    return ca.vertcat(w, t - wt / 2 + d * cross3(w, wt))


def _symmetric(i6: Any) -> Any:
    """3×3 symmetric matrix of (xx, yy, zz, xy, xz, yz)."""
    i6 = column(i6)
    xx, yy, zz, xy, xz, yz = (i6[k] for k in range(6))
    return ca.blockcat([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def inertia_matrix(m: Any, h: Any, I6: Any) -> Any:
    """6×6 spatial inertia [[I, [h]], [−[h], m 1]] about the body origin.

    m is the mass, h (3) = m · centre of mass, I6 = (Ixx, Iyy, Izz, Ixy, Ixz, Iyz) about the origin.
    """
    return ca.blockcat([[_symmetric(I6), skew(h)], [-skew(h), m * ca.DM.eye(3)]])


def inertia_times(m: Any, h: Any, I6: Any, x: Any) -> Any:
    """Momenta [I ω + h × v; m v − h × ω] (6×k) of twists x (6×k); see `inertia_matrix`."""
    w, v = _halves(x)
    return ca.vertcat(ca.mtimes(_symmetric(I6), w) + cross3(h, v), m * v - cross3(h, w))
