"""`include` and `repeat`: what a file says in short, written out. Works on the tree as
read, so that every copy keeps the place that it came from."""

from __future__ import annotations

import copy
import itertools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from anyjoint.errors import FormulaError, ModelError, Problem
from anyjoint.frontend import evaluation, source
from anyjoint.frontend.source import Map, Seq

MAX_COPIES = 20_000
_REPEATING = ("bodies", "frames", "actuators", "forces")
_MERGED = ("constants", "parameters", "joint_types", "bodies", "frames", "actuators", "forces",
           "states")
_COUNTER = re.compile(r"<([^<>]*)>")


def include(tree: Map, file: Path, above: tuple[Path, ...] = ()) -> Map:
    """The tree with the sections of its included files before its own."""
    if "include" not in tree:
        return tree
    names = tree["include"] if isinstance(tree["include"], list) else [tree["include"]]
    parts, problems = [], []
    for i, name in enumerate(names):
        place = source.locate(tree, ("include", i)) or source.locate(tree, ("include",))
        if not isinstance(name, str):
            problems.append(Problem("expected a file name", place, "include"))
            continue
        target = (file.parent / name).resolve()
        if target in above or target == file.resolve():
            problems.append(Problem(f'"{name}" includes itself', place, "include"))
            continue
        try:
            parts.append(include(source.read(target), target, (*above, file.resolve())))
        except ModelError as e:
            problems += [p if p.place else Problem(p.message, place, "include", p.hint)
                         for p in e.problems]
    merged = _copy(tree)
    for part in reversed(parts):
        problems += _merge(merged, part)
    if problems:
        raise ModelError(problems)
    return merged


def _merge(into: Map, part: Map) -> list[Problem]:
    """Puts the sections of `part` before those of `into`; returns the clashes."""
    problems = []
    for section, entries in part.items():
        if section not in into:
            _put(into, section, entries, part)
        elif section in _MERGED and isinstance(entries, Map) and isinstance(into[section], Map):
            both = _copy(entries)
            for key, entry in into[section].items():
                if key in both:
                    first = both.key_places[key]
                    problems.append(Problem(
                        f'"{key}" is defined in an included file already, at {first}',
                        into[section].key_places[key], f"{section}.{key}", "rename one of them"))
                _put(both, key, entry, into[section])
            into[section] = both
    return problems


def repeat(tree: Map) -> Map:
    """The tree with every entry that has `repeat` written out, in order."""
    out, problems, total = _copy(tree), [], 0
    for section in _REPEATING:
        entries = tree.get(section)
        if not isinstance(entries, Map):
            continue
        expanded = Map(entries.place)
        for key, entry in entries.items():
            path = (section, key, "repeat")
            try:
                for counters in _counts(entry):
                    total += 1
                    if total > MAX_COPIES:
                        raise FormulaError(f"more than {MAX_COPIES} entries in all")
                    name = _fill(key, counters)
                    if name in expanded:
                        raise FormulaError(f'"{name}" is there twice',
                                           hint="use the counter in the name: body_<k>")
                    _put(expanded, name, _fill_all(entry, counters), entries, key)
            except FormulaError as e:
                place = source.locate(tree, path)
                problems.append(Problem(e.message, place, source.dotted(path), e.hint))
        out[section] = expanded
    if problems:
        raise ModelError(problems)
    return out


def _counts(entry: Any) -> Iterator[dict[str, float]]:
    """All settings of an entry's counters; one empty setting where it has none."""
    given = entry.get("repeat") if isinstance(entry, Map) else None
    if given is None:
        yield {}
        return
    if not isinstance(given, Map) or not given:
        raise FormulaError("repeat takes counters", hint="repeat: {k: [1, 10]}, ends included")
    ranges = []
    for name, ends in given.items():
        if not (isinstance(ends, Seq) and len(ends) == 2 and
                all(isinstance(x, int) and not isinstance(x, bool) for x in ends)):
            raise FormulaError(f'counter "{name}" takes two whole numbers',
                               hint=f"repeat: {{{name}: [1, 10]}}, ends included")
        if ends[1] - ends[0] >= MAX_COPIES:
            raise FormulaError(f'counter "{name}" makes more than {MAX_COPIES} copies')
        ranges.append(range(ends[0], ends[1] + 1))
    for values in itertools.product(*ranges):
        yield dict(zip(given, map(float, values), strict=True))


def _fill(text: str, counters: dict[str, float]) -> str:
    """`link_<k-1>` → `link_4`."""
    def number(match: re.Match[str]) -> str:
        value = evaluation.as_number(match[1], counters)
        if value != round(value):
            raise FormulaError(f"<{match[1]}> is {value}, not a whole number")
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
                _put(out, _fill(key, counters), _fill_all(x, counters), value, key)
        return out
    return value


def _copy(tree: Map) -> Map:
    out = Map(tree.place)
    for key, value in tree.items():
        _put(out, key, value, tree)
    return out


def _put(into: Map, key: str, value: Any, origin: Map, old_key: str | None = None) -> None:
    """into[key] = value, with the places that it has in `origin`."""
    into[key] = value
    into.key_places[key] = origin.key_places[old_key or key]
    into.value_places[key] = origin.value_places[old_key or key]
