"""One body as the kernels see it: its constants and its joint."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, fields
from typing import Any

import casadi as ca

from anyjoint.geometry import se3
from anyjoint.geometry.columns import split
from anyjoint.joints.contract import Joint, kinematics

_SIZES = {"R0": 9, "r0": 3, "Rc": 9, "rc": 3, "m": 1, "h": 3, "I6": 6}


@dataclass(frozen=True)
class Link:
    """Constants of a body (numbers, or expressions of p) and its joint.

    G = G₀ · joint(q) · G_c⁻¹ is the pose of the body in its parent, with G₀ the joint
    frame in the parent (`origin`) and G_c the joint frame in the body (`child_origin`).
    Inertia is about the body's origin, in body axes."""

    joint: Joint
    R0: Any  # 3×3
    r0: Any  # 3×1
    Rc: Any
    rc: Any
    m: Any  # mass
    h: Any  # mass · centre of mass, 3×1
    I6: Any  # xx, yy, zz, xy, xz, yz
    armature: Any  # nv×1
    arguments: Any  # the joint's, k×1

    # -- packed into one column, the input of a kernel ------------------------------

    def pack(self) -> Any:
        """All constants as one dense SX column."""
        parts = [getattr(self, f.name) for f in fields(self) if f.name != "joint"]
        return ca.vertcat(*[ca.densify(ca.vec(ca.SX(part))) for part in parts])

    @staticmethod
    def unpack(joint: Joint, column: Any) -> Link:
        sizes = [*_SIZES.values(), joint.nv, len(joint.arguments)]
        parts = [ca.sparsify(x) for x in split(column, sizes)]
        R0, r0, Rc, rc = ca.reshape(parts[0], 3, 3), parts[1], ca.reshape(parts[2], 3, 3), parts[3]
        return Link(joint, R0, r0, Rc, rc, *parts[4:])

    # -- kinematics and inertia --------------------------------------------------------

    def motion(self, q: Any, v: Any) -> tuple[Any, Any, Any, Any]:
        """Pose (R, r) in the parent, subspace S (6×nv) and bias Ṡ v, in body axes."""
        G, bias = kinematics(self.joint, q, v, self.arguments)
        R, r = se3.compose((self.R0, self.r0), (G.R, G.r))
        Ri, ri = se3.inverse(self.Rc, self.rc)
        R, r = se3.compose((R, r), (Ri, ri))
        S, bias = se3.act(self.Rc, self.rc, G.S), se3.act(self.Rc, self.rc, bias)
        return tuple(ca.sparsify(x) for x in (R, r, S, bias))

    def pose(self, q: Any) -> tuple[Any, Any]:
        """Pose (R, r) in the parent."""
        R, r, _, _ = self.motion(q, ca.SX.sym("v", self.joint.nv))
        return R, r

    def inertia(self, behind: Any) -> Any:
        """Its inertia (6×6) with that of what it carries, given as a lower triangle."""
        return se3.inertia_matrix(self.m, self.h, self.I6) + ca.tril2symm(ca.tril(behind))

    def momentum(self, V: Any) -> Any:
        """Spatial momentum J V of the twist V (6×k)."""
        return se3.inertia_times(self.m, self.h, self.I6, V)


@dataclass(frozen=True)
class Kind:
    """What bodies must share to share kernels: the kind of joint, and which of their
    constants are 0, 1 or −1 (those are folded into the kernel)."""

    joint: Hashable
    pattern: tuple[int | None, ...]

    @staticmethod
    def of(link: Link) -> tuple[Kind, Any]:
        """The kind of a link, and the column of its constants that stay inputs."""
        column = link.pack()
        pattern = tuple(_unit(column[i]) for i in range(column.shape[0]))
        kind = Kind(link.joint.kind, pattern)
        return kind, column[kind.free]

    @property
    def free(self) -> list[int]:
        """Positions of the constants that stay inputs."""
        return [i for i, x in enumerate(self.pattern) if x is None]

    def link(self, joint: Joint, values: Any) -> Link:
        """The link with `values` (SX) at the free positions."""
        column = ca.SX(ca.DM([0 if x is None else x for x in self.pattern]))
        for k, i in enumerate(self.free):
            column[i] = values[k]
        return Link.unpack(joint, column)


def _unit(entry: Any) -> int | None:
    if not entry.is_constant():
        return None
    value = float(entry)
    return int(value) if value in (0.0, 1.0, -1.0) else None
