"""Rigid transforms that know how they move: (R, r) with their motion subspace S.

A `Chart` holds the coordinates q of one joint and the map N of q̇ = N(q) v. It makes
the elementary motions; products and inverses of motions follow the joint contract:

    G = G₁ G₂      S = Ad_{G₂⁻¹} S₁ + S₂
    G = G⁻¹        S = −Ad_G S

so that a joint written as a product never differentiates a whole transform."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca

from anyjoint.geometry import se3, so3

_UNIT_TURNS: dict[Any, Any] = {
    (1, 0, 0): so3.rot_x, (0, 1, 0): so3.rot_y, (0, 0, 1): so3.rot_z}


@dataclass(frozen=True)
class Motion:
    """Pose (R 3×3, r 3×1) of a frame and its subspace S (6×nv, in that frame's axes):
    body twist = S v."""

    R: Any
    r: Any
    S: Any

    def __matmul__(self, other: Motion) -> Motion:
        R, r = se3.compose((self.R, self.r), (other.R, other.r))
        return Motion(R, r, se3.act_inv(other.R, other.r, self.S) + other.S)

    def inverse(self) -> Motion:
        R, r = se3.inverse(self.R, self.r)
        return Motion(R, r, -se3.act(self.R, self.r, self.S))


class Chart:
    """Coordinates q (nq×1 SX) of a joint with q̇ = N v; the source of its motions."""

    def __init__(self, q: Any, N: Any):
        self.q, self.N, self.nv = q, ca.SX(N), N.shape[1]

    def rate(self, f: Any) -> Any:
        """Matrix of df/dt = rate(f) v, for f (k×1) a function of q."""
        f = ca.SX(f)
        return ca.jacobian(f, self.q) @ self.N

    def fixed(self, R: Any, r: Any) -> Motion:
        """A constant transform."""
        return Motion(ca.sparsify(ca.SX(R)), ca.sparsify(ca.SX(r)), ca.SX(6, self.nv))

    def shift(self, d: Any) -> Motion:
        """Translation by d(q), 3×1."""
        d = ca.sparsify(ca.SX(d))
        S = ca.vertcat(ca.SX(3, self.nv), self.rate(d))
        return Motion(ca.SX.eye(3), d, S)

    def turn(self, axis: Any, angle: Any) -> Motion:
        """Rotation about a constant unit axis (3×1) by angle(q)."""
        axis = ca.SX(axis)
        key = tuple(float(axis[i]) for i in range(3)) if axis.is_constant() else None
        R = _UNIT_TURNS[key](angle) if key in _UNIT_TURNS else so3.rot_axis(axis, angle)
        S = ca.vertcat(ca.sparsify(axis) @ self.rate(angle), ca.SX(3, self.nv))
        return Motion(ca.sparsify(ca.SX(R)), ca.SX(3, 1), S)

    def exp(self, w: Any) -> Motion:
        """Rotation exp[w(q)], w 3×1: body angular velocity = J_r(w) ẇ."""
        S = ca.vertcat(so3.right_jacobian(w) @ self.rate(w), ca.SX(3, self.nv))
        return Motion(so3.exp_so3(w), ca.SX(3, 1), S)

    def derived(self, R: Any, r: Any) -> Motion:
        """Any transform of q: S = vee(G⁻¹ ∂G/∂q) N by automatic differentiation."""
        R, r = ca.SX(R), ca.SX(r)
        columns = []
        for k in range(self.nv):
            dR = ca.reshape(ca.jtimes(ca.vec(R), self.q, self.N[:, k]), 3, 3)
            W = R.T @ dR
            columns.append(ca.vertcat(W[2, 1], W[0, 2], W[1, 0],
                                      R.T @ ca.jtimes(r, self.q, self.N[:, k])))
        return Motion(R, r, ca.horzcat(ca.SX(6, 0), *columns))
