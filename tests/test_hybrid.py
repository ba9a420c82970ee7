"""Hybrid dynamics: against M a + c = tau taken apart, against fd and id, and a pendulum on a cart
that is driven; how joints are named and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import anyjoint as aj
from anyjoint.backend.budget import operations
from anyjoint.cli import app
from anyjoint.errors import InputError
from mechanisms import COUPLED, FLOATING, MODELS, ONES, OTHERS, TREES, TWOS, Case, close, over


def joints(m: Any) -> list[str]:
    """Those that have velocities."""
    return list(dict.fromkeys(name.partition(".")[0] for name in m.v_names))


def some(case: Case, k: int) -> tuple[str, ...]:
    rng = np.random.default_rng([k, case.seed])
    return tuple(name for name in joints(case.m) if rng.random() < 0.5)


def places(m: Any, names: tuple[str, ...]) -> Any:
    return np.array([name.partition(".")[0] in names for name in m.v_names], dtype=bool)


@over([*ONES[::5], *TREES[:4], *FLOATING[:2], *COUPLED[:2], *OTHERS])
def test_none_is_fd_and_all_is_id(case: Case) -> None:
    s = case.state()
    for passive in (True, False):
        close(case.call("hybrid", s, {"given": s["tau"]}, passive=passive),
              case.call("fd", s, passive=passive), 1e-9)
        close(case.call("hybrid", s, {"given": s["a"]}, passive=passive,
                        prescribed=tuple(joints(case.m))),
              case.call("id", s, passive=passive), 1e-10)


@over([*TWOS[::5], *TREES[4:16], *FLOATING[2:5], *COUPLED, *OTHERS])
def test_equations_taken_apart(case: Case) -> None:
    """a_f = M_ff⁻¹ (tau_f − c_f − M_fp a_p), tau_p = c_p + M_pp a_p + M_pf a_f."""
    for k in range(2):
        s, names = case.state(k), some(case, k)
        M, c = case.call("mass_matrix", s).reshape(case.m.nv, case.m.nv), case.call("bias", s)
        p = places(case.m, names)
        f = ~p
        a, tau = np.where(p, s["a"], 0), s["tau"].copy()
        a[f] = np.linalg.solve(M[f][:, f], (tau - c - M @ a)[f])
        tau[p] = (M @ a + c)[p]
        found = case.call("hybrid", s, {"given": np.where(p, s["a"], s["tau"])}, prescribed=names)
        close(found, np.where(p, tau, a), 1e-9)


@pytest.mark.quick
@pytest.mark.parametrize("prescribed", [(), ("crank",), ("rocker",), ("coupler",)])
def test_constraints(prescribed: tuple[str, ...]) -> None:
    """In a closed loop: what fd makes of tau, taken apart."""
    case = Case("loop", (MODELS / "four_bar_loop.yaml").read_text())
    names = tuple(n for n in joints(case.m) if n in prescribed)
    assert names == prescribed
    s = case.state() | {"q": case.m.q0}
    a, p = case.call("fd", s), places(case.m, names)
    found = case.call("hybrid", s, {"given": np.where(p, a, s["tau"])}, prescribed=names)
    close(found, np.where(p, s["tau"], a), 1e-9)


CART = """
anyjoint: 1
name: crane
bodies:
  trolley: {parent: world, joint: {name: base, type: prismatic, axis: x}, mass: 5}
  load:
    parent: trolley
    joint: {name: swing, type: revolute, axis: y, damping: 0.3, armature: 0.2}
    mass: 2
    com: [0, 0, -1.5]
"""


@pytest.mark.quick
def test_pendulum_on_a_driven_cart() -> None:
    """(m l² + armature) θ̈ = τ − d θ̇ − m l (g sin θ − cos θ ẍ), for a pendulum that turns about y
    and hangs at 0; the cart's force is that of both masses."""
    m, mass, length, g = aj.loads(CART), 2.0, 1.5, 9.81
    th, w, x_dd, tau = 0.7, -1.3, 2.1, 0.4
    inertia = mass * length**2 + 0.2
    th_dd = (tau - 0.3 * w - mass * length * (g * np.sin(th) - np.cos(th) * x_dd)) / inertia
    # the load is at x − l sin θ
    force = 7 * x_dd - mass * length * (np.cos(th) * th_dd - np.sin(th) * w**2)
    f = m.function("hybrid", prescribed=["base"])
    close(f([0.3, th], [0.9, w], [x_dd, tau], m.p0), [force, th_dd], 1e-13)


