"""Formulas of a document evaluated in its names: numbers, or expressions of p."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Callable
from typing import Any

import casadi as ca

from anyjoint.build import foreign, tables, values
from anyjoint.curves import CURVES, Curve
from anyjoint.errors import FormulaError, Problem, suggest
from anyjoint.frontend import evaluation, formula
from anyjoint.frontend.load import Document
from anyjoint.frontend.source import dotted
from anyjoint.joints import JOINTS, FormulaJoint, Joint
from anyjoint.surfaces import SURFACES, Surface

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_MAX_NAME = 63  # what every C compiler keeps apart


@dataclasses.dataclass(frozen=True)
class Scope:
    """What formulas see, and where problems go. Calling it evaluates one formula; after a
    problem a stand-in comes back, so that the rest of the document is still checked."""

    document: Document
    p: Any  # SX symbols of the parameters
    names: dict[str, Any]  # constants and parameters, float or SX, and tables
    numbers: dict[str, Any]  # the same at the parameters' defaults
    lost: frozenset[str]  # names without a value, because of a problem
    problems: list[Problem]
    replaced: set[str] = dataclasses.field(default_factory=set)  # stand-ins, see Document
    path: tuple[Any, ...] = ()

    @staticmethod
    def of(document: Document, bake: bool) -> Scope:
        spec, problems = document.spec, list[Problem]()
        both = {**spec.constants, **spec.parameters, **spec.constants}  # a clash: see checks
        made = {formula.TABLE + name: tables.Points(keys) for name, keys in spec.tables.items()}
        numbers, errors = evaluation.definitions({**both, **made})
        for name, e in errors.items():
            if name in made:
                continue  # see tables.check
            section = "constants" if name in spec.constants else "parameters"
            problems.append(document.problem(e.message, (section, name), e.hint,
                                             offset=e.offset, length=e.length))
        lost = frozenset({*both, *made} - numbers.keys())
        numbers |= {name: tables.ONE if name in made else 1.0 for name in lost}
        names: dict[str, Any] = dict(numbers)
        symbols = [] if bake else [ca.SX.sym(name) for name in spec.parameters]
        if symbols and not lost:
            names |= dict(zip(spec.parameters, symbols, strict=True))
            constants, _ = evaluation.definitions(spec.constants, names, evaluation.as_value)
            names |= constants
        p = ca.vertcat(ca.SX(0, 1), *symbols)
        scope = Scope(document, p, names, numbers, lost, problems)
        for name, keys in spec.tables.items():
            tables.check(scope.at("tables", name), keys)
        return scope

    def at(self, *path: Any) -> Scope:
        """The same scope for an absolute path of the document."""
        return dataclasses.replace(self, path=path)

    @property
    def joint_types(self) -> Any:
        return self.document.spec.joint_types

    def __call__(self, text: Any, *path: Any) -> Any:
        """float, or SX where it depends on p; `path` is relative to the scope's."""
        result = self._evaluate(text, self.names, path)
        if not isinstance(result, float):
            default = self._evaluate(text, self.numbers, path)  # finite there at least?
            result = default if math.isnan(default) else result
        return result

    def number(self, text: Any, *path: Any) -> float:
        """float, with the parameters at their defaults."""
        return float(self._evaluate(text, self.numbers, path))

    def constant(self, text: Any, *path: Any) -> float:
        """float that does not depend on p; one that does is a problem."""
        return float(self._evaluate(text, self.names, path, evaluation.as_number))

    def _evaluate(self, text: Any, names: dict[str, Any], path: tuple[Any, ...],
                  value: Callable[..., Any] = evaluation.as_value) -> Any:
        if isinstance(text, float):
            return text
        try:
            return math.nan if formula.parse(text).names & self.lost else value(text, names)
        except FormulaError as e:
            self.formula_problem(e, *path)
            return math.nan  # no check of values finds fault with it

    def identifier(self, name: str, *path: Any, key: bool = False) -> None:
        """Notes a problem where a name is no identifier."""
        if not _IDENTIFIER.match(name):
            self.problem(f'"{name}" is no identifier', *path, key=key,
                         hint="letters, digits and _, not a digit first")
        elif len(name) > _MAX_NAME:
            self.problem(f"a name has at most {_MAX_NAME} characters", *path, key=key)

    def problem(self, message: str, *path: Any, hint: str = "", key: bool = False) -> None:
        self.problems.append(self.document.problem(message, (*self.path, *path), hint, key=key))

    def formula_problem(self, e: FormulaError, *path: Any) -> None:
        self.problems.append(self.document.problem(
            e.message, (*self.path, *path), e.hint, offset=e.offset, length=e.length))

    def positive(self, text: Any, *path: Any) -> Any:
        """A value that is positive at the parameters' defaults."""
        if self.number(text, *path) <= 0:
            self.problem(f"{path[-1]} is not positive", *path, hint="> 0")
        return self(text, *path)

    def curve(self, keys: Any, *path: Any) -> Curve:
        """The curve of validated keys that stand at `path`."""
        curve: Curve = self._family(CURVES, "line", keys, path)
        return curve

    def surface(self, keys: Any, *path: Any) -> Surface:
        """The surface of validated keys that stand at `path`."""
        surface: Surface = self._family(SURFACES, "plane", keys, path)
        return surface

    def _family(self, families: Any, stand_in: str, keys: Any, path: Any) -> Any:
        """What a registered family makes of keys that stand at `path`."""
        here = self.at(*self.path, *path)

        def plain() -> Any:
            return families[stand_in](families[stand_in].Keys(type=stand_in), here)

        return foreign.made(families[keys.type], keys, here, plain)

    def pose(self, keys: Any, *path: Any) -> tuple[Any, Any]:
        """(R, r), SX, of a Pose that stands at `path`."""
        return values.pose(self, keys, *path)

    def joint(self, keys: Any, *path: Any) -> Joint:
        """The joint of validated keys that stand at `path`."""
        here = self.at(*self.path, *path)
        if keys.type in JOINTS:
            joint: Joint = self._family(JOINTS, "fixed", keys, path)
            return joint
        definition = self.joint_types.get(keys.type)
        if definition is None:
            types = suggest(keys.type, [*JOINTS, *self.joint_types], "types")
            here.problem(f'unknown joint type "{keys.type}"', "type",
                         hint=JOINTS.failed.get(keys.type, types))
            self.replaced.add(dotted(here.path))
            return JOINTS["fixed"](keys, here)
        for name in keys.model_extra or {}:
            if name not in definition.arguments:
                allowed = [*definition.arguments, *sorted(type(keys).model_fields)]
                here.problem(f'unknown key "{name}"', name, key=True,
                             hint=suggest(name, allowed, "allowed keys"))
        return FormulaJoint(keys, here, definition, ("joint_types", keys.type))
