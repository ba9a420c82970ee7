"""Formulation stiffness: the error of forward dynamics in double precision against 50 digits, on
chains of heavy and light bodies with nearly aligned axes. Prints the tables of docs/stiffness.md
and draws docs/stiffness.png (4 minutes).   python benchmarks/stiffness.py

The picture needs matplotlib, which is no dependency of anyjoint (pip install matplotlib); mpmath
comes with the development extras."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import casadi as ca
import mpmath as mp
import numpy as np
from exact import precise

import anyjoint as aj
from anyjoint.dynamics import aba
from anyjoint.dynamics.link import Link

PICTURE = Path(__file__).parent.parent / "docs" / "stiffness.png"
DIGITS = 80  # of the sums, so that 50 are right in the end
N = 4
RATIOS = (1.0, 1e2, 1e4, 1e6, 1e8, 1e10)
ANGLES = (1.0, 1e-2, 1e-4, 1e-6, 1e-8)
STATES = 50
ANGLE = 1e-4  # where the ratio is varied; where the angle is, the ratio is the largest
CELLS = [*((ratio, ANGLE) for ratio in RATIOS),
         *((RATIOS[-1], angle) for angle in ANGLES if angle != ANGLE)]
TABLE = [(1.0, ANGLE), (1e2, ANGLE), (1e6, ANGLE), (1e10, ANGLE), (1e10, 1.0), (1e10, 1e-2),
         (1e10, 1e-8)]
MASSES: dict[str, Callable[[float], list[float]]] = {  # from base to tip
    "heavy tip": lambda x: [1, 1, 1, x],
    "alternating": lambda x: [1, x, 1, x],
    "heavy base": lambda x: [x, 1, 1, 1]}
PLOTTED = ("heavy tip", "alternating")
NATIVE = [("coaxial", "along", "heavy tip", 1e10, 1e-4),
          ("coaxial", "oblique", "alternating", 1e10, 1e-4),
          ("parallel", "along", "heavy tip", 1e10, 1e-4)]
# The joints' axis in the bodies' frames, and where the next body begins: along this axis, so that
# all axes nearly coincide, or beside it, so that they are nearly parallel.
AXES: dict[str, list[Any]] = {"along": [0, 0, "unit"],
                              "oblique": ["0.64*unit", "0.48*unit", "0.6*unit"]}
OFFSETS = {("coaxial", "along"): [0, 0, 0.5], ("coaxial", "oblique"): [0.32, 0.24, 0.3],
           ("parallel", "along"): [0.5, 0, 0.1], ("parallel", "oblique"): [0.364, -0.352, 0.06]}
METHODS = ("crba", "recursive", "aba", "printed", "aba_modified")


def chain(layout: str, frames: str, seed: int = 3) -> str:
    """Model text. Masses, axis and the angle between neighbouring axes are parameters: what is
    rounded is rounded inside the functions. Inertias have few bits, so that products and sums of
    these numbers, which are folded when the model is built, are exact."""
    rng = np.random.default_rng(seed)
    bodies: dict[str, Any] = {}
    for k in range(N):
        A = 0.3 * rng.standard_normal((3, 3))
        C = A @ A.T + 0.01 * np.eye(3)
        tensor = np.round(1024 * (np.trace(C) * np.eye(3) - C)) / 1024  # of unit mass
        com = np.round(64 * rng.uniform(-0.3, 0.3, 3)) / 64
        bodies[f"b{k}"] = {
            "parent": f"b{k - 1}" if k else "world", "mass": f"m{k}",
            "origin": {"xyz": OFFSETS[layout, frames], "rpy": ["0.6*angle", "-0.8*angle", 0]},
            "joint": {"type": "revolute", "axis": AXES[frames]},
            "com": com.tolist(),
            "inertia": {x + y: f"m{k}*({float(tensor['xyz'.index(x), 'xyz'.index(y)])})"
                        for x, y in ("xx", "yy", "zz", "xy", "xz", "yz")}}
    return json.dumps({"anyjoint": 1, "name": "chain", "gravity": [1, 2, -9.81], "bodies": bodies,
                       "parameters": {"angle": 0.1, "unit": 1, **{f"m{k}": 1 for k in range(N)}}})


def states(masses: str, ratio: float, angle: float, count: int) -> list[list[Any]]:
    """Random inputs q, v, tau, p of fd; the same q, v, tau for all ratios and angles."""
    rng = np.random.default_rng(7)
    p = np.array([angle, 1.0, *MASSES[masses](ratio)])
    return [[rng.uniform(-3, 3, N), *rng.standard_normal((2, N)), p] for _ in range(count)]


def printed(link: Link, R: Any, r: Any, S: Any, c: Any, b: Any, tau: Any, J_behind: Any,
            b_behind: Any) -> tuple[Any, ...]:
    """aba.inward with the pivot of seed 003, section 7 as printed: two quadratic forms, of M and
    of the matrix M̃. For comparison only."""
    behind, own = ca.tril2symm(ca.tril(J_behind)), link.momentum(S)
    D = S.T @ own + S.T @ (behind @ S) + ca.diag(link.armature)
    J = link.inertia(J_behind)
    return aba.eliminate(R, r, S, c, b + b_behind, tau, J, own + behind @ S, D)


def functions(text: str) -> dict[str, ca.Function]:
    """fd by every one of METHODS."""
    m = aj.loads(text)
    with mock.patch.object(aba, "inward", printed):
        found = {"printed": m.function("fd", form="inlined", algorithm="aba")}
    return found | {name: m.function("fd", form="inlined", algorithm=name)
                    for name in METHODS if name != "printed"}


def compiled(text: str) -> dict[str, Any]:
    """fd as C for this machine's processor, where it may have fused multiply-add."""
    m = aj.loads(text)
    with tempfile.TemporaryDirectory() as out:
        return {f"{name}, native": aj.compile(m, f"{out}/{name}", ["fd"], native=True,
                                              algorithms={"fd": name})["fd"]
                for name in ("crba", "aba", "aba_modified")}


