"""Inlined against rolled code: operations, C, compile seconds and time a call of fd and
id. Prints the table of docs/rolled.md.   python benchmarks/rolled.py"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import casadi as ca
from chains import revolute_chain, torus_chain

import anyjoint as aj
from anyjoint import choice, graphs, requests
from anyjoint.demo import seconds
from anyjoint.functions import CATALOGUE

CASES = [("aligned", n, revolute_chain(n)) for n in (6, 12, 20, 30, 50, 100)]
CASES += [("oblique", n, revolute_chain(n, oblique=True)) for n in (6, 10, 20, 50, 100)]
CASES += [("torus", n, torus_chain(n)) for n in (4, 10, 20)]


def main() -> None:
    print("| chain | function | kernels' operations | inlined: operations | gcc, s | call, µs "
          "| rolled: gcc, s | call, µs |\n|---|---|---|---|---|---|---|---|")
    for kind, n, text in CASES:
        m = aj.loads(text)
        for name in ("fd", "id"):
            options = requests.complete(CATALOGUE, m, name, {})
            options["algorithm"] = choice.resolve(m, name, options["algorithm"])
            _, tree = graphs._make(m, name, options, name, True, ca.MX)
            row = [f"{kind} {n}", name, str(tree.operations)]
            for form in ("inlined", "rolled"):
                with tempfile.TemporaryDirectory() as out:
                    lib = aj.compile(m, out, [name], form=form)
                    took = json.loads((Path(out) / "timings.json").read_text())["compile"]
                    total = lib.manifest["functions"][name]["budget"]["operations"]["total"]
                    row += ([str(total)] if form == "inlined" else []) + [f"{took:.2f}"]
                    row.append(f"{seconds(lib[name]) * 1e6:.2f}")
            print("| " + " | ".join(row) + " |", flush=True)


if __name__ == "__main__":
    main()
