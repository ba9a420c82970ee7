"""Every model in models/: it compiles, the library gives what the CasADi function gives,
forward and inverse dynamics agree (with constraints: by their forces), rolled and inlined forms
agree, the laws hold."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import anyjoint as aj
import test_laws as laws
from anyjoint.mechanism import Mechanism
from mechanisms import Case

MODELS = sorted((Path(__file__).parent.parent / "models").glob("*.yaml"))
FUNCTIONS = ["fd", "id", "mass_matrix", "bias", "energy", "xdot", "momentum", "integrate",
             "coriolis_matrix", "gravity_torque", "center_of_mass", "poses", "fd_ext", "id_ext",
             "qdot", "difference", "frame_jacobian", "frame_velocity", "frame_bias"]
CONSTRAINED = ["fd_constrained", "constraint_residual"]
SEED = 7


def inputs(m: Mechanism, f: Any, generator: np.random.Generator) -> list[np.ndarray]:
    """Random arguments of a function near the rest state."""
    q = np.array(m.function("integrate")(m.q0, 0.4 * generator.normal(size=m.nv))).ravel()
    known = {"q": q, "q0": m.q0, "q1": q, "p": m.p0,
             "x": np.concatenate([q, generator.normal(size=m.nv)])}
    return [known.get(name, generator.normal(size=f.size_in(name))) for name in f.name_in()]


def outputs(values: Any) -> list[np.ndarray]:
    """Flat arrays, column by column, of what CasADi or a library returns."""
    values = values if isinstance(values, tuple) else (values,)
    return [(x if isinstance(x, np.ndarray) else x.full()).ravel(order="F") for x in values]


@pytest.mark.parametrize("path", MODELS, ids=lambda p: p.stem)
def test_library_gives_what_casadi_gives(path: Path, tmp_path: Path) -> None:
    m = aj.load(path)
    frame, functions = m.body_names[-1], FUNCTIONS + CONSTRAINED * bool(m.constraints)
    requests = [f"{n}:frame={frame}" if n.startswith("frame_") else n for n in functions]
    lib = aj.compile(m, tmp_path / m.name, requests)
    generator = np.random.default_rng(SEED)
    for name in functions:
        options = {"frame": frame} if name.startswith("frame_") else {}
        f = m.function(name, **options)
        name = f.name().removeprefix(f"{m.name}_")
        for _ in range(3):
            arguments = inputs(m, f, generator)
            for ours, theirs in zip(outputs(lib[name](*arguments)), outputs(f(*arguments)),
                                    strict=True):
                scale = max(1.0, abs(theirs).max())
                assert abs(ours - theirs).max() <= 1e-12 * scale, (name, SEED)


@pytest.mark.parametrize("path", MODELS, ids=lambda p: p.stem)
@pytest.mark.quick
def test_forward_inverts_inverse_dynamics(path: Path) -> None:
    case = Case(path.stem, path.read_text())
    m = case.m
    fd, id_ = m.function("fd"), m.function("id")
    rolled = m.function("fd", form="rolled")
    generator = np.random.default_rng(SEED)
    for _ in range(3):
        q, v, tau, p = (np.ravel(x) for x in inputs(m, fd, generator))
        a = fd(q, v, tau, p)
        force = tau + laws.constraint_force(case, {"q": q, "v": v, "tau": tau, "p": p})
        error = abs(np.array(id_(q, v, a, p)).ravel() - force).max()
        assert error <= 1e-9 * max(1.0, abs(np.array(a)).max()), SEED
        difference = abs(np.array(rolled(q, v, tau, p) - a)).max()
        assert difference <= 1e-11 * max(1.0, abs(np.array(a)).max())


@pytest.mark.parametrize("path", MODELS, ids=lambda p: p.stem)
def test_laws_of_mechanics(path: Path) -> None:
    case = Case(path.stem, path.read_text(), SEED)
    laws.test_mass_matrix(case)
    laws.test_coriolis(case)
    laws.test_potential(case)
    if path.stem != "joint_zoo":  # which has drag; test_energy leaves that out
        laws.test_power(case)


def test_models_have_shapes_and_a_comment() -> None:
    for path in MODELS:
        lines = path.read_text().splitlines()
        assert lines[0].startswith("# yaml-language-server: $schema=./anyjoint.schema.json")
        assert lines[1].startswith("# "), path
        assert f"name: {path.stem}" in path.read_text()
        assert any(body.shapes for body in aj.load(path).document.spec.bodies.values()), path
