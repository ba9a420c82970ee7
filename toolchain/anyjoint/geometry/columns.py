"""Columns cut into pieces."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import accumulate
from typing import Any

import casadi as ca
import numpy as np


def split(x: Any, sizes: Iterable[int]) -> list[Any]:
    """Pieces of a column (CasADi or NumPy) with the given sizes, empty ones included."""
    ends = list(accumulate(sizes, initial=0))
    if isinstance(x, np.ndarray):
        return [x[a:b] for a, b in zip(ends[:-1], ends[1:], strict=True)]
    return list(ca.vertsplit(x, ends)) if len(ends) > 1 else []
