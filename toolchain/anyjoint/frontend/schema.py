"""The model file as pydantic models: what is allowed where. The JSON Schema for
editors and the validation come from the same text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Union

from pydantic import ConfigDict, Discriminator, Field, PlainValidator, Tag, WithJsonSchema

from anyjoint.curves import CURVES
from anyjoint.frontend.entries import (
    Actuator,
    AnyConstraint,
    AnyCoupling,
    AnyForce,
    Entry,
    Frame,
    Table,
)
from anyjoint.frontend.factors import Definition
from anyjoint.frontend.fields import Formula, JointKeys, PerCoordinate, Pose, Strict, Vec3, bad
from anyjoint.frontend.solids import AnyShape
from anyjoint.joints import JOINTS
from anyjoint.surfaces import SURFACES

# -- joints: every registered family, and the joint types of the file --------------

JOINT_TYPES = "joint_types"  # the tag of those


class UserJoint(JointKeys):
    """A joint whose type is declared in `joint_types`; other keys are its arguments."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, Formula]
    type: str = Field(json_schema_extra={"not": {"enum": [*sorted(JOINTS)]}})


def _joint_tag(value: Any) -> str | None:
    kind = value.get("type") if isinstance(value, dict) else getattr(value, "type", None)
    return kind if isinstance(kind, str) and kind in JOINTS else JOINT_TYPES


def _union(families: dict[str, Any]) -> Any:
    """The keys of any of these families, told apart by `type`."""
    return Annotated[Union[tuple(f.Keys for f in families.values())],  # noqa: UP007
                     Field(discriminator="type")]


_MEMBERS = (*(Annotated[family.Keys, Tag(name)] for name, family in JOINTS.items()),
            Annotated[UserJoint, Tag(JOINT_TYPES)])
if TYPE_CHECKING:
    AnyJoint = Any
    AnyCurve = Any
    AnySurface = Any
else:
    AnyJoint = Annotated[Union[_MEMBERS], Discriminator(_joint_tag)]  # noqa: UP007
    AnyCurve = _union(CURVES)
    AnySurface = _union(SURFACES)
_UNIONS = {"AnyJoint": AnyJoint, "AnyCurve": AnyCurve, "AnySurface": AnySurface}
_FAMILIES: tuple[Any, ...] = (*CURVES.values(), *SURFACES.values(), *JOINTS.values())
for family in _FAMILIES:
    family.Keys.model_rebuild(_types_namespace=_UNIONS)


# -- bodies ----------------------------------------------------------------------------


class InertiaTensor(Strict):
    """Tensor entries about the com, body axes (URDF's signs)."""

    xx: Formula
    yy: Formula
    zz: Formula
    xy: Formula = 0.0
    xz: Formula = 0.0
    yz: Formula = 0.0


def _inertia_tag(value: Any) -> str:
    return "list" if isinstance(value, list) else "tensor"


Inertia = Annotated[Union[Annotated[Vec3, Tag("list")],  # noqa: UP007
                          Annotated[InertiaTensor, Tag("tensor")]], Discriminator(_inertia_tag)]


class Body(Entry):
    parent: str = Field(description="a body, or world")
    joint: AnyJoint
    origin: Pose = Field(default=Pose(), description="the joint frame in the parent")
    child_origin: Pose = Field(default=Pose(), description="the joint frame in this body")
    mass: Formula = Field(default=None, description="kg")
    com: Vec3 | None = Field(default=None, description="centre of mass in the body frame, m")
    inertia: Inertia | None = Field(default=None, description="about the com, body axes, kg m²")
    shapes: list[AnyShape] = Field(default=[], description="inertia and picture in one")
    frames: dict[str, Pose] = Field(default={}, description="named frames on this body")
    check_inertia: bool = Field(default=True, description="false: no triangle inequality")


# -- the file ----------------------------------------------------------------------------


def _version(value: Any) -> int:
    if type(value) is not int or value != 1:
        raise bad("expected 1, the version of the format", "write anyjoint: 1")
    return value


class Model(Strict):
    """A mechanism: bodies, the joints between them, and what acts on them."""

    anyjoint: Annotated[int, PlainValidator(_version), WithJsonSchema({"const": 1})] = Field(
        description="version of the format")
    name: str = Field(description="prefix of every C symbol")
    include: str | list[str] | None = Field(default=None, description="files merged into this one")
    gravity: Vec3 = Field(default=[0.0, 0.0, -9.81], description="world axes, m/s²")
    check_inertia: bool = Field(default=True, description="false: no triangle inequality")
    constants: dict[str, Formula] = Field(default={}, description="folded into the code")
    parameters: dict[str, Formula] = Field(default={}, description="run-time inputs p: defaults")
    tables: dict[str, Table] = Field(default={}, description="of spline(x, table) in formulas")
    joint_types: dict[str, Definition] = Field(default={}, description="joints by formula")
    bodies: Annotated[dict[str, Body], Field(min_length=1)]
    frames: dict[str, Frame] = {}
    actuators: dict[str, Actuator] | None = Field(default=None, description="left out: u = tau")
    forces: dict[str, AnyForce] = {}
    couplings: dict[str, AnyCoupling] = Field(
        default={}, description="coordinates as formulas of other coordinates")
    constraints: dict[str, AnyConstraint] = Field(
        default={}, description="what forces keep: rolling, closed loops, formulas")
    states: dict[str, dict[str, PerCoordinate]] = Field(
        default={}, description="named configurations; others at rest")


def json_schema() -> dict[str, Any]:
    """The JSON Schema of a model file, for editors."""
    schema = Model.model_json_schema(by_alias=True)
    return {"$schema": "http://json-schema.org/draft-07/schema#"} | schema
