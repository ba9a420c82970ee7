"""Warnings about a mechanism that can be built: joints that are singular somewhere in their
ranges, rest values and named states that are singular or out of range."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import casadi as ca
import numpy as np

from anyjoint.build import coupled
from anyjoint.build.values import full_names
from anyjoint.dynamics import singular
from anyjoint.dynamics.criteria import SINGULAR, Criteria
from anyjoint.dynamics.singular import Spot
from anyjoint.errors import Problem, ordered
from anyjoint.frontend.load import Document
from anyjoint.mechanism import Body, Mechanism, evaluate_at

_SHOWN = 3  # spots in one message
_HINT = "give the coordinates ranges that leave this out, or use a joint without it"
_ALIKE = "where two surfaces or curves bend alike, their contact is not unique; " + _HINT


@dataclass(frozen=True)
class Part:
    """One joint with what concerns it: values at rest and in the named states, declared ranges,
    and the ranges to sample (with equal ends where a coordinate stays at rest)."""

    body: Body
    q: dict[str, Any]  # by state, "rest" first
    declared: tuple[Any, Any]
    sampled: tuple[Any, Any]


def warnings(m: Mechanism, ranges: bool = True) -> list[Problem]:
    """All warnings, in the order of the document; without `ranges` those about rest and named
    states only, which are quick."""
    parts = _parts(m)
    found = [p for part in parts for p in _out_of_range(m, part)]
    found += coupled.warnings(m) if ranges else []
    arguments = evaluate_at([part.body.link.arguments for part in parts], m.p, ca.DM(m.p0))
    kinds: dict[Any, list[int]] = {}
    for i, part in enumerate(parts):
        kinds.setdefault(part.body.joint.kind, []).append(i)
    for members in kinds.values():
        joint = parts[members[0]].body.joint
        if joint.nv:
            found += _singular(m, [parts[i] for i in members],
                               np.array([arguments[i].full().ravel() for i in members]), ranges)
    return [replace(p, severity="warning") for p in ordered(found)]


def _parts(m: Mechanism) -> list[Part]:
    names = [n for body in m.bodies for n in full_names(body, body.joint.q_names)]
    lower, upper = np.full(len(names), -np.inf), np.full(len(names), np.inf)
    kept, dependent = list(range(len(names))), {}
    if m.coupling is not None:
        kept, dependent = list(m.coupling.q_kept), dict(m.coupling.dependent)
    lower[kept], upper[kept] = m.bounds.q_min, m.bounds.q_max
    for name, coordinate in dependent.items():
        lower[names.index(name)], upper[names.index(name)] = coordinate.range
    states = {name: _tree(m, q) for name, q in {"rest": m.q0, **m.states}.items()}
    parts, a = [], 0
    for body in m.bodies:
        b = a + body.joint.nq
        rest, domain = states["rest"][a:b], body.joint.domain or [None] * body.joint.nq
        natural = [None if name in dependent else x
                   for name, x in zip(names[a:b], domain, strict=True)]
        ends = list(map(_ends, rest, lower[a:b], upper[a:b], natural))
        sampled = np.array(ends, dtype=float).reshape(-1, 2).T
        parts.append(Part(body, {name: q[a:b] for name, q in states.items()},
                          (lower[a:b], upper[a:b]), (sampled[0], sampled[1])))
        a = b
    return parts


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


# -- out of range ---------------------------------------------------------------------------------


def _out_of_range(m: Mechanism, part: Part) -> list[Problem]:
    found = []
    for state, q in part.q.items():
        for k, (x, lo, hi) in enumerate(zip(q, *part.declared, strict=True)):
            slack = 1e-9 * max(1.0, abs(x))
            if (lo - slack <= x <= hi + slack) or (state != "rest" and x == part.q["rest"][k]):
                continue
            name = part.body.joint.q_names[k]
            shown = f"{name} = " if part.body.joint.nq > 1 else ""
            at = " at rest" if state == "rest" else ""
            found.append(_problem(
                m, part, state, f"{shown}{x:.6g}{at} is outside the range [{lo:.6g}, {hi:.6g}]",
                "give a rest inside the range" if state == "rest" else "", k, "range"))
    return found


def _problem(m: Mechanism, part: Part, state: str, message: str, hint: str,
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


# -- singular -------------------------------------------------------------------------------------


def _singular(m: Mechanism, parts: Sequence[Part], arguments: Any,
              ranges: bool) -> list[Problem]:
    """Of the joints of one kind."""
    rows = np.column_stack([arguments, [(*p.q["rest"], *p.sampled[0], *p.sampled[1])
                                        for p in parts]])
    _, first, inverse = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    inverse = inverse.ravel()
    nq = parts[0].body.joint.nq
    rest, lower, upper = np.split(rows[first, arguments.shape[1]:], [nq, 2 * nq], axis=1)
    criteria = Criteria(parts[0].body.joint, arguments[first], rest, lower, upper)
    bad = {state: criteria(inverse, np.array([p.q[state] for p in parts])) < SINGULAR
           for state in parts[0].q}
    spots = singular.find(criteria) if ranges else [[] for _ in first]
    found = []
    for i, part in enumerate(parts):
        for state, wrong in bad.items():
            if wrong[i].any() and (state == "rest" or (part.q[state] != part.q["rest"]).any()):
                c = int(np.flatnonzero(wrong[i])[-1])
                found.append(_problem(
                    m, part, state, f"singular {'at rest' if state == 'rest' else 'here'}: "
                    f"{criteria.texts[c]}", _hint(criteria, c)))
        if not bad["rest"][i].any():
            found += _spots(m, part, spots[inverse[i]], criteria)
    return found


def _hint(criteria: Criteria, c: int) -> str:
    """What the joint advises about a criterion."""
    advice = criteria.advice[c] or (c != 1 and criteria.joint.advice) or (
        _ALIKE if c == 0 and len(criteria.texts) > 2 else _HINT)
    return advice.replace("{", "").replace("}", "")


def _spots(m: Mechanism, part: Part, spots: list[Spot], criteria: Criteria) -> list[Problem]:
    found = []
    for c in dict.fromkeys(spot.criterion for spot in spots):
        same = [s for s in spots if s.criterion == c]
        several = len(same) > 1 and any(len(s.about) > 1 for s in same)  # points of a curve
        places = [_where(part.body.joint.q_names, s) for s in same[: 1 if several else _SHOWN]]
        shown = "; ".join(places) + " and elsewhere" * (len(same) > len(places))
        found.append(m.document.problem(
            f"singular {shown}: {criteria.texts[c]}", ("bodies", part.body.name, "joint"),
            _hint(criteria, c), key=True))
    return found


def _where(names: Sequence[str], spot: Spot) -> str:
    return "at " + ", ".join(f"{names[i]} = {_number(spot.q[i])}" for i in spot.about) \
        if spot.about else "in its whole range"


def _number(x: float) -> str:
    """1.571 (90°): degrees where they are round."""
    if abs(x) < 1e-9:
        return "0"
    degrees = math.degrees(x)
    is_round = abs(degrees) > 1 and abs(degrees - 15 * round(degrees / 15)) < 1e-3
    return f"{x:.4g}" + (f" ({round(degrees)}°)" if is_round else "")
