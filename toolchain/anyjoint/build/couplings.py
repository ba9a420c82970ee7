"""The section `couplings` of a document: coordinates given as formulas of others."""

from __future__ import annotations

import math
from collections.abc import Set
from dataclasses import dataclass, replace
from typing import Any

import casadi as ca

from anyjoint.build.scope import Scope
from anyjoint.build.values import full_names
from anyjoint.dynamics.coupling import Coupling, Dependent
from anyjoint.errors import FormulaError, suggest
from anyjoint.frontend import evaluation, formula
from anyjoint.frontend.formula import Formula, Node
from anyjoint.joints.contract import Joint
from anyjoint.mechanism import Body

_LOST = Node("name", "", 0, 1)  # stands for a formula with a problem


@dataclass(frozen=True)
class Written:
    """A formula, and its path in the document."""

    formula: Formula
    path: tuple[str, ...]


class Coordinates:
    """All coordinates of the tree, as a document may call them."""

    def __init__(self, bodies: tuple[Body, ...]):
        self.names: list[str] = []  # as in q_names
        self.rates: list[int | None] = []  # see Coupling.of
        self.joints: dict[str, list[str]] = {}  # the coordinates of each
        self.index: dict[str, int] = {}  # by name; "elbow.q" is the same as "elbow"
        self.nv = 0
        for body in bodies:
            own = self.joints[body.joint_name] = full_names(body, body.joint.q_names)
            for short, name, rate in zip(body.joint.q_names, own, rates(body.joint), strict=True):
                self.index[name] = self.index[f"{body.joint_name}.{short}"] = len(self.names)
                self.names.append(name)
                self.rates.append(None if rate is None else self.nv + rate)
            self.nv += body.joint.nv

    def find(self, name: str, any_rate: bool = False) -> str:
        """The coordinate's name in q_names; FormulaError where it is none or, unless any_rate, a
        quaternion's."""
        i = self.index.get(name)
        if i is None:
            own = self.joints.get(name)
            what = f'unknown coordinate "{name}"' if own is None else \
                f'"{name}" has {"several" if own else "no"} coordinates'
            usable = [n for n, rate in zip(self.names, self.rates, strict=True)
                      if any_rate or rate is not None]
            raise FormulaError(what, hint=suggest(name, own or usable, "coordinates"))
        if self.rates[i] is None and not any_rate:
            raise FormulaError(f'"{name}" can\'t be used here: its rate is not a velocity',
                               hint="quaternions and positions of free joints have none; "
                                    "spherical_euler, spherical_exp and free_exp do")
        return self.names[i]


def rates(joint: Joint) -> list[int | None]:
    """For each coordinate the velocity that is its rate, by the rows of N in q̇ = N v."""
    N = ca.SX(joint.rate_matrix(ca.SX.sym("q", joint.nq)))
    rows = [[j for j in range(joint.nv) if not N[i, j].is_zero()] for i in range(joint.nq)]
    return [row[0] if len(row) == 1 and N[i, row[0]].is_one() else None
            for i, row in enumerate(rows)]


def written(scope: Scope, coordinates: Coordinates) -> dict[str, Written]:
    """The formulas by dependent coordinate; problems are noted."""
    found: dict[str, Written] = {}
    for key, given in scope.document.spec.couplings.items():
        text: Any = getattr(given, "formula", given)
        path = ("couplings", key) if text is given else ("couplings", key, "formula")
        try:
            name = coordinates.find(key)
            if name in found:
                raise FormulaError(f'"{name}" is given already', hint="remove one of the two")
        except FormulaError as e:
            scope.problem(e.message, "couplings", key, hint=e.hint, key=True)
            continue
        parsed = formula.parse(text, dotted=True)
        try:
            tree = named(parsed.tree, coordinates, scope)
        except FormulaError as e:
            scope.formula_problem(e, *path)
            tree = _LOST
        found[name] = Written(Formula.of(parsed.text, tree), path)
    return found


def named(node: Node, coordinates: Coordinates, scope: Scope, any_rate: bool = False) -> Node:
    """A part of a formula with every coordinate under its name in q_names."""
    if node.kind != "name":
        return replace(node, args=tuple(named(x, coordinates, scope, any_rate)
                                        for x in node.args))
    name, other = node.value, node.value in scope.names or node.value in formula.CONSTANTS
    if other and name in coordinates.index:
        node.fail(f'"{name}" is a coordinate, but a constant or parameter too',
                  "rename one of them")
    if other or (name not in coordinates.index and name not in coordinates.joints):
        return node  # where it is unknown, evaluation says so
    try:
        return replace(node, value=coordinates.find(name, any_rate))
    except FormulaError as e:
        node.fail(e.message, e.hint)


def at_rest(e: FormulaError, names: Set[str], env: dict[str, Any],
            values: dict[str, float]) -> FormulaError:
    """The error of a formula of these names; with the coordinates' values, where it has some."""
    at = ", ".join(f"{n} = {values[n]:g}" for n in sorted(names & values.keys()))
    if not at or names - values.keys() - env.keys():  # an unknown name, or a circle
        return e
    return FormulaError(f"{e.message}; at rest {at}", e.offset, e.length, e.hint)


def couplings(scope: Scope, coordinates: Coordinates, given: dict[str, Written], rest: Any,
              ranges: tuple[list[float], list[float]]) -> Coupling | None:
    """The layer of these formulas. rest: q of the tree, of which the dependent rows don't
    count; at rest every formula must have a value. ranges: lower and upper ends (nq)."""
    if not given:
        return None
    formulas = {name: x.formula for name, x in given.items()}
    kept = [i for i, name in enumerate(coordinates.names) if name not in given]
    values = {coordinates.names[i]: float(rest[i]) for i in kept
              if coordinates.rates[i] is not None}
    lost = {"", *scope.lost, *(name for name, x in values.items() if math.isnan(x))}
    env = scope.numbers | values | dict.fromkeys(lost, math.nan)
    resting, errors = evaluation.definitions(formulas, env, evaluation.evaluate)
    for name, e in errors.items():
        if not formulas[name].names & lost:
            if name not in formula.RESERVED:
                e = at_rest(e, formulas[name].names, env, values | resting)
            scope.formula_problem(e, *given[name].path)
    y = ca.SX.sym("y", len(kept))
    symbols = {coordinates.names[i]: y[k] for k, i in enumerate(kept)}
    found, _ = evaluation.definitions(formulas, scope.names | symbols, evaluation.evaluate)
    q = ca.vertcat(*[ca.SX((symbols | found).get(name, 0)) for name in coordinates.names])
    rows = zip(coordinates.names, coordinates.rates, *ranges, strict=True)
    dependent = {name: Dependent(formulas[name].text, given[name].path, (lower, upper), rate)
                 for name, rate, lower, upper in rows if name in given and rate is not None}
    rates = [coordinates.rates[i] for i in kept]
    return Coupling.of(dependent, y, scope.p, q, kept, rates, coordinates.nv)
