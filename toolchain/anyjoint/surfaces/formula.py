"""Surfaces by formula."""

from __future__ import annotations

import itertools
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field

from anyjoint.frontend.fields import Formula, Strict, Vec3
from anyjoint.frontend.formula import parse
from anyjoint.geometry.point_formula import PointFormula
from anyjoint.joints.contract import Evaluate
from anyjoint.surfaces.contract import Surface

Pair = Annotated[list[Formula], Field(min_length=2, max_length=2)]


class FormulaSurface(Surface):
    """A point by three formulas of u, w and the names of the file."""

    class Keys(Strict):
        type: Literal["formula"]
        point: Vec3 = Field(description="x, y, z as formulas of u and w")
        domain: Annotated[list[Pair], Field(min_length=2, max_length=2)] | None = Field(
            default=None, description="[lower, upper] of u and of w; default: no bounds")
        rest: Pair | None = Field(
            default=None, description="u and w; default: the middle of the domain, or 0")

    examples = (
        {"point": ["u + 0.2*w", "w", "0.3*sin(u)*cos(2*w)"]},
        {"point": ["(2 + w*cos(u/2))*cos(u)", "(2 + w*cos(u/2))*sin(u)", "w*sin(u/2)"],
         "domain": [["-pi", "pi"], [-0.5, 0.5]], "rest": [0.2, 0.1]})
    advice = "where ∂f/∂u and ∂f/∂w are parallel or zero there is no normal: give {u}, {w} a range"

    def __init__(self, keys: Any, value: Evaluate):
        self.formula = PointFormula(keys.point, ("u", "w"), value, ("point",))
        self.options, self.arguments = self.formula.options, self.formula.arguments
        at = [0.0, 0.0]
        if keys.domain is not None:
            self.domain = tuple(self._interval(pair, value, i)
                                for i, pair in enumerate(keys.domain))
            at = [(lower + upper) / 2 for lower, upper in self.domain]
            self.rest = tuple((value(a, "domain", i, 0) + value(b, "domain", i, 1)) / 2
                              for i, (a, b) in enumerate(keys.domain))
        if keys.rest is not None:
            at = [value.number(x, "rest", i) for i, x in enumerate(keys.rest)]
            self.rest = tuple(value(x, "rest", i) for i, x in enumerate(keys.rest))
            for i, (x, (lower, upper)) in enumerate(zip(at, self.domain, strict=True)):
                if x < lower or x > upper:
                    value.problem("the rest value lies outside the domain", "rest", i,
                                  hint=f"from {lower:g} to {upper:g}")
        used = {name for text in self.formula.texts for name in parse(text).names}
        if self.formula.texts == list(keys.point) and used >= {"u", "w"}:  # else reported
            self._check_tangents(value, at)

    @staticmethod
    def _interval(pair: Any, value: Evaluate, i: int) -> tuple[float, float]:
        lower, upper = (value.number(x, "domain", i, j) for j, x in enumerate(pair))
        if lower >= upper:
            value.problem(f"the domain from {lower:g} to {upper:g} is empty", "domain", i,
                          hint="[lower, upper]")
        return lower, upper

    def _check_tangents(self, value: Evaluate, at: list[float]) -> None:
        """Notes a problem if no sampled point around `at`, which is rest, has a normal, at the
        parameters' defaults."""
        lines = [np.linspace(max(lower, x - 1), min(upper, x + 1), 7)
                 for x, (lower, upper) in zip(at, self.domain, strict=True)]
        grid = [(float(u), float(w)) for u, w in itertools.product(*lines)]
        args = [value.number(name) for name in self.formula.inputs]
        sound = np.isfinite(args).all() and np.isfinite(grid).all()  # else reported
        if sound and len(self.parallel(args, grid)) == len(grid):
            value.problem("∂f/∂u and ∂f/∂w are parallel everywhere: no surface", "point",
                          hint="u and w must move the point in two directions")

    def point(self, u: Any, args: Any) -> Any:
        return self.formula.point(u, args)
