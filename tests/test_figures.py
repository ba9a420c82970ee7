"""What single models in models/ must show, by the papers' figures and tables."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import anyjoint as aj
from anyjoint.joints import JOINTS
from mechanisms import MODELS, close

sys.path.append(str(Path(__file__).parent.parent / "benchmarks"))
from chains import LENGTHS, revolute_chain_model, torus_chain  # noqa: E402

pytestmark = pytest.mark.quick
COORDINATES = {"revolute_chain_6": 6, "revolute_chain_20": 20, "revolute_chain_50": 50,
               "revolute_chain_100": 100, "torus_chain_4": 14, "torus_chain_10": 38,
               "torus_chain_20": 78, "windmill": 73, "tongs_and_fish": 3, "patch_contact": 5,
               "heavy_top": 3, "double_pendulum": 2}


@pytest.mark.parametrize("name", COORDINATES)
def test_degrees_of_freedom(name: str) -> None:
    assert aj.load(MODELS / f"{name}.yaml").nv == COORDINATES[name]


def test_the_zoo_has_every_joint() -> None:
    bodies = aj.load(MODELS / "joint_zoo.yaml").document.spec.bodies.values()
    types = {body.joint.type for body in bodies}
    assert set(JOINTS.own) - {"formula"} <= types  # that one has a type of the file's own


@pytest.mark.parametrize("n", LENGTHS)
def test_revolute_chains_are_as_generated(n: int) -> None:
    """If this fails, run: python benchmarks/chains.py"""
    assert (MODELS / f"revolute_chain_{n}.yaml").read_text() == revolute_chain_model(n)


def test_torus_chain_is_cheap() -> None:
    """fd 14 121 and id 4 404 when this was written; plain differentiation of the surfaces'
    frames needs 35 400 and 23 600."""
    m = aj.load(MODELS / "torus_chain_10.yaml")
    assert m.function("fd", form="inlined").n_instructions() <= 15_000
    assert m.function("id", form="inlined").n_instructions() <= 5_000


def test_torus_chain_is_the_one_by_formula() -> None:
    """Contact as surface_surface, and as the product of turns and shifts of torus_chain_4."""
    m, other = aj.load(MODELS / "torus_chain_10.yaml"), aj.loads(torus_chain(10))
    rng = np.random.default_rng(3)
    for _ in range(5):
        q = m.q0 + 0.5 * rng.standard_normal(m.nq)
        v, tau = rng.standard_normal((2, m.nv))
        close(m.function("fd")(q, v, tau, m.p0), other.function("fd")(q, v, tau, m.p0), 1e-9)


def test_patch_without_friction_moves_its_com_vertically() -> None:
    """Seed 003, figure 2: let go at rest."""
    m = aj.load(MODELS / "patch_contact.yaml")
    xdot, com, u = m.function("xdot"), m.function("center_of_mass"), np.zeros(m.nu)
    start = np.concatenate([m.q0, np.zeros(m.nv)])
    run = solve_ivp(lambda t, x: np.ravel(xdot(x, u, m.p0)), (0, 2), start, "DOP853",
                    rtol=1e-11, atol=1e-11)
    path = np.array([np.ravel(com(x[: m.nq], m.p0)) for x in run.y.T])
    assert np.ptp(path[:, :2], axis=0).max() <= 1e-9
    assert np.ptp(path[:, 2]) >= 1e-3  # and it rocks
