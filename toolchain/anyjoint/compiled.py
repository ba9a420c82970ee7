"""Calling a compiled function from Python: numbers in, numbers out, or CasADi symbols."""

from __future__ import annotations

import threading
from typing import Any

import casadi as ca
import numpy as np

from .errors import InputError, suggest

Array = Any  # numpy.ndarray of floats


class CompiledFunction:
    """A function of a compiled library.

    Call it with numbers (lists, NumPy, DM), by position or by name: it returns NumPy arrays,
    vectors as (n,), matrices as (rows, columns). With CasADi's SX or MX it returns those. An
    input `p` that is not given takes the model's default parameters. One output is returned
    as such, several as a tuple. `function` is the casadi.Function, for solvers."""

    def __init__(self, alias: str, function: ca.Function, p0: Array):
        self.alias, self.function, self._p0 = alias, function, p0
        self._names = list(function.name_in())
        self._shapes = {n: function.size_in(k) for k, n in enumerate(self._names)}
        self._buffers = threading.local()  # one set of buffers a thread
        shapes = (f"{n} {_shape(s)}" for n, s in self._shapes.items())
        results = (f"{n} {_shape(function.size_out(k))}" for k, n in enumerate(self.name_out()))
        self.__doc__ = f"{alias}({', '.join(shapes)}) -> ({', '.join(results)})"

    def name_in(self) -> list[str]:
        return list(self._names)

    def name_out(self) -> list[str]:
        return list(self.function.name_out())

    def __repr__(self) -> str:
        return f"<compiled {self.__doc__}>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        given = self._bind(args, kwargs)
        kinds = {type(x) for x in given.values()} & {ca.SX, ca.MX}
        if len(kinds) > 1:
            raise InputError(f"{self.alias}: SX and MX inputs can't be mixed")
        if kinds:
            return self.function(*[self._symbols(n, given[n]) for n in self._names])
        return self._evaluate([self._numbers(n, given[n]) for n in self._names])

    def _bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """Input name → argument; InputError unless each input has exactly one."""
        names = self._names
        if len(args) > len(names):
            raise InputError(
                f"{self.alias}: {len(args)} inputs given, it takes {len(names)}: {', '.join(names)}"
            )
        given = dict(zip(names, args, strict=False))
        for name in kwargs:
            if name not in names:
                raise InputError(f"{self.alias}: no input {name}; {suggest(name, names, 'inputs')}")
            if name in given:
                raise InputError(f"{self.alias}: input {name} given twice")
        given.update(kwargs)
        if "p" in self._shapes and self._shapes["p"][0] in (0, self._p0.size):
            given.setdefault("p", self._p0[: self._shapes["p"][0]])
        missing = [n for n in names if n not in given]
        if missing:
            raise InputError(f"{self.alias}: missing input {', '.join(missing)}; {self.__doc__}")
        return given

    def _fits(self, name: str, shape: tuple[int, ...]) -> None:
        """Vectors may be flat, columns or rows; matrices have their shape."""
        expected = self._shapes[name]
        size = int(np.prod(shape))
        flat = len([n for n in shape if n != 1]) <= 1 or size == 0
        vector = min(expected) <= 1 and flat and size == expected[0] * expected[1]
        if shape != expected and not vector:
            raise InputError(
                f"{self.alias}: input {name} must be {_shape(expected)}, got {_shape(shape)}"
            )

    def _numbers(self, name: str, value: Any) -> Array:
        """`value` as a flat array, column by column."""
        try:
            array = np.asarray(value.full() if isinstance(value, ca.DM) else value)
        except ValueError as error:  # lists of different lengths
            raise InputError(f"{self.alias}: input {name} is no array of numbers") from error
        if array.dtype.kind not in "biuf":
            kind = type(value).__name__
            raise InputError(f"{self.alias}: input {name} must be numbers, got {kind}")
        self._fits(name, array.shape)
        return array.ravel(order="F")

    def _symbols(self, name: str, value: Any) -> Any:
        if not isinstance(value, (ca.SX, ca.MX)):
            value = ca.DM(self._numbers(name, value))
        else:
            self._fits(name, value.shape)
        return ca.reshape(value, *self._shapes[name])

    def _evaluate(self, values: list[Array]) -> Any:
        """CasADi's buffer spares a call most of its overhead."""
        buffers = self._buffers
        if not hasattr(buffers, "call"):
            f = self.function
            buffers.inputs = [np.zeros(max(1, n)) for n in map(f.nnz_in, range(f.n_in()))]
            buffers.outputs = [np.zeros(max(1, n)) for n in map(f.nnz_out, range(f.n_out()))]
            buffers.buffer, buffers.call = f.buffer()
            for i, array in enumerate(buffers.inputs):
                buffers.buffer.set_arg(i, memoryview(array))
            for i, array in enumerate(buffers.outputs):
                buffers.buffer.set_res(i, memoryview(array))
        for array, value in zip(buffers.inputs, values, strict=True):
            array[: value.size] = value
        buffers.call()
        if buffers.buffer.ret():
            raise InputError(f"{self.alias}: the compiled function failed")
        results = tuple(self._result(i, x) for i, x in enumerate(buffers.outputs))
        return results[0] if len(results) == 1 else results

    def _result(self, i: int, values: Array) -> Array:
        sparsity = self.function.sparsity_out(i)
        rows, columns = sparsity.shape
        if not sparsity.is_dense():
            return np.array(ca.DM(sparsity, values[: sparsity.nnz()]).full())
        if columns == 1:
            return values[:rows].copy()
        return values[: rows * columns].reshape((rows, columns), order="F").copy()


def _shape(shape: tuple[int, ...]) -> str:
    return "×".join(map(str, shape)) or "a scalar"
