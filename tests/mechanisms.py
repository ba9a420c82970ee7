"""Mechanisms for the tests, as model texts: one joint, two of a kind, random trees.

Joints come from the registry, so that a new family is tested without an edit here."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
import pytest

import anyjoint as aj
from anyjoint.curves import CURVES
from anyjoint.joints import JOINTS
from anyjoint.surfaces import SURFACES

MODELS = Path(__file__).parents[1] / "models"
Doc = dict[str, Any]
PASSIVE = {"damping": 0.3, "stiffness": 2.0, "armature": 0.1, "friction": 0.2}  # at most


def joint_cases() -> list[tuple[str, Doc]]:
    """(id, keys with type) of every example of every family."""
    return [(f"{name}_{k}", {"type": name, **copy.deepcopy(keys)})
            for name, family in JOINTS.items() for k, keys in enumerate(family.examples)
            ] + _of_other_packages()


def _of_other_packages() -> list[tuple[str, Doc]]:
    """The same of their curves and surfaces, on the joints that carry them; ours have tests of
    their own, with closed forms."""
    carriers = ((CURVES, "curve", {"frame": "up", "up": [0.3, 0.2, 1]}), (SURFACES, "surface", {}))
    return [(f"{name}_{k}", {"type": kind, kind: {"type": name, **copy.deepcopy(keys)}, **more})
            for families, kind, more in carriers for name, family in families.items()
            if name not in families.own for k, keys in enumerate(family.examples)]


class Case:
    """A model text with its mechanism, its functions (built once) and its states."""

    def __init__(self, name: str, doc: Doc | str | Callable[[], Doc], seed: int = 0):
        self.id, self.seed, self._doc = name, seed, doc

    @cached_property
    def doc(self) -> Doc:
        return self._doc() if callable(self._doc) else self._doc

    @cached_property
    def text(self) -> str:
        return self.doc if isinstance(self.doc, str) else json.dumps(self.doc, indent=1)

    @cached_property
    def m(self) -> Any:
        return aj.loads(self.text)

    @cached_property
    def baked(self) -> Any:
        return self.m.baked()

    @cached_property
    def _functions(self) -> dict[Any, ca.Function]:
        return {}

    def f(self, name: str, **options: Any) -> ca.Function:
        options = {"form": "inlined", **options}
        key = (name, *sorted(options.items()))
        if key not in self._functions:
            self._functions[key] = self.m.function(name, **options)
        return self._functions[key]

    def call(self, name: str, s: Doc, given: Doc | None = None, **options: Any) -> Any:
        """Outputs at the state s, some inputs replaced by `given`: an array or a list of them."""
        f = self.f(name, **options)
        return call(f, s | (given or {}))

    def jacobian(self, name: str, of: str, wrt: str, s: Doc, **options: Any) -> Any:
        """∂ output / ∂ input at s."""
        f, key = self.f(name, **options), ("jacobian", name, of, wrt, *sorted(options.items()))
        if key not in self._functions:
            self._functions[key] = f.factory("J", f.name_in(), [f"jac:{of}:{wrt}"])
        return call(self._functions[key], s).reshape(f.numel_out(of), f.numel_in(wrt))

    def rate(self, name: str, s: Doc, direction: Doc, **options: Any) -> Any:
        """Derivative of the outputs along `direction` (input → its rate)."""
        f = self.f(name, **options)
        seeds = {f"fwd_{k}": x for k, x in direction.items()}
        given = {k: s[k] for k in f.name_in()}
        out = f.forward(1)(**given, **seeds)
        return tidy([out[f"fwd_{k}"] for k in f.name_out()])

    def state(self, k: int = 0) -> Doc:
        """The k-th random state near rest where M is not close to singular: q, v, a, tau, p,
        dq (nv) and fext."""
        m, rng = self.m, np.random.default_rng([self.seed, k])
        p = m.p0 * (1 + 0.1 * rng.uniform(-1, 1, m.np))
        best, q = -1.0, m.q0
        for _ in range(20):
            trial = call(self.f("integrate"), {"q": m.q0, "dq": 0.5 * rng.standard_normal(m.nv)})
            M = self.call("mass_matrix", {"q": trial, "p": p}).reshape(m.nv, m.nv)
            d = np.sqrt(np.diag(M))
            least = np.linalg.eigvalsh(M / np.outer(d, d)).min(initial=1.0)
            if least > best:
                best, q = least, trial
            if least > 1e-2:
                break
        vectors = {n: rng.standard_normal(m.nv) for n in ("v", "a", "tau", "dq")}
        return {"q": q, "p": p, "fext": rng.standard_normal((6, len(m.bodies))), **vectors}


def call(f: ca.Function, s: Doc) -> Any:
    out = f(**{k: s[k] for k in f.name_in()})
    return tidy([out[k] for k in f.name_out()])


def tidy(outputs: list[Any]) -> Any:
    """DM → arrays, columns flat, scalars as floats; one output as such."""
    arrays = [np.array(ca.DM(x).full()) for x in outputs]
    arrays = [x.item() if x.size == 1 else x[:, 0] if x.shape[1] == 1 else x for x in arrays]
    return np.atleast_1d(arrays[0]) if len(arrays) == 1 else arrays


def close(actual: Any, expected: Any, tol: float = 1e-10, scale: float = 1.0) -> None:
    """‖actual − expected‖∞ ≤ tol · max(scale, ‖expected‖∞)."""
    actual, expected = np.asarray(actual, float), np.asarray(expected, float)
    assert actual.size == expected.size, f"{actual.shape} against {expected.shape}"
    error = np.abs(actual.ravel() - expected.ravel()).max(initial=0.0)
    bound = tol * max(scale, np.abs(expected).max(initial=0.0))
    assert error <= bound, f"error {error:.3g} > {bound:.3g}\n{actual}\nagainst\n{expected}"


# -- model texts -----------------------------------------------------------------------


def _numbers(rng: Any, n: int, size: float = 1.0) -> list[float]:
    return [round(float(x), 3) for x in size * rng.uniform(-1, 1, n)]


def inertia(rng: Any, mass: float) -> Doc:
    """Tensor of a random cloud of points: it satisfies the triangle inequality."""
    A = 0.3 * rng.standard_normal((3, 3)) + 0.1 * np.eye(3)
    C = mass * A @ A.T + 1e-3 * np.eye(3)
    tensor = np.trace(C) * np.eye(3) - C
    return {n: round(float(tensor["xyz".index(n[0]), "xyz".index(n[1])]), 9)
            for n in ("xx", "yy", "zz", "xy", "xz", "yz")}


def body(rng: Any, parent: str, joint: Doc, name: str, **keys: Any) -> Doc:
    """A body with offset origins, a random inertia and the frame tool_<name>."""
    mass = round(float(rng.uniform(0.5, 2)), 3)
    return {"parent": parent, "joint": copy.deepcopy(joint), "mass": mass,
            "com": _numbers(rng, 3, 0.3), "inertia": inertia(rng, mass),
            "origin": {"xyz": _numbers(rng, 3), "rpy": _numbers(rng, 3)},
            "child_origin": {"xyz": _numbers(rng, 3, 0.3), "rpy": _numbers(rng, 3)},
            "frames": {f"tool_{name}": {"xyz": _numbers(rng, 3), "rpy": _numbers(rng, 3)}}, **keys}


def single(keys: Doc, bodies: int = 1, seed: int = 1) -> Doc:
    """A chain of `bodies` joints with these keys."""
    rng = np.random.default_rng(seed)
    names = [f"b{k}" for k in range(bodies)]
    return {"anyjoint": 1, "name": "single", "bodies": {
        n: body(rng, parent, keys, n) for parent, n in zip(["world", *names], names, strict=False)}}


def random_tree(seed: int, n: int, *, root: Doc | None = None, gravity: bool = True,
                passive: bool = True, forces: bool = True) -> Doc:
    """A tree of n mixed joints, with run-time parameters; children may precede parents.

    root: keys of the joint of the first body, which then carries all the others."""
    rng = np.random.default_rng(seed)
    choices = [keys for _, keys in joint_cases()]
    bodies: Doc = {}
    parameters: Doc = {}
    for k in range(n):
        first = 0 if root and k else -1
        i = k - 1 if rng.random() < 0.5 else int(rng.integers(first, k)) if k else -1
        joint = root if root and not k else choices[int(rng.integers(len(choices)))]
        entry = body(rng, f"b{i}" if i >= 0 else "world", joint, f"b{k}")
        if passive and joint is not root and joint["type"] != "fixed":
            for key, size in PASSIVE.items():
                if rng.random() < 0.5:
                    entry["joint"][key] = round(float(size * rng.random()), 3)
        if rng.random() < 0.4:
            parameters[f"m{k}"], entry["mass"] = entry["mass"], f"m{k}"
        if rng.random() < 0.4:
            parameters[f"l{k}"], entry["origin"]["xyz"][0] = entry["origin"]["xyz"][0], f"l{k}/2"
        bodies[f"b{k}"] = entry
    if rng.random() < 0.5:
        names = list(bodies)
        rng.shuffle(names)
        bodies = {name: bodies[name] for name in names}
    doc = {"anyjoint": 1, "name": "tree", "parameters": parameters, "bodies": bodies,
           "gravity": _numbers(rng, 3, 9.81) if gravity else [0, 0, 0]}
    if forces:
        doc["forces"] = {
            "line": {"type": "spring", "from": "tool_b0", "to": f"tool_b{n - 1}", "stiffness": 3.0,
                     "length": 0.4},
            "point": {"type": "spring", "from": "world", "to": "tool_b1", "stiffness": 2.0}}
        if rng.random() < 0.4:
            doc["forces"]["push"] = {"type": "constant", "frame": "tool_b0",
                                     "force": _numbers(rng, 3, 5.0)}
    return doc


def parametric() -> Doc:
    """Joint arguments, inertia, passive forces and gravity as formulas of p."""
    rng = np.random.default_rng(5)
    joints = [{"type": "revolute", "axis": [1, "c", 0], "damping": "d"},
              {"type": "helical", "axis": "x", "pitch": "c/5", "stiffness": "d", "armature": "d"},
              {"type": "universal", "axes": ["z", [0, "c", 1]]},
              {"type": "formula", "coordinates": {"u": 0.3, "w": 0.2}, "arguments": {"L": "2*c"},
               "transform": [{"shift": ["L*cos(u)", "L*sin(u)", "c*w"]}, {"rotx": "w*d"}]}]
    bodies = {f"b{k}": body(rng, f"b{k - 1}" if k else "world", joint, f"b{k}")
              for k, joint in enumerate(joints)}
    bodies["b1"]["inertia"] = ["c", "c", "c/2 + 0.1"]
    bodies["b2"]["child_origin"]["rpy"] = ["c", 0, "d"]
    bodies["b3"]["frames"]["tool_b3"]["xyz"][1] = "c"
    return {"anyjoint": 1, "name": "parametric", "parameters": {"c": 0.6, "d": 0.4, "g": 9.0},
            "gravity": [0, 1, "-g"], "bodies": bodies,
            "forces": {"pull": {"type": "spring", "from": "world", "to": "tool_b3",
                                "stiffness": "10*d", "length": "c"}}}


def coupled(seed: int, n: int, **keys: Any) -> Doc:
    """A random tree where every second coordinate that can be is a formula of the two before
    it, one of them dependent itself, and of a parameter."""
    doc = random_tree(seed, n, **keys)
    m = aj.loads(json.dumps(doc))
    plain = {b.joint_name for b in m.bodies
             if b.joint.nq == b.joint.nv and "rest" not in doc["bodies"][b.name]["joint"]}
    rest = {name: round(float(x), 6) for name, x in zip(m.q_names, m.q0, strict=True)
            if name.partition(".")[0] in plain}
    names, moved = list(rest), [f"({name} - {x})" for name, x in rest.items()]
    doc["parameters"]["ratio"] = 0.4
    doc["couplings"] = {
        names[k]: f"{rest[names[k]]} + ratio*{moved[k - 1]} - 0.3*sin({moved[k - 2]}) "
                  f"+ 0.2*{moved[k - 1]}*{moved[k - 2]}" for k in range(2, len(names), 2)}
    return doc


def _lazy(make: Callable[..., Doc], *args: Any, **keys: Any) -> Callable[[], Doc]:
    return lambda: make(*args, **keys)


FREE = {"type": "free"}
ONES = [Case(name, _lazy(single, keys), 1) for name, keys in joint_cases()]
TWOS = [Case(f"{name}_twice", _lazy(single, keys, 2), 2) for name, keys in joint_cases()]
TREES = [Case(f"tree_{k}", _lazy(random_tree, k, 3 + k % 6), k) for k in range(30)]
FLOATING = [Case(f"floating_{k}", _lazy(random_tree, 100 + k, 3 + k % 4, root=FREE,
                                        gravity=k % 2 == 1, forces=False), k) for k in range(8)]
COUPLED = [Case(f"coupled_{k}", _lazy(coupled, 200 + k, 4 + k % 3), k) for k in range(6)]
COUPLED += [Case("coupled_floating", _lazy(coupled, 300, 5, root=FREE, forces=False), 1)]
OTHERS = [Case("parametric", parametric),
          *(Case(n, (MODELS / f"{n}.yaml").read_text()) for n in ("arm", "torus_chain_4"))]
ALL = [*ONES, *TWOS, *TREES, *FLOATING, *COUPLED, *OTHERS]
QUICK = {c.id for c in (*ONES, *TREES[:2], *COUPLED[:2], *OTHERS)}
QUICK -= {c.id for c in ONES if c.id.rpartition("_")[2] not in ("0", "1")}


def over(cases: list[Case], quick: bool = True) -> Any:
    """Parametrizes `case`; with `quick`, the single joints and a few trees are quick tests."""
    return pytest.mark.parametrize("case", [
        pytest.param(c, id=c.id, marks=pytest.mark.quick if quick and c.id in QUICK else ())
        for c in cases])
