"""Warnings about constraints: rest and named states that don't meet them, or where they lose
rank; rows that follow from others, and the directions that are enough; no motion left."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from anyjoint.assembly import Assembly, Errors
from anyjoint.build import redundancy
from anyjoint.build.redundancy import Ranks
from anyjoint.dynamics.closure import Closure
from anyjoint.dynamics.rows import TURNS, Constraint
from anyjoint.errors import Problem
from anyjoint.joint_properties import Array
from anyjoint.mechanism import Mechanism

_MET = 1e-6  # what values with so many digits leave
_COORDINATES, _CONSTRAINTS = 12, 3  # in one message
_QUICK, _MANY = 6, 24  # samples
_MORE = "with more, forces of constraints are not unique"


def warnings(m: Mechanism, many: bool = True) -> list[Problem]:
    """All of them; many: by more samples."""
    if not m.constraints:
        return []
    assembly = Assembly(m)
    states = {"rest": m.q0, **m.states}
    errors = {state: assembly.errors(q) for state, q in states.items()}
    nearest = {state: assembly.nearest(q) for state, q in states.items()}
    found = _not_met(assembly, states, errors, nearest)
    starts = [q for q in nearest.values() if q is not None]
    if not starts:
        return found
    ranks = Ranks.of(assembly, *redundancy.walk(assembly, starts, _MANY if many else _QUICK))
    met = {state: x for state, x in errors.items() if assembly.met(x, _MET)}
    return [*found, *_singular(m, ranks, met), *_redundant(m, ranks), *_no_motion(m, ranks)]


def _problem(m: Mechanism, message: str, hint: str, *path: str) -> Problem:
    problem: Problem = m.document.problem(message, ("constraints", *path), hint, key=True)
    return problem


def _at_state(m: Mechanism, state: str, row: int, message: str, hint: str) -> Problem:
    """At the constraint of a row for rest, else at the state."""
    path = ("constraints", _owner(m, row).name) if state == "rest" else ("states", state)
    problem: Problem = m.document.problem(message, path, hint, key=True)
    return problem


def _where(state: str) -> str:
    return "at rest" if state == "rest" else "in this state"


def _owner(m: Mechanism, row: int) -> Constraint:
    return [c for c in m.constraints for _ in c.labels][row]


def _and(names: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


# -- rest and states that don't meet the constraints ------------------------------------------


def _not_met(assembly: Assembly, states: dict[str, Array], errors: dict[str, Errors],
             nearest: dict[str, Array | None]) -> list[Problem]:
    """One for each state, but not for those that have their errors from rest."""
    m, found, told = assembly.m, [], errors["rest"].phi
    for state, q in states.items():
        here, x = errors[state], nearest[state]
        inherited = state != "rest" and np.allclose(here.phi, told, rtol=1e-6, atol=1e-12)
        if inherited or assembly.met(here, _MET):
            continue
        message = f"{_where(state)} the constraints are not met: {_apart(assembly, here)}"
        if x is None:
            message += f"; and no configuration near {'rest' if state == 'rest' else 'it'} " \
                       "meets them"
            hint = "change lengths, frames or formulas; what is left: " \
                   + assembly.named(assembly.descend(q)[1])
        else:
            # a state takes from rest what it doesn't give, be that changed or not
            bases = [q] if state == "rest" else [q, m.q0, *(
                [nearest["rest"]] if nearest["rest"] is not None else [])]
            hint = "the nearest that meets all constraints, " \
                   f"{'rest values' if state == 'rest' else state}: {_values(m, x, bases)}"
        worst = int(np.argmax(assembly.sizes(here)))
        found.append(_at_state(m, state, worst, message, hint))
    return found


def _values(m: Mechanism, q: Array, bases: list[Array]) -> str:
    """{crank: 0.5, rocker: 1.2}: the coordinates in which q differs from any of the bases."""
    moved = [i for i in range(m.nq)
             if any(abs(q[i] - b[i]) > 1e-9 * max(1.0, abs(b[i])) for b in bases)]
    values = ", ".join(f"{m.q_names[i]}: {round(q[i], 12) + 0.0:.9g}" for i in moved[:_COORDINATES])
    more = len(moved) - _COORDINATES
    return f"{{{values}}}" + f" and {more} more: see Mechanism.assembled" * (more > 0)


def _apart(assembly: Assembly, here: Errors) -> str:
    """What the constraints that are not met miss."""
    wrong, out, start = assembly.sizes(here) > _MET, [], 0
    for c in assembly.m.constraints:
        rows = slice(start, start := start + len(c.labels))
        phi, turns = here.phi[rows], np.array([x in TURNS for x in c.labels])
        if here.flipped[rows].any():
            out.append(f'the frames of "{c.name}" are turned half around')
        elif isinstance(c, Closure):
            parts = [text.format(np.linalg.norm(phi[kind])) for kind, text in (
                (~turns, "{:.3g} m apart"), (turns, "turned by {:.3g} rad"))
                if wrong[rows][kind].any()]
            out += [f'the frames of "{c.name}" are {_and(parts)}'] * bool(parts)
        elif wrong[rows].any():
            out.append(f'"{c.name}" is off by {phi[0]:.3g}')
    more = len(out) - _CONSTRAINTS
    return ", ".join(out[:_CONSTRAINTS]) + f" and {more} more" * (more > 0)


# -- rank ---------------------------------------------------------------------------------------


def _singular(m: Mechanism, ranks: Ranks, met: dict[str, Errors]) -> list[Problem]:
    lost = {state: int(ranks.rank(x.A)) for state, x in met.items()}
    return [_at_state(
        m, state, redundancy.first_lost(ranks, met[state].A),
        f"singular {_where(state)}: the constraints have rank {rank} here, {ranks.generic} "
        "elsewhere", "choose another configuration: here the mechanism may go several ways, and "
        "forces of constraints are not unique")
        for state, rank in lost.items() if rank < ranks.generic]


def _no_motion(m: Mechanism, ranks: Ranks) -> list[Problem]:
    """Unless constraints ask for velocities."""
    if ranks.generic < m.nv or not m.nv or ranks.e.any():
        return []
    return [_problem(m, f"no motion left: {m.nv} velocities, and the constraints have rank "
                     f"{ranks.generic}", "leave out constraints or directions (a hinge leaves the "
                     "turn about its axis free), or add joints")]


def _redundant(m: Mechanism, ranks: Ranks) -> list[Problem]:
    rows, found, start = len(ranks.rows), [], 0
    if rows == ranks.generic:
        return []
    if not ranks.sure:
        return [_problem(m, f"the constraints have {rows} rows, rank {ranks.generic} where they "
                         "are met, and no motion from there could be found",
                         "do parts just reach each other? choose other lengths")]
    if (row := redundancy.contradiction(ranks)) is not None:
        name = _owner(m, row).name
        return [_problem(m, f'no velocity meets "{name}" and the other constraints at once',
                         "what they equal contradicts each other; change or remove one", name)]
    kept = redundancy.minimal(ranks)
    if kept is None:
        return [_problem(m, f"the constraints have {rows} rows, but rank {ranks.generic}: some "
                         "follow from others", _MORE)]
    for c in m.constraints:
        own = range(start, start := start + len(c.labels))
        if not {*own} <= {*kept}:
            found.append(_follows(m, ranks, c, own, kept))
    return found


def _follows(m: Mechanism, ranks: Ranks, c: Constraint, own: range, kept: list[int]) -> Problem:
    """Some rows `own` of a constraint follow from those of all that are kept."""
    dropped = [k for k in own if k not in kept]
    few = [x for k, x in zip(own, c.labels, strict=True) if k in kept]
    lost = _and([c.labels[k - own.start] for k in dropped])
    follow = "follow" if len(dropped) > 1 else "follows"
    others = {_owner(m, k).name: 0 for k in redundancy.causes(ranks, dropped, kept)}
    names = _and([f'"{name}"' for name in others if name != c.name])
    if not few:
        why = f"follows from {names}" if names else "always holds: no joint can break it"
        return _problem(m, f'"{c.name}" {why}', f"remove it; {_MORE}", c.name)
    if isinstance(c, Closure):
        given = "directions" in m.document.spec.constraints[c.name].model_fields_set
        return _problem(m, f'the closure "{c.name}" has {len(own)} directions, {len(few)} '
                        f"{'are' if len(few) > 1 else 'is'} enough here: directions: "
                        f"[{', '.join(few)}]", f"{lost} {follow} from the others, or no joint can "
                        f"break them; {_MORE}", c.name, *["directions"] * given)
    if lost == "pivot":
        return _problem(m, f'"{c.name}" can\'t pivot anyway: pivot: free is enough', _MORE, c.name)
    return _problem(m, f'{lost} of "{c.name}" {follow} from {names or "the others"}', _MORE,
                    c.name)
