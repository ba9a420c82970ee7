"""Long chains: the rolled form's kernels don't grow with the number of bodies, everything
else grows linearly, and the result is that of the inlined form."""

from __future__ import annotations

import functools
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import anyjoint as aj
from anyjoint.backend import codegen
from anyjoint.backend.budget import operations

sys.path.append(str(Path(__file__).parent.parent / "benchmarks"))
from chains import revolute_chain, torus_chain  # noqa: E402


def c_text(m: object, name: str) -> str:
    return codegen._casadi_c({name: m.function(name, form="rolled")}, m.name)


def kernels_and_driver(text: str) -> tuple[int, int]:
    """Bytes of the static kernels, and of the driver, which is casadi_f0."""
    parts = re.split(r"^(?=static int casadi_f\d+\()", text, flags=re.MULTILINE)
    driver = [p for p in parts if p.startswith("static int casadi_f0(")]
    kernels = [p for p in parts[1:] if p not in driver]
    return sum(map(len, kernels)), sum(map(len, driver))


@pytest.mark.parametrize("name", ["fd", "id"])
@pytest.mark.parametrize("oblique", [False, True], ids=["aligned", "oblique"])
def test_code_of_chains(name: str, oblique: bool) -> None:
    sizes = {n: kernels_and_driver(c_text(aj.loads(revolute_chain(n, oblique)), name))
             for n in (30, 60, 120)}
    assert sizes[120][0] <= 1.01 * sizes[30][0]  # but for the digits of the dimensions
    first, second = sizes[60][1] - sizes[30][1], sizes[120][1] - sizes[60][1]
    assert second <= 2.2 * first  # linear, but for longer numbers in names


LINEAR = [("id", "rnea"), ("id", "lagrange"), ("fd", "aba"), ("fd", "recursive")]
LENGTHS = (10, 20, 50, 100, 200)


@functools.cache
def chain(n: int, oblique: bool) -> Any:
    return aj.loads(revolute_chain(n, oblique))


def per_joint(lengths: Sequence[int], oblique: bool, name: str, **options: str) -> list[float]:
    """Operations of each further joint, between one length and the next."""
    counts = [operations(chain(n, oblique).function(name, **options))["total"] for n in lengths]
    return (np.diff(counts) / np.diff(lengths)).tolist()


@pytest.mark.parametrize(("name", "algorithm"), LINEAR)
@pytest.mark.parametrize("form", ["inlined", "rolled"])
@pytest.mark.parametrize("oblique", [False, True], ids=["aligned", "oblique"])
def test_each_further_joint_costs_the_same(name: str, algorithm: str, form: str,
                                           oblique: bool) -> None:
    steps = per_joint(LENGTHS, oblique, name, algorithm=algorithm, form=form)
    assert max(steps) <= 1.02 * min(steps), steps


@pytest.mark.parametrize(("name", "algorithm"), LINEAR[::2])
@pytest.mark.quick
def test_operations_grow_linearly(name: str, algorithm: str) -> None:
    steps = per_joint((10, 25, 40), False, name, algorithm=algorithm, form="inlined")
    assert max(steps) <= 1.02 * min(steps), steps


@pytest.mark.parametrize("algorithm", ["crba", "lagrange"])
def test_the_cost_of_a_joint_rises_where_the_mass_matrix_is_built(algorithm: str) -> None:
    """M has n² entries and its factorisation takes n³/6 products: the third differences of the
    count are those of a cubic, and the test above would see that it is no line."""
    steps = per_joint((10, 20, 30, 40, 50), True, "fd", algorithm=algorithm, form="rolled")
    assert min(np.diff(steps)) > 0.1 * steps[0]
    bends = np.diff(steps, 2)
    assert bends.min() > 0 and bends.max() <= 1.1 * bends.min(), bends


@pytest.mark.quick
def test_auto_takes_the_rolled_form_where_the_inlined_one_is_large() -> None:
    assert aj.loads(revolute_chain(6)).function("fd").is_a("SXFunction")
    assert aj.loads(revolute_chain(60)).function("fd").is_a("MXFunction")
    assert aj.loads(torus_chain(20)).function("fd").is_a("MXFunction")


def test_a_thousand_joints(tmp_path: Path) -> None:
    """fd inverts id, from the compiled library."""
    m = aj.loads(revolute_chain(1000, oblique=True))
    lib = aj.compile(m, tmp_path / "chain", ["fd", "id"])
    generator = np.random.default_rng(3)
    q, (v, a) = generator.uniform(-3, 3, 1000), generator.normal(size=(2, 1000))
    tau = lib.id(q, v, a)
    error = np.array(lib.fd(q, v, tau)).ravel() - a
    assert abs(error).max() <= 1e-6 * max(1.0, abs(a).max())  # cond(M) of such a chain is huge
