"""Families (joints, curves, surfaces) by the name that a model file gives as `type`: our own,
and those that other packages register by entry points (see CONTRIBUTING.md)."""

from __future__ import annotations

import hashlib
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from importlib import metadata
from pathlib import Path
from typing import Any, Generic, TypeVar, get_args

F = TypeVar("F")
# stand-ins for the unions of all families, which frontend.schema makes of the registries
_UNIONS = dict.fromkeys(("AnyJoint", "AnyCurve", "AnySurface"), Any)


class Families(Mapping[str, type[F]], Generic[F]):
    """{type: family}. Entry points are loaded at the first look into it, when anyjoint itself
    is imported completely, as the modules behind them import anyjoint. One that can't be used
    is left out with a warning and stands in `failed`."""

    def __init__(self, base: type[F], own: Iterable[type[F]], group: str):
        self.base, self.own, self.group = base, {_type(f): f for f in own}, group

    @cached_property
    def _found(self) -> tuple[dict[str, type[F]], dict[str, str]]:
        """Families of other packages by type; why others can't be used, by their names."""
        found: dict[str, type[F]] = {}
        failed: dict[str, str] = {}
        for entry in metadata.entry_points(group=self.group):
            try:
                found[entry.name] = self._load(entry, {**self.own, **found})
            except (Exception, SystemExit) as e:  # whatever another package may do
                failed[entry.name] = self._explain(entry, e)
                warnings.warn_explicit(failed[entry.name], UserWarning, "anyjoint", 0)
        return found, failed

    def _load(self, entry: metadata.EntryPoint, taken: Mapping[str, type[F]]) -> type[F]:
        """The family of an entry point, checked."""
        family = entry.load()
        if not (isinstance(family, type) and issubclass(family, self.base)):
            raise _Unusable(f"it is no subclass of {self.base.__module__}.{self.base.__name__}")
        try:
            name = _type(family)
        except (AttributeError, KeyError, IndexError):
            raise _Unusable('its Keys have no field "type" with a Literal') from None
        if name != entry.name:
            raise _Unusable(f'its type is "{name}"; the entry point must have the same name')
        if name in taken:
            raise _Unusable(f'the type "{name}" is taken by {taken[name].__module__}')
        keys = family.Keys  # type: ignore[attr-defined]
        type(keys)("Probe", (keys,), {"__module__": keys.__module__}).model_rebuild(
            _types_namespace=_UNIONS)
        return family

    def _explain(self, entry: metadata.EntryPoint, e: BaseException) -> str:
        package = entry.dist.name if entry.dist else "an unknown package"
        why = "" if isinstance(e, _Unusable) else f"{type(e).__name__}: "
        return (f'the entry point "{entry.name} = {entry.value}" of {package} ({self.group}) '
                f"can't be used: {why}{str(e).partition(chr(10))[0]}")

    @property
    def failed(self) -> dict[str, str]:
        """What to say about a type whose entry point can't be used."""
        return self._found[1]

    @cached_property
    def _all(self) -> dict[str, type[F]]:
        return {**self.own, **self._found[0]}

    def digest(self) -> str:
        """Of the Python files of the packages that families come from, ours aside."""
        total = hashlib.sha256()
        for name, family in self._found[0].items():
            top = sys.modules[family.__module__.partition(".")[0]]
            folders = [Path(p) for p in getattr(top, "__path__", ())]  # several: a namespace
            files = [f for folder in folders for f in sorted(folder.rglob("*.py"))]
            files = files or [Path(str(top.__file__))]
            total.update(repr((name, [f.read_bytes() for f in files])).encode())
        return total.hexdigest()

    def __getitem__(self, name: str) -> type[F]:
        return self._all[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)


class _Unusable(Exception):
    """A reason that needs no name of an exception."""


def _type(family: Any) -> str:
    return str(get_args(family.Keys.model_fields["type"].annotation)[0])
