"""Model texts of chains of any length, for measurements and for the tests of growth; run as
a script it writes models/revolute_chain_*.yaml.   python benchmarks/chains.py"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from anyjoint.ops import cloud, revolute_chain

__all__ = ["LENGTHS", "revolute_chain", "revolute_chain_model", "torus_chain"]

MODELS = Path(__file__).parent.parent / "models"
LENGTHS = (6, 20, 50, 100)  # of models/revolute_chain_*.yaml


def torus_chain(n: int) -> str:
    """models/torus_chain_4.yaml with n rings: 4 n − 2 coordinates."""
    text = (MODELS / "torus_chain_4.yaml").read_text()
    return text.replace("k: [2, 4]", f"k: [2, {n}]").replace("torus_chain_4 ", f"torus{n} ")


def revolute_chain_model(n: int, seed: int = 6) -> str:
    """The text of models/revolute_chain_<n>.yaml; a shorter chain is the start of a longer."""
    generator = np.random.default_rng(seed)
    text = _HEAD.format(n=n)
    for i in range(n):
        masses = generator.uniform(0.2, 0.5, 6)
        com, inertia = cloud(masses, 0.08 * generator.normal(size=(6, 3)) + [0, 0, 0.15])
        text += _LINK.format(
            k=i + 1, parent=f"link_{i}" if i else "world", axis="xyz"[i % 3],
            origin="\n    origin: {xyz: [0, 0, 0.3]}" if i else "",
            rest="" if i else ", rest: 90*deg", shapes="*link" if i else _CAPSULE,
            mass=masses.sum(), com=", ".join(f"{x:.4f}" for x in com),
            inertia=", ".join(f"{k}: {x:.5f}" for k, x in inertia.items()))
    return text


_HEAD = """# yaml-language-server: $schema=./anyjoint.schema.json
# {n} revolute joints with axes x, y, z in turn, 0.3 m apart along z, full inertias from a fixed
# seed: the revolute chains of Guenter and Lee, "Symbolic Lagrangian multibody dynamics", and
# of Si and Guenter, "Linear-Time Dynamics …" (RC20, RC50, RC100). At rest it is held out
# horizontally. Written by benchmarks/chains.py.
anyjoint: 1
name: revolute_chain_{n}
gravity: [0, 0, -9.81]

bodies:
"""
_LINK = """  link_{k}:
    parent: {parent}{origin}
    joint: {{name: joint_{k}, type: revolute, axis: {axis}{rest}}}
    mass: {mass:.4f}
    com: [{com}]
    inertia: {{{inertia}}}
    shapes: {shapes}
"""
_CAPSULE = "&link [{type: capsule, radius: 0.04, length: 0.2, origin: {xyz: [0, 0, 0.15]}}]"


if __name__ == "__main__":
    for length in LENGTHS:
        (MODELS / f"revolute_chain_{length}.yaml").write_text(revolute_chain_model(length))
