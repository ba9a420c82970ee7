"""Forward dynamics by the six sweeps of seed 000: the equations as printed, what their
quantities are, and method II (factorisations at run time), compiled too."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
import pytest

import anyjoint as aj
from anyjoint import choice
from anyjoint.backend.budget import operations
from anyjoint.dynamics import kinematics, recursive, rnea
from anyjoint.dynamics.tree import Tree
from anyjoint.functions import outputs
from anyjoint.geometry import se3
from mechanisms import (
    FLOATING,
    MODELS,
    ONES,
    OTHERS,
    TREES,
    TWOS,
    Case,
    body,
    call,
    close,
    joint_cases,
    over,
)

sys.path.append(str(Path(__file__).parent.parent / "benchmarks"))
from chains import revolute_chain, torus_chain  # noqa: E402

METHODS = {"I": recursive.symbolic, "II": recursive.numeric}
JOINTS = dict(joint_cases())


def chain(*names: str) -> Case:
    """A chain of these joints, armature on all but the first."""
    rng, text = np.random.default_rng(3), {}
    for k, name in enumerate(names):
        more = {"armature": 0.1 * k} if JOINTS[name]["type"] != "fixed" else {}
        text[f"b{k}"] = body(rng, f"b{k - 1}" if k else "world", JOINTS[name] | more, f"b{k}")
    return Case("_".join(names), {"anyjoint": 1, "name": "mixed", "bodies": text})


# Ω of 1, 3, 4 and 6 rows; a joint without dofs at the root, between and at the end
HELD = [chain("fixed_0", "revolute_0", "fixed_0", "spherical_0", "fixed_0"),
        chain("free_0", "contact_0", "fixed_0", "planar_0")]
FEW = [*TREES[:8], *FLOATING[:4], *HELD]


class Swept:
    """The sweeps' quantities at a state, as numbers."""

    def __init__(self, case: Case, method: str = "I"):
        self.m, self.s = case.m, (s := case.state())
        self.t = t = Tree(case.m, ca.DM(s["p"]))
        q, v, self.tau = t.split_q(ca.DM(s["q"])), t.split_v(ca.DM(s["v"])), t.split_v(s["tau"])
        still = [t.zeros(b.joint.nv) for b in t.bodies]
        self.fext = ca.horzsplit(ca.DM(s["fext"]))
        self.R, self.r, self.S, self.alpha_bar = rnea.needed(t, q, v, still, self.fext)
        self.Omega, self.X, Q, L = recursive.inward(
            t, self.R, self.r, self.S, self.alpha_bar, self.tau, METHODS[method])
        self.a, self.eta = recursive.outward(t, self.R, self.r, self.S, Q, L)
        ends = np.cumsum([0, *(b.joint.nv for b in t.bodies)])
        self.at = [list(range(*x)) for x in zip(ends[:-1], ends[1:], strict=True)]

    def behind(self, i: int) -> list[int]:
        """Velocities of the joints that body i carries."""
        return [x for j in range(len(self.at)) if i in kinematics.ancestors(self.t, j)[1:]
                for x in self.at[j]]

    def inertia(self, i: int) -> Any:
        """J of body i alone (6×6), and its joint's armature (nv)."""
        link = self.t.bodies[i].kind.link(self.t.bodies[i].joint, ca.SX(self.t.constants[i]))
        J = ca.DM(se3.inertia_matrix(link.m, link.h, link.I6)).full()
        return J, ca.DM(link.armature).full().ravel()


def adjoint(R: Any, r: Any) -> Any:
    """Ad of the inverse of (R, r), (2)."""
    R, r = ca.DM(R).full(), ca.DM(r).full().ravel()
    tilde = np.array([[0, -r[2], r[1]], [r[2], 0, -r[0]], [-r[1], r[0], 0]])
    return np.block([[R.T, np.zeros((3, 3))], [-R.T @ tilde, R.T]])


def printed(x: Swept) -> Any:
    """Sweeps 3 to 6 letter by letter, but for the Ad* of (30) and τ̄ in (31) and (32)."""
    n, parents = len(x.at), x.t.parents
    Ad = [adjoint(R, r) for R, r in zip(x.R, x.r, strict=True)]
    S = [ca.DM(y).full() for y in x.S]
    p = [ca.DM(y).full().ravel() for y in x.alpha_bar]
    J = [x.inertia(i)[0] for i in range(n)]
    tau_bar, Omega, Y, Pi, c_bar = ([np.zeros(0)] * n for _ in range(5))
    z = [np.zeros(6)] * n
    for i, k in x.t.inward():
        tau_bar[i] = ca.DM(x.tau[i]).full().ravel() - S[i].T @ p[i]  # (25), (26)
        Omega[i] = S[i].T @ J[i] @ S[i] + np.diag(x.inertia(i)[1])  # (28)
        K = J[i] @ S[i] @ np.linalg.inv(Omega[i])
        Y[i], Pi[i] = Ad[i].T @ (np.eye(6) - K @ S[i].T), Ad[i].T @ K  # (29), (30)
        c_bar[i] = np.linalg.inv(Omega[i]) @ (tau_bar[i] - S[i].T @ z[i])  # (32), (33)
        if k >= 0:
            p[k] = p[k] + Ad[i].T @ p[i]  # (24)
            J[k] = J[k] + Ad[i].T @ J[i] @ Ad[i] - Ad[i].T @ K @ S[i].T @ J[i] @ Ad[i]  # (27)
            z[k] = z[k] + Y[i] @ z[i] + Pi[i] @ tau_bar[i]  # (31)
    eta, a = [np.zeros(6)] * (n + 1), np.zeros(x.m.nv)  # the last is the world's
    for i in x.t.mechanism.order:
        eta[i] = Y[i].T @ eta[parents[i]] + S[i] @ c_bar[i]  # (34)
        a[x.at[i]] = c_bar[i] - Pi[i].T @ eta[parents[i]]  # (35)
    return a


