"""The command line, and wrong calls from Python: exit status 2, a message that helps, no
traceback, and nothing written."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
import yaml
from typer.testing import CliRunner

import anyjoint as aj
from anyjoint.cli import app

ROOT = Path(__file__).parent.parent
MODELS = sorted((ROOT / "models").glob("*.yaml"))
ARM = ROOT / "models" / "arm.yaml"
BAD = "anyjoint: 1\nname: m\nbodies:\n  a: {parent: wrld, joint: {type: fixed}, mass: true}\n"
COMMANDS = ("check", "show", "compile", "ops", "schema", "new", "demo")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder; bad.yaml and binary.yaml lie beside it."""
    (tmp_path / "bad.yaml").write_text(BAD)
    (tmp_path / "binary.yaml").write_bytes(bytes(range(256)) * 9)
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path / "work"


def run(*args: object) -> Any:
    return CliRunner().invoke(app, [str(a) for a in args])


def ok(*args: object) -> str:
    result = run(*args)
    assert result.exit_code == 0, result.output
    return str(result.stdout)


def arguments(line: str) -> list[str]:
    return [str(ARM) if word == "ARM" else word for word in line.split()]


def listing() -> list[Path]:
    return sorted(Path("..").rglob("*"))


def process(*args: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "anyjoint", *map(str, args)], text=True,
                          capture_output=True, check=False)


@pytest.mark.quick
def test_help() -> None:
    assert all(command in ok("--help") for command in COMMANDS)
    for command in COMMANDS:
        assert "--debug" in ok(command, "--help")
    assert "compile" in process("--help").stdout


@pytest.mark.quick
def test_imports_of_the_command_line_are_light() -> None:
    code = "import anyjoint.cli, sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"casadi", "numpy", "pydantic", "yaml", "rich"} & set(done.stdout.split())


@pytest.mark.quick
def test_check_and_show() -> None:
    assert "arm.yaml: ok" in (text := ok("check", ARM)) and "nq = 2, nv = 2, np = 1" in text
    assert json.loads(ok("check", ARM, "--output-format", "json")) == {"ok": True, "problems": []}
    shown = ok("show", ARM)
    for text in ("upper", "elbow: revolute, 1 dof", "2.61799", "payload", "0.2", "home", "inlined"):
        assert text in shown
    data = json.loads(ok("show", ARM, "--output-format", "json"))
    assert data["dimensions"]["nv"] == 2 and data["operations"]["fd"]["total"] > 0
    assert data["limits"]["q_max"][1] == pytest.approx(150 * np.pi / 180)
    assert data["bodies"][1] == {"name": "lower", "parent": "upper", "joint": "elbow", "nv": 1}


def flat(values: Any) -> Any:
    return np.array(values).ravel(order="F")


@pytest.mark.quick
def test_compile() -> None:
    assert "arm_fd" in ok("compile", ARM)
    assert "up to date" in ok("compile", ARM)
    data = json.loads(ok("compile", ARM, "--output-format", "json"))
    assert data["ok"] and data["up_to_date"] and Path(data["manifest"]).is_file()
    m, lib = aj.load(ARM), aj.open("generated/arm")
    args = m.state("home"), [1, 2], [3, 4], [0.5]
    assert flat(lib.fd(*args)) == pytest.approx(flat(m.function("fd")(*args)), rel=1e-12)


@pytest.mark.parametrize("form", ["inlined", "rolled"])
def test_compile_options(form: str) -> None:
    functions = "id:passive=false, frame_jacobian:frame=tool:reference=world,energy"
    ok("compile", ARM, "-o", "out", "--bake", "--native", "--form", form, "-f", functions)
    m, lib = aj.load(ARM), aj.open("out")
    assert set(lib.functions) == {"id_no_passive", "frame_jacobian_tool_world", "energy"}
    assert lib.np == 0 and lib["id_no_passive"].function.numel_in("p") == 0
    q, v, a = m.state("home"), [0.3, -0.4], [1, 2]
    expected = m.function("id", passive=False)(q, v, a, m.p0)
    assert flat(lib.id_no_passive(q, v, a)) == pytest.approx(flat(expected), rel=1e-12)
    J = m.function("frame_jacobian", frame="tool", reference="world")(q, m.p0)
    assert flat(lib.frame_jacobian_tool_world(q)) == pytest.approx(flat(J), abs=1e-14)


