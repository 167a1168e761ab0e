"""DataParallel: one step on all devices, each on its part of the batch."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from types import MethodType
from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

from graphc.base import at, config, interruption, interrupts_held, nest, user_location
from graphc.base.errors import InvalidArgumentError, UnimplementedError, VariableCreationError
from graphc.core import (
    CreationInTrace,
    Tensor,
    Variable,
    all_devices,
    brought,
    context,
    creation_scope,
    device_name,
    find_device,
    placed,
    replica_scope,
    type_of,
    variable_lock,
)
from graphc.distribute.processes import (
    Gate,
    check_joined,
    from_local_rows,
    handed,
    whole,
)
from graphc.distribute.replica import PerReplica, Rehearsal, Replica
from graphc.distribute.replication import differing_outputs
from graphc.distribute.sharding import Sharding
from graphc.function import (
    Arguments,
    Binder,
    BoundFunction,
    Function,
    TracedFunction,
    TraceOptions,
    trace_function,
)
from graphc.ir import TensorType
from graphc.lowering import any_is_away, compiler_options, in_flight, lower, run_on_variables
from graphc.ops import REPLICA_AXIS, is_random_state
from graphc.runtime import observer

__all__ = ["DataParallel", "ParallelFunction"]

_FUNCTIONS_KEPT = 32


class DataParallel:
    """Synchronous data parallelism on the devices of this process, or of all that ``gx.distribute.initialize`` joins.

    A step runs on all devices at once, in one program: the tensors it is given are split along their batch axis,
    variables are on every device, and optimizers average the gradients over the devices before they update.

    Where several processes run the program, each gives the whole batch, and its devices take their rows of it; or its
    own rows, through :meth:`from_local`. All must call the same steps in the same order, which is looked at.

    Args:
      devices: names such as ``"gpu:0"`` or ``jax.Device`` objects; those of ``sharding`` when None, or else all of the
        default platform, those of the other processes too.
      sharding: rules for how Variables lie in the global view; whole on every device when None.

    Raises:
      FailedPreconditionError: ``jax.distributed`` is on, but ``gx.distribute.initialize`` was not called.
      NotFoundError: there is no such device.
      InvalidArgumentError: no device, or one named twice.

    Example:
      >>> import graphc as gx
      >>> parallel = gx.distribute.DataParallel(devices=["cpu:0"])
      >>> with parallel.scope():
      ...     w = gx.Variable(2.0)
      >>> losses = parallel.run(lambda x: gx.mean(w * x), gx.asarray([1.0, 3.0]))
      >>> parallel.reduce("mean", losses).item()
      4.0
    """

    def __init__(self, devices: Sequence[Any] | None = None, *, sharding: Sharding | None = None) -> None:
        check_joined()
        if devices is None and sharding is not None:
            devices = [*sharding.mesh.devices.flat]
        found = all_devices() if devices is None else [find_device(device) for device in devices]
        if not found or len(set(found)) < len(found):
            error = InvalidArgumentError(
                f"DataParallel: devices must be one or more different devices, got {devices!r}"
            )
            raise at(error, user_location())
        self.devices = tuple(device_name(device) for device in found)
        self.mesh = Mesh(np.array(found), (REPLICA_AXIS,))
        self.sharding = Sharding(self.mesh) if sharding is None else sharding
        self.replicated = NamedSharding(self.mesh, P())
        simulated = found[0].platform == "cpu" and len(found) > 1
        self._bounded = simulated
        self._functions: OrderedDict[Callable[..., Any], ParallelFunction] = OrderedDict()

    @property
    def num_replicas(self) -> int:
        """How many devices run the step."""
        return len(self.devices)

    def from_local(self, batch: Any, *, axis: int = 0) -> Any:
        """Makes one batch of the rows that each process has: those of rank 0 come first.

        Args:
          batch: a tensor, an array, or a nested structure of them; the same types on all processes.
          axis: the axis of the rows.

        Returns:
          Tensors that lie on the devices of all processes; steps take them as they are.

        Raises:
          InvalidArgumentError: an array has no such axis.
        """
        return nest.map_structure(partial(from_local_rows, [*self.mesh.devices.flat], axis), batch)

    @contextmanager
    def scope(self) -> Generator[DataParallel]:
        """Variables made inside are on every device, or lie as the rules of ``sharding`` say."""
        with self.sharding.scope():
            yield self

    def shard(self, batch: Any, *, axis: int = 0) -> Any:
        """Lays a batch out over the devices, for compiled functions that see it whole; see :meth:`Sharding.shard`.

        Example:
          >>> import graphc as gx
          >>> parallel = gx.distribute.DataParallel(devices=["cpu:0"])
          >>> @gx.function
          ... def step(x):
          ...     return gx.mean(x)
          >>> step(parallel.shard(gx.asarray([1.0, 3.0]))).item()
          2.0
        """
        return self.sharding.shard(batch, axis=axis)

    def function(self, step: Callable[..., Any] | None = None, *, axis: int = 0) -> Any:
        """Compiles a step to run on all devices.

        Args:
          step: what one replica does with its part of the batch. Tensors among its arguments, in nested structures
            too, are split; scalars and Python values go to every replica as they are.
          axis: the axis to split along.

        Returns:
          A function that takes whole batches; where ``step`` returns tensors it returns :class:`PerReplica`, or a plain
          tensor where all replicas have the same. A decorator when ``step`` is None.
        """
        if step is None:
            return partial(ParallelFunction, self, axis=axis)
        return ParallelFunction(self, step, axis=axis)

    def run(self, step: Callable[..., Any], *batch: Any) -> Any:
        """Runs ``step`` on the parts of the batch (see :meth:`function`); it is compiled once for each ``step``."""
        if isinstance(step, MethodType):
            step, batch = step.__func__, (step.__self__, *batch)
        found = self._functions.pop(step, None) or ParallelFunction(self, step, axis=0)
        self._functions[step] = found
        while len(self._functions) > _FUNCTIONS_KEPT:
            self._functions.popitem(last=False)
        return found(*batch)

    def reduce(self, how: Literal["mean", "sum"], value: Any) -> Any:
        """Makes one tensor of each :class:`PerReplica` in a nested structure.

        Args:
          how: ``"mean"`` or ``"sum"`` over the replicas.
          value: what a step returned.

        Returns:
          Tensors, on every device as variables are.

        Raises:
          InvalidArgumentError: ``how`` is something else.
        """
        if how not in ("mean", "sum"):
            raise at(InvalidArgumentError(f"reduce: expected 'mean' or 'sum', got {how!r}"), user_location())
        return nest.map_structure(partial(self._reduce_leaf, how), value)

    def _reduce_leaf(self, how: str, leaf: Any) -> Any:
        if isinstance(leaf, PerReplica):
            stacked = leaf.stack()
            return stacked.mean(axis=0) if how == "mean" else stacked.sum(axis=0)
        return leaf * self.num_replicas if how == "sum" and isinstance(leaf, Tensor) else leaf

    def launch(self, program: Callable[[], Sequence[Any]]) -> Sequence[Any]:
        """Starts a program once there is room.

        XLA's collectives on simulated CPU devices deadlock, and then abort the process, when many programs are in
        flight (seen with 200 over 8 devices on 2 cores), so there one is at a time unless ``config.max_in_flight``
        says otherwise.
        """
        limit = config.max_in_flight or (1 if self._bounded else None)
        return program() if limit is None else in_flight.launch("a data-parallel step", program, limit)


class ParallelFunction:
    """A step compiled for all devices of a :class:`DataParallel`; made by its ``function``."""

    __graphc_opaque__ = True  # as an argument or attribute it stands for itself

    def __init__(self, parallel: DataParallel, step: Callable[..., Any], *, axis: int) -> None:
        self.parallel = parallel
        self.step = step
        if isinstance(axis, bool) or not isinstance(axis, int) or axis < 0:  # pyright: ignore[reportUnnecessaryIsInstance]
            error = InvalidArgumentError(f"DataParallel.function: axis must be an int from 0, got {axis!r}")
            raise at(error, user_location())
        self.axis = axis
        python_function = step.python_function if isinstance(step, Function | BoundFunction) else step
        self._binder = Binder(python_function, None)
        self._options = TraceOptions(getattr(python_function, "__name__", "step"))
        self._python_function = python_function
        self._programs: list[_Program] = []  # those that were used last come first
        self._lock = threading.RLock()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Runs the step on all devices."""
        self._check_place()
        arguments = self._binder.bind(args, kwargs)
        program = self._find(arguments)
        if program is None:
            with self._lock:
                arguments = self._binder.bind(args, kwargs)  # again: another thread may have made Variables since
                program = self._find(arguments)
                if program is None:
                    self._check_batch(arguments)
                    program = self._made(args, kwargs, arguments)
        return program(arguments)

    def _find(self, arguments: Arguments) -> _Program | None:
        program = next((program for program in self._programs if program.traced.fits(arguments)), None)
        if program is not None and program is not self._programs[0]:
            with self._lock:
                self._programs.remove(program)
                self._programs.insert(0, program)
        return program

    def _made(self, args: tuple[Any, ...], kwargs: dict[str, Any], arguments: Arguments) -> _Program:
        try:
            program = self._compile(arguments, may_create=True)
        except CreationInTrace:
            self._create_variables(arguments)
            arguments.values = self._binder.bind(args, kwargs).values
            program = self._compile(arguments, may_create=False)
        self._programs.insert(0, program)
        del self._programs[config.max_traces :]
        return program

    def _check_place(self) -> None:
        """A step runs on its own devices, as a program of its own, which no tape sees into."""
        place = next(
            (
                name
                for name, value in (
                    ("a compiled function", context.trace),
                    ("an open GradientTape", context.tapes),
                    ("a device scope", context.device),
                )
                if value
            ),
            None,
        )
        if place is not None:
            error = UnimplementedError(
                f"the data-parallel step {self._options.name!r} is called inside {place}; call it outside, and open "
                "tapes in the step itself"
            )
            raise at(error, user_location())

    def graph(self, *args: Any, **kwargs: Any) -> Any:
        """The graph of one replica for these arguments."""
        arguments = self._binder.bind(args, kwargs)
        self._check_batch(arguments)
        try:
            return self._compile(arguments, may_create=True).traced.graph
        except CreationInTrace:
            error = VariableCreationError("the step makes Variables in its first call; call it once before its graph")
            raise at(error, user_location()) from None

    def _is_split(self, array: Any) -> bool:
        return len(array.shape) > 0

    def _check_batch(self, arguments: Arguments) -> None:
        count = self.parallel.num_replicas
        for path, leaf in (
            pair for name, value in arguments.values.items() for pair in nest.flatten_with_paths(value, name)
        ):
            shape = getattr(leaf, "shape", ())
            if not shape or isinstance(leaf, Variable):
                continue
            if self.axis >= len(shape) or shape[self.axis] % count:
                size = shape[self.axis] if self.axis < len(shape) else "missing"
                error = InvalidArgumentError(
                    f"argument {path}: axis {self.axis} of shape {tuple(shape)} has size {size}, which does not divide "
                    f"by the {count} devices; use a batch of a multiple of {count}"
                )
                raise at(error, user_location())

    def _create_variables(self, arguments: Arguments) -> None:
        """Runs the step eagerly on the first replica's part, only for the Variables that it makes."""
        parts = [
            Tensor(
                jax.lax.slice_in_dim(jnp.asarray(array), 0, self._part(type_of(array)).shape[self.axis], axis=self.axis)
            )
            if self._is_split(array)
            else Tensor(jnp.asarray(array))
            for array in arguments.arrays
        ]
        args, kwargs = self._binder.rebuild(arguments, parts)
        with creation_scope(keep=False), self.parallel.scope(), replica_scope(Rehearsal(self.parallel.num_replicas)):
            self._python_function(*args, **kwargs)

    def _compile(self, arguments: Arguments, *, may_create: bool) -> _Program:
        splits = [self._is_split(array) for array in arguments.arrays]
        types = [self._part(type_of(array)) if split else type_of(array)
                 for array, split in zip(arguments.arrays, splits, strict=True)]  # fmt: skip
        with replica_scope(Replica(self.parallel.num_replicas)):
            traced = trace_function(
                self._python_function, self._binder, arguments, self._options, may_create=may_create, types=types
            )
        others = traced.after_call[traced.can_fail :]
        if others:
            what = "; ".join(after.what for after, _ in others)
            error = UnimplementedError(
                f"the data-parallel step {self._options.name!r} does more than compute ({what}), which replicas cannot "
                "do: do it outside the step"
            )
            raise at(error, user_location())
        if traced.devices:
            error = UnimplementedError(
                f"the data-parallel step {self._options.name!r} pins ops to {', '.join(traced.devices)}, but it runs "
                f"on {', '.join(self.parallel.devices)}; take the pin out of the step"
            )
            raise at(error, user_location())
        return _Program(self.parallel, traced, splits, self.axis)

    def _part(self, type: TensorType) -> TensorType:
        shape = list(type.shape)
        shape[self.axis] //= self.parallel.num_replicas
        return TensorType(tuple(shape), type.dtype, type.weak)


