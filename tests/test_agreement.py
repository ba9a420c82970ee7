"""All algorithms of forward and inverse dynamics agree: on every model, and on 200 random trees
of mixed joints that hypothesis draws. A failure prints the model file."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import anyjoint as aj
from anyjoint import choice
from anyjoint.dynamics.algorithms import AUTO, FORWARD, INVERSE
from anyjoint.dynamics.tree import Tree
from anyjoint.errors import InputError
from anyjoint.functions import outputs
from anyjoint.mechanism import Mechanism
from mechanisms import COUPLED, MODELS, PASSIVE, TREES, Case, body, call, close, joint_cases, over

TOL = 1e-9
JOINTS = [keys for _, keys in joint_cases()]
FILES = sorted(MODELS.glob("*.yaml"))
KERNELS: dict[Any, Any] = {}  # shared by the random trees: they have the same kinds of bodies


def by_all(m: Mechanism, s: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """a of fd_ext and tau of id_ext by every algorithm that can do the mechanism, as numbers."""
    t = Tree(m, ca.DM(s["p"]))
    q, v, a, tau, fext = (ca.DM(s[k]) for k in ("q", "v", "a", "tau", "fext"))

    def result(name: str, x: Any, algorithm: str) -> Any:
        made = outputs(t, name, q, v, x, fext, passive=True, algorithm=algorithm)
        return ca.DM(made).full().ravel()

    forward = {n: result("fd_ext", tau, n) for n in choice.able(m, FORWARD)}
    return forward, {n: result("id_ext", a, n) for n in INVERSE}


def agree(found: dict[str, Any], reference: str, text: str) -> None:
    expected = found[reference]
    assert np.isfinite(expected).all(), f"{reference} is not finite\n{text}"
    for name, x in found.items():
        try:
            close(x, expected, TOL, scale=0.0)
        except AssertionError as e:
            raise AssertionError(f"{name} against {reference}: {e}\n{text}") from None


def agree_at(case: Case, states: int = 1) -> None:
    for k in range(states):
        forward, inverse = by_all(case.m, case.state(k))
        agree(forward, next(iter(forward)), case.text)
        agree(inverse, "rnea", case.text)


@pytest.mark.parametrize("file", FILES, ids=lambda f: f.stem)
def test_on_every_model(file: Path) -> None:
    case = Case(file.stem, file.read_text())
    agree_at(case, 2)
    if case.m.constraints or case.m.coupling:  # of the tree alone all algorithms are able
        tree = yaml.safe_load(case.text) | {"constraints": {}, "couplings": {}}
        agree_at(Case(file.stem, tree), 2)


@over([*TREES[:4], *COUPLED[:3]])
def test_on_trees_and_couplings(case: Case) -> None:
    agree_at(case, 2)


@st.composite
def models(draw: Any) -> str:
    """A tree of 2 to 6 mixed joints; what shrinks is its structure, numbers follow a seed."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    bodies: dict[str, Any] = {}
    for k, i in enumerate(draw(st.lists(st.integers(0, len(JOINTS) - 1), min_size=2, max_size=6))):
        parent = draw(st.integers(-1, k - 1))
        entry = body(rng, f"b{parent}" if parent >= 0 else "world", JOINTS[i], f"b{k}")
        if JOINTS[i]["type"] != "fixed" and draw(st.booleans()):
            entry["joint"] |= PASSIVE
        bodies[f"b{k}"] = entry
    names = draw(st.permutations(list(bodies)))
    return json.dumps({"anyjoint": 1, "name": "drawn", "bodies": {n: bodies[n] for n in names}})


@settings(max_examples=200, deadline=None, derandomize=True, database=None,
          suppress_health_check=list(HealthCheck))
@given(models())
def test_on_random_trees(text: str) -> None:
    case = Case("drawn", text)
    case.m = replace(aj.loads(text), _kernels=KERNELS)
    agree_at(case)


@pytest.mark.parametrize("name", [*FORWARD, *INVERSE])
@over([TREES[1], TREES[3]])
def test_rolled_and_inlined(case: Case, name: str) -> None:
    """Both forms of each algorithm, as functions; and their names."""
    function, s = "fd" if name in FORWARD else "id", case.state()
    expected = case.call(function, s)
    for form in ("rolled", "inlined"):
        if form == "inlined" and choice.rolled(name):
            with pytest.raises(InputError, match="no inlined form"):
                case.m.function(function, form=form, algorithm=name)
            continue
        f = case.m.function(function, form=form, algorithm=name)
        assert f.name() in (f"tree_{function}_{name}", f"tree_{function}")  # the default's is plain
        close(call(f, s), expected, TOL)


@pytest.mark.quick
@over([TREES[0], *COUPLED[:1]])
def test_auto_has_the_fewest_operations(case: Case) -> None:
    counts = {n: x["total"] for n, x in choice.compare(case.m).items()}
    able = [n for n in AUTO if n in choice.able(case.m, FORWARD)]
    assert list(counts) == able
    best = choice.resolve(case.m, "fd", "auto")
    assert counts[best] == min(counts.values())
    assert case.m.function("fd").n_instructions() == \
        case.m.function("fd", algorithm=best).n_instructions()


@pytest.mark.quick
def test_auto_does_not_try_crba_on_long_chains() -> None:
    m = aj.load(MODELS / "revolute_chain_100.yaml")
    assert "crba" not in choice.compare(m) and "aba" in choice.compare(m)
