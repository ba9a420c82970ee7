"""Checks of joint types by formula that need no evaluation: names, `use`, circles, size."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from anyjoint.errors import FormulaError, suggest
from anyjoint.frontend import evaluation, formula
from anyjoint.frontend.factors import Definition, Factor, Path

MAX_FACTORS = 2_000  # of a transform with all its uses written out
MAX_DEPTH = 30  # of types that use types

Found = Iterator[tuple[Path, FormulaError]]
Types = dict[str, Definition]


def problems(definition: Definition, types: Types, known: Collection[str], name: str = "") -> Found:
    """(path, error) of everything wrong; `known` are the names of the file, `name` the
    type's own."""
    inside = {*known, *definition.coordinates, *definition.arguments}
    for path, factor in definition.factors():
        for step, text in factor.formulas():
            try:
                evaluation.check_names(formula.parse(text), inside)
            except FormulaError as e:
                yield (*path, *step), e
        if factor.use is not None:
            yield from _use(factor, types, path)
    yield from _circle(definition, types, name)


def _use(factor: Factor, types: Types, path: Path) -> Found:
    name, given = str(factor.use), factor.with_ or {}
    if name not in types:
        hint = suggest(name, types, "joint types of this file")
        yield (*path, "use"), FormulaError(f'unknown joint type "{name}"', hint=hint)
        return
    other = types[name]
    for key in given:
        if key not in other.coordinates and key not in other.arguments:
            hint = suggest(key, [*other.coordinates, *other.arguments])
            yield (*path, "with", key), FormulaError(f'"{name}" has no "{key}"', hint=hint)
    for key in other.coordinates:
        if key not in given:
            yield (*path, "use"), FormulaError(
                f'the coordinate "{key}" of "{name}" is not given', hint=f"with: {{{key}: …}}")


def _circle(definition: Definition, types: Types, name: str) -> Found:
    """A circle is told once, at the first of its types; then the size when written out."""
    circular = {t for t in {name, *definition.reach(types)} & types.keys()
                if t in types[t].reach(types)}
    if name in circular:
        partners = {t for t in circular if name in types[t].reach(types)}
        if name == min(partners):
            path = next(p for p, f in definition.factors()
                        if f.use is not None and (f.use == name or f.use in partners))
            others = ", ".join(sorted(partners - {name})[:5])
            yield (*path, "use"), FormulaError(
                f'joint type "{name}" uses itself' + (f" by way of {others}" if others else ""),
                hint="break the circle")
    if circular:
        return
    size, depth = _size(definition, types)
    if size > MAX_FACTORS or depth > MAX_DEPTH:
        yield ("transform",), FormulaError(
            f"with its uses written out it has {size} factors, {depth} levels deep",
            hint=f"at most {MAX_FACTORS} factors and {MAX_DEPTH} levels")


def _size(definition: Definition, types: Types) -> tuple[int, int]:
    """Factors and levels of a definition without circles, uses written out."""
    memo: dict[str, tuple[int, int]] = {}
    order: list[str] = []  # used types, those first that others use
    waiting = [(name, False) for name in definition.uses()]
    while waiting:
        name, done = waiting.pop()
        if done:
            order.append(name)
        elif name in types and name not in memo:
            memo[name] = (1, 1)
            waiting += [(name, True), *((other, False) for other in types[name].uses())]
    for name in order:
        memo[name] = _sum(types[name], memo)
    return _sum(definition, memo)


def _sum(definition: Definition, memo: dict[str, tuple[int, int]]) -> tuple[int, int]:
    used = [memo.get(name, (1, 0)) for name in definition.uses()]
    own = sum(1 for _ in definition.factors())
    return own + sum(size for size, _ in used), 1 + max((depth for _, depth in used), default=0)
