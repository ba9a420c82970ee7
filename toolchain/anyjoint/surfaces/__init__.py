"""All surface families by the name that a model file gives as `type`."""

from __future__ import annotations

from anyjoint.registry import by_type
from anyjoint.surfaces.contract import Surface
from anyjoint.surfaces.revolution import Torus

SURFACES: dict[str, type[Surface]] = by_type((Torus,), "anyjoint.surfaces")

__all__ = ["SURFACES", "Surface"]
