"""Values of formulas: floats or casadi expressions."""

from __future__ import annotations

import math
from collections import ChainMap
from collections.abc import Callable, Collection, Mapping
from functools import reduce
from graphlib import CycleError, TopologicalSorter
from types import MappingProxyType
from typing import Any, NoReturn, Protocol

from anyjoint.errors import FormulaError, suggest
from anyjoint.frontend.formula import (
    CONSTANTS,
    FUNCTIONS,
    OPERATORS,
    RESERVED,
    TABLE,
    Formula,
    Function,
    Node,
    parse,
)


def evaluate(formula: Formula, env: Mapping[str, Any]) -> Any:
    """The value with the names of `env`: a float if all it uses are floats, else casadi's."""
    check_names(formula, env)
    return _value(formula.tree, env)


def check_names(formula: Formula, known: Collection[str]) -> None:
    """FormulaError at the first name that is not in `known`."""
    if unknown := {name for name in formula.names if name not in known}:
        node = next(node for node in formula.tree.walk() if node.value in unknown)
        tables = {name.removeprefix(TABLE) for name in known if name.startswith(TABLE)}
        if node.kind == "table":
            name = node.value.removeprefix(TABLE)
            node.fail(f'unknown table "{name}"', suggest(name, tables, "tables"))
        if node.value in tables:
            node.fail(f'"{node.value}" is a table', f"write spline(x, {node.value})")
        names = {*CONSTANTS, *(name for name in known if name and not name.startswith(TABLE))}
        node.fail(f'unknown name "{node.value}"', suggest(node.value, names, "known"))


def _value(node: Node, env: Mapping[str, Any]) -> Any:
    if node.kind == "number":
        return node.value
    if node.kind in ("name", "table"):
        value = CONSTANTS.get(node.value, env.get(node.value))
        return _finite(node, float(value)) if isinstance(value, (int, float)) else value
    function = FUNCTIONS.get(node.value) or OPERATORS[node.value]
    args = [_value(arg, env) for arg in node.args]
    numbers = args[:1] if node.value == "spline" else args
    if all(isinstance(arg, float) for arg in numbers):
        try:
            return _finite(node, function.number(*args))
        except (ArithmeticError, ValueError) as error:
            _undefined(node, numbers, isinstance(error, OverflowError))
    if node.value == "/" and isinstance(args[1], float) and args[1] == 0:
        _undefined(node, args)
    return _symbolic(function, args)


_DOMAINS = {"/": "the divisor must not be zero", "sqrt": "of zero or more", "log": "of x > 0",
            "asin": "of -1 to 1", "acos": "of -1 to 1",
            "**": "a negative base goes with whole exponents, zero with positive ones"}


def _undefined(node: Node, args: list[Any], large: bool = False) -> NoReturn:
    """FormulaError where an operator or function has no value, or one too large for a float."""
    if node.value == "/" and not large:
        node.fail("division by zero", _DOMAINS["/"])
    at = f"{node.value} has no value here, at {', '.join(f'{x:g}' for x in args)}"
    if large:
        node.fail(f"{at}: it is too large", "below 1e308")
    node.fail(at, _DOMAINS.get(node.value, ""))


def _finite(node: Node, value: float) -> float:
    if not math.isfinite(value):
        node.fail(f"the result is {value}, not a finite number")
    return value


def _symbolic(function: Function, args: list[Any]) -> Any:
    symbol = function.symbol
    if isinstance(symbol, str):
        import casadi  # slow to load, and most formulas are numbers

        symbol = getattr(casadi, symbol)
    return reduce(symbol, args) if function.many else symbol(*args)


def as_number(value: str | int | float, env: Mapping[str, Any] = MappingProxyType({})) -> float:
    """The float that a text or number stands for; FormulaError if it isn't one."""
    result = evaluate(formula := parse(value), env)
    if isinstance(result, float):
        return result
    names = ", ".join(sorted(n for n in formula.names
                             if not n.startswith(TABLE) and not isinstance(env[n], (int, float))))
    hint = "only constants are fixed when the code is made"
    formula.tree.fail(f"this must be a number, but depends on the run-time {names}", hint)


def as_value(value: str | int | float, env: Mapping[str, Any]) -> Any:
    """What a text or number stands for: float, or a CasADi expression."""
    return evaluate(parse(value), env)


class Made(Protocol):
    """A definition that is no formula: `value` makes it of the values of `names`."""

    @property
    def names(self) -> frozenset[str]: ...

    def value(self, env: Mapping[str, Any]) -> Any:
        """FormulaError where that can't be done."""


def definitions(
    items: Mapping[str, str | int | float | Formula | Made],
    env: Mapping[str, Any] = MappingProxyType({}),
    value: Callable[..., Any] = as_number,
) -> tuple[dict[str, Any], dict[str, FormulaError]]:
    """Values of named formulas that may use each other in any order, and the errors.

    A name in neither uses, or is in a circle with, one that has an error."""
    formulas: dict[str, Formula | Made] = {}
    values: dict[str, Any] = {}
    errors: dict[str, FormulaError] = {}
    known = {*env, *items}
    for name, text in items.items():
        try:
            if name in RESERVED:
                raise FormulaError(f'"{name}" is already a function or constant', hint="rename it")
            made = parse(text) if isinstance(text, (str, int, float)) else text
            if isinstance(made, Formula):
                check_names(made, known - ({name} - made.names))
            formulas[name] = made
        except FormulaError as error:
            errors[name] = error
    lost = set(errors)
    scope: Mapping[str, Any] = ChainMap(values, dict(env))
    for name in _order(formulas, errors, lost):
        made = formulas[name]
        if made.names & lost:
            lost.add(name)
            continue
        try:
            values[name] = value(items[name], scope) if isinstance(made, Formula) \
                else made.value(scope)
        except FormulaError as error:
            errors[name] = error
            lost.add(name)
    return {name: values[name] for name in items if name in values}, errors


def _order(
    formulas: Mapping[str, Formula | Made], errors: dict[str, FormulaError], lost: set[str]
) -> list[str]:
    """Names such that each follows those it uses; circles go to `errors` and `lost`."""
    uses = {name: formula.names & formulas.keys() for name, formula in formulas.items()}
    while True:
        try:
            return list(TopologicalSorter(uses).static_order())
        except CycleError as error:
            circle = error.args[1][:0:-1]  # each uses the next, the last the first
        start = circle.index(next(name for name in uses if name in circle))
        circle = circle[start:] + circle[: start + 1]
        lost.update(circle)
        uses = {name: used - lost for name, used in uses.items() if name not in lost}
        message = f"circular definition: {' → '.join(circle)}"
        first = formulas[circle[0]]
        assert isinstance(first, Formula)  # they come before tables, which don't use each other
        node = next(n for n in first.tree.walk() if n.value == circle[1])
        errors[circle[0]] = FormulaError(message, node.offset, node.length, "break the circle")
