"""The way without a clone: the built wheel carries the models, and `anyjoint demo` works in
an empty folder on a machine whose only compiler is ziglang's."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


def run(*command: str, **options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, check=True, capture_output=True, text=True, **options)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", str(out), str(ROOT))
    return next(out.glob("anyjoint-*.whl"))


def test_the_wheel_carries_the_models(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    for model in (ROOT / "models").glob("*.yaml"):
        assert f"anyjoint/models/{model.name}" in names
    assert "anyjoint/models/anyjoint.schema.json" in names
    assert not [n for n in names if n.startswith(("tests", "models"))]


def test_demo_in_an_empty_folder_with_zig_only(wheel: Path, tmp_path: Path) -> None:
    pytest.importorskip("ziglang", reason="the extra [cc] is not installed")
    installed, empty = tmp_path / "installed", tmp_path / "empty"
    empty.mkdir()
    zipfile.ZipFile(wheel).extractall(installed)
    # the wheel first, then its dependencies; no gcc in the path
    path = os.pathsep.join([str(installed), sysconfig.get_path("purelib")])
    environment = {"PATH": str(empty), "PYTHONPATH": path, "HOME": str(tmp_path), "LANG": "C.UTF-8"}
    done = run(sys.executable, "-m", "anyjoint", "demo", cwd=empty, env=environment)
    assert "torus_chain_4" in done.stdout and "µs" in done.stdout
    assert (empty / "generated" / "arm" / "manifest.json").exists()
    assert str(installed) in done.stdout  # the models are those of the wheel
    assert "zig" in (empty / "generated" / "arm" / "manifest.json").read_text()
    run(sys.executable, "-m", "anyjoint", "new", "mine", cwd=empty, env=environment)
    run(sys.executable, "-m", "anyjoint", "compile", "mine.yaml", cwd=empty, env=environment)
