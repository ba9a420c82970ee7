"""Generalised ↔ Cartesian velocities and forces: against the frames' Jacobians, there and back,
pseudo-inverses of single joints, singular configurations, and velocities that can't be reached."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import anyjoint as aj
from anyjoint.errors import InputError
from mechanisms import COUPLED, FLOATING, ONES, OTHERS, TREES, TWOS, Case, close, over


def jacobians(case: Case, s: Any) -> Any:
    """J (bodies × 6 × nv) in world axes at the bodies' origins."""
    return np.array([case.call("frame_jacobian", s, frame=name).reshape(6, case.m.nv)
                     for name in case.m.body_names])


@over([*ONES, *TWOS[::4], *TREES[:8], *FLOATING[:2], *COUPLED, *OTHERS])
def test_there_and_back(case: Case) -> None:
    s = case.state()
    V, F = case.call("cartesian_velocities", s), case.call("cartesian_forces", s)
    V, F = V.reshape(6, -1), F.reshape(6, -1)
    v, error = case.call("generalised_velocities", s | {"V": V})
    close(v, s["v"], 1e-8)
    close(error, 0, 1e-9, np.abs(V).max(initial=1.0))
    close(case.call("generalised_forces", s | {"F": F}), s["tau"], 1e-9)


@over([*ONES[::3], *TREES[:4], *FLOATING[:2], *COUPLED[:3], *OTHERS])
def test_jacobians(case: Case) -> None:
    """V = J v and tau = Jᵀ F, body by body; the error of what can't be reached."""
    s = case.state()
    J, F = jacobians(case, s), s["fext"]
    close(case.call("cartesian_velocities", s).reshape(6, -1), (J @ s["v"]).T, 1e-11)
    close(case.call("generalised_forces", s | {"F": F}), np.einsum("ikj,ki->j", J, F), 1e-11)
    v, error = case.call("generalised_velocities", s | {"V": F})
    close(error, np.abs((J @ np.atleast_1d(v)).T - F).max(initial=0.0), 1e-10)
    assert (error > 1e-3) == (np.linalg.matrix_rank(J.reshape(-1, case.m.nv)) < J.size // case.m.nv
                              if case.m.nv else True)


@over(ONES[1::3])
def test_pseudo_inverses(case: Case) -> None:
    """Of one joint: the nearest velocity, and the least wrench."""
    for k in range(3):
        s = case.state(k)
        J = jacobians(case, s)[0]
        v, _ = case.call("generalised_velocities", s | {"V": s["fext"]})
        close(v, np.linalg.lstsq(J, s["fext"][:, 0], rcond=None)[0], 1e-8)
        close(case.call("cartesian_forces", s), np.linalg.pinv(J.T) @ s["tau"], 1e-8)


@over([*TREES[:8], *FLOATING[:3]])
def test_wrenches_do_what_tau_does(case: Case) -> None:
    """fd_ext of the wrenches, in body axes, is fd of tau; what acts between bodies is balanced."""
    s, m = case.state(), case.m
    F = case.call("cartesian_forces", s)
    poses = case.f("poses")(q=s["q"], p=s["p"])
    R, r = (np.array([np.array(poses[n])[:3, x] for n in m.body_names]) for x in (slice(0, 3), 3))
    fext = np.vstack([np.einsum("ikj,ki->ji", R, F[x]) for x in (slice(0, 3), slice(3, 6))])
    close(case.call("fd_ext", s, {"tau": np.zeros(m.nv), "fext": fext}), case.call("fd", s), 1e-9)
    on_world = np.isin([n.partition(".")[0] for n in m.v_names],
                       [b.joint_name for b in m.bodies if b.parent < 0])
    F = case.call("cartesian_forces", s, {"tau": np.where(on_world, 0, s["tau"])})
    total = np.concatenate([F[:3].sum(1) + np.cross(r, F[3:].T).sum(0), F[3:].sum(1)])
    close(total, np.zeros(6), 1e-10, np.abs(F).max())


