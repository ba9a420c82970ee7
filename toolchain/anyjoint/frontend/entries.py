"""Entries of the sections beside the bodies: tables, frames, actuators, forces, couplings,
constraints."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal, Union

from pydantic import Discriminator, Field, Tag

from anyjoint.frontend.fields import CoordinateFormula, Formula, Pose, Strict, Vec3

Bounds = Annotated[list[Formula], Field(min_length=2, max_length=2)]
Points = Annotated[list[Formula], Field(min_length=2, max_length=1000)]


class Entry(Strict):
    """An entry of a section; `repeat` makes several of it, `<k>` in its texts counts."""

    repeat: dict[str, Bounds] | None = Field(default=None, description="k: [first, last]")


class Table(Strict):
    """Points of a cubic spline, `spline(x, NAME)` in formulas."""

    x: Points = Field(description="increasing")
    y: Points
    ends: Literal["not_a_knot", "natural", "opensim"] = Field(
        default="not_a_knot", description="conditions at the two ends")
    outside: Literal["extend", "linear", "periodic"] = Field(
        default="extend", description="beyond the first and last point")


class Frame(Entry, Pose):
    body: str = Field(description="a body, or world")


class Actuator(Entry):
    joint: str = Field(description="joint, or joint.coordinate")
    gear: Formula = Field(default=1.0, description="tau = gear u")
    limit: Formula = Field(default=None, description="largest magnitude of u")


class Spring(Entry):
    """A spring and damper along the line between the origins of two frames."""

    type: Literal["spring"]
    from_: str = Field(alias="from", description="frame, body or world")
    to: str = Field(description="frame, body or world")
    stiffness: Formula = 0.0
    damping: Formula = 0.0
    length: Formula = Field(default=0.0, description="unstretched length, m")


class ConstantForce(Entry):
    """A constant force and moment at a frame's origin, in world or body axes."""

    type: Literal["constant"]
    frame: str = Field(description="frame or body")
    force: Vec3 = [0.0, 0.0, 0.0]
    moment: Vec3 = [0.0, 0.0, 0.0]
    axes: Literal["world", "body"] = "world"


class Drag(Entry):
    """A wrench against the frame's twist: −damping (ω; v), in the frame's axes."""

    type: Literal["drag"]
    frame: str = Field(description="frame or body")
    angular: Formula = Field(default=0.0, description="moment per angular velocity")
    linear: Formula = Field(default=0.0, description="force per velocity")


AnyForce = Annotated[Union[Spring, ConstantForce, Drag], Field(discriminator="type")]  # noqa: UP007


class Coupling(Entry):
    """The long form of a coupling, for `repeat`."""

    formula: CoordinateFormula = Field(description="of other coordinates")


def _coupling_tag(value: Any) -> str:
    return "entry" if isinstance(value, (dict, Coupling)) else "formula"


AnyCoupling = Annotated[
    Union[Annotated[CoordinateFormula, Tag("formula")], Annotated[Coupling, Tag("entry")]],  # noqa: UP007
    Discriminator(_coupling_tag)]


def _short(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _factor(value: Any) -> str:
    """In parentheses, unless it is a number, a name or a call."""
    text = _short(value)
    return text if re.fullmatch(r"[\w.]+(\([\w.]*\))?", text) else f"({text})"


class Constraint(Entry):
    """What all constraints have."""

    time_constant: Formula = Field(
        default=None, description="of the decay of errors, s; left out: none decays")

    @property
    def text(self) -> str:
        """What it says, in short."""
        raise NotImplementedError


class Rolling(Constraint):
    """No slip where two bodies touch."""

    type: Literal["rolling"]
    joint: str = Field(description="a contact or curve_surface joint")
    pivot: Literal["free", "forbidden"] = Field(
        default="free", description="turning about the normal")

    @property
    def text(self) -> str:
        return f"{self.joint}, pivot {self.pivot}"


class Closure(Constraint):
    """What closures of loops have."""

    from_: str = Field(alias="from", description="frame, body or world")
    to: str = Field(description="frame, body or world")

    @property
    def text(self) -> str:
        return f"{self.from_} → {self.to}"


class PointClosure(Closure):
    """The origins of two frames meet, in some directions."""

    type: Literal["point"]
    directions: Annotated[list[Literal["x", "y", "z"]], Field(min_length=1)] = Field(
        default=["x", "y", "z"], description="axes of from")


class FrameClosure(Closure):
    """Two frames meet, in some directions and turns."""

    type: Literal["frame"]
    directions: Annotated[list[Literal["x", "y", "z", "rx", "ry", "rz"]], Field(min_length=1)] = \
        Field(default=["x", "y", "z", "rx", "ry", "rz"], description="axes of from; rx: about x")


class Equality(Constraint):
    """One coordinate is a multiple of another, first = ratio · second + offset."""

    type: Literal["equality"]
    coordinates: Annotated[list[str], Field(min_length=2, max_length=2)] = Field(
        description="joint, or joint.coordinate, of each")
    ratio: Formula = 1.0
    offset: Formula = 0.0

    @property
    def text(self) -> str:
        shift = f" + {_short(self.offset)}" * (self.offset != 0)
        return f"{self.coordinates[0]} = {_factor(self.ratio)} · {self.coordinates[1]}{shift}"


class Holonomic(Constraint):
    """A formula of coordinates that stays zero."""

    type: Literal["holonomic"]
    formula: CoordinateFormula = Field(description="of coordinates; = 0")

    @property
    def text(self) -> str:
        return f"{self.formula} = 0"


class Pfaffian(Constraint):
    """A sum of velocities, each with its coefficient, that has a given value."""

    type: Literal["pfaffian"]
    coefficients: Annotated[dict[str, CoordinateFormula], Field(min_length=1)] = Field(
        description="velocity: formula of coordinates")
    equals: CoordinateFormula = Field(default=0.0, description="formula of coordinates")

    @property
    def text(self) -> str:
        terms = " + ".join(f"{_factor(x)} · {v}" for v, x in self.coefficients.items())
        return f"{terms} = {_short(self.equals)}"


AnyConstraint = Annotated[
    Union[Rolling, PointClosure, FrameClosure, Equality, Holonomic, Pfaffian],  # noqa: UP007
    Field(discriminator="type")]
