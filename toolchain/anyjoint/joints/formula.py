"""The user's own joints: a product of factors whose entries are formulas of the
coordinates, the arguments and the names of the file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import casadi as ca

from anyjoint.errors import FormulaError
from anyjoint.frontend import definitions, evaluation, formula
from anyjoint.frontend.factors import Definition, Factor, Path, Turn, dump
from anyjoint.frontend.fields import JointKeys
from anyjoint.geometry import se3, so3
from anyjoint.joints.axis import UNIT
from anyjoint.joints.contract import Evaluate, Joint
from anyjoint.joints.motion import Chart, Motion


class FormulaKeys(JointKeys, Definition):
    type: Literal["formula"]


class FormulaJoint(Joint):
    """`definition` comes from `joint_types`, or from the joint itself."""

    Keys = FormulaKeys
    examples = (
        {"coordinates": {"u": 0.3, "w": 0.2}, "arguments": {"L": 0.7},
         "transform": [
             {"shift": ["L*cos(u)", "L*sin(u)", "u*w"]}, {"rotx": "w**2"},
             {"rotate": {"axis": [0, 1, 1], "angle": "u*w"}},
             {"inverse": [{"rotz": "u"}, {"shift": [0, "w", 0]}]}]},
        {"coordinates": {"a": 0.1, "b": 0.2, "c": 0.3},
         "transform": [
             {"exp": ["a", "b*a", "c"]}, {"quat": [1, "a", "b", "a*c"]},
             {"exp": ["b", 0, "a", "c", "a", "b"]},
             {"rotate": {"axis": [1, "a", "b"], "angle": "atan2(c, 1 + b**2)"}}]},
    )

    def __init__(self, keys: Any, value: Evaluate, definition: Definition | None = None,
                 place: Path | None = None):
        """`place`: path of the definition in the document, where it isn't the joint's own."""
        self.definition = definition if definition is not None else keys
        self.types: dict[str, Definition] = value.joint_types
        at = value if place is None else value.at(*place)
        self.q_names = tuple(self.definition.coordinates)
        self.rest = [at(x, "coordinates", n) for n, x in self.definition.coordinates.items()]
        given = getattr(keys, "model_extra", None) or {}
        own = {n: value(given[n], n) if n in given else at(default, "arguments", n)
               for n, default in self.definition.arguments.items()}
        found = list(definitions.problems(self.definition, self.types, value.names,
                                          place[-1] if place else ""))
        if place is None or keys is None:  # else reported with the definition
            for path, error in found:
                at.formula_problem(error, *path)
        if place is None:
            for name in self.definition.coordinates:
                value.identifier(name, "coordinates", name, key=True)
        used = self.definition.outer_names(self.types)
        outer = {n: x for n, x in value.names.items() if n in used}
        # Numbers and tables are folded into the kernel; what depends on p is an argument of it.
        self.own = {n: x for n, x in own.items() if not isinstance(x, ca.SX)}
        self.outer = {n: x for n, x in outer.items() if not isinstance(x, ca.SX)}
        self.own_inputs = tuple(n for n in own if n not in self.own)
        self.outer_inputs = tuple(n for n in outer if n not in self.outer)
        self.arguments = [own[n] for n in self.own_inputs] + [outer[n] for n in self.outer_inputs]
        reached = {n: self.types[n] for n in self.definition.reach(self.types)}
        self.options = (dump(reached | {"": self.definition}), *sorted(self.own.items()),
                        *sorted(self.outer.items()), self.own_inputs, self.outer_inputs)
        if not found:
            self._try(at)

    def _try(self, at: Evaluate) -> None:
        """Evaluates the transform once, so that an error is found with its place."""
        q, args = ca.SX.sym("q", self.nq), ca.SX.sym("a", len(self.arguments))
        try:
            self.motion(Chart(q, ca.SX.eye(self.nq)), args)
        except Misplaced as e:
            at.formula_problem(e.error, *e.path)

    def motion(self, chart: Chart, args: Any) -> Motion:
        symbols = [args[i] for i in range(len(self.arguments))]
        n = len(self.own_inputs)
        outer = self.outer | dict(zip(self.outer_inputs, symbols[n:], strict=True))
        own = self.own | dict(zip(self.own_inputs, symbols[:n], strict=True))
        own |= {name: chart.q[i] for i, name in enumerate(self.q_names)}
        product = _Product(chart, self.types, outer)
        return product.of(self.definition.transform, outer | own, ("transform",))


class Misplaced(Exception):
    """A formula error and the path to it inside the definition."""

    def __init__(self, error: FormulaError, path: Path):
        super().__init__(error.message)
        self.error, self.path = error, path


@dataclass(frozen=True)
class _Product:
    """Multiplies factors; `outer` are the names that every definition of the file sees."""

    chart: Chart
    types: dict[str, Definition]
    outer: dict[str, Any]

    def of(self, factors: list[Factor], env: dict[str, Any], path: Path) -> Motion:
        G = self.chart.fixed(ca.SX.eye(3), ca.SX(3, 1))
        for i, factor in enumerate(factors):
            G = G @ self._factor(factor, env, (*path, i))
        return G

    def _factor(self, f: Factor, env: dict[str, Any], path: Path) -> Motion:
        chart = self.chart

        def entries(key: str) -> Any:
            return ca.SX(ca.vertcat(*[_evaluate(x, env, (*path, key, i))
                                      for i, x in enumerate(getattr(f, key))]))

        for key in ("rotx", "roty", "rotz"):
            if getattr(f, key) is not None:
                return chart.turn(UNIT[key[-1]], _evaluate(getattr(f, key), env, (*path, key)))
        if f.shift is not None:
            return chart.shift(entries("shift"))
        if f.rotate is not None:
            return self._rotate(f.rotate, env, (*path, "rotate"))
        if f.exp is not None:
            w = entries("exp")
            return chart.exp(w) if len(f.exp) == 3 else chart.derived(*se3.exp_se3(w))
        if f.quat is not None:
            quat = entries("quat")
            if quat.is_constant() and ca.DM(quat).is_zero():
                raise Misplaced(FormulaError("a quaternion can't be zero"), (*path, "quat"))
            return _quaternion(chart, quat)
        if f.inverse is not None:
            return self.of(f.inverse, env, (*path, "inverse")).inverse()
        return self._use(f, env, path)

    def _rotate(self, turn: Turn, env: dict[str, Any], path: Path) -> Motion:
        angle = _evaluate(turn.angle, env, (*path, "angle"))
        if isinstance(turn.axis, str):
            sign = -1.0 if turn.axis.startswith("-") else 1.0
            return self.chart.turn(UNIT[turn.axis[-1]], sign * angle)
        axis = ca.SX(ca.vertcat(*[_evaluate(x, env, (*path, "axis", i))
                                  for i, x in enumerate(turn.axis)]))
        if axis.is_constant() and float(ca.norm_2(ca.DM(axis))) < 1e-12:
            raise Misplaced(FormulaError("an axis can't be zero"), (*path, "axis"))
        axis = axis / ca.norm_2(axis)
        if ca.depends_on(axis, self.chart.q):
            return self.chart.derived(so3.rot_axis(axis, angle), ca.SX(3, 1))
        return self.chart.turn(axis, angle)

    def _use(self, f: Factor, env: dict[str, Any], path: Path) -> Motion:
        """Another type of the file; definitions.py has checked its name and arguments."""
        other, given = self.types[str(f.use)], f.with_ or {}
        inner = {n: _evaluate(x, self.outer, (*path, "use")) for n, x in other.arguments.items()
                 if n not in given}
        inner |= {n: _evaluate(x, env, (*path, "with", n)) for n, x in given.items()}
        try:
            return self.of(other.transform, self.outer | inner, ())
        except Misplaced as e:  # inside the other type: this use of it is the place
            raise Misplaced(e.error, (*path, "use")) from None


def _evaluate(text: Any, env: dict[str, Any], path: Path) -> Any:
    try:
        return evaluation.evaluate(formula.parse(text), env)
    except FormulaError as e:
        raise Misplaced(e, path) from None


def _quaternion(chart: Chart, quat: Any) -> Motion:
    """ω = 2 vec(q* ⊗ q̇) / ‖q‖², whatever the norm."""
    S = 4 * so3.quat_rate_matrix(quat).T @ chart.rate(quat) / ca.sumsqr(quat)
    return Motion(so3.quat_rotation(quat), ca.SX(3, 1), ca.vertcat(S, ca.SX(3, chart.nv)))
