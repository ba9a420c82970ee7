"""Typed errors. A user sees one of these, never a traceback: file, line, key,
what is allowed, what to do."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Place:
    """A spot in a text file; line and column count from 1."""

    file: str
    line: int
    column: int
    text: str = ""  # the source line, without its line break
    length: int = 1  # characters to underline

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong with an input."""

    message: str
    place: Place | None = None
    key: str = ""  # dotted path in the document: bodies.upper.joint.axis
    hint: str = ""  # what is allowed, the nearest valid name, what to do
    severity: str = "error"  # or "warning": the input can be used

    def data(self) -> dict[str, Any]:
        """As plain data, for editors."""
        place = {} if self.place is None else {
            k: getattr(self.place, k) for k in ("file", "line", "column", "length")}
        return {k: getattr(self, k) for k in ("severity", "message", "key", "hint")} | place

    def __str__(self) -> str:
        what = f"{self.severity}: {self.message}"
        lines = [f"{self.place}: {what}" if self.place else what]
        if self.key:
            lines[0] += f" [{self.key}]"
        if self.place and self.place.text.strip():
            cut = self.place.column - 80 if self.place.column > 120 else 0  # a long line's start
            text = self.place.text.expandtabs(1)[cut : cut + 160]
            caret = " " * (self.place.column - 1 - cut) + "^" * max(1, self.place.length)
            lines += [f"    {text}", f"    {caret[:160]}"]
        if self.hint:
            lines.append(f"  hint: {self.hint}")
        return "\n".join(lines)


def _position(problem: Problem) -> tuple[str, int, int]:
    place = problem.place
    return (place.file, place.line, place.column) if place else ("", 0, 0)


_SHOWN = 100  # problems of one file in a message


def ordered(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """Sorted by place; what the copies of a repeat have in common, once."""
    once: dict[Any, Problem] = {}
    for problem in problems:
        once.setdefault((problem.place, problem.message), problem)
    return tuple(sorted(once.values(), key=_position))


def listed(problems: Sequence[Problem]) -> str:
    """As text, not too many."""
    shown = [str(p) for p in problems[:_SHOWN]]
    if len(problems) > _SHOWN:
        shown.append(f"… and {len(problems) - _SHOWN} more problems")
    return "\n".join(shown)


class AnyjointError(Exception):
    """Base of all errors meant for a user."""


class ModelError(AnyjointError):
    """A model file that can't be used; carries every independent problem found."""

    def __init__(self, problems: Iterable[Problem]):
        self.problems = ordered(problems)
        super().__init__(listed(self.problems))


class FormulaError(AnyjointError):
    """A formula that can't be parsed or evaluated. `offset` is the 0-based
    column in the formula's text, `length` the number of characters at fault."""

    def __init__(self, message: str, offset: int = 0, length: int = 1, hint: str = ""):
        super().__init__(message)
        self.message, self.offset, self.length, self.hint = message, offset, length, hint


class CompileError(AnyjointError):
    """The C compiler is missing or failed; carries its own message."""


class ArtifactError(AnyjointError):
    """A compiled artifact that must not be loaded here."""


class InputError(AnyjointError, ValueError):
    """A call with an argument of the wrong size, name or value."""


def suggest(name: str, allowed: Iterable[str], what: str = "allowed") -> str:
    """'did you mean "x"? allowed: …' for an unknown `name`."""
    options = sorted(map(str, allowed))
    likely = near(name, options)
    shown = ", ".join(options[:40]) + (" …" if len(options) > 40 else "")
    listing = f"{what}: {shown}" if options else f"{what}: none"
    return f'did you mean "{likely}"? {listing}' if likely else listing


def near(name: str, options: Sequence[str]) -> str:
    """The option that is probably meant by `name`, or ""."""
    likely = options if len(options) <= 500 else [o for o in options if o[:1] == str(name)[:1]]
    found = difflib.get_close_matches(str(name), likely[:500], n=1)
    return found[0] if found else ""
