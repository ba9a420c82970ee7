"""The model that `anyjoint new` writes, and where the models of the package are."""

from __future__ import annotations

import json
import re
from pathlib import Path

from anyjoint.errors import InputError, suggest

_TEMPLATE = """\
# yaml-language-server: $schema=./anyjoint.schema.json
# A pendulum on a cart. Edit this file, then: anyjoint show {name}.yaml
anyjoint: 1
name: {name}                      # prefix of every C symbol: {name}_fd
gravity: [0, 0, -9.81]            # world axes; SI units, radians (deg is a constant)
constants:  {{l: 0.5}}              # formulas may use these; folded into the code
parameters: {{payload: 0.2}}        # run-time inputs p of every function, with defaults

bodies:                           # their order is the order of q, v and tau
  cart:
    parent: world                 # a body, or world
    joint: {{name: slide, type: prismatic, axis: x, range: [-2, 2], damping: 0.1}}
    mass: 1.0                     # a body has mass, com and inertia, or shapes with mass
    inertia: [0.01, 0.01, 0.01]   # about the com, body axes
  pole:
    parent: cart
    origin: {{xyz: [0, 0, 0.05]}}   # joint frame in the parent; rpy: or quat: turns it
    joint: {{name: swing, type: revolute, axis: y}}
    shapes:                       # lengths in m, density in kg/m³ or mass in kg
      - {{type: cylinder, radius: 0.01, length: l, density: 2700, origin: {{xyz: [0, 0, -l/2]}}}}
      - {{type: sphere, radius: 0.03, mass: payload, origin: {{xyz: [0, 0, -l]}}}}
    frames: {{tip: {{xyz: [0, 0, -l]}}}}

actuators: {{motor: {{joint: slide, limit: 20}}}}     # left out: every coordinate has a motor
states: {{raised: {{swing: 180*deg}}}}                # configurations by name
"""


def write_template(name: str, folder: Path, model: str = "") -> Path:
    """<name>.yaml in `folder`, and the schema that its first line names; nothing that
    exists is overwritten. `model`: a model of the package to start from."""
    from anyjoint.build.checks import PREFIX

    if not PREFIX.match(name) or len(name) > 63:
        raise InputError(f'"{name}" can\'t be the name of a mechanism: a letter first, then '
                         "letters, digits and single _ between them")
    text = _model_text(name, model) if model else _TEMPLATE.format(name=name)
    file = folder / f"{name}.yaml"
    schema = folder / "anyjoint.schema.json"
    try:
        with file.open("x", encoding="utf-8") as f:
            f.write(text)
        if not schema.exists():
            from anyjoint.frontend.schema import json_schema

            schema.write_text(json.dumps(json_schema(), indent=1) + "\n", encoding="utf-8")
    except FileExistsError:
        raise InputError(f"{file.name} exists already; choose another name") from None
    except OSError as e:
        raise InputError(f"can't write {file}: {e.strerror}") from None
    return file


def _model_text(name: str, model: str) -> str:
    """A model of the package under another name."""
    known = [file.stem for file in models_folder().glob("*.yaml")]
    if model not in known:
        raise InputError(f'no model "{model}"; ' + suggest(model, known, "models"))
    text = (models_folder() / f"{model}.yaml").read_text(encoding="utf-8")
    return re.sub(rf"^name: {model}\b", f"name: {name}", text, flags=re.MULTILINE)


def models_folder() -> Path:
    """The models that come with anyjoint: in the wheel, or in the repository."""
    here = Path(__file__).resolve().parent
    inside = here / "models"
    return inside if inside.is_dir() else here.parents[1] / "models"
