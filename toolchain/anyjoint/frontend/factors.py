"""Transforms by formula: the factors of a product, and joint types made of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

from pydantic import Field, model_validator

from anyjoint.frontend import formula
from anyjoint.frontend.fields import Axis, Formula, Strict, Vec3, Vec4, bad

Path = tuple[Any, ...]


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

    def formulas(self) -> Iterator[tuple[Path, Any]]:
        """Its own formulas with their paths below it."""
        for key in ("rotx", "roty", "rotz"):
            if getattr(self, key) is not None:
                yield (key,), getattr(self, key)
        for key in ("shift", "exp", "quat"):
            yield from (((key, i), x) for i, x in enumerate(getattr(self, key) or []))
        yield from ((("with", name), x) for name, x in (self.with_ or {}).items())
        if self.rotate is not None:
            yield ("rotate", "angle"), self.rotate.angle
            if isinstance(self.rotate.axis, list):
                yield from ((("rotate", "axis", i), x) for i, x in enumerate(self.rotate.axis))

    def names(self) -> set[str]:
        """Free names of its own formulas."""
        return {name for _, text in self.formulas() for name in formula.parse(text).names}


class Definition(Strict):
    """A joint type of a model file."""

    coordinates: dict[str, Formula] = Field(default={}, description="name: value at rest")
    arguments: dict[str, Formula] = Field(default={}, description="name: default")
    transform: list[Factor] = Field(
        description="product, top to bottom: the child in the joint frame")

    def outer_names(self, types: dict[str, Definition]) -> set[str]:
        """Names of the file that its formulas need, those of used types included."""
        return self._own_outer_names().union(
            *(types[name]._own_outer_names() for name in self.reach(types)))

    def _own_outer_names(self) -> set[str]:
        names = {n for default in self.arguments.values() for n in formula.parse(default).names}
        names = names.union(*(factor.names() for _, factor in self.factors()))
        return names - {*self.coordinates, *self.arguments}

    def factors(self) -> Iterator[tuple[Path, Factor]]:
        """All factors with their paths, those inside `inverse` too."""
        yield from _flat(self.transform, ("transform",))

    def uses(self) -> list[str]:
        """The joint types it names, as often as it does."""
        return [factor.use for _, factor in self.factors() if factor.use is not None]

    def reach(self, types: dict[str, Definition]) -> set[str]:
        """All joint types that it uses, directly or not."""
        found: set[str] = set()
        waiting = self.uses()
        while waiting:
            name = waiting.pop()
            if name in types and name not in found:
                found.add(name)
                waiting += types[name].uses()
        return found


def _flat(factors: list[Factor], path: Path) -> Iterator[tuple[Path, Factor]]:
    for i, factor in enumerate(factors):
        yield (*path, i), factor
        yield from _flat(factor.inverse or [], (*path, i, "inverse"))


def dump(definitions: Any) -> str:
    """Text that tells two definitions apart."""
    return "\n".join(f"{name} {d.model_dump_json()}" for name, d in sorted(definitions.items()))
