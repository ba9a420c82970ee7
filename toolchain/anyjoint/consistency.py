"""Numbers that joints and constraints of a mechanism allow, for users: configurations, velocities,
velocities from those of the bodies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from anyjoint.assembly import Assembly
from anyjoint.errors import InputError, suggest
from anyjoint.joint_properties import Array
from anyjoint.mechanism import Mechanism

_COMPONENTS = ("ωx", "ωy", "ωz", "vx", "vy", "vz")


def _numbers(name: str, x: Any, shape: tuple[int, ...]) -> Any:
    """x as an array of this shape, all finite."""
    try:
        values = np.asarray(x, dtype=float)
    except (TypeError, ValueError):
        raise InputError(f"{name} must be numbers, not {type(x).__name__}") from None
    if values.shape != shape:
        wanted, got = ("×".join(map(str, s)) or "one number" for s in (shape, values.shape))
        raise InputError(f"{name} must have {wanted} numbers, not {got}")
    if not np.isfinite(values).all():
        raise InputError(f"{name} has a value that is not finite")
    return values


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
    q = _numbers("q", m.q0 if q is None else q, (m.nq,))
    p = _numbers("p", m.p0 if p is None else p, (m.np,))
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
    q, v = _numbers("q", q, (m.nq,)), _numbers("v", v, (m.nv,))
    p = _numbers("p", m.p0 if p is None else p, (m.np,))
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


def reached(m: Mechanism, q: Any, V: Any, p: Any, tol: float) -> Any:
    """v (nv) with J v = V (6 × bodies); InputError that names the first body, from the root on,
    whose velocity can't be reached. tol: of the largest error, relative to max(1, |V|)."""
    q, p = _numbers("q", q, (m.nq,)), _numbers("p", m.p0 if p is None else p, (m.np,))
    V = _numbers("V", V, (6, len(m.bodies)))
    v, _ = m.function("generalised_velocities")(q, V, p)
    error = np.array(m.function("cartesian_velocities")(q, v, p)) - V
    bound = tol * max(1.0, np.abs(V).max(initial=0.0))
    for i in m.order:
        k = int(np.abs(error[:, i]).argmax())
        if not abs(error[k, i]) <= bound:
            raise InputError(
                f'the velocity given for "{m.bodies[i].name}" can\'t be reached: its '
                f"{_COMPONENTS[k]} is {V[k, i]:.6g}, and {V[k, i] + error[k, i]:.6g} comes nearest "
                f'with joint "{m.bodies[i].joint_name}" and those before it')
    return np.array(v).ravel()
