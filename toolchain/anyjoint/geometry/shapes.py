"""Mass properties of solid shapes of uniform density; sizes are floats or CasADi SX.

A new shape is one function and one entry of SHAPES.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import pi
from typing import Any

import casadi as ca


@dataclass(frozen=True)
class Shape:
    """A family of solids; `volume` and `inertia` take the dims in order.

    inertia gives (com (3), diagonal (3) of the inertia per unit mass about the com).
    """

    dims: dict[str, int]  # name of a dimension → how many numbers it holds
    volume: Callable[..., Any]
    inertia: Callable[..., tuple[Any, Any]]


def _centred(xx: Any, yy: Any, zz: Any) -> tuple[Any, Any]:
    """(com at the origin, diagonal) of the principal moments."""
    return ca.DM.zeros(3), ca.vertcat(xx, yy, zz)


def _box(size: Any) -> tuple[Any, Any]:
    """Box of three full edge lengths, centred."""
    xx, yy, zz = (size[k] ** 2 / 12 for k in range(3))
    return _centred(yy + zz, xx + zz, xx + yy)


def _ellipsoid(radii: Any) -> tuple[Any, Any]:
    """Ellipsoid of three half axes, centred."""
    xx, yy, zz = (radii[k] ** 2 / 5 for k in range(3))
    return _centred(yy + zz, xx + zz, xx + yy)


def _cylinder(radius: Any, length: Any) -> tuple[Any, Any]:
    """Cylinder along z, centred."""
    side = radius**2 / 4 + length**2 / 12
    return _centred(side, side, radius**2 / 2)


def _capsule(radius: Any, length: Any) -> tuple[Any, Any]:
    """Capsule along z, centred; length is that of the cylindrical part."""
    total = 3 * length + 4 * radius
    middle, ends = 3 * length / total, 4 * radius / total  # shares of the mass
    # The com of a half ball is 3/8 of its radius from its flat face.
    side = middle * (radius**2 / 4 + length**2 / 12) + ends * (
        2 * radius**2 / 5 + length**2 / 4 + 3 * length * radius / 8)
    return _centred(side, side, middle * radius**2 / 2 + ends * 2 * radius**2 / 5)


def _torus(radius: Any, tube: Any) -> tuple[Any, Any]:
    """Solid torus about z, centred; radius is that of the ring's centre line."""
    side = radius**2 / 2 + 5 * tube**2 / 8
    return _centred(side, side, radius**2 + 3 * tube**2 / 4)


def _cone(radius: Any, length: Any) -> tuple[Any, Any]:
    """Cone with the centre of its base at the origin and its apex at z = length."""
    side = 3 * radius**2 / 20 + 3 * length**2 / 80
    return ca.vertcat(0, 0, length / 4), ca.vertcat(side, side, 3 * radius**2 / 10)


SHAPES: dict[str, Shape] = {
    "box": Shape({"size": 3}, lambda s: s[0] * s[1] * s[2], _box),
    "sphere": Shape({"radius": 1}, lambda r: 4 * pi / 3 * r**3, lambda r: _ellipsoid((r, r, r))),
    "ellipsoid": Shape({"radii": 3}, lambda a: 4 * pi / 3 * a[0] * a[1] * a[2], _ellipsoid),
    "cylinder": Shape({"radius": 1, "length": 1}, lambda r, h: pi * r**2 * h, _cylinder),
    "capsule": Shape({"radius": 1, "length": 1},
                     lambda r, h: pi * r**2 * (h + 4 * r / 3), _capsule),
    "torus": Shape({"radius": 1, "tube": 1}, lambda R, r: 2 * pi**2 * R * r**2, _torus),
    "cone": Shape({"radius": 1, "length": 1}, lambda r, h: pi * r**2 * h / 3, _cone),
}


def _arguments(kind: str, dims: dict[str, Any]) -> list[Any]:
    """The values of dims in the order of the shape's table entry."""
    expected = SHAPES[kind].dims
    if set(dims) != set(expected):
        raise TypeError(f"{kind} takes {', '.join(expected)}; given: {', '.join(dims) or 'none'}")
    return [dims[name] for name in expected]


def volume(kind: str, **dims: Any) -> Any:
    """Volume of a shape, e.g. volume("box", size=(1, 2, 3))."""
    return SHAPES[kind].volume(*_arguments(kind, dims))


def unit_inertia(kind: str, **dims: Any) -> tuple[Any, Any]:
    """(com (3), diagonal (3) of the inertia per unit mass about the com) in the shape's frame."""
    return SHAPES[kind].inertia(*_arguments(kind, dims))
