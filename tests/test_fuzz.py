"""Damaged model files: a mechanism or a ModelError comes back, never anything else."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import anyjoint as aj

MODELS = sorted((Path(__file__).parent.parent / "models").glob("*.yaml"))
EXAMPLES = int(os.environ.get("ANYJOINT_FUZZ", "150"))  # more, and random, by hand
TEXTS = ["".join(line for line in path.read_text(encoding="utf-8").splitlines(keepends=True)
                 if not line.startswith("#")) for path in MODELS]
WORDS = sorted({word for text in TEXTS for word in re.findall(r"[A-Za-z_]\w*", text)}
               | {"formula", "ellipsoid", "order", "rotation", "inverse", "exp", "quat", "rotx",
                  "child_origin", "check_inertia", "spring_rest", "friction", "friction_velocity",
                  "include", "angular", "moment", "axes", "q", "q1", "qw", "arguments"})
ODD = ["0", "-1", "1e308", "1e-308", ".nan", "-.inf", "true", "null", "~", "''", "[]", "{}", "x",
       "1/0", "sqrt(-1)", "9**9**9", "pi", "deg", "world", "<k>", "*x", "&x", "!t", "- ", ": ", "#",
       "[0, 0, 0]", "[1, 2]", "{a: 1}", "atan2(1, 2)", "a.b", "__import__('os')", "\t", "\n", "  ",
       "ä", "\u2028", "\U0001f980", "'", '"', "(", ")", "[", "]", "{", "}", ",", ":", "|", ">", "%"]
TOKEN = re.compile(r"[A-Za-z_]\w*|[-+]?[0-9.]+(?:e[-+]?\d+)?|[^\s\w]")
PAYLOAD = st.one_of(st.sampled_from(ODD), st.sampled_from(WORDS), st.text(max_size=4))
MUTATION = st.tuples(st.sampled_from(["delete", "double", "swap", "token", "number", "key",
                                      "insert", "indent", "list"]),
                     st.integers(0, 10**6), st.integers(0, 10**6), PAYLOAD)


def mutate(text: str, kind: str, i: int, j: int, payload: str) -> str:
    """One change of a model file's text at a place that i (and j) choose."""
    lines = text.splitlines(keepends=True) or [""]
    i, j = i % len(lines), j % len(lines)
    patterns = {"token": TOKEN, "number": re.compile(r"\b\d+\.?\d*\b"),
                "key": re.compile(r"[A-Za-z_]\w*(?=:)"), "list": re.compile(r"\[[^\[\]]*\]")}
    if kind in patterns:
        found = list(patterns[kind].finditer(text))
        if not found:
            return text + payload
        match = found[(i + 37 * j) % len(found)]
        return text[:match.start()] + payload + text[match.end():]
    if kind == "delete":
        del lines[i]
    elif kind == "double":
        lines.insert(j, lines[i])
    elif kind == "swap":
        lines[i], lines[j] = lines[j], lines[i]
    elif kind == "indent":
        lines[i] = "  " + lines[i]
    else:
        lines.insert(i, payload)
    return "".join(lines)


def load(text: str) -> bool:
    """Is the text a model? ModelError with places inside the text, or nothing raised."""
    try:
        m = aj.loads(text)
    except aj.ModelError as e:
        lines = re.split("\r\n|[\n\r\x85\u2028\u2029]", text.removeprefix("\ufeff"))
        assert e.problems and str(e)
        assert len(set(e.problems)) == len(e.problems)
        for problem in e.problems:
            assert problem.message
            if place := problem.place:
                assert 1 <= place.line <= len(lines) and place.length >= 1
                assert 1 <= place.column <= len(place.text) + 1
                assert place.text == lines[place.line - 1]
        return False
    assert len(m.q0) == m.nq and len(m.p0) == m.np
    return True


