"""`include` and `repeat`: what a file says in short, written out. Works on the tree as
read, so that every copy keeps the place that it came from. Problems go into the tree, which
is expanded as far as possible."""

from __future__ import annotations

import copy
import itertools
import re
from pathlib import Path
from typing import Any

from anyjoint.errors import FormulaError, ModelError, Problem
from anyjoint.frontend import evaluation, source, standins
from anyjoint.frontend.source import Map, Seq, Tree

MAX_COPIES, MAX_COPIED = 20_000, 1_000_000  # entries, and values in them, of all repeats
MAX_INCLUDES, MAX_LEVELS = 200, 16  # files in all, and one in the other
_REPEATING = ("bodies", "frames", "actuators", "forces", "couplings", "constraints")
_MERGED = ("constants", "parameters", "tables", "joint_types", "bodies", "frames", "actuators",
           "forces", "couplings", "constraints", "states")
_NAMES = "use the counter in the name: body_<k>"
_COUNTER = re.compile(r"<([^<>]*)>")


def include(tree: Tree, file: Path, above: tuple[Path, ...] = (),
            read: list[Path] | None = None) -> Tree:
    """The tree with the sections of its included files before its own. `above` are the files
    that it is included from, `read` all files so far."""
    names = tree.get("include")
    read = [] if read is None else read
    merged, parts = Tree(tree, tree.problems, tree.damaged), []
    for i, name in enumerate(names if isinstance(names, list) else [names]):
        if damaged := standins.within(f"include[{i}]", tree.damaged):
            merged.damaged.add("include")
        if damaged or name is None:
            continue
        place = source.locate(tree, ("include", i))
        try:
            target = _target(name, file, (*above, file.resolve()), read)
            parts.append(include(source.read(target), target, (*above, file.resolve()), read))
        except ModelError as e:
            for p in e.problems:
                merged.note(p if p.place else Problem(p.message, place, "include", p.hint),
                            "include")
        if len(read) > MAX_INCLUDES:
            break
    for part in reversed(parts):
        _merge(merged, part)
    return merged


def _target(name: Any, file: Path, above: tuple[Path, ...], read: list[Path]) -> Path:
    """The file that is meant, noted in `read`; ModelError where it must not be read."""
    if not isinstance(name, str):
        raise ModelError([Problem("expected a file name")])
    try:
        target = (file.parent / name).resolve()
    except (OSError, RuntimeError, ValueError) as e:  # a circle of links, odd characters
        raise ModelError([Problem(f"can't read {name}: {e}")]) from None
    if target in above:
        raise ModelError([Problem(f'"{name}" includes itself')])
    if len(above) > MAX_LEVELS:
        raise ModelError([Problem(f"includes nested deeper than {MAX_LEVELS} levels")])
    read.append(target)
    if len(read) > MAX_INCLUDES:
        raise ModelError([Problem(f"more than {MAX_INCLUDES} included files in all")])
    return target


def _merge(into: Tree, part: Tree) -> None:
    """Puts the sections of `part` before those of `into`, and its problems to the others."""
    into.problems += part.problems
    into.damaged |= part.damaged
    for section, entries in part.items():
        own = into.get(section)
        if section not in into:
            into.put(section, entries, part)
        elif section in _MERGED and not isinstance(entries, Map):
            into.note(Problem("expected a mapping here", part.value_places[section], section,
                              "key: value pairs"), section)
        elif section in _MERGED and isinstance(own, Map):
            both = entries.copy()
            for key, entry in own.items():
                if key in both:
                    into.note(Problem(
                        f'"{key}" is defined in an included file already, at '
                        f"{both.key_places[key]}", own.key_places[key], f"{section}.{key}",
                        "rename one of them"), f"{section}.{key}")
                both.put(key, entry, own)
            into[section] = both


