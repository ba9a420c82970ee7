"""Families of other packages: their mistakes are problems of the model at their place, not
internal errors of anyjoint."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np

from anyjoint.frontend.source import dotted
from anyjoint.geometry.maps import PointMap
from anyjoint.joints.contract import Joint, kinematics


def made(family: Any, keys: Any, here: Any, stand_in: Callable[[], Any]) -> Any:
    """family(keys, here); one of another package is tried once, and a stand-in takes its place
    if it fails."""
    if family.__module__.partition(".")[0] == "anyjoint":
        return family(keys, here)
    try:
        out = family(keys, here)
        (_try_joint if isinstance(out, Joint) else _try_map)(out)
    except (Exception, SystemExit) as e:  # whatever the code of another package may do
        reason = str(e).partition("\n")[0][:200]
        here.problem(f'"{keys.type}" of the package {family.__module__.partition(".")[0]} fails: '
                     f"{type(e).__name__}: {reason}", "type",
                     hint=f"a mistake in {family.__module__}.{family.__name__}; CONTRIBUTING.md "
                          "says what a family must give")
        here.replaced.add(dotted(here.path))
        return stand_in()
    return out


def _try_joint(joint: Joint) -> None:
    """Builds its motion and evaluates it near rest."""
    for names in (joint.q_names, joint.v_names or ()):
        if len({*names}) < len(names) or not all(n.isidentifier() for n in names):
            raise ValueError(f"names of coordinates are distinct identifiers, not {[*names]}")
    hash(joint.kind)
    if joint.domain is not None and len(joint.domain) != joint.nq:
        raise ValueError(f"domain has {len(joint.domain)} entries for {joint.nq} coordinates")
    q, v = ca.SX.sym("q", joint.nq), ca.SX.sym("v", joint.nv)
    a = ca.SX.sym("a", len(joint.arguments))
    R, r = joint.transform(q, a)
    _shape("R", R, (3, 3))
    _shape("r", r, (3, 1))
    G, bias = kinematics(joint, q, v, a)
    _shape("S", G.S, (6, joint.nv))
    if not joint.arguments and not any(isinstance(x, ca.SX) for x in joint.rest or ()):
        R = ca.Function("R", [q], [ca.densify(ca.SX(R))])(ca.DM(list(joint.rest or [0] * joint.nq)))
        error = np.abs(np.array(R.T @ R) - np.eye(3)).max()
        if error > 1e-9:
            raise ValueError(f"R at rest is no rotation: RᵀR differs from 1 by {error:.2g}")


def _try_map(part: PointMap) -> None:
    hash(part.kind)
    if len(part.domain) != len(part.rest):
        raise ValueError(f"domain has {len(part.domain)} entries for {len(part.rest)} coordinates")
    u = ca.SX.sym("u", len(part.rest))
    point = part.point(u if u.numel() > 1 else u[0], ca.SX.sym("a", len(part.arguments)))
    _shape("the point", point, (3, 1))


def _shape(what: str, x: Any, shape: tuple[int, int]) -> None:
    given = ca.SX(x).shape
    if given != shape:
        raise ValueError(f"{what} is {given[0]}×{given[1]}, not {shape[0]}×{shape[1]}")
