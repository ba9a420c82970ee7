"""Formulas of the model file. Python's parser reads them, a whitelist checks them;
nothing is ever run as code."""

from __future__ import annotations

import ast
import keyword
import math
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, NoReturn

from anyjoint.errors import FormulaError, suggest
from anyjoint.frontend.operators import CONSTANTS, FUNCTIONS, OPERATORS, RESERVED, TABLE, Function

__all__ = ["CONSTANTS", "FUNCTIONS", "OPERATORS", "RESERVED", "TABLE", "Formula", "Function",
           "Node", "parse"]
MAX_LENGTH, MAX_DEPTH, MAX_NODES = 2000, 50, 500
_SIGNS: dict[type[ast.AST], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "**",
    ast.UAdd: "unary +", ast.USub: "unary -",
}  # fmt: skip
_DECIMAL = re.compile(r"([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?")
_ALLOWED = f"allowed: + - * / **, parentheses, numbers, names, {', '.join(sorted(RESERVED))}"


@dataclass(frozen=True)
class Node:
    """A checked part of a formula; `offset` and `length` tell where in its text."""

    kind: str  # number, name, table, or call (of an operator too)
    value: Any  # the number, the name (of a table: with TABLE before it), or the function's name
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
    names: frozenset[str] = field(compare=False)  # and tables; without pi, deg and functions

    @staticmethod
    def of(text: str, tree: Node) -> Formula:
        names = frozenset(node.value for node in tree.walk() if node.kind in ("name", "table"))
        return Formula(text, tree, names - CONSTANTS.keys())


def parse(text: str | int | float, dotted: bool = False) -> Formula:
    """The formula in a text or a number; FormulaError says where it is wrong. dotted: names
    like link_1.u are allowed."""
    if isinstance(text, str):
        return _parse_text(text, dotted)
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
def _parse_text(text: str, dotted: bool = False) -> Formula:
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
    return Formula.of(text, _Checker(line, shift, dotted).check(python, 1))


def _python_tree(line: str, shift: int) -> ast.expr:
    """Python's syntax tree of one line from `shift` on; its errors become a FormulaError."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(line[shift:], mode="eval").body
    except SyntaxError as error:
        words = [word for word in re.findall(r"\w+", line) if keyword.iskeyword(word)]
        hint = f'"{words[0]}" is a reserved word: rename it' if words else _ALLOWED
        if number := re.search(r"(?<![\w.])([\d.]+)\s*([A-Za-z_]\w*)", line):
            hint = f"a product needs a *: write {number[1]}*{number[2]}"
        elif re.search(r"[\d.]\s+[A-Za-z\d]", line):
            hint = "numbers stand without units (SI, radians); a list is written [0, 0, 1]"
        offset = min(max((error.offset or 1) - 1, 0) + shift, len(line) - 1)
        raise FormulaError(f"not a formula: {error.msg}", offset, hint=hint) from None
    except (ValueError, MemoryError, RecursionError, OverflowError):
        raise FormulaError("not a formula: too deep, or odd characters", hint=_ALLOWED) from None


class _Checker:
    """Turns Python's syntax tree to checked nodes."""

    def __init__(self, line: str, shift: int, dotted: bool):
        self.line, self.bytes, self.shift, self.count = line, line[shift:].encode(), shift, 0
        self.dotted = dotted

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
                joint = f"; of a joint {part.id}: {part.id}.q" * self.dotted
                here.fail(f"{part.id} is a function", f"write {part.id}(…){joint}")
            return replace(here, kind="name", value=part.id)
        if self.dotted and isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name):
            return replace(here, kind="name", value=f"{part.value.id}.{part.attr}")
        if isinstance(part, ast.BinOp) and type(part.op) in _SIGNS:
            args = self.check(part.left, depth), self.check(part.right, depth + 1)
            return replace(here, kind="call", value=_SIGNS[type(part.op)], args=args)
        if isinstance(part, ast.UnaryOp) and type(part.op) in _SIGNS:
            arg = self.check(part.operand, depth + 1)
            return replace(here, kind="call", value=_SIGNS[type(part.op)], args=(arg,))
        if isinstance(part, ast.Call) and isinstance(part.func, ast.Name) and not part.keywords:
            self._check_call(part.func.id, len(part.args), here)
            arguments = [self.check(arg, depth + 1) for arg in part.args]
            if part.func.id == "spline":
                arguments[1] = _table(arguments[1])
            return replace(here, kind="call", value=part.func.id, args=tuple(arguments))
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


def _table(node: Node) -> Node:
    """The second argument of spline, read as the name of a table."""
    if node.kind != "name" or node.value in CONSTANTS:
        node.fail("spline takes the name of a table here", "spline(x, NAME) with "
                  "tables: {NAME: {x: […], y: […]}}")
    return replace(node, kind="table", value=TABLE + node.value)