def error(actual: Any, truth: list[Any]) -> float:
    """‖a − a*‖∞ / ‖a*‖∞."""
    differences = [abs(mp.mpf(x) - y) for x, y in zip(actual, truth, strict=True)]
    return float(max(differences) / max(abs(y) for y in truth))


def errors(found: dict[str, ca.Function], inputs: list[list[Any]]) -> dict[str, Any]:
    """Errors of every method over the states; and under `inputs` what changing every input by
    half a unit in its last place does to the exact result."""
    rng = np.random.default_rng(8)
    out: dict[str, list[float]] = {}
    with mp.workdps(DIGITS):
        for x in inputs:
            truth = precise(found["aba"], x)
            moved = [[mp.mpf(y) * (1 + s * mp.mpf(2) ** -53)
                      for y, s in zip(part, rng.choice([-1, 1], len(part)), strict=True)]
                     for part in x]
            out.setdefault("inputs", []).append(error(precise(found["aba"], moved), truth))
            for name, f in found.items():
                out.setdefault(name, []).append(error(ca.DM(f(*x)).full().ravel(), truth))
    return {name: np.array(e) for name, e in out.items()}


def table(results: dict[tuple[Any, ...], dict[str, Any]]) -> str:
    """Markdown: median (worst) over the states."""
    names = ("inputs", *METHODS)
    rows = [["axes", "frames", "masses", "ratio", "angle", *names], ["---"] * (5 + len(names))]
    for (layout, frames, masses, ratio, angle), e in results.items():
        rows.append([layout, frames, masses, f"{ratio:.0e}", f"{angle:.0e}",
                     *(f"{np.median(e[n]):.1e} ({e[n].max():.0e})" for n in names)])
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def picture(results: dict[tuple[Any, ...], dict[str, Any]]) -> None:
    """Medians against the ratio at one angle, and against the angle at one ratio."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        print("no picture: matplotlib is missing (pip install matplotlib)")
        return
    plt.rcParams["font.size"] = 7
    labels = {"ratio": f"ratio (angle {ANGLE:.0e})", "angle": f"angle (ratio {RATIOS[-1]:.0e})"}
    places = {"ratio": [(x, ANGLE) for x in RATIOS], "angle": [(RATIOS[-1], x) for x in ANGLES]}
    rows = [(masses, along) for along in labels for masses in PLOTTED]
    figure, axes = plt.subplots(len(rows), len(OFFSETS), figsize=(11, 10), sharey=True)
    for (masses, along), line in zip(rows, axes, strict=True):
        for (layout, frames), ax in zip(OFFSETS, line, strict=True):
            for name, style in zip(METHODS, ("s-", "v-", "o-", "k:", "*-"), strict=True):
                y = [np.median(results[(layout, frames, masses, *key)][name])
                     for key in places[along]]
                x = RATIOS if along == "ratio" else ANGLES
                ax.loglog(x, y, style, label=name, markersize=4, linewidth=1)
            ax.set(title=f"{layout} axes, frames {frames}", ylim=(1e-17, 1e-4),
                   xlabel=f"{masses}: {labels[along]}")
            ax.grid(alpha=0.3)
    axes[0, 0].legend()
    figure.tight_layout()
    figure.savefig(PICTURE, dpi=75)


def main() -> None:
    results: dict[tuple[Any, ...], dict[str, Any]] = {}
    for layout, frames in OFFSETS:
        found = functions(chain(layout, frames))
        counts = {name: f.n_instructions() for name, f in found.items()}
        print(f"{layout} {frames}, instructions: {counts}", flush=True)
        for masses in MASSES:
            for ratio, angle in CELLS:
                inputs = states(masses, ratio, angle, STATES)
                results[layout, frames, masses, ratio, angle] = errors(found, inputs)
    few = {k: e for k, e in results.items() if k[2] in PLOTTED and k[3:] in TABLE}
    print(table(few | {k: e for k, e in results.items()
                       if k[2] not in PLOTTED and k[3:] == (RATIOS[-1], ANGLE)}))
    picture(results)
    for layout, frames, masses, ratio, angle in NATIVE:
        text = chain(layout, frames)
        e = errors(functions(text) | compiled(text), states(masses, ratio, angle, STATES))
        medians = {n: f"{np.median(x):.1e}" for n, x in e.items()}
        print(layout, frames, masses, ratio, angle, medians)


if __name__ == "__main__":
    main()
