"""Compiling models: cache, reproducible bytes, lock, signatures, mechanisms at the edge."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import anyjoint as aj
from anyjoint.backend import artifact, compiler
from anyjoint.compiled import CompiledFunction
from anyjoint.functions import CATALOGUE
from mechanisms import MODELS, close

G = 9.81
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
PENDULUM = """
anyjoint: 1
name: small
parameters: {m: 2}
bodies:
  link: {parent: world, joint: {type: revolute, axis: y}, mass: m, com: [1, 0, 0]}
  cart: {parent: world, joint: {type: prismatic, axis: x}, mass: 3}
"""  # id(0, 0, 0) = (−m g, 0)
HEAVY = PENDULUM.replace("com: [1,", "com: [4,")
LAYOUT = """# the same model
bodies:
  link: {mass: m, parent: "world", com: [1.0, 0, 0e3],   # m
         joint: {axis: y, type: revolute}}
  cart: {parent: world, joint: {type: prismatic, axis: x}, mass: 3}
parameters: {m: 2.0}
name: 'small'
anyjoint:  1
"""
BOAT = """
anyjoint: 1
name: boat
parameters: {load: 1, gear: 3}
bodies:
  rail: {parent: world, joint: {type: prismatic, axis: x}, mass: 1}
  hull: {parent: world, joint: {type: free}, mass: load, inertia: [1, 1, 1]}
  arm: {parent: hull, joint: {type: revolute}, mass: 1, inertia: [1, 1, 1], frames: {tool: {}}}
frames: {post: {body: world}}
actuators: {motor: {joint: arm, gear: gear}}
"""
SIGNATURES = """
fd(q 9×1, v 8×1, tau 8×1, p 2×1) -> (a 8×1)
id(q 9×1, v 8×1, a 8×1, p 2×1) -> (tau 8×1)
fd_ext(q 9×1, v 8×1, tau 8×1, fext 6×3, p 2×1) -> (a 8×1)
id_ext(q 9×1, v 8×1, a 8×1, fext 6×3, p 2×1) -> (tau 8×1)
hybrid(q 9×1, v 8×1, given 8×1, p 2×1) -> (found 8×1)
joint_wrenches(q 9×1, v 8×1, tau 8×1, p 2×1) -> (wrenches 6×3, normal 0×1)
fd_constrained(q 9×1, v 8×1, tau 8×1, p 2×1) -> (a 8×1, lambda 0×1)
constraint_residual(q 9×1, v 8×1, p 2×1) -> (phi 0×1, rate 0×1)
constraint_jacobian(q 9×1, p 2×1) -> (A 0×8)
mass_matrix(q 9×1, p 2×1) -> (M 8×8)
bias(q 9×1, v 8×1, p 2×1) -> (bias 8×1)
gravity_torque(q 9×1, p 2×1) -> (tau 8×1)
coriolis_matrix(q 9×1, v 8×1, p 2×1) -> (C 8×8)
energy(q 9×1, v 8×1, p 2×1) -> (kinetic 1×1, potential 1×1)
poses(q 9×1, p 2×1) -> (rail 4×4, hull 4×4, arm 4×4, tool 4×4, post 4×4)
frame_jacobian_tool(q 9×1, p 2×1) -> (J 6×8)
frame_velocity_tool(q 9×1, v 8×1, p 2×1) -> (V 6×1)
frame_bias_tool(q 9×1, v 8×1, p 2×1) -> (bias 6×1)
center_of_mass(q 9×1, p 2×1) -> (com 3×1)
momentum(q 9×1, v 8×1, p 2×1) -> (h 6×1)
cartesian_velocities(q 9×1, v 8×1, p 2×1) -> (V 6×3)
generalised_velocities(q 9×1, V 6×3, p 2×1) -> (v 8×1, error 1×1)
cartesian_forces(q 9×1, tau 8×1, p 2×1) -> (F 6×3)
generalised_forces(q 9×1, F 6×3, p 2×1) -> (tau 8×1)
qdot(q 9×1, v 8×1, p 2×1) -> (qdot 9×1)
integrate(q 9×1, dq 8×1) -> (q_next 9×1)
difference(q0 9×1, q1 9×1) -> (dq 8×1)
xdot(x 17×1, u 1×1, p 2×1) -> (xdot 17×1)
""".strip().splitlines()


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The flags of every call of the C compiler."""
    seen: list[list[str]] = []
    real = artifact.compile_library

    def noting(c_file: Path, so_file: Path, flags: list[str], *rest: Any) -> None:
        seen.append(list(flags))
        real(c_file, so_file, flags, *rest)

    monkeypatch.setattr(artifact, "compile_library", noting)
    return seen


