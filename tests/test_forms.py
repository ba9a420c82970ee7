"""One text, two forms: rolled and inlined functions agree; baked and changed parameters."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import anyjoint as aj
from anyjoint.functions import CATALOGUE
from mechanisms import COUPLED, FLOATING, OTHERS, TREES, Case, call, close, over

FEW = [*TREES[:4], *FLOATING[:1], *COUPLED[:1], *COUPLED[-1:], *OTHERS]


def inputs(case: Case) -> dict[str, Any]:
    """Values for every input of the catalogue."""
    s, m = case.state(), case.m
    return s | {"x": np.concatenate([s["q"], s["v"]]), "q0": s["q"], "q1": case.state(1)["q"],
                "u": np.random.default_rng(1).standard_normal(m.nu), "given": s["a"],
                "V": s["fext"], "F": s["fext"]}


def variants(case: Case, name: str) -> list[dict[str, Any]]:
    """Every combination of the options of a function, for the last frame and the last joint of
    the model; for the algorithms see test_agreement.py."""
    if name == "id_constrained" and case.m.nu < case.m.nv:
        return []  # too few actuators
    frame = [*case.m.body_names, *case.m.frame_names][-1]
    joints = ((), tuple(name.partition(".")[0] for name in case.m.v_names[-1:]))
    combinations: list[dict[str, Any]] = [{}]
    for key, allowed in CATALOGUE[name].options.items():
        values = {"frame": (frame,), "prescribed": joints}.get(key, allowed)
        values = values[:1] if key == "algorithm" else values
        combinations = [c | {key: x} for c in combinations for x in values]
    return combinations


def same(a: Any, b: Any, tol: float = 1e-12) -> None:
    for x, y in zip(a, b, strict=True) if isinstance(a, list) else [(a, b)]:
        close(x, y, tol)


@pytest.mark.parametrize("name", CATALOGUE)
@over(FEW)
def test_rolled_is_inlined(case: Case, name: str) -> None:
    s = inputs(case)
    for options in variants(case, name):
        rolled, inlined = (case.m.function(name, form=x, **options) for x in ("rolled", "inlined"))
        assert rolled.name_in() == inlined.name_in()
        assert rolled.name_out() == inlined.name_out()
        assert inlined.is_a("SXFunction") and rolled.is_a("MXFunction")
        same(call(rolled, s), call(inlined, s), 1e-11 if name.startswith(("fd", "xdot")) else 1e-12)


@over(FEW)
def test_rolled_differentiates(case: Case) -> None:
    """∂fd/∂v through the kernels' calls."""
    s = case.state()
    close(case.jacobian("fd", "a", "v", s, form="rolled"), case.jacobian("fd", "a", "v", s), 1e-9)


@pytest.mark.parametrize("name", CATALOGUE)
@over(FEW, quick=False)
def test_baked_is_unbaked(case: Case, name: str) -> None:
    s, baked = inputs(case), case.baked
    assert baked.np == 0 and baked.q_names == case.m.q_names
    for options in variants(case, name):
        constant = baked.function(name, form="inlined", **options)
        same(call(constant, s | {"p": np.zeros(0)}),
             call(case.f(name, **options), s | {"p": case.m.p0}), 1e-10)


@over([c for c in FEW if c not in OTHERS[1:]], quick=False)
def test_parameters_are_the_texts(case: Case) -> None:
    """A function at another p is that of the text with other defaults."""
    s = inputs(case)
    if not case.m.np:
        return
    doc = case.doc | {"parameters": dict(zip(case.m.p_names, map(float, s["p"]), strict=True))}
    changed = aj.loads(json.dumps(doc), bake=True)
    for name in CATALOGUE:
        for options in variants(case, name):
            other = changed.function(name, form="inlined", **options)
            same(call(case.f(name, **options), s), call(other, s | {"p": np.zeros(0)}), 1e-9)


@over(FEW)
def test_parameters_differentiate(case: Case) -> None:
    """∂id/∂p against central differences."""
    s, h = case.state(), 1e-6
    J = case.jacobian("id", "tau", "p", s)
    for k in range(case.m.np):
        ends = [case.call("id", s, {"p": s["p"] + d * np.eye(case.m.np)[k]}) for d in (-h, h)]
        close(J[:, k], (ends[1] - ends[0]) / (2 * h), 1e-7, np.abs(ends[0]).max() * 10)