def test_new_compiles_and_its_laws_hold(folder: Path) -> None:
    assert "wrote robot.yaml" in ok("new", "robot")
    assert sorted(p.name for p in folder.iterdir()) == ["anyjoint.schema.json", "robot.yaml"]
    ok("compile", "robot.yaml")
    m, lib = aj.load("robot.yaml"), aj.open("generated/robot")
    q, v, tau = m.state("raised") + 0.3, np.array([0.4, -2.0]), np.array([1.0, 0.5])
    assert flat(lib.id(q, v, lib.fd(q, v, tau))) == pytest.approx(tau, rel=1e-10)
    M = np.array(m.function("mass_matrix")(q, m.p0))
    assert np.allclose(M, M.T) and np.linalg.eigvalsh(M)[0] > 0
    before = listing()
    for name, word in (("robot", "exists already"), ("a b", "letter first"), ("", "letter first"),
                       ("../x", "letter first"), ("a__b", "letter first"), ("x" * 64, "letter")):
        result = run("new", name)
        assert result.exit_code == 2 and word in result.stderr
    assert listing() == before


def test_demo_in_an_empty_folder() -> None:
    done = process("demo")
    assert done.returncode == 0, done.stderr
    assert "torus_chain_4" in done.stdout and "µs" in done.stdout
    assert aj.open("generated/arm").functions == ["fd", "id"]


def test_schema() -> None:
    schema = json.loads(ok("schema"))
    assert schema == json.loads((ROOT / "models" / "anyjoint.schema.json").read_text())
    validator = jsonschema.Draft7Validator(schema)
    for path in MODELS:
        validator.validate(yaml.safe_load(path.read_text()))
    body = {"parent": "world", "joint": {"type": "revolute", "axis": "y"}, "mass": 1}
    model = {"anyjoint": 1, "name": "m", "bodies": {"a": body}}
    validator.validate(model)
    for wrong in ({"anyjoint": 2}, {"name": 3}, {"bodies": {}}, {"bodis": {}}, {"gravity": [0, 0]},
                  {"bodies": {"a": body | {"masss": 1}}}, {"bodies": {"a": {"mass": 1}}},
                  {"bodies": {"a": body | {"mass": True}}}, {"states": [1]},
                  {"bodies": {"a": body | {"joint": {"type": "revolute", "axs": "x"}}}},
                  {"bodies": {"a": body | {"joint": {"type": "revolute", "axis": "w"}}}},
                  {"bodies": {"a": body | {"shapes": [{"type": "box", "size": [1, 2]}]}}},
                  {"forces": {"f": {"type": "spring", "from": "a"}}}, {"actuators": {"m": {}}},
                  {"joint_types": {"t": {"transform": [{"rotzz": 1}]}}}):
        assert not validator.is_valid(model | wrong), wrong


ERRORS: dict[str, tuple[str, ...]] = {  # arguments: words of the message
    "check none.yaml": ("can't read none.yaml", "No such file"), "show .": ("directory",),
    "check ../binary.yaml": ("binary.yaml:3:115", "UTF-8"), "check ../bad.yaml/x": ("can't read",),
    "check ../bad.yaml": ("bad.yaml:4:15: error", '"world"?', "    ^^^^\n", "bad.yaml:4:49"),
    "show ../bad.yaml": ("a boolean",), "compile ../bad.yaml": ("unknown parent",),
    "compile ARM -o ../bad.yaml/x": ("can't write", "not a folder"),
    "compile ARM -o ../bad.yaml": ("not a folder",), "compile ARM -o /proc/x/y": ("can't write",),
    "compile ARM -f fdd": ('did you mean "fd"?',), "compile ARM -f ,": ("no functions given",),
    "compile ARM -f fd:pasive=false": ('did you mean "passive"?',),
    "compile ARM -f fd:passive=3": ("allowed: true, false",), "compile ARM -f fd:x": ("key=value",),
    "compile ARM -f frame_jacobian": ("needs a frame", "tool"),
    "compile ARM -f frame_bias:frame=tol": ('did you mean "tool"?',),
    "compile ARM --form x": ("allowed: auto, inlined",), "compile ARM --nativ": ("--native",),
    "check": ("Missing argument",), "chek": ("No such command",), "new": ("Missing argument",),
    "check ARM --output-format xml": ("json",), "new x --from arn": ('did you mean "arm"?',),
}


