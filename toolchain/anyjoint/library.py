"""Load an artifact and hand out its functions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np

from .backend.manifest import AGAIN, MANIFEST, check
from .errors import ArtifactError, InputError, suggest

Array = np.ndarray[Any, np.dtype[np.float64]]


class CompiledFunction:
    """A function of a compiled library.

    Call it with numbers or CasADi symbols, by position or by name. An input `p`
    that is not given takes the model's default parameters. One output is returned
    as such, several as a tuple. `function` is the casadi.Function, for solvers.
    """

    def __init__(self, alias: str, function: ca.Function, p0: Array):
        self.alias, self.function, self._p0 = alias, function, p0
        shapes = (f"{n} {_shape(function.size_in(k))}" for k, n in enumerate(self.name_in()))
        results = (f"{n} {_shape(function.size_out(k))}" for k, n in enumerate(self.name_out()))
        self.__doc__ = f"{alias}({', '.join(shapes)}) -> ({', '.join(results)})"

    def name_in(self) -> list[str]:
        return list(self.function.name_in())

    def name_out(self) -> list[str]:
        return list(self.function.name_out())

    def __repr__(self) -> str:
        return f"<compiled {self.__doc__}>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        given = self._bind(args, kwargs)
        values = [self._value(n, given[n]) for n in self.name_in()]
        if {ca.SX, ca.MX} <= {type(v) for v in values}:
            raise InputError(f"{self.alias}: SX and MX inputs can't be mixed")
        return self.function(*values)

    def _bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """Input name → argument; InputError unless each input has exactly one."""
        names = self.name_in()
        if len(args) > len(names):
            raise InputError(
                f"{self.alias}: {len(args)} inputs given, it takes {len(names)}: {', '.join(names)}"
            )
        given = dict(zip(names, args, strict=False))
        for name in kwargs:
            if name not in names:
                raise InputError(f"{self.alias}: no input {name}; {suggest(name, names, 'inputs')}")
            if name in given:
                raise InputError(f"{self.alias}: input {name} given twice")
        given.update(kwargs)
        if "p" in names and self.function.numel_in("p") in (0, self._p0.size):
            given.setdefault("p", self._p0[: self.function.numel_in("p")])
        missing = [n for n in names if n not in given]
        if missing:
            raise InputError(f"{self.alias}: missing input {', '.join(missing)}; {self.__doc__}")
        return given

    def _value(self, name: str, value: Any) -> Any:
        """`value` in the shape of input `name`. Vectors may be flat or rows."""
        rows, columns = expected = self.function.size_in(name)
        if not isinstance(value, (ca.SX, ca.MX, ca.DM)):
            value = self._numbers(name, value)
        shape = tuple(value.shape)
        if shape == expected:
            return value
        size = int(np.prod(shape))
        flat = len([n for n in shape if n != 1]) <= 1 or size == 0
        if not (flat and min(expected) <= 1 and size == rows * columns):
            raise InputError(
                f"{self.alias}: input {name} must be {_shape(expected)}, got {_shape(shape)}"
            )
        return value.reshape(expected) if isinstance(value, np.ndarray) else ca.reshape(
            value, rows, columns)  # fmt: skip

    def _numbers(self, name: str, value: Any) -> Array:
        try:
            array = np.asarray(value)
        except ValueError as error:  # lists of different lengths
            raise InputError(f"{self.alias}: input {name} is no array of numbers") from error
        if array.dtype.kind not in "biuf":
            kind = type(value).__name__
            raise InputError(f"{self.alias}: input {name} must be numbers, got {kind}")
        return array.astype(float)


class Library:
    """A compiled model: `lib.fd` or `lib["fd"]` is a function, `functions` lists
    them; nq, nv, nu, np, nbodies; q_names, …; q0, p0; manifest; path."""

    nq: int
    nv: int
    nu: int
    np: int
    nbodies: int
    q0: Array
    p0: Array
    q_names: list[str]
    v_names: list[str]
    u_names: list[str]
    p_names: list[str]
    body_names: list[str]
    frame_names: list[str]

    def __init__(self, path: Path, manifest: dict[str, Any]):
        """path: the folder; manifest: checked. Loads the library."""
        self.path, self.manifest = path, manifest
        model = manifest["model"]
        self.name: str = model["name"]
        for key in ("nq", "nv", "nu", "np", "nbodies"):
            setattr(self, key, model.get("dimensions", {}).get(key, 0))
        for key in ("q_names", "v_names", "u_names", "p_names", "body_names", "frame_names"):
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


def _shape(shape: tuple[int, ...]) -> str:
    return "×".join(map(str, shape)) or "a scalar"