def weight(lib: Any, *p: Any) -> float:
    """The torque that holds the link."""
    return float(lib.id([0, 0], [0, 0], [0, 0], *p)[0])


@pytest.mark.quick
@pytest.mark.parametrize("changed", [
    {"functions": ["id", "fd", "mass_matrix"]}, {"functions": ["id:passive=false", "mass_matrix"]},
    {"bake": True}, {"native": True}, {"form": "rolled"}, {"sparse": True}, {"text": HEAVY},
], ids=lambda changed: next(iter(changed)))
def test_cache_is_keyed_on(changed: dict[str, Any], tmp_path: Path, calls: list[Any]) -> None:
    plain = {"functions": ["id", "mass_matrix"], "text": PENDULUM}
    made = []
    for given in (plain, plain | changed, plain | changed, plain):
        options = {k: x for k, x in given.items() if k != "text"}
        lib = aj.compile(aj.loads(given["text"]), tmp_path, **options)
        [file] = tmp_path.glob("lib*.so")
        assert file.name == lib.manifest["files"]["library"]["name"]
        made.append((len(calls), file.name, (tmp_path / "small.c").read_text()))
        assert lib.np == (not given.get("bake"))
        assert lib.mass_matrix.function.nnz_out(0) == (2 if given.get("sparse") else 4)
    assert [count for count, *_ in made] == [1, 2, 2, 3]
    assert made[0][1:] == made[3][1:] and made[1] == made[2] and made[0][1] != made[1][1]
    assert (made[0][2] == made[1][2]) == ("native" in changed)


@pytest.mark.quick
def test_edited_file(tmp_path: Path, calls: list[Any]) -> None:
    """New numbers and a new library after an edit, nothing to do after one of the layout."""
    file, out, kept = tmp_path / "model.yaml", tmp_path / "out", []
    for text, com, count in ((PENDULUM, 1, 1), (LAYOUT, 1, 1), (HEAVY, 4, 2), (PENDULUM, 1, 3)):
        file.write_text(text)
        aj.compile(file, out, ["id"])
        assert len(calls) == count
        kept += [(aj.open(out), com), (aj.open(out), com)]
        for lib, arm in kept:  # old handles keep their code
            close([weight(lib), weight(lib, [5])], [-2 * arm * G, -5 * arm * G])
    close(weight(aj.compile(file, out, ["id"], bake=True)), -2 * G)
    assert [aj.compile(file, out, [n]).functions for n in ("fd", "id")] == [["fd"], ["id"]]


@pytest.mark.quick
def test_hash_is_of_the_content() -> None:
    rich = (MODELS / "satellite.yaml").read_text() + "forces: {air: {type: drag, frame: bus}}\n" \
        "constants: {k: 1}\nframes: {eye: {body: bus}}\ncheck_inertia: true\n"
    edits = ["gravity: [0, 0, 0]|gravity: [0, 0, 1]", "fuel: 30|fuel: 31", "mass: 180|mass: 181",
             "limit: 50|limit: 51", "[80*deg, 0]|[80*deg, 1]", "k: 1|k: 2", "body: bus|body: boom",
             "frame: bus}|frame: boom}", "name: satellite|name: probe", "effort: 0.2|effort: 0.3",
             "check_inertia: true|check_inertia: false", "grip: {|tip: {"]
    texts = [rich, *(rich.replace(*edit.split("|")) for edit in edits)]
    assert len({aj.loads(text).hash for text in texts}) == len(set(texts)) == len(edits) + 1
    assert aj.loads(rich).hash == aj.loads(rich + "# end\n").hash != aj.loads(rich).baked().hash


