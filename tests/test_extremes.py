"""Numbers at the edge: small domains, huge sizes, singular inertia. Valid models load, others
have a problem with its place; nothing ends in a traceback."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import anyjoint as aj
from anyjoint import cli

pytestmark = pytest.mark.quick
SOLID = "mass: 1, inertia: [1, 1, 1]"


def load(joint: str, body: str = SOLID, more: str = "") -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return aj.loads("anyjoint: 1\nname: x\nbodies:\n"
                        f"  a: {{parent: world, {body}, joint: {{{joint}}}}}\n{more}\n")


@pytest.mark.parametrize("joint", [
    "type: curve, range: [-0.09, 0.09], curve: {type: formula, domain: [-0.09, 0.09], "
    "point: [u, sqrt(0.01 - u**2), 0]}",
    "type: surface, rotation: spin, surface: {type: formula, point: [u, w, sqrt(0.01-u**2-w**2)], "
    "domain: [[-0.05, 0.05], [-0.05, 0.05]]}",
    "type: contact, surface: {type: plane}, child_surface: {type: formula, "
    "point: [u, w, sqrt(0.01-u**2-w**2)], domain: [[-0.05, 0.05], [-0.05, 0.05]]}",
    "type: formula, coordinates: {a: 0, b: 0.05, c: 0}, range: {b: [0.01, 0.1]}, "
    "transform: [{shift: [a, sqrt(b), c]}]",
])
def test_small_domains_are_no_reason_to_refuse(joint: str) -> None:
    m = load(joint)
    assert np.isfinite(m.function("fd")(m.q0, 0, 0, m.p0).full()).all()
    assert aj.check(m) == []


@pytest.mark.parametrize(("joint", "body", "more", "key", "message"), [
    ("type: surface_surface, surface: {type: plane}, child_surface: {type: sphere, radius: 1}, "
     "twist: text", SOLID, "", "bodies.a.joint.twist", 'unknown name "text"'),
    ("type: revolute", SOLID, "tables: {t: {x: [0, 1e-300, 2e-300, 1], y: [0, 1, 2, 3]}}",
     "tables.t.x", "too uneven"),
    ("type: revolute", "shapes: [{type: sphere, radius: 1e154, density: 1}]", "",
     "bodies.a.shapes[0]", "too large"),
    ("type: curve, curve: {type: circle, radius: 1e300}", SOLID, "", "bodies", "not finite"),
    ("type: universal, axes: [x, x]", SOLID, "", "bodies.a.joint", "not independent"),
    ("type: curve_curve, curve: {type: circle, radius: 1}, child_curve: {type: circle, radius: 1}",
     SOLID, "", "bodies.a.joint", "not independent"),
    ("type: contact, surface: {type: plane}, child_surface: {type: plane}", SOLID, "",
     "bodies.a.joint", "not independent"),
])
def test_problems(joint: str, body: str, more: str, key: str, message: str) -> None:
    with pytest.raises(aj.ModelError) as e:
        load(joint, body, more)
    (problem,) = e.value.problems
    assert problem.key == key and message in problem.message and problem.place


@pytest.mark.parametrize(("joint", "body"), [
    ("type: universal, axes: [z, x]", "mass: 1, com: [0, 0, 1]"),
    ("type: universal, axes: [z, x], rest: [0, 0.5]", "mass: 1, com: [0, 0, 1]")])
def test_inertia_that_is_singular_at_rest(joint: str, body: str) -> None:
    """A warning just where fd is not finite."""
    m = load(joint, body)
    found = aj.check(m)
    finite = bool(np.isfinite(m.function("fd")(m.q0, [0.1, 0.2], 0, m.p0).full()).all())
    assert finite == (not found)
    if found:
        assert "singular at rest: nothing resists this joint" in found[0].message


def test_couplings_that_overflow() -> None:
    text = ("anyjoint: 1\nname: x\nbodies:\n"
            "  a: {parent: world, joint: {type: revolute}, mass: 1, com: [1, 0, 0]}\n"
            "  b: {parent: a, joint: {type: revolute}, mass: 1, com: [1, 0, 0]}\n"
            "couplings: {b: 1e200*a}\n")
    with pytest.raises(aj.ModelError, match="not finite near rest"):
        aj.loads(text)


def test_quaternions_are_not_varied_by_component() -> None:
    m = load("type: curve, rotation: free, range: [0, 1], curve: {type: circle, radius: 1}")
    assert not any("not finite" in p.message for p in aj.check(m))


@pytest.mark.parametrize("call", [aj.load, aj.check, aj.compile])
@pytest.mark.parametrize("given", [3, None])
def test_wrong_types_in_python(call: Any, given: Any) -> None:
    with pytest.raises(aj.InputError, match="takes"):
        call(given)


def test_internal_errors_as_json(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> None:
        raise ZeroDivisionError("oh")

    monkeypatch.setattr("anyjoint.api.load", fail)
    done = CliRunner().invoke(cli.app, ["check", "x.yaml", "--output-format", "json"])
    assert done.exit_code == 1
    (problem,) = json.loads(done.stdout)["problems"]
    assert "ZeroDivisionError" in problem["message"]