BY_HAND = "ANYJOINT_FUZZ" in os.environ
FUZZ = settings(derandomize=not BY_HAND, deadline=5000 if BY_HAND else None, database=None,
                max_examples=EXAMPLES, suppress_health_check=list(HealthCheck))


@FUZZ
@given(st.sampled_from(TEXTS), st.lists(MUTATION, min_size=1, max_size=4))
def test_damaged_models(text: str, mutations: list[tuple[str, int, int, str]]) -> None:
    for mutation in mutations:
        text = mutate(text, *mutation)
    load(text)


@pytest.mark.quick
def test_undamaged_models() -> None:
    assert all(load(text) for text in TEXTS)


# -- hostile files: refused before they cost time or memory ------------------------------------

HEAD = "anyjoint: 1\nname: m\n"
BODY = "bodies: {a: {parent: world, joint: {type: revolute}, mass: 1, inertia: [1, 1, 1]}}\n"
LAUGHS = "x0: &a0 [lol]\n" + "".join(
    f"x{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]\n" for i in range(1, 40))
HOSTILE = {
    "alias bomb": (HEAD + LAUGHS, "more than 1,000,000 values"),
    "deep list": (HEAD + "x: " + "[" * 50_000, "nested deeper"),
    "deep block": (HEAD + "".join(" " * i + "a:\n" for i in range(1000)), "nested deeper"),
    "deep formula": (HEAD + BODY + f"constants: {{k: {'(' * 900}1{')' * 900}}}", "not a formula"),
    "deep signs": (HEAD + BODY + f"constants: {{k: {'-' * 1900}1}}", "50 levels"),
    "long formula": (HEAD + BODY + f"constants: {{k: {'1+' * 9000}1}}", "2000 characters"),
    "power tower": (HEAD + BODY + "constants: {k: 9**9**9**9**9**9}", "no value"),
    "many digits": (HEAD + BODY + f"constants: {{k: {'9' * 100_000}}}", "digits"),
    "repeat": (HEAD + "bodies: {a<k>: {repeat: {k: [1, 1" + "0" * 50 + "]}}}", "copies"),
    "repeats": (HEAD + "bodies: {a<k>: {repeat: {k: [1, 9999], l: [1, 9999], m: [1, 9999]}}}",
                "more than 20000 copies"),
    "copies": (HEAD + f"bodies: {{a<k>: {{repeat: {{k: [1, 9999]}}, x: [{'1, ' * 100}]}}}}",
               "more than 1,000,000 values"),
    "texts": (HEAD + f"bodies: {{a<k>: {{repeat: {{k: [1, 9999]}}, x: {'<k>' * 5000}}}}}",
              "more than 1,000,000 values"),
    "counters": (HEAD + "bodies: {a: {repeat: {" + ", ".join(f"k{i}: [1, 9]" for i in range(5_000))
                 + "}}}", "more than 20000 copies"),
    "composite": (HEAD + BODY.replace("{type: revolute}", "{type: composite, joints: [" * 40
                                      + "{type: revolute}" + "]}" * 40), "nested deeper"),
}


@pytest.mark.quick
@pytest.mark.parametrize(("text", "message"), HOSTILE.values(), ids=HOSTILE)
def test_hostile_text(text: str, message: str) -> None:
    with pytest.raises(aj.ModelError) as caught:
        aj.loads(text)
    assert message in caught.value.problems[0].message


# -- includes: problems have the place in the file that holds them -----------------------------

