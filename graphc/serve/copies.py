"""Copies: a function on several devices, with its Variables on each, compiled for a few batch sizes."""

from __future__ import annotations

import functools
import math
import threading
import time
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, cast

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import checkify

from graphc.compiler.base import nest
from graphc.compiler.base.errors import (
    FailedPreconditionError,
    InvalidArgumentError,
    InvalidTypeError,
    UnimplementedError,
)
from graphc.compiler.core import Tensor, Variable, canonical_array, converted
from graphc.compiler.devices import Device
from graphc.compiler.function import function, to_jax

# Rows: the arguments of a request; joining those of several requests, and splitting their results.

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Key:
    """The properties that requests must have in common to be batched together."""

    structure: nest.Structure
    types: tuple[Hashable, ...]


@dataclass(frozen=True)
class HostArguments:
    """The arguments of a request, copied to the host."""

    key: Key
    leaves: tuple[Array, ...]

    def __len__(self) -> int:
        return len(self.leaves[0])

    @classmethod
    def of(cls, what: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> HostArguments:
        """Copies the arguments of a call."""
        leaves, structure = nest.flatten((args, kwargs))
        for leaf in leaves:
            if not (hasattr(leaf, "shape") and hasattr(leaf, "dtype")):
                raise InvalidTypeError(
                    f"{what}: expected arrays with a row for each query, got {type(leaf).__name__} {leaf!r:.60}; pass "
                    "np.asarray(...), and bind arguments that are the same for all queries with functools.partial"
                ).here()
        values = [leaf.numpy() if isinstance(leaf, Tensor | Variable) else leaf for leaf in leaves]
        arrays = tuple([canonical_array(value) for value in values])
        sizes = {array.shape[:1] for array in arrays}
        if len(sizes) != 1 or sizes & {(), (0,)}:
            shapes = ", ".join(str(array.shape) for array in arrays) or "missing"
            raise InvalidArgumentError(
                f"{what}: all arrays must have the same number of rows, at least one, along their first axis; their "
                f"shapes are {shapes}. A query of one row is x[None]"
            ).here()
        return cls(Key(structure, tuple([(array.shape[1:], array.dtype) for array in arrays])), arrays)


def padded(parts: Sequence[Sequence[Array]], size: int) -> list[Array]:
    """Joins the rows of several requests, and repeats the last row until there are ``size``.

    A repeated row fails no batch that would not fail anyway; a row of zeros might.
    """
    more = size - sum(len(part[0]) for part in parts)
    if len(parts) == 1 and not more:
        return list(parts[0])
    joined: list[Array] = []
    for column in zip(*parts, strict=True):
        rows = [*column, np.repeat(column[-1][-1:], more, axis=0)] if more else list(column)
        joined.append(np.concatenate(rows))
    return joined


_put = cast("Any", jax.device_put)
_jit = cast("Any", jax.jit)
_checkify = cast("Any", checkify.checkify)

_TOLERANCE = 1e-2
"""Relative tolerance for the dependence of a row's results on other rows: rounding errors are far below it."""


_QUICK_BATCHES, _QUICK_SECONDS = 16, 0.005
"""How many batches a program must have computed, and how quickly: Python makes threads wait as long for its lock."""

_MOST_PROGRAMS = 64
"""Maximum number of programs; beyond it, the oldest is dropped. Each row shape makes its own programs."""


class _RaisedError(InvalidArgumentError):
    """A row of a batch makes the function raise an exception that is not identified yet."""


class BatchProgram:
    """The function for batches of one key and size: traced once, compiled for each device at its first use."""

    def __init__(self, copies: ReplicatedFunction, key: Key, leaves: Sequence[Array]) -> None:
        self._copies = copies
        self._structure = key.structure
        self._example = [np.array(leaf) for leaf in leaves]
        self._result = nest.LEAF
        self._constants: dict[int, Any] = {}
        self._compiled: dict[Device, Any] = {}
        self.names: tuple[str, ...] = ()
        self._batches: Counter[int] = Counter()
        self._seconds: dict[int, float] = {}
        self._may_hang = False

    def variables(self) -> dict[str, Any]:
        """Returns copies of the current values of the Variables; the function makes them if it has not yet."""
        args, kwargs = self.arguments(self._example)
        values: dict[str, Any] = self._copies.pure.init(*args, **kwargs)
        self.names = tuple(values)
        return values

    def arguments(self, leaves: Iterable[Any]) -> Any:
        """Returns the arguments of a call with arrays in their places, positional and keyword."""
        return nest.unflatten(self._structure, leaves)

    def on(self, device: Device, variables: dict[str, Any]) -> Any:
        """Returns the executable for a device."""
        if device not in self._compiled:
            with self._copies.tracing:
                lowered = _jit(_checkify(self._run)).lower(variables, _put(self._example, device))
            # A loop may take long for other values, and Python code for any: it must not hold up an event loop.
            self._may_hang |= any(word in lowered.as_text() for word in ("stablehlo.while", "python"))
            self._compiled[device] = lowered.compile()
        return self._compiled[device]

    def took(self, device: int, seconds: float) -> None:
        """Records how long a batch took on a device."""
        self._batches[device] += 1
        # A batch takes longer for what else the machine does, and Python's lock; never shorter.
        self._seconds[device] = min(seconds, self._seconds.get(device, math.inf) * 1.05)

    def is_quick(self, device: int) -> bool:
        """Returns True if a device has computed some batches in a short time, and cannot take longer."""
        quick = self._batches[device] >= _QUICK_BATCHES and self._seconds[device] < _QUICK_SECONDS
        return quick and not self._may_hang

    def result(self, leaves: Sequence[Array]) -> Any:
        """Returns the function's result, built from its arrays."""
        arrays = iter(leaves)
        indices = range(self._result.num_leaves)
        return nest.unflatten(
            self._result, [self._constants[index] if index in self._constants else next(arrays) for index in indices]
        )

    def _run(self, variables: dict[str, Any], leaves: Sequence[Any]) -> list[Any]:
        """Runs the function under JAX tracing."""
        args, kwargs = self.arguments(leaves)
        result, new = self._copies.pure(variables, *args, **kwargs)
        name, rows = self._copies.name, len(leaves[0])
        for variable in variables:
            if new[variable] is not variables[variable]:
                raise UnimplementedError(
                    f"Replicas: {name} assigns Variable {variable!r}, of which each replica has a copy; serve a "
                    "function that only reads Variables (a layer with training=False), and give random numbers as "
                    "arguments"
                )
        outputs, self._result = nest.flatten(result)
        self._constants = {index: leaf for index, leaf in enumerate(outputs) if not isinstance(leaf, jax.Array)}
        arrays = [leaf for leaf in outputs if isinstance(leaf, jax.Array)]
        for array in arrays:
            if array.shape[:1] != (rows,):
                raise FailedPreconditionError(
                    f"Replicas: {name} returned an array of shape {array.shape} for {rows} rows; it must return a row "
                    "for each row that it is given, and nothing that is made of several"
                )
        return arrays


class ReplicatedFunction:
    """A function of rows on several devices."""

    def __init__(self, f: Callable[..., Any], name: str, devices: Sequence[Device], sizes: Sequence[int]) -> None:
        @functools.wraps(f, updated=())
        def called(*args: Any, **kwargs: Any) -> Any:
            return converted(f)(*args, **kwargs)

        called.__name__ = called.__qualname__ = name
        self.name, self.devices, self.sizes = name, tuple(devices), tuple(sizes)
        self.pure = to_jax(called, errors="checkify")
        self.tracing = threading.RLock()
        self._raising = function(called, on_retrace="ignore")
        self._programs: dict[tuple[Key, int], BatchProgram] = {}
        self._values: dict[Device, dict[str, Any]] = {device: {} for device in devices}
        self._independent: set[Key] = set()

    def size(self, rows: int) -> int:
        """Returns the padded number of rows."""
        return next(size for size in self.sizes if size >= rows)

    def is_quick(self, device: int, key: Key, rows: int) -> bool:
        """Returns True if batches like this one are computed on a device faster than a thread would begin to."""
        program = self._programs.get((key, self.size(rows)))
        return program is not None and program.is_quick(device)

    def program(self, key: Key, leaves: Sequence[Array]) -> BatchProgram:
        """Returns the program for batches like this one."""
        wanted = key, len(leaves[0])
        if (match := self._programs.get(wanted)) is not None:
            return match
        with self.tracing:
            if (match := self._programs.get(wanted)) is None:
                match = BatchProgram(self, key, leaves)
                here = self._values[self.devices[0]]
                self._spread({name: value for name, value in match.variables().items() if name not in here})
                self._programs[wanted] = match
                if len(self._programs) > _MOST_PROGRAMS:
                    del self._programs[next(iter(self._programs))]
            return match

    def refresh(self) -> None:
        """Updates the copies to the current values of the Variables; later batches use them."""
        with self.tracing:
            new: dict[str, Any] = {}
            for program in self._programs.values():
                new.update(program.variables())
            self._spread(new)

    def run(self, device: int, program: BatchProgram, key: Key, leaves: Sequence[Array], rows: int) -> list[Array]:
        """Computes the results of a batch."""
        start = time.perf_counter()
        results = self._launch(device, program, leaves)
        program.took(device, time.perf_counter() - start)
        if rows > 1 and key not in self._independent and any((leaf[:rows] != leaf[:1]).any() for leaf in leaves):
            same = self._launch(device, program, [np.repeat(leaf[:1], len(leaf), axis=0) for leaf in leaves])
            self._check_independent(results, same)
            self._independent.add(key)
        return results

    def warm_up(self, device: int, program: BatchProgram, key: Key, leaves: Sequence[Array]) -> None:
        """Compiles a program for a device, and runs it; an exception for a row is ignored."""
        with suppress(_RaisedError):
            for _ in range(2):  # the first compiles, and the second shows how long a batch takes
                self.run(device, program, key, leaves, 1)

    def explained(self, error: BaseException, program: BatchProgram, leaves: Sequence[Array]) -> BaseException:
        """Returns the user's own exception if the function raised for a row; other errors unchanged."""
        if not isinstance(error, _RaisedError):
            return error
        args, kwargs = program.arguments([Tensor(jnp.asarray(leaf)) for leaf in leaves])
        try:
            self._raising(*args, **kwargs)
        except BaseException as own:
            return own
        return error

    def _spread(self, new: dict[str, Any]) -> None:
        """Puts new values of Variables on each device, and replaces the old ones at once."""
        self._values = {device: {**old, **_put(new, device)} for device, old in self._values.items()}

    def _launch(self, index: int, program: BatchProgram, leaves: Sequence[Array]) -> list[Array]:
        device = self.devices[index]
        values = self._values[device]
        variables = {name: values[name] for name in program.names}
        # The executable puts the arrays of the host onto its device, four times as fast as jax.device_put.
        error, outputs = program.on(device, variables)(variables, leaves)
        for leaf in outputs:
            leaf.copy_to_host_async()
        if (message := error.get()) is not None:
            raise _RaisedError(message)
        return [np.asarray(leaf) for leaf in outputs]

    def _check_independent(self, together: Sequence[Array], alone: Sequence[Array]) -> None:
        """Raises an error if the result for the first row changed when all rows were copies of it."""
        for one, other in zip(together, alone, strict=True):
            first, same = np.asarray(one[0], np.complex128), np.asarray(other[0], np.complex128)
            bound = _TOLERANCE * max(1e-6, float(np.max(np.abs(np.nan_to_num(first)), initial=0.0)))
            if not np.allclose(first, same, rtol=0.0, atol=bound, equal_nan=True):
                raise FailedPreconditionError(
                    f"Replicas: the results of {self.name} for a row depend on the other rows, so queries cannot "
                    f"be batched: the first row gave {first.real.tolist()!s:.60} in a batch and "
                    f"{same.real.tolist()!s:.60} by itself; it must not mix rows (a mean over axis 0, batch statistics)"
                ).here()
