"""What the command line prints: the tree, tables, a compiled artifact."""

from __future__ import annotations

import contextlib
import json
import math
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import casadi as ca
from rich import box
from rich.console import Console
from rich.table import Table
from rich.tree import Tree

from anyjoint import choice
from anyjoint.backend.budget import operations
from anyjoint.mechanism import Mechanism, evaluate_at

console = Console(highlight=False)
if not console.is_terminal:
    console.width = 200  # in a pipe or file nothing is cut
_SHOWN_ROWS = 60


@contextlib.contextmanager
def working(text: str, shown: bool = True) -> Iterator[None]:
    """A spinner on a terminal while something takes its time; nothing elsewhere."""
    if shown and console.is_terminal:
        with console.status(text):
            yield
    else:
        yield


def table(title: str, *columns: str) -> Table:
    out = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD)
    for i, column in enumerate(columns):
        out.add_column(column, justify="left" if i == 0 else "right")
    return out


def number(x: float) -> str:
    return "" if not math.isfinite(x) else f"{x:.6g}"


def bounds(low: float, high: float) -> str:
    if math.isinf(low) and math.isinf(high):
        return ""
    return f"[{number(low) or '-inf'}, {number(high) or 'inf'}]"


def summary(m: Mechanism) -> dict[str, Any]:
    """What `show` tells, as plain data."""
    from anyjoint.api import describe

    freedom = _freedom(m)
    bodies = [{"name": b.name, "parent": m.bodies[b.parent].name if b.parent >= 0 else "world",
               "joint": b.joint_name, "nv": freedom[b.joint_name]} for b in m.bodies]
    couplings = {} if m.coupling is None else m.coupling.dependent
    counts = {f: operations(m.function(f)) for f in ("fd", "id")}
    return describe(m) | {"bodies": bodies, "operations": counts,
                          "algorithms": {"fd": choice.resolve(m, "fd", "auto"),
                                         "compared": choice.compare(m)},
                          "couplings": {name: x.formula for name, x in couplings.items()},
                          "constraints": {name: keys.text for name, keys
                                          in m.document.spec.constraints.items()}}


def _freedom(m: Mechanism) -> Counter[str]:
    """Velocities of each joint that are independent."""
    return Counter(name.partition(".")[0] for name in m.v_names)


def show(m: Mechanism) -> None:
    """The mechanism on the terminal."""
    console.print(_tree(m))
    console.print(_coordinates(m))
    if m.coupling is not None:
        console.print(_couplings(m))
    if m.constraints:
        console.print(_constraints(m))
    if m.np:
        parameters = table("parameters p", "name", "default")
        for name, value in zip(m.p_names, m.p0, strict=True):
            parameters.add_row(name, number(value))
        console.print(parameters)
    if m.v_names != m.q_names:
        console.print(f"velocities v: {', '.join(m.v_names[:_SHOWN_ROWS])}\n", soft_wrap=True)
    if m.u_names != m.v_names:
        console.print(f"actuators u: {', '.join(m.u_names)}\n", soft_wrap=True)
    if m.frames:
        console.print(f"frames: {', '.join(m.frame_names)}\n", soft_wrap=True)
    if m.states:
        console.print(f"states: {', '.join(m.states)}\n")
    console.print(_operations(m))


def _operations(m: Mechanism) -> Table:
    """Forward dynamics by the algorithms that `auto` compares, and inverse dynamics."""
    out = operations_table("operations", "function")
    auto = choice.resolve(m, "fd", "auto")
    rows = {f"fd {name}" + "  (auto)" * (name == auto): ("fd", {"algorithm": name})
            for name in choice.compare(m)}
    for label, (name, options) in {**rows, "id": ("id", {})}.items():
        f = m.function(name, **options)
        out.add_row(label, *kinds(operations(f)), form(f))
    return out


def operations_table(title: str, first: str) -> Table:
    return table(title, first, "+ −", "×", "÷", "sin cos", "other", "in all", "form")


def form(f: ca.Function) -> str:
    return "inlined" if f.is_a("SXFunction") else "rolled"


