"""All joint families by the name that a model file gives as `type`."""

from __future__ import annotations

from typing import get_args

from anyjoint.joints.axis import Cylindrical, Helical, Prismatic, Revolute
from anyjoint.joints.composite import Composite
from anyjoint.joints.contract import Joint
from anyjoint.joints.formula import FormulaJoint
from anyjoint.joints.free import Free, FreeExp
from anyjoint.joints.rotation import Spherical, SphericalEuler, SphericalExp, Universal
from anyjoint.joints.translation import Fixed, Planar, Translational

_FAMILIES: tuple[type[Joint], ...] = (
    Fixed, Revolute, Prismatic, Helical, Cylindrical, Planar, Translational, Universal,
    Spherical, SphericalExp, SphericalEuler, Free, FreeExp, Composite, FormulaJoint)

JOINTS: dict[str, type[Joint]] = {
    get_args(family.Keys.model_fields["type"].annotation)[0]: family for family in _FAMILIES}

__all__ = ["JOINTS", "Composite", "FormulaJoint", "Joint"]
