"""Points by formula: three formulas of some variables and of the names of the file."""

from __future__ import annotations

import keyword
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import casadi as ca

from anyjoint.errors import FormulaError
from anyjoint.frontend import evaluation, formula

if TYPE_CHECKING:
    from anyjoint.joints.contract import Evaluate


class PointFormula:
    """The map variables → (x, y, z). Numbers of the file are folded into `options`; what
    depends on p are its `arguments` (see PointMap)."""

    def __init__(self, texts: Sequence[Any], variables: Sequence[str], value: Evaluate, path: Any):
        """`texts`: the three formulas, which stand at (*path, 0 … 2) below `value`'s place;
        `variables` hide constants and parameters of the same name."""
        self.texts, self.variables = list(texts), tuple(variables)
        used = {name for text in texts for name in formula.parse(text).names}
        outer = {n: x for n, x in value.names.items() if n in used - {*variables}}
        self.inputs = tuple(n for n, x in outer.items() if isinstance(x, ca.SX))
        self.numbers = {n: x for n, x in outer.items() if n not in self.inputs}
        self.arguments = [outer[n] for n in self.inputs]
        self._check(value, path)
        for name in self.variables if self.texts == list(texts) else ():  # else reported
            if name not in used:
                value.problem(f'the point does not depend on "{name}"', *path,
                              hint=f"formulas of {' and '.join(variables)}")
        self.options = (tuple(self.texts), self.variables, *sorted(self.numbers.items()),
                        self.inputs)

    def _check(self, value: Evaluate, path: Any) -> None:
        """Evaluates each formula once; one with an error gets a stand-in."""
        names = self._names(ca.SX.sym("u", len(self.variables)),
                            ca.SX.sym("a", len(self.inputs)))
        told = set[str]()
        for i, text in enumerate(self.texts):
            try:
                evaluation.check_names(formula.parse(text), {*value.names, *names})
                evaluation.evaluate(formula.parse(text), names)
            except FormulaError as e:
                if e.message not in told:
                    value.formula_problem(e, *path, i)
                told.add(e.message)
                self.texts[i] = self.variables[0]

    def in_spline(self, variable: str) -> bool:
        """Is a table taken at some function of this variable?"""
        calls = (node for text in self.texts for node in formula.parse(text).tree.walk()
                 if node.kind == "call" and node.value == "spline")
        return any(node.value == variable for call in calls for node in call.args[0].walk())

    def _names(self, u: Any, args: Any) -> dict[str, Any]:
        return (self.numbers | {n: args[i] for i, n in enumerate(self.inputs)}
                | {n: u[i] for i, n in enumerate(self.variables)})

    def point(self, u: Any, args: Any) -> Any:
        """The point (3×1 SX) where the variables are u (k×1 SX); args as `arguments`, SX."""
        names = self._names(u, args)
        return ca.SX(ca.vertcat(*[evaluation.evaluate(formula.parse(text), names)
                                  for text in self.texts]))


def variable(name: str, value: Evaluate, *path: Any) -> str:
    """A variable's name, as the key at `path` gives it; one that can't be is a problem, and ""."""
    value.identifier(name, *path)
    taken = "already a function or constant" if name in formula.RESERVED else \
        "a reserved word" if keyword.iskeyword(name) else ""
    if taken:
        value.problem(f'"{name}" is {taken}', *path, hint="rename it")
    return name if name.isascii() and name.isidentifier() and not taken else ""
