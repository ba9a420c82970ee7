"""Write an artifact: <name>.c, <name>.h, the library, manifest.json, timings.json.

The manifest names the library, whose file name holds the cache key, and is put
in place last: whoever opens the folder finds the old artifact or the new one. (Should
a kill fall between the renames of .c and .h, the C refuses to compile by their build id
until the next compile of the model, which notices and mends it.)
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import platform
import re
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import casadi as ca

from ..curves import CURVES
from ..errors import ArtifactError
from ..joints import JOINTS
from ..surfaces import SURFACES
from . import codegen
from .compiler import Compiler, compile_library, default_flags, find_compiler, isa
from .manifest import FORMAT, MANIFEST, canonical_json, describe, digest

try:
    import fcntl
except ImportError:  # not on Windows: there two compiles at once are not kept apart
    fcntl = None  # type: ignore[assignment]

OUR_LIBRARY = re.compile(r"lib[A-Za-z_]\w*-[0-9a-f]{12}\.so")
HOST = re.sub(r"\W", "_", platform.node())
TEMPORARY = re.compile(rf"\.tmp-{HOST}-(\d+)-.*")


def cache_key(info: Mapping[str, Any], options: Mapping[str, Any], compiler: Compiler) -> str:
    """SHA-256 over all that determines an artifact: model, options, versions, the
    package's own source, compiler and flags."""
    parts = {
        "info": info,
        "options": options,
        "anyjoint": [codegen.version(), _package_digest()],
        "casadi": ca.CasadiMeta.version(),
        "compiler": [compiler.identity, _flags(compiler, options)],
        "isa": isa(compiler, _flags(compiler, options)) if options.get("native") else "default",
        "machine": [platform.machine(), platform.system()],
    }
    return hashlib.sha256(canonical_json(parts).encode()).hexdigest()


def up_to_date(out: str | Path, key: str) -> bool:
    """Does `out` hold a complete and undamaged artifact made with this `key`?"""
    try:
        manifest = json.loads((Path(out) / MANIFEST).read_text(encoding="utf-8"))
        if manifest["anyjoint_artifact"] != FORMAT or manifest["key"] != key:
            return False
        files = manifest["files"].values()
        return all(digest(Path(out) / f["name"]) == f["sha256"] for f in files)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False


def prepare(out: str | Path) -> None:
    """ArtifactError if an artifact can't be written to `out`. Writes nothing."""
    folder = Path(out).absolute()
    while not os.path.lexists(folder) and folder != folder.parent:
        folder = folder.parent
    if not folder.is_dir():
        raise ArtifactError(f"can't write to {out}: {folder} is not a folder")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise ArtifactError(f"can't write to {out}: no permission to write in {folder}")


def write(
    out: str | Path,
    functions: Mapping[str, ca.Function],
    info: Mapping[str, Any],
    options: Mapping[str, Any],
    key: str,
    compiler: Compiler | None = None,
    timings: Mapping[str, float] | None = None,
) -> None:
    """Generate, compile and install the artifact; if anything fails, what is in
    `out` stays as it was.

    functions: alias → Function, whose name is the C symbol
    info: about the model, goes into header and manifest
    options: of the compile; "native" is used here
    key: cache_key(info, options, compiler)
    timings: seconds that the caller took before, for timings.json
    """
    prepare(out)
    compiler = compiler or find_compiler()
    flags = _flags(compiler, options)
    try:
        with _temporary_folder(Path(out)) as folder:
            start = time.perf_counter()
            name = info["name"]
            names = {"c": f"{name}.c", "header": f"{name}.h", "library": f"lib{name}-{key[:12]}.so"}
            files = {role: folder / file for role, file in names.items()}
            for role, text in zip(names, codegen.generate(functions, info), strict=False):
                files[role].write_text(text, encoding="utf-8", newline="\n")
            generated = time.perf_counter()
            compile_library(files["c"], files["library"], flags, compiler)
            seconds = {"generate": generated - start, "compile": time.perf_counter() - generated}
            manifest = describe(key, functions, info, compiler, flags, files)
            (folder / "timings.json").write_text(canonical_json({**(timings or {}), **seconds}, 2))
            (folder / MANIFEST).write_text(canonical_json(manifest, 2))
            _install(folder, Path(out), [*names.values(), "timings.json", MANIFEST])
    except OSError as error:
        raise ArtifactError(f"can't write the artifact to {out}: {error}") from error


def _flags(compiler: Compiler, options: Mapping[str, Any]) -> list[str]:
    return default_flags(compiler, native=bool(options.get("native")))


def _package_digest() -> str:
    """Of all Python files of anyjoint and of packages that add joints, curves or surfaces, so
    that a developer never gets stale code."""
    root = Path(__file__).resolve().parent.parent
    total = hashlib.sha256("".join(f.digest() for f in (JOINTS, CURVES, SURFACES)).encode())
    for file in sorted(root.rglob("*.py")):
        total.update(f"{file.relative_to(root).as_posix()} {digest(file)}\n".encode())
    return total.hexdigest()


@contextlib.contextmanager
def _temporary_folder(out: Path) -> Iterator[Path]:
    """A folder inside `out`, gone afterwards, and so is `out` if it is then empty
    and did not exist before."""
    missing = [p for p in (out.absolute(), *out.absolute().parents) if not p.exists()]
    for last in (False, False, True):
        try:
            out.mkdir(parents=True, exist_ok=True)
            folder = Path(tempfile.mkdtemp(prefix=f".tmp-{HOST}-{os.getpid()}-", dir=out))
            break
        except FileNotFoundError:  # another compile failed and took its empty folder away
            if last:
                raise
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        with contextlib.suppress(OSError):  # not empty: all is well
            for parent in missing:
                parent.rmdir()


def _install(folder: Path, out: Path, names: list[str]) -> None:
    """Move files into place, the manifest last, and remove what it supersedes."""
    for name in names:
        if (out / name).is_dir():
            raise IsADirectoryError(f"{out / name} is a folder")
    with _lock(out / ".lock"):
        for name in sorted(names, key=lambda n: (n == MANIFEST, not n.endswith(".so"))):
            os.replace(folder / name, out / name)
        for old in out.iterdir():
            if OUR_LIBRARY.fullmatch(old.name) and old.name not in names:
                old.unlink(missing_ok=True)
            elif (match := TEMPORARY.fullmatch(old.name)) and not _alive(int(match[1])):
                shutil.rmtree(old, ignore_errors=True)


@contextlib.contextmanager
def _lock(file: Path) -> Iterator[None]:
    """One process at a time."""
    with file.open("w") as handle:
        if fcntl is not None:
            with contextlib.suppress(OSError):  # a file system without locks
                fcntl.flock(handle, fcntl.LOCK_EX)
        yield  # closing the file releases the lock


def _alive(pid: int) -> bool:
    if fcntl is None:  # on Windows os.kill(pid, 0) would interrupt the process
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass
    return True
