"""Hybrid dynamics (seed 002, algorithm 6): each joint has either a prescribed acceleration or a
given force, and the other of the two is found.

A joint with a prescribed acceleration is one without freedom: its lines 10, 11 and 20 are 14, 15
and 25 with S q̈ in η and no columns in S. So articulated bodies (aba.py) do them all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import casadi as ca

from anyjoint.dynamics import aba, constrained, constraints, forward
from anyjoint.dynamics.link import Link
from anyjoint.dynamics.tree import Tree


def prescribe(S: Any, a: Any, c: Any) -> Any:
    """η + S q̈ (11)."""
    return c + S @ a


def force(link: Link, S: Any, a: Any, A: Any, b: Any, J_behind: Any, b_behind: Any) -> Any:
    """τ of a joint with acceleration a, from the acceleration A of its body."""
    F = link.inertia(J_behind) @ A + b + b_behind  # (21)
    return S.T @ F + link.armature * a  # (22)


def hybrid(t: Tree, q: Any, v: Any, given: Any, loads: forward.Loads,
           prescribed: Sequence[str]) -> Any:
    """found (nv) for given (nv): forces where the joint is prescribed and accelerations are
    given, accelerations elsewhere, where forces are."""
    if t.mechanism.coupling is not None or t.mechanism.constraints:
        return by_equations(t, q, v, given, loads, prescribed)
    held = [i for i, body in enumerate(t.bodies) if body.joint_name in prescribed]
    passive, fext = loads(q, v)
    given, passive = t.split_v(given), t.split_v(passive)
    R, r, S, c, b = aba.moving(t, q, v, fext)
    free, tau = list(S), [x - y for x, y in zip(given, passive, strict=True)]
    for i in held:
        c[i] = t.apply(prescribe, S[i], given[i], c[i])
        free[i], tau[i] = t.zeros(6, 0), t.zeros(0)
    found, A, J_behind, b_behind = aba.solve(t, R, r, free, c, b, tau)
    for i in held:
        tau_i = t.call(force, i, S[i], given[i], A[i], b[i], J_behind[i], b_behind[i])
        found[i] = tau_i + passive[i]
    return ca.vertcat(*found)


# -- with couplings or constraints: by M a + c = tau + Aᵀ λ ------------------------------------


def reduced(M: Any, c: Any, A: Any, target: Any, given: Any, free: Any, held: Any) -> Any:
    """M, b, A and target of the free accelerations; those that are held solve x = given."""
    a = held @ given
    return (free @ M @ free + held, free @ (given - c - M @ a) + a, A @ free, target - A @ a)


def other_half(M: Any, c: Any, A: Any, a: Any, multipliers: Any, free: Any, held: Any) -> Any:
    return free @ a + held @ (M @ a + c - A.T @ multipliers)


def by_equations(t: Tree, q: Any, v: Any, given: Any, loads: forward.Loads,
                 prescribed: Sequence[str]) -> Any:
    """The same in the coordinates of the mechanism; free and held pick rows of v."""
    m = t.mechanism
    M, c = forward.equations(t, q, v, loads, "crba")
    A, target = t.zeros(0, m.nv), t.zeros(0)
    if m.constraints:
        found = constraints.rows(t, q, v)
        A, target = found.A, constraints.target(t, found)
    is_held = [name.partition(".")[0] in prescribed for name in m.v_names]
    free, held = (ca.diag(ca.sparsify(ca.DM([x == y for x in is_held]))) for y in (False, True))
    equations = t.apply(reduced, M, c, A, target, given, free, held)
    a, multipliers = constrained.solve(t, *equations)
    return t.apply(other_half, M, c, A, a, multipliers, free, held)
