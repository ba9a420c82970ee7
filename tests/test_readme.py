"""What README and docs print is true: their models load, their Python and C run."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

import anyjoint as aj
from anyjoint.joints import JOINTS

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, flags=re.DOTALL)


@pytest.mark.quick
def test_the_model_of_the_tour_is_models_arm() -> None:
    first = blocks("yaml")[0]
    assert aj.loads(first).hash == aj.load(ROOT / "models" / "arm.yaml").hash


@pytest.mark.quick
def test_the_joint_of_the_tour_works() -> None:
    types = yaml.safe_load(blocks("yaml")[1])
    joint = {"type": "bead_on_helix", "radius": 0.2}
    bodies = {"b": {"parent": "world", "mass": 1, "joint": joint}}
    m = aj.loads(yaml.safe_dump({"anyjoint": 1, "name": "x", "bodies": bodies, **types}))
    assert m.q_names == ("b",)


def test_python_and_c_of_the_tour_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(ROOT / "models", tmp_path / "models")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    exec(blocks("python")[0], names)
    expected = names["lib"].fd([0, 1.5], [0, 0], [0, 0])  # type: ignore[attr-defined]
    (tmp_path / "main.c").write_text(blocks("c")[0])
    command = next(line for line in README.splitlines() if line.startswith("cc "))
    out = subprocess.run(command, shell=True, check=True, capture_output=True, text=True).stdout
    assert [float(x) for x in out.split()] == pytest.approx(expected, rel=1e-4)


@pytest.mark.quick
def test_docs_name_every_joint_and_function() -> None:
    from anyjoint.functions import CATALOGUE

    page = (ROOT / "docs" / "model-file.md").read_text()
    assert not [name for name in JOINTS.own if f"| `{name}` |" not in page]
    assert not [name for name in CATALOGUE if name not in README]
    reference = (ROOT / "docs" / "functions.md").read_text()
    assert not [name for name in CATALOGUE if f"`{name}`" not in reference]
