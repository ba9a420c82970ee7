"""Surfaces for the tests: their functions over many states at once, and differences."""

from __future__ import annotations

import json
import math
from typing import Any

import casadi as ca
import numpy as np

import anyjoint as aj
from anyjoint.joints.motion import Chart
from anyjoint.surfaces import SURFACES, Surface
from mechanisms import single

STATES = 100
CASES = {f"{name}_{k}": {"type": name, **keys}
         for name, family in SURFACES.items() for k, keys in enumerate(family.examples)}
STEP = 4e-3
# sixth-order central differences: {steps: weight}
WEIGHTS = {k: s * w for s in (1, -1) for k, w in ((s, 3 / 4), (2 * s, -3 / 20), (3 * s, 1 / 60))}


def load(joint: Any, **sections: Any) -> Any:
    """The mechanism of one body on this joint."""
    return aj.loads(json.dumps(single(joint) | sections))


class Sample:
    """A surface, and its functions over columns of coordinates u and their rates v."""

    def __init__(self, keys: Any, **sections: Any):
        m = load({"type": "surface", "surface": keys}, **sections)
        self.surface: Surface = m.bodies[0].joint.parts[0].surface
        args = ca.substitute(ca.SX(ca.vertcat(ca.SX(0, 1), *self.surface.arguments)),
                             m.p, ca.DM(m.p0))
        u, v = ca.SX.sym("u", 2), ca.SX.sym("v", 2)
        chart = Chart(u, ca.SX.eye(2))
        own = self.surface.frame(chart, u, args)
        others = [Surface.frame(self.surface, chart, u, args), chart.derived(own.R, own.r)]
        bias = [ca.jtimes(G.S @ v, u, v) for G in (own, *others)]
        self.f = function([u], self.surface.point(u, args))
        self.frame = function([u], own.R, own.r, own.S)
        self.bias = function([u, v], bias[0], own.S @ v)
        self.generic = function([u, v], others[0].R, others[0].r, others[0].S, bias[1])
        self.derived = function([u, v], others[1].S, bias[2])

    def point(self, u: Any) -> Any:
        return self.f(u)[0]

    def tangents(self, u: Any) -> list[Any]:
        """∂f/∂u and ∂f/∂w (3×n) by differences."""
        return [difference(lambda t, e=e: self.point(u + t * e)) for e in np.eye(2)[:, :, None]]

    def states(self, n: int = STATES) -> tuple[Any, Any]:
        """Coordinates (2×n) inside the domain, away from its ends and from the knots of splines,
        and rates."""
        rng, rows = np.random.default_rng(5), []
        for (lower, upper), rest in zip(self.surface.domain, self.surface.rest, strict=True):
            low, high = max(lower, rest - 1), min(upper, rest + 1)
            if math.isfinite(lower) and math.isfinite(upper):
                low, high = lower, upper
            x = low + (high - low) * rng.uniform(0.08, 0.92, n)
            if hasattr(self.surface, "segments"):
                x = np.floor(x) + 0.05 + 0.9 * (x - np.floor(x))
            rows.append(x)
        return np.array(rows), rng.standard_normal((2, n))


def function(inputs: list[Any], *outputs: Any) -> Any:
    """Arrays (rows × columns × n, columns of one left out) over n columns of inputs."""
    f = ca.Function("f", inputs, [ca.densify(x) for x in outputs])

    def over(*columns: Any) -> list[Any]:
        n = columns[0].shape[1]
        values = [np.array(x) for x in f.call([ca.DM(x) for x in columns])]
        values = [x.reshape(len(x), n, -1).swapaxes(1, 2) for x in values]
        return [x[:, 0] if x.shape[1] == 1 else x for x in values]

    return over


def difference(f: Any, h: float = STEP) -> Any:
    """f′(0)."""
    return sum(w * f(k * h) for k, w in WEIGHTS.items()) / h


def unit(x: Any) -> Any:
    return x / np.linalg.norm(x, axis=0)


def cross(a: Any, b: Any) -> Any:
    return np.cross(a, b, axis=0)


def dot(a: Any, b: Any) -> Any:
    return np.sum(a * b, axis=0)
