"""Load an artifact and hand out its functions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np

from .backend.manifest import AGAIN, MANIFEST, check
from .compiled import CompiledFunction
from .errors import ArtifactError, suggest

Array = np.ndarray[Any, np.dtype[np.float64]]


class Library:
    """A compiled model: `lib.fd` or `lib["fd"]` is a function, `functions` lists
    them; nq, nv, nu, np, nbodies, nlambda, ncontacts; q_names, …; q0, p0; manifest; path."""

    nq: int
    nv: int
    nu: int
    np: int
    nbodies: int
    nlambda: int
    ncontacts: int
    q0: Array
    p0: Array
    q_names: list[str]
    v_names: list[str]
    u_names: list[str]
    p_names: list[str]
    body_names: list[str]
    frame_names: list[str]
    lambda_names: list[str]
    contact_names: list[str]

    def __init__(self, path: Path, manifest: dict[str, Any]):
        """path: the folder; manifest: checked. Loads the library."""
        self.path, self.manifest = path, manifest
        model = manifest["model"]
        self.name: str = model["name"]
        for key in ("nq", "nv", "nu", "np", "nbodies", "nlambda", "ncontacts"):
            setattr(self, key, model.get("dimensions", {}).get(key, 0))
        for key in ("q_names", "v_names", "u_names", "p_names", "body_names", "frame_names",
                    "lambda_names", "contact_names"):
            setattr(self, key, list(model.get(key, [])))
        for key in ("q0", "p0"):
            values = np.array(model.get("defaults", {}).get(key, []), dtype=float)
            values.flags.writeable = False  # p0 is a default of every call
            setattr(self, key, values)
        # All functions at once: later the file may have been replaced.
        importer = ca.Importer(str(path / manifest["files"]["library"]["name"]), "dll")
        self._functions = {
            alias: CompiledFunction(alias, ca.external(entry["symbol"], importer), self.p0)
            for alias, entry in manifest["functions"].items()
        }
        self.functions = list(self._functions)

    def __getitem__(self, alias: str) -> CompiledFunction:
        try:
            return self._functions[alias]
        except KeyError:
            hint = suggest(alias, self._functions, "functions")
            raise KeyError(f"library {self.name} has no function {alias}; {hint}") from None

    def __getattr__(self, alias: str) -> CompiledFunction:
        functions = self.__dict__.get("_functions", {})
        if alias in functions:
            return self._functions[alias]
        name, hint = self.__dict__.get("name"), suggest(alias, functions, "functions")
        raise AttributeError(f"library {name} has no attribute or function {alias}; {hint}")

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._functions]

    def __repr__(self) -> str:
        return f"<library {self.name}: {', '.join(self.functions)}>"


def open(path: str | Path) -> Library:
    """Load the artifact in folder `path` (or its manifest.json). ArtifactError if it
    is damaged or was made for another kind of machine."""
    folder = Path(path).absolute()
    folder = folder.parent if folder.name == MANIFEST else folder
    while True:
        text = _read(folder)
        try:
            return _load(folder, text)
        except ArtifactError:
            if _read(folder) == text:
                raise  # else a compile replaced the artifact meanwhile: look again


def _read(folder: Path) -> str:
    try:
        return (folder / MANIFEST).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ArtifactError(f"no artifact in {folder} (can't read {MANIFEST}); {AGAIN}") from error


def _load(folder: Path, text: str) -> Library:
    try:
        manifest = json.loads(text)
        check(folder, manifest)
        return Library(folder, manifest)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ArtifactError(f"{folder / MANIFEST} is damaged ({error!r}); {AGAIN}") from error
    except (OSError, RuntimeError) as error:
        raise ArtifactError(f"can't load the library in {folder}: {error}; {AGAIN}") from error
