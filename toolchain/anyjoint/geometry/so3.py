"""Rotations: matrices, quaternions (w, x, y, z) and the exponential map.

R maps child coordinates to parent coordinates. All functions take
CasADi SX, DM or MX (or floats, lists and arrays) and return the CasADi type of their inputs.
Entries that are always zero are left structurally empty.
"""

from __future__ import annotations

from math import factorial
from typing import Any

import casadi as ca
import numpy as np

_EMPTY = ca.DM(1, 1)  # a structural zero, which joins matrices of any CasADi type

# Branch threshold in s = t² and number of Taylor terms of the functions c_k, both measured.
# The largest error of exp_so3 is 4e-14, in the fourth derivative, and of right_jacobian 9e-15,
# in the third; one term less would give 2e-11.
STUMPFF_THRESHOLD = 0.25
STUMPFF_TERMS = 8


def column(x: Any) -> Any:
    """A CasADi column (or matrix) of x: CasADi types as they are, lists may mix types."""
    if isinstance(x, (list, tuple)):
        return ca.vertcat(*x)
    return ca.DM(x) if isinstance(x, (int, float, np.ndarray)) else x


def skew(w: Any) -> Any:
    """3×3 matrix [w] of a 3-vector: [w] x = w × x."""
    w = column(w)
    x, y, z = w[0], w[1], w[2]
    return ca.blockcat([[_EMPTY, -z, y], [z, _EMPTY, -x], [-y, x, _EMPTY]])


def cross3(w: Any, y: Any) -> Any:
    """w × y by column, for w (3) and y (3×k); cheaper than [w] y."""
    w, y = column(w), column(y)
    return ca.vertcat(w[1] * y[2, :] - w[2] * y[1, :],
                      w[2] * y[0, :] - w[0] * y[2, :],
                      w[0] * y[1, :] - w[1] * y[0, :])


def rot_x(angle: Any) -> Any:
    """3×3 rotation by the angle about x."""
    c, s = ca.cos(angle), ca.sin(angle)
    return ca.blockcat([[1, _EMPTY, _EMPTY], [_EMPTY, c, -s], [_EMPTY, s, c]])


def rot_y(angle: Any) -> Any:
    """3×3 rotation by the angle about y."""
    c, s = ca.cos(angle), ca.sin(angle)
    return ca.blockcat([[c, _EMPTY, s], [_EMPTY, 1, _EMPTY], [-s, _EMPTY, c]])


def rot_z(angle: Any) -> Any:
    """3×3 rotation by the angle about z."""
    c, s = ca.cos(angle), ca.sin(angle)
    return ca.blockcat([[c, -s, _EMPTY], [s, c, _EMPTY], [_EMPTY, _EMPTY, 1]])


def rot_axis(axis: Any, angle: Any) -> Any:
    """3×3 rotation by the angle about a unit axis (3)."""
    a = column(axis)
    along = ca.mtimes(a, a.T)
    # Rodrigues as a aᵀ + cos (1 − a aᵀ) + sin [a]: zeros and ones of a constant axis fold away.
    R = along + ca.cos(angle) * (ca.DM.eye(3) - along) + ca.sin(angle) * skew(a)
    return R if isinstance(R, ca.MX) else ca.sparsify(R)


def rpy(r: Any, p: Any, y: Any) -> Any:
    """3×3 rotation Rz(y) Ry(p) Rx(r)."""
    return ca.mtimes(rot_z(y), ca.mtimes(rot_y(p), rot_x(r)))


def horner(x: Any, coefficients: list[float]) -> Any:
    """Σ coefficients[n] xⁿ."""
    result: Any = coefficients[-1]
    for c in reversed(coefficients[:-1]):
        result = c + x * result
    return result


def guarded(s: Any, threshold: float) -> tuple[Any, Any, Any]:
    """(is small, s for the series, s for the closed form) for a function of s in two branches.

    Both branches are evaluated and differentiated, so the one not taken gets a constant argument.
    """
    small = s < threshold
    return small, ca.if_else(small, s, 0), ca.if_else(small, threshold, s)


