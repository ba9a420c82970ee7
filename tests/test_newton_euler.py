"""Newton and Euler in body axes, linear and angular parts apart: against the recursion with
twists, against a closed form, and for bodies without mass."""

from __future__ import annotations

import json
from typing import Any

import casadi as ca
import numpy as np
import pytest

import anyjoint as aj
from anyjoint.backend.budget import operations
from anyjoint.dynamics import newton_euler_local, rnea
from anyjoint.dynamics.tree import Tree
from mechanisms import COUPLED, FLOATING, MODELS, ONES, OTHERS, TREES, TWOS, Case, close, over


@over([*ONES, *TWOS[::4], *TREES[:16], *FLOATING, *OTHERS])
def test_against_twists(case: Case) -> None:
    s = {k: ca.DM(x) for k, x in case.state().items()}
    t, fext = Tree(case.m, s["p"]), ca.horzsplit(s["fext"])
    state = s["q"], s["v"], s["a"]
    tau = newton_euler_local.newton_euler_local(t, *state, fext)
    close(tau, rnea.rnea(t, *state, fext), 1e-12)


@over([*COUPLED, *TREES[:3]])
def test_by_name(case: Case) -> None:
    s = case.state()
    close(case.call("id_ext", s, algorithm="newton_euler_local"), case.call("id_ext", s), 1e-10)


CART = {"anyjoint": 1, "name": "cart", "parameters": {"m": 2.0}, "bodies": {
    "cart": {"parent": "world", "joint": {"type": "prismatic", "axis": "x"}, "mass": 0},
    "bob": {"parent": "cart", "joint": {"type": "revolute", "axis": "y"}, "mass": "m",
            "com": [0, 0, -0.5], "inertia": [0.1, 0.2, 0.3]}}}


@pytest.mark.quick
@pytest.mark.parametrize("form", ["inlined", "rolled"])
def test_cart_and_pendulum(form: str) -> None:
    """A cart without mass, which has no centre of mass either: m ẍ_c and (I + m l²) θ̈ + …"""
    f = aj.loads(json.dumps(CART)).function("id", algorithm="newton_euler_local", form=form)
    m, arm, inertia, g = 3.0, 0.5, 0.2, 9.81
    angle, w, ddx, dw = 0.7, -1.1, 0.8, 0.6
    cos, sin = arm * np.cos(angle), arm * np.sin(angle)
    force = m * (ddx - cos * dw + sin * w**2)
    torque = (inertia + m * arm**2) * dw + m * (g * sin - cos * ddx)
    close(f([0.3, angle], [0.4, w], [ddx, dw], m), [force, torque], 1e-13)


@pytest.mark.quick
def test_a_mass_that_is_zero_at_run_time() -> None:
    m: Any = aj.loads(json.dumps(CART))
    s = [0.3, 0.7], [0.4, -1.1], [0.8, 0.6]
    f = m.function("id", algorithm="newton_euler_local")
    close(f(*s, 0), m.function("id")(*s, 0), 1e-13)


@pytest.mark.quick
def test_operations() -> None:
    """No more than with twists: there is no velocity of a centre of mass to carry along."""
    m = aj.load(MODELS / "revolute_chain_6.yaml")
    counts = {n: operations(m.function("id", algorithm=n))["total"]
              for n in ("rnea", "newton_euler_local")}
    assert counts["newton_euler_local"] <= counts["rnea"]