def repeat(tree: Tree) -> Tree:
    """The tree with every entry that has `repeat` written out, in order; an entry where that
    goes wrong, or with problems already, stays as it is."""
    out, made = Tree(tree, tree.problems, tree.damaged), [0, 0]
    hurt = {".".join(path.split(".")[:2]) for path in tree.damaged}
    for section in _REPEATING:
        entries = tree.get(section)
        if not isinstance(entries, Map):
            continue
        expanded = out[section] = Map(entries.place)
        for key, entry in entries.items():
            copies, spot = {key: entry}, f"{section}.{key}"
            try:
                if isinstance(entry, Map) and "repeat" in entry and spot in hurt:
                    out.damaged.add(spot)
                elif isinstance(entry, Map) and entry.get("repeat") is not None:
                    copies = _copies(key, entry, made)
                if twice := next((name for name in copies if name in expanded), None):
                    raise FormulaError(f'"{twice}" is there twice', hint=_NAMES)
            except FormulaError as e:
                copies = {} if key in expanded else {key: entry}
                place = source.locate(tree, (section, key, "repeat"))
                out.note(Problem(e.message, place, f"{spot}.repeat", e.hint), spot)
            for name, copied in copies.items():
                expanded.put(name, copied, entries, key)
    return out


def _copies(key: str, entry: Map, made: list[int]) -> dict[str, Any]:
    """The copies of an entry by name. `made` are the numbers of entries and values copied."""
    ranges = _ranges(entry["repeat"])
    count = 1
    for values in ranges.values():
        count = min(count * len(values), MAX_COPIES + 1)
    total = [made[0] + count, made[1] + count * _size(entry)]
    if total[0] > MAX_COPIES:
        raise FormulaError(f"more than {MAX_COPIES} copies in all")
    if total[1] > MAX_COPIED:
        raise FormulaError(f"more than {MAX_COPIED:,} values in all copies")
    made[:] = total
    copies: dict[str, Any] = {}
    for setting in itertools.product(*ranges.values()):
        counters = dict(zip(ranges, map(float, setting), strict=True))
        name = _fill(key, counters)
        if name in copies:
            raise FormulaError(f'"{name}" is there twice', hint=_NAMES)
        copies[name] = _fill_all(entry, counters)
    return copies


def _ranges(given: Any) -> dict[str, range]:
    """The ranges of counters."""
    if not isinstance(given, Map) or not given:
        raise FormulaError("repeat takes counters", hint="repeat: {k: [1, 10]}, ends included")
    ranges = {}
    for name, ends in given.items():
        if not (isinstance(ends, Seq) and len(ends) == 2 and
                all(isinstance(x, int) and not isinstance(x, bool) for x in ends)):
            raise FormulaError(f'counter "{name}" takes two whole numbers',
                               hint=f"repeat: {{{name}: [1, 10]}}, ends included")
        if ends[1] < ends[0]:
            raise FormulaError(f'counter "{name}" makes no copies', hint="[first, last]")
        if ends[1] - ends[0] >= MAX_COPIES:
            raise FormulaError(f'counter "{name}" makes more than {MAX_COPIES} copies')
        ranges[name] = range(ends[0], ends[1] + 1)
    return ranges


def _size(value: Any) -> int:
    """The values and keys in a value; a long text counts for several."""
    if isinstance(value, Map):
        return 1 + sum(_size(key) + _size(x) for key, x in value.items())
    if isinstance(value, Seq):
        return 1 + sum(map(_size, value))
    return 1 + len(value) // 100 if isinstance(value, str) else 1


def _fill(text: str, counters: dict[str, float]) -> str:
    """`link_<k-1>` → `link_4`."""
    def number(match: re.Match[str]) -> str:
        value = evaluation.as_number(match[1], counters)
        if value != round(value):
            raise FormulaError(f"<{match[1]}> is {value}, not a whole number",
                               hint="sums and products of counters and whole numbers")
        return str(round(value))

    return _COUNTER.sub(number, text) if counters else text


def _fill_all(value: Any, counters: dict[str, float]) -> Any:
    """A copy of an entry with its counters filled in, without its `repeat`."""
    if not counters:
        return value
    if isinstance(value, str):
        return _fill(value, counters)
    if isinstance(value, Seq):
        filled = copy.copy(value)
        filled[:] = [_fill_all(x, counters) for x in value]
        return filled
    if isinstance(value, Map):
        out = Map(value.place)
        for key, x in value.items():
            if key != "repeat":
                out.put(_fill(key, counters), _fill_all(x, counters), value, key)
        return out
    return value
