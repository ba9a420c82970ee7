"""Model file → spec: read, include, repeat, validate. Every problem has its place."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from anyjoint.errors import ModelError, Problem
from anyjoint.frontend import expand, messages, source, standins
from anyjoint.frontend.schema import Model


@dataclass(frozen=True)
class Document:
    """A spec, and the tree that knows where each part of it stands.

    `problems` were found while reading and validating; what they touch is replaced by stand-ins
    in the spec, so that the rest can be checked too, and is listed in `replaced` (dotted
    paths)."""

    spec: Model
    tree: source.Map
    problems: tuple[Problem, ...] = ()
    replaced: frozenset[str] = frozenset()

    def problem(self, message: str, path: tuple[Any, ...], hint: str = "", *,
                key: bool = False, offset: int = 0, length: int = 0) -> Problem:
        return messages.locate_problem(self.tree, message, path, hint, key=key, offset=offset,
                                       length=length)


def load(path: str | Path) -> Document:
    """Reads a model file; ModelError where it is no YAML or too far from a model."""
    file = Path(path)
    return _finish(source.read(file), file)


def loads(text: str, file: str = "<text>") -> Document:
    """The same for a text; includes are relative to `file`."""
    return _finish(source.parse(text, file), Path(file))


def _finish(tree: source.Tree, file: Path) -> Document:
    tree = expand.repeat(expand.include(tree, file))
    checked, problems, replaced = tree, tree.problems, frozenset(tree.damaged)
    for repair in (standins.without, standins.patch, None):
        try:
            return Document(Model.model_validate(checked), tree, tuple(problems), replaced)
        except ValidationError as e:
            errors = e.errors(include_url=False)
        if repair is standins.without:
            found = messages.problems(tree, errors)
            problems = problems + [p for p, path in found if not _follows(tree, p, path)]
        if repair is not None:
            checked, more = repair(checked, messages.paths(tree, errors))
            unknown, meant = messages.unknown(tree, errors)
            replaced |= (more - unknown) | meant
    raise ModelError(problems)


def _follows(tree: source.Tree, problem: Problem, path: tuple[Any, ...]) -> bool:
    """Does an error of validation at `path` only follow from the tree's own problems?"""
    here = source.dotted(path)
    if path and path[0] not in tree and tree.damaged & standins.EVERYTHING:
        return True  # it may be in a file that could not be included
    if not source.find(tree, path)[0] and any(d.startswith(f"{here}.") for d in tree.damaged):
        return True  # empty, because an entry was left out
    return standins.within(here, tree.damaged) or problem.key in tree.damaged
