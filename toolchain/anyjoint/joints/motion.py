"""Rigid transforms that know how they move: (R, r) with their motion subspace S.

A `Chart` holds the coordinates q of one joint and the map N of q̇ = N(q) v. It makes
the elementary motions; products and inverses of motions follow the joint contract:

    G = G₁ G₂      S = Ad_{G₂⁻¹} S₁ + S₂
    G = G⁻¹        S = −Ad_G S

so that a joint written as a product never differentiates a whole transform. A product
remembers its factors: its inverse is the product of their inverses, whose S keeps the
constants and zeros that −Ad_G S would lose among sin² + cos²."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from operator import matmul
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
    factors: tuple[Motion, ...] = ()  # of a product

    def __matmul__(self, other: Motion) -> Motion:
        """One factor of `other` after the other: elementary motions cost the least."""
        R, r, S = self.R, self.r, self.S
        steps = other.factors or (other,)
        for G in steps:
            R, r = se3.compose((R, r), (G.R, G.r))
            S = se3.act_inv(G.R, G.r, S) + G.S
        return Motion(R, r, S, (self.factors or (self,)) + steps)

    def inverse(self) -> Motion:
        if self.factors:
            return reduce(matmul, [G.inverse() for G in reversed(self.factors)])
        R, r = se3.inverse(self.R, self.r)
        return Motion(R, r, -se3.act(self.R, self.r, self.S))

    def widened(self, before: int, after: int) -> Motion:
        """The same among other coordinates: S with zero columns before and after."""
        S = ca.horzcat(ca.SX(6, before), self.S, ca.SX(6, after))
        return Motion(self.R, self.r, S, tuple(G.widened(before, after) for G in self.factors))


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

    def bias(self, G: Motion, v: Any) -> Any:
        """Ṡ v (6×1) of a motion, factor by factor: with V = S v, a factor F adds its own and
        turns what is before it, d/dt Ad_F⁻¹ V = Ad_F⁻¹ V̇ − ad_W Ad_F⁻¹ V with W its twist."""
        rate = self.N @ v
        V, bias = ca.SX(6, 1), ca.SX(6, 1)
        for F in G.factors or (G,):
            W = ca.sparsify(F.S @ v)
            V, bias = se3.act_inv(F.R, F.r, V), se3.act_inv(F.R, F.r, bias)
            bias = ca.sparsify(bias - se3.cross(W, V) + ca.jtimes(W, self.q, rate))
            V = V + W
        return bias
