"""M = Lᵀ D L by the pattern of M: against numpy, without fill-in on trees, and what it costs."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np
import pytest

import anyjoint as aj
from anyjoint.backend.budget import operations
from anyjoint.dynamics import coupling, crba, factor
from anyjoint.dynamics.tree import Tree
from mechanisms import COUPLED, FLOATING, TREES, Case, close, over

KINDS = [ca.SX, ca.MX, ca.DM]


def _evaluated(X: Any, m: Any, q: Any, p: Any, build: Any) -> Any:
    """Arrays of what build(tree, q) returns, built with symbols X or with numbers."""
    if X is ca.DM:
        out = build(Tree(m, ca.DM(p)), ca.DM(q))
    else:
        q_, p_ = X.sym("q", m.nq), X.sym("p", m.np)
        out = ca.Function("f", [q_, p_], build(Tree(m, p_), q_)).call([ca.DM(q), ca.DM(p)])
    return [ca.DM(x).full() for x in out]


def _mass_matrix(t: Tree, q: Any) -> Any:
    if t.mechanism.coupling is None:
        return crba.mass_matrix(t, q)
    return coupling.mass_matrix(crba.mass_matrix, t, q)


@over([*TREES[:8], *FLOATING[:3], *COUPLED[:3], COUPLED[-1]])
@pytest.mark.parametrize("X", KINDS, ids=lambda X: X.__name__)
def test_factor_and_solve(case: Case, X: Any) -> None:
    """Lᵀ D L = M, solve = M⁻¹ B and Yᵀ D⁻¹ Y = Bᵀ M⁻¹ B, wherever children stand in the file."""
    m, s = case.m, case.state()
    B = np.random.default_rng(1).standard_normal((m.nv, 3))
    B[::2, 0] = 0

    def build(t: Tree, q: Any) -> Any:
        M, right = _mass_matrix(t, q), t.X(ca.sparsify(ca.DM(B)))
        F = factor.factor(t, M)
        order = ca.DM.eye(m.nv)[:, F.order]
        Y = factor.half(t, F, right)
        return M, F.L, F.D, order, Y, factor.finish(t, F, Y), factor.solve(t, M, right)

    M, L, D, order, Y, back, x = _evaluated(X, m, s["q"], s["p"], build)
    L += np.eye(m.nv)
    close(order @ L.T @ np.diag(D[:, 0]) @ L @ order.T, M, 1e-12)
    expected = np.linalg.solve(M, B)
    close(x, expected, 1e-9)
    close(back, expected, 1e-9)
    close(Y.T @ (Y / D), B.T @ expected, 1e-9)


def _tree(parents: list[int], joints: list[str]) -> str:
    """Bodies b0, b1, … on these parents (−1: world), children first in the file."""
    name = lambda k: f"b{k}" if k >= 0 else "world"  # noqa: E731
    lines = [f"  b{k}: {{parent: {name(parent)}, joint: {{type: {joint}}}, mass: 1, "
             "com: [0.1, 0.2, 0.3], inertia: [1, 1.1, 1.2], origin: {xyz: [1, 2, 3], "
             "rpy: [0.4, 0.5, 0.6]}}" for k, (parent, joint) in
             enumerate(zip(parents, joints, strict=True))]
    return "\n".join(["anyjoint: 1", "name: tree", "bodies:", *reversed(lines)])


def _binary(depth: int) -> list[int]:
    return [(k + 1) // 2 - 1 for k in range(2 ** depth - 1)]


def _related(m: Any) -> Any:
    """Velocities of which one belongs to a joint and one to the same or to one before it."""
    above = np.eye(len(m.bodies), dtype=bool)
    for i in m.order:
        if (k := m.bodies[i].parent) >= 0:
            above[i] |= above[k]
    sizes = [body.joint.nv for body in m.bodies]
    return np.repeat(np.repeat(above | above.T, sizes, 0), sizes, 1)


def _of(text: str) -> tuple[Any, factor.Factor, ca.Function]:
    """A matrix with entries wherever the tree has them, its factor, and the function (M, b) ↦
    M⁻¹ b."""
    m = aj.loads(text)
    t = Tree(m, ca.SX(m.p0))
    M, b = ca.SX.sym("M", ca.sparsify(ca.DM(_related(m))).sparsity()), ca.SX.sym("b", m.nv)
    solved = ca.Function("solve", [M, b], ca.cse([factor.solve(t, M, b)]))
    return M, factor.factor(t, M), solved


JOINTS = ["revolute", "spherical", "fixed", "free", "planar"]


@pytest.mark.quick
@pytest.mark.parametrize("seed", range(8))
def test_no_fill_in_on_trees(seed: int) -> None:
    """L has entries where the lower triangle of M has, and no others."""
    rng = np.random.default_rng(seed)
    n = 12
    parents = [int(rng.integers(-1, k)) if k else -1 for k in range(n)]
    M, F, _ = _of(_tree(parents, [JOINTS[int(rng.integers(len(JOINTS)))] for _ in range(n)]))
    assert F.L.sparsity() == ca.tril(M[F.order, F.order], False).sparsity()


@over([*TREES[:12], *FLOATING[:4]])
def test_branches_stay_apart(case: Case) -> None:
    """L of a mass matrix, whatever zeros it has, couples no two branches."""
    m = case.m
    F = factor.factor(t := Tree(m, ca.SX(m.p0)), crba.mass_matrix(t, ca.SX.sym("q", m.nq)))
    allowed = ca.sparsify(ca.DM(_related(m)[np.ix_(F.order, F.order)])).sparsity()
    assert F.L.sparsity().is_subset(allowed)


@pytest.mark.quick
def test_operations_follow_the_tree() -> None:
    """A binary tree of depth d has 2^d − 1 joints with at most d − 1 ancestors each: the
    operations are those of the pairs of ancestors, far fewer than a dense matrix takes."""
    for depth in (3, 4, 5, 6):
        parents = _binary(depth)
        n = len(parents)
        _, _, solved = _of(_tree(parents, ["revolute"] * n))
        above = [k for k in range(depth) for _ in range(2 ** k)]  # ancestors of each joint
        pairs = sum(k * (k + 1) for k in above)  # a product and a difference for each pair
        expected = pairs + sum(k + 1 + 4 * k for k in above)  # divisions, two substitutions
        assert operations(solved)["total"] <= expected
    dense = n ** 3 / 3
    assert operations(solved)["total"] < dense / 20


@pytest.mark.quick
def test_dense_is_no_worse_than_cholesky() -> None:
    """A chain is dense: n³/3 + 2 n² operations and lower orders."""
    n = 12
    _, F, solved = _of(_tree(list(range(-1, n - 1)), ["revolute"] * n))
    assert F.order == list(range(n))[::-1]  # the file has leaves first: roots come first here
    assert operations(solved)["total"] <= n ** 3 / 3 + 2.5 * n ** 2


def test_patterns_that_are_no_tree() -> None:
    """Any symmetric pattern: an arrow, a band and random ones, against numpy."""
    m = aj.loads(_tree(list(range(-1, 7)), ["revolute"] * 8))
    t, rng = Tree(m, ca.DM(m.p0)), np.random.default_rng(3)
    arrow = np.eye(8)
    arrow[3, :] = arrow[:, 3] = 1
    band = np.triu(np.tril(np.ones((8, 8)), 1), -1)
    some = [np.maximum(x, x.T) for x in (rng.random((5, 8, 8)) < 0.25)]
    for pattern in (arrow, band, *some):
        A = rng.standard_normal((8, 8))
        A = pattern * (A + A.T) + 20 * np.eye(8)
        M, B = ca.sparsify(ca.DM(A)), rng.standard_normal((8, 2))
        close(factor.solve(t, M, ca.DM(B)), np.linalg.solve(A, B), 1e-12)
        if pattern is arrow or pattern is band:  # both have an order without fill-in
            assert factor.factor(t, M).L.nnz() == 7