INCLUDES = {  # content of b.yaml: (file, line, column, key, message) of the problems
    "a: [1\n": [("b", 2, 1, "", "not YAML")],
    "include: c.yaml\n": [("b", 1, 10, "include", "can't read")],
    "include: a.yaml\n": [("b", 1, 10, "include", "includes itself")],
    "include: [b.yaml]\n": [("b", 1, 11, "include", "includes itself")],
    "constants: {k: 2*z}\nforces: 3\n": [("b", 1, 18, "constants.k", 'unknown name "z"'),
                                         ("b", 2, 9, "forces", "expected a mapping")],
    "parameters: {p: 1}\n": [("a", 3, 14, "parameters.p", "defined in an included file already")],
    "parameters: [1]\nnames: 1\n": [("b", 1, 13, "parameters", "expected a mapping"),
                                    ("b", 2, 1, "names", "unknown key")],
    "include: [3, loop.yaml]\nnames: 1\n": [("b", 1, 11, "include", "a file name"),
                                            ("b", 1, 14, "include", "can't read"),
                                            ("b", 2, 1, "names", "unknown key")],
    "names: 1\nforces: {}\nforces: 2\n": [("b", 1, 1, "names", "unknown key"),
                                         ("b", 3, 1, "forces", "is here twice")],
    "parameters: {r: true}\nnames: 1\n": [("b", 1, 17, "parameters.r", "a boolean"),
                                          ("b", 2, 1, "names", "unknown key")],
}


@pytest.mark.parametrize("text", INCLUDES)
def test_problem_of_an_included_file(text: str, tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(f"{HEAD}parameters: {{p: 3}}\n{BODY}include: b.yaml\n")
    (tmp_path / "b.yaml").write_text(text)
    (tmp_path / "loop.yaml").symlink_to(tmp_path / "loop.yaml")
    with pytest.raises(aj.ModelError) as caught:
        aj.load(tmp_path / "a.yaml")
    got = [(Path(p.place.file).stem, p.place.line, p.place.column, p.key)
           for p in caught.value.problems if p.place]
    assert got == [expected[:4] for expected in INCLUDES[text]]
    for problem, expected in zip(caught.value.problems, INCLUDES[text], strict=True):
        assert expected[-1] in problem.message


@pytest.mark.parametrize(("names", "message"), [
    (lambda i: f"f{i + 1}.yaml", "includes nested deeper than 16 levels"),
    (lambda i: [f"f{j}.yaml" for j in range(1, 300)] if i == 0 else [], "more than 200 included"),
])
def test_too_many_includes(names: Callable[[int], Any], message: str, tmp_path: Path) -> None:
    for i in range(300):
        (tmp_path / f"f{i}.yaml").write_text(f"include: {names(i)}\n" + (HEAD + BODY) * (i == 0))
    with pytest.raises(aj.ModelError) as caught:
        aj.load(tmp_path / "f0.yaml")
    (problem,) = caught.value.problems
    assert message in problem.message and problem.place and problem.place.line == 1


MANY = """\
anyjoint: 1
name: §my arm
gravity: [0, 0, §.nan]
constants: {k: §zz, §2b: 1}
joint_types:
  t: {coordinates: {u: 0}, transform: [{rotz: §w}]}
bodies:
  a: {parent: world, joint: {type: revolute, axis: y}, mass: 1, inertia: §[1, 1, 3]}
  b: {parent: §c, joint: {type: revolute, axis: §[0, 0, 0]}, §mass: -1}
  c: {parent: b, joint: {type: revolute, range: §[1, 0]}, mass: 1, inertia: [1, 1, 1]}
  d: {parent: §e, joint: {type: t}, mass: §true}
  f: {parent: a, joint: {type: prismatic}, §masss: 1, mass: 1, frames: {§a: {}}}
"""


@pytest.mark.quick
def test_all_problems_in_one_run() -> None:
    with pytest.raises(aj.ModelError) as caught:
        aj.loads(MANY.replace("§", ""))
    marks = [(number, len("".join(parts[: k + 1])) + 1)
             for number, parts in enumerate((line.split("§") for line in MANY.split("\n")), 1)
             for k in range(len(parts) - 1)]
    assert [(p.place.line, p.place.column) for p in caught.value.problems if p.place] == marks
    shown = str(caught.value)
    assert all(f"<text>:{line}:{column}: error: " in shown for line, column in marks)
    assert '    name: my arm\n          ^^^^^^\n  hint: letters' in shown
