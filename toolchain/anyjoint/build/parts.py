"""A mechanism joint by joint, as the warnings about it need it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from anyjoint.build.couplings import rates
from anyjoint.build.values import full_names
from anyjoint.errors import Problem
from anyjoint.frontend.load import Document
from anyjoint.mechanism import Body, Mechanism


@dataclass(frozen=True)
class Part:
    """One joint with what concerns it: values at rest and in the named states, declared ranges,
    and the ranges to sample (with equal ends where a coordinate stays at rest)."""

    body: Body
    q: dict[str, Any]  # by state, "rest" first
    declared: tuple[Any, Any]
    sampled: tuple[Any, Any]
    dependent: frozenset[int]  # coordinates that follow from others


def parts(m: Mechanism) -> list[Part]:
    names = [n for body in m.bodies for n in full_names(body, body.joint.q_names)]
    lower, upper = np.full(len(names), -np.inf), np.full(len(names), np.inf)
    kept, dependent = list(range(len(names))), {}
    if m.coupling is not None:
        kept, dependent = list(m.coupling.q_kept), dict(m.coupling.dependent)
    lower[kept], upper[kept] = m.bounds.q_min, m.bounds.q_max
    for name, coordinate in dependent.items():
        lower[names.index(name)], upper[names.index(name)] = coordinate.range
    states = {name: _tree(m, q) for name, q in {"rest": m.q0, **m.states}.items()}
    out, a = [], 0
    for body in m.bodies:
        b = a + body.joint.nq
        rest, domain = states["rest"][a:b], body.joint.domain or [None] * body.joint.nq
        natural = [None if name in dependent else x
                   for name, x in zip(names[a:b], domain, strict=True)]
        ends = list(map(_ends, rest, lower[a:b], upper[a:b], natural))
        # components of a quaternion can't be varied one by one
        ends = [(x, x) if rate is None else pair
                for x, pair, rate in zip(rest, ends, rates(body.joint), strict=True)]
        sampled = np.array(ends, dtype=float).reshape(-1, 2).T
        out.append(Part(body, {name: q[a:b] for name, q in states.items()},
                          (lower[a:b], upper[a:b]), (sampled[0], sampled[1]),
                          frozenset(k for k, n in enumerate(names[a:b]) if n in dependent)))
        a = b
    return out


def _tree(m: Mechanism, q: Any) -> Any:
    """All coordinates of the tree."""
    if m.coupling is None:
        return q
    return m.coupling.graph(q, ca.DM(m.nv, 1), ca.DM(m.p0))[0].full().ravel()


def _ends(rest: float, lower: float, upper: float, domain: Any) -> tuple[float, float]:
    """What to sample: the declared range, else the joint's natural one, a unit or more of it
    beyond rest where it has one end only."""
    if not math.isfinite(upper - lower) and domain is not None:
        lower, upper = domain
        if math.isfinite(lower) and math.isinf(upper):
            upper = rest + max(1.0, rest - lower)
        elif math.isfinite(upper) and math.isinf(lower):
            lower = rest - max(1.0, upper - rest)
    return (lower, upper) if math.isfinite(upper - lower) else (rest, rest)


def problem(m: Mechanism, part: Part, state: str, message: str, hint: str,
             k: int | None = None, otherwise: str = "") -> Problem:
    """A problem of a joint (its k-th coordinate) in a state; without a `rest` key it stands at
    the key `otherwise` of the joint."""
    document: Document = m.document
    if state == "rest":
        given = document.spec.bodies[part.body.name].joint.rest is not None
        last = ["rest"] if given else [otherwise] if otherwise else []
        return document.problem(message, ("bodies", part.body.name, "joint", *last), hint, key=True)
    name, short = part.body.joint_name, part.body.joint.q_names
    own = [f"{name}.{n}" for n in (short if k is None else [short[k]])]
    keys = [key for key in (*own, name) if key in document.spec.states[state]]
    message = message if keys else f"{name}: {message}"
    return document.problem(message, ("states", state, *keys[:1]), hint, key=True)