ARM = """
anyjoint: 1
name: arm
parameters: {l: 1}
bodies:
  upper: {parent: world, mass: 1, joint: {name: shoulder, type: revolute, axis: y}}
  wrist: {parent: upper, origin: {xyz: [l, 0, 0]}, mass: 1, inertia: [1, 1, 1],
          joint: {type: spherical_euler}}
  hand: {parent: wrist, origin: {xyz: [0, 0, l]}, mass: 1, joint: {type: prismatic}}
"""


@pytest.mark.quick
def test_singular_joint() -> None:
    """Where two axes of a joint are one: finite, exact if it can be reached, and the coordinate
    that adds nothing rests."""
    m = aj.loads(ARM)
    q, v = np.array([0.3, 0.2, np.pi / 2, 0.4, 0.1]), np.array([0.5, 0.7, -0.3, 0.2, 0.9])
    V = m.function("cartesian_velocities")(q, v, m.p0)
    found, error = m.function("generalised_velocities")(q, V, m.p0)
    close(m.function("cartesian_velocities")(q, found, m.p0), V, 1e-12)
    close(error, 0, 1e-12)
    assert np.isfinite(np.array(found)).all() and 0.0 in np.array(found)
    F = m.function("cartesian_forces")(q, np.ones(5), m.p0)
    assert np.isfinite(np.array(F)).all() and np.abs(np.array(F)).max() < 10


@pytest.mark.quick
def test_velocities_from() -> None:
    m = aj.loads(ARM)
    rng = np.random.default_rng(1)
    q, v, p = rng.standard_normal(5), rng.standard_normal(5), [1.3]
    V = np.array(m.function("cartesian_velocities")(q, v, p))
    close(m.velocities_from(q, V, p), v, 1e-12)
    close(m.velocities_from(q.tolist(), V.tolist(), p), v, 1e-12)
    with pytest.raises(InputError, match='"wrist"'):
        m.velocities_from(q, V)  # with the default l it is elsewhere
    for body, row in ((1, 3), (0, 5), (2, 0)):
        wrong = V.copy()
        wrong[row, body] += 1e-3
        name = m.body_names[body]
        with pytest.raises(InputError, match=f'the velocity given for "{name}" can\'t be reached'):
            m.velocities_from(q, wrong, p)
        m.velocities_from(q, wrong, p, tol=0.1)
    near = V.copy()
    near[3, 1] += 1e-12  # round-off
    close(m.velocities_from(q, near, p), v, 1e-9)
    near[3, 1] += 1e-7
    with pytest.raises(InputError, match='"wrist" can.t be reached'):
        m.velocities_from(q, near, p)
    wrong = V.copy()
    wrong[3, 0] += 0.25  # the shoulder stays where it is
    with pytest.raises(InputError) as e:
        m.velocities_from(q, wrong, p)
    assert str(e.value) == ('the velocity given for "upper" can\'t be reached: its vx is 0.25, and '
                            '0 comes nearest with joint "shoulder" and those before it')


@pytest.mark.quick
@pytest.mark.parametrize(("given", "message"), [
    ({"V": np.zeros((3, 6))}, "V must have 6×3 numbers, not 3×6"),
    ({"V": 0}, "V must have 6×3 numbers, not one number"),
    ({"q": np.zeros(4)}, "q must have 5 numbers, not 4"),
    ({"p": []}, "p must have 1 numbers, not 0"),
    ({"q": np.full(5, np.nan)}, "q has a value that is not finite"),
    ({"V": "fast"}, "V must be numbers, not str"),
])
def test_what_is_refused(given: Any, message: str) -> None:
    with pytest.raises(InputError) as e:
        aj.loads(ARM).velocities_from(**{"q": np.zeros(5), "V": np.zeros((6, 3)), **given})
    assert str(e.value) == message
