"""The rows of a constraint at a state. A row is an equation rate = 0 with

    rate = A v − e    d/dt rate = A a + bias

and, where it is holonomic, rate = dφ/dt. Its multiplier λ is the generalised force Aᵀ λ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import casadi as ca

from anyjoint.dynamics.tree import Tree
from anyjoint.geometry.columns import split

TURNS, SHIFTS = ("rx", "ry", "rz"), ("x", "y", "z")
TWIST = (*TURNS, *SHIFTS)  # rows of what is a twist
_ROUND_OFF = 1e-24  # square of what is no more than round-off, relative


class Rows(NamedTuple):
    """n rows; phi is zero (structurally) in those of velocities alone."""

    phi: Any  # n×1
    rate: Any  # n×1
    A: Any  # n×nv
    bias: Any  # n×1


@dataclass(frozen=True, eq=False)
class Constraint:
    """An entry of `constraints`."""

    name: str
    labels: tuple[str, ...]  # of its rows; one without a label has the constraint's name
    time_constant: Any  # 1×1 expression of p; None: no stabilisation
    holonomic: bool  # φ exists

    @property
    def lambda_names(self) -> tuple[str, ...]:
        return tuple(f"{self.name}.{label}" if label else self.name for label in self.labels)

    @property
    def gains(self) -> Any:
        """(2/T, 1/T²) or, of velocities, (1/T, 0) for each of its rows (n×2)."""
        n = len(self.labels)
        if self.time_constant is None:
            return ca.SX(n, 2)
        pole = 1 / self.time_constant
        own = ca.horzcat(2 * pole, pole**2) if self.holonomic else ca.horzcat(pole, ca.SX(1, 1))
        return ca.repmat(own, n, 1)

    def rows(self, t: Tree, q: Any, v: Any) -> Rows:
        """Its rows for q and v of the tree."""
        raise NotImplementedError

    def wrenches(self, t: Tree, poses: list[Any], multipliers: Any) -> list[tuple[int, Any]]:
        """Bodies (−1: the world) and the wrenches on them, in their axes, that no joint carries;
        poses (R, r) of all bodies in the world."""
        return []


def settled(A: Any, squares: Any) -> Any:
    """A (n×k) without rows that are the round-off of terms with these squares (1×k or n×k): one
    that no velocity changes is zero, and so is its multiplier. (Not entry by entry: one that
    is zero at a state may have derivatives.)"""
    rows = A.shape[0] // squares.shape[0] if A.shape[0] else 0
    is_row = ca.sum2(A * A) > _ROUND_OFF * ca.repmat(ca.sum2(squares), rows, 1)
    return A * ca.repmat(is_row, 1, A.shape[1])


def spread(t: Tree, bodies: list[int], columns: Any) -> Any:
    """Columns (n×k) of the velocities of some bodies among those of all (n×nv)."""
    blocks = [t.zeros(columns.shape[0], body.joint.nv) for body in t.bodies]
    for i, x in zip(bodies, split(columns.T, [blocks[i].shape[1] for i in bodies]), strict=True):
        blocks[i] = x.T
    return ca.horzcat(*blocks)
