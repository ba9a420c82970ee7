"""SX functions in any precision: an interpreter over mpmath's numbers."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import casadi as ca
import mpmath as mp

OPERATIONS: dict[int, Callable[..., Any]] = {
    ca.OP_ASSIGN: lambda x: x, ca.OP_ADD: operator.add, ca.OP_SUB: operator.sub,
    ca.OP_MUL: operator.mul, ca.OP_DIV: operator.truediv, ca.OP_NEG: operator.neg,
    ca.OP_SQ: lambda x: x * x, ca.OP_TWICE: lambda x: 2 * x, ca.OP_INV: lambda x: 1 / x,
    ca.OP_FABS: abs, ca.OP_SQRT: mp.sqrt, ca.OP_SIN: mp.sin, ca.OP_COS: mp.cos}


def precise(f: ca.Function, inputs: list[Any]) -> list[Any]:
    """The first output of an SX function in mpmath's precision, instruction by instruction."""
    work: dict[int, Any] = {}
    output = [mp.mpf(0)] * f.numel_out(0)
    for k in range(f.n_instructions()):
        code, to, of = f.instruction_id(k), f.instruction_output(k), f.instruction_input(k)
        if code == ca.OP_INPUT:
            work[to[0]] = mp.mpf(inputs[of[0]][of[1]])
        elif code == ca.OP_CONST:
            work[to[0]] = mp.mpf(f.instruction_constant(k))
        elif code == ca.OP_OUTPUT:
            output[to[1]] = work[of[0]]
        else:
            work[to[0]] = OPERATIONS[code](*[work[i] for i in of])
    return output