@pytest.mark.parametrize("method", METHODS)
@over(FEW)
def test_as_printed(case: Case, method: str) -> None:
    x = Swept(case, method)
    close(ca.vertcat(*x.a), printed(x), 1e-9)


@pytest.mark.parametrize("method", METHODS)
@over(FEW)
def test_quantities(case: Case, method: str) -> None:
    """Ω and c are what is left of M and τ̄ when the joints behind are eliminated, (27) to (32);
    together they are M⁻¹, (58); and η is the part of the acceleration that q̈ makes, (34)."""
    x = Swept(case, method)
    m, s = x.m, x.s
    M = case.call("mass_matrix", s).reshape(m.nv, m.nv)
    bias = rnea.rnea(x.t, ca.DM(s["q"]), ca.DM(s["v"]), x.t.zeros(m.nv), x.fext)
    tau_bar = s["tau"] - ca.DM(bias).full().ravel()  # (54)
    square = 0.0
    for i, at in enumerate(x.at):
        Omega, c = ca.DM(x.Omega[i]).full(), ca.DM(x.X[i]).full()[:, 6]
        rest = x.behind(i)
        gain = np.linalg.solve(M[np.ix_(rest, rest)], M[np.ix_(rest, at)]).T
        close(Omega, M[np.ix_(at, at)] - gain @ M[np.ix_(rest, at)], 1e-9)
        close(c, tau_bar[at] - gain @ tau_bar[rest], 1e-9)
        square += c @ np.linalg.solve(Omega, c)
        J = case.call("frame_jacobian", s, frame=m.body_names[i], reference="body")
        close(x.eta[i], np.reshape(J, (6, m.nv)) @ ca.DM(ca.vertcat(*x.a)).full().ravel(), 1e-9)
    close(square, tau_bar @ np.linalg.solve(M, tau_bar), 1e-9)


@over([*ONES, *TWOS[::6], *TREES[:14], *FLOATING, *OTHERS, *HELD])
def test_agrees_with_aba(case: Case) -> None:
    """With passive forces and wrenches on the bodies; both methods, as numbers."""
    s = case.state()
    t, given = Tree(case.m, ca.DM(s["p"])), [ca.DM(s[k]) for k in ("q", "v", "tau", "fext")]
    expected, *found = (outputs(t, "fd_ext", *given, passive=True, algorithm=name)
                        for name in ("aba", "recursive", "recursive_mixed"))
    for a in found:
        close(a, expected, 1e-9, scale=0.0)


@over([*TREES[:3], *HELD])
def test_differentiates(case: Case) -> None:
    """∂a/∂q and ∂a/∂p through the factorisations at run time."""
    s = case.state()
    for wrt in ("q", "p"):
        expected = case.jacobian("fd", "a", wrt, s, algorithm="aba")
        for name, form in (("recursive", "inlined"), ("recursive_mixed", "rolled")):
            close(case.jacobian("fd", "a", wrt, s, algorithm=name, form=form), expected, 1e-8)


@over([TREES[2], *HELD])
def test_compiled(case: Case, tmp_path: Path) -> None:
    """Method II as a library: its C factorises, and gives CasADi's numbers."""
    lib = aj.compile(case.m, tmp_path, ["fd"], algorithms={"fd": "recursive_mixed"})
    assert "casadi_ldl(" in next(tmp_path.glob("*.c")).read_text()
    f = case.m.function("fd", algorithm="recursive_mixed")
    for k in range(3):
        s = case.state(k)
        close(lib.fd(s["q"], s["v"], s["tau"], s["p"]), call(f, s), 1e-12)


@pytest.mark.parametrize("name", ["recursive", "recursive_mixed"])
@pytest.mark.parametrize("make", [revolute_chain, torus_chain])
@pytest.mark.quick
def test_grows_linearly(name: str, make: Any) -> None:
    """Each further joint costs the same."""
    counts = [operations(aj.loads(make(n)).function("fd", form="rolled", algorithm=name))["total"]
              for n in (4, 8, 16, 32)]
    each = np.diff(counts) / [4, 8, 16]
    close(each, each[:1].repeat(3), 0.02)


@pytest.mark.quick
def test_is_the_least_for_tori() -> None:
    """What `auto` finds: below aba and crba on the paper's torus chains."""
    found = choice.compare(aj.load(MODELS / "torus_chain_4.yaml"))
    counts = {n: x["total"] for n, x in found.items()}
    assert counts["recursive"] < min(counts["aba"], counts["crba"])
