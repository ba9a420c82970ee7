"""The C header: sizes, indices, defaults and documented functions."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Mapping
from typing import Any

import casadi as ca

from anyjoint.backend.meanings import MEANING

WRAPPER = """\
/* {name}.h: dynamics of the mechanism "{name}".
 * Generated, do not edit.
 * model {model_hash}
 * made by {generator}
 *
 * Use, for a function f(q, p) -> (y):
 *
 *     #include "{name}.h"
 *     double q[...] = {{...}}, y[...];
 *     if ({name}_call_f(q, {upper}_P0, y)) abort();
 *
 *     cc -O2 main.c {name}.c -lm
 *
 * {name}_call_f keeps its work arrays on the stack. {name}_f is the same with work
 * arrays of the caller ({upper}_F_SZ_... long), for small stacks and for CasADi.
 * Matrices are column-major; of sparse ones only the nonzeros are stored, column by
 * column. A null input means zeros, a null output is not computed; inputs and
 * outputs must not overlap. All functions are thread-safe and return 0 on success.
 * SI units, radians; twists [angular; linear], wrenches [moment; force].
 */
#ifndef {upper}_H
#define {upper}_H

#define {upper}_BUILD_ID 0x{build}

#ifdef __cplusplus
extern "C" {{
#endif

{declarations}
#ifdef __cplusplus
}}
#endif

