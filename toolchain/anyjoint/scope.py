"""Formulas of a document evaluated in its names: numbers, or expressions of p."""

from __future__ import annotations

import dataclasses
from typing import Any

import casadi as ca
import numpy as np

from anyjoint.errors import FormulaError, Problem, suggest
from anyjoint.frontend import evaluation, formula
from anyjoint.frontend.load import Document
from anyjoint.geometry import so3
from anyjoint.joints import JOINTS, FormulaJoint, Joint


@dataclasses.dataclass(frozen=True)
class Scope:
    """What formulas see, and where problems go. Calling it evaluates one formula; after a
    problem a stand-in comes back, so that the rest of the document is still checked."""

    document: Document
    p: Any  # SX symbols of the parameters
    names: dict[str, Any]  # constants and parameters, float or SX
    numbers: dict[str, float]  # the same at the parameters' defaults
    problems: list[Problem]
    path: tuple[Any, ...] = ()

    @staticmethod
    def of(document: Document, bake: bool) -> Scope:
        spec, problems = document.spec, list[Problem]()
        both = {**spec.constants, **spec.parameters}
        numbers, errors = evaluation.definitions(both)
        for name, e in errors.items():
            section = "parameters" if name in spec.parameters else "constants"
            problems.append(document.problem(e.message, (section, name), e.hint,
                                             offset=e.offset, length=e.length))
        for name in both:
            numbers.setdefault(name, 1.0)
        symbols = [] if bake else [ca.SX.sym(name) for name in spec.parameters]
        names: dict[str, Any] = dict(numbers)
        if symbols and not errors:
            names |= dict(zip(spec.parameters, symbols, strict=True))
            done: set[str] = set()
            for name in spec.constants:
                _define(name, spec.constants, names, done)
        return Scope(document, ca.vertcat(ca.SX(0, 1), *symbols), names, numbers, problems)

    def at(self, *path: Any) -> Scope:
        """The same scope for an absolute path of the document."""
        return dataclasses.replace(self, path=path)

    @property
    def joint_types(self) -> Any:
        return self.document.spec.joint_types

    def __call__(self, text: Any, *path: Any) -> Any:
        """float, or SX where it depends on p; `path` is relative to the scope's."""
        return self._evaluate(text, self.names, path)

    def number(self, text: Any, *path: Any) -> float:
        """float, with the parameters at their defaults."""
        return float(self._evaluate(text, self.numbers, path))

    def _evaluate(self, text: Any, names: dict[str, Any], path: tuple[Any, ...]) -> Any:
        if isinstance(text, float):
            return text
        try:
            return evaluation.evaluate(formula.parse(text), names)
        except FormulaError as e:
            self.formula_problem(e, *path)
            return 1.0

    def problem(self, message: str, *path: Any, hint: str = "", key: bool = False) -> None:
        self.problems.append(self.document.problem(message, (*self.path, *path), hint, key=key))

    def formula_problem(self, e: FormulaError, *path: Any) -> None:
        self.problems.append(self.document.problem(
            e.message, (*self.path, *path), e.hint, offset=e.offset, length=e.length))

    def joint(self, keys: Any, *path: Any) -> Joint:
        """The joint of validated keys that stand at `path`."""
        here = self.at(*self.path, *path)
        if keys.type in JOINTS:
            return JOINTS[keys.type](keys, here)
        definition = self.joint_types.get(keys.type)
        if definition is None:
            here.problem(f'unknown joint type "{keys.type}"', "type",
                         hint=suggest(keys.type, [*JOINTS, *self.joint_types], "types"))
            return JOINTS["fixed"](keys, here)
        for name in keys.model_extra or {}:
            if name not in definition.arguments:
                allowed = [*definition.arguments, *sorted(type(keys).model_fields)]
                here.problem(f'unknown key "{name}"', name, key=True,
                             hint=suggest(name, allowed, "allowed keys"))
        return FormulaJoint(keys, here, definition, ("joint_types", keys.type))


def _define(name: str, constants: dict[str, Any], names: dict[str, Any], done: set[str]) -> None:
    """Makes a constant that depends on parameters an expression of them."""
    done.add(name)
    parsed = formula.parse(constants[name])
    for other in parsed.names & constants.keys() - done:
        _define(other, constants, names, done)
    names[name] = evaluation.evaluate(parsed, names)


