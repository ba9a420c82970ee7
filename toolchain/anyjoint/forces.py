"""Forces of a model file between or at frames: springs, constant forces, drag.

Each is a wrench on one or two bodies, and a potential where it has one. A `Site` is a
frame on a body with the body's world pose (R, r) and body twist V."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca

from anyjoint.geometry import se3, so3


@dataclass(frozen=True)
class Site:
    """A frame (Rf, rf) on a body with world pose (R, r) and twist V (SX)."""

    Rf: Any
    rf: Any
    R: Any
    r: Any
    V: Any

    @property
    def point(self) -> Any:
        """Position in the world, 3×1."""
        return self.r + self.R @ self.rf

    @property
    def velocity(self) -> Any:
        """Velocity of the point, world axes."""
        return self.R @ (self.V[3:] + so3.cross3(self.V[:3], self.rf))

    def push(self, force: Any, moment: Any | None = None) -> Any:
        """Wrench on the body (body axes, about its origin) of a world force at the point."""
        f = self.R.T @ force
        n = so3.cross3(self.rf, f)
        return ca.vertcat(n if moment is None else n + self.R.T @ moment, f)


@dataclass(frozen=True)
class Force:
    """One entry of `forces`: the frames it acts at, (body index, Rf, rf) each, and numbers
    or expressions of p. The kernels below are one per kind of force."""

    name: str
    sites: tuple[tuple[int, Any, Any], ...]
    parameters: Any  # column
    passive: bool = True  # left out with passive=False

    @classmethod
    def wrench_kernel(cls, c: Any, *sites: Any) -> list[Any]:
        """Wrenches on the bodies of the sites; (Rf, rf, R, r, V) of each site in a row."""
        return cls.wrenches(_sites(sites), c)

    @classmethod
    def potential_kernel(cls, c: Any, *sites: Any) -> Any:
        return cls.potential(_sites(sites), c)

    @staticmethod
    def wrenches(sites: list[Site], c: Any) -> list[Any]:
        raise NotImplementedError

    @staticmethod
    def potential(sites: list[Site], c: Any) -> Any:
        return ca.SX(1, 1)


def _sites(flat: tuple[Any, ...]) -> list[Site]:
    return [Site(*flat[i : i + 5]) for i in range(0, len(flat), 5)]


class Spring(Force):
    """c = stiffness, damping, length: acts along the line between its ends."""

    @staticmethod
    def wrenches(sites: list[Site], c: Any) -> list[Any]:
        a, b = sites
        d, rate = b.point - a.point, b.velocity - a.velocity
        length = ca.norm_2(d)
        u = d / length
        f = (c[0] * (length - c[2]) + c[1] * ca.dot(u, rate)) * u
        return [a.push(f), b.push(-f)]

    @staticmethod
    def potential(sites: list[Site], c: Any) -> Any:
        a, b = sites
        return c[0] * (ca.norm_2(b.point - a.point) - c[2]) ** 2 / 2


class ZeroLengthSpring(Force):
    """c = stiffness, damping: pulls with k d and damps with c ḋ, smooth where its ends meet."""

    @staticmethod
    def wrenches(sites: list[Site], c: Any) -> list[Any]:
        a, b = sites
        f = c[0] * (b.point - a.point) + c[1] * (b.velocity - a.velocity)
        return [a.push(f), b.push(-f)]

    @staticmethod
    def potential(sites: list[Site], c: Any) -> Any:
        a, b = sites
        return c[0] * ca.sumsqr(b.point - a.point) / 2


class WorldForce(Force):
    """c = force, moment in world axes."""

    @staticmethod
    def wrenches(sites: list[Site], c: Any) -> list[Any]:
        return [sites[0].push(c[:3], c[3:])]

    @staticmethod
    def potential(sites: list[Site], c: Any) -> Any:
        return -ca.dot(c[:3], sites[0].point)


class BodyForce(Force):
    """c = force, moment in the frame's axes."""

    @staticmethod
    def wrenches(sites: list[Site], c: Any) -> list[Any]:
        return [se3.act_dual(sites[0].Rf, sites[0].rf, ca.vertcat(c[3:], c[:3]))]


class Drag(Force):
    """c = angular, linear: −c (ω; v) of the frame, in its axes."""

    @staticmethod
    def wrenches(sites: list[Site], c: Any) -> list[Any]:
        site = sites[0]
        V = se3.act_inv(site.Rf, site.rf, site.V)
        return [se3.act_dual(site.Rf, site.rf, -ca.vertcat(c[0] * V[:3], c[1] * V[3:]))]