def stumpff_all(s: Any, orders: tuple[int, ...]) -> list[Any]:
    """c_k of s = t² ≥ 0 for k in orders, smooth, with one guard for all.

    c_0..c_3 are cos t, sin t/t, (1 − cos t)/t² and (t − sin t)/t³.
    """
    small, low, high = guarded(s, STUMPFF_THRESHOLD)
    t = ca.sqrt(high)
    cos, sinc = ca.cos(t), ca.sin(t) / t  # one not used costs nothing
    closed = (cos, sinc, (1 - cos) / high, (1 - sinc) / high)

    def series(k: int) -> Any:
        return horner(low, [(-1) ** n / factorial(2 * n + k) for n in range(STUMPFF_TERMS)])

    return [ca.if_else(small, series(k), closed[k]) for k in orders]


def exp_quat(w: Any) -> Any:
    """Unit quaternion (4) of the rotation vector w (3), smooth everywhere."""
    w = column(w)
    cos, sinc = stumpff_all(ca.dot(w, w) / 4, (0, 1))  # of the half angle
    return ca.vertcat(cos, sinc / 2 * w)


def exp_so3(q: Any) -> Any:
    """3×3 rotation exp [q] = 1 + c1 [q] + c2 [q]² of the rotation vector q (3).

    By the half angle h, c1 = cos h · sin h / h and c2 = (sin h / h)²/2 without cancellation.
    """
    return _quat_matrix(exp_quat(q), 2)


def right_jacobian(q: Any) -> Any:
    """3×3 matrix 1 − c2 [q] + c3 [q]²: body angular velocity of exp [q] is this times dq/dt."""
    q = column(q)
    s = ca.dot(q, q)
    c2, c3 = stumpff_all(s, (2, 3))
    # [q]² = q qᵀ − s 1, and 1 − c3 s = c1.
    return (1 - c3 * s) * ca.DM.eye(3) + ca.mtimes(c3 * q, q.T) - c2 * skew(q)


def log_so3_from_quat(quat: Any) -> Any:
    """Rotation vector (3) of angle in [0, π] of a quaternion (4) of any sign and length."""
    quat = column(quat)
    quat = ca.if_else(quat[0] < 0, -1, 1) * quat
    w, v = quat[0], quat[1:4]
    vv = ca.dot(v, v)
    small = vv < 0.04 * w * w  # a branch on u = tan² of the half angle
    near_w = ca.if_else(small, w, 1)
    u = ca.if_else(small, vv, 0) / near_w**2
    near = horner(u, [(-1) ** n / (2 * n + 1) for n in range(12)]) / near_w  # atan(√u)/√u
    n = ca.sqrt(ca.if_else(small, 1, vv))
    return 2 * ca.if_else(small, near, ca.atan2(n, w) / n) * v


def quat_multiply(a: Any, b: Any) -> Any:
    """Hamilton product a ⊗ b (4) of two quaternions."""
    a, b = column(a), column(b)
    av, bv = a[1:4], b[1:4]
    return ca.vertcat(a[0] * b[0] - ca.dot(av, bv), a[0] * bv + b[0] * av + cross3(av, bv))


def quat_rotation(quat: Any) -> Any:
    """3×3 rotation of a quaternion (4) of any length but zero; it is of degree 0 in it."""
    quat = column(quat)
    return _quat_matrix(quat, 2 / ca.dot(quat, quat))


def _quat_matrix(quat: Any, k: Any) -> Any:
    """3×3 matrix 1 + k (w [v] + [v]²), the rotation when k = 2/‖quat‖²."""
    w, x, y, z = quat[0], quat[1], quat[2], quat[3]
    kx, ky, kz = k * x, k * y, k * z
    xx, yy, zz = kx * x, ky * y, kz * z
    xy, xz, yz = kx * y, kx * z, ky * z
    wx, wy, wz = kx * w, ky * w, kz * w
    return ca.blockcat([[1 - (yy + zz), xy - wz, xz + wy],
                        [xy + wz, 1 - (xx + zz), yz - wx],
                        [xz - wy, yz + wx, 1 - (xx + yy)]])


def quat_rate_matrix(quat: Any) -> Any:
    """4×3 matrix that maps the body-frame angular velocity to d quat/dt."""
    h = column(quat) / 2
    w, x, y, z = h[0], h[1], h[2], h[3]
    return ca.blockcat([[-x, -y, -z], [w, -z, y], [z, w, -x], [-y, x, w]])
