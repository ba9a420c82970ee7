"""Formulas of the model file. Python's parser reads them, a whitelist checks them;
nothing is ever run as code."""

from __future__ import annotations

import ast
import keyword
import math
import operator
import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, NoReturn

from anyjoint.errors import FormulaError, suggest

MAX_LENGTH, MAX_DEPTH, MAX_NODES = 2000, 50, 500


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
}
CONSTANTS = {"pi": math.pi, "deg": math.pi / 180}
RESERVED = frozenset(FUNCTIONS) | frozenset(CONSTANTS)  # names a model can't give

OPERATORS = {
    "+": Function(2, operator.add, operator.add),
    "-": Function(2, operator.sub, operator.sub),
    "*": Function(2, operator.mul, operator.mul),
    "/": Function(2, operator.truediv, operator.truediv),
    "**": Function(2, math.pow, "power"),
    "unary +": Function(1, operator.pos, operator.pos),
    "unary -": Function(1, operator.neg, operator.neg),
}
_SIGNS: dict[type[ast.AST], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "**",
    ast.UAdd: "unary +", ast.USub: "unary -",
}  # fmt: skip
_DECIMAL = re.compile(r"([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?")
_ALLOWED = f"allowed: + - * / **, parentheses, numbers, names, {', '.join(sorted(RESERVED))}"


@dataclass(frozen=True)
class Node:
    """A checked part of a formula; `offset` and `length` tell where in its text."""

    kind: str  # number, name, or call (of an operator too)
    value: Any  # the number, the name, or the function's name
    offset: int
    length: int
    args: tuple[Node, ...] = ()

    def walk(self) -> Iterator[Node]:
        yield self
        for arg in self.args:
            yield from arg.walk()

    def fail(self, message: str, hint: str = "") -> NoReturn:
        raise FormulaError(message, self.offset, self.length, hint)


@dataclass(frozen=True)
class Formula:
    """A checked formula; two with the same text are equal."""

    text: str
    tree: Node = field(compare=False, repr=False)
    names: frozenset[str] = field(compare=False)  # without pi, deg and functions


def parse(text: str | int | float) -> Formula:
    """The formula in a text or a number; FormulaError says where it is wrong."""
    if isinstance(text, str):
        return _parse_text(text)
    if isinstance(text, bool) or not isinstance(text, (int, float)):
        shown = "true or false" if isinstance(text, bool) else type(text).__name__
        raise FormulaError(f"expected a number or a formula, not {shown}")
    try:
        finite = math.isfinite(text)
    except OverflowError:
        finite = False
    if not finite:
        raise FormulaError("a number must be finite")
    return _parse_text(str(int(text) if isinstance(text, int) else float(text)))


@lru_cache(maxsize=4096)
def _parse_text(text: str) -> Formula:
    if len(text) > MAX_LENGTH:
        raise FormulaError(f"a formula has at most {MAX_LENGTH} characters, not {len(text)}")
    if not text.strip():
        raise FormulaError("an empty formula", hint=_ALLOWED)
    # the same length, so that offsets stay right; Python wants no space in front
    line = re.sub(r"\s", " ", text)
    if odd := re.search(r"[#\\\0]", line):  # a comment, a continued line, the end
        raise FormulaError(f"{odd[0]!r} is not allowed in a formula", odd.start(), hint=_ALLOWED)
    shift = len(line) - len(line.lstrip())
    python = _python_tree(line, shift)
    tree = _Checker(line, shift).check(python, 1)
    names = frozenset(node.value for node in tree.walk() if node.kind == "name")
    return Formula(text, tree, names - CONSTANTS.keys())


def _python_tree(line: str, shift: int) -> ast.expr:
    """Python's syntax tree of one line from `shift` on; its errors become a FormulaError."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(line[shift:], mode="eval").body
    except SyntaxError as error:
        words = [word for word in re.findall(r"\w+", line) if keyword.iskeyword(word)]
        hint = f'"{words[0]}" is a reserved word' if words else _ALLOWED
        if number := re.search(r"([\d.]+)\s*deg\b", line):
            hint = f"write {number[1]}*deg"
        elif re.search(r"[\d.]\s+[A-Za-z\d]", line):
            hint = "numbers stand without units (SI, radians); a list is written [0, 0, 1]"
        offset = min(max((error.offset or 1) - 1, 0) + shift, len(line) - 1)
        raise FormulaError(f"not a formula: {error.msg}", offset, hint=hint) from None
    except (ValueError, MemoryError, RecursionError, OverflowError):
        raise FormulaError("not a formula: too deep, or odd characters", hint=_ALLOWED) from None


class _Checker:
    """Turns Python's syntax tree to checked nodes."""

    def __init__(self, line: str, shift: int):
        self.line, self.bytes, self.shift, self.count = line, line[shift:].encode(), shift, 0

    def check(self, part: ast.expr, depth: int) -> Node:
        """The node for `part`; a chain like a + b + c is one level deep."""
        offset, end = (
            len(self.bytes[:column].decode()) + self.shift
            for column in (part.col_offset, part.end_col_offset or 0)
        )
        here = Node("number", 0.0, offset, end - offset)
        self.count += 1
        if depth > MAX_DEPTH or self.count > MAX_NODES:
            here.fail(f"a formula has at most {MAX_NODES} parts and {MAX_DEPTH} levels")
        if isinstance(part, ast.Constant):
            return replace(here, value=self._number(part, here))
        if isinstance(part, ast.Name):
            if part.id in FUNCTIONS:
                here.fail(f"{part.id} is a function", f"write {part.id}(…)")
            return replace(here, kind="name", value=part.id)
        if isinstance(part, ast.BinOp) and type(part.op) in _SIGNS:
            args = self.check(part.left, depth), self.check(part.right, depth + 1)
            return replace(here, kind="call", value=_SIGNS[type(part.op)], args=args)
        if isinstance(part, ast.UnaryOp) and type(part.op) in _SIGNS:
            arg = self.check(part.operand, depth + 1)
            return replace(here, kind="call", value=_SIGNS[type(part.op)], args=(arg,))
        if isinstance(part, ast.Call) and isinstance(part.func, ast.Name) and not part.keywords:
            self._check_call(part.func.id, len(part.args), here)
            arguments = tuple(self.check(arg, depth + 1) for arg in part.args)
            return replace(here, kind="call", value=part.func.id, args=arguments)
        what = type(getattr(part, "op", part)).__name__.lower()
        hint = "use ** for powers; " * (what == "bitxor") + _ALLOWED
        here.fail(f"{self._shown(here)} ({what}) is not allowed in a formula", hint)

    def _shown(self, node: Node) -> str:
        text = self.line[node.offset : node.offset + node.length]
        return f'"{text[:40]}…"' if len(text) > 40 else f'"{text}"'

    def _number(self, part: ast.Constant, here: Node) -> float:
        text = self.line[here.offset : here.offset + here.length]
        if not _DECIMAL.fullmatch(text):
            here.fail(f"{self._shown(here)} is not a decimal number", _ALLOWED)
        if not math.isfinite(value := float(text)):
            here.fail(f"{self._shown(here)} is too large")
        return value

    def _check_call(self, name: str, given: int, here: Node) -> None:
        if (function := FUNCTIONS.get(name)) is None:
            hint = suggest(name, FUNCTIONS, "functions") + "; a product needs a *"
            here.fail(f'unknown function "{name}"', hint)
        if given < function.arity or (given > function.arity and not function.many):
            more = " or more" if function.many else ""
            here.fail(f"{name} takes {function.arity}{more} argument(s), not {given}")
