"""The joint contract over every example of every family: S and its bias against finite
differences of the transform and against the derived ones, at 100 random states."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np
import pytest

from anyjoint.joints.contract import kinematics
from anyjoint.joints.motion import Chart
from mechanisms import ONES, Case, over

STATES = 100
# sixth-order central difference
STEPS = np.array([1.0, 2.0, 3.0])
WEIGHTS = np.array([3 / 4, -3 / 20, 1 / 60])


class Contract:
    """Functions of one joint, over columns of states."""

    def __init__(self, case: Case):
        joint = case.m.bodies[0].joint
        q, v = ca.SX.sym("q", joint.nq), ca.SX.sym("v", joint.nv)
        args = ca.DM([float(x) for x in joint.arguments])
        G, bias = kinematics(joint, q, v, ca.SX(args))
        R, r = joint.transform(q, ca.SX(args))
        N = ca.SX(joint.rate_matrix(q))
        derived = Chart(q, N).derived(R, r)
        derived_bias = ca.jtimes(derived.S @ v, q, N @ v)
        outputs = [ca.densify(x) for x in (G.R, G.r, G.S, bias, N, derived.S, derived_bias)]
        self.f = ca.Function("joint", [q, v], outputs)
        self.joint, self.q0 = joint, case.m.q0

    def __call__(self, q: Any, v: Any) -> list[Any]:
        return [np.array(x) for x in self.f(q, v)]

    def numbers(self, q: Any, v: Any, h: float) -> tuple[Any, Any]:
        """S and Ṡ v by differences of the transform and of S."""
        R, N = self(q, v)[0], self(q, v)[4]
        columns = []
        for k in range(self.joint.nv):
            d = N[:, k]
            columns.append(twist(R, *(difference(lambda t, i=i, d=d: self(q + t * d, v)[i], h)
                                      for i in (0, 1))))
        change = difference(lambda t: self(q + t * (N @ v), v)[2] @ v, h)
        return np.array(columns).T, change

    def states(self) -> Any:
        """(q, v, differences) near rest where S is moderate and the differences have settled:
        at a singularity or a knot of a spline they say nothing. A wrong S does not unsettle
        them."""
        rng, found, tried = np.random.default_rng(3), [], 0
        while len(found) < STATES:
            tried += 1
            assert tried < 2 * STATES, "too few regular states"
            q = self.q0 + 0.4 * rng.uniform(-1, 1, self.joint.nq)
            v = rng.standard_normal(self.joint.nv)
            S, bias = self(q, v)[2:4]
            size = max(1.0, abs(S).max(), abs(bias).max())
            if not size < 30:
                continue
            fine, coarse = self.numbers(q, v, 2e-3), self.numbers(q, v, 3e-3)
            if all(abs(a - b).max() < 1e-9 * size for a, b in zip(fine, coarse, strict=True)):
                found.append((q, v, size, fine))
        return found


def difference(f: Any, h: float) -> Any:
    """f′(0) of an array-valued function of a scalar."""
    return sum(w * (f(h * k) - f(-h * k)) for k, w in zip(STEPS, WEIGHTS, strict=True)) / h


def twist(R: Any, dR: Any, dr: Any) -> Any:
    W = R.T @ dR
    return np.concatenate([[W[2, 1] - W[1, 2], W[0, 2] - W[2, 0], W[1, 0] - W[0, 1]],
                           2 * R.T @ dr.ravel()]) / 2


@over(ONES)
def test_subspace_and_bias(case: Case) -> None:
    contract = Contract(case)
    if not contract.joint.nv:
        pytest.skip("nothing moves")
    for q, v, size, (S_numbers, bias_numbers) in contract.states():
        R, _, S, bias, _, S_derived, bias_derived = contract(q, v)
        np.testing.assert_allclose(R.T @ R, np.eye(3), atol=1e-12)
        assert np.linalg.det(R) > 0
        for name, own, others in (("S", S, (S_derived, S_numbers)),
                                  ("Ṡ v", bias.ravel(), (bias_derived.ravel(), bias_numbers))):
            for other in others:
                np.testing.assert_allclose(own, other, atol=1e-9 * size, rtol=0,
                                           err_msg=f"{name} at {q}")
