"""The loader: refusals, names, inputs."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
import pytest

import artifact_samples as samples
from anyjoint import library
from anyjoint.backend import manifest as manifests
from anyjoint.errors import ArtifactError, InputError

pytestmark = pytest.mark.quick


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("library")
    samples.write(out)
    return out


@pytest.fixture(scope="module")
def lib(folder: Path) -> library.Library:
    return library.open(folder)


def test_attributes(lib: library.Library, folder: Path) -> None:
    assert (lib.nq, lib.nv, lib.nu, lib.np, lib.nbodies) == (2, 2, 2, 1, 2)
    assert lib.v_names == ["wrist.x", "wrist_x"]
    assert lib.q0.tolist() == [0.0, 0.5]
    assert lib.path == folder
    assert "fd" in lib.functions and "fd" in dir(lib)
    assert lib.fd is lib["fd"]
    assert lib.fd.__doc__ == "fd(q 2×1, v 2×1, p 1×1) -> (a 2×1)"
    assert repr(lib.fd) == "<compiled fd(q 2×1, v 2×1, p 1×1) -> (a 2×1)>"
    assert lib.fd.name_in() == ["q", "v", "p"] and lib.fd.name_out() == ["a"]
    with pytest.raises(AttributeError, match='did you mean "sparse"'):
        _ = lib.sparce
    with pytest.raises(KeyError, match="has no function nothing"):
        _ = lib["nothing"]
    assert library.open(folder / "manifest.json").name == "arm"


def test_edit_compile_open_in_one_process(tmp_path: Path) -> None:
    values = []
    kept = []
    for gain in (2.0, 3.0, 2.0):
        samples.write(tmp_path, gain)
        kept.append(library.open(tmp_path))  # the old handles stay alive
        values.append(float(kept[-1].bare([1, 0])[0]))
    assert values == [2.0, 3.0, 2.0]
    assert float(kept[1].bare([1, 0])[0]) == 3.0


def test_calls(lib: library.Library) -> None:
    expected = np.array([2 * np.sin(1) * 0.25 + 3, 2 * np.sin(2) * 0.25 + 4])
    q, v = [1, 2], np.array([3.0, 4.0])
    for value in (
        lib.fd(q, v, 0.25),
        lib.fd(q, v),  # p is the default
        lib.fd(v=v, q=q),
        lib.fd(q, v, [0.25]),
        lib.fd(np.array([[1, 2]]), ca.DM([3, 4]), p=np.array([[0.25]])),
        lib.fd(ca.DM([[1, 2]]), v.reshape(2, 1)),
    ):
        assert isinstance(value, np.ndarray) and value.shape == (2,)
        np.testing.assert_allclose(value, expected, rtol=1e-14)
    matrix, scalar = lib.sparse(q)
    assert matrix.shape == (2, 2) and np.count_nonzero(matrix) == 2 and scalar == 0.25
    first = lib.fd(q, v)
    lib.fd([0, 0], [0, 0])
    np.testing.assert_allclose(first, expected)  # a result is not the buffer of the next call
    empties: list[Any] = [[], np.zeros((0, 1)), np.zeros((1, 0)), ca.DM(0, 1)]
    for empty in empties:
        assert float(lib.bare(q, empty)[1]) == 4.0


@pytest.mark.parametrize("kind", [ca.MX, ca.SX])
def test_symbolic_calls(lib: library.Library, kind: Any) -> None:
    x = kind.sym("x", 2)
    f = ca.Function("f", [x], [2 * lib.fd(x, [0, 0])])
    np.testing.assert_allclose(f([1, 2]).full().ravel(), 2 * lib.fd([1, 2], [0, 0]))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda lib: lib.fd([1, 2, 3], [1, 2]), r"^fd: input q must be 2×1, got 3$"),
        (lambda lib: lib.fd([1, 2], np.ones((2, 2))), r"input v must be 2×1, got 2×2"),
        (lambda lib: lib.fd(1.0, [1, 2]), r"input q must be 2×1, got a scalar"),
        (lambda lib: lib.fd([1, 2], [1, 2], [1, 2]), r"input p must be 1×1, got 2"),
        (lambda lib: lib.fd([1, 2], [1, 2], []), r"input p must be 1×1, got 0"),
        (lambda lib: lib.bare([1, 2], 3.0), r"input p must be 0×1"),
        (lambda lib: lib.rolled([1, 2], [1, 2, 3, 4]), r"input M must be 2×2, got 4"),
        (lambda lib: lib.fd(ca.MX.sym("x", 3), [1, 2]), r"input q must be 2×1, got 3×1"),
        (lambda lib: lib.fd(ca.MX.sym("x", 2), ca.SX.sym("x", 2)), "can't be mixed"),
        (lambda lib: lib.fd("12", [1, 2]), "q must be numbers, got str"),
        (lambda lib: lib.fd(["1", "2"], [1, 2]), "q must be numbers, got list"),
        (lambda lib: lib.fd(None, [1, 2]), "q must be numbers, got NoneType"),
        (lambda lib: lib.fd([1j, 2], [1, 2]), "q must be numbers"),
        (lambda lib: lib.fd([[1], [2, 3]], [1, 2]), "q is no array of numbers"),
        (lambda lib: lib.fd([1, 2]), "fd: missing input v"),
        (lambda lib: lib.fd([1, 2], [1, 2], [1], [1]), "4 inputs given, it takes 3: q, v, p"),
        (lambda lib: lib.fd([1, 2], q=[1, 2], v=[1, 2]), "input q given twice"),
        (lambda lib: lib.fd([1, 2], w=[1, 2]), "no input w; inputs: p, q, v"),
    ],
)
def test_wrong_inputs(
    lib: library.Library, call: Callable[[library.Library], Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        call(lib)


def change(**values: Any) -> Callable[[dict[str, Any]], None]:
    return lambda manifest: manifest.update(values)


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (change(anyjoint_artifact=2), "format 2.*update anyjoint"),
        (change(machine="vax"), "compiled for .* vax, this is"),
        (change(os="VMS"), "compiled for VMS"),
        (change(abi={"casadi_real": "float", "casadi_int": "int"}), "'float'.*CasADi needs"),
        (change(isa={"level": "x86-64-v9", "features": ["avx9000"]}), "v9.*lacks avx9000"),
        (change(files={"library": {"name": "no.so", "sha256": ""}}), "no.so is missing"),
        (lambda m: m["files"]["library"].update(sha256="0"), "not the file that the manifest"),
        (lambda m: m.clear(), "damaged"),
        (lambda m: m.pop("functions"), "damaged"),
        (lambda m: m["functions"]["fd"].update(symbol="arm_none"), "can't load the library"),
    ],
)
def test_refusals(
    folder: Path, edit: Callable[[dict[str, Any]], None], message: str,
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr(manifests, "cpu_features", lambda: frozenset(ALL_FEATURES))
    for file in folder.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    ALL_FEATURES.update(manifest["isa"]["features"])
    edit(manifest)
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(ArtifactError, match=message):
        library.open(tmp_path)


ALL_FEATURES: set[str] = set()


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "\0", '{"a": 1}'])
def test_damaged_manifest(tmp_path: Path, text: str) -> None:
    (tmp_path / "manifest.json").write_text(text)
    with pytest.raises(ArtifactError, match="anyjoint compile"):
        library.open(tmp_path)


def test_no_artifact(tmp_path: Path) -> None:
    with pytest.raises(ArtifactError, match="no artifact in .*anyjoint compile"):
        library.open(tmp_path / "nothing")


def test_damaged_library(folder: Path, tmp_path: Path) -> None:
    for file in folder.iterdir():
        data = file.read_bytes()
        (tmp_path / file.name).write_bytes(data[:-1] if file.suffix == ".so" else data)
    with pytest.raises(ArtifactError, match="not the file"):
        library.open(tmp_path)
