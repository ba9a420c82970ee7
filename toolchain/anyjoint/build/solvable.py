"""Can the equations of motion be solved? Joints that are not finite at rest, and inertia that is
singular everywhere, are problems of the model; what is singular here and there are warnings
(regularity.py)."""

from __future__ import annotations

from typing import Any

import casadi as ca

from anyjoint.build import constraints
from anyjoint.build.scope import Scope
from anyjoint.dynamics import pivots
from anyjoint.dynamics.tree import Tree
from anyjoint.mechanism import Mechanism


def check(mechanism: Mechanism, scope: Scope) -> None:
    """Joints are finite at rest, and every pivot of the elimination is positive somewhere:
    else M is singular everywhere."""
    tree = Tree(mechanism, ca.DM(mechanism.p0))
    rest, coupling = ca.DM(mechanism.q0), mechanism.coupling
    if coupling is not None:
        for name in coupling.undefined(rest, tree.p):
            scope.problem("the derivatives of this formula are not finite at rest",
                          *coupling.dependent[name].path,
                          hint="choose another rest, or a smooth formula")
        rest = coupling.graph(rest, ca.DM(mechanism.nv, 1), tree.p)[0]
    for i in pivots.undefined_joints(tree, rest):
        unmet = pivots.unmet_condition(tree, i, rest)
        text, advice = (unmet.text, unmet.advice) if unmet else (
            "the transform or its derivative is not finite", "write the formulas so that they are "
            "smooth")
        scope.problem(f"{text} at rest", "bodies", mechanism.bodies[i].name, "joint", key=True,
                      hint="choose another rest, or: " + advice.replace("{", "").replace("}", ""))
    if scope.problems:
        return
    constraints.check(mechanism, scope, rest)
    _inertia(mechanism, scope, tree, rest)


def _inertia(mechanism: Mechanism, scope: Scope, tree: Tree, rest: Any) -> None:
    """Every joint meets inertia somewhere near rest (nq of the tree)."""
    coupling = mechanism.coupling
    if coupling is None:
        singular = pivots.singular_joints(tree, rest)
    else:
        found = pivots.singular_coordinates(tree)
        singular = None if found is None else [_carried_by(mechanism, k) for k in found]
    if singular is None:
        scope.problem("the mass matrix is not finite near rest", "bodies", key=True,
                      hint="numbers are too large, or too small; SI units are expected")
    for i in singular or ():
        body = mechanism.bodies[i]
        if coupling is None and pivots.dependent(tree, i, rest):
            scope.problem("the coordinates of this joint are not independent",
                          "bodies", body.name, "joint", key=True,
                          hint="parallel axes; or two surfaces or curves that bend alike, and so "
                               "touch at more than a point")
            continue
        keys = scope.document.spec.bodies[body.name]
        where = ("mass",) if keys.mass is not None else ()
        scope.problem(
            f'the mass matrix is singular: nothing resists the joint "{body.joint_name}"',
            "bodies", body.name, *where, key=True,
            hint="give this body or one behind it mass and inertia, or the joint an armature; "
                 "if it has them, the joint's coordinates are not independent")


def _carried_by(mechanism: Mechanism, k: int) -> int:
    """The body whose joint has the k-th velocity."""
    joint = mechanism.v_names[k].partition(".")[0]
    return next(i for i, body in enumerate(mechanism.bodies) if body.joint_name == joint)
