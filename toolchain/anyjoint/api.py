"""What a Python user calls: load, compile, open."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anyjoint.errors import InputError, Problem

if TYPE_CHECKING:
    from anyjoint.library import Library
    from anyjoint.mechanism import Mechanism

DEFAULT_FUNCTIONS = ("fd", "id")


def load(path: str | Path, *, bake: bool = False) -> Mechanism:
    """The mechanism of a model file; bake=True makes its parameters constants.
    ModelError carries every problem of the file."""
    from anyjoint.build import build
    from anyjoint.frontend.load import load as read

    if not isinstance(path, (str, Path)):
        raise InputError(f"load takes the path of a model file, not {type(path).__name__}")
    return build(read(path), bake)


def loads(text: str, *, bake: bool = False) -> Mechanism:
    """The mechanism of a model file's text."""
    from anyjoint.build import build
    from anyjoint.frontend.load import loads as read

    if not isinstance(text, str):
        raise InputError(f"loads takes the text of a model file, not {type(text).__name__}")
    return build(read(text), bake)


def check(model: Mechanism | str | Path, *, ranges: bool = True) -> list[Problem]:
    """Warnings about a mechanism (or model file): where in their ranges joints are singular or
    couplings undefined (not with ranges=False, which is quick), rest values and named states
    that are singular, out of range or off the constraints; constraints that are redundant."""
    from anyjoint.build.regularity import warnings

    return warnings(_mechanism(model, "check"), ranges)


def _mechanism(model: Mechanism | str | Path, what: str) -> Mechanism:
    """A mechanism, loaded where it is given by its file."""
    if isinstance(model, (str, Path)):
        return load(model)
    if not hasattr(model, "baked"):
        raise InputError(f"{what} takes a mechanism or a model file, not {type(model).__name__}")
    return model


def open(path: str | Path) -> Library:
    """The compiled library in a folder that `compile` wrote; ArtifactError where it must
    not be loaded here."""
    from anyjoint import library

    return library.open(path)


def compile(model: Mechanism | str | Path, out: str | Path | None = None,
            functions: Iterable[str] = DEFAULT_FUNCTIONS, *, bake: bool = False,
            native: bool = False, sparse: bool = False, form: str = "auto",
            algorithms: Mapping[str, str] | None = None) -> Library:
    """Compiles functions of a mechanism (or model file) into the folder `out` and opens it.

    functions: names of the catalogue, with options as in "frame_jacobian:frame=tool"
    out: default generated/<name>
    bake: parameters become constants; native: for this machine's processor only
    sparse: matrices keep their structural zeros out (for solvers); default dense, column-major
    form: see graphs.function
    algorithms: of functions that have several, as in {"fd": "crba"}; their names stay

    Nothing is done where `out` already holds the artifact of this content."""
    return open(write(model, out, functions, bake=bake, native=native, sparse=sparse,
                      form=form, algorithms=algorithms)[0])


def write(model: Mechanism | str | Path, out: str | Path | None = None,
          functions: Iterable[str] = DEFAULT_FUNCTIONS, *, bake: bool = False,
          native: bool = False, sparse: bool = False, form: str = "auto",
          algorithms: Mapping[str, str] | None = None) -> tuple[Path, bool]:
    """`compile` without opening: the folder, and whether it was up to date already."""
    from anyjoint import choice, graphs, requests
    from anyjoint.backend import artifact, compiler
    from anyjoint.functions import CATALOGUE

    start = time.perf_counter()
    mechanism = _mechanism(model, "compile")
    mechanism = mechanism.baked() if bake else mechanism
    folder = Path(out) if out is not None else Path("generated") / mechanism.name
    wanted = requests.by_alias(CATALOGUE, mechanism, functions, algorithms or {})
    options = {"functions": [[a, n, dict(o)] for a, (n, o) in wanted.items()],
               "form": form, "bake": bake, "native": native, "sparse": sparse}
    info = describe(mechanism)
    cc = compiler.find_compiler()
    key = artifact.cache_key(info, options, cc)
    if artifact.up_to_date(folder, key):
        return folder, True
    for n, o in wanted.values():
        if "algorithm" in o:  # what `auto` chose stands in header and manifest
            o["algorithm"] = choice.resolve(mechanism, n, o["algorithm"])
    info["descriptions"] = {a: requests.described(CATALOGUE, n, o) for a, (n, o) in wanted.items()}
    info["algorithms"] = {a: o["algorithm"] for a, (_, o) in wanted.items() if "algorithm" in o}
    artifact.prepare(folder)
    made = {a: graphs.function(mechanism, n, alias=a, form=form, dense=not sparse, **o)
            for a, (n, o) in wanted.items()}
    artifact.write(folder, made, info, options, key, cc, {"build": time.perf_counter() - start})
    return folder, False


def describe(m: Mechanism) -> dict[str, Any]:
    """What header and manifest say about a mechanism; plain data, None for no limit."""
    limits = {key: _finite(value) for key, value in vars(m.bounds).items()}
    return {
        "name": m.name, "model_hash": m.hash,
        "dimensions": {"nq": m.nq, "nv": m.nv, "nu": m.nu, "np": m.np, "nbodies": len(m.bodies),
                       "nlambda": len(m.lambda_names), "ncontacts": len(m.contact_names)},
        "q_names": list(m.q_names), "v_names": list(m.v_names), "u_names": list(m.u_names),
        "p_names": list(m.p_names), "body_names": list(m.body_names),
        "frame_names": list(m.frame_names), "lambda_names": list(m.lambda_names),
        "contact_names": list(m.contact_names),
        "defaults": {"q0": m.q0.tolist(), "p0": m.p0.tolist()},
        "states": {name: q.tolist() for name, q in m.states.items()}, "limits": limits}


def _finite(values: Any) -> list[float | None]:
    return [float(x) if math.isfinite(x) else None for x in values]


