"""`check` of constraints: rows that follow from others and the set that is enough; no
false alarms."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import pytest

import anyjoint as aj
from constrained import CONSTRAINED, ROLLING, closed, model
from loops import PLANE, TIPS, TURNS, XYZ, assembled, bars, check, suggested, with_
from mechanisms import MODELS, Case, Doc, body, close, coupled, over, random_tree

# -- redundant rows ---------------------------------------------------------------------------


@pytest.mark.quick
@pytest.mark.parametrize(("given", "turn", "few"), [
    ([*XYZ, "rx", "rz"], (0, 0, 0), ["x", "z"]),  # a hinge
    (["rz", "rx", "z", "y", "x"], (0, 0, 0), ["z", "x"]),
    (XYZ, (0, 0, 0), ["x", "z"]),
    (["x", "z"], (0, 0, 0), None),
    (XYZ, (np.pi / 2, 0, 0), ["x", "y"]),  # the frame's y is in the plane, its z across
    ([*XYZ, "rx", "ry"], (np.pi / 2, 0, 0), ["x", "y"]),
    (XYZ, (1e-4, 0, 0), ["x", "z"]),  # y is in the plane too, but hardly
])
def test_planar_four_bar(given: list[str], turn: tuple[float, ...], few: Any) -> None:
    """The minimal set is named; with it there is no warning, and the same accelerations."""
    case = model(bars((0.5, 0.7, 0.6), 0.8, tuple(PLANE.m.q0), "y", turn), {
        "loop": {"type": "frame", **TIPS, "directions": given}})
    if few is None:
        assert check(case) == []
        return
    (problem,) = check(case)
    assert problem.key == "constraints.loop.directions"
    assert f'"loop" has {len(given)} directions, 2 are enough' in problem.message
    assert suggested(problem) == few
    left = [x for x in given if x not in few]
    assert all(re.search(rf"\b{x}\b", problem.hint) for x in left)
    minimal = with_(case, {"loop": {"type": "frame", **TIPS, "directions": few}})
    assert check(minimal) == []
    s = closed(minimal, minimal.state())
    close(case.call("fd", s), minimal.call("fd", s), 1e-9)


@pytest.mark.quick
def test_full_frame() -> None:
    """A four-bar of four hinges, cut in its coupler and welded: 3 of 6 directions; of three
    hinges: no motion is left."""
    q = PLANE.m.q0
    bodies = bars((0.5, 0.7, 0.6), 0.8, (q[0], q[1], q[2]))
    angle = q[0] + q[1] - q[2]  # of the coupler against the rocker
    rng = np.random.default_rng(5)
    half = {**body(rng, "c", {"type": "revolute", "axis": "y", "rest": float(angle)}, "d"),
            "origin": {"xyz": [0, 0, 0.6]}, "child_origin": {}, "frames": {}}
    weld = {"type": "frame", "from": "tip_b", "to": "d"}
    four = model({**bodies, "d": half}, {"weld": weld})
    (problem,) = check(four)
    assert problem.key == "constraints.weld"
    assert suggested(problem) == ["x", "z", "ry"]
    minimal = with_(four, {"weld": {**weld, "directions": ["x", "z", "ry"]}})
    assert check(minimal) == []
    s = closed(minimal, minimal.state())
    close(four.call("fd", s), minimal.call("fd", s), 1e-9)
    bodies["c"]["frames"]["tip_c"]["rpy"] = [0, float(angle), 0]
    first, second = check(model(bodies, {"weld": {"type": "frame", **TIPS}}))
    assert first.message == "no motion left: 3 velocities, and the constraints have rank 3"
    assert first.key == "constraints" and suggested(second) == ["x", "z", "ry"]


def bennett(q: Any = (1.0, 2.0, -1.0)) -> Case:
    """The linkage of Bennett: hinges z, links a and b in turn, sin α / a = sin β / b; the fourth
    hinge is a closure."""
    a, alpha, b = 0.5, 0.6, 0.8
    beta = float(np.arcsin(b * np.sin(alpha) / a))
    rng, bodies = np.random.default_rng(3), {}
    steps: list[Any] = [{"xyz": [x, 0, 0], "rpy": [turn, 0, 0]}
                        for x, turn in ((a, alpha), (b, beta), (a, alpha))]
    for k, rest in enumerate(q):
        bodies[f"b{k}"] = {
            **body(rng, f"b{k - 1}" if k else "world", {"type": "revolute", "rest": float(rest)},
                   f"b{k}"), "origin": steps[k - 1] if k else {}, "child_origin": {}, "frames": {}}
    bodies["b2"]["frames"] = {"end": steps[2]}
    ground = {"ground": {"body": "world", "xyz": [-b, 0, 0], "rpy": [-beta, 0, 0]}}
    return model(bodies, {"hinge": {"type": "frame", "from": "ground", "to": "end",
                                    "directions": [*XYZ, "rx", "ry"]}}, frames=ground)


def test_bennett() -> None:
    """In space: 5 rows, rank 2, though it is not a plane that holds the others; it moves."""
    case = assembled(bennett())
    (problem,) = check(case)
    few = suggested(problem)
    assert len(few) == 2
    minimal = with_(case, {"hinge": {**case.doc["constraints"]["hinge"], "directions": few}})
    assert check(minimal) == []
    for k in range(3):
        s = closed(minimal, minimal.state(k) | {"q": case.m.assembled(minimal.m.q0 + 0.1 * k)})
        close(case.call("constraint_residual", s)[0], np.zeros(5), 1e-9)
        close(case.call("fd", s), minimal.call("fd", s), 1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_any_plane_or_sphere(seed: int) -> None:
    """Four hinges with axes that are parallel, or meet in a point, in any attitude, the last one a
    closure: of its 5 rows 2 are enough, of a weld after all four 3 of 6."""
    rng = np.random.default_rng(seed)
    axes = [_rotation(rng)[:, 0]] * 4 if seed % 2 else [_rotation(rng)[:, 0] for _ in range(4)]
    points = [np.cross(n, rng.uniform(-1, 1, 3)) if seed % 2 else n for n in axes]
    bodies, before = {}, np.zeros(3)
    for k, (n, r) in enumerate(zip(axes, points, strict=True)):
        keys = body(rng, f"b{k - 1}" if k else "world", {"type": "revolute", "axis": n.tolist()},
                    f"b{k}")
        bodies[f"b{k}"] = {**keys, "origin": {"xyz": (r - before).tolist()}, "child_origin": {},
                           "frames": {}}
        before = r
    x = np.cross(axes[3], rng.standard_normal(3))
    x /= np.linalg.norm(x)
    rpy = _rpy(np.column_stack([x, np.cross(axes[3], x), axes[3]]))  # z is the last hinge
    for last, end, directions in ((3, np.zeros(3), [*XYZ, *TURNS]),
                                  (2, points[3] - points[2], [*XYZ, "rx", "ry"])):
        bodies[f"b{last}"]["frames"] = {"end": {"xyz": end.tolist(), "rpy": rpy}}
        loop = {"type": "frame", "from": "ground", "to": "end"}
        case = model({f"b{k}": bodies[f"b{k}"] for k in range(last + 1)}, {
            "loop": {**loop, "directions": rng.permutation(directions).tolist()}},
            frames={"ground": {"body": "world", "xyz": points[3].tolist(), "rpy": rpy}})
        (problem,) = check(case)
        few = suggested(problem)
        least = with_(case, {"loop": {**loop, "directions": few}})
        assert len(few) == last and check(least) == []
        q, v = case.m.q0, case.m.consistent(case.m.q0, rng.standard_normal(last + 1))
        s = {"q": q, "v": v, "tau": rng.standard_normal(last + 1), "p": []}
        close(least.call("fd", s), case.call("fd", s), 1e-8)  # rows of round-off do nothing


def _rotation(rng: Any) -> Any:
    return np.linalg.qr(rng.standard_normal((3, 3)))[0]


@pytest.mark.quick
def test_duplicates() -> None:
    """A constraint that follows from others is told of, and which."""
    q, pin = PLANE.m.q0, PLANE.doc["constraints"]["pin"]
    gear = {"type": "equality", "coordinates": ["b", "a"], "ratio": 2, "offset": q[1] - 2 * q[0]}
    back = {"type": "equality", "coordinates": ["a", "b"], "ratio": 0.5,
            "offset": q[0] - q[1] / 2}
    sums = {"type": "holonomic", "formula": f"(c - a - {q[2] - q[0]}) - (c - b/2 - "
                                            f"{q[2] - q[1] / 2})"}
    rates = {"type": "pfaffian", "coefficients": {"b": 1, "a": -2}}
    free: Doc = {"type": "equality", "coordinates": ["c", "a"], "offset": q[2] - q[0]}
    for constraints, follows in (
            ({"pin": pin, "again": pin}, {"again": '"pin"'}),
            ({"pin": pin, "turned": {"type": "point", "from": "tip_c", "to": "tip_b"}},
             {"turned": '"pin"'}),
            ({"gear": gear, "back": back}, {"back": '"gear"'}),
            ({"rates": rates, "gear": gear}, {"rates": '"gear"'}),
            ({"free": free, "gear": gear, "sums": sums}, {"sums": '"gear"'})):
        found = check(with_(PLANE, constraints))
        assert {p.key.split(".")[1]: p.message.split("from ")[1] for p in found} == follows
        assert check(with_(PLANE, {k: c for k, c in constraints.items() if k not in follows})) == []
    (never,) = check(with_(PLANE, {"y": {**pin, "directions": ["y"]}}))
    assert never.message == '"y" always holds: no joint can break it'


def test_two_loops() -> None:
    """Redundant rows of two closures at once: each has a warning of its own."""
    loops = {"one": {"type": "point", **TIPS}, "two": {"type": "frame", **TIPS, "directions":
                                                       ["rx", "z", "rz"]}}
    one, two = check(with_(PLANE, loops))
    assert suggested(one) == ["x", "z"] and two.message == '"two" follows from "one"'


def test_contradictions() -> None:
    """Of positions and of velocities: no warning about rank, but that nothing meets them."""
    gear = {"type": "equality", "coordinates": ["b", "a"], "offset": 0.1}
    first, = check(with_(PLANE, {"gear": gear, "other": {**gear, "offset": 0.2}}))
    assert "no configuration near rest meets them" in first.message and "gear = " in first.hint
    belt = {"type": "pfaffian", "coefficients": {"a": 1}, "equals": 1}
    first, = check(with_(PLANE, {"belt": belt, "fast": {**belt, "equals": 2}}))
    assert first.message == 'no velocity meets "fast" and the other constraints at once'
    across = with_(PLANE, {"pin": {"type": "point", **TIPS}})
    across.doc["bodies"]["c"]["origin"]["xyz"][1] = 0.02
    first, = check(across)
    assert '"pin" are 0.02 m apart; and no' in first.message and "left: pin.y = 0.02" in first.hint


def test_rolling() -> None:
    """Rows that follow in a constraint that needs the others, and a pivot that is held."""
    case = ROLLING[0]
    roll, stuck = case.doc["constraints"]["roll"], {"pivot": "forbidden"}
    (problem,) = check(with_(case, {"roll": roll, "again": {**roll, **stuck}}))
    assert (problem.key, problem.message) == (
        "constraints.again", 'x and y of "again" follow from "roll"')
    held: Doc = {n: {"type": "pfaffian", "coefficients": {f"ball.{n}": 1}}
                 for n in ("s", "t", "psi")}
    (problem,) = check(with_(case, {**held, "roll": {**roll, **stuck}}))
    assert problem.message == '"roll" can\'t pivot anyway: pivot: free is enough'
    assert check(with_(case, {**held, "roll": roll})) == []


# -- no false alarms ----------------------------------------------------------------------------


@pytest.mark.parametrize("path", sorted(MODELS.glob("*.yaml")), ids=lambda p: p.stem)
def test_models(path: Any) -> None:
    if "\nconstraints:" in path.read_text():
        assert aj.check(path) == [] == aj.check(path, ranges=False)


@over(CONSTRAINED, quick=False)
def test_cases(case: Case) -> None:
    for p in check(case):
        assert "at rest the constraints are not met" in p.message


@pytest.mark.parametrize("seed", range(7))
def test_random_closures(seed: int) -> None:
    """Some directions of a frame that can move any way, in random trees, couplings included: none
    is redundant; but a second time all of them."""
    rng = np.random.default_rng(seed)
    doc = coupled(200 + seed, 7) if seed % 3 == 0 else random_tree(seed + 40, 6)
    m = aj.loads(json.dumps(doc))
    q = m.function("integrate")(m.q0, 0.2 * rng.standard_normal(m.nv))
    frame = next(f for f in reversed(m.frame_names) if np.linalg.matrix_rank(np.array(
        m.function("frame_jacobian", frame=f, form="rolled")(q, m.p0)), 1e-3) == 6)
    few = rng.permutation([*XYZ, *TURNS])[: 6 - seed % 4].tolist()
    pose = np.array(m.function("poses")(q=q, p=m.p0)[frame])
    doc["frames"] = {"goal": {"body": "world", "xyz": pose[:3, 3].tolist(),
                              "rpy": _rpy(pose[:3, :3])}}
    loop = {"type": "frame", "from": "goal", "to": frame, "directions": few}
    once = Case("once", {**doc, "constraints": {"loop": loop}})
    (unmet,) = check(once)
    assert "not met" in unmet.message and "no config" not in unmet.message
    unmet, twice = check(with_(once, {"loop": loop, "more": loop}))
    assert "not met" in unmet.message and twice.message == '"more" follows from "loop"'


def _rpy(R: Any) -> list[float]:
    return [float(np.arctan2(R[2, 1], R[2, 2])), float(-np.arcsin(R[2, 0])),
            float(np.arctan2(R[1, 0], R[0, 0]))]
