"""Closed loops: two frames that meet, in some directions and turns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import casadi as ca

from anyjoint.dynamics import kinematics
from anyjoint.dynamics.rows import TURNS, TWIST, Constraint, Rows, settled, spread
from anyjoint.dynamics.tree import Tree
from anyjoint.geometry import se3
from anyjoint.geometry.columns import scattered
from anyjoint.geometry.so3 import cross3
from anyjoint.mechanism import evaluate_at


class End(NamedTuple):
    """A frame (Rf, rf) on a body with pose (R, r), twist V and acceleration A at a = 0 (in body
    axes), and columns J (at the base, in its axes): all relative to a base."""

    Rf: Any
    rf: Any
    R: Any
    r: Any
    V: Any
    A: Any
    J: Any


def closure(w: Any, *ends: Any) -> tuple[Any, Any, Any, Any]:
    """φ, dφ/dt, A and bias (6 rows each) of the pose [turn; shift] of one frame, `to`, in another,
    `from`, given by their Ends one after the other; columns of A: those of from, then those of to.

    The shift is the position of `to` in `from`. With R = R_fromᵀ R_to the turn is
    Σ w_k e_k × R e_k: how far the k-th axes are from parallel; dR/dt = [ω] R."""
    F, T = End(*ends[:7]), End(*ends[7:])
    (R_F, r_F), (R_T, r_T) = (se3.compose((x.R, x.r), (x.Rf, x.rf)) for x in (F, T))
    # twists in the axes of `from` at the origin of `to`: a frame C that turns as the one and moves
    # as the other, so that d/dt Ad_C⁻¹ X = Ad_C⁻¹ Ẋ − ad_{V_C} Ad_C⁻¹ X
    V_F, A_F, V_T, A_T = [se3.act_inv(R_F, r_T, se3.act(x.R, x.r, y))
                          for x in (F, T) for y in (x.V, x.A)]
    columns = ca.horzcat(-F.J, T.J)
    V, J = V_T - V_F, se3.act_inv(R_F, r_T, columns)
    bias = A_T - A_F - se3.cross(ca.vertcat(V_F[:3], V_T[3:]), V)
    R, unit = R_F.T @ R_T, ca.SX.eye(3)

    def turn(X: Any) -> Any:
        """Σ w_k e_k × (X × R e_k) for each column of X."""
        return -sum(w[k] * cross3(unit[:, k], cross3(R[:, k], X)) for k in range(3))

    phi = sum(w[k] * cross3(unit[:, k], R[:, k]) for k in range(3))
    swing = sum(w[k] * cross3(unit[:, k], cross3(V[:3], cross3(V[:3], R[:, k]))) for k in range(3))
    turns, shifts = (ca.sum1(x**2) for x in (columns[:3, :], columns[3:, :]))
    A = ca.vertcat(settled(turn(J[:3, :]), turns),
                   settled(J[3:, :], shifts + turns * ca.sumsqr(r_T)))
    return (ca.vertcat(phi, R_F.T @ (r_T - r_F)), ca.vertcat(turn(V[:3]), V[3:]), A,
            ca.vertcat(turn(bias[:3]) + swing, bias[3:]))


def reaction(w: Any, force: Any, *frames: Any) -> tuple[Any, Any]:
    """Wrenches of a closure on its two bodies, in their axes. force: λ (6×1); frames: Rf, rf of
    the frame in its body and R, r of the body, of from and then of to."""
    still, (own, other) = ca.SX(6, 1), (frames[:4], frames[4:])
    # its rows for a twist of `to` alone, in world axes at the world's origin
    ends = (*own, still, still, ca.SX(6, 0), *other, still, still, ca.SX.eye(6))
    F = closure(w, *ends)[2].T @ force
    return (se3.act_dual(*se3.inverse(*own[2:]), -F), se3.act_dual(*se3.inverse(*other[2:]), F))


@dataclass(frozen=True, eq=False)
class Closure(Constraint):
    """Frames that meet, in the directions that are its labels: x, y, z, rx, ry, rz along and about
    the axes of `from`. λ is the force and moment on the body of `to`."""

    sites: tuple[tuple[int, Any, Any], ...]  # from and to: body, Rf, rf (expressions of p)

    @property
    def weights(self) -> Any:
        """w of `closure`, so that φ = 0 is regular however the frames may still turn: all axes, the
        one they may turn about, or with a single turn the next one (φ is y_to · z_from for rx)."""
        turns = [TURNS.index(x) for x in self.labels if x in TURNS]
        w = {0: [0, 0, 0], 1: [k == (sum(turns) + 1) % 3 for k in range(3)],
             2: [k not in turns for k in range(3)], 3: [0.5, 0.5, 0.5]}
        return ca.sparsify(ca.DM(w[len(turns)]))

    def rows(self, t: Tree, q: Any, v: Any) -> Rows:
        chains = [kinematics.ancestors(t, i)[::-1] for i, _, _ in self.sites]
        own = [[i for i in chain if i not in other] for chain, other in zip(chains, chains[::-1],
                                                                            strict=True)]
        frames = self._frames(t)
        ends = [(*frames[2 * k : 2 * k + 2], *_branch(t, chain, q, v))
                for k, chain in enumerate(own)]
        phi, rate, A, bias = t.apply(closure, self.weights, *ends[0], *ends[1])
        pick = [TWIST.index(x) for x in self.labels]
        return Rows(phi[pick], rate[pick], spread(t, own[0] + own[1], A[pick, :]), bias[pick])

    def wrenches(self, t: Tree, poses: list[Any], multipliers: Any) -> list[tuple[int, Any]]:
        world, frames = (t.X.eye(3), t.zeros(3)), self._frames(t)
        sites = [x for k, (i, _, _) in enumerate(self.sites)
                 for x in (*frames[2 * k : 2 * k + 2], *(poses[i] if i >= 0 else world))]
        force = scattered(multipliers, [TWIST.index(x) for x in self.labels], 6)
        pair = t.apply(reaction, self.weights, force, *sites)
        return [(i, F) for (i, _, _), F in zip(self.sites, pair, strict=True)]

    def _frames(self, t: Tree) -> list[Any]:
        """Rf, rf of from and of to."""
        return evaluate_at([ca.sparsify(x) for _, *pose in self.sites for x in pose],
                           t.mechanism.p, t.p)


def _branch(t: Tree, chain: list[int], q: Any, v: Any) -> tuple[Any, ...]:
    """R, r, V, A and J of End for the last body of a chain, relative to what carries the first."""
    q, v = t.split_q(q), t.split_v(v)
    pose, motion, J = (t.X.eye(3), t.zeros(3)), (t.zeros(6), t.zeros(6)), [t.zeros(6, 0)]
    for i in chain:
        pose = t.call(kinematics.place, i, q[i], *pose)
        motion = t.call(kinematics.accelerate, i, q[i], v[i], *motion)
        J.append(t.call(kinematics.columns, i, q[i], *pose))
    return *pose, *motion, ca.horzcat(*J)