@pytest.mark.skipif(platform.machine() != "x86_64" or not shutil.which("gcc"), reason="gcc, x86")
@pytest.mark.quick
def test_instruction_set(tmp_path: Path, calls: list[Any], monkeypatch: Any) -> None:
    monkeypatch.setenv("CC", "gcc")
    m = aj.loads(PENDULUM)
    plain, native = (aj.compile(m, tmp_path, ["id"], native=x).manifest for x in (False, True))
    assert [plain["flags"], native["flags"]] == calls
    assert [[x for x in flags if "march" in x] for flags in calls] == [
        ["-march=x86-64-v2"], ["-march=native"]]
    assert plain["isa"]["level"] == "x86-64-v2"
    assert native["isa"] == compiler.isa(compiler.find_compiler(), ["-march=native"])


def test_hash_seeds_give_the_same_bytes(tmp_path: Path) -> None:
    script = """import sys, anyjoint as aj
for job in sys.argv[3:]:
    model, form = job.split()
    aj.compile(f"{sys.argv[1]}/{model}.yaml", f"{sys.argv[2]}/{model}_{form}",
               ["fd", "id", "coriolis_matrix", "energy", "poses", "xdot"], form=form)"""
    jobs = ["satellite auto", "satellite rolled", "joint_zoo auto", "joint_zoo rolled"]
    processes = [subprocess.Popen([sys.executable, "-c", script, MODELS, tmp_path / seed, *jobs],
                                  env={**ENVIRONMENT, "PYTHONHASHSEED": seed}) for seed in "12"]
    assert [p.wait() for p in processes] == [0, 0]
    files = [{p.relative_to(tmp_path / seed): p.read_bytes() for p in (tmp_path / seed).glob("*/*")
              if p.name not in ("timings.json", ".lock")} for seed in "12"]
    assert files[0] == files[1] and len(files[0]) == 4 * len(jobs)  # C, header, manifest, library


def test_install_waits_for_another_process(tmp_path: Path) -> None:
    aj.compile(aj.loads(PENDULUM), tmp_path, ["id"])
    script = """import sys, pathlib
from anyjoint.backend import artifact
with artifact._lock(pathlib.Path(sys.argv[1])):
    print("in", flush=True)
    sys.stdin.read()"""
    other = subprocess.Popen([sys.executable, "-c", script, tmp_path / ".lock"], text=True,
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=ENVIRONMENT)
    assert other.stdout and other.stdin and other.stdout.readline() == "in\n"
    install = threading.Thread(target=lambda: aj.compile(aj.loads(HEAVY), tmp_path, ["id"]))
    install.start()
    while install.is_alive() and not list(tmp_path.glob(".tmp*/manifest.json")):
        install.join(0.01)
    install.join(0.5)
    waiting, value = install.is_alive(), weight(aj.open(tmp_path))
    other.stdin.close()
    install.join()
    assert waiting and other.wait() == 0
    close([value, weight(aj.open(tmp_path))], [-2 * G, -8 * G])


def catalogue(m: Any, frame: str) -> dict[str, Any]:
    """All functions by the request that compiles them; id_constrained needs more actuators."""
    options = {n: {"frame": frame} if "frame" in e.options else {} for n, e in CATALOGUE.items()
               if n != "id_constrained" or m.nu >= m.nv}
    return {n + f":frame={frame}" * len(o): m.function(n, **o) for n, o in options.items()}


