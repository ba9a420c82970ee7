"""Two ways to a cubic B-spline in SX: selection of the local control points, and a CasADi
B-spline that is never inlined, as a call node. Value, first and second derivative of a curve
in space, control points as numbers and as inputs. Prints the table of docs/splines.md.

python benchmarks/splines.py"""

from __future__ import annotations

import ctypes
import statistics
import tempfile
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np

from anyjoint.backend.compiler import compile_library, default_flags, find_compiler
from anyjoint.geometry import splines

SIZES = (4, 7, 10, 20, 50, 100, 150, 200, 300, 400)
ROUNDS, CALLS = 201, 2_000
DRIVER = """
#include <time.h>
double seconds(int which, int calls, double end, const double *points) {{
  double u = 0.3, out[3][3], w[{w} + 1]; casadi_int iw[{iw} + 1];
  const double *arg[{arg} + 2]; double *res[{res} + 3];
  struct timespec a, b;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &a);
  for (int k = 0; k < calls; k++) {{
    u += 0.6180339887 * end; if (u >= end) u -= end;    /* all segments, in no order */
    arg[0] = &u; arg[1] = points; res[0] = out[0]; res[1] = out[1]; res[2] = out[2];
    if (which) call(arg, res, iw, w, 0); else selection(arg, res, iw, w, 0);
  }}
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &b);
  return (b.tv_sec - a.tv_sec + 1e-9 * (b.tv_nsec - a.tv_nsec)) / calls;
}}
"""


def with_derivatives(name: str, inputs: list[Any], f: Any) -> ca.Function:
    df = ca.jacobian(f, inputs[0])
    return ca.Function(name, inputs, ca.cse([f, df, ca.jacobian(df, inputs[0])]))


def candidates(P: Any, parametric: bool) -> list[ca.Function]:
    """The two functions u (and points) → f, f′, f″ of an open spline."""
    n = P.shape[1]
    knots, options = [float(k) for k in range(-3, n + 1)], {"lookup_mode": ["exact"]}
    u, points = ca.SX.sym("u"), ca.SX.sym("points", 3, n)
    x, c = ca.MX.sym("x"), ca.MX.sym("c", 3, n)
    inputs, own = ([u, points], [x, c]) if parametric else ([u], [x])
    if parametric:
        f = ca.bspline(x, ca.vec(c), [knots], [3], 3, options)
    else:
        f = ca.Function.bspline("b", [knots], P.T.ravel().tolist(), [3], 3, options)(x)
    node = ca.Function("node", own, [f], {"never_inline": True})
    return [with_derivatives("selection", inputs, splines.cubic(u, points if parametric else P)),
            with_derivatives("call", inputs, node(*inputs))]


def measure(P: Any, parametric: bool) -> tuple[list[int], list[float]]:
    """Instructions of both, and their medians of nanoseconds a call, taken in turns."""
    functions = candidates(P, parametric)
    for x in np.random.default_rng(2).uniform(0, P.shape[1] - 3, 20):
        a, b = (f(x, P) if parametric else f(x) for f in functions)
        assert max(float(ca.norm_inf(y - z)) for y, z in zip(a, b, strict=True)) < 1e-12
    generator = ca.CodeGenerator("spline")
    for f in functions:
        generator.add(f)
    sizes = {k: max(getattr(f, f"sz_{k}")() for f in functions) for k in ("w", "iw", "arg", "res")}
    with tempfile.TemporaryDirectory() as folder:
        source, library = Path(folder) / "spline.c", Path(folder) / "spline.so"
        source.write_text(generator.dump() + DRIVER.format(**sizes))
        compiler = find_compiler()
        compile_library(source, library, default_flags(compiler), compiler)
        seconds = ctypes.CDLL(str(library)).seconds
    seconds.restype, seconds.argtypes = ctypes.c_double, [
        ctypes.c_int, ctypes.c_int, ctypes.c_double, ctypes.c_void_p]
    points = np.asfortranarray(P).ravel(order="F").copy()
    times: list[list[float]] = [[], []]
    for _ in range(ROUNDS):
        for which in (0, 1):
            times[which].append(seconds(which, CALLS, P.shape[1] - 3.0, points.ctypes.data))
    return [f.n_instructions() for f in functions], [1e9 * statistics.median(t) for t in times]


def main() -> None:
    print("| control points | numbers: selection, instructions | ns | call node, instructions | ns "
          "| inputs: selection, instructions | ns | call node, instructions | ns |")
    print("|" + "---|" * 9)
    for n in SIZES:
        P, row = np.random.default_rng(1).standard_normal((3, n)), [str(n)]
        for parametric in (False, True):
            for instructions, ns in zip(*measure(P, parametric), strict=True):
                row += [str(instructions), f"{ns:.0f}"]
        print("| " + " | ".join(row) + " |", flush=True)


if __name__ == "__main__":
    main()
