"""Values of formulas: floats or casadi expressions."""

from __future__ import annotations

import math
from collections import ChainMap
from collections.abc import Callable, Collection, Mapping
from functools import reduce
from graphlib import CycleError, TopologicalSorter
from types import MappingProxyType
from typing import Any

from anyjoint.errors import FormulaError, suggest
from anyjoint.frontend.formula import (
    CONSTANTS,
    FUNCTIONS,
    OPERATORS,
    RESERVED,
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
        hint = suggest(node.value, {*known, *CONSTANTS}, "known")
        node.fail(f'unknown name "{node.value}"', hint)


def _value(node: Node, env: Mapping[str, Any]) -> Any:
    if node.kind == "number":
        return node.value
    if node.kind == "name":
        value = CONSTANTS.get(node.value, env.get(node.value))
        return _finite(node, float(value)) if isinstance(value, (int, float)) else value
    function = FUNCTIONS.get(node.value) or OPERATORS[node.value]
    args = [_value(arg, env) for arg in node.args]
    if all(isinstance(arg, float) for arg in args):
        try:
            return _finite(node, function.number(*args))
        except (ArithmeticError, ValueError) as error:
            node.fail(f"{node.value} has no value here: {error}")
    if node.value == "/" and isinstance(args[1], float) and args[1] == 0:
        node.fail("division by zero")
    return _symbolic(function, args)


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
    names = ", ".join(sorted(n for n in formula.names if not isinstance(env[n], (int, float))))
    hint = "only constants are fixed when the code is made"
    formula.tree.fail(f"this must be a number, but depends on the run-time {names}", hint)


def as_value(value: str | int | float, env: Mapping[str, Any]) -> Any:
    """What a text or number stands for: float, or a CasADi expression."""
    return evaluate(parse(value), env)


def definitions(
    items: Mapping[str, str | int | float],
    env: Mapping[str, Any] = MappingProxyType({}),
    value: Callable[..., Any] = as_number,
) -> tuple[dict[str, Any], dict[str, FormulaError]]:
    """Values of named formulas that may use each other in any order, and the errors.

    A name in neither uses, or is in a circle with, one that has an error."""
    formulas: dict[str, Formula] = {}
    values: dict[str, Any] = {}
    errors: dict[str, FormulaError] = {}
    for name, text in items.items():
        try:
            if name in RESERVED:
                raise FormulaError(f'"{name}" is already a function or constant', hint="rename it")
            formulas[name] = parse(text)
        except FormulaError as error:
            errors[name] = error
    lost = set(errors)
    scope: Mapping[str, Any] = ChainMap(values, dict(env))
    for name in _order(formulas, errors, lost):
        if formulas[name].names & lost:
            lost.add(name)
            continue
        try:
            values[name] = value(items[name], scope)
        except FormulaError as error:
            errors[name] = error
            lost.add(name)
    return {name: values[name] for name in items if name in values}, errors


def _order(
    formulas: Mapping[str, Formula], errors: dict[str, FormulaError], lost: set[str]
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
        node = next(n for n in formulas[circle[0]].tree.walk() if n.value == circle[1])
        message = f"circular definition: {' → '.join(circle)}"
        errors[circle[0]] = FormulaError(message, node.offset, node.length, "break the circle")
