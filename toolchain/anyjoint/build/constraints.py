"""The section `constraints` of a document."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

from anyjoint.build.constraint_formulas import GRAPHS, Model
from anyjoint.build.forces import site
from anyjoint.build.scope import Scope
from anyjoint.dynamics.closure import Closure
from anyjoint.dynamics.constraints import Formulas, Rolling
from anyjoint.dynamics.rows import Constraint
from anyjoint.dynamics.tree import Tree
from anyjoint.errors import suggest
from anyjoint.mechanism import Mechanism, evaluate_at

_ROLLING_VELOCITIES = 5  # of a contact: with fewer, the surfaces can't roll any way they like


def constraints(model: Model) -> tuple[Constraint, ...]:
    """The constraints of a document; one with a problem is left out."""
    found, seen = [], dict[str, str]()
    for name, keys in model.scope.document.spec.constraints.items():
        if (made := _constraint(model, name, keys)) is not None:
            found.append(made)
        for own in () if made is None else made.lambda_names:
            if (other := seen.setdefault(own.replace(".", "_").upper(), own)) != own:
                model.scope.problem(f'the multipliers "{other}" and "{own}" have the same name in '
                                    "C", "constraints", name, key=True, hint="rename one of them")
                break
    return tuple(found)


def _constraint(model: Model, name: str, keys: Any) -> Constraint | None:
    here, T = model.scope.at("constraints", name), None
    if keys.time_constant is not None:
        T = ca.SX(here.positive(keys.time_constant, "time_constant"))
    if keys.type == "rolling":
        body = _rolling(model, here, keys)
        labels = ("x", "y") + ("pivot",) * (keys.pivot == "forbidden")
        return None if body is None else Rolling(name, labels, T, False, body)
    if keys.type in ("point", "frame"):
        return _closure(model, here, name, keys, T)
    graph = GRAPHS[keys.type](model, here, keys)
    return None if graph is None else Formulas(name, ("",), T, keys.type != "pfaffian", graph)


# -- rolling and closed loops -----------------------------------------------------------------


def _rolling(model: Model, here: Scope, keys: Any) -> int | None:
    """The body whose joint rolls."""
    touching = {b.joint_name: b.joint.nv for b in model.bodies if b.joint.touches}
    able = [name for name, nv in touching.items() if nv >= _ROLLING_VELOCITIES]
    kinds = "joints of type contact and curve_surface roll"
    if keys.joint in able:
        return next(i for i, b in enumerate(model.bodies) if b.joint_name == keys.joint)
    what = f'"{keys.joint}" has too few coordinates to roll' if keys.joint in touching else \
        f'nothing touches in the joint "{keys.joint}"' \
        if any(b.joint_name == keys.joint for b in model.bodies) else f'no joint "{keys.joint}"'
    here.problem(what, "joint", hint=f"{kinds}; " + suggest(keys.joint, able, "here") if able
                 else kinds + "; this model has none")
    return None


def _closure(model: Model, here: Scope, name: str, keys: Any, T: Any) -> Closure | None:
    for i, x in enumerate(keys.directions):
        if x in keys.directions[:i]:
            here.problem(f'"{x}" is there twice', "directions", i, hint="remove one")
            return None
    known = len(here.problems)
    ends = tuple(site(here, key, where, model.index, model.frames)
                 for key, where in (("from", keys.from_), ("to", keys.to)))
    if len(here.problems) > known:
        return None
    if ends[0][0] == ends[1][0]:
        here.problem(f'"{keys.from_}" and "{keys.to}" are on the same body', "to",
                     hint="a loop is closed between two bodies, or a body and the world")
        return None
    return Closure(name, tuple(keys.directions), T, True, ends)


_TEXTS = {"holonomic": "formula", "pfaffian": "coefficients"}


def check(mechanism: Mechanism, scope: Scope, rest: Any) -> None:
    """Rows are finite at rest (q of the tree)."""
    tree = Tree(mechanism, ca.DM(mechanism.p0))
    for c in mechanism.constraints:
        if not np.isfinite(evaluate_at([c.gains], mechanism.p, tree.p)[0].full()).all():
            scope.problem("time_constant is too small", "constraints", c.name, "time_constant",
                          hint="some steps of the integrator, s")
            continue
        rows = c.rows(tree, rest, ca.DM.ones(tree.nv))
        if not all(np.isfinite(np.array(ca.DM(x))).all() for x in rows):
            keys = scope.document.spec.constraints[c.name]
            scope.problem("the derivatives of this constraint are not finite at rest",
                          "constraints", c.name, *([_TEXTS[keys.type]] * (keys.type in _TEXTS)),
                          hint="choose another rest, or a smooth formula")
