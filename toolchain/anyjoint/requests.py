"""Functions by name and options, as users ask for them:
`frame_jacobian:frame=tool:reference=world`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from anyjoint.errors import InputError, suggest

if TYPE_CHECKING:
    from anyjoint.functions import Entry
    from anyjoint.mechanism import Mechanism


def complete(entries: Mapping[str, Entry], m: Mechanism, name: str,
             options: Mapping[str, Any]) -> dict[str, Any]:
    """All options of a function, defaults filled in; InputError where they don't fit."""
    if not isinstance(name, str) or name not in entries:
        raise InputError(f'no function "{name}"; ' + suggest(str(name), entries, "functions"))
    for key in options:
        if key not in entries[name].options:
            raise InputError(f'{name} has no option "{key}"; '
                             + suggest(key, entries[name].options, "options"))
    filled: dict[str, Any] = {}
    for key, allowed in entries[name].options.items():
        if allowed is None:
            if key not in options:
                raise InputError(f"{name} needs a frame, as in {name}:{key}=…; "
                                 + suggest("", [*m.frame_names, *m.body_names], "frames"))
            filled[key] = m.frame(str(options[key])).name
            continue
        if allowed == "joints":
            filled[key] = joints(m, f"{name}: {key}", options.get(key, ()))
            continue
        given = options.get(key, allowed[0])
        given = bool(given) if isinstance(given, np.bool_) else given
        if not isinstance(given, (str, bool)) or given not in allowed:
            listed = ", ".join(str(x).lower() for x in allowed)
            raise InputError(f"{name}: {key}={given} is not possible; allowed: {listed}")
        filled[key] = given
    return filled


def joints(m: Mechanism, what: str, given: Any) -> tuple[str, ...]:
    """Names of joints, "elbow+base" or a list, in the order of the file."""
    names = [x.strip() for x in given.split("+") if x.strip()] if isinstance(given, str) else given
    if not isinstance(names, (list, tuple, set, frozenset)):
        raise InputError(f"{what} takes names of joints, not {given!r}; write elbow+base, or a "
                         "list in Python")
    moving = dict.fromkeys(name.partition(".")[0] for name in m.v_names)
    for name in names:
        if not isinstance(name, str) or name not in moving:
            raise InputError(f'{what}: no joint "{name}" with velocities of its own; '
                             + suggest(name, moving, "joints"))
    if len({*names}) < len(names):
        raise InputError(f"{what}: a joint is named twice in {', '.join(names)}; joints: "
                         + ", ".join(moving))
    return tuple(name for name in moving if name in names)


def alias(entries: Mapping[str, Entry], name: str, options: Mapping[str, Any]) -> str:
    """`frame_jacobian` with frame=tool and reference=world → frame_jacobian_tool_world;
    defaults are left out."""
    parts = [name]
    for key, allowed in entries[name].options.items():
        value = options[key]
        if allowed == "joints":
            parts += value
        elif allowed is None or value != allowed[0]:
            parts.append(f"no_{key}" if value is False else str(value))
    return re.sub("__+", "_", "_".join(parts)).rstrip("_")  # CasADi takes no double _


def described(entries: Mapping[str, Entry], name: str, options: Mapping[str, Any]) -> str:
    """What a function is, for headers: with its options where they tell more."""
    told = [f"{key} {', '.join(options[key]) or 'none'}" if allowed == "joints" else
            f"{key} {str(options[key]).lower()}" for key, allowed in entries[name].options.items()
            if allowed is None or "passive" != key or not options[key]]
    return "; ".join([entries[name].doc, *told])


def parse(text: str) -> tuple[str, dict[str, Any]]:
    """`fd:passive=false` → name and options."""
    name, *settings = text.strip().split(":")
    if "=" in name:
        raise InputError(f'"{name}" is no function; options follow a function behind colons: '
                         "frame_jacobian:frame=tool:reference=body")
    options: dict[str, Any] = {}
    for setting in settings:
        key, equals, value = (part.strip() for part in setting.partition("="))
        if not equals:
            raise InputError(f'"{setting}" in "{text}" is no option; write {name}:key=value')
        options[key] = {"true": True, "false": False}.get(value, value)
    return name, options


def by_alias(entries: Mapping[str, Entry], m: Mechanism, texts: Iterable[str],
             algorithms: Mapping[str, str]) -> dict[str, tuple[str, dict[str, Any]]]:
    """Requested functions by alias: name and complete options. algorithms: by function, where
    a request names none; the alias says nothing of them."""
    if not isinstance(algorithms, Mapping):
        raise InputError(f"algorithms are given by function, as in {{'fd': 'crba'}}, not by "
                         f"{algorithms!r}")
    out: dict[str, tuple[str, dict[str, Any]]] = {}
    unused = dict(algorithms)
    for name, algorithm in algorithms.items():
        complete(entries, m, name, {"algorithm": algorithm})
    for text in [texts] if isinstance(texts, str) else texts:
        if not isinstance(text, str):
            raise InputError(f"a function is named by a text, not by {text!r}")
        name, given = parse(text)
        options = complete(entries, m, name, given)
        key = alias(entries, name, options)
        if name in algorithms and "algorithm" not in given:
            options["algorithm"] = algorithms[name]
            unused.pop(name, None)
        if out.setdefault(key, (name, options)) != (name, options):
            raise InputError(f'two functions would be called "{key}"; rename one of the frames or '
                             "joints")
    for name in unused:
        raise InputError(f"{name}={algorithms[name]}: no function that is asked for takes this "
                         f"algorithm; add {name} to the functions, or leave it out")
    if not out:
        raise InputError("no functions given; " + suggest("", entries, "functions"))
    return out


def settings(texts: Iterable[str]) -> dict[str, str]:
    """["fd=crba,id=rnea"] → {"fd": "crba", "id": "rnea"}."""
    out: dict[str, str] = {}
    for setting in (part for text in texts for part in text.split(",") if part.strip()):
        name, equals, algorithm = (x.strip() for x in setting.partition("="))
        if not equals or name in out:
            what = "is given twice" if name in out else "is no setting"
            raise InputError(f'--algorithm: "{setting.strip()}" {what}; write fd=crba')
        out[name] = algorithm
    return out
