"""Model file → spec: read, include, repeat, validate. Every problem has its place."""

from __future__ import annotations

import typing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from anyjoint.curves import CURVES
from anyjoint.errors import ModelError, Place, Problem, suggest
from anyjoint.frontend import expand, source, standins
from anyjoint.frontend.schema import Model
from anyjoint.surfaces import SURFACES


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
        return locate_problem(self.tree, message, path, hint, key=key, offset=offset, length=length)


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
        paths = [_walk(error["loc"])[0] for error in errors]
        if repair is standins.without:
            found = [(_translate(tree, e), path) for e, path in zip(errors, paths, strict=True)]
            problems = problems + [p for p, path in found if not _follows(tree, p, path)]
        if repair is not None:
            checked, more = repair(checked, paths)
            replaced |= more
    raise ModelError(problems)


def _follows(tree: source.Tree, problem: Problem, path: tuple[Any, ...]) -> bool:
    """Does an error of validation at `path` only follow from the tree's own problems?"""
    here = source.dotted(path)
    if path and path[0] not in tree and tree.damaged & standins.EVERYTHING:
        return True  # it may be in a file that could not be included
    if not source.find(tree, path)[0] and any(d.startswith(f"{here}.") for d in tree.damaged):
        return True  # empty, because an entry was left out
    return standins.within(here, tree.damaged) or problem.key in tree.damaged


def locate_problem(tree: source.Map, message: str, path: tuple[Any, ...], hint: str = "", *,
                   key: bool = False, offset: int = 0, length: int = 0) -> Problem:
    """A problem at `path`; `offset` counts into the text of a scalar there. With escapes, in
    a block or behind an alias the text is not that of the file: then the whole scalar counts."""
    value, place = source.find(tree, path)
    if key:
        place = source.locate_key(tree, path)
    elif place and length and isinstance(value, str):
        start = place.column - 1
        start += place.text[start : start + 1] in ("'", '"')
        if place.text.startswith(value, start):
            place = Place(place.file, place.line, start + offset + 1, place.text, length)
    return Problem(message, place, source.dotted(path), hint)


def _translate(tree: source.Map, error: Any) -> Problem:
    """A pydantic error in the words of a model file."""
    path, owner = _walk(error["loc"])
    kind, context = error["type"], error.get("ctx", {})
    if kind == "anyjoint":
        path = (*path, *context.get("step", ()))
        return locate_problem(tree, context["message"], path, context.get("hint", ""),
                              offset=context.get("offset", 0), length=context.get("length", 0))
    keys = sorted(f.alias or n for n, f in owner.model_fields.items()) if owner else []
    if kind == "extra_forbidden":
        hint = suggest(str(path[-1]), keys, "allowed keys")
        return locate_problem(tree, f'unknown key "{path[-1]}"', path, hint, key=True)
    if kind == "missing":
        hint = _HINTS.get(path[-1], f"keys: {', '.join(keys)}")
        return locate_problem(tree, f'the key "{path[-1]}" is missing', path[:-1], hint, key=True)
    if kind == "union_tag_invalid":
        tags = [t.strip("' ") for t in context["expected_tags"].split(",")]
        failed = {**CURVES.failed, **SURFACES.failed}.get(context["tag"])
        return locate_problem(tree, f'unknown type "{context["tag"]}"', (*path, "type"),
                              failed or suggest(context["tag"], tags, "types"))
    if kind in ("union_tag_not_found", "model_type", "model_attributes_type", "dict_type"):
        what = "a mapping with a type" if kind == "union_tag_not_found" else "a mapping"
        hint = _HINTS.get(path[-1] if path else "", "key: value pairs")
        return locate_problem(tree, f"expected {what} here", path, hint)
    return locate_problem(tree, _sentence(error), path)


# what to write where a key is missing or has a value of the wrong kind
_HINTS = {"anyjoint": "write anyjoint: 1", "joint": "for example {type: revolute, axis: z}",
          "inertia": "[xx, yy, zz] or {xx: …, yy: …, zz: …}", "parent": "a body, or world",
          "bodies": "bodies: {name: {parent: …, joint: …, mass: …}}"}


def _sentence(error: Any) -> str:
    text = str(error["msg"])
    for word, ours in (("Input should be", "expected"), ("List should have", "expected"),
                       ("Dictionary should have", "expected"), (" after validation", ""),
                       ("String should", "the text should"), ("a valid ", "a ")):
        text = text.replace(word, ours)
    return text[:1].lower() + text[1:]


def _walk(loc: tuple[Any, ...]) -> tuple[tuple[Any, ...], type[BaseModel] | None]:
    """Pydantic's loc without the tags of unions, and the model that the last step is in."""
    path: list[Any] = []
    here: Any = Model
    owner: type[BaseModel] | None = None
    for step in loc:
        here, tags = _unwrap(here)
        if step in tags and isinstance(here, tuple):
            here = tags[step]
            continue
        path.append(step)
        if isinstance(here, type) and issubclass(here, BaseModel):
            owner = here
            fields = {f.alias or n: f for n, f in here.model_fields.items()}
            here = fields[step].annotation if step in fields else Any
        else:
            owner = None
            arguments = typing.get_args(here)
            here = arguments[-1] if arguments else Any
    here, _ = _unwrap(here)
    if isinstance(here, type) and issubclass(here, BaseModel):
        owner = owner or here
    return tuple(path), owner


def _unwrap(annotation: Any) -> tuple[Any, dict[str, Any]]:
    """Strips Annotated and None; a tagged union comes as (tuple of members, by tag)."""
    while True:
        arguments = typing.get_args(annotation)
        origin = typing.get_origin(annotation)
        if origin is typing.Annotated:
            annotation = arguments[0]
        elif arguments and type(None) in arguments:
            rest = [a for a in arguments if a is not type(None)]
            annotation = rest[0] if len(rest) == 1 else typing.Union[tuple(rest)]  # noqa: UP007
        elif origin is typing.Union or type(annotation).__name__ == "UnionType":
            return arguments, dict(_tag(a) for a in arguments)
        else:
            return annotation, {}


def _tag(member: Any) -> tuple[str, Any]:
    """The tag by which pydantic names a member of a union in loc."""
    for extra in getattr(member, "__metadata__", ()):
        if hasattr(extra, "tag"):
            return extra.tag, member
    model, _ = _unwrap(member)
    field = getattr(model, "model_fields", {}).get("type")
    return (typing.get_args(field.annotation)[0] if field else str(model)), member
