"""The artifact: content, identity, cache, installation, C interface."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
import pytest

import artifact_samples as samples
from anyjoint import library
from anyjoint.backend import artifact, budget, codegen, compiler
from anyjoint.errors import ArtifactError, CompileError

PATH = os.pathsep.join(p for p in sys.path if p)
GCC = shutil.which("gcc")


def gain_of(folder: Path) -> float:
    """The gain that the artifact in `folder` was made with, from its code."""
    return float(library.open(folder).bare([1, 0])[0])


def start(*args: object) -> subprocess.Popen[bytes]:
    command = [sys.executable, samples.__file__, *map(str, args)]
    return subprocess.Popen(command, env={**os.environ, "PYTHONPATH": PATH})


def forbid_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise AssertionError("the compiler was called")

    monkeypatch.setattr(artifact, "compile_library", fail)


@pytest.mark.quick
def test_values_equal_those_of_casadi(tmp_path: Path) -> None:
    samples.write(tmp_path)
    lib = library.open(tmp_path)
    rng = np.random.default_rng(0)
    for alias, f in samples.functions().items():
        inputs = [rng.normal(size=f.size_in(k)) for k in range(f.n_in())]
        expected, got = f.call(inputs), lib[alias].function.call(inputs)
        for x, y in zip(expected, got, strict=True):
            assert x.sparsity() == y.sparsity()
            np.testing.assert_allclose(np.array(x), np.array(y), rtol=1e-15, atol=1e-15)


def test_two_processes_give_the_same_bytes(tmp_path: Path) -> None:
    folders = [tmp_path / "a", tmp_path / "b" / "deeper"]
    for process in [start(folder, 2.0) for folder in folders]:
        assert process.wait() == 0
    names = sorted(p.name for p in folders[0].iterdir() if p.name != "timings.json")
    assert names == sorted(p.name for p in folders[1].iterdir() if p.name != "timings.json")
    assert len(names) == 5
    for name in names:
        content = (folders[0] / name).read_bytes()
        assert content == (folders[1] / name).read_bytes()
        assert str(tmp_path).encode() not in content


@pytest.mark.quick
def test_unchanged_input_is_not_compiled_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = samples.write(tmp_path)
    with monkeypatch.context() as patch:
        forbid_compiler(patch)
        assert samples.write(tmp_path) == key
        with pytest.raises(AssertionError):
            samples.write(tmp_path, gain=3.0)
        with pytest.raises(AssertionError):
            samples.write(tmp_path, options={"native": True})
    for name in ("arm.c", "arm.h", "manifest.json", f"libarm-{key[:12]}.so"):
        with (tmp_path / name).open("ab") as file:
            file.write(b"x")
        assert not artifact.up_to_date(tmp_path, key)
        samples.write(tmp_path)
        assert artifact.up_to_date(tmp_path, key)
        (tmp_path / name).unlink()
        assert not artifact.up_to_date(tmp_path, key)
        samples.write(tmp_path)
        assert gain_of(tmp_path) == 2.0


@pytest.mark.quick
def test_key_depends_on_compiler_and_source(monkeypatch: pytest.MonkeyPatch) -> None:
    def key(identity: str) -> str:
        return artifact.cache_key(samples.info(), {}, compiler.Compiler(("cc",), identity))

    assert key("cc 1") == key("cc 1") != key("cc 2")
    before = key("cc 1")
    monkeypatch.setattr(artifact, "_package_digest", lambda: "edited")
    assert key("cc 1") != before


@pytest.mark.quick
def test_failing_compiler_leaves_the_old_artifact(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = tmp_path / "old"
    samples.write(old)
    before = sorted(p.name for p in old.iterdir())
    script = tmp_path / "badcc"
    script.write_text("#!/bin/sh\necho 'arm.c:1: no such luck' >&2\nexit 1\n")
    script.chmod(0o755)
    monkeypatch.setenv("CC", str(script))
    for folder in (old, tmp_path / "new" / "deep"):
        with pytest.raises(CompileError, match=r"no such luck[\s\S]*badcc"):
            samples.write(folder, gain=3.0)
    assert sorted(p.name for p in old.iterdir()) == before
    assert gain_of(old) == 2.0
    assert not (tmp_path / "new").exists()


@pytest.mark.quick
def test_missing_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "/nowhere/cc")
    with pytest.raises(CompileError, match="/nowhere/cc"):
        compiler.find_compiler()
    monkeypatch.delenv("CC")
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(CompileError, match=r"pip install anyjoint\[cc\]"):
        compiler.find_compiler()


@pytest.mark.quick
def test_folder_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("mine")
    for out in (tmp_path / "file", tmp_path / "file" / "sub"):
        with pytest.raises(ArtifactError, match="is not a folder"):
            artifact.prepare(out)
    artifact.prepare(tmp_path / "new" / "deep")
    assert not (tmp_path / "new").exists()
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(ArtifactError, match="no permission"):
        artifact.prepare(tmp_path / "new")


@pytest.mark.quick
def test_stop_at_every_step_leaves_old_or_new(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace = os.replace
    seen = []
    for stop in range(6):
        folder = tmp_path / str(stop)
        samples.write(folder, gain=2.0)
        calls = iter(range(100))

        def stopping(src: Any, dst: Any, calls: Any = calls, stop: int = stop) -> None:
            if next(calls) == stop:
                raise KeyboardInterrupt
            replace(src, dst)

        with monkeypatch.context() as patch:
            patch.setattr(os, "replace", stopping)
            with contextlib.suppress(KeyboardInterrupt):
                samples.write(folder, gain=3.0)
        seen.append(gain_of(folder))
        samples.write(folder, gain=3.0)
        assert gain_of(folder) == 3.0
    assert seen == [2.0] * 5 + [3.0]


def test_compiles_at_once_into_one_folder(tmp_path: Path) -> None:
    samples.write(tmp_path, 2.0)
    gains = [[3, 4, 5, 6], [7, 8, 9, 10], [3, 8, 5, 10]]
    processes = [start(tmp_path, *some) for some in gains]
    opened = 0
    while any(p.poll() is None for p in processes):
        assert gain_of(tmp_path) in range(2, 11)
        opened += 1
    assert opened > 3
    assert [p.returncode for p in processes] == [0, 0, 0]
    assert gain_of(tmp_path) in (6, 10)
    assert len(list(tmp_path.glob("lib*.so"))) == 1
    assert not list(tmp_path.glob(".tmp*"))


@pytest.mark.quick
def test_foreign_files_stay_and_dead_folders_go(tmp_path: Path) -> None:
    (tmp_path / "libarm.so").write_text("mine")
    (tmp_path / ".tmp-notes").write_text("mine")
    dead = subprocess.Popen(["true"])
    dead.wait()
    left = tmp_path / f".tmp-{artifact.HOST}-{dead.pid}-abc"
    live = tmp_path / f".tmp-{artifact.HOST}-{os.getpid()}-abc"
    left.mkdir()
    live.mkdir()
    samples.write(tmp_path)
    assert (tmp_path / "libarm.so").read_text() == (tmp_path / ".tmp-notes").read_text() == "mine"
    assert live.exists() and not left.exists()


@pytest.mark.quick
def test_manifest(tmp_path: Path) -> None:
    key = samples.write(tmp_path)
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    assert manifest["anyjoint_artifact"] == 1
    assert manifest["key"] == key
    assert manifest["model"] == samples.info()
    assert manifest["isa"]["level"] in ("x86-64-v2", "aarch64")
    sparse = manifest["functions"]["sparse"]
    assert sparse["symbol"] == "arm_sparse"
    assert sparse["outputs"][0]["sparsity"] == {"colind": [0, 1, 2], "rows": [0, 1]}
    assert sparse["inputs"][1] == {"name": "p", "shape": [1, 1], "nnz": 1, "sparsity": "dense"}
    cost = manifest["functions"]["rolled"]["budget"]
    assert cost["c_bytes"] > manifest["functions"]["copy"]["budget"]["c_bytes"] > 100
    assert set(json.loads((tmp_path / "timings.json").read_text())) == {"generate", "compile"}
    if sys.platform == "linux":
        assert cost["text_bytes"] > 50


@pytest.mark.quick
def test_operations() -> None:
    made = samples.functions()
    assert budget.operations(made["copy"]) == {"total": 0}
    assert budget.operations(made["fd"]) == {"add": 2, "mul": 2, "sin": 2, "twice": 2, "total": 8}
    counts = budget.operations(made["rolled"])  # 3 steps, y + total, M y
    assert counts["sin"] == 6
    assert counts["mul"] == 6 + 4
    x = ca.MX.sym("x")
    step = ca.Function("step", [x], [ca.sin(x)])
    y = ca.MX.sym("y", 1, 7)
    wide = ca.Function("wide", [y], [step.map(7)(y)])
    assert budget.operations(wide) == {"sin": 7, "total": 7}


@pytest.mark.quick
def test_isa_and_levels() -> None:
    features = {"sse", "sse2", "pni", "ssse3", "sse4_1", "sse4_2", "popcnt"}
    assert compiler._level({"__x86_64__"}, features) == "x86-64-v2"
    assert compiler._level({"__x86_64__"}, {"sse", "sse2", "avx2"}) == "x86-64-v1"
    assert compiler._level({"__aarch64__"}, set()) == "aarch64"
    cc, here = compiler.find_compiler(), compiler.cpu_features()
    if here is None:
        pytest.skip("the processor's features are unknown")
    native = compiler.isa(cc, compiler.default_flags(cc, native=True))["features"]
    assert set(native) <= here  # type: ignore[call-overload]


MAIN = """
#include <stdio.h>
#include "arm.h"
#include "leg.h"
int main(void) {
  double q[ARM_NQ] = {1.0, 2.0}, v[ARM_NV] = {0}, a[ARM_NV], b[LEG_NV], s[2], m;
  const double *arg[ARM_COPY_SZ_ARG + 1] = {q};
  double *res[ARM_COPY_SZ_RES + 1] = {a};
  if (arm_call_fd(q, v, ARM_P0, a) || leg_call_fd(q, v, LEG_P0, b)) return 1;
  if (leg_call_sparse(q, LEG_P0, s, &m)) return 1;
  printf("%.15g %.15g %.15g %.15g\\n", a[ARM_V_WRIST_X], b[LEG_V_WRIST_X_2], s[1], m);
  if (arm_copy(arg, res, 0, 0, 0) || arm_call_f0(q, b)) return 1;
  printf("%g %g %d\\n", a[ARM_Q_ELBOW_2], b[0], LEG_NP);
  return 0;
}
"""


@pytest.mark.quick
@pytest.mark.skipif(GCC is None, reason="needs gcc")
@pytest.mark.parametrize("language", ["c", "c++"])
def test_two_models_in_one_program(tmp_path: Path, language: str) -> None:
    for name, gain in (("arm", 2.0), ("leg", 5.0)):
        for suffix, text in zip(
            "ch",
            codegen.generate(samples.functions(name, gain), samples.info(name, gain)),
            strict=True,
        ):
            (tmp_path / f"{name}.{suffix}").write_text(text)
    (tmp_path / "main.c").write_text(MAIN)
    strict = ["-Wall", "-Wextra", "-pedantic", "-Werror"]
    standard = "-std=c99" if language == "c" else "-std=c++17"
    if language == "c++" and shutil.which("g++") is None:
        pytest.skip("needs g++")
    run(tmp_path, ["gcc", "-x", language, standard, *strict, "-c", "main.c"])
    run(tmp_path, ["gcc", "-std=c99", *strict, "-c", "arm.c", "leg.c"])
    run(tmp_path, ["gcc", "main.o", "arm.o", "leg.o", "-lm", "-o", "main"])
    lines = run(tmp_path, ["./main"]).splitlines()
    sin = np.sin([1.0, 2.0])
    expected = [2 * sin[0] * 0.25, 5 * sin[1] * 0.25, 5 * 2 * 0.25, 0.25]
    np.testing.assert_allclose([float(x) for x in lines[0].split()], expected, rtol=1e-14)
    assert lines[1] == "2 -1 1"


def run(folder: Path, command: list[str]) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.quick
@pytest.mark.skipif(GCC is None or shutil.which("nm") is None, reason="needs gcc and nm")
def test_exports_and_mixed_builds(tmp_path: Path) -> None:
    samples.write(tmp_path)
    (so,) = tmp_path.glob("lib*.so")
    lines = run(tmp_path, ["nm", "-D", "--defined-only", so.name]).splitlines()
    symbols = [line.split()[-1] for line in lines]
    assert "arm_fd" in symbols
    aliases = tuple(f"arm_{alias}" for alias in samples.functions())
    others = {s for s in symbols if not s.startswith(aliases)}
    assert all(s.startswith("arm_casadi_") for s in others)
    (tmp_path / "arm.h").write_text(codegen.generate(samples.functions(gain=9), samples.info())[1])
    failed = subprocess.run(["gcc", "-c", "arm.c"], cwd=tmp_path, capture_output=True, check=False)
    assert failed.returncode and b"different builds" in failed.stderr


def test_zig(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ziglang")
    monkeypatch.setenv("CC", f"{sys.executable} -m ziglang cc")
    samples.write(tmp_path / "a")
    samples.write(tmp_path / "b")
    assert gain_of(tmp_path / "a") == 2.0
    manifest = (tmp_path / "a" / "manifest.json").read_text()
    assert manifest == (tmp_path / "b" / "manifest.json").read_text()
    assert json.loads(manifest)["isa"]["level"] in ("x86-64-v2", "aarch64")
