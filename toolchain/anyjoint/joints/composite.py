"""Any product of joints: G = G₁ G₂ … with the coordinates one after the other."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import casadi as ca
import numpy as np
from pydantic import Field

from anyjoint.frontend.fields import JointKeys
from anyjoint.geometry.columns import split
from anyjoint.joints.contract import Evaluate, Joint
from anyjoint.joints.motion import Chart, Motion

_COMMON = set(JointKeys.model_fields) - {"name"}


class Composite(Joint):
    class Keys(JointKeys):
        type: Literal["composite"]
        # AnyJoint, the union of all families, is filled in by frontend.schema
        joints: Annotated[list[AnyJoint], Field(min_length=1)] = Field(  # type: ignore[name-defined] # noqa: F821
            description="factors of the product, parent side first")

    examples = (
        {"joints": [{"type": "revolute", "axis": "x"}, {"type": "prismatic", "axis": "x"}]},
        {"joints": [{"name": "slide", "type": "planar", "rotation": False},
                    {"name": "ball", "type": "spherical"}]},
        {"joints": [{"type": "fixed"}, {"type": "revolute", "axis": "x"}]},
        {"joints": [{"type": "helical", "pitch": 0.1}, {"type": "fixed"}]},
    )

    def __init__(self, keys: Any, value: Evaluate):
        self.parts: list[Joint] = []
        q_names: list[str] = []
        v_names: list[str] = []
        for i, part_keys in enumerate(keys.joints):
            for common in sorted(_COMMON & part_keys.model_fields_set):
                value.problem(f'"{common}" belongs to the composite joint, not to its parts',
                              "joints", i, common, hint="give it there, by coordinate")
            part = value.joint(part_keys, "joints", i)
            name = part_keys.name or f"q{i + 1}"
            value.identifier(name, "joints", i, "name")
            q_names += _names(name, part.q_names)
            v_names += _names(name, part.q_names if part.v_names is None else part.v_names)
            self.parts.append(part)
        for name in sorted({x for x in q_names if q_names.count(x) > 1}):
            value.problem(f'two parts have the coordinate "{name}"', "joints",
                          hint="give the parts names of their own")
        self.q_names, self.v_names = q_names, v_names
        self.rest = [x for part in self.parts for x in part.rest or [0.0] * part.nq]
        self.arguments = [x for part in self.parts for x in part.arguments]
        self.options = tuple(part.kind for part in self.parts)

    def _q(self, q: Any) -> list[Any]:
        return split(q, [part.nq for part in self.parts])

    def _v(self, v: Any) -> list[Any]:
        return split(v, [part.nv for part in self.parts])

    def motion(self, chart: Chart, args: Any) -> Motion:
        G = chart.fixed(ca.SX.eye(3), ca.SX(3, 1))
        column = 0
        args = split(args, [len(part.arguments) for part in self.parts])
        for part, q, a in zip(self.parts, self._q(chart.q), args, strict=True):
            own = part.motion(Chart(q, part.rate_matrix(q)), a)
            S = ca.horzcat(ca.SX(6, column), own.S, ca.SX(6, self.nv - column - part.nv))
            G = G @ Motion(own.R, own.r, S)
            column += part.nv
        return G

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


def _names(part: str, coordinates: Any) -> list[str]:
    return [part] if len(coordinates) == 1 else [f"{part}_{c}" for c in coordinates]
