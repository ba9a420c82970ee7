"""Constraints of a document that are formulas: equality, holonomic, pfaffian."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from anyjoint.build.couplings import Coordinates, at_rest, named
from anyjoint.build.scope import Scope
from anyjoint.build.values import full_names, v_names_of
from anyjoint.dynamics.constraints import Formulas
from anyjoint.errors import FormulaError, suggest
from anyjoint.frontend import evaluation, formula
from anyjoint.frontend.formula import Formula
from anyjoint.mechanism import Body


@dataclass(frozen=True)
class Model:
    """What the constraints of a document refer to."""

    scope: Scope  # of the document
    bodies: tuple[Body, ...]
    index: dict[str, int]  # of bodies, and the world
    frames: dict[str, Any]  # by name
    coordinates: Coordinates
    rest: Any  # q of the tree, nan where it is not known

    @cached_property
    def symbols(self) -> Symbols:
        return Symbols(self)


class Symbols:
    """Symbols of the tree's state, and formulas of its coordinates."""

    def __init__(self, model: Model):
        self.model, names = model, model.coordinates.names
        self.q, self.v = ca.SX.sym("q", len(names)), ca.SX.sym("v", model.coordinates.nv)
        ends = np.cumsum([0, *(b.joint.nq for b in model.bodies)])
        self.N = ca.diagcat(*[ca.SX(b.joint.rate_matrix(self.q[a:c])) for b, a, c in zip(
            model.bodies, ends[:-1].tolist(), ends[1:].tolist(), strict=True)])
        self.symbols = {name: self.q[i] for i, name in enumerate(names)}
        self.values = {name: float(x) for name, x in zip(names, model.rest, strict=True)}

    def __call__(self, here: Scope, text: Any, *path: Any, any_rate: bool = False) -> Any:
        """SX of a formula that stands at `path`; None after a problem."""
        parsed = formula.parse(text, dotted=True)
        lost = {*here.lost, *(name for name, x in self.values.items() if math.isnan(x))}
        env = here.numbers | self.values
        try:
            made = Formula.of(parsed.text, named(parsed.tree, self.model.coordinates, here,
                                                 any_rate))
            if made.names & lost:
                return None  # told of where it is lost
            try:
                evaluation.evaluate(made, env)
            except FormulaError as e:
                raise at_rest(e, made.names, env, self.values) from None
            return ca.SX(evaluation.evaluate(made, here.names | self.symbols))
        except FormulaError as e:
            here.formula_problem(e, *path)
            return None

    def position(self, phi: Any) -> ca.Function:
        return Formulas.position(self.q, self.v, self.model.scope.p, self.N, phi)

    def velocity(self, A: Any, e: Any) -> ca.Function:
        return Formulas.velocity(self.q, self.v, self.model.scope.p, self.N, A, e)


def _equality(model: Model, here: Scope, keys: Any) -> ca.Function | None:
    symbols, found = model.symbols, []
    for i, given in enumerate(keys.coordinates):
        try:
            found.append(model.coordinates.find(given))
        except FormulaError as e:
            here.problem(e.message, "coordinates", i, hint=e.hint)
    ratio, offset = here(keys.ratio, "ratio"), here(keys.offset, "offset")
    if len(found) < 2:
        return None
    if found[0] == found[1]:
        here.problem(f'"{found[0]}" is there twice', "coordinates", hint="two coordinates: first "
                     "= ratio · second + offset; to lock one, formula: q - 1 as holonomic")
        return None
    b, a = (symbols.symbols[name] for name in found)
    return symbols.position(b - ratio * a - offset)


def _holonomic(model: Model, here: Scope, keys: Any) -> ca.Function | None:
    symbols = model.symbols
    phi = symbols(here, keys.formula, "formula")
    if phi is None:
        return None
    if not ca.depends_on(phi, symbols.q):
        here.problem("this formula depends on no coordinate", "formula",
                     hint=suggest("", model.coordinates.names, "coordinates"))
        return None
    return symbols.position(phi)


def _pfaffian(model: Model, here: Scope, keys: Any) -> ca.Function | None:
    symbols, found = model.symbols, dict[int, Any]()
    index, names = _velocities(model.bodies)
    for key, text in keys.coefficients.items():
        own, k = [n for n in names if n.startswith(f"{key}.")], index.get(key)
        if k is None:
            what = f'"{key}" has several velocities' if own else f'no velocity "{key}"'
            here.problem(what, "coefficients", key, key=True,
                         hint=suggest(key, own or names, "velocities"))
        elif k in found:
            here.problem(f'"{names[k]}" is given already', "coefficients", key, key=True,
                         hint="remove one of the two")
        found[-1 if k is None else k] = symbols(here, text, "coefficients", key, any_rate=True)
    e = symbols(here, keys.equals, "equals", any_rate=True)
    if -1 in found or any(x is None for x in (e, *found.values())):
        return None
    A = ca.SX(1, len(names))
    A[list(found)] = ca.horzcat(*found.values())
    if A.is_zero():
        here.problem("all coefficients are zero", "coefficients",
                     hint="formulas of coordinates that are not, or no constraint")
        return None
    return symbols.velocity(A, e)


def _velocities(bodies: tuple[Body, ...]) -> tuple[dict[str, int], list[str]]:
    """Rows of the tree's v by name (elbow.q is elbow), and their names."""
    def both() -> Iterator[tuple[str, str]]:
        for body in bodies:
            own = v_names_of(body.joint)
            yield from zip(full_names(body, own), (f"{body.joint_name}.{n}" for n in own),
                           strict=True)
    pairs = [*both()]
    return {n: k for k, pair in enumerate(pairs) for n in pair}, [full for full, _ in pairs]


GRAPHS: dict[str, Callable[[Model, Scope, Any], ca.Function | None]] = {
    "equality": _equality, "holonomic": _holonomic, "pfaffian": _pfaffian}
