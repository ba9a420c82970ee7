"""Columns cut into pieces or put into longer ones, and rows of a net."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence, Sized
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


def usual_length(rows: Iterable[Sized]) -> int:
    """The length of most rows."""
    return Counter(map(len, rows)).most_common(1)[0][0]


def scattered(x: Any, rows: Sequence[int], n: int) -> Any:
    """x (k×1) at these rows of a column of n, zeros elsewhere."""
    return ca.DM.eye(n)[:, list(rows)] @ x