#endif
"""

# Neither a C nor a C++ parameter may be called so (nor, with GNU macros, linux).
_RESERVED = """
    alignas alignof and asm auto bitand bitor bool break case catch char class compl concept
    const consteval constexpr constinit continue decltype default delete do double else enum
    errno explicit export extern false float for friend goto if inline int linux long mutable
    namespace new noexcept not nullptr operator or private protected public register requires
    restrict return short signed sizeof static stderr stdin stdout struct switch template this
    throw true try typedef typeid typename union unix unsigned using virtual void volatile while
    xor"""
RESERVED = set(_RESERVED.split())
ARGUMENTS = "const double **arg, double **res, long long int *iw, double *w, int mem"
MAX_PARAMETERS = 127  # what C99 promises
MAX_LISTED = 2000  # nonzeros named in a comment


def wrap(declarations: str, fields: Mapping[str, str]) -> str:
    """The header around `declarations`; fields: name, upper, build, …"""
    return WRAPPER.format(declarations=declarations, **fields)


def declarations(
    functions: Mapping[str, ca.Function],
    work: Mapping[str, Mapping[str, int]],
    info: Mapping[str, Any],
) -> str:
    """Everything in the header that depends on the model.

    work: alias → lengths of the work arrays arg, res, iw, w
    """
    upper = info["name"].upper()
    taken = {f"{upper}_{x}" for x in ("H", "BUILD_ID", "P0", "Q0")}
    lines = ["/* Sizes */"]
    for key, size in info.get("dimensions", {}).items():
        lines.append(f"#define {_unique(f'{upper}_{key.upper()}', taken)} {size}")
    for key, what in (("q", "configuration"), ("v", "velocity"), ("u", "actuator input"),
                      ("p", "parameter"), ("body", "body"),
                      ("lambda", "constraint force"), ("contact", "normal force")):  # fmt: skip
        lines += _indices(f"{upper}_{key.upper()}", what, info.get(f"{key}_names", []), taken)
    defaults = info.get("defaults", {})
    lines += _array(f"{upper}_Q0", "The rest configuration", defaults.get("q0", []))
    lines += _array(f"{upper}_P0", "The default parameters", defaults.get("p0", []))
    docs = info.get("descriptions", {})
    for alias, function in functions.items():
        lines += _comment(alias, function, docs.get(alias, ""))
        prefix = _unique(f"{upper}_{alias.upper()}_SZ", taken)
        lines += [f"#define {prefix}_{key.upper()} {n}" for key, n in work[alias].items()]
        lines.append(f"int {function.name()}({ARGUMENTS});")
        lines += _wrapper(f"{info['name']}_call_{alias}", function, work[alias])
    return "\n".join(lines) + "\n"


def _unique(name: str, taken: set[str]) -> str:
    """`name` as a C identifier, with a number at its end if it is `taken` already."""
    name = base = re.sub(r"\W", "_", name)
    count = 1
    while name in taken:
        count += 1
        name = f"{base}_{count}"
    taken.add(name)
    return name


def _indices(prefix: str, what: str, names: list[str], taken: set[str]) -> list[str]:
    """An enum that gives each of `names` its index."""
    if not names:
        return []
    entries = [f"  {_unique(f'{prefix}_{n.upper()}', taken)} = {i}" for i, n in enumerate(names)]
    return ["", f"/* Indices: {what} */", "enum {", ",\n".join(entries), "};"]


def _array(name: str, what: str, values: list[float]) -> list[str]:
    """A constant array. C has no empty ones: then it holds one unused zero."""
    note = "" if values else " (none: one unused zero)"
    numbers = ", ".join(repr(float(x)) for x in values or [0.0])
    text = f"static const double {name}[{len(values) or 1}] = {{{numbers}}};"
    return ["", f"/* {what}{note} */", *textwrap.wrap(text, 96, subsequent_indent="  ")]


def _comment(alias: str, f: ca.Function, doc: str) -> list[str]:
    """The comment above one function."""
    lines = ["", f"/* {alias}({', '.join(f.name_in())}) -> ({', '.join(f.name_out())})"]
    lines += [f" * {line}" for line in textwrap.wrap(doc.replace("*/", ""), 90)]
    for k, key in enumerate(f.name_in()):
        lines += _describe("in ", key, f.sparsity_in(k))
    for k, key in enumerate(f.name_out()):
        lines += _describe("out", key, f.sparsity_out(k))
    return [*lines, " */"]


def _describe(role: str, name: str, sparsity: ca.Sparsity) -> list[str]:
    """Comment lines on one input or output: shape, storage, meaning."""
    rows, columns = sparsity.shape
    storage = "dense" if sparsity.is_dense() else f"sparse, {sparsity.nnz()} nonzeros"
    meaning = f": {MEANING[name]}" if name in MEANING else ""
    lines = [f" *   {role} {name}  {rows}x{columns} {storage}{meaning}"]
    if sparsity.is_dense() or sparsity.nnz() == 0:
        return lines
    if sparsity.nnz() > MAX_LISTED:
        return [*lines, " *       rows and columns: see manifest.json"]
    for label, indices in (("rows", sparsity.row()), ("columns", sparsity.get_col())):
        listing = f"{label}: " + " ".join(map(str, indices))
        lines += [f" *       {line}" for line in textwrap.wrap(listing, 86)]
    return lines


def _parameters(names: Iterable[str], taken: set[str]) -> list[str]:
    return [_unique(n + "_" if n in RESERVED else n, taken) for n in names]


def _wrapper(wrapper: str, f: ca.Function, work: Mapping[str, int]) -> list[str]:
    """A function with one C parameter per input and output."""
    if f.n_in() + f.n_out() > MAX_PARAMETERS:
        return [f"/* no {wrapper}: it would have too many parameters */"]
    taken = {"aj_arg", "aj_res", "aj_iw", "aj_w"}
    inputs, outputs = _parameters(f.name_in(), taken), _parameters(f.name_out(), taken)
    parameters = [f"const~double~*{x}" for x in inputs] + [f"double~*{x}" for x in outputs]
    signature = f"static inline int {wrapper}({', '.join(parameters) or 'void'})~{{"  # ~: no break
    size = {key: max(1, n) for key, n in work.items()}  # C has no empty arrays
    return [
        *(s.replace("~", " ") for s in textwrap.wrap(signature, 96, subsequent_indent="    ",
                                                     break_long_words=False)),
        f"  const double *aj_arg[{size['arg']}] = {{{', '.join(inputs) or '0'}}};",
        f"  double *aj_res[{size['res']}] = {{{', '.join(outputs) or '0'}}};",
        f"  long long int aj_iw[{size['iw']}];",
        f"  double aj_w[{size['w']}];",
        f"  return {f.name()}(aj_arg, aj_res, aj_iw, aj_w, 0);",
        "}",
    ]
