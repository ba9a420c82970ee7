"""How the operations of chains grow with their length, as the table of docs/algorithms.md.
python benchmarks/growth.py"""

from __future__ import annotations

from anyjoint import api, choice
from anyjoint.backend.budget import operations
from anyjoint.dynamics.algorithms import FORWARD, INVERSE
from anyjoint.ops import revolute_chain

LENGTHS = (10, 20, 50, 100, 200)
DEEP = 50  # what builds the mass matrix is inlined up to this length, which takes long
CHAINS = {"aligned": False, "oblique": True}


def row(name: str, algorithm: str, oblique: bool) -> list[str]:
    """Operations by length: of the inlined form, or with an r of the rolled one."""
    dense = name == "fd" and FORWARD[algorithm].equations is not None
    cells = []
    for n in LENGTHS:
        rolled = choice.rolled(algorithm) or (dense and n > DEEP)
        f = api.loads(revolute_chain(n, oblique)).function(
            name, algorithm=algorithm, form="rolled" if rolled else "inlined")
        cells.append(str(operations(f)["total"]) + " r" * (dense and n > DEEP))
    return cells


if __name__ == "__main__":
    print("| function | algorithm | chain |", " | ".join(map(str, LENGTHS)), "|")
    print("|---|---|---|" + "---|" * len(LENGTHS))
    for name, algorithms in (("id", INVERSE), ("fd", FORWARD)):
        for algorithm in algorithms:
            for chain, oblique in CHAINS.items():
                cells = " | ".join(row(name, algorithm, oblique))
                print(f"| {name} | {algorithm} | {chain} | {cells} |", flush=True)
