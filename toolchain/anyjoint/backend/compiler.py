"""Find a C compiler, know what it compiles for, and run it."""

from __future__ import annotations

import importlib.util
import os
import platform
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from ..errors import CompileError

MESSAGE_LIMIT = 4000  # characters of the compiler's own message

# predefined macro → name of the feature in /proc/cpuinfo, where they differ
CPUINFO_NAMES = {
    "SSE3": "pni",
    "LZCNT": "abm",
    "BMI": "bmi1",
    "AVX512VNNI": "avx512_vnni",
    "AVX512BF16": "avx512_bf16",
    "AVX512FP16": "avx512_fp16",
    "AVX512VBMI2": "avx512_vbmi2",
    "AVX512BITALG": "avx512_bitalg",
    "AVX512VPOPCNTDQ": "avx512_vpopcntdq",
    "AVXVNNI": "avx_vnni",
    "ARM_FEATURE_SVE": "sve",
    "ARM_FEATURE_SVE2": "sve2",
    "ARM_FEATURE_ATOMICS": "atomics",
    "ARM_FEATURE_DOTPROD": "asimddp",
    "ARM_FEATURE_FP16_VECTOR_ARITHMETIC": "asimdhp",
}
_SAME_NAMES = """SSE SSE2 SSSE3 SSE4_1 SSE4_2 SSE4A POPCNT MOVBE AVX AVX2 FMA FMA4 XOP BMI2 F16C
    ADX GFNI AVX512F AVX512BW AVX512CD AVX512DQ AVX512VL AVX512IFMA AVX512VBMI"""
FEATURE_OF_MACRO = {f"__{x}__": x.lower() for x in _SAME_NAMES.split()} | {
    (f"__{x}" if x.startswith("ARM") else f"__{x}__"): name for x, name in CPUINFO_NAMES.items()
}
LEVELS = {
    "x86-64-v4": {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"},
    "x86-64-v3": {"avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe"},
    "x86-64-v2": {"pni", "ssse3", "sse4_1", "sse4_2", "popcnt"},
    "x86-64-v1": {"sse", "sse2"},
}


@dataclass(frozen=True)
class Compiler:
    """A C compiler: how to call it, and what it says it is (for the cache key)."""

    command: tuple[str, ...]
    identity: str

    @property
    def is_zig(self) -> bool:
        return "ziglang" in self.command or Path(self.command[0]).stem == "zig"


def find_compiler() -> Compiler:
    """$CC, else gcc, clang or cc in PATH, else the one of the Python package ziglang."""
    chosen = shlex.split(os.environ.get("CC", ""))
    if chosen and shutil.which(chosen[0]) is None:
        raise CompileError(f"the C compiler $CC={chosen[0]} does not exist; unset or correct CC")
    names = [chosen] if chosen else [[n] for n in ("gcc", "clang", "cc") if shutil.which(n)]
    if not names and importlib.util.find_spec("ziglang") is not None:
        names = [[sys.executable, "-m", "ziglang", "cc"]]
    if not names:
        raise CompileError(
            "no C compiler found (looked for $CC, gcc, clang, cc and the Python package ziglang); "
            "install gcc or run: pip install anyjoint[cc]"
        )
    command = tuple(names[0])
    said = _run([*command, "--version"]).stdout.strip().splitlines()
    called = "zig cc" if "ziglang" in command else " ".join([Path(command[0]).name, *command[1:]])
    return Compiler(command, f"{called}: {said[0] if said else 'unknown version'}")


def default_flags(compiler: Compiler, native: bool = False) -> list[str]:
    """Flags for a library that runs on any x86-64-v2 or ARM64 machine, or on
    machines like this one only (`native`)."""
    flags = ["-O2", "-fPIC", "-shared", "-fno-math-errno", "-g0"]
    x86 = platform.machine().lower() in ("x86_64", "amd64")
    if compiler.is_zig:  # without the flag zig compiles for this very machine
        target = "native" if native else "x86_64_v2" if x86 else "baseline"
        flags.append(f"-mcpu={target}")
    elif native:
        flags.append("-march=native")
    elif x86:
        flags.append("-march=x86-64-v2")
    if sys.platform.startswith("linux"):
        flags.append("-Wl,--build-id=none")
    return flags


def isa(compiler: Compiler, flags: list[str]) -> dict[str, object]:
    """{"level": x86-64-v1…v4, aarch64 or the machine's name, "features": sorted
    names as in /proc/cpuinfo} of what `flags` let the compiler use."""
    wanted = [f for f in flags if not f.startswith("-Wl,") and f != "-shared"]
    command = [*compiler.command, *wanted, "-dM", "-E", "-x", "c", os.devnull]
    macros = {line.split()[1] for line in _checked(command).splitlines() if line[:8] == "#define "}
    features = sorted(name for macro, name in FEATURE_OF_MACRO.items() if macro in macros)
    return {"level": _level(macros, set(features)), "features": features}


def _level(macros: set[str], features: set[str]) -> str:
    if "__aarch64__" in macros:
        return "aarch64"
    if "__x86_64__" not in macros:
        return platform.machine()
    order = list(LEVELS)  # a level includes all lower ones
    for k, level in enumerate(order):
        if set().union(*(LEVELS[x] for x in order[k:])) <= features:
            return level
    return order[-1]


def cpu_features() -> frozenset[str] | None:
    """The instruction-set features of this machine; None if unknown."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    for line in text.splitlines():
        key, _, value = line.partition(":")
        if key.strip() in ("flags", "Features"):
            return frozenset(value.split())
    return None


def compile_library(
    c_file: Path, so_file: Path, flags: list[str], compiler: Compiler | None = None
) -> None:
    """Compile `c_file` into the shared library `so_file`, in the same folder; no
    path enters the library, for the compiler runs there with bare names."""
    compiler = compiler or find_compiler()
    command = [*compiler.command, *flags, c_file.name, "-o", so_file.name, "-lm"]
    _checked(command, c_file.parent)
    if not so_file.exists():
        raise CompileError(f"the C compiler made no library: {shlex.join(command)}")


def _run(command: list[str], cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            command, cwd=cwd, capture_output=True, text=True, errors="replace", check=False,
            env={**os.environ, "LC_ALL": "C"},
        )  # fmt: skip
    except OSError as error:
        raise CompileError(f"can't run the C compiler: {shlex.join(command)}: {error}") from error


def _checked(command: list[str], cwd: Path | None = None) -> str:
    """What `command` prints; CompileError with its message if it fails."""
    done = _run(command, cwd)
    if done.returncode == 0:
        return done.stdout
    message = (done.stderr.strip() or done.stdout.strip() or "no message")[:MESSAGE_LIMIT]
    raise CompileError(
        f"the C compiler failed (status {done.returncode}):\n{message}\n"
        f"command: {shlex.join(command)}"
    )
