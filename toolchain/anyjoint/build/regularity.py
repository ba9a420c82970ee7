"""Warnings about a mechanism that can be built: joints that are singular somewhere in their
ranges, rest values and named states that are singular or out of range."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import casadi as ca
import numpy as np

from anyjoint.build import constrained_checks, coupled
from anyjoint.build.parts import Part, problem
from anyjoint.build.parts import parts as split
from anyjoint.dynamics import pivots, singular
from anyjoint.dynamics.criteria import SINGULAR, Criteria
from anyjoint.dynamics.singular import Spot
from anyjoint.dynamics.tree import Tree
from anyjoint.errors import Problem, ordered
from anyjoint.mechanism import Mechanism, evaluate_at

_SHOWN = 3  # spots in one message
_HINT = "give the coordinates ranges that leave this out, or use a joint without it"
_ALIKE = "where two surfaces or curves bend alike, their contact is not unique; " + _HINT


@np.errstate(all="ignore")  # what is not finite is judged as such
def warnings(m: Mechanism, ranges: bool = True) -> list[Problem]:
    """All warnings, in the order of the document; without `ranges` those about rest and named
    states only, which are quick."""
    parts = split(m)
    found = [p for part in parts for p in _out_of_range(m, part)]
    found += coupled.warnings(m) if ranges else []
    found += _massless(m, parts)
    found += constrained_checks.warnings(m, ranges)
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


# -- out of range ---------------------------------------------------------------------------------


def _out_of_range(m: Mechanism, part: Part) -> list[Problem]:
    found = []
    for state, q in part.q.items():
        for k, (x, lo, hi) in enumerate(zip(q, *part.declared, strict=True)):
            slack = 1e-9 * max(1.0, abs(x))
            told = state != "rest" and x == part.q["rest"][k]
            if told or not math.isfinite(x) or lo - slack <= x <= hi + slack:
                continue
            name = part.body.joint.q_names[k]
            shown = f"{name} = " if part.body.joint.nq > 1 else ""
            at = " at rest" if state == "rest" else ""
            found.append(problem(
                m, part, state, f"{shown}{x:.6g}{at} is outside the range [{lo:.6g}, {hi:.6g}]",
                "a value inside the range, or another range" if k not in part.dependent else
                "it follows from a coupling: another range, or another formula", k, "range"))
    return found


def _massless(m: Mechanism, parts: Sequence[Part]) -> list[Problem]:
    """Joints that meet no inertia at rest or in a named state; where they meet none anywhere,
    the mechanism was not built."""
    tree, found = Tree(m, ca.DM(m.p0)), []
    if m.coupling is not None:
        return []
    for state, q in {"rest": m.q0, **m.states}.items():
        for i in sorted(pivots.singular_at(tree, ca.DM(q)) or ()):
            rank = pivots.dependent(tree, i, ca.DM(q), 0.0)
            if not rank and (state == "rest" or (parts[i].q[state] != parts[i].q["rest"]).any()):
                found.append(problem(
                    m, parts[i], state, "the mass matrix is singular "
                    f"{'at rest' if state == 'rest' else 'here'}: nothing resists this joint",
                    "give the body inertia, or the joint an armature"))
    return found


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
                found.append(problem(
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
