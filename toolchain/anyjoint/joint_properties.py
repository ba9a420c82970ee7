"""What the joints of a mechanism have beside their motion, as vectors: limits, passive forces."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca

Array = Any  # numpy.ndarray of floats


@dataclass(frozen=True)
class Bounds:
    """Limits, ±inf where there are none: q (nq), v and tau (nv), u (nu)."""

    q_min: Array
    q_max: Array
    v_max: Array
    tau_max: Array
    u_max: Array


@dataclass(frozen=True)
class Passive:
    """Passive joint forces, columns of nv (spring_rest: nq), numbers or expressions of p."""

    damping: Any
    friction: Any
    friction_velocity: Any
    stiffness: Any
    spring_rest: Any

    @property
    def any(self) -> bool:
        return any(not ca.SX(x).is_zero() for x in (self.damping, self.friction, self.stiffness))
