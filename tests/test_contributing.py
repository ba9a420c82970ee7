"""CONTRIBUTING.md is true: its toy package installs, its model works, the laws find its joint.
Packages that can't be used are reported and harm nobody else."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, Literal

import casadi as ca
import pytest

from anyjoint.build import foreign
from anyjoint.curves import CURVES, Curve
from anyjoint.frontend.fields import JointKeys
from anyjoint.joints import JOINTS, Joint
from anyjoint.registry import Families
from anyjoint.surfaces import SURFACES

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
GROUP = "anyjoint.curves"


def commands() -> list[str]:
    return block("sh").replace("\\\n", "").splitlines()


def block(language: str) -> str:
    (text,) = re.findall(rf"```{language}\n(.*?)```", PAGE, flags=re.DOTALL)
    return str(text)


def run(command: str, folder: Path, path: Path) -> Any:
    """A shell command in `folder`, with the packages in `path` and this Python's scripts."""
    scripts = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = os.environ | {"PATH": scripts, "PYTHONPATH": str(path), "ANYJOINT": str(ROOT)}
    return subprocess.run(command, shell=True, cwd=folder, env=environment, capture_output=True,
                          text=True)


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The folder of the page's package, and the one where pip has put it."""
    folder, installed = (tmp_path_factory.mktemp(n) for n in ("toy", "installed"))
    for name, language in (("pyproject.toml", "toml"), ("toy_joints.py", "python"),
                           ("toy.yaml", "yaml")):
        (folder / name).write_text(block(language), encoding="utf-8")
    # as the page says, but without a network and beside this Python's packages
    install = commands()[0].replace("pip install", (
        f"{sys.executable} -m pip install --disable-pip-version-check --no-index --no-deps "
        f"--no-build-isolation --target {installed}"))
    done = run(install, folder, installed)
    assert done.returncode == 0, done.stderr
    return folder, installed


@pytest.mark.parametrize("command", commands()[1:])
def test_the_commands_of_the_page(command: str, toy: tuple[Path, Path]) -> None:
    done = run(command, *toy)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Warning" not in done.stderr
    if "pytest" in command:
        assert int(re.search(r"(\d+) passed", done.stdout)[1]) > 50  # type: ignore[index]


def test_the_schema_has_the_new_types(toy: tuple[Path, Path]) -> None:
    done = run("anyjoint schema", *toy)
    keys = json.loads(done.stdout)["$defs"]
    types = {k.get("properties", {}).get("type", {}).get("const") for k in keys.values()}
    assert {"swing", "catenary", "saddle", "revolute"} <= types


@pytest.mark.quick
def test_help_loads_no_registry(tmp_path: Path) -> None:
    code = "import sys, anyjoint.cli; sys.exit('anyjoint.registry' in sys.modules)"
    assert run(f'{sys.executable} -c "{code}"', tmp_path, tmp_path).returncode == 0


# -- packages that can't be used ------------------------------------------------------------------

MODULE = """
from typing import Literal
from anyjoint.curves.contract import Curve
from anyjoint.frontend.fields import Strict
class Good(Curve):
    class Keys(Strict):
        type: Literal["good"]
class Taken(Curve):
    class Keys(Strict):
        type: Literal["circle"]
class Bare(Curve):
    pass
class Open(Curve):
    class Keys(Strict):
        type: Literal["open"]
        other: "AnyCurv"
number = 3
"""
BAD = {  # entry point: what the message says
    "gone = nowhere:Curve": "No module named 'nowhere'",
    "lost = sample:Lost": "no attribute 'Lost'",
    "number = sample:number": "no subclass of anyjoint.curves.contract.Curve",
    "other = sample:Good": 'its type is "good"',
    "circle = sample:Taken": 'the type "circle" is taken by anyjoint.curves.conics',
    "bare = sample:Bare": 'no field "type"',
    "open = sample:Open": "name 'AnyCurv' is not defined"}


