"""Formulation stiffness: aba_modified is aba; the 80-digit truth is that of a dynamics written
separately; and docs/stiffness.md says what is measured (benchmarks/stiffness.py)."""

from __future__ import annotations

import json
import sys
from functools import cache
from pathlib import Path
from typing import Any

import mpmath as mp
import numpy as np
import pytest

from mechanisms import FLOATING, TREES, TWOS, Case, close, over

ROOT = Path(__file__).parent.parent
sys.path.append(str(ROOT / "benchmarks"))
import stiffness  # noqa: E402
from exact import precise  # noqa: E402

CELLS = [("coaxial", "along", "heavy tip", 1e10, 1e-4),
         ("coaxial", "oblique", "alternating", 1e10, 1e-4),
         ("coaxial", "oblique", "heavy tip", 1e10, 1e-8),
         ("parallel", "along", "heavy tip", 1e6, 1e-4),
         ("coaxial", "oblique", "heavy base", 1e10, 1e-4)]


@pytest.mark.parametrize("form", ["inlined", "rolled"])
@over([*TWOS[::6], *TREES[:8], *FLOATING[:2]])
def test_same_as_aba(case: Case, form: str) -> None:
    s = case.state()
    expected = case.call("fd_ext", s, algorithm="aba")
    close(case.call("fd_ext", s, algorithm="aba_modified", form=form), expected, 1e-9)


# -- the truth ---------------------------------------------------------------------------------


