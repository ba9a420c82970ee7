"""All curve families by the name that a model file gives as `type`."""

from __future__ import annotations

from anyjoint.curves.conics import Circle, Ellipse, Helix, Line
from anyjoint.curves.contract import Curve
from anyjoint.registry import by_type

CURVES: dict[str, type[Curve]] = by_type((Line, Circle, Ellipse, Helix), "anyjoint.curves")

__all__ = ["CURVES", "Curve"]
