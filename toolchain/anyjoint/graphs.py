"""The casadi.Function of an entry of the catalogue, inlined or rolled, by any algorithm."""

from __future__ import annotations

import math
from typing import Any

import casadi as ca

from anyjoint import choice, preconditions, requests
from anyjoint.dynamics.tree import Tree
from anyjoint.errors import InputError
from anyjoint.functions import CATALOGUE, outputs
from anyjoint.mechanism import Mechanism

# A function whose kernels have more operations than this in all keeps them as calls
# ("rolled") if they are called twice or more on average; one without such reuse from four
# times as many on, for gcc's sake. Measured in docs/rolled.md.
ROLLED_ABOVE = 10_000


def function(m: Mechanism, name: str, *, form: str = "auto", dense: bool = False,
             alias: str = "", **options: Any) -> ca.Function:
    """The casadi.Function `name` of a mechanism, named <mechanism>_<alias>; the alias is by
    default the function's name with those of its options that are no defaults.

    form: "inlined" (one SX graph), "rolled" (MX, kernels as calls), or "auto": rolled where
    the inlined graph would be large. dense: matrices with their structural zeros."""
    options = requests.complete(CATALOGUE, m, name, options)
    alias = alias or requests.alias(CATALOGUE, name, options)
    if form not in ("auto", "inlined", "rolled"):
        raise InputError(f'unknown form "{form}"; allowed: auto, inlined, rolled')
    preconditions.check(m, name, options)
    if "algorithm" in options:
        options["algorithm"] = choice.resolve(m, name, options["algorithm"])
        if form != "rolled" and choice.rolled(options["algorithm"]):
            if form == "inlined":
                raise InputError(f"{name}: {options['algorithm']} factorises at run time and has "
                                 "no inlined form; use form=rolled or auto")
            form = "rolled"
    if form != "inlined":
        rolled, tree = _make(m, name, options, alias, dense, ca.MX)
        if form == "rolled" or _large(tree):
            return rolled
    inlined, _ = _make(m, name, options, alias, dense, ca.SX)
    return rolled if form == "auto" and _large(tree, inlined.n_instructions()) else inlined


def _large(tree: Tree, inlined: int | None = None) -> bool:
    """Is the rolled form the better one? Without the instructions of the inlined form: for
    sure, whatever folds in it; couplings may leave less than half of the kernels' operations."""
    reused = tree.operations >= 2 * sum(f.n_instructions() for f in tree.kernels)
    limit = ROLLED_ABOVE if reused else 4 * ROLLED_ABOVE
    if inlined is None:
        return tree.operations > 4 * limit
    return tree.operations > limit and 2 * inlined > tree.operations


def _make(m: Mechanism, name: str, options: dict[str, Any], alias: str, dense: bool,
          X: Any) -> tuple[ca.Function, Tree]:
    """The function over symbols of type X (SX or MX), and the tree that it was built with."""
    entry = CATALOGUE[name]
    sizes = {"q": m.nq, "v": m.nv, "a": m.nv, "tau": m.nv, "q0": m.nq, "q1": m.nq, "dq": m.nv,
             "x": m.nq + m.nv, "u": m.nu, "p": m.np, "given": m.nv,
             **dict.fromkeys(("fext", "V", "F"), (6, len(m.bodies)))}
    symbols = {n: X.sym(n, *(s if isinstance(s := sizes[n], tuple) else (s,)))
               for n in entry.inputs}
    tree = Tree(m, symbols.get("p", X(m.p0)))
    keywords = {k: m.frame(x) if k == "frame" else x for k, x in options.items()}
    made = outputs(tree, name, *[x for n, x in symbols.items() if n != "p"], **keywords)
    made = [X(x) for x in (made if isinstance(made, (list, tuple)) else [made])]
    # vectors are dense; matrices keep their structural zeros, which solvers make use of
    made = [ca.densify(x) if dense or x.shape[1] == 1 else x for x in made]
    made = ca.cse(made) if X is ca.SX else made
    names = entry.outputs(m) if callable(entry.outputs) else entry.outputs
    # p left out of a call is not silently zero: the result is not a number
    default = [math.nan if n == "p" else 0.0 for n in symbols]
    f = ca.Function(f"{m.name}_{alias}", list(symbols.values()), made, list(symbols), list(names),
                    {"default_in": default})
    return f, tree
