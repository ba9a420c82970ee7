"""Families (joints, curves, surfaces) by the name that a model file gives as `type`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, get_args


def by_type(families: Iterable[Any], group: str) -> dict[str, Any]:
    """{type: family} of our own families and of those that other packages register under the
    entry point `group`."""
    return {get_args(f.Keys.model_fields["type"].annotation)[0]: f for f in families}
