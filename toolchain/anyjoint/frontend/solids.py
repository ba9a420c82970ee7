"""Shapes of bodies, as keys of a model file."""

from __future__ import annotations

from typing import Annotated, Literal, Union

from pydantic import Field, model_validator

from anyjoint.frontend.fields import Formula, Pose, Strict, Vec3, bad


class ShapeKeys(Strict):
    """Keys that every shape has. Without density and mass it is only a picture."""

    density: Formula = Field(default=None, description="kg/m³")
    mass: Formula = Field(default=None, description="kg")
    origin: Pose = Field(default=Pose(), description="the shape's frame in the body")
    color: str | None = Field(default=None, description="for the picture, such as #3377cc")

    @model_validator(mode="after")
    def _density_or_mass(self) -> ShapeKeys:
        if self.density is not None and self.mass is not None:
            raise bad("a shape has a density or a mass, not both", "remove one of them")
        return self


class Box(ShapeKeys):
    type: Literal["box"]
    size: Vec3 = Field(description="edge lengths, m")


class Sphere(ShapeKeys):
    type: Literal["sphere"]
    radius: Formula


class Ellipsoid(ShapeKeys):
    type: Literal["ellipsoid"]
    radii: Vec3 = Field(description="half axes, m")


class Cylinder(ShapeKeys):
    type: Literal["cylinder"]
    radius: Formula
    length: Formula = Field(description="along z, centred")


class Capsule(ShapeKeys):
    type: Literal["capsule"]
    radius: Formula
    length: Formula = Field(description="of the cylindrical part, along z, centred")


class Torus(ShapeKeys):
    type: Literal["torus"]
    radius: Formula = Field(description="of the ring's centre line, about z")
    tube: Formula = Field(description="radius of the tube")


class Cone(ShapeKeys):
    type: Literal["cone"]
    radius: Formula = Field(description="of the base, which is centred at the origin")
    length: Formula = Field(description="apex at z = length")


AnyShape = Annotated[Union[Box, Sphere, Ellipsoid, Cylinder, Capsule, Torus, Cone],  # noqa: UP007
                     Field(discriminator="type")]