@pytest.mark.parametrize("line", ERRORS)
def test_error(line: str) -> None:
    before = listing()
    result = run(*arguments(line))
    assert result.exit_code == 2 and result.stdout == "", result.output
    assert "Traceback" not in result.stderr and "internal error" not in result.stderr
    assert all(word in result.stderr for word in ERRORS[line]), result.stderr
    assert listing() == before


@pytest.mark.parametrize("command", ["check", "show", "compile"])
def test_json_problems(command: str) -> None:
    result = run(command, "../bad.yaml", "--output-format", "json")
    assert result.exit_code == 2 and result.stderr == ""
    data = json.loads(result.stdout)
    parent, mass = data["problems"]
    assert data["ok"] is False and set(parent) == set(mass)
    assert parent == parent | {"file": "../bad.yaml", "line": 4, "column": 15, "length": 4,
                               "message": 'unknown parent "wrld"', "key": "bodies.a.parent"}
    assert "world" in parent["hint"] and mass["column"] == 49 and "boolean" in mass["message"]
    for line in ("check none.yaml", "compile ARM -f fdd", "compile ARM -o ../bad.yaml/x"):
        result = run(*arguments(line), "--output-format", "json")
        assert result.exit_code == 2 and json.loads(result.stdout)["problems"][0]["message"]


def test_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    find, before = importlib.util.find_spec, listing()
    for cc, word in (("false", "the C compiler failed"), ("none", "$CC=none does not exist"),
                     (f"{sys.executable} -c fail", "failed"), ("", "no C compiler found")):
        monkeypatch.setenv("CC", cc)
        if not cc:
            monkeypatch.setenv("PATH", "")
            monkeypatch.setattr(importlib.util, "find_spec", lambda name, *args:
                                None if name == "ziglang" else find(name, *args))
        result = run("compile", ARM)
        assert result.exit_code == 2 and word in result.stderr, result.output
    assert "pip install anyjoint[cc]" in result.stderr and listing() == before


def test_exit_status_of_the_process() -> None:
    for line in ("check ../bad.yaml", "compile ARM -f fdd", "show none.yaml"):
        done = process(*arguments(line))
        assert done.returncode == 2 and "Traceback" not in done.stderr and not done.stdout
        done = process(*arguments(line), "--debug")
        assert done.returncode == 1 and "Traceback" in done.stderr


@pytest.mark.quick
def test_wrong_calls(folder: Path) -> None:
    m = aj.load(ARM)
    lib = aj.compile(m, "out", ["fd"])
    zero = [0.0, 0.0]
    calls: dict[str, Callable[[], Any]] = {
        'did you mean "fd"': lambda: m.function("fdd"), 'mean "home"': lambda: m.state("hom"),
        'mean "passive"': lambda: m.function("fd", pasive=False),
        'mean "tool"': lambda: m.function("frame_bias", frame="tol"),
        "world_aligned, body": lambda: m.function("frame_bias", frame="tool", reference="wrld"),
        "auto, inlined, rolled": lambda: m.function("fd", form="x"),
        "no functions": lambda: aj.compile(m, "x", []), 'body "tl"': lambda: m.frame("tl"),
        "q must be 2×1, got 1": lambda: lib.fd([0], zero, zero),
        "p must be 1×1": lambda: lib.fd(zero, zero, zero, [1, 2]),
        "missing input tau": lambda: lib.fd(zero, zero)}
    for message, call in calls.items():
        with pytest.raises(aj.InputError) as caught:
            call()
        assert message in str(caught.value)
    assert [p.name for p in folder.iterdir()] == ["out"]
