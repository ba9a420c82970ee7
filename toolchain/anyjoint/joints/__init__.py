"""All joint families by the name that a model file gives as `type`."""

from __future__ import annotations

from anyjoint.joints.axis import Cylindrical, Helical, Prismatic, Revolute
from anyjoint.joints.composite import Composite
from anyjoint.joints.contract import Joint
from anyjoint.joints.curve import CurveCurve, CurveJoint
from anyjoint.joints.formula import FormulaJoint
from anyjoint.joints.free import Free, FreeExp
from anyjoint.joints.rolling import Rolling
from anyjoint.joints.rotation import Spherical, SphericalEuler, SphericalExp, Universal
from anyjoint.joints.spline_frames import SplineCurve, SplineSurface
from anyjoint.joints.surface import Contact, CurveSurface, SurfaceJoint, SurfaceSurface
from anyjoint.joints.translation import Fixed, Planar, Translational
from anyjoint.registry import Families

_FAMILIES: tuple[type[Joint], ...] = (
    Fixed, Revolute, Prismatic, Helical, Cylindrical, Planar, Translational, Universal,
    Spherical, SphericalExp, SphericalEuler, Free, FreeExp, CurveJoint, CurveCurve,
    SurfaceJoint, SurfaceSurface, Contact, CurveSurface, SplineCurve, SplineSurface,
    Rolling, Composite, FormulaJoint)

JOINTS = Families(Joint, _FAMILIES, "anyjoint.joints")

__all__ = ["JOINTS", "Composite", "FormulaJoint", "Joint"]
