"""The `tables` of a document: points that are numbers when the code is made."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from anyjoint.errors import FormulaError
from anyjoint.frontend import evaluation, formula
from anyjoint.geometry.tables import Table, interpolate

if TYPE_CHECKING:
    from anyjoint.build.scope import Scope

_UNEVEN = "the points are too uneven for a spline, or the numbers too large"
ONE = Table((), ((0.0, 1.0, 0.0, 0.0, 0.0),))  # stands in for a table with problems


@dataclass(frozen=True)
class Points:
    """A table as a definition among others, see evaluation.definitions."""

    keys: Any

    @property
    def names(self) -> frozenset[str]:
        """Constants that its entries use."""
        used = (formula.parse(text).names for text in (*self.keys.x, *self.keys.y))
        return frozenset(n for names in used for n in names if not n.startswith(formula.TABLE))

    def value(self, env: Mapping[str, Any]) -> Table:
        x, y = ([evaluation.as_number(text, env) for text in column]
                for column in (self.keys.x, self.keys.y))
        for message, *_ in _faults(x, y, self.keys.outside):
            raise FormulaError(message)
        table = interpolate(x, y, self.keys.ends, self.keys.outside)
        if not np.isfinite(table.pieces).all():
            raise FormulaError(_UNEVEN)
        return table


def check(scope: Scope, keys: Any) -> None:
    """Notes every problem of a table that stands at the scope's place."""
    if scope.path[-1] in formula.RESERVED:
        scope.problem(f'"{scope.path[-1]}" is already a function or constant', key=True,
                      hint="rename it")
    values: dict[str, list[float]] = {"x": [], "y": []}
    for column, entries in values.items():
        for i, text in enumerate(getattr(keys, column)):
            if any(n.startswith(formula.TABLE) for n in formula.parse(text).names):
                scope.problem("a table can't use tables", column, i, hint="give its number")
                entries.append(math.nan)
            else:
                entries.append(scope.constant(text, column, i))
    faults = _faults(values["x"], values["y"], keys.outside)
    for message, hint, *path in faults:
        scope.problem(message, *path, hint=hint)
    if not faults and np.isfinite([values["x"], values["y"]]).all():
        table = interpolate(values["x"], values["y"], keys.ends, keys.outside)
        if not np.isfinite(table.pieces).all():
            scope.problem(_UNEVEN, "x", hint="steps of x between 1e-6 and 1e6 of each other")
    if keys.outside == "periodic" and "ends" in keys.model_fields_set:
        scope.problem("a periodic table has no ends", "ends", hint="remove it")


def _faults(x: list[float], y: list[float], outside: str) -> list[tuple[Any, ...]]:
    """(message, hint, *path) of what is wrong with the points; nan is not judged."""
    found: list[tuple[Any, ...]] = []
    if len(x) != len(y):
        found.append((f"{len(y)} values of y for {len(x)} of x", "one each", "y"))
    for i in range(1, len(x)):
        if x[i] <= x[i - 1]:
            found.append((f"x must increase: {x[i]:g} follows {x[i - 1]:g}", "sort the points, "
                          "each x once", "x", i))
            break
    if outside == "periodic" and len(x) < 3:
        found.append(("a periodic table has at least 3 points",
                      "the last is the first of the next period", "x"))
    elif outside == "periodic" and abs(y[-1] - y[0]) > 1e-9 * max(map(abs, y)):
        found.append((f"y of a periodic table ends at {y[-1]:g}, but starts at {y[0]:g}",
                      "the last point is the first of the next period", "y", len(y) - 1))
    return found