@pytest.mark.quick
def test_each_joint_costs_the_same() -> None:
    """O(n), whichever half is prescribed."""
    for kept in (slice(0, None, 2), slice(1, None, 2), slice(0, 10)):
        counts = []
        for n in (20, 30, 40):
            bodies = {f"b{k}": {"parent": f"b{k - 1}" if k else "world", "mass": 1.3,
                                "joint": {"type": "revolute", "axis": [0.1, 0.7, 0.2]},
                                "com": [0.1, 0.2, 0.3], "inertia": [0.3, 0.4, 0.5],
                                "origin": {"xyz": [0.2, 0.3, 0.1], "rpy": [0.1, 0.2, 0.3]}}
                      for k in range(n)}
            m = Case("chain", {"anyjoint": 1, "name": "chain", "bodies": bodies}).m
            names = joints(m)[kept]
            counts.append(operations(m.function("hybrid", prescribed=names))["total"])
        assert abs((counts[2] - counts[1]) / (counts[1] - counts[0]) - 1) < 0.02


@pytest.mark.quick
def test_names(tmp_path: Path) -> None:
    """Any order and any way to write them; the artifact has the joints in the function's name."""
    m = aj.loads(CART)
    ways: list[Any] = [["swing", "base"], ("base", "swing"), {"base", "swing"}, " base+ swing ",
                       "swing+base"]
    assert {m.function("hybrid", prescribed=x).name() for x in ways} == {"crane_hybrid_base_swing"}
    for empty in ([], (), ""):
        assert m.function("hybrid", prescribed=empty).name() == "crane_hybrid"
    lib = aj.compile(m, tmp_path, ["hybrid", "hybrid:prescribed=swing+base",
                                   "hybrid:prescribed=base:passive=false"])
    assert {*lib.functions} == {"hybrid", "hybrid_base_swing", "hybrid_base_no_passive"}
    assert "prescribed base, swing" in (tmp_path / "crane.h").read_text()
    close(lib.hybrid_base_swing([1, 2], [3, 4], [5, 6]),
          m.function("id")([1, 2], [3, 4], [5, 6], m.p0), 1e-12)


@pytest.mark.quick
@pytest.mark.parametrize(("given", "message"), [
    (["bse"], 'hybrid: prescribed: no joint "bse" with velocities of its own; did you mean "base"? '
              "joints: base, swing"),
    ("base+load", 'no joint "load" with velocities of its own; joints: base, swing'),
    ("swing+base+swing", "a joint is named twice in swing, base, swing; joints: base, swing"),
    ([["base"]], "no joint \"['base']\""),
    (3, "takes names of joints, not 3; write elbow+base"),
])
def test_what_is_refused(given: Any, message: str) -> None:
    with pytest.raises(InputError) as e:
        aj.loads(CART).function("hybrid", prescribed=given)
    assert message in str(e.value)


@pytest.mark.quick
def test_joints_of_couplings() -> None:
    """One whose coordinates are all dependent has no acceleration to prescribe."""
    m = aj.load(MODELS / "tongs_and_fish.yaml")
    with pytest.raises(InputError, match='no joint "r_2" with velocities of its own'):
        m.function("hybrid", prescribed="r_2")


@pytest.mark.quick
def test_command_line(tmp_path: Path) -> None:
    model = tmp_path / "crane.yaml"
    model.write_text(CART)
    run = CliRunner().invoke
    done = run(app, ["compile", str(model), "-o", str(tmp_path / "out"), "-f",
                     "hybrid:prescribed=swing+base"])
    assert done.exit_code == 0, done.output
    assert aj.open(tmp_path / "out").functions == ["hybrid_base_swing"]
    failed = run(app, ["compile", str(model), "-f", "hybrid:prescribed=tip"])
    assert failed.exit_code != 0 and "joints: base, swing" in failed.output


@pytest.mark.quick
def test_long_names_in_c(tmp_path: Path) -> None:
    """A name longer than a line of the header is not broken."""
    m = aj.loads(CART.replace("swing", "swing_" + 50 * "w").replace("base", "base_" + 50 * "b"))
    lib = aj.compile(m, tmp_path, ["hybrid:prescribed=" + "+".join(joints(m))])
    assert len(lib.functions[0]) > 100


@pytest.mark.quick
def test_more_prescribed_than_is_free() -> None:
    """A loop of one freedom takes one acceleration, a rolling ball three of five."""
    m = aj.load(MODELS / "four_bar_loop.yaml")
    first, second = [b.joint_name for b in m.bodies if b.joint.nv][:2]
    m.function("hybrid", prescribed=[first])
    with pytest.raises(InputError, match=f"leave 1 of {first}, {second} free to be prescribed"):
        m.function("hybrid", prescribed=[first, second])
    with pytest.raises(InputError, match="leave 3 of .* not 5"):
        aj.load(MODELS / "sphere_on_plane.yaml").function("hybrid", prescribed=["ball"])
