"""What curves and surfaces share: a smooth map from coordinates to points of space."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from anyjoint.frontend.fields import Strict

if TYPE_CHECKING:
    from anyjoint.joints.contract import Evaluate

Interval = tuple[float, float]


class PointMap:
    """`point` is all that a family must give; frames and all derivatives follow.

    `options` are what shapes its formulas (hashable; part of `kind`), `arguments` the
    numbers or expressions of p that enter them (radii, control points, …)."""

    Keys: ClassVar[type[Strict]]
    examples: ClassVar[Sequence[dict[str, Any]]] = ()  # keys of valid ones, for the tests
    options: Hashable = ()
    arguments: Sequence[Any] = ()
    rest: Sequence[Any] = ()  # of its coordinates, numbers or expressions of p
    domain: Sequence[Interval] = ()  # of its coordinates; what `anyjoint check` samples
    advice: str = ""  # where its frame is undefined or singular, and what helps

    def __init__(self, keys: Any, value: Evaluate):
        """`keys`: the validated keys; `value(formula, *path)` evaluates one of them."""

    @property
    def kind(self) -> Hashable:
        """Those of one kind share their formulas; only `arguments` differ."""
        return (type(self), self.options, len(self.arguments))

    def point(self, u: Any, args: Any) -> Any:
        """The point (3×1) with the coordinates u (1×1 or 2×1 SX symbols); args k×1 SX."""
        raise NotImplementedError
