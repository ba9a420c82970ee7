"""All curve families by the name that a model file gives as `type`."""

from __future__ import annotations

from anyjoint.curves.conics import Circle, Ellipse, Helix, Line
from anyjoint.curves.contract import Curve
from anyjoint.curves.formula import FormulaCurve
from anyjoint.curves.polynomial import Bezier, Polynomial
from anyjoint.curves.spline import BSpline
from anyjoint.registry import Families

CURVES = Families(Curve, (Line, Circle, Ellipse, Helix, Polynomial, Bezier, BSpline, FormulaCurve),
                  "anyjoint.curves")

__all__ = ["CURVES", "Curve"]
