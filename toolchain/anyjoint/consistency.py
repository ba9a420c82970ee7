"""Configurations and velocities that the constraints of a mechanism allow, for users."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from anyjoint.assembly import Assembly
from anyjoint.dynamics.conversions import numbers
from anyjoint.errors import InputError, suggest
from anyjoint.joint_properties import Array
from anyjoint.mechanism import Mechanism


def _free(m: Mechanism, hold: Sequence[str]) -> Array:
    """nv of 1 and 0: 0 for the coordinates and joints in `hold`."""
    joints = {name.partition(".")[0] for name in m.v_names}
    for name in [hold] if isinstance(hold, str) else hold:
        if name not in joints and name not in m.v_names:
            raise InputError(f'nothing called "{name}" to hold; '
                             + suggest(name, m.v_names, "velocities"))
    held = {hold} if isinstance(hold, str) else {*hold}
    return np.array([not {name, name.partition(".")[0]} & held for name in m.v_names], float)


def assembled(m: Mechanism, q: Array | None, p: Array | None, hold: Sequence[str]) -> Array:
    """q (nq) near the given one (default: rest) that meets the constraints, in the ranges if that
    can be; coordinates or joints in `hold` stay. InputError where none is found."""
    q = numbers("q", m.q0 if q is None else q, (m.nq,))
    p = numbers("p", m.p0 if p is None else p, (m.np,))
    assembly, free = Assembly(m, p), _free(m, hold)
    found = assembly.nearest(q, free)
    if found is None:
        raise InputError(f"no configuration near this one meets the constraints of {m.name}; "
                         f"what is left: {assembly.named(assembly.descend(q, free)[1])}")
    return found


def consistent(m: Mechanism, q: Array, v: Array, p: Array | None, hold: Sequence[str]) -> Array:
    """v (nv) changed so that A v = e at q, by the least kinetic energy of the change, as impacts
    would do it; coordinates or joints in `hold` keep their velocity. InputError where they
    can't."""
    q, v = numbers("q", q, (m.nq,)), numbers("v", v, (m.nv,))
    p = numbers("p", m.p0 if p is None else p, (m.np,))
    found, free = Assembly(m, p).errors(q), np.flatnonzero(_free(m, hold))
    M = m.function("mass_matrix")(q, p).full()[np.ix_(free, free)]
    L = np.linalg.cholesky(M)
    rate, A = found.A @ v - found.e, np.linalg.solve(L, found.A[:, free].T).T
    v = v.copy()
    v[free] -= np.linalg.solve(L.T, np.linalg.pinv(A, 1e-9) @ rate)
    left = np.abs(found.A @ v - found.e)
    if (left > 1e-9 * (1 + np.abs(rate).max(initial=0))).any():
        worst = m.lambda_names[int(np.argmax(left))]
        raise InputError(f'no velocity meets the constraints of {m.name} here: "{worst}" is off '
                         f"by {left.max():.3g}" + "; hold fewer" * bool(hold))
    return v
