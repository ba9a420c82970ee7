"""Curves by formula."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import casadi as ca
from pydantic import Field

from anyjoint.curves.contract import Curve
from anyjoint.frontend.fields import Formula, Strict, Vec3
from anyjoint.geometry.point_formula import PointFormula, variable
from anyjoint.joints.contract import Evaluate


class FormulaCurve(Curve):
    """A point by three formulas of u and the names of the file."""

    class Keys(Strict):
        type: Literal["formula"]
        point: Vec3 = Field(description="x, y, z as formulas of u")
        variable: str = Field(default="u", description="the name of u in them")
        domain: Annotated[list[Formula], Field(min_length=2, max_length=2)] | None = Field(
            default=None, description="[lower, upper] of u, which check samples; default: none")
        rest: Formula = Field(
            default=None, description="default: the middle of the domain, or 0")

    examples = (
        {"point": ["u - sin(u)", 0, "1 - cos(u)"], "domain": ["10*deg", "350*deg"]},
        {"point": ["cos(s)*(2 + cos(3*s))", "sin(s)*(2 + cos(3*s))", "sin(3*s)"],
         "variable": "s", "rest": 0.3})

    def __init__(self, keys: Any, value: Evaluate):
        name = variable(keys.variable, value, "variable")
        point = keys.point if name else ["u", 0.0, 0.0]
        self.formula = PointFormula(point, (name or "u",), value, ("point",))
        self.options, self.arguments = self.formula.options, self.formula.arguments
        u = ca.SX.sym("u")
        tangent = ca.jacobian(self.point(u, ca.SX.sym("a", len(self.arguments))), u)
        if tangent.nnz() and not ca.depends_on(tangent, u) and self.formula.texts == keys.point:
            self.no_frenet = "the formulas are those of a line, without curvature"
        elif self.formula.in_spline(name):
            self.no_frenet = "the third derivative of a table's spline jumps at its points"
        if keys.domain is not None:
            lower, upper = (value.number(x, "domain", i) for i, x in enumerate(keys.domain))
            if lower >= upper:
                value.problem(f"the domain from {lower:g} to {upper:g} is empty", "domain",
                              hint="[lower, upper]")
            else:
                ends = [value(x, "domain", i) for i, x in enumerate(keys.domain)]
                self.domain, self.rest = ((lower, upper),), ((ends[0] + ends[1]) / 2,)
        if keys.rest is not None:
            self.rest = (value(keys.rest, "rest"),)
            at = value.number(keys.rest, "rest")
            lower, upper = self.domain[0]
            if at < lower or at > upper:
                value.problem("the rest value lies outside the domain", "rest",
                              hint=f"from {lower:g} to {upper:g}")

    def point(self, u: Any, args: Any) -> Any:
        return self.formula.point(u, args)
