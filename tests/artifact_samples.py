"""Small hand-made functions for the tests of the backend and the loader.

As a script: artifact_samples.py OUT GAIN… writes the artifact of each gain to OUT.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import casadi as ca

from anyjoint.backend import artifact, compiler


def info(name: str = "arm", gain: float = 2.0) -> dict[str, Any]:
    return {
        "name": name,
        "model_hash": f"hash-of-{gain}",
        "dimensions": {"nq": 2, "nv": 2, "nu": 2, "np": 1, "nbodies": 2},
        "q_names": ["elbow", "Elbow"],  # one macro name: must not clash
        "v_names": ["wrist.x", "wrist_x"],
        "u_names": ["elbow", "wrist"],
        "p_names": ["length"],
        "body_names": ["upper", "lower"],
        "frame_names": [],
        "defaults": {"q0": [0.0, 0.5], "p0": [0.25]},
    }


def functions(name: str = "arm", gain: float = 2.0) -> dict[str, ca.Function]:
    """fd: SX; rolled: MX calling a kernel; bare: empty p; sparse: sparse output,
    names that C reserves; copy, f0: names that CasADi uses itself."""
    q, v, p = ca.SX.sym("q", 2), ca.SX.sym("v", 2), ca.SX.sym("p")
    none = ca.SX.sym("p", 0)
    result = {
        "fd": ([q, v, p], [gain * ca.sin(q) * p + v], ["q", "v", "p"], ["a"]),
        "bare": ([q, none], [gain * q], ["q", "p"], ["y"]),
        "sparse": ([q, p], [ca.diag(gain * q) * p, q[0] * p], ["double", "p"], ["int", "aj_w"]),
        "copy": ([q], [q], ["q"], ["y"]),
        "f0": ([q], [-q], ["q"], ["y"]),
    }
    made = {k: ca.Function(f"{name}_{k}", *args) for k, args in result.items()}
    step = ca.Function("step", [q, p], [ca.sin(q) * p + gain, ca.dot(q, q)])
    x = y = ca.MX.sym("q", 2)
    s, m = ca.MX.sym("p"), ca.MX.sym("M", 2, 2)
    for _ in range(3):
        y, total = step(y, s)
    y = m @ (y + total)
    made["rolled"] = ca.Function(f"{name}_rolled", [x, m, s], [y], ["q", "M", "p"], ["y"])
    return made


def write(
    out: Path, gain: float = 2.0, name: str = "arm", options: dict[str, Any] | None = None
) -> str:
    """Write the artifact unless it is up to date; its key."""
    cc, model, options = compiler.find_compiler(), info(name, gain), options or {}
    key = artifact.cache_key(model, options, cc)
    if not artifact.up_to_date(out, key):
        artifact.write(out, functions(name, gain), model, options, key, cc)
    return key


if __name__ == "__main__":
    for text in sys.argv[2:]:
        write(Path(sys.argv[1]), float(text))