def kinds(ops: dict[str, Any]) -> list[str]:
    """The cells of such a table: operations in groups, and in all."""
    groups = [("add", "sub", "neg"), ("mul", "sq", "twice"), ("div", "inv"), ("sin", "cos")]
    sums = [sum(ops.get(kind, 0) for kind in group) for group in groups]
    return [str(x) for x in (*sums, ops["total"] - sum(sums), ops["total"])]


def _tree(m: Mechanism) -> Tree:
    root = Tree(f"[bold]{m.name}[/bold]  nq = {m.nq}, nv = {m.nv}, nu = {m.nu}, np = {m.np}")
    nodes = {-1: root.add("world")}
    dofs = _freedom(m)
    masses = [float(x) for x in evaluate_at([b.link.m for b in m.bodies], m.p, ca.DM(m.p0))]
    for count, i in enumerate(m.order):
        body = m.bodies[i]
        if count >= 4 * _SHOWN_ROWS:
            root.add(f"… {len(m.bodies) - count} more bodies")
            break
        kind = m.document.spec.bodies[body.name].joint.type
        freedom = f", {dofs[body.joint_name]} dof" if dofs[body.joint_name] else ""
        nodes[i] = nodes[body.parent].add(
            f"[bold]{body.name}[/bold]  {body.joint_name}: {kind}{freedom}, {masses[i]:.4g} kg")
    return root


def _coordinates(m: Mechanism) -> Table:
    out = table("coordinates", "q", "rest", "range")
    for i, name in enumerate(m.q_names[:_SHOWN_ROWS]):
        out.add_row(name, number(m.q0[i]), bounds(m.bounds.q_min[i], m.bounds.q_max[i]))
    if m.nq > _SHOWN_ROWS:
        out.add_row(f"… {m.nq - _SHOWN_ROWS} more", "", "")
    return out


def _couplings(m: Mechanism) -> Table:
    assert m.coupling is not None
    out = table("couplings", "q", "formula")
    out.columns[1].justify = "left"
    for name, x in list(m.coupling.dependent.items())[:_SHOWN_ROWS]:
        out.add_row(name, " ".join(x.formula.split()))
    if len(m.coupling.dependent) > _SHOWN_ROWS:
        out.add_row(f"… {len(m.coupling.dependent) - _SHOWN_ROWS} more", "")
    return out


def _constraints(m: Mechanism) -> Table:
    timed = any(c.time_constant is not None for c in m.constraints)
    out = table("constraints", "name", "type", "of", "multipliers", *["time constant, s"] * timed)
    for column in out.columns[1:4]:
        column.justify = "left"
    for c in m.constraints[:_SHOWN_ROWS]:
        T = "" if c.time_constant is None else number(float(
            evaluate_at([c.time_constant], m.p, ca.DM(m.p0))[0]))
        keys = m.document.spec.constraints[c.name]
        out.add_row(c.name, keys.type, " ".join(keys.text.split()), ", ".join(c.lambda_names),
                    *[T] * timed)
    if len(m.constraints) > _SHOWN_ROWS:
        out.add_row(f"… {len(m.constraints) - _SHOWN_ROWS} more", "", "", "", "")
    return out


def artifact(folder: Path, current: bool) -> None:
    """What is in a compiled folder."""
    manifest = json.loads((folder / "manifest.json").read_text())
    took = "up to date"
    if not current:
        seconds = json.loads((folder / "timings.json").read_text())
        took = ", ".join(f"{k} {v:.2f} s" for k, v in seconds.items())
    console.print(f"[bold]{folder}[/bold]: {took}")
    for file in manifest["files"].values():
        console.print(f"  {file['name']}")
    out = table("", "function", "operations", "C, bytes", "code, bytes", "work, doubles")
    for entry in manifest["functions"].values():
        budget = entry["budget"]
        numbers = (budget["operations"]["total"], budget["c_bytes"], budget["text_bytes"] or "",
                   budget["work"]["w"])
        out.add_row(entry["symbol"], *map(str, numbers))
    console.print(out)
