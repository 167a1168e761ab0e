"""What all ranks must agree on before a program starts: which it is, and now and then its Variables and its batch."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from weakref import WeakKeyDictionary

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import NamedSharding

from graphc.base import nest
from graphc.core import Variable
from graphc.distribute.processes.job import current_job
from graphc.ir import Graph, print_graph
from graphc.lowering import Executable, register_meeting

__all__ = ["Gate", "meet"]

_TEXT = 300
"""How much of the types of the arguments is told."""


def meet(what: str) -> None:
    """Waits until all ranks are about to do something together that is no program of the user's."""
    job = current_job()
    if job is not None:
        job.enter(what)


class Gate:
    """The barrier before a program.

    Args:
      graph: the program.
    """

    def __init__(self, graph: Graph) -> None:
        self._name = graph.name
        self._layouts: dict[tuple[Any, ...], str] = {}
        self._facts: dict[str, str] = {}
        if current_job() is not None:
            types = ", ".join(str(value.type) for value in graph.inputs)
            self._facts = {
                "the types of the arguments": types if len(types) <= _TEXT else f"{types[:_TEXT]}... {_digest(types)}",
                "the graph (print it, or its parts, on each rank)": _digest(print_graph(graph, locations=False)),
            }

    def enter(
        self,
        variables: Sequence[Variable],
        arguments: Mapping[str, Any],
        shardings: tuple[Any, ...] = (),
        timeout: float | None = None,
    ) -> None:
        """Waits until all ranks are about to run the program; does nothing where there is one process.

        Args:
          variables: those that it uses.
          arguments: what it is given, by the names of parameters.
          shardings: how its inputs lie on devices.
          timeout: seconds to wait for the other ranks; those of the job when None.

        Raises:
          InvalidArgumentError: the ranks differ in something; the message names it and them.
          DeadlineExceededError: a rank has not come in time.
        """
        job = current_job()
        if job is None:
            return
        facts = self._facts
        if shardings:
            layout = self._layouts.get(shardings)
            if layout is None:
                layout = self._layouts[shardings] = _digest(" ".join(map(_layout, shardings)))
            facts = {**facts, "the layout of the arguments and Variables": layout}
        if job.check_every and job.programs % job.check_every == 0:
            facts = {**facts, **dict(_values(variables, arguments))}
        job.programs += 1
        job.enter(f"step {job.programs} ({self._name!r})", facts, timeout=timeout)


_gates: WeakKeyDictionary[Executable, Gate] = WeakKeyDictionary()


def _before_executable(executable: Executable, arrays: Sequence[Any], variables: Sequence[Variable]) -> None:
    """The barrier before a program of the global view."""
    gate = _gates.get(executable)
    if gate is None:
        gate = _gates[executable] = Gate(executable.graph)
    held = (*arrays, *[variable.raw for variable in variables])
    shardings = tuple([array.sharding if isinstance(array, jax.Array) else None for array in held])
    names = [value.name for value in executable.graph.inputs]
    gate.enter(variables, dict(zip(names, arrays, strict=True)), shardings, executable.timeout)


register_meeting(_before_executable)


def _layout(sharding: Any) -> str:
    """A layout in words that all processes share; an array of this process alone has none."""
    if sharding is None or sharding.is_fully_addressable or not isinstance(sharding, NamedSharding):
        return "local"
    return f"{sharding.spec} {dict(sharding.mesh.shape)}"


def _values(variables: Sequence[Variable], arguments: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """What Variables that all ranks have hold, and what each rank was given of a batch that all have whole."""
    for name, value in arguments.items():
        for path, leaf in nest.flatten_with_paths(value, name):
            array: Any = None if isinstance(leaf, Variable) else getattr(leaf, "raw", leaf)
            if getattr(array, "is_fully_addressable", isinstance(array, np.ndarray)):
                text = f"{zlib.crc32(np.asarray(array).tobytes()):08x}"
                yield f"argument {path} (each rank gives the whole batch, or its rows through from_local)", text
    shared = [variable for variable in variables if variable.raw.is_fully_replicated]
    marks = jax.device_get([_mark(variable.raw.addressable_shards[0].data) for variable in shared])
    for variable, mark in zip(shared, marks, strict=True):
        yield f"the value of Variable {variable.name!r} (make it from the same seed)", f"{int(mark):08x}"


@jax.jit
def _mark(array: jax.Array) -> jax.Array:
    """A number of 32 bits that almost surely differs where values do, computed where they are."""
    if array.dtype == jnp.bool_:
        array = array.astype(jnp.uint8)
    if jnp.issubdtype(array.dtype, jnp.complexfloating):
        array = jnp.stack([array.real, array.imag])
    width = min(array.dtype.itemsize, 4)
    bits = jax.lax.bitcast_convert_type(array, {1: jnp.uint8, 2: jnp.uint16, 4: jnp.uint32}[width])
    words = bits.ravel().astype(jnp.uint32)
    return jnp.sum(words * (2 * jnp.arange(words.size, dtype=jnp.uint32) + 1), dtype=jnp.uint32)


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
