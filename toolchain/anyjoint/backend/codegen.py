"""CasADi functions → the text of one C file and its header."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from importlib import metadata
from typing import Any

import casadi as ca

from . import header

PREAMBLE = """\
/* {name}.c: dynamics of the mechanism "{name}".
 * Generated, do not edit. The functions are described in {name}.h.
 * model {model_hash}
 * made by {generator}
 */
#include "{name}.h"

#if {upper}_BUILD_ID != 0x{build}
#error "{name}.c and {name}.h come from different builds: compile the model again"
#endif

#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wunused-function"
#endif

/* A driver that only calls kernels: gcc's later passes find nothing in it, slowly. */
#if defined(__GNUC__) && !defined(__clang__)
#define {upper}_DRIVER __attribute__((optimize("O1")))
#else
#define {upper}_DRIVER
#endif

"""
# From this many calls on a function counts as such a driver. 1000 joints: 17 s → 6 s.
DRIVER_CALLS = 100


def version() -> str:
    """Version of the installed anyjoint."""
    try:
        return metadata.version("anyjoint")
    except metadata.PackageNotFoundError:
        return "0+unknown"


def internal_prefix(name: str) -> str:
    """What the C file's internal symbols start with: casadi_f0 is <prefix>_f0 to
    the linker. It differs from `name` lest a function `copy` or `f0` collides."""
    return f"{name}_casadi"


def generate(functions: Mapping[str, ca.Function], info: Mapping[str, Any]) -> tuple[str, str]:
    """The texts of <name>.c and <name>.h, a function of the arguments and of the
    versions of anyjoint and CasADi only.

    functions: alias → Function, whose name is the C symbol
    info: the model's name, hash, dimensions, names and defaults
    """
    name = info["name"]
    body = _casadi_c(functions, name)
    work = {alias: work_sizes(body, f) for alias, f in functions.items()}
    declarations = header.declarations(functions, work, info)
    fields = {
        "name": name,
        "upper": name.upper(),
        "model_hash": info.get("model_hash", "unknown"),
        "generator": f"anyjoint {version()}, CasADi {ca.CasadiMeta.version()}",
        # of both texts: a .c and a .h from two builds don't go together
        "build": hashlib.sha256((body + declarations).encode()).hexdigest()[:12],
    }
    return PREAMBLE.format(**fields) + body, header.wrap(declarations, fields)


def _casadi_c(functions: Mapping[str, ca.Function], name: str) -> str:
    """CasADi's own C of all functions; only their entries are exported."""
    generator = ca.CodeGenerator(
        f"{name}.c",
        {"with_header": False, "static_aux": True, "prefix": internal_prefix(name)},
    )
    for function in functions.values():
        generator.add(function)
    return _mark_drivers(str(generator.dump()).rstrip() + "\n", name)


def _mark_drivers(c_text: str, name: str) -> str:
    """Puts the macro for drivers before the static functions that are."""
    parts = re.split(r"^(?=static int casadi_f\d+\()", c_text, flags=re.MULTILINE)
    calls = re.compile(r"\bcasadi_f\d+\(arg1")
    return parts[0] + "".join(
        (f"{name.upper()}_DRIVER\n" if len(calls.findall(part)) >= DRIVER_CALLS else "") + part
        for part in parts[1:])


def work_sizes(c_text: str, f: ca.Function) -> dict[str, int]:
    """Lengths of f's work arrays in C: {"arg", "res", "iw", "w"}. Taken from the C,
    where an SX function needs no w, while f.sz_w() counts what CasADi itself needs."""
    start = c_text.index(f" {f.name()}_work(")
    entries = re.findall(r"\*sz_(\w+) = (\d+);", c_text[start : c_text.index("\n}", start)])
    return {key: int(size) for key, size in entries}
