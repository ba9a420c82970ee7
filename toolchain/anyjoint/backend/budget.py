"""What a function costs: operations, size of the C and of the machine code,
work vectors."""

from __future__ import annotations

import re
import struct
from collections import Counter
from pathlib import Path
from typing import Any

import casadi as ca

from .codegen import internal_prefix, work_sizes

NAMES = {getattr(ca, x): x[3:].lower() for x in dir(ca) if x.startswith("OP_")}
NAMES[ca.OP_IF_ELSE_ZERO] = "if_else"
NO_OPERATION = {ca.OP_INPUT, ca.OP_OUTPUT, ca.OP_CONST, ca.OP_PARAMETER}
# MX instructions that only move numbers
_MOVES = """ASSIGN GETNONZEROS GETNONZEROS_PARAM SETNONZEROS SETNONZEROS_PARAM SUBREF SUBASSIGN
    RESHAPE SPARSITY_CAST TRANSPOSE PROJECT HORZCAT VERTCAT DIAGCAT HORZSPLIT VERTSPLIT DIAGSPLIT
    HORZREPMAT"""
MOVES = {getattr(ca, f"OP_{x}") for x in _MOVES.split()}
DEFINITION = re.compile(
    r"^(?:static|CASADI_SYMBOL_EXPORT)\b[^;{}=]*?\b(\w+)\([^;{}]*\)\s*\{", re.MULTILINE
)
CALL = re.compile(r"\b(casadi_\w+)\(")


def operations(f: ca.Function) -> dict[str, int]:
    """Operations of one call of `f` by kind (add, mul, sin, …), and their "total".
    Calls are counted with what they do; inputs, outputs, constants and moves are
    no operations."""
    counts = _count(f, {})
    return {**dict(sorted(counts.items())), "total": counts.total()}


def _count(f: ca.Function, known: dict[int, Counter[str]]) -> Counter[str]:
    """Operations of `f`; `known` has those of kernels seen before, by identity."""
    key = f.__hash__()
    if key not in known:
        if f.is_a("SXFunction"):
            known[key] = _count_sx(f, known)
        elif f.is_a("MXFunction"):
            known[key] = _count_mx(f, known)
        elif f.is_a("Map"):
            inner = _count(f.info()["f"], known)
            known[key] = Counter({k: n * int(f.info()["n"]) for k, n in inner.items()})
        else:
            known[key] = Counter({f.class_name().lower(): 1})
    return known[key]


def _count_sx(f: ca.Function, known: dict[int, Counter[str]]) -> Counter[str]:
    kinds = Counter(f.instruction_id(k) for k in range(f.n_instructions()))
    calls = kinds.pop(ca.OP_CALL, 0)
    counts = Counter({NAMES[op]: n for op, n in kinds.items() if op not in NO_OPERATION | MOVES})
    if calls:
        nodes = f.instructions_sx()
        for k in range(f.n_instructions()):
            if f.instruction_id(k) == ca.OP_CALL:
                counts.update(_count(nodes[k].which_function(), known))
    return counts


def _count_mx(f: ca.Function, known: dict[int, Counter[str]]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for k in range(f.n_instructions()):
        op = f.instruction_id(k)
        if op in NO_OPERATION or op in MOVES:
            continue
        node = f.instruction_MX(k)
        if op == ca.OP_CALL:
            counts.update(_count(node.which_function(), known))
        elif op == ca.OP_MTIMES:  # z + x y
            counts.update(dict.fromkeys(("add", "mul"), _products(node.dep(1), node.dep(2))))
        elif op == ca.OP_DOT:
            counts.update(dict.fromkeys(("add", "mul"), node.dep(0).nnz()))
        elif op == ca.OP_ADDNONZEROS:
            counts["add"] += node.dep(1).nnz()
        else:
            counts[NAMES[op]] += node.nnz()
    return counts


def _products(x: ca.MX, y: ca.MX) -> int:
    """Multiplications in the sparse product x y."""
    in_column, in_row = Counter(x.sparsity().get_col()), Counter(y.sparsity().row())
    return sum(n * in_row[k] for k, n in in_column.items())


def budgets(
    functions: dict[str, ca.Function], name: str, c_text: str, library: Path
) -> dict[str, dict[str, Any]]:
    """alias → {"operations", "c_bytes", "text_bytes", "work"}.

    c_bytes and text_bytes (null where unknown) include all functions called;
    what several functions call is counted for each of them.
    """
    code = _definitions(c_text)
    sizes = symbol_sizes(library)
    prefix = internal_prefix(name)
    result = {}
    for alias, f in functions.items():
        reached = _closure(f.name(), code)
        symbols = {s.replace("casadi", prefix, 1) if s != f.name() else s for s in reached}
        result[alias] = {
            "operations": operations(f),
            "c_bytes": sum(len(code[s]) for s in reached),
            "text_bytes": None if sizes is None else sum(sizes.get(s, 0) for s in symbols),
            "work": work_sizes(c_text, f),
        }
    return result


def _definitions(c_text: str) -> dict[str, str]:
    """Name → text of each function in CasADi's C: a body ends at the first brace at
    the start of a line, or on the line where it began."""
    code = {}
    for match in DEFINITION.finditer(c_text):
        line_end = c_text.find("\n", match.end())
        one_line = c_text.rfind("}", match.end(), line_end)
        end = one_line if one_line >= 0 else c_text.find("\n}", line_end) + 1
        code[match[1]] = c_text[match.start() : end + 1]
    return code


def _closure(entry: str, code: dict[str, str]) -> set[str]:
    """Names of all functions that `entry` reaches, itself included."""
    reached: set[str] = set()
    todo = [entry]
    while todo:
        name = todo.pop()
        if name not in reached:
            reached.add(name)
            todo += set(CALL.findall(code[name], code[name].index("{"))) & code.keys()
    return reached


def symbol_sizes(library: Path) -> dict[str, int] | None:
    """Symbol → bytes of machine code in a 64-bit little-endian ELF file, parts that
    the compiler split off (name.part.0, name.cold) added; None for other files."""
    data = library.read_bytes()
    if data[:6] != b"\x7fELF\x02\x01":
        return None
    (section_offset,) = struct.unpack_from("<Q", data, 0x28)
    entry_size, count = struct.unpack_from("<HH", data, 0x3A)
    # type, offset, size, link of each section
    sections = [
        struct.unpack_from("<4xI16xQQI", data, section_offset + k * entry_size)
        for k in range(count)
    ]
    sizes: Counter[str] = Counter()
    for _, offset, size, link in [s for s in sections if s[0] == 2]:  # SHT_SYMTAB
        names = sections[link][1]
        for at in range(offset, offset + size, 24):
            name_at, kind, length = struct.unpack_from("<IB11xQ", data, at)
            if kind & 15 == 2:  # STT_FUNC
                name = data[names + name_at : data.index(b"\0", names + name_at)].decode()
                sizes[name.split(".")[0]] += length
    return dict(sizes)
