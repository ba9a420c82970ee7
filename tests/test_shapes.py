"""Volume and inertia of the shapes against quadrature."""

from __future__ import annotations

from math import pi

import casadi as ca
import numpy as np
import pytest

from anyjoint.geometry import shapes


def near(a, b, tolerance):
    """Whether two arrays or numeric CasADi matrices agree, also in shape."""
    a, b = np.array(ca.DM(a)), np.array(ca.DM(b))
    return a.shape == b.shape and np.abs(a - b).max() <= tolerance


def ball(u, radii, low=-1.0, high=1.0, z0=0.0):
    """Maps the unit cube to the part low ≤ cos θ ≤ high of an ellipsoid, moved by z0."""
    c = low + (high - low) * u[1]
    s = ca.sqrt(1 - c**2)
    x, y = s * ca.cos(2 * pi * u[2]), s * ca.sin(2 * pi * u[2])
    return u[0] * ca.vertcat(radii[0] * x, radii[1] * y, radii[2] * c) + ca.DM([0, 0, z0])


def turned(rho, z, u):
    return ca.vertcat(rho * ca.cos(2 * pi * u[2]), rho * ca.sin(2 * pi * u[2]), z)


def tube(u, R, r):
    return turned(R + r * u[0] * ca.cos(2 * pi * u[1]), r * u[0] * ca.sin(2 * pi * u[1]), u)


SOLIDS = {  # maps from the unit cube which together cover each solid once
    "box": ({"size": (0.3, 0.5, 0.7)}, [lambda u: (u - 0.5) * ca.DM([0.3, 0.5, 0.7])]),
    "sphere": ({"radius": 0.6}, [lambda u: ball(u, (0.6, 0.6, 0.6))]),
    "ellipsoid": ({"radii": (0.3, 0.5, 0.7)}, [lambda u: ball(u, (0.3, 0.5, 0.7))]),
    "cylinder": ({"radius": 0.4, "length": 1.5},
                 [lambda u: turned(0.4 * u[0], 1.5 * (u[1] - 0.5), u)]),
    "capsule": ({"radius": 0.4, "length": 1.5},
                [lambda u: turned(0.4 * u[0], 1.5 * (u[1] - 0.5), u),
                 lambda u: ball(u, (0.4, 0.4, 0.4), low=0.0, z0=0.75),
                 lambda u: ball(u, (0.4, 0.4, 0.4), high=0.0, z0=-0.75)]),
    "torus": ({"radius": 1.1, "tube": 0.3}, [lambda u: tube(u, 1.1, 0.3)]),
    "cone": ({"radius": 0.4, "length": 1.5},
             [lambda u: turned(0.4 * u[0] * (1 - u[1]), 1.5 * u[1], u)]),
}


def integrate(maps):
    """(volume, first (3), second (3×3) moment) by Gauss quadrature over the maps' unit cubes."""
    nodes, weights = np.polynomial.legendre.leggauss(20)
    nodes, weights = (nodes + 1) / 2, weights / 2
    grid = np.array(np.meshgrid(nodes, nodes, nodes)).reshape(3, -1)
    weight = np.prod(np.array(np.meshgrid(weights, weights, weights)).reshape(3, -1), axis=0)
    u, total = ca.SX.sym("u", 3), np.zeros((4, 4))
    for mapping in maps:
        p = mapping(u)
        f = ca.Function("f", [u], [ca.vertcat(1, p), ca.fabs(ca.det(ca.jacobian(p, u)))])
        point, density = (np.array(a) for a in f.map(grid.shape[1])(grid))
        total += (point * density * weight) @ point.T
    return total[0, 0], total[0, 1:], total[1:, 1:]


@pytest.mark.quick
def test_every_shape_is_tested():
    assert set(SOLIDS) == set(shapes.SHAPES)
    with pytest.raises(TypeError, match="radius, length"):
        shapes.volume("cone", radius=1)


@pytest.mark.quick
@pytest.mark.parametrize("kind", SOLIDS)
def test_shape_against_quadrature(kind):
    dims, maps = SOLIDS[kind]
    volume, first, second = integrate(maps)
    assert np.isclose(float(shapes.volume(kind, **dims)), volume, rtol=1e-10)
    com, diagonal = shapes.unit_inertia(kind, **dims)
    c = first / volume
    second = second / volume - np.outer(c, c)
    assert near(com, c, 1e-10)
    want = np.trace(second) * np.eye(3) - second
    assert near(ca.diag(diagonal), want, 1e-10)


@pytest.mark.quick
@pytest.mark.parametrize("kind", SOLIDS)
def test_shape_with_symbols(kind):
    dims, _ = SOLIDS[kind]
    symbols = {name: ca.SX.sym(name, n) for name, n in shapes.SHAPES[kind].dims.items()}
    results = shapes.volume(kind, **symbols), *shapes.unit_inertia(kind, **symbols)
    f = ca.Function("f", list(symbols.values()), [ca.SX(x) for x in results])
    volume, com, diagonal = f(*dims.values())
    want_com, want = shapes.unit_inertia(kind, **dims)
    assert np.isclose(float(volume), shapes.volume(kind, **dims))
    assert near(com, want_com, 1e-13) and near(diagonal, want, 1e-13)
