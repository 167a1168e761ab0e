"""Checks that all ranks agree before a program starts: on the program, and at intervals on its Variables and batch."""

from __future__ import annotations

import hashlib
import weakref
import zlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any
from weakref import WeakKeyDictionary

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

from graphc.compiler.base.errors import FailedPreconditionError, InvalidArgumentError
from graphc.compiler.core import Tensor, Variable, operand, register_meetings
from graphc.compiler.ir import print_graph
from graphc.compiler.lowering import Executable, compiler_options
from graphc.compiler.ops import REPLICA_AXIS
from graphc.training.distribute.layout import batch_mesh
from graphc.training.distribute.processes.job import Job, current_job
from graphc.training.distribute.processes.protocol import BATCH

_TEXT = 300
"""Maximum length of the argument types in a message."""


def meet(what: str) -> None:
    """Waits until all ranks are about to do the same internal operation."""
    job = current_job()
    if job is not None:
        job.enter(what)


_marks: dict[int, str] = {}
"""The notes of this rank on arrays that span all ranks, by array id."""


def compares_batch() -> bool:
    """Counts a batch that each rank passes whole; returns True if the ranks should compare this one."""
    job = current_job()
    if job is None or not job.check_every:
        return False
    job.batches += 1
    return (job.batches - 1) % job.check_every == 0


def mark_batch(array: jax.Array, whole: Any) -> None:
    """Makes the ranks compare ``whole``, the source of an array's rows, before each program that takes the array."""
    _marks[id(array)] = _checksum(whole)
    weakref.finalize(array, _marks.pop, id(array), None)


class _Gate:
    """The barrier before a program."""

    def __init__(self, executable: Executable) -> None:
        graph = executable.graph
        types = ", ".join(str(value.type) for value in graph.inputs)
        self._name = graph.name
        self._inputs = [value.name for value in graph.inputs]
        self._layouts: dict[tuple[Any, ...], str] = {}
        self._facts = {
            "the types of the arguments": types if len(types) <= _TEXT else f"{types[:_TEXT]}... {_digest(types)}",
            "the options": f"jax {jax.__version__}, {_settings()}, compiled with {compiler_options(graph)}",
            "the graph (print it, or its parts, on each rank)": _digest(print_graph(graph, locations=False)),
        }

    def enter(self, job: Job, timeout: float | None, arrays: Sequence[Any], variables: Sequence[Variable]) -> None:
        """Waits until all ranks are about to run the program, with the comparisons that are due."""
        inputs = (*arrays, *[variable.raw for variable in variables])
        shardings = tuple([array.sharding if isinstance(array, jax.Array) else None for array in inputs])
        layout = self._layouts.get(shardings)
        if layout is None:
            layout = self._layouts[shardings] = _digest(" ".join(map(_layout, shardings)))
        facts = {**self._facts, "the layout of the arguments and Variables": layout}
        for name, array in zip(self._inputs, arrays, strict=True):
            if (mark := _marks.get(id(array))) is not None:
                facts[_batch(name)] = mark
        if job.check_every and job.programs % job.check_every == 0:
            facts.update(_values(zip(self._inputs, arrays, strict=True), variables))
        job.programs += 1
        job.enter(f"step {job.programs} ({self._name!r})", facts, timeout=timeout)


_gates: WeakKeyDictionary[Executable, _Gate] = WeakKeyDictionary()


def _before_program(executable: Executable, arrays: Sequence[Any], variables: Sequence[Variable]) -> None:
    """Waits until all ranks are about to run a program that spans several."""
    job = current_job()
    if job is None:
        return
    gate = _gates.get(executable)
    if gate is None:
        gate = _gates[executable] = _Gate(executable)
    gate.enter(job, executable.timeout, arrays, variables)


register_meetings(_before_program, meet)


def _settings() -> str:
    """Returns JAX's settings that change the results of a program."""
    names = ("jax_enable_x64", "jax_default_matmul_precision", "jax_numpy_dtype_promotion")
    return ", ".join(f"{name} {getattr(jax.config, name)}" for name in names)


def _layout(sharding: Any) -> str:
    """Describes a layout in words that all processes share; an array of only this process has none."""
    if sharding is None or sharding.is_fully_addressable or not isinstance(sharding, NamedSharding):
        return "local"
    return f"{sharding.spec} {dict(sharding.mesh.shape)}"


def _values(arguments: Iterable[tuple[str, Any]], variables: Sequence[Variable]) -> Iterator[tuple[str, str]]:
    """Yields the checksums of replicated Variables, and of batches that each rank passes whole."""
    for name, array in arguments:
        if getattr(array, "is_fully_addressable", isinstance(array, np.ndarray)):
            yield _batch(name), _checksum(array)
    shared = [variable for variable in variables if variable.raw.is_fully_replicated]
    marks = jax.device_get([_mark(variable.raw.addressable_shards[0].data) for variable in shared])
    for variable, mark in zip(shared, marks, strict=True):
        yield f"the value of Variable {variable.name!r} (make it from the same seed)", f"{int(mark):08x}"


def _batch(name: str) -> str:
    return f"{BATCH}{name} (each rank gives the whole batch, or its rows through from_local)"


def _checksum(array: Any) -> str:
    return f"{zlib.crc32(np.asarray(array).tobytes()):08x}"


@jax.jit
def _mark(array: jax.Array) -> jax.Array:
    """Returns a 32-bit checksum that almost certainly differs if values do, computed on their devices."""
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


# Arrays over the devices of several processes, made from each process's part.


def check_joined() -> None:
    """Raises an error in one of several processes that do not know each other."""
    if current_job() is None and jax.distributed.is_initialized():
        raise FailedPreconditionError(
            "jax.distributed is initialized, but graphc's processes do not know of each other, so each would train by "
            "itself; call gx.distribute.initialize() in place of jax.distributed.initialize(), and start the program "
            "with graphc launch, or under SLURM, Open MPI or Kubernetes"
        ).here()


def from_local_rows(devices: Sequence[Any], axis: int, rows: Any) -> Tensor:
    """Makes one tensor from the rows of each process; see :meth:`DataParallel.from_local`."""
    raw: Any = operand(rows)
    host = np.asarray(getattr(raw, "raw", raw))
    if not 0 <= axis < host.ndim:
        raise InvalidArgumentError(f"from_local: there is no axis {axis} in an array of shape {host.shape}").here()
    processes = len({device.process_index for device in devices})
    mesh: Mesh = batch_mesh(devices, host.shape[axis] * processes)
    if mesh.shape[REPLICA_AXIS] % processes:  # a group of devices that have the same rows would lie on two processes
        raise InvalidArgumentError(
            f"from_local: {host.shape[axis]} rows of each of {processes} processes cannot be laid over "
            f"{len(devices)} devices; give a multiple of {len(devices) // processes} rows in each"
        ).here()
    sharding = NamedSharding(mesh, P(*[None] * axis, REPLICA_AXIS))
    host = host.astype(jax.dtypes.canonicalize_dtype(host.dtype), copy=False)
    return Tensor(jax.make_array_from_process_local_data(sharding, host))
