"""Where an error of validation is: pydantic's loc as a path of the file."""

from __future__ import annotations

import typing
from typing import Any, NamedTuple

from pydantic import BaseModel

from anyjoint.frontend.fields import Formula
from anyjoint.frontend.schema import JOINT_TYPES, Model


class Spot(NamedTuple):
    """Where an error of pydantic is."""

    path: tuple[Any, ...]  # its loc without the tags of unions
    owner: type[BaseModel] | None  # the model that the last step is in
    kind: Any  # the annotation of what is expected there
    whole: Any  # that of the last key on the way
    joint: tuple[Any, ...] | None  # the innermost joint on the way that is no registered family

    @property
    def keys(self) -> list[str]:
        fields = self.owner.model_fields if self.owner else {}
        return sorted(f.alias or n for n, f in fields.items())


def walk(loc: tuple[Any, ...]) -> Spot:
    """The spot of pydantic's loc."""
    path: list[Any] = []
    here: Any = Model
    owner, joint, whole = None, None, None
    for step in loc:
        kind, tags = _unwrap(here)
        if step in tags and isinstance(kind, tuple):
            here = tags[step]
            joint = tuple(path) if step == JOINT_TYPES else None
            continue
        path.append(step)
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            owner = kind
            fields = {f.alias or n: f for n, f in kind.model_fields.items()}
            here = Any
            if field := fields.get(step):
                here = whole = typing.Annotated[field.annotation, field]
        else:
            owner = None
            arguments = typing.get_args(kind)
            here = arguments[-1] if arguments else Any
    kind, _ = _unwrap(here)
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        owner = owner or kind
    return Spot(tuple(path), owner, here, whole, joint)


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


def members(annotation: Any) -> dict[str, Any]:
    """The members of a tagged union by tag; of anything else none."""
    return _unwrap(annotation)[1]


def form(annotation: Any) -> str:
    """How a value of this kind is written: [x, y, z] or [[x, y, z], …]; "" if that is no list."""
    kind, _ = _unwrap(annotation)
    if typing.get_origin(kind) is not list:
        return ""
    (item,) = typing.get_args(kind)
    least, most = (_length(annotation, key) for key in ("min_length", "max_length"))
    if item is str or typing.get_origin(item) is typing.Literal:
        names = [*typing.get_args(item), "first", "second"][:2]
        return f"[{', '.join(names)}{', …' * (most is None)}]"
    if item != Formula:
        return f"[{form(item) or '{…}'}, …]"
    if least != most or most is None:
        return "[number, number, …]"
    return "[x, y, z]" if most == 3 else f"[{most} numbers]"


def _length(annotation: Any, key: str) -> int | None:
    """A bound of a list's length."""
    while annotation is not None:
        for extra in getattr(annotation, "__metadata__", ()):
            for bound in getattr(extra, "metadata", ()):
                if hasattr(bound, key):
                    return int(getattr(bound, key))
        rest = [a for a in typing.get_args(annotation) if a is not type(None)]
        annotation = rest[0] if rest and typing.get_origin(annotation) is not list else None
    return None
