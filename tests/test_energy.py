"""Energy of every model in models/: kept over 10 s, or until a range is left (but at least 2 s:
some rest at the end of a range), by a tight integrator from the rest state with a push that its
constraints allow."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
import pytest
from scipy.integrate import DOP853

import anyjoint as aj
from anyjoint.forces import BodyForce, Drag, Spring, ZeroLengthSpring
from mechanisms import MODELS

SEED = 11
PUSH = 0.3  # rad/s or m/s, the spread of the initial velocities
SHORT, LONG = 2.0, 10.0  # s


def conservative(m: Any) -> Any:
    """The mechanism without damping, friction, and forces that have no potential."""
    forces = []
    for force in m.forces:
        if isinstance(force, (Spring, ZeroLengthSpring)):
            stiffness, _, *length = ca.vertsplit(force.parameters)
            force = replace(force, parameters=ca.vertcat(stiffness, 0, *length))
        if not isinstance(force, (BodyForce, Drag)):
            forces.append(force)
    none = ca.SX(m.passive.damping.numel(), 1)
    return replace(m, forces=tuple(forces), passive=replace(m.passive, damping=none, friction=none))


def allowed(m: Any, v: Any) -> Any:
    """The velocity nearest to v that the constraints allow at rest."""
    if not m.constraints:
        return v
    f = m.function("constraint_residual")
    A = f.factory("A", ["q", "v", "p"], ["jac:rate:v"])(m.q0, v, m.p0)
    return v - np.linalg.pinv(np.array(A)) @ np.ravel(f(m.q0, v, m.p0)[1])


def drift(m: Any, folder: Path) -> tuple[float, float]:
    """Largest change of energy over the largest kinetic energy, and the time integrated.
    (Most models lose less than 1e-12; cubic splines, whose kinks at the knots cost the
    integrator its order, 1e-10.)"""
    lib = aj.compile(conservative(m), folder, ["xdot", "energy"])
    u = np.zeros(m.nu)
    v = allowed(m, PUSH * np.random.default_rng(SEED).standard_normal(m.nv))
    solver = DOP853(lambda t, x: lib.xdot(x, u), 0.0, np.concatenate([m.q0, v]), LONG,
                    rtol=1e-13, atol=1e-13)
    energies = []
    while solver.status == "running":
        energies.append(np.ravel(lib.energy(*np.split(solver.y, [m.nq]))))
        q = solver.y[: m.nq]
        if solver.t >= SHORT and not np.all((m.bounds.q_min <= q) & (q <= m.bounds.q_max)):
            break
        solver.step()
    assert solver.status != "failed", solver.t
    kinetic, potential = np.transpose(energies)
    total = kinetic + potential
    return float(abs(total - total[0]).max() / kinetic.max()), solver.t


@pytest.mark.parametrize("path", sorted(MODELS.glob("*.yaml")), ids=lambda p: p.stem)
def test_energy_is_kept(path: Path, tmp_path: Path) -> None:
    change, time = drift(aj.load(path), tmp_path)
    assert time >= SHORT
    assert change <= 1e-9, (change, time)
