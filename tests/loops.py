"""Closed loops for the tests, and what `check` says of their constraints."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np

import anyjoint as aj
from anyjoint.build.constrained_checks import warnings
from anyjoint.errors import ordered
from constrained import model
from mechanisms import Case, Doc, body

XYZ, TURNS = ["x", "y", "z"], ["rx", "ry", "rz"]


def check(case: Case) -> list[Any]:
    """Warnings but those about joints."""
    return [*ordered(warnings(case.m))]


def with_(case: Case, constraints: Doc, rest: Any = None, **sections: Any) -> Case:
    """Other constraints, and rest values."""
    doc = json.loads(case.text) | {"constraints": constraints} | sections
    names = aj.loads(json.dumps(doc | {"constraints": {}, "states": {}})).q_names
    for name, x in zip(names, () if rest is None else rest, strict=rest is not None):
        joint, _, coordinate = name.partition(".")
        own = next(b["joint"] for k, b in doc["bodies"].items()
                   if b["joint"].get("name", k) == joint)
        if coordinate:
            own["rest"] = {**(own.get("rest") or {}), coordinate: float(x)}
        else:
            own["rest"] = float(x)
    return Case("with", doc)


def assembled(case: Case) -> Case:
    """The same with a rest that meets the constraints."""
    return with_(case, case.doc["constraints"], case.m.assembled())


def bars(lengths: tuple[float, ...], ground: float, rest: tuple[float, ...],
         axis: Any = "y", turn: Any = (0, 0, 0)) -> Doc:
    """Bodies of crank a, coupler b on it, and rocker c, along z of their own, that turn about an
    axis: hinges in a plane, and tips to close them."""
    rng = np.random.default_rng(2)
    return {n: {**body(rng, parent, {"type": "revolute", "axis": axis, "rest": q}, n),
                "origin": {"xyz": xyz}, "child_origin": {}, "frames": {
                    f"tip_{n}": {"xyz": [0, 0, length], "rpy": [*turn]}}}
            for n, parent, xyz, length, q in (
                ("a", "world", [0, 0, 0], lengths[0], rest[0]),
                ("b", "a", [0, 0, lengths[0]], lengths[1], rest[1]),
                ("c", "world", [ground, 0, 0], lengths[2], rest[2]))}


TIPS = {"from": "tip_b", "to": "tip_c"}
PLANE = Case("plane", lambda: assembled(model(
    bars((0.5, 0.7, 0.6), 0.8, (0.2, 1.1, 0.1)),
    {"pin": {"type": "point", **TIPS, "directions": ["x", "z"]}})).doc)


def suggested(problem: Any) -> list[str]:
    """The directions in a message."""
    found = re.search(r"enough here: directions: \[(.*)\]", problem.message)
    assert found, problem.message
    return found[1].split(", ")
