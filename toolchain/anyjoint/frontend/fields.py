"""The kinds of values that a model file is made of, as pydantic field types.

Formulas stay text in the spec; here they are only parsed, so that a syntax error
is found with every other error of the file. Tuples are lists with a fixed length,
the form of JSON Schema that yaml-language-server understands."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, PlainValidator, WithJsonSchema
from pydantic_core import PydanticCustomError

from anyjoint.errors import FormulaError
from anyjoint.frontend import formula

_FORMULA_SCHEMA: dict[str, Any] = {"type": ["number", "string"]}
_AXES = ("x", "y", "z", "-x", "-y", "-z")


def bad(message: str, hint: str = "", **context: Any) -> PydanticCustomError:
    """An error with a hint, as validators raise it."""
    context |= {"message": message, "hint": hint}
    return PydanticCustomError("anyjoint", "{message}", context)


def _formula(value: Any, dotted: bool = False) -> float | str:
    if isinstance(value, bool):
        raise bad("a boolean is never a number", "give a number or a formula")
    if isinstance(value, (int, float)):
        number = float(value) if isinstance(value, float) or abs(value) < 10**308 else math.inf
        if not math.isfinite(number):
            raise bad(f"{value} is not a finite number", "give a finite number")
        return number
    if not isinstance(value, str):
        raise bad(f"expected a number or a formula, got {_kind(value)}",
                  "for example 0.5, or 30*deg")
    try:
        formula.parse(value, dotted)
    except FormulaError as e:
        raise bad(e.message, e.hint, offset=e.offset, length=e.length) from None
    return value


def _kind(value: Any) -> str:
    names: dict[type, str] = {dict: "a mapping", list: "a list", str: "text", type(None): "nothing"}
    return next((name for t, name in names.items() if isinstance(value, t)), "a number")


def _items(item: Callable[[Any], Any], values: Iterable[Any], steps: Any = None) -> list[Any]:
    """item(x) of each; an error knows by its `step` which one it was."""
    out = []
    for i, x in enumerate(values):
        try:
            out.append(item(x))
        except PydanticCustomError as e:
            context = dict(e.context or {})
            context["step"] = [steps[i] if steps else i, *context.get("step", [])]
            raise PydanticCustomError("anyjoint", "{message}", context) from None
    return out


def _axis(value: Any) -> Any:
    if value in _AXES if isinstance(value, str) else False:
        return value
    if not isinstance(value, list) or len(value) != 3:
        raise bad(f"an axis is one of {', '.join(_AXES)} or a list of 3 numbers",
                  "for example [0, 1, 1]")
    return _items(_formula, value)


def _pair(value: Any) -> list[Any]:
    if not isinstance(value, list) or len(value) != 2:
        raise bad("expected a pair [lower, upper]", "for example [-90*deg, 90*deg]")
    return _items(_formula, value)


def _per_coordinate(item: Any, is_list_of: Any) -> Any:
    def validate(value: Any) -> Any:
        if isinstance(value, dict):
            return dict(zip(value, _items(item, value.values(), list(value)), strict=True))
        if isinstance(value, list) and is_list_of(value):
            return _items(item, value)
        return item(value)

    return validate


def _coordinate_formula(value: Any) -> float | str:
    return _formula(value, dotted=True)


Formula = Annotated[Any, PlainValidator(_formula), WithJsonSchema(_FORMULA_SCHEMA)]
CoordinateFormula = Annotated[  # may use joint.coordinate
    Any, PlainValidator(_coordinate_formula), WithJsonSchema(_FORMULA_SCHEMA)]
Vec3 = Annotated[list[Formula], Field(min_length=3, max_length=3)]
Vec4 = Annotated[list[Formula], Field(min_length=4, max_length=4)]
Axis = Annotated[
    Any,
    PlainValidator(_axis),
    WithJsonSchema({"anyOf": [
        {"enum": list(_AXES)},
        {"type": "array", "items": _FORMULA_SCHEMA, "minItems": 3, "maxItems": 3}]}),
]
# one value for all coordinates of a joint, a list in their order, or a mapping by name
PerCoordinate = Annotated[
    Any,
    PlainValidator(_per_coordinate(_formula, lambda value: True)),
    WithJsonSchema({"anyOf": [
        _FORMULA_SCHEMA,
        {"type": "array", "items": _FORMULA_SCHEMA},
        {"type": "object", "additionalProperties": _FORMULA_SCHEMA}]}),
]
_PAIR_SCHEMA = {"type": "array", "items": _FORMULA_SCHEMA, "minItems": 2, "maxItems": 2}
PairPerCoordinate = Annotated[
    Any,
    PlainValidator(_per_coordinate(_pair, lambda value: any(isinstance(x, list) for x in value))),
    WithJsonSchema({"anyOf": [
        _PAIR_SCHEMA,
        {"type": "array", "items": _PAIR_SCHEMA},
        {"type": "object", "additionalProperties": _PAIR_SCHEMA}]}),
]


class Strict(BaseModel):
    """Base of everything in a spec: frozen, no unknown keys, no coercion."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class Pose(Strict):
    """A frame in another one: a shift and at most one of rpy and quat."""

    xyz: Vec3 = Field(default=[0.0, 0.0, 0.0], description="position, m")
    rpy: Vec3 | None = Field(default=None, description="roll, pitch, yaw: Rz(y) Ry(p) Rx(r)")
    quat: Vec4 | None = Field(default=None, description="quaternion (w, x, y, z)")


class JointKeys(Strict):
    """Keys that every joint has; a family adds its own."""

    name: str | None = Field(default=None, description="default: the body's name")
    rest: PerCoordinate = Field(default=None, description="coordinates at rest")
    range: PairPerCoordinate = Field(default=None, description="[lower, upper] of the coordinates")
    velocity: PerCoordinate = Field(default=None, description="limit of the speed's magnitude")
    effort: PerCoordinate = Field(default=None, description="limit of the force's magnitude")
    damping: PerCoordinate = Field(default=None, description="force per velocity")
    friction: PerCoordinate = Field(default=None, description="Coulomb friction, smoothed by tanh")
    friction_velocity: PerCoordinate = Field(default=None, description="speed of that tanh")
    stiffness: PerCoordinate = Field(default=None, description="spring towards spring_rest")
    spring_rest: PerCoordinate = Field(default=None, description="default: the rest value")
    armature: PerCoordinate = Field(default=None, description="rotor inertia added to M")
