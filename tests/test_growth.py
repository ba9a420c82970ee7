"""Long chains: the rolled form's kernels don't grow with the number of bodies, everything
else grows linearly, and the result is that of the inlined form."""

from __future__ import annotations

import re
import sys
from pathlib import Path

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


@pytest.mark.parametrize("name", ["fd", "id"])
@pytest.mark.parametrize("form", ["inlined", "rolled"])
@pytest.mark.quick
def test_operations_grow_linearly(name: str, form: str) -> None:
    counts = [operations(aj.loads(revolute_chain(n)).function(name, form=form))["total"]
              for n in (15, 30, 45)]
    assert counts[2] - counts[1] == pytest.approx(counts[1] - counts[0], rel=0.02)


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