@pytest.mark.quick
def test_signatures(tmp_path: Path) -> None:
    m = aj.loads(BOAT)
    lib, made = aj.compile(m, tmp_path, catalogue(m, "tool")), catalogue(m, "tool").values()
    assert sorted(lib[alias].__doc__ for alias in lib.functions) == sorted(SIGNATURES)
    for f, expected in zip(made, SIGNATURES, strict=True):
        alias = expected.split("(")[0]
        assert CompiledFunction(alias, f, m.p0).__doc__ == expected
        assert "p" not in f.name_in() or np.isnan(f.default_in(f.index_in("p")))
        assert f.name() == lib[alias].function.name() == f"boat_{alias}"
        for k, name in enumerate(f.name_out()):  # only matrices over v keep structural zeros
            assert f.sparsity_out(k).is_dense() or name in ("M", "C", "J")
            assert lib[alias].function.sparsity_out(k).is_dense()


@pytest.mark.quick
def test_p_left_out(tmp_path: Path) -> None:
    m = aj.loads(PENDULUM)
    assert np.isnan(float(m.function("id")(q=0, v=0, a=0)["tau"][0]))
    close(weight(aj.compile(m, tmp_path, ["id"])), -2 * G)


@pytest.mark.parametrize("options", [{}, {"form": "rolled"}, {"sparse": True}], ids=str)
@pytest.mark.quick
def test_nothing_moves(options: dict[str, Any], tmp_path: Path) -> None:
    m = aj.loads("{anyjoint: 1, name: rock, bodies: {stone: {parent: world, mass: 2, "
                 "joint: {type: fixed}, origin: {xyz: [1, 2, 3]}}}}")
    lib = aj.compile(m, tmp_path, catalogue(m, "stone"), **options)
    out = {a: lib[a](*[np.zeros(s) for s in map(lib[a].function.size_in, lib[a].name_in())])
           for a in lib.functions}
    assert {a: x.shape if isinstance(x, np.ndarray) else [y.shape for y in x]
            for a, x in out.items()} == dict.fromkeys(out, (0,)) | {
        "mass_matrix": (0, 0), "coriolis_matrix": (0, 0), "frame_jacobian_stone": (6, 0),
        "energy": [(1,), (1,)], "poses": (4, 4), "center_of_mass": (3,), "momentum": (6,),
        "frame_velocity_stone": (6,), "frame_bias_stone": (6,), "joint_wrenches": [(6,), (0,)],
        "cartesian_velocities": (6,), "generalised_velocities": [(0,), (1,)],
        "fd_constrained": [(0,), (0,)], "id_constrained": [(0,), (0,)],
        "constraint_residual": [(0,), (0,)], "constraint_jacobian": (0, 0),
        "cartesian_forces": (6,)}
    close(out["joint_wrenches"][0], [0, 0, 0, 0, 0, 2 * G])
    close([*out["center_of_mass"], *out["poses"][:3, 3]], [1, 2, 3, 1, 2, 3])
    close([*out["energy"][0], *out["energy"][1], *out["momentum"]], [0, 6 * G, *[0] * 6])


@pytest.mark.quick
def test_poses_with_taken_names(tmp_path: Path) -> None:
    m = aj.loads("{anyjoint: 1, name: odd, frames: {_: {body: p, xyz: [0, 7, 0]}}, bodies: {"
                 + ", ".join(f"{n}: {{parent: world, joint: {{type: prismatic}}, mass: 1, "
                             f"origin: {{xyz: [{k}, 0, 0]}}}}"
                             for k, n in enumerate(["q", "p", "a__b", "a_b", "qx"])) + "}}")
    f, lib = m.function("poses"), aj.compile(m, tmp_path, ["poses"])
    assert f.name_out() == lib.poses.name_out() and len({*f.name_out(), "q", "p"}) == 8
    close([x[:3, 3] for x in lib.poses([5, 6, 7, 8, 9])],
          [[0, 0, 5], [1, 0, 6], [2, 0, 7], [3, 0, 8], [4, 0, 9], [1, 7, 6]])
    assert f.name_out()[3:5] == ["a_b", "qx"]  # a name that CasADi takes stays as it is
