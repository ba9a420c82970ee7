"""`anyjoint ops`: operations of forward and inverse dynamics of six revolute joints by every
algorithm, beside those that seed 001 published (table 1)."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from rich.table import Table

from anyjoint import api, choice, report
from anyjoint.backend.budget import operations
from anyjoint.dynamics.algorithms import FORWARD, INVERSE
from anyjoint.mechanism import Mechanism

# Seed 001, table 1: (±, ×) by row
PUBLISHED: dict[str, dict[str, tuple[int, int]]] = {
    "id": {"Symb. best": (328, 365), "Balafoutis": (386, 450), "Symb. worst": (509, 971)},
    "fd": {"Symb. best": (818, 943), "Balafoutis": (790, 956), "Symb. worst": (1875, 2389)}}
CHAINS: dict[str, dict[str, Any]] = {  # name → how revolute_chain makes it
    "plain": {"plain": True}, "full": {}, "oblique": {"oblique": True}}
# row → chain it stands beside: all that is said of the published ones is "roughly best and worst"
_BESIDE = {"Symb. best": "plain", "Balafoutis": "plain", "Symb. worst": "oblique"}
_TITLES = {"id": "inverse dynamics", "fd": "forward dynamics"}
_PLUS, _TIMES = ("add", "sub", "neg"), ("mul", "sq", "twice", "div", "inv")


def revolute_chain(n: int, oblique: bool = False, seed: int = 1, *, plain: bool = False,
                   axes: str = "xyz") -> str:
    """Model text of n revolute joints with full inertias: the axes in turn, some 0.3 m apart
    along z and no two lengths alike; or oblique axes and origins. plain: the centres of mass
    on z and the inertias diagonal."""
    generator = np.random.default_rng(seed)
    bodies: dict[str, Any] = {}
    for i in range(n):
        masses, points = generator.uniform(0.5, 1.5, 6), 0.1 * generator.normal(size=(6, 3))
        com, entries = cloud(masses, points)
        if plain:
            com = com * [0, 0, 1] + [0, 0, 0.1]
            entries = {k: entries[k] for k in ("xx", "yy", "zz")}
        axis: Any = axes[i % len(axes)]
        origin: Any = {"xyz": [0, 0, 0.25 + 0.1 * (0.618 * i % 1) if i else 0]}
        if oblique:
            axis = generator.normal(size=3).tolist()
            origin = {"xyz": (0.2 * generator.normal(size=3)).tolist(),
                      "rpy": generator.normal(size=3).tolist()}
        bodies[f"b{i}"] = {
            "parent": f"b{i - 1}" if i else "world", "origin": origin, "mass": masses.sum(),
            "joint": {"name": f"j{i}", "type": "revolute", "axis": axis},
            "com": com.tolist(), "inertia": entries}
    return json.dumps({"anyjoint": 1, "name": f"chain{n}", "bodies": bodies}, indent=1)


def cloud(masses: Any, points: Any) -> tuple[Any, dict[str, float]]:
    """Centre of mass and inertia about it (upper entries by name) of point masses."""
    com = masses @ points / masses.sum()
    inertia = sum(m * ((d @ d) * np.eye(3) - np.outer(d, d))
                  for m, d in zip(masses, points - com, strict=True))
    return com, {a + b: float(inertia[j, k]) for j, a in enumerate("xyz")
                 for k, b in enumerate("xyz") if j <= k}


def pair(m: Mechanism, name: str, algorithm: str) -> tuple[int, int]:
    """(±, ×) of the inlined function: a change of sign counts with ±, a quotient with ×."""
    counts = operations(m.function(name, algorithm=algorithm, form="inlined"))
    plus, times = (sum(counts.get(kind, 0) for kind in kinds) for kinds in (_PLUS, _TIMES))
    return plus, times


def measured() -> dict[str, dict[str, dict[str, tuple[int, int]]]]:
    """Function → algorithm → chain → (±, ×), for all that have an inlined form; "auto" is what
    forward dynamics takes by default."""
    chains = {name: api.loads(revolute_chain(6, **keys)) for name, keys in CHAINS.items()}
    able = {"id": list(INVERSE), "fd": [n for n in FORWARD if not choice.rolled(n)] + ["auto"]}
    return {f: {a: {chain: pair(m, f, a) for chain, m in chains.items()} for a in names}
            for f, names in able.items()}


def of_model(m: Mechanism) -> dict[str, dict[str, dict[str, Any]]]:
    """Function → algorithm that can do the mechanism → operations by kind, in all, and the form."""
    able = {"id": [*INVERSE], "fd": choice.able(m, FORWARD)}
    out: dict[str, dict[str, dict[str, Any]]] = {}
    for name, algorithms in able.items():
        made = {a: m.function(name, algorithm=a) for a in algorithms}
        out[name] = {a: operations(f) | {"form": report.form(f)} for a, f in made.items()}
    return out


def show_model(m: Mechanism) -> None:
    """Prints what each algorithm costs on a mechanism."""
    for name, rows in of_model(m).items():
        out = report.operations_table(f"{_TITLES[name]} of {m.name}", "algorithm")
        for algorithm, counts in rows.items():
            note = " *" if choice.rolled(algorithm) else ""
            out.add_row(algorithm + note, *report.kinds(counts), counts["form"])
        report.console.print(out)
    if m.coupling is None and not m.constraints:
        report.console.print("* what it factorises at run time is not counted")
    report.console.print(f"auto takes {choice.resolve(m, 'fd', 'auto')} for forward dynamics")


def data() -> dict[str, Any]:
    """What the table shows, as plain data."""
    return {"published": PUBLISHED, "measured": measured()}


def show() -> None:
    """Prints a table for inverse and one for forward dynamics."""
    with report.working("counting operations"):
        counts = measured()
    for f, rows in counts.items():
        report.console.print(_table(f, rows))
    report.console.print(_NOTE)


def _table(f: str, rows: dict[str, dict[str, tuple[int, int]]]) -> Table:
    columns = [f"{chain} {kind}" for chain in CHAINS for kind in "±×"]
    out = report.table(f"{_TITLES[f]} of six revolute joints", "algorithm", *columns)
    for algorithm, counts in rows.items():
        out.add_row(algorithm, *_cells(counts))
    out.add_section()
    for name, published in PUBLISHED[f].items():
        out.add_row(name, *_cells({_BESIDE[name]: published}))
    return out


def _cells(counts: dict[str, tuple[int, int]]) -> list[str]:
    return [str(x) for chain in CHAINS for x in counts.get(chain, ("", ""))]


_NOTE = """plain    axes x, y, z in turn, links along z, centres of mass on z, diagonal inertias
full     the same axes, general centres of mass and inertias
oblique  general axes and origins too
±        additions, subtractions, changes of sign
×        products, squares, quotients; sin and cos are not counted
Symb. (symbolic Lagrangian) and Balafoutis: as published by Guenter and Lee, "Symbolic
Lagrangian multibody dynamics", table 1. Their chains are called "roughly best and
worst case" and no more."""
