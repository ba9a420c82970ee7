"""All surface families by the name that a model file gives as `type`."""

from __future__ import annotations

from anyjoint.registry import Families
from anyjoint.surfaces.contract import Surface
from anyjoint.surfaces.formula import FormulaSurface
from anyjoint.surfaces.patches import Bezier, BSpline
from anyjoint.surfaces.quadrics import Ellipsoid, Plane
from anyjoint.surfaces.revolution import Cone, Cylinder, Paraboloid, Sphere, Torus

SURFACES = Families(Surface, (
    Plane, Sphere, Ellipsoid, Torus, Cylinder, Cone, Paraboloid, Bezier, BSpline, FormulaSurface),
    "anyjoint.surfaces")

__all__ = ["SURFACES", "Surface"]
