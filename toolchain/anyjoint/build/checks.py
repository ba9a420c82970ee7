"""What a valid spec can still have wrong: names, the tree, physics. Each check notes
its problems in the scope; nothing is raised here."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import casadi as ca
import numpy as np

from anyjoint.build.scope import Scope
from anyjoint.errors import suggest
from anyjoint.frontend.formula import RESERVED
from anyjoint.frontend.load import Document
from anyjoint.frontend.schema import UserJoint
from anyjoint.joints import JOINTS
from anyjoint.mechanism import Mechanism, evaluate_at

PREFIX = re.compile(r"[A-Za-z](_?[A-Za-z0-9])*\Z")  # what CasADi takes for a function


def names(document: Document, scope: Scope) -> None:
    """Identifiers everywhere, and no name twice where one would hide the other."""
    spec = document.spec
    scope.identifier(spec.name, "name")
    if spec.name.isidentifier() and not PREFIX.match(spec.name):
        scope.problem(f'"{spec.name}" can\'t be the prefix of C symbols', "name",
                      hint="a letter first, no two _ in a row and none at the end")
    for section in ("constants", "parameters", "tables", "joint_types", "bodies", "frames",
                    "actuators", "forces", "constraints", "states"):
        for name in getattr(spec, section) or {}:
            scope.identifier(name, section, name, key=True)
    for name, definition in spec.joint_types.items():
        _joint_type(scope.at("joint_types", name), name, definition)
    for name, body in spec.bodies.items():
        if body.joint.name is not None:
            scope.identifier(body.joint.name, "bodies", name, "joint", "name")
        for frame in body.frames:
            scope.identifier(frame, "bodies", name, "frames", frame, key=True)
    _twice(scope, [(n, ("parameters", n)) for n in spec.parameters],
           [(n, ("constants", n)) for n in spec.constants])
    _twice(scope, [("world", ())],
           [(n, ("bodies", n)) for n in spec.bodies],
           [(f, ("bodies", n, "frames", f)) for n, b in spec.bodies.items() for f in b.frames],
           [(n, ("frames", n)) for n in spec.frames])
    _twice(scope, [(b.joint.name or n, ("bodies", n, "joint", "name"))
                   for n, b in spec.bodies.items()])


def _joint_type(scope: Scope, name: str, definition: Any) -> None:
    if name in JOINTS:
        scope.problem(f'"{name}" is a joint of anyjoint already', key=True, hint="rename the type")
    for kind in ("coordinates", "arguments"):
        for own in getattr(definition, kind):
            scope.identifier(own, kind, own, key=True)
            if own in RESERVED:
                scope.problem(f'"{own}" is already a function or constant', kind, own, key=True,
                              hint="rename it")
    for own in definition.arguments:
        if own in definition.coordinates:
            scope.problem(f'the name "{own}" is taken by a coordinate', "arguments", own, key=True)
        elif own in UserJoint.model_fields:
            scope.problem(f'"{own}" is a key of every joint', "arguments", own, key=True,
                          hint="rename the argument")


def _twice(scope: Scope, *groups: Iterable[tuple[str, tuple[Any, ...]]]) -> None:
    seen: dict[str, tuple[Any, ...]] = {}
    for name, path in (pair for group in groups for pair in group):
        if name in seen:
            where = ".".join(map(str, seen[name])) or "the world frame"
            scope.problem(f'the name "{name}" is taken by {where}', *path, key=True,
                          hint="rename one of them")
        seen.setdefault(name, path)


def tree(document: Document, scope: Scope) -> list[str]:
    """Parents exist and lead to the world; the bodies, parents before children."""
    bodies = document.spec.bodies
    for name, body in bodies.items():
        if body.parent != "world" and body.parent not in bodies:
            scope.problem(f'unknown parent "{body.parent}"', "bodies", name, "parent",
                          hint=suggest(body.parent, [*bodies, "world"], "bodies"))
    order: list[str] = []
    settled = {"world"} | {b.parent for b in bodies.values() if b.parent not in bodies}
    circular: dict[str, None] = {}  # bodies that don't reach the world, in order
    for start in bodies:
        chain: dict[str, None] = {}
        name = start
        while name not in settled and name not in circular and name not in chain:
            chain[name] = None
            name = bodies[name].parent
        if name in settled:
            order += reversed(chain)
            settled |= chain.keys()
        else:
            circular |= chain
    _report_cycles(scope, bodies, list(circular))
    return order


def _report_cycles(scope: Scope, bodies: Any, waiting: list[str]) -> None:
    cyclic: set[str] = set()
    for start in waiting:
        chain, name = [], start
        while name not in chain and name not in cyclic:
            chain.append(name)
            name = bodies[name].parent
        if name in cyclic:
            continue
        circle = chain[chain.index(name):]
        cyclic |= set(circle)
        shown = [*circle[:6], *(["…"] if len(circle) > 6 else []), circle[0]]
        scope.problem("bodies carry each other in a circle: " + " → ".join(shown),
                      "bodies", circle[0], "parent", hint="one of them must lead to the world")
    for name in waiting:
        if name not in cyclic:
            scope.problem(f'"{name}" does not reach the world: its ancestors form a circle',
                          "bodies", name, "parent")


def inertias(document: Document, mechanism: Mechanism, scope: Scope) -> None:
    """Masses and inertias at the parameters' defaults, of bodies without other problems."""
    constants = evaluate_at([ca.vertcat(b.link.m, b.link.h, b.link.I6) for b in mechanism.bodies],
                            mechanism.p, ca.DM(mechanism.p0))
    keyed = {".".join(p.key.replace("[", ".").split(".")[:3]) for p in scope.problems}
    for body, column in zip(mechanism.bodies, constants, strict=True):
        keys = document.spec.bodies[body.name]
        if keyed & {f"bodies.{body.name}.{key}" for key in ("mass", "com", "inertia", "shapes")}:
            continue
        check = keys.check_inertia and document.spec.check_inertia
        _inertia(scope, body.name, np.array(column).ravel(), keys, check)

def _inertia(scope: Scope, name: str, column: Any, keys: Any, check: bool) -> None:
    m, h, (xx, yy, zz, xy, xz, yz) = column[0], column[1:4], column[4:]
    given = "mass" if keys.mass is not None else "shapes" if keys.shapes else "mass"
    if not np.isfinite(column).all():  # reported where it comes from
        return
    if m < 0:
        scope.problem(f"the mass is {m:g}", "bodies", name, given, key=True, hint="mass > 0")
        return
    c = h / m if m > 0 else np.zeros(3)
    I_o = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    moments = np.linalg.eigvalsh(I_o - m * (c @ c * np.eye(3) - np.outer(c, c)))
    slack = 1e-9 * max(np.trace(I_o), 1e-300)
    where = "inertia" if keys.inertia is not None else given
    listed = ", ".join(f"{x:g}" for x in moments)
    if moments[0] < -slack:
        scope.problem(f"the inertia is not positive: principal moments {listed}",
                      "bodies", name, where, hint="about the com, with URDF's signs of xy, xz, yz")
    elif check and moments[2] > moments[0] + moments[1] + slack:
        scope.problem(f"no body has this inertia: of the principal moments {listed} the largest "
                      "exceeds the sum of the others", "bodies", name, where,
                      hint="about the com, not the joint; check_inertia: false turns this off")
