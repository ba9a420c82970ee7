"""Algorithms as users ask for them: options, the command line, and what can't be done."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import anyjoint as aj
from anyjoint.backend.budget import operations
from anyjoint.cli import app
from anyjoint.dynamics.algorithms import AUTO, FORWARD, INVERSE
from anyjoint.errors import InputError
from mechanisms import MODELS, close

ARM, FISH = MODELS / "arm.yaml", MODELS / "tongs_and_fish.yaml"
pytestmark = pytest.mark.quick


def run(*words: str) -> Any:
    return CliRunner().invoke(app, list(words))


def test_compile_keeps_the_name(tmp_path: Path) -> None:
    """--algorithm fd=… changes what is inside, not what it is called."""
    made = run("compile", str(ARM), "-o", str(tmp_path), "-f", "fd,id,fd:algorithm=aba",
               "--algorithm", "fd=crba,id=rnea")
    assert made.exit_code == 0, made.output
    lib, m = aj.open(tmp_path), aj.load(ARM)
    assert sorted(lib.functions) == ["fd", "fd_aba", "id"]
    s = np.array([0.3, -0.4]), np.array([1.0, 2.0]), np.array([0.5, 0.1])
    close(lib.fd(*s), lib.fd_aba(*s), 1e-12)
    assert lib.manifest["model"]["algorithms"] == {"fd": "crba", "fd_aba": "aba", "id": "rnea"}
    header = next(tmp_path.glob("*.h")).read_text()
    for alias, name in (("fd", "crba"), ("fd_aba", "aba")):
        budget = lib.manifest["functions"][alias]["budget"]["operations"]
        assert budget == operations(m.function("fd", algorithm=name))
        assert lib[alias].function.name() == f"arm_{alias}"
        assert f"algorithm {name}" in header
    assert "up to date" in run("compile", str(ARM), "-o", str(tmp_path), "-f",
                               "fd,id,fd:algorithm=aba", "--algorithm", "fd=crba,id=rnea").output
    assert "up to date" not in run("compile", str(ARM), "-o", str(tmp_path)).output


def test_python_takes_them_too(tmp_path: Path) -> None:
    lib = aj.compile(ARM, tmp_path, ["fd"], algorithms={"fd": "aba"})
    assert [*lib.functions] == ["fd"]
    assert lib.manifest["model"]["algorithms"] == {"fd": "aba"}


@pytest.mark.parametrize("words,told", [
    (["--algorithm", "fd=abba"], ["fd: algorithm=abba is not possible", "auto", *FORWARD]),
    (["--algorithm", "id=aba"], ["id: algorithm=aba is not possible", *INVERSE]),
    (["--algorithm", "energy=aba"], ['energy has no option "algorithm"']),
    (["--algorithm", "forward=aba"], ['no function "forward"']),
    (["--algorithm", "crba"], ['"crba" is no setting; write fd=crba']),
    (["--algorithm", "fd="], ["is not possible"]),
    (["--algorithm", "fd=aba", "--algorithm", "fd=crba"], ['"fd=crba" is given twice']),
    (["--algorithm", "xdot=crba"], ["xdot=crba: no function that is asked for takes this"]),
    (["-f", "fd:algorithm=aba", "--algorithm", "fd=crba"], ["add fd to the functions"]),
    (["-f", "fd:algorithm=none"], ["fd: algorithm=none is not possible", *FORWARD]),
])
def test_bad_algorithms(tmp_path: Path, words: list[str], told: list[str]) -> None:
    out = tmp_path / "out"
    result = run("compile", str(ARM), "-o", str(out), *words)
    assert result.exit_code == 2 and not out.exists()
    for text in told:
        assert text in result.output


def test_options_of_other_types(tmp_path: Path) -> None:
    m = aj.load(ARM)
    for options in ({"algorithm": None}, {"algorithm": 3}, {"algorithm": ["crba"]},
                    {"algorithm": np.array(["crba", "aba"])}, {"passive": 0}, {"passive": None}):
        with pytest.raises(InputError, match="is not possible; allowed: "):
            m.function("fd", **options)
    assert m.function("fd", passive=np.bool_(False)).name() == "arm_fd_no_passive"
    with pytest.raises(InputError, match="no function"):
        m.function(["fd"])  # type: ignore[arg-type]
    for given in ("fd=crba", ["fd"]):
        with pytest.raises(InputError, match="as in {'fd': 'crba'}"):
            aj.compile(m, tmp_path / "out", ["fd"], algorithms=given)  # type: ignore[arg-type]
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", [n for n, x in FORWARD.items() if x.equations is None])
def test_what_cant_do_couplings(tmp_path: Path, name: str) -> None:
    result = run("compile", str(FISH), "-o", str(tmp_path / "out"), "--algorithm", f"fd={name}")
    assert result.exit_code == 2 and not (tmp_path / "out").exists()
    aj.compile(FISH, tmp_path / "old", ["id"])
    run("compile", str(FISH), "-o", str(tmp_path / "old"), "--algorithm", f"fd={name}")
    assert [*aj.open(tmp_path / "old").functions] == ["id"]  # nothing was lost
    assert f"fd: {name} can't do a mechanism with couplings" in result.output
    able = result.output.split("couplings; ")[1].split(" can")[0].replace("\n", " ").split(", ")
    assert sorted(able) == sorted(n for n, x in FORWARD.items() if x.equations is not None)
    for function in ("xdot", "fd_ext"):
        with pytest.raises(InputError, match=f"{function}: {name} can't do .* couplings; "):
            aj.load(FISH).function(function, algorithm=name)


def test_show_compares() -> None:
    text = run("show", str(ARM)).output
    for name in AUTO:
        assert f"fd {name}" in text
    assert text.count("(auto)") == 1
    data = json.loads(run("show", str(ARM), "--output-format", "json").output)
    compared = data["algorithms"]["compared"]
    assert set(compared) == set(AUTO)
    best = data["algorithms"]["fd"]
    assert compared[best]["total"] == min(x["total"] for x in compared.values())
    assert data["operations"]["fd"] == compared[best]
