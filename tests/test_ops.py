"""`anyjoint ops`: the published numbers are the paper's, ours stay below the bars, and neither
a degenerate chain nor lucky numbers are the reason."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import anyjoint as aj
from anyjoint import ops
from anyjoint.backend.budget import operations
from anyjoint.cli import app
from anyjoint.dynamics.algorithms import FORWARD, INVERSE
from mechanisms import MODELS

# Seed 001, section 6, as it stands there: (a) inverse dynamics on the left, (b) forward
TABLE_1 = """\
algorithm	±	*	algorithm	±	*
Symb. best	328	365	Symb. best	818	943
Balafoutis	386	450	Balafoutis	790	956
Symb. worst	509	971	Symb. worst	1875	2389
"""
INLINED = {"id": list(INVERSE), "fd": [n for n, x in FORWARD.items() if not x.rolled] + ["auto"]}
BARS = {"id": (328, 365), "fd": (790, 943)}
AXES = ("xyz", "xy", "yz", "zy", "yx")


def below(counts: tuple[int, int], bar: tuple[int, int]) -> bool:
    return counts[0] < bar[0] and counts[1] < bar[1]


@pytest.mark.quick
def test_published_numbers() -> None:
    rows = [line.split("\t") for line in TABLE_1.splitlines()[1:]]
    assert ops.PUBLISHED == {f: {r[k]: (int(r[k + 1]), int(r[k + 2])) for r in rows}
                             for f, k in (("id", 0), ("fd", 3))}
    for f, bar in BARS.items():  # the least of the paper's rows, column by column
        assert bar == tuple(map(min, zip(*ops.PUBLISHED[f].values(), strict=True)))


@pytest.mark.parametrize("axes", AXES)
@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.quick
def test_bars(axes: str, seed: int) -> None:
    """Whatever the order of the axes, and whatever the numbers."""
    m = aj.loads(ops.revolute_chain(6, plain=True, axes=axes, seed=seed))
    assert below(ops.pair(m, "id", "rnea"), BARS["id"])
    assert below(ops.pair(m, "fd", "auto"), BARS["fd"])


@pytest.mark.parametrize("keys", ops.CHAINS.values(), ids=list(ops.CHAINS))
def test_counts_do_not_depend_on_the_numbers(keys: dict[str, Any]) -> None:
    chains = [aj.loads(ops.revolute_chain(6, seed=seed, **keys)) for seed in (1, 2, 3)]
    for f, algorithm in (("id", "rnea"), ("fd", "aba"), ("fd", "crba")):
        assert len({ops.pair(m, f, algorithm) for m in chains}) == 1


def test_the_plain_chain_is_what_it_is_said_to_be() -> None:
    doc = json.loads(ops.revolute_chain(6, **ops.CHAINS["plain"]))
    bodies = list(doc["bodies"].values())
    for body in bodies:
        assert body["com"][:2] == [0, 0] and body["com"][2] > 0.01
        assert set(body["inertia"]) == {"xx", "yy", "zz"} and min(body["inertia"].values()) > 1e-3
        assert body["joint"]["axis"] in "xyz"
    lengths = [body["origin"]["xyz"] for body in bodies[1:]]
    assert all(x[:2] == [0, 0] and x[2] > 0.2 for x in lengths)
    assert len({x[2] for x in lengths}) == 5


@pytest.mark.parametrize("axes", AXES[:3])
def test_no_part_of_the_plain_chain_is_idle(axes: str) -> None:
    """The torques feel every mass, length, centre of mass and inertia about a joint's axis,
    gravity, and all angles, velocities and accelerations."""
    doc = json.loads(ops.revolute_chain(6, plain=True, axes=axes))
    p = doc["parameters"] = {"g": 9.81}
    doc["gravity"] = [0, 0, "-g"]

    def release(name: str, where: Any, key: Any) -> None:
        p[name], where[key] = where[key], name

    for i, body in enumerate(doc["bodies"].values()):
        release(f"m{i}", body, "mass")
        release(f"c{i}", body["com"], 2)
        release(f"I{i}", body["inertia"], 2 * body["joint"]["axis"])
        if i:
            release(f"l{i}", body["origin"]["xyz"], 2)
    f = aj.loads(json.dumps(doc)).function("id", form="inlined")
    names = [f"jac:tau:{x}" for x in ("q", "v", "a", "p")]
    state = np.random.default_rng(4).uniform(0.3, 1.0, (3, 6))
    for slopes in f.factory("J", f.name_in(), names)(*state, list(p.values())):
        assert abs(slopes.full()).max(axis=0).min() > 1e-3


@pytest.mark.parametrize("f", ["id", "fd"])
def test_nothing_is_left_uncounted(f: str) -> None:
    """± and × are all operations but sin and cos of six angles."""
    m = aj.loads(ops.revolute_chain(6, oblique=True))
    for algorithm in INLINED[f]:
        counts = operations(m.function(f, algorithm=algorithm, form="inlined"))
        turns = counts["sin"] + counts["cos"]
        assert turns == 12
        assert sum(ops.pair(m, f, algorithm)) + turns == counts["total"]


@pytest.mark.quick
def test_one_joint_by_hand() -> None:
    """An upright pendulum: tau = I a − (m g c) sin q, and nothing vanishes or is wasted."""
    assert ops.pair(aj.loads(ops.revolute_chain(1, plain=True)), "id", "rnea") == (1, 2)


def test_command() -> None:
    """The table and the JSON tell the same; every algorithm with an inlined form is there."""
    text = CliRunner().invoke(app, ["ops"])
    assert text.exit_code == 0, text.output
    result = CliRunner().invoke(app, ["ops", "--output-format", "json"])
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert {f: list(rows) for f, rows in found["measured"].items()} == INLINED
    shown = re.findall(r"^ +(\w[\w. ]*?)  +(\d[\d ]*?) *$", text.stdout, flags=re.MULTILINE)
    rows = [(name, [int(x) for x in numbers.split()]) for name, numbers in shown]
    for f in ("id", "fd"):
        for algorithm, chains in found["measured"][f].items():
            assert (algorithm, [x for two in chains.values() for x in two]) in rows
        for name, two in found["published"][f].items():
            assert (name, two) in rows


@pytest.mark.quick
def test_of_a_model() -> None:
    """`anyjoint ops MODEL` counts every algorithm that can do it."""
    arm, fish = (str(MODELS / f"{name}.yaml") for name in ("arm", "tongs_and_fish"))
    text = CliRunner().invoke(app, ["ops", arm]).output
    for name in [*FORWARD, *INVERSE]:
        assert f" {name}" in text
    assert "auto takes" in text
    data = json.loads(CliRunner().invoke(app, ["ops", fish, "--output-format", "json"]).output)
    assert set(data["fd"]) == {n for n, x in FORWARD.items() if x.equations is not None}
    assert data["id"]["rnea"]["total"] == operations(aj.load(fish).function("id"))["total"]
    assert CliRunner().invoke(app, ["ops", "none.yaml"]).exit_code == 2
