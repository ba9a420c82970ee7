"""Lagrange's equations in the trace form: against Lagrange's own d/dt ∂L/∂q̇ − ∂L/∂q, against the
recursions with twists, and the cost of a joint more."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
import pytest

import anyjoint as aj
from anyjoint.backend.budget import operations
from anyjoint.dynamics import aba, crba, factor, lagrange, rnea
from anyjoint.dynamics.tree import Tree
from mechanisms import COUPLED, FLOATING, MODELS, ONES, OTHERS, TREES, TWOS, Case, close, over

sys.path.append(str(Path(__file__).parent.parent / "benchmarks"))
from chains import revolute_chain, torus_chain  # noqa: E402


def numbers(case: Case) -> tuple[Tree, dict[str, Any], list[Any]]:
    """A tree that computes at once, a state of it, and wrenches on its bodies."""
    s = {k: ca.DM(x) for k, x in case.state().items()}
    return Tree(case.m, s["p"]), s, ca.horzsplit(s["fext"])


@over([*ONES, *TREES[:8], *FLOATING[:4], *OTHERS])
def test_against_twists(case: Case) -> None:
    """tau is that of rnea, M that of crba, and a that of aba."""
    t, s, fext = numbers(case)
    q, v, a = s["q"], s["v"], s["a"]
    tau = lagrange.lagrange(t, q, v, a, fext)
    close(tau, rnea.rnea(t, q, v, a, fext), 1e-12)
    M, c = lagrange.equations(t, q, v, fext)
    close(ca.densify(M), ca.densify(crba.mass_matrix(t, q)), 1e-12)
    close(M @ a + c, tau, 1e-12)
    close(factor.solve(t, M, tau - c), aba.aba(t, q, v, tau, fext), 1e-9)


@over([*COUPLED[:3], COUPLED[-1], TREES[2]])
def test_by_name(case: Case) -> None:
    """From the catalogue, with couplings, passive forces and wrenches from outside."""
    s = case.state()
    for name, other in (("fd_ext", "crba"), ("id_ext", "rnea")):
        close(case.call(name, s, algorithm="lagrange"), case.call(name, s, algorithm=other), 1e-9)


def energies(case: Case, q: Any, dq: Any) -> tuple[Any, Any]:
    """T and V of poses alone: ½ Σ tr(Ẇ J Ẇᵀ) and −Σ m gᵀ r_cm."""
    T = V = ca.SX(0)
    poses = case.f("poses")(q=q, p=ca.DM(case.m.p0))
    g = case.doc.get("gravity", [0, 0, -9.81])
    for name, body in case.doc["bodies"].items():
        W, m, c = poses[name], body["mass"], np.array([*body["com"], 1.0])
        about = [[body["inertia"]["".join(sorted(x + y))] for y in "xyz"] for x in "xyz"]
        J = m * np.outer(c, c)
        J[:3, :3] += np.trace(about) / 2 * np.eye(3) - about
        dW = ca.reshape(ca.jtimes(ca.vec(W), q, dq), 4, 4)
        T += ca.trace(dW @ J @ dW.T) / 2
        V -= m * ca.dot(ca.DM([*g, 0]), W @ c)
    return T, V


@over([c for c in TWOS if c.id.endswith(("_0_twice", "_1_twice")) and "fixed" not in c.id])
def test_lagranges_equations(case: Case) -> None:
    """tau = Nᵀ (d/dt ∂L/∂q̇ − ∂L/∂q), by automatic differentiation of the energies; it holds for
    the four numbers of a quaternion too."""
    m, s = case.m, case.state()
    q, dq, ddq = (ca.SX.sym(n, m.nq) for n in ("q", "dq", "ddq"))
    T, V = energies(case, q, dq)
    rate = ca.jtimes(ca.gradient(T, dq), ca.vertcat(q, dq), ca.vertcat(dq, ddq))
    f = ca.Function("f", [q, dq, ddq], [rate - ca.gradient(T - V, q)])
    q1, N = case.call("qdot", s), case.jacobian("qdot", "qdot", "v", s)
    q2 = case.rate("qdot", s, {"q": q1, "v": s["a"]})
    tau = case.call("id", s, algorithm="lagrange", passive=False)
    close(N.T @ f(s["q"], q1, q2).full().ravel(), tau, 1e-10)


@pytest.mark.quick
@pytest.mark.parametrize("make", [revolute_chain, torus_chain])
@pytest.mark.parametrize("form", ["inlined", "rolled"])
def test_every_further_joint_costs_the_same(make: Any, form: str) -> None:
    """Inverse dynamics is O(n), from 10 to 200 joints."""
    lengths = np.array([10, 40, 100, 200] if make is revolute_chain else [6, 12, 18])
    counts = [operations(aj.loads(make(n)).function("id", algorithm="lagrange", form=form))["total"]
              for n in lengths.tolist()]
    slopes = np.diff(counts) / np.diff(lengths)
    assert slopes == pytest.approx(slopes[0], rel=0.02)


def best_chain() -> str:
    """Six joints as in table 1 of seed 001: centres of mass on z, diagonal inertias."""
    doc = json.loads(revolute_chain(6))
    for body in doc["bodies"].values():
        body["com"][:2] = [0, 0]
        body["inertia"] |= dict.fromkeys(("xy", "xz", "yz"), 0)
    return json.dumps(doc)


@pytest.mark.quick
@pytest.mark.parametrize("name,chain,additions,products", [
    ("id", "best", 328, 365), ("id", "full", 386, 450), ("fd", "best", 818, 943)])
def test_operations_of_the_paper(name: str, chain: str, additions: int, products: int) -> None:
    """Table 1 of seed 001: its best case, and Balafoutis for full inertias."""
    full = (MODELS / "revolute_chain_6.yaml").read_text()
    m = aj.loads(best_chain() if chain == "best" else full)
    counts = operations(m.function(name, algorithm="lagrange", form="inlined"))
    assert sum(counts.get(k, 0) for k in ("add", "sub", "neg")) < additions
    assert sum(counts.get(k, 0) for k in ("mul", "sq", "twice", "div")) < products


@pytest.mark.parametrize("name", ["revolute_chain_100", "torus_chain_20"])
def test_large_models(name: str) -> None:
    """Forward dynamics of 100 joints: numbers at once."""
    m = aj.load(MODELS / f"{name}.yaml")
    rng = np.random.default_rng(4)
    t, q = Tree(m, ca.DM(m.p0)), ca.DM(m.q0 + 0.2 * rng.standard_normal(m.nq))
    v, a = (ca.DM(rng.standard_normal(m.nv)) for _ in range(2))
    fext = [t.zeros(6)] * len(m.bodies)
    M, c = lagrange.equations(t, q, v, fext)
    close(M @ a + c, rnea.rnea(t, q, v, a, fext), 1e-11)
    close(ca.densify(M), ca.densify(crba.mass_matrix(t, q)), 1e-12)