def pose(scope: Scope, keys: Any, *path: Any) -> tuple[Any, Any]:
    """(R, r) of a Pose, SX; round-off of right angles is cleaned."""
    r = ca.vertcat(*[scope(x, *path, "xyz", i) for i, x in enumerate(keys.xyz)])
    if keys.rpy is not None and keys.quat is not None:
        scope.problem("give rpy or quat, not both", *path)
    R = ca.SX.eye(3)
    if keys.rpy is not None:
        R = so3.rpy(*[scope(x, *path, "rpy", i) for i, x in enumerate(keys.rpy)])
    elif keys.quat is not None:
        quat = [scope(x, *path, "quat", i) for i, x in enumerate(keys.quat)]
        if all(isinstance(x, float) for x in quat) and np.linalg.norm(quat) < 1e-12:
            scope.problem("a quaternion can't be zero", *path, "quat", hint="(w, x, y, z)")
            quat = [1.0, 0.0, 0.0, 0.0]
        R = so3.quat_rotation(ca.SX(ca.vertcat(*quat)))
    R = ca.SX(R)
    return (_clean(R) if R.is_constant() else R), ca.SX(r)


def _clean(R: Any) -> Any:
    """Entries within round-off of 0, 1 and −1 are those: cos(90°) is not 6e-17."""
    entries = np.array(ca.DM(R))
    nearest = np.round(entries)
    return ca.SX(ca.DM(np.where(abs(entries - nearest) < 4e-16, nearest, entries)))


def spread(scope: Scope, value: Any, names: Any, default: Any, *path: Any,
           number: bool = False) -> list[Any]:
    """A PerCoordinate value as a list, one entry for each of `names`; `default` fills gaps
    (one value, or a list)."""
    defaults = list(default) if isinstance(default, (list, tuple)) else [default] * len(names)
    evaluate = scope.number if number else scope
    if value is None:
        return defaults
    if isinstance(value, dict):
        for name in value:
            if name not in names:
                scope.problem(f'no coordinate "{name}"', *path, name, key=True,
                              hint=suggest(name, names, "coordinates"))
        return [evaluate(value[n], *path, n) if n in value else d
                for n, d in zip(names, defaults, strict=True)]
    if isinstance(value, list):
        if len(value) != len(names):
            scope.problem(f"{len(value)} values for {len(names)} coordinates", *path,
                          hint="in this order: " + ", ".join(names))
            return defaults
        return [evaluate(x, *path, i) for i, x in enumerate(value)]
    return [evaluate(value, *path)] * len(names)


def spread_pairs(scope: Scope, value: Any, names: Any,
                 *path: Any) -> tuple[list[float], list[float]]:
    """Lower and upper ends of a range, ±inf where there is none."""
    n = len(names)
    if isinstance(value, list) and n and not isinstance(value[0], list):
        value = [value] * n  # one pair for all
        steps: list[tuple[Any, ...]] = [()] * n
    else:
        steps = [(i,) for i in range(n)]
    if isinstance(value, dict):
        steps = [(name,) for name in value]
        spread(scope, {k: 0.0 for k in value}, names, 0.0, *path)  # reports unknown names
        ends = {k: v for k, v in value.items() if k in names}
        given = [ends.get(name) for name in names]
        steps = [(name,) for name in names]
    elif value is None:
        given = [None] * n
    elif len(value) != n:
        scope.problem(f"{len(value)} ranges for {n} coordinates", *path,
                      hint="in this order: " + ", ".join(names))
        given = [None] * n
    else:
        given = value
    lower, upper = [-np.inf] * n, [np.inf] * n
    for i, pair in enumerate(given):
        if pair is not None:
            lower[i], upper[i] = (scope.number(x, *path, *steps[i], k) for k, x in enumerate(pair))
            if lower[i] > upper[i]:
                scope.problem(f"the lower end {lower[i]:g} is above the upper end {upper[i]:g}",
                              *path, *steps[i], hint="[lower, upper]")
    return lower, upper
