"""manifest.json: what an artifact is, and whether it may be loaded here."""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import casadi as ca

from ..errors import ArtifactError
from . import codegen
from .budget import budgets
from .compiler import Compiler, cpu_features, isa

FORMAT = 1
MANIFEST = "manifest.json"
ABI = {"casadi_real": "double", "casadi_int": "long long"}
AGAIN = "run `anyjoint compile` again"


def describe(
    key: str,
    functions: Mapping[str, ca.Function],
    info: Mapping[str, Any],
    compiler: Compiler,
    flags: list[str],
    files: Mapping[str, Path],
) -> dict[str, Any]:
    """The manifest: what was compiled, with what, for which machine.

    files: "c", "header", "library" → the file; the rest as in artifact.write
    """
    return {
        "anyjoint_artifact": FORMAT,
        "key": key,
        "model": info,
        "model_hash": info.get("model_hash"),
        "versions": {"anyjoint": codegen.version(), "casadi": ca.CasadiMeta.version()},
        "compiler": compiler.identity,
        "flags": flags,
        "isa": isa(compiler, flags),
        "machine": platform.machine(),
        "os": platform.system(),
        "abi": ABI,
        "files": {role: {"name": f.name, "sha256": digest(f)} for role, f in files.items()},
        "functions": _functions(functions, info["name"], files),
    }


def _functions(
    functions: Mapping[str, ca.Function], name: str, files: Mapping[str, Path]
) -> dict[str, Any]:
    """The manifest's part on the functions."""
    c_text = files["c"].read_text(encoding="utf-8")
    costs = budgets(dict(functions), name, c_text, files["library"])
    return {
        alias: {
            "symbol": f.name(),
            "inputs": [_port(n, f.sparsity_in(k)) for k, n in enumerate(f.name_in())],
            "outputs": [_port(n, f.sparsity_out(k)) for k, n in enumerate(f.name_out())],
            "budget": costs[alias],
        }
        for alias, f in functions.items()
    }


def _port(name: str, sparsity: ca.Sparsity) -> dict[str, Any]:
    """One input or output; sparsity in compressed columns."""
    pattern: Any = "dense"
    if not sparsity.is_dense():
        pattern = {"colind": sparsity.colind(), "rows": sparsity.row()}
    shape, nnz = list(sparsity.shape), sparsity.nnz()
    return {"name": name, "shape": shape, "nnz": nnz, "sparsity": pattern}


def digest(file: Path) -> str:
    """SHA-256 of a file."""
    return hashlib.sha256(file.read_bytes()).hexdigest()


def canonical_json(value: Any, indent: int | None = None) -> str:
    """The one text of a JSON value: sorted, strict (no NaN, no infinity)."""
    return json.dumps(value, sort_keys=True, indent=indent, allow_nan=False) + "\n"


def check(folder: Path, manifest: dict[str, Any]) -> None:
    """ArtifactError unless the artifact fits this program and this machine."""
    form = manifest["anyjoint_artifact"]
    if form != FORMAT:
        remedy = "update anyjoint" if form > FORMAT else AGAIN
        raise ArtifactError(f"{folder}: artifact format {form}, this is {FORMAT}; {remedy}")
    made_for = manifest["os"], manifest["machine"]
    here = platform.system(), platform.machine()
    if made_for != here:
        raise ArtifactError(
            f"{folder} was compiled for {' '.join(made_for)}, this is {' '.join(here)}; "
            f"{AGAIN} here"
        )
    if manifest["abi"] != ABI:
        raise ArtifactError(f"{folder}: its numbers are {manifest['abi']}, CasADi needs {ABI}")
    features = cpu_features()
    missing = sorted(set(manifest["isa"]["features"]) - (features or set()))
    if features is not None and missing:
        raise ArtifactError(
            f"{folder} was compiled for {manifest['isa']['level']}; this processor lacks "
            f"{', '.join(missing)}; {AGAIN} here, without --native"
        )
    library = folder / manifest["files"]["library"]["name"]
    if not library.is_file():
        raise ArtifactError(f"{library} is missing; {AGAIN}")
    if digest(library) != manifest["files"]["library"]["sha256"]:
        raise ArtifactError(f"{library} is not the file that the manifest describes; {AGAIN}")
