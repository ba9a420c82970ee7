"""Model texts of chains of any length, for measurements and for the tests of growth."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np


def revolute_chain(n: int, oblique: bool = False, seed: int = 1) -> str:
    """n revolute joints with full inertias: axes x, y, z in turn, 0.3 m apart along z; or
    oblique axes and origins."""
    generator = np.random.default_rng(seed)
    bodies: dict[str, Any] = {}
    for i in range(n):
        masses, points = generator.uniform(0.5, 1.5, 6), 0.1 * generator.normal(size=(6, 3))
        com = masses @ points / masses.sum()
        inertia = sum(m * ((d @ d) * np.eye(3) - np.outer(d, d))
                      for m, d in zip(masses, points - com, strict=True))
        entries = {a + b: float(inertia[j, k]) for j, a in enumerate("xyz")
                   for k, b in enumerate("xyz") if j <= k}
        axis: Any = "xyz"[i % 3]
        origin: Any = {"xyz": [0, 0, 0.3 if i else 0]}
        if oblique:
            axis = generator.normal(size=3).tolist()
            origin = {"xyz": (0.2 * generator.normal(size=3)).tolist(),
                      "rpy": generator.normal(size=3).tolist()}
        bodies[f"b{i}"] = {
            "parent": f"b{i - 1}" if i else "world", "origin": origin, "mass": masses.sum(),
            "joint": {"name": f"j{i}", "type": "revolute", "axis": axis},
            "com": com.tolist(), "inertia": entries}
    return json.dumps({"anyjoint": 1, "name": f"chain{n}", "bodies": bodies}, indent=1)


def torus_chain(n: int) -> str:
    """models/torus_chain_4.yaml with n rings: 4 n − 2 coordinates."""
    text = (Path(__file__).parent.parent / "models" / "torus_chain_4.yaml").read_text()
    return text.replace("k: [2, 4]", f"k: [2, {n}]").replace("torus_chain_4 ", f"torus{n} ")
