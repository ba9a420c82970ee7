"""Products of joints: G = G₁ G₂⁻¹ … with the coordinates one after the other."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import casadi as ca
import numpy as np

from anyjoint.geometry.columns import split
from anyjoint.joints.contract import Condition, Joint
from anyjoint.joints.motion import Chart, Motion


class Product(Joint):
    """A joint whose motion is a product of its parts' motions. Coordinates are in the order
    of `parts`; `factors` are indices of parts in the order of the product, ~i the inverse."""

    parts: Sequence[Joint] = ()
    factors: Sequence[int] = ()

    def _multiply(self, parts: Sequence[Joint], factors: Sequence[int] | None = None,
                  q_names: Sequence[str] | None = None,
                  v_names: Sequence[str] | None = None) -> None:
        """Sets everything from the parts; factors and names default to theirs, in order."""
        self.parts, self.factors = parts, tuple(factors or range(len(parts)))
        own_v = [n for part in parts for n in
                 (part.q_names if part.v_names is None else part.v_names)]
        self.q_names = q_names or [n for part in parts for n in part.q_names]
        self.v_names = v_names or (own_v if q_names is None else None)
        self.rest = [x for part in parts for x in part.rest or [0.0] * part.nq]
        self.domain = [x for part in parts for x in part.domain or [None] * part.nq]
        self.advice = self.advice or "; ".join(
            dict.fromkeys(part.advice for part in parts if part.advice))
        self.arguments = [x for part in parts for x in part.arguments]
        self.options = (tuple(part.kind for part in parts), self.factors)

    def _q(self, q: Any) -> list[Any]:
        return split(q, [part.nq for part in self.parts])

    def _v(self, v: Any) -> list[Any]:
        return split(v, [part.nv for part in self.parts])

    def motion(self, chart: Chart, args: Any) -> Motion:
        args = split(args, [len(part.arguments) for part in self.parts])
        own, column = [], 0
        for part, q, a in zip(self.parts, self._q(chart.q), args, strict=True):
            G = part.motion(Chart(q, part.rate_matrix(q)), a)
            own.append(G.widened(column, self.nv - column - part.nv))
            column += part.nv
        G = chart.fixed(ca.SX.eye(3), ca.SX(3, 1))
        for i in self.factors:
            G = G @ (own[i] if i >= 0 else own[~i].inverse())
        return G

    def conditions(self, q: Any, args: Any) -> list[Condition]:
        args = split(args, [len(part.arguments) for part in self.parts])
        names, out = iter(self.q_names), []
        for part, x, a in zip(self.parts, self._q(q), args, strict=True):
            called = {own: next(names) for own in part.q_names}
            out += [c._replace(advice=_renamed(c.advice, called)) for c in part.conditions(x, a)]
        return out

    def rate_matrix(self, q: Any) -> Any:
        return ca.diagcat(*[part.rate_matrix(x)
                            for part, x in zip(self.parts, self._q(q), strict=True)])

    def integrate(self, q: Any, dq: Any) -> Any:
        return ca.vertcat(*[part.integrate(x, dx) for part, x, dx
                            in zip(self.parts, self._q(q), self._v(dq), strict=True)])

    def difference(self, q0: Any, q1: Any) -> Any:
        return ca.vertcat(*[part.difference(a, b) for part, a, b
                            in zip(self.parts, self._q(q0), self._q(q1), strict=True)])

    def normalize(self, q: Any) -> Any:
        return np.concatenate([part.normalize(x)
                               for part, x in zip(self.parts, self._q(q), strict=True)])


def _renamed(advice: str, names: dict[str, str]) -> str:
    """An advice with other names for the coordinates in braces."""
    return re.sub(r"\{(\w+)\}", lambda m: f"{{{names.get(m[1], m[1])}}}", advice)
