"""Couplings, a layer around the tree: some of its coordinates are formulas of the others,
which alone are the q, v and tau of the mechanism. With y the independent coordinates

    q = γ(y)    v = Γ ẏ    a = Γ ÿ + Γ̇ ẏ    tau_y = Γᵀ tau    M_y = Γᵀ M Γ

A layer takes a builder of the catalogue (functions.py), which knows the tree only, and
that builder's inputs in the independent coordinates."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from anyjoint.dynamics import crba, crba_coupled, frames
from anyjoint.dynamics.tree import Tree
from anyjoint.geometry.columns import scattered

Builder = Callable[..., Any]


@dataclass(frozen=True, eq=False)
class Dependent:
    """A dependent coordinate."""

    formula: str
    path: tuple[str, ...]  # of the formula in the document
    range: tuple[float, float]  # (-inf, inf): none
    rate: int  # the row of the tree's v that is its rate


@dataclass(frozen=True, eq=False)
class Coupling:
    """The couplings of a mechanism."""

    dependent: Mapping[str, Dependent]  # by name, in the order of the tree
    q_kept: tuple[int, ...]  # rows of the tree's q that are y
    v_kept: tuple[int, ...]  # rows of the tree's v that are ẏ
    graph: ca.Function  # (y, ẏ, p) → γ, Γ, Γ ẏ, Γ̇, Γ̇ ẏ

    @staticmethod
    def of(dependent: Mapping[str, Dependent], y: Any, p: Any, q: Any, kept: Sequence[int],
           rates: Sequence[int | None], nv: int) -> Coupling:
        """q (nq): the tree's coordinates as expressions of the symbols y and p; kept: the rows
        of q that are y; rates: for each of these the row of v (nv) that is its rate, None
        where there is none (quaternions)."""
        others = sorted({*range(q.numel())} - {*kept})
        rows = [x.rate for x in dependent.values()]
        v_kept = sorted({*range(nv)} - {*rows})
        v, column = ca.SX.sym("v", len(v_kept)), {k: j for j, k in enumerate(v_kept)}
        E = ca.SX(len(kept), len(v_kept))  # ẏ = E v, but for quaternions: no formula has them
        for i, k in enumerate(rates):
            if k is not None:
                E[i, column[k]] = 1
        Gamma = ca.SX(nv, len(v_kept))
        Gamma[v_kept, :] = ca.SX.eye(len(v_kept))
        Gamma[rows, :] = ca.jacobian(q[others], y) @ E
        Gamma = ca.sparsify(Gamma)
        Gamma_dot = ca.reshape(ca.sparsify(ca.jtimes(ca.vec(Gamma), y, E @ v)), Gamma.shape)
        outputs = ca.cse([q, Gamma, Gamma @ v, Gamma_dot, Gamma_dot @ v])
        return Coupling(dependent, tuple(kept), tuple(v_kept),
                        ca.Function("coupling", [y, v, p], outputs))

    def kernel(self, y: Any, v: Any, p: Any) -> Any:
        return self.graph(y, v, p)

    def complete(self, q: Any, p: Any) -> Any:
        """All coordinates of the tree from those in q that are independent."""
        y = q[list(self.q_kept)]
        return self.graph(y, ca.DM(len(self.v_kept), 1), p)[0]

    def undefined(self, y: Any, p: Any) -> list[str]:
        """Dependent coordinates whose derivatives are not finite at these numbers."""
        _, Gamma, _, rate, _ = map(np.array, self.graph(y, ca.DM.ones(len(self.v_kept)), p))
        return [name for name, x in self.dependent.items()
                if not np.isfinite([Gamma[x.rate], rate[x.rate]]).all()]


def motion(t: Tree, y: Any, v: Any = None) -> Any:
    """(q, Γ, v, Γ̇, Γ̇ ẏ) of the tree."""
    m = t.mechanism
    assert m.coupling is not None
    return t.apply(m.coupling.kernel, y, t.zeros(m.nv) if v is None else v, t.p)


# -- kernels ------------------------------------------------------------------------------


def acceleration(Gamma: Any, a: Any, bias: Any) -> Any:
    return Gamma @ a + bias


def _columns(J: Any, Gamma: Any) -> Any:
    return J @ Gamma


def _coriolis(M: Any, C: Any, Gamma: Any, Gamma_dot: Any) -> Any:
    """With it Ṁ − 2C of the independent coordinates stays skew."""
    return Gamma.T @ (M @ Gamma_dot + C @ Gamma)


# -- layers -----------------------------------------------------------------------------------


def state(build: Builder, t: Tree, y: Any, v: Any = None, **options: Any) -> Any:
    """What depends on the state alone: build(γ, Γ ẏ)."""
    q, _, tree_v, _, _ = motion(t, y, v)
    return build(t, q, **options) if v is None else build(t, q, tree_v, **options)


def inverse(build: Builder, t: Tree, y: Any, v: Any, a: Any, *fext: Any, **options: Any) -> Any:
    """Γᵀ id(γ, Γ ẏ, Γ ÿ + Γ̇ ẏ)."""
    q, Gamma, v, _, bias = motion(t, y, v)
    a = t.apply(acceleration, Gamma, a, bias)
    return t.apply(crba.project, Gamma, build(t, q, v, a, *fext, **options))


def bias(id_: Builder, _: Builder, t: Tree, y: Any, v: Any, **options: Any) -> Any:
    """Inverse dynamics at ÿ = 0; id_: that of the tree."""
    return inverse(id_, t, y, v, t.zeros(t.mechanism.nv), **options)


def force(build: Builder, t: Tree, y: Any, *inputs: Any, **options: Any) -> Any:
    """Γᵀ of generalised forces of the tree."""
    q, Gamma, *_ = motion(t, y)
    return t.apply(crba.project, Gamma, build(t, q, *inputs, **options))


def mass_matrix(_: Builder, t: Tree, y: Any) -> Any:
    q, Gamma, *_ = motion(t, y)
    return crba_coupled.mass_matrix(t, q, Gamma)


def coriolis_matrix(build: Builder, t: Tree, y: Any, v: Any) -> Any:
    q, Gamma, v, Gamma_dot, _ = motion(t, y, v)
    return t.apply(_coriolis, crba.mass_matrix(t, q), build(t, q, v), Gamma, Gamma_dot)


def jacobian(build: Builder, t: Tree, y: Any, **options: Any) -> Any:
    q, Gamma, *_ = motion(t, y)
    return t.apply(_columns, build(t, q, **options), Gamma)


def frame_bias(build: Builder, t: Tree, y: Any, v: Any, **options: Any) -> Any:
    """d/dt (J Γ) ẏ = J̇ v + J Γ̇ ẏ."""
    q, _, v, _, bias = motion(t, y, v)
    J = frames.jacobian(t, q, **options)
    return build(t, q, v, **options) + t.apply(_columns, J, bias)


def moved(build: Builder, t: Tree, y: Any, v: Any) -> Any:
    """q̇, or q moved by a tangent vector, joint by joint: the dependent rows don't matter."""
    c = t.mechanism.coupling
    assert c is not None
    q, v = scattered(y, c.q_kept, t.nq), scattered(v, c.v_kept, t.nv)
    return build(t, q, v)[list(c.q_kept)]


def difference(build: Builder, t: Tree, y0: Any, y1: Any) -> Any:
    c = t.mechanism.coupling
    assert c is not None
    q0, q1 = (scattered(y, c.q_kept, t.nq) for y in (y0, y1))
    return build(t, q0, q1)[list(c.v_kept)]


def inside(build: Builder, *inputs: Any, **options: Any) -> Any:
    """For builders that take the layer into account themselves."""
    return build(*inputs, **options)
