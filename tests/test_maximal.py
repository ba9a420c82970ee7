"""Forward dynamics by Jacobians (seeds 002 and 004) and as one sparse system (seed 003): the
products in O(n), M and C, and agreement with articulated bodies."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
import pytest

import anyjoint as aj
from anyjoint.backend.budget import operations
from anyjoint.dynamics import configuration, jacobian, kinematics, maximal
from anyjoint.dynamics.tree import Tree
from mechanisms import COUPLED, FLOATING, MODELS, ONES, TREES, Case, call, close, over, single

SOME = [*ONES[::5], *TREES[:8], *FLOATING[:3]]
TREE_LEVEL = [*ONES[::9], *TREES[:6], *FLOATING[:2]]  # no couplings: q is the tree's


# -- agreement ---------------------------------------------------------------------------------


@over(SOME)
@pytest.mark.parametrize("algorithm", ["augmented", "jacobian", "jacobian_maximal"])
def test_agree_with_aba(case: Case, algorithm: str) -> None:
    s = case.state()
    close(case.call("fd_ext", s, algorithm=algorithm, form="rolled"),
          case.call("fd_ext", s, algorithm="aba"), 1e-9)


@over([*COUPLED[:3], *TREES[8:10]])
@pytest.mark.parametrize("algorithm", ["jacobian", "jacobian_maximal"])
def test_inlined_and_coupled(case: Case, algorithm: str) -> None:
    s = case.state()
    close(case.call("fd_ext", s, algorithm=algorithm), case.call("fd_ext", s, algorithm="crba"),
          1e-9)


def test_bodies_without_mass() -> None:
    """A gantry: slides that weigh nothing carry a body; none of the ways divides by a mass."""
    slide = "{{parent: {}, joint: {{type: prismatic, axis: {}}}, mass: 0}}"
    case = Case("gantry", "anyjoint: 1\nname: gantry\nbodies:\n"
                f"  x: {slide.format('world', 'x')}\n  y: {slide.format('x', 'y')}\n"
                "  load: {parent: y, joint: {type: spherical}, mass: 2, com: [0, 0.1, -1], "
                "inertia: [3, 3, 1]}\n")
    s = case.state()
    for algorithm in ("augmented", "jacobian", "jacobian_maximal"):
        close(case.call("fd", s, algorithm=algorithm, form="rolled"),
              case.call("fd", s, algorithm="aba"), 1e-9)


def test_augmented_derivatives() -> None:
    """The factorisation at run time differentiates."""
    case = TREES[1]
    s = case.state()
    for wrt in ("q", "v", "tau"):
        close(case.jacobian("fd", "a", wrt, s, algorithm="augmented", form="rolled"),
              case.jacobian("fd", "a", wrt, s, algorithm="aba"), 1e-8)


def test_augmented_as_c(tmp_path: Path) -> None:
    """… and compiles: the C has the sparse QR in it."""
    path = MODELS / "satellite.yaml"
    lib = aj.compile(path, tmp_path, ["fd"], algorithms={"fd": "augmented"})
    m = aj.load(path)
    s = Case("satellite", path.read_text()).state()
    expected = call(m.function("fd", algorithm="aba"), s)
    close(lib.fd(s["q"], s["v"], s["tau"], s["p"]), expected, 1e-9)


# -- products ------------------------------------------------------------------------------------


def _explicit(t: Tree, q: Any, v: Any) -> tuple[Any, Any]:
    """J of the stacked twists and J̇, by automatic differentiation."""
    J = ca.jacobian(ca.vertcat(*kinematics.twists(t, q, v)), v)
    rate = ca.jtimes(ca.vec(ca.densify(J)), q, configuration.qdot(t, q, v))
    return J, ca.reshape(rate, *J.shape)


@over(TREE_LEVEL)
def test_products(case: Case) -> None:
    """J x, J̇ x and Jᵀ y of columns, and J and J̇ themselves by x = 1 (algorithm 1)."""
    m, s, rng = case.m, case.state(), np.random.default_rng(4)
    n = 6 * len(m.bodies)
    X, Y = ca.DM(rng.standard_normal((m.nv, 2))), ca.DM(rng.standard_normal((n, 2)))
    q, v, p = ca.SX.sym("q", m.nq), ca.SX.sym("v", m.nv), ca.SX.sym("p", m.np)
    given = ca.DM(s["q"]), ca.DM(s["v"]), ca.DM(s["p"])
    J, J_dot = ca.Function("f", [q, v, p], _explicit(Tree(m, p), q, v))(*given)
    t, (q_, v_, _) = Tree(m, given[2]), given
    close(maximal.times(t, q_, X), J @ X)
    close(maximal.rate_times(t, q_, v_, X), J_dot @ X)
    close(maximal.transposed_times(t, q_, Y), J.T @ Y)
    close(maximal.times(t, q_, ca.DM.eye(m.nv)).full(), J.full())
    close(maximal.rate_times(t, q_, v_, ca.DM.eye(m.nv)).full(), J_dot.full())


PRODUCTS: dict[str, Callable[[Tree, Any, Any, Any, Any], Any]] = {
    "times": lambda t, q, v, x, y: maximal.times(t, q, x),
    "rate_times": lambda t, q, v, x, y: maximal.rate_times(t, q, v, x),
    "transposed_times": lambda t, q, v, x, y: maximal.transposed_times(t, q, y)}


@pytest.mark.quick
@pytest.mark.parametrize("name", PRODUCTS)
def test_products_are_linear_in_the_joints(name: str) -> None:
    """Each further joint of a chain costs the same."""
    counts = []
    for n in (8, 16, 32):
        m = Case("chain", single({"type": "revolute", "axis": [1, 2, 3]}, n)).m
        q, v, x = (ca.SX.sym(k, n) for k in "qvx")
        y = ca.SX.sym("y", 6 * n)
        out = PRODUCTS[name](Tree(m, ca.SX(m.p0)), q, v, x, y)
        counts.append(operations(ca.Function("f", [q, v, x, y], ca.cse([out])))["total"])
    first, second = counts[1] - counts[0], counts[2] - counts[1]
    assert second == pytest.approx(2 * first, rel=0.01)


# -- M and C ---------------------------------------------------------------------------------------


@over(TREE_LEVEL)
def test_mass_and_coriolis_matrix(case: Case) -> None:
    """Eq. 59: M is the mass matrix, Ṁ − 2C is skew, and C v is the bias without gravity."""
    m, s = case.m, case.state()
    q, v, p = ca.SX.sym("q", m.nq), ca.SX.sym("v", m.nv), ca.SX.sym("p", m.np)
    t = Tree(m, p)
    M, C, _, J = jacobian.matrices(t, q, v)
    M_dot = ca.reshape(ca.jtimes(ca.vec(ca.densify(M)), q, configuration.qdot(t, q, v)), *M.shape)
    f = ca.Function("f", [q, v, p], [M, C, M_dot, ca.vertcat(*J)])
    M, C, M_dot, J = (x.full() for x in f(*(ca.DM(s[k]) for k in "qvp")))
    skew = M_dot - 2 * C
    close(skew, -skew.T, 1e-9)
    close(M, case.call("mass_matrix", s))
    _, parts = maximal.equations(t := Tree(m, ca.DM(s["p"])), ca.DM(s["q"]), ca.DM(s["v"]),
                                 [ca.DM(6, 1)] * len(m.bodies))
    close(C @ s["v"] + case.call("gravity_torque", s), parts, 1e-9)
    close(J, maximal.times(t, ca.DM(s["q"]), ca.DM.eye(m.nv)).full())