@pytest.fixture
def sample(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in the search path with an installed package of these entry points."""
    info = tmp_path / "sample-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: sample\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("\n".join([f"[{GROUP}]", "good = sample:Good", *BAD]))
    (tmp_path / "sample.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "sample", raising=False)
    return tmp_path


@pytest.mark.quick
def test_what_cannot_be_used_is_left_out_with_a_warning(sample: Path) -> None:
    families = Families(Curve, CURVES.own.values(), GROUP)
    with pytest.warns(UserWarning) as warnings:
        assert set(families) == {*CURVES.own, "good"}
    list(families)  # one warning each
    messages = [str(w.message) for w in warnings]
    assert len(messages) == len(BAD)
    for (entry, why), message in zip(BAD.items(), messages, strict=True):
        assert message.startswith(f'the entry point "{entry}" of sample ({GROUP}) can\'t be used')
        assert why in message and "\n" not in message


def test_other_models_work_on(sample: Path) -> None:
    done = run(f"anyjoint check {ROOT / 'models' / 'arm.yaml'}", sample, sample)
    assert done.returncode == 0 and "ok" in done.stdout
    joint = "{type: curve, curve: {type: gone}}"
    (sample / "m.yaml").write_text(
        f"anyjoint: 1\nname: m\nbodies:\n  b: {{parent: world, mass: 1, joint: {joint}}}\n")
    done = run("anyjoint check m.yaml", sample, sample)
    assert done.returncode == 2 and "m.yaml:4:" in done.stderr
    assert 'error: unknown type "gone" [bodies.b.joint.curve.type]' in done.stderr
    assert 'hint: the entry point "gone = nowhere:Curve" of sample' in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.quick
@pytest.mark.filterwarnings("ignore:the entry point")
def test_cached_artifacts_know_the_code_of_other_packages(sample: Path) -> None:
    def digest() -> str:
        return Families(Curve, CURVES.own.values(), GROUP).digest()

    before = digest()
    assert before == digest() != Families(Curve, (), "anyjoint.nothing").digest()
    (sample / "sample.py").write_text(MODULE + "# changed\n")
    assert digest() != before


def faulty(**methods: Any) -> type[Joint]:
    """A joint of another package with these methods."""
    class Keys(JointKeys):
        type: Literal["faulty"]

    return type("Faulty", (Joint,), {"Keys": Keys, "__module__": "their_joints", **methods})


@pytest.mark.quick
@pytest.mark.parametrize(("methods", "reason"), [
    ({"transform": lambda self, q, args: ca.SX.eye(4)}, "TypeError"),
    ({"transform": lambda self, q, args: (ca.SX.eye(3), ca.SX(1, 3))}, "r is 1×3, not 3×1"),
    ({"transform": lambda self, q, args: (2 * ca.SX.eye(3), ca.SX(3, 1))}, "no rotation"),
    ({"transform": lambda self, q, args: (ca.SX.eye(3), ca.vertcat(q[1], 0, 0))}, "IndexError|"
     "RuntimeError"),
    ({"__init__": lambda self, keys, value: keys.nothing}, "AttributeError"),
])
def test_mistakes_of_other_packages_are_named(methods: Any, reason: str,
                                              monkeypatch: pytest.MonkeyPatch) -> None:
    """A problem at the joint's type, not an internal error; the rest is still checked."""
    family = faulty(**methods)
    problems: list[Any] = []

    class Here:
        path, replaced = ("bodies", "b", "joint"), set[str]()

        @staticmethod
        def problem(message: str, *path: Any, hint: str = "") -> None:
            problems.append((message, path, hint))

    assert foreign.made(family, family.Keys(type="faulty"), Here, lambda: "stand-in") == "stand-in"
    (message, path, hint), = problems
    assert message.startswith('"faulty" of the package their_joints fails: ')
    assert re.search(reason, message) and path == ("type",) and "their_joints.Faulty" in hint


@pytest.mark.quick
@pytest.mark.parametrize("families", [JOINTS, CURVES, SURFACES], ids=lambda f: f.group)
def test_every_family_has_examples(families: Any) -> None:
    """A family without examples would not be tested."""
    assert [name for name, family in families.items() if not family.examples] == []


@pytest.mark.parametrize("module", ["joints", "curves", "surfaces", "curves.contract",
                                    "surfaces.contract", "joints.contract", "frontend.schema"])
def test_other_packages_may_import_any_part_first(module: str) -> None:
    done = subprocess.run([sys.executable, "-c", f"import anyjoint.{module}"],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
