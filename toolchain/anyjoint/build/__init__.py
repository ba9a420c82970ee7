"""Spec → mechanism: names to indices, formulas to numbers or expressions of p. All
problems of a document are collected and raised together."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from anyjoint.build import checks, sections, solvable, states
from anyjoint.build.constraint_formulas import Model
from anyjoint.build.constraints import constraints
from anyjoint.build.couplings import Coordinates, couplings, written
from anyjoint.build.forces import forces
from anyjoint.build.inertia import body_inertia
from anyjoint.build.scope import Scope
from anyjoint.build.values import column, full_names, nonnegative, pose, v_names_of
from anyjoint.dynamics.link import Kind, Link
from anyjoint.errors import ModelError
from anyjoint.frontend import standins
from anyjoint.frontend.load import Document
from anyjoint.joints.contract import Joint
from anyjoint.joints.formula import FormulaJoint
from anyjoint.mechanism import Body, Mechanism


@np.errstate(all="ignore")  # what is not finite is reported where it is used
def build(document: Document, bake: bool = False) -> Mechanism:
    """The mechanism of a document; ModelError carries every problem found."""
    scope = Scope.of(document, bake)
    checks.names(document, scope)
    order = checks.tree(document, scope)
    for name, definition in document.spec.joint_types.items():
        FormulaJoint(None, scope.at("joint_types", name), definition, ("joint_types", name))
    joints = {name: _joint(scope, name, keys) for name, keys in document.spec.bodies.items()}
    links = {name: _link(scope, name, joint) for name, joint in joints.items()}
    mechanism = _assemble(document, scope, order, links, bake)
    checks.inertias(document, mechanism, scope)
    own = [p for p in scope.problems if not standins.caused(p.key, document.replaced) and
           (p.key.endswith(".type") or not standins.caused(p.key, frozenset(scope.replaced)))]
    problems = [*document.problems, *own]
    if not problems:
        solvable.check(mechanism, scope)
        problems = scope.problems
    if problems:
        raise ModelError(problems)
    return mechanism


def _joint(scope: Scope, name: str, keys: Any) -> Joint:
    return scope.at("bodies", name).joint(keys.joint, "joint")


def _link(scope: Scope, name: str, joint: Joint) -> Link:
    keys, here = scope.document.spec.bodies[name], scope.at("bodies", name)
    R0, r0 = pose(here, keys.origin, "origin")
    Rc, rc = pose(here, keys.child_origin, "child_origin")
    m, h, I6 = body_inertia(here, keys)
    names = v_names_of(joint)
    armature = nonnegative(here, keys.joint.armature, names, 0.0, "joint", "armature")
    return Link(joint, R0, r0, Rc, rc, m, h, I6, column(armature),
                column(joint.arguments))


def _assemble(document: Document, scope: Scope, order: list[str], links: dict[str, Link],
              bake: bool) -> Mechanism:
    spec = document.spec
    index = {name: i for i, name in enumerate(spec.bodies)} | {"world": -1}
    bodies = tuple(Body(name, index.get(keys.parent, -1), keys.joint.name or name, links[name],
                        *Kind.of(links[name])) for name, keys in spec.bodies.items())
    q_names = [n for b in bodies for n in full_names(b, b.joint.q_names)]
    v_names = [n for b in bodies for n in full_names(b, v_names_of(b.joint))]
    _distinct_in_c(scope, bodies)
    given = written(scope, coordinates := Coordinates(bodies))
    rest, ends = states.rest(scope, bodies, given), sections.ranges(scope, bodies)
    coupling = couplings(scope, coordinates, given, rest, ends)
    q_kept, v_kept = list(range(len(q_names))), list(range(len(v_names)))
    if coupling is not None:
        q_kept, v_kept = list(coupling.q_kept), list(coupling.v_kept)
    named = states.states(scope, bodies, rest, given)
    u_names, actuation, u_max = sections.actuators(scope, bodies, v_names, v_kept)
    frames = tuple(sections.frames(scope, index))
    by_name = {f.name: f for f in frames}
    parameters = () if bake else tuple(spec.parameters)
    return Mechanism(
        name=spec.name, hash=_hash(spec, bake), bodies=bodies,
        order=tuple(index[name] for name in order), frames=frames,
        gravity=column([scope.at()(x, "gravity", i) for i, x in enumerate(spec.gravity)]),
        p=scope.p, p_names=parameters,
        p0=np.array([scope.numbers[n] for n in parameters], dtype=float),
        q_names=tuple(q_names[i] for i in q_kept), v_names=tuple(v_names[k] for k in v_kept),
        u_names=tuple(u_names), actuation=actuation, q0=rest[q_kept],
        states={name: q[q_kept] for name, q in named.items()},
        bounds=sections.bounds(scope, bodies, ends, u_max, q_kept, v_kept),
        passive=sections.passive(scope, bodies, coupling),
        forces=forces(scope, spec.forces, index, by_name), coupling=coupling,
        constraints=constraints(Model(scope, bodies, index, by_name, coordinates,
                                      states.completed(scope, rest, coupling))),
        document=document)


def _distinct_in_c(scope: Scope, bodies: tuple[Body, ...]) -> None:
    """Coordinates whose names differ only by case, dot and underscore are one name in C."""
    seen: dict[str, str] = {}
    for body in bodies:
        for name in full_names(body, body.joint.q_names):
            other = seen.setdefault(name.replace(".", "_").upper(), name)
            if other != name:
                scope.at("bodies", body.name).problem(
                    f'the coordinates "{other}" and "{name}" have the same name in C',
                    "joint", "name", hint="rename one of the joints")


def _hash(spec: Any, bake: bool) -> str:
    text = spec.model_dump_json(exclude={"include"}) + ("baked" if bake else "")
    return hashlib.sha256(text.encode()).hexdigest()
