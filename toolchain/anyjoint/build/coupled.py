"""Warnings about couplings: formulas that have no value or derivative somewhere in the ranges of
the coordinates they depend on, and dependent coordinates that leave their own range there."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

from anyjoint.dynamics.singular import samples
from anyjoint.errors import Problem
from anyjoint.mechanism import Mechanism


def warnings(m: Mechanism) -> list[Problem]:
    """One for each formula at most of each kind, with the first sample that shows it."""
    if m.coupling is None:
        return []
    lower, upper = m.bounds.q_min, m.bounds.q_max
    bounded = np.isfinite(upper - lower)
    z = samples(np.flatnonzero(bounded), m.nq)
    y = np.where(bounded, np.where(bounded, lower, 0) + z * np.where(bounded, upper - lower, 0),
                 m.q0)
    y = np.vstack([m.q0, y])
    f = m.coupling.graph.map(len(y))
    q, Gamma, _, rate, _ = (x.full() for x in f(y.T, ca.DM.ones(m.nv, len(y)),
                                                 ca.repmat(ca.DM(m.p0), 1, len(y))))
    n, found = len(y), []
    Gamma, rate = (x.reshape(len(x), n, m.nv) for x in (Gamma, rate))
    rows = [i for i in range(len(q)) if i not in m.coupling.q_kept]
    depends = ca.DM(m.coupling.graph.jac_sparsity(0, 0)).full() != 0
    for i, d in zip(rows, m.coupling.dependent.values(), strict=True):
        about = np.flatnonzero(depends[i])
        sound = np.isfinite(q[i]) & np.isfinite(Gamma[d.rate]).all(1) & \
            np.isfinite(rate[d.rate]).all(1)
        if not sound.all():
            at = _where(m, y[~sound][0], about)
            found.append(m.document.problem(
                f"this formula has no value or no derivatives{at}", d.path,
                "ranges that leave this out, or another formula"))
        with np.errstate(invalid="ignore"):
            out = (q[i] < d.range[0] - 1e-9) | (q[i] > d.range[1] + 1e-9)
        if out.any() and not out[0]:  # at rest: told of the joint
            k = int(np.flatnonzero(out)[0])
            found.append(m.document.problem(
                f"{q[i, k]:.4g}{_where(m, y[k], about)} is outside the range of this coordinate, "
                f"[{d.range[0]:.4g}, {d.range[1]:.4g}]", d.path,
                "a wider range, or smaller ranges of those it depends on"))
    return found


def _where(m: Mechanism, y: Any, about: Any) -> str:
    listed = ", ".join(f"{m.q_names[i]} = {y[i]:.4g}" for i in about[:4])
    return f" at {listed}" if listed else ""
