"""Any product of joints: G = G₁ G₂ … with the coordinates one after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from anyjoint.frontend.fields import JointKeys
from anyjoint.joints.contract import Evaluate, Joint
from anyjoint.joints.product import Product

if TYPE_CHECKING:  # the union of all families, filled in by frontend.schema
    from anyjoint.frontend.schema import AnyJoint

_COMMON = set(JointKeys.model_fields) - {"name"}


class Composite(Product):
    class Keys(JointKeys):
        type: Literal["composite"]
        joints: Annotated[list[AnyJoint], Field(min_length=1)] = Field(
            description="factors of the product, parent side first")

    examples = (
        {"joints": [{"type": "revolute", "axis": "x"}, {"type": "prismatic", "axis": "x"}]},
        {"joints": [{"name": "slide", "type": "planar", "rotation": False},
                    {"name": "ball", "type": "spherical"}]},
        {"joints": [{"type": "fixed"}, {"type": "revolute", "axis": "x"}]},
        {"joints": [{"type": "helical", "pitch": 0.1}, {"type": "fixed"}]},
    )

    def __init__(self, keys: Any, value: Evaluate):
        parts: list[Joint] = []
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
            parts.append(part)
        for name in sorted({x for x in q_names if q_names.count(x) > 1}):
            value.problem(f'two parts have the coordinate "{name}"', "joints",
                          hint="give the parts names of their own")
        self._multiply(parts, q_names=q_names, v_names=v_names)


def _names(part: str, coordinates: Any) -> list[str]:
    return [part] if len(coordinates) == 1 else [f"{part}_{c}" for c in coordinates]
