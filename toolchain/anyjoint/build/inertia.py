"""Mass properties of a body from its keys: mass, com and inertia, or shapes."""

from __future__ import annotations

from typing import Any

import casadi as ca

from anyjoint.build.scope import Scope
from anyjoint.build.values import nonnegative, pose
from anyjoint.frontend.schema import Body
from anyjoint.frontend.solids import ShapeKeys
from anyjoint.geometry import shapes


def body_inertia(scope: Scope, keys: Body) -> tuple[Any, Any, Any]:
    """(m, h, I6) about the body's origin, SX; the scope's path is the body's."""
    solid = [i for i, s in enumerate(keys.shapes) if s.density is not None or s.mass is not None]
    given = [key for key in ("mass", "com", "inertia") if getattr(keys, key) is not None]
    if given and solid:
        scope.problem(f'the body has "{given[0]}" and shapes with mass', "shapes", solid[0],
                      hint="leave density and mass out of the shapes (they are then pictures), "
                           "or remove the body's mass, com and inertia")
    if given and "mass" not in given:
        scope.problem('"mass" is missing', given[0], key=True,
                      hint="com and inertia go with a mass")
    m, h, I_o = ca.SX(0), ca.SX(3, 1), ca.SX(3, 3)
    if given:
        mass = ca.SX(scope(keys.mass if keys.mass is not None else 1.0, "mass"))
        com = [scope(x, "com", i) for i, x in enumerate(keys.com or [0.0] * 3)]
        m, h, I_o = _about_origin(mass, ca.SX(ca.vertcat(*com)), _tensor(scope, keys.inertia))
    for i, shape in enumerate(keys.shapes):
        part = _shape(scope, shape, i)  # pictures are checked too
        if i in solid:
            m, h, I_o = m + part[0], h + part[1], I_o + part[2]
    return m, h, ca.vertcat(I_o[0, 0], I_o[1, 1], I_o[2, 2], I_o[0, 1], I_o[0, 2], I_o[1, 2])


def _about_origin(m: Any, c: Any, I_com: Any) -> tuple[Any, Any, Any]:
    """Parallel axes: I_o = I_com − m [c]²."""
    return m, m * c, I_com + m * (ca.dot(c, c) * ca.SX.eye(3) - c @ c.T)


def _tensor(scope: Scope, keys: Any) -> Any:
    if keys is None:
        return ca.SX(3, 3)
    if isinstance(keys, list):
        return ca.diag(ca.SX(ca.vertcat(*[scope(x, "inertia", i) for i, x in enumerate(keys)])))
    xx, yy, zz, xy, xz, yz = (scope(getattr(keys, k), "inertia", k)
                              for k in ("xx", "yy", "zz", "xy", "xz", "yz"))
    return ca.SX(ca.blockcat([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]))


def _dimensions(scope: Scope, shape: ShapeKeys, i: int) -> dict[str, Any]:
    """Sizes of shape i of the scope's body, by name; positive at the parameters' defaults."""
    dims: dict[str, Any] = {}
    for name, count in shapes.SHAPES[shape.type].dims.items():  # type: ignore[attr-defined]
        given = getattr(shape, name)
        entries = [((), given)] if count == 1 else [((k,), x) for k, x in enumerate(given)]
        values = [nonnegative(scope, x, [name], 0.0, "shapes", i, name, *step, positive=True)[0]
                  for step, x in entries]
        dims[name] = values[0] if count == 1 else values
    return dims


def _shape(scope: Scope, shape: ShapeKeys, i: int) -> tuple[Any, Any, Any]:
    """(m, h, I_o) of shape i; without density and mass, of unit mass."""
    kind: str = shape.type  # type: ignore[attr-defined]
    dims = _dimensions(scope, shape, i)
    m: Any = 1.0
    for key in ("mass", "density"):
        if getattr(shape, key) is not None:
            m = nonnegative(scope, getattr(shape, key), [key], 0.0, "shapes", i, key)[0]
    try:
        m = m * shapes.volume(kind, **dims) if shape.density is not None else m
        com, diagonal = shapes.unit_inertia(kind, **dims)
    except OverflowError:
        scope.problem("the sizes of this shape are too large", "shapes", i, hint="in metres")
        com, diagonal = ca.DM(3, 1), ca.DM.ones(3)
    R, r = pose(scope, shape.origin, "shapes", i, "origin")
    turned = R @ ca.diag(ca.SX(diagonal)) @ R.T
    return _about_origin(ca.SX(m), r + R @ com, m * turned)