def turn(axis: list[Any], angle: Any) -> Any:
    """1 + sin [n] + (1 − cos) [n]² for a unit axis n."""
    K = mp.matrix([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
    return mp.eye(3) + mp.sin(angle) * K + (1 - mp.cos(angle)) * K * K


def cross(a: Any, b: Any) -> Any:
    return mp.matrix([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2],
                      a[0] * b[1] - a[1] * b[0]])


def dot(a: Any, b: Any) -> Any:
    return (a.T * b)[0]


def chain_acceleration(doc: dict[str, Any], q: Any, v: Any, tau: Any, p: Any) -> Any:
    """M⁻¹ (tau − c) of a chain of revolute joints in world axes, from the model text alone:
    M = Σ m Jᵀ J + Jᵀ I J of the centres of mass, c by d'Alembert, dense LU."""
    values = {n: mp.mpf(x) for n, x in zip(doc["parameters"], p, strict=True)}

    def number(x: Any) -> Any:  # the formulas here are products of parameters and numbers
        factors = [y.strip("()") for y in str(x).split("*")]
        return mp.fprod(values[y] if y in values else mp.mpf(float(y)) for y in factors)

    n = len(doc["bodies"])
    R, (r, w, acc, alpha) = mp.eye(3), (mp.matrix(3, 1) for _ in range(4))
    axes: list[Any] = []
    origins: list[Any] = []
    M, c = mp.matrix(n, n), mp.matrix(n, 1)
    for k, body in enumerate(doc["bodies"].values()):
        roll, pitch, _ = (number(x) for x in body["origin"]["rpy"])
        step = R * mp.matrix([number(x) for x in body["origin"]["xyz"]])
        acc = acc + cross(alpha, step) + cross(w, cross(w, step))
        r = r + step
        local = mp.matrix([number(x) for x in body["joint"]["axis"]])
        local = local / mp.norm(local)
        R = R * turn([0, 1, 0], pitch) * turn([1, 0, 0], roll) * turn(list(local), mp.mpf(q[k]))
        axis, rate = R * local, mp.mpf(v[k])
        alpha, w = alpha + cross(w, axis) * rate, w + axis * rate
        axes, origins = [*axes, axis], [*origins, r]
        m, arm = number(body["mass"]), R * mp.matrix([number(x) for x in body["com"]])
        entries = {name: number(x) for name, x in body["inertia"].items()}
        inertia = R * mp.matrix([[entries["".join(sorted(a + b))] for b in "xyz"]
                                 for a in "xyz"]) * R.T
        gravity = mp.matrix(doc["gravity"])
        force = m * (acc + cross(alpha, arm) + cross(w, cross(w, arm)) - gravity)
        moment = inertia * alpha + cross(w, inertia * w)
        linear = [cross(a, r + arm - o) for a, o in zip(axes, origins, strict=True)]
        for i in range(k + 1):
            c[i] += dot(linear[i], force) + dot(axes[i], moment)
            for j in range(k + 1):
                M[i, j] += m * dot(linear[i], linear[j]) + dot(axes[i], inertia * axes[j])
    return mp.lu_solve(M, mp.matrix([mp.mpf(x) for x in tau]) - c)


@pytest.mark.quick
@pytest.mark.parametrize("axes", stiffness.OFFSETS)
def test_truth(axes: tuple[str, str]) -> None:
    """The graphs of all algorithms in 80 digits, instruction by instruction, give the a of the
    separate dynamics to 50 digits."""
    text = stiffness.chain(*axes)
    found = stiffness.functions(text)
    with mp.workdps(stiffness.DIGITS):
        for masses, ratio, angle in (("heavy tip", 1e10, 1e-8), ("alternating", 1e6, 1e-2)):
            x, = stiffness.states(masses, ratio, angle, 1)
            truth = list(chain_acceleration(json.loads(text), *x))
            for name, f in found.items():
                assert stiffness.error(precise(f, x), truth) < 1e-50, name


# -- the claims ----------------------------------------------------------------------------------


@cache
def documented() -> dict[tuple[Any, ...], dict[str, float]]:
    """(axes, frames, masses, ratio, angle) → method → median, of the table in the docs."""
    lines = (ROOT / "docs" / "stiffness.md").read_text().splitlines()
    rows = [[x.strip() for x in line.strip("| ").split("|")] for line in lines if line[:1] == "|"]
    head = next(row for row in rows if row[0] == "axes")
    return {(*row[:3], float(row[3]), float(row[4])):
            {n: float(x.split()[0]) for n, x in zip(head[5:], row[5:], strict=True)}
            for row in rows if row[0] in ("coaxial", "parallel")}


@cache
def measured(cell: tuple[Any, ...]) -> dict[str, float]:
    found = stiffness.functions(stiffness.chain(*cell[:2]))
    e = stiffness.errors(found, stiffness.states(*cell[2:], stiffness.STATES))
    return {name: float(np.median(x)) for name, x in e.items()}


@pytest.mark.parametrize("cell", CELLS, ids=str)
def test_docs(cell: tuple[Any, ...]) -> None:
    """If this fails, run python benchmarks/stiffness.py and read docs/stiffness.md again."""
    table = documented()[cell]
    assert set(table) == set(measured(cell))
    for name, x in measured(cell).items():
        assert table[name] / 4 < x < table[name] * 4, f"{name}: {x:.1e}, not {table[name]:.1e}"


def test_claims() -> None:
    """What docs/stiffness.md says in words."""
    along, oblique, tip, parallel, base = (measured(cell) for cell in CELLS)
    assert along["crba"] > 1e6 * along["aba"]  # frames along the axes: aba loses nothing
    assert oblique["aba"] > 1e6 * along["aba"]  # oblique frames: it does, and so does section 7
    assert oblique["printed"] > 0.2 * oblique["aba"]  # as printed, ...
    assert oblique["aba_modified"] < 1e-3 * oblique["aba"]  # ... but not with projected motions
    assert tip["aba_modified"] < 0.02 * tip["aba"]  # there it is U = M̂ S that counts
    assert parallel["aba_modified"] > 0.2 * parallel["aba"] > 1e-13  # nothing helps there
    assert max(base.values()) < 1e-14
    assert max(x["inputs"] for x in (along, oblique, tip, parallel, base)) < 1e-15