class _Program:
    """One compiled program over all devices."""

    def __init__(self, parallel: DataParallel, traced: TracedFunction, splits: Sequence[bool], axis: int) -> None:
        self.parallel = parallel
        self.traced = traced
        self.gate = Gate(traced.graph)
        self._placements = [
            NamedSharding(parallel.mesh, self._spec(split, axis))
            for split in (*splits, *[False] * len(traced.captured_places))
        ]
        differs = differing_outputs(traced.graph, [*splits, *[False] * len(traced.captured_places)])
        if traced.can_fail:  # each replica says whether it has failed
            place = traced.after_call[0][1]
            differs = (*differs[: place.start], *[True] * (place.stop - place.start), *differs[place.stop :])
        self._differs = differs
        lowered = lower(traced.graph)
        count = len(lowered.variables)
        num_outputs = len(traced.graph.outputs)

        def replica(*arrays: Any) -> tuple[Any, ...]:
            results = lowered.function(*arrays)
            outputs = [
                output[None] if differs[position] else output for position, output in enumerate(results[:num_outputs])
            ]
            return (*outputs, *results[num_outputs:])

        replica.__name__ = replica.__qualname__ = traced.graph.name
        outputs = [P(REPLICA_AXIS) if different else P() for different in differs]
        sharded = jax.shard_map(
            replica,
            mesh=parallel.mesh,
            in_specs=(*[P()] * count, *(placement.spec for placement in self._placements)),
            out_specs=(*outputs, *[P()] * len(lowered.written)),
            check_vma=False,
        )
        self._num_written = len(lowered.written)
        self.jitted: Callable[..., Any] = jax.jit(
            sharded,
            donate_argnums=tuple(range(0 if traced.can_fail else self._num_written)),
            compiler_options=compiler_options(traced.graph) or None,
        )

    @staticmethod
    def _spec(split: bool, axis: int) -> P:
        return P(*[None] * axis, REPLICA_AXIS) if split else P()

    def __call__(self, arguments: Arguments) -> Any:
        variables = self.traced.bound_variables(arguments)
        arrays = [
            handed(array, placement)
            for array, placement in zip(
                (*arguments.arrays, *self.traced.captures(arguments)), self._placements, strict=True
            )
        ]

        def run(*inputs: Any) -> Sequence[Any]:
            context.launched()
            timeline, start = observer(), time.perf_counter()
            found = self.parallel.launch(lambda: self._launch(inputs))
            if timeline is not None:
                line = "" if (location := user_location()) is None else location.short
                places = ", ".join(self.parallel.devices)
                timeline.launched(self.traced.graph.name, "program", places, start, found, line=line)
            return found

        self.gate.enter(variables, arguments.values)
        # The states of random numbers go back: draws are made where the state is, and so is what is made of them.
        states = [variable for variable in variables if is_random_state(variable)]
        with brought(states, self.parallel.replicated):
            results = self._run(run, variables, arrays)
        count = self.traced.num_results
        return self.traced.packer(arguments)(
            PerReplica(value, self.parallel.replicated) if different else Tensor(value)
            for value, different in zip(results[:count], self._differs[:count], strict=True)
        )

    def _run(self, run: Callable[..., Sequence[Any]], variables: Sequence[Variable], arrays: Sequence[Any]) -> Any:
        """Runs the program on the variables, which are on every device from here on; gives its outputs."""
        results: Sequence[Any] = ()
        with variable_lock:
            for variable in variables:
                variable.raw = placed(variable.raw, self.parallel.replicated)
            bounded = interruption() is not None
            if not (self.traced.can_fail or bounded):
                with interrupts_held(lambda: any_is_away(variables[: self._num_written])):
                    results = run_on_variables(run, variables, self._num_written, arrays)
        if self.traced.can_fail:
            return self.traced.executable.run(lambda values: run(*values, *arrays), variables, self._check)
        if bounded:  # the old values must still be there if the step is given up: copies are donated
            return self.traced.executable.run(lambda values: run(*self._copies(values), *arrays), variables)
        return results

    def _launch(self, inputs: Sequence[Any]) -> Sequence[Any]:
        with interrupts_held() if self.traced.host_calls else nullcontext():
            return self.jitted(*inputs)

    def _copies(self, values: Sequence[Any]) -> list[Any]:
        """The values of the variables, with copies of those that are donated."""
        copies = [jnp.array(value, copy=True) for value in values[: self._num_written]]
        return [*copies, *values[self._num_written :]]

    def _check(self, outputs: Sequence[Any]) -> None:
        """Raises the failure that comes first in the program, of those of all replicas.

        What one computed reaches the others through collectives, so that they may fail as well, further on.
        """
        failures, place = self.traced.after_call[0]
        statuses = whole(outputs[place.start]).tolist()
        failed = [replica for replica, status in enumerate(statuses) if status]
        if failed:
            # Exceptions of Python's have negative numbers, in the order in which they were raised.
            first = min(failed, key=lambda replica: (statuses[replica] > 0, abs(statuses[replica])))
            failures.run([whole(output)[first, ...] for output in outputs[place]], None)
