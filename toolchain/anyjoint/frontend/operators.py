"""What formulas may use: functions, constants, operators."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Function:
    """What a call means for floats and for casadi values (a name in casadi)."""

    arity: int  # of a `many` function: the least
    number: Callable[..., float]
    symbol: str | Callable[..., Any]
    many: bool = False  # any number of arguments; symbol takes two


FUNCTIONS = {
    "sin": Function(1, math.sin, "sin"),
    "cos": Function(1, math.cos, "cos"),
    "tan": Function(1, math.tan, "tan"),
    "asin": Function(1, math.asin, "asin"),
    "acos": Function(1, math.acos, "acos"),
    "atan": Function(1, math.atan, "atan"),
    "atan2": Function(2, math.atan2, "atan2"),
    "sqrt": Function(1, math.sqrt, "sqrt"),
    "exp": Function(1, math.exp, "exp"),
    "log": Function(1, math.log, "log"),
    "abs": Function(1, math.fabs, "fabs"),
    "min": Function(2, min, "fmin", many=True),
    "max": Function(2, max, "fmax", many=True),
    "spline": Function(2, lambda x, table: table(x), lambda x, table: table(x)),
}
CONSTANTS = {"pi": math.pi, "deg": math.pi / 180}
RESERVED = frozenset(FUNCTIONS) | frozenset(CONSTANTS)  # names a model can't give
TABLE = "table "  # before a table's name among other names: tables are a namespace of their own

OPERATORS = {
    "+": Function(2, operator.add, operator.add),
    "-": Function(2, operator.sub, operator.sub),
    "*": Function(2, operator.mul, operator.mul),
    "/": Function(2, operator.truediv, operator.truediv),
    "**": Function(2, math.pow, "power"),
    "unary +": Function(1, operator.pos, operator.pos),
    "unary -": Function(1, operator.neg, operator.neg),
}
