"""Transforms by formula: the factors of a product, and joint types made of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

from pydantic import Field, model_validator

from anyjoint.frontend import formula
from anyjoint.frontend.fields import Axis, Formula, Strict, Vec3, Vec4, bad


class Turn(Strict):
    axis: Axis
    angle: Formula


class Factor(Strict):
    """One factor of a transform: exactly one key (`with` goes with `use`)."""

    shift: Vec3 | None = Field(default=None, description="translation, m")
    rotx: Formula = Field(default=None, description="turn about x")
    roty: Formula = Field(default=None, description="turn about y")
    rotz: Formula = Field(default=None, description="turn about z")
    rotate: Turn | None = Field(default=None, description="turn about any axis")
    exp: Annotated[list[Formula], Field(min_length=3, max_length=6)] | None = Field(
        default=None, description="3 entries: rotation vector; 6: twist (ω; v)")
    quat: Vec4 | None = Field(default=None, description="(w, x, y, z), normalised")
    use: str | None = Field(default=None, description="another joint type of this file")
    with_: dict[str, Formula] | None = Field(
        default=None, alias="with", description="its coordinates and arguments")
    inverse: list[Factor] | None = Field(default=None, description="inverse of these factors")

    @model_validator(mode="after")
    def _one_key(self) -> Factor:
        given = [key for key in type(self).model_fields
                 if key != "with_" and getattr(self, key) is not None]
        if len(given) != 1:
            raise bad(f"a factor has exactly one key, not {len(given)}",
                      "shift, rotx, roty, rotz, rotate, exp, quat, use (and with) or inverse")
        if self.with_ is not None and self.use is None:
            raise bad('"with" goes with "use"', "name the joint type: use: NAME")
        if self.exp is not None and len(self.exp) not in (3, 6):
            raise bad(f"exp takes 3 or 6 formulas, not {len(self.exp)}")
        return self

    def names(self) -> set[str]:
        """Free names of this factor's own formulas."""
        texts = [*(self.shift or []), *(self.exp or []), *(self.quat or []),
                 *(self.with_ or {}).values(), self.rotx, self.roty, self.rotz]
        if self.rotate is not None:
            axis = [] if isinstance(self.rotate.axis, str) else self.rotate.axis
            texts += [self.rotate.angle, *axis]
        return {name for text in texts if text is not None for name in formula.parse(text).names}


class Definition(Strict):
    """A joint type of a model file."""

    coordinates: dict[str, Formula] = Field(default={}, description="name: value at rest")
    arguments: dict[str, Formula] = Field(default={}, description="name: default")
    transform: list[Factor] = Field(
        description="product, top to bottom: the child in the joint frame")

    def outer_names(self, types: dict[str, Definition], seen: tuple[str, ...] = ()) -> set[str]:
        """Names of the file that its formulas need, those of used types included."""
        names = {n for default in self.arguments.values() for n in formula.parse(default).names}
        for factor in _flat(self.transform):
            names |= factor.names()
        names -= {*self.coordinates, *self.arguments}
        for factor in _flat(self.transform):
            if factor.use in types and factor.use not in seen:
                names |= types[factor.use].outer_names(types, (*seen, factor.use))
        return names


def _flat(factors: list[Factor]) -> Iterator[Factor]:
    for factor in factors:
        yield factor
        yield from _flat(factor.inverse or [])


def dump(definitions: Any) -> str:
    """Text that tells two definitions apart."""
    return "\n".join(f"{name} {d.model_dump_json()}" for name, d in sorted(definitions.items()))
