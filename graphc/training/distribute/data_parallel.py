"""DataParallel: one step on all devices, each on its part of the batch."""

from __future__ import annotations

import inspect
from collections import OrderedDict
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from types import MethodType
from typing import Any, Literal, get_args

from jax.sharding import NamedSharding

from graphc.compiler.base import nest
from graphc.compiler.base.errors import InvalidArgumentError
from graphc.compiler.core import FUNCTIONS, Tensor, context, converted, groups_of, operand, replica_scope, whole_on
from graphc.compiler.function import BoundFunction, Function, MappedArguments, MappedFunction
from graphc.compiler.ops import REPLICA_AXIS, replica_mesh
from graphc.compiler.tracing import is_array, is_tracing
from graphc.training.distribute.collectives import Replica
from graphc.training.distribute.processes import from_local_rows
from graphc.training.distribute.replica import PerReplica, evaluate, found_devices, map_results, refuse_nested
from graphc.training.distribute.replicated import Places, emit_replicas
from graphc.training.distribute.report import StepReport, report
from graphc.training.distribute.sharding import Sharding
from graphc.training.metrics import Metric

_FUNCTIONS_KEPT = 32

Uneven = Literal["repeat", "mask", "refuse"]


class DataParallel:
    """Synchronous data parallelism on the devices of this process, or of all processes that ``initialize`` joins.

    A step runs on all devices at once, in one program: its tensor arguments are split along their batch axis, Variables
    are on every device, and optimizers average the gradients over the devices before they update.

    If several processes run the program, each passes the whole batch, and its devices take their rows of it; or it
    passes its own rows, through :meth:`from_local`. All processes must call the same steps in the same order, which is
    checked.

    Args:
      devices: names such as ``"gpu:0"`` or ``jax.Device`` objects; those of ``sharding`` when None, or else all of the
        default platform, those of the other processes too.
      sharding: rules for how Variables lie in the global view; whole on every device when None.
      uneven: the treatment of a batch whose rows do not divide by the devices. ``"repeat"``: as many groups of devices
        as divide them each take their own rows, and the devices of a group the same; exact for any step.
        ``"mask"``: copies of the last row fill it up, with no weight in :func:`graphc.distribute.mean_gradients` and
        ``row_weights()``; a device has no more rows than it must, and a step that looks at neither is refused. A mean
        that a step takes itself over its rows counts the copies.
        ``"refuse"``: it is an error.

    Raises:
      FailedPreconditionError: ``jax.distributed`` is on, but ``gx.distribute.initialize`` was not called.
      NotFoundError: a device does not exist.
      InvalidArgumentError: there is no device, a device is named twice, or ``uneven`` is invalid.

    Example:
      >>> import graphc as gx
      >>> parallel = gx.distribute.DataParallel(devices=["cpu:0"])
      >>> with parallel.scope():
      ...     w = gx.Variable(2.0)
      >>> losses = parallel.run(lambda x: gx.mean(w * x), gx.asarray([1.0, 3.0]))
      >>> parallel.reduce("mean", losses).item()
      4.0
    """

    def __init__(
        self, devices: Sequence[Any] | None = None, *, sharding: Sharding | None = None, uneven: Uneven = "repeat"
    ) -> None:
        if devices is None and sharding is not None:
            devices = [*sharding.mesh.devices.flat]
        self.devices = found_devices("DataParallel", devices)
        if uneven not in get_args(Uneven):
            raise InvalidArgumentError(
                f"DataParallel: uneven must be 'repeat', 'mask' or 'refuse', got {uneven!r}"
            ).here()
        self.uneven = uneven
        self.mesh = replica_mesh(self.devices, len(self.devices), REPLICA_AXIS)
        if sharding is not None and {*self.mesh.devices.flat} != {*sharding.mesh.devices.flat}:
            message = f"DataParallel: the devices are not those of the mesh of {sharding!r:.80}; leave them out"
            raise InvalidArgumentError(message).here()
        self.sharding = Sharding(self.mesh) if sharding is None else sharding
        self._functions: OrderedDict[Callable[..., Any], ParallelFunction] = OrderedDict()

    @property
    def replicated(self) -> NamedSharding:
        """The sharding of a Variable that is on every device."""
        return whole_on(self.mesh)

    @property
    def num_replicas(self) -> int:
        """The number of devices that run the step."""
        return len(self.devices)

    def from_local(self, batch: Any, *, axis: int = 0) -> Any:
        """Makes one batch from the rows of each process, those of rank 0 first.

        Args:
          batch: a tensor, an array, or a nested structure of them; the same types on all processes.
          axis: the axis of the rows.

        Returns:
          Tensors on the devices of all processes; steps accept them as they are.

        Raises:
          InvalidArgumentError: an array has no such axis, or rows that two processes would share.
        """
        return nest.map_structure(partial(from_local_rows, [*self.mesh.devices.flat], axis), batch)

    @contextmanager
    def scope(self) -> Generator[DataParallel]:
        """Puts Variables made inside on every device, or lays them out by the rules of ``sharding``."""
        with self.sharding.scope():
            yield self

    def shard(self, batch: Any, *, axis: int = 0) -> Any:
        """Lays a batch out over the devices, for functions that see the whole batch; see :meth:`Sharding.shard`.

        Raises:
          InvalidArgumentError: the rows do not divide by the devices, and ``uneven`` is ``"refuse"``.

        Example:
          >>> import graphc as gx
          >>> parallel = gx.distribute.DataParallel(devices=["cpu:0"])
          >>> @gx.function
          ... def step(x):
          ...     return gx.mean(x)
          >>> step(parallel.shard(gx.asarray([1.0, 3.0]))).item()
          2.0
        """
        return self.sharding.shard(batch, axis=axis, even=self.uneven == "refuse")

    def function(self, step: Callable[..., Any] | None = None, *, axis: int = 0, accumulate: int = 1) -> Any:
        """Compiles a step to run on all devices.

        Args:
          step: the step of one replica on its part of the batch. Tensors among its arguments, in nested structures
            too, are split, and must have equally many rows; scalars and Python values go to every replica as they are.
          axis: the axis to split along.
          accumulate: the number of micro-batches in which :func:`graphc.distribute.mean_gradients` goes through the
            rows of a replica.

        Returns:
          A compiled function of whole batches; where ``step`` returns tensors it returns :class:`PerReplica`, or a
          plain tensor where all replicas have the same. A decorator when ``step`` is None.
        """
        if step is None:
            return partial(self.function, axis=axis, accumulate=accumulate)
        if isinstance(axis, bool) or not isinstance(axis, int) or axis < 0:  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidArgumentError(f"DataParallel.function: axis must be an int from 0, got {axis!r}").here()
        if isinstance(accumulate, bool) or not isinstance(accumulate, int) or accumulate < 1:  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidArgumentError(
                f"DataParallel.function: accumulate must be an int from 1, got {accumulate!r}"
            ).here()
        python: Callable[..., Any] = step.python_function if isinstance(step, Function | BoundFunction) else step
        label = str(getattr(python, "__name__", "step"))
        program = _like(python, partial(_in_parallel, self, python, axis, accumulate))
        return ParallelFunction(program, on_retrace="ignore", name=label)

    def run(self, step: Callable[..., Any], *batch: Any) -> Any:
        """Runs ``step`` on the parts of the batch (see :meth:`function`); it is compiled once for each ``step``."""
        if isinstance(step, MethodType):
            step, batch = step.__func__, (step.__self__, *batch)
        compiled = self._functions.pop(step, None) or self.function(step)
        self._functions[step] = compiled
        while len(self._functions) > _FUNCTIONS_KEPT:
            self._functions.popitem(last=False)
        return compiled(*batch)

    def reduce(self, how: Literal["mean", "sum"], value: Any) -> Any:
        """Makes one tensor of each :class:`PerReplica` in a nested structure.

        Args:
          how: ``"mean"`` or ``"sum"`` over the replicas. In a sum a tensor that all replicas have counts once for each
            device, also where a batch with ``uneven="repeat"`` has fewer replicas; ``gx.distribute.all_sum`` in the
            step counts replicas.
          value: the result of a step.

        Returns:
          Tensors, on every device as variables are.

        Raises:
          InvalidArgumentError: ``how`` is something else.
        """
        if how not in ("mean", "sum"):
            raise InvalidArgumentError(f"reduce: expected 'mean' or 'sum', got {how!r}").here()
        return map_results(partial(self._reduce_leaf, how), value)

    def _reduce_leaf(self, how: str, leaf: Any) -> Any:
        if isinstance(leaf, PerReplica):
            return FUNCTIONS[how](leaf.stack(), axis=0)
        return leaf * self.num_replicas if how == "sum" and isinstance(leaf, Tensor) else leaf

    def gather(self, value: Any) -> Any:
        """Joins the rows of each :class:`PerReplica` in a nested structure, in batch order.

        Args:
          value: the result of a step.

        Returns:
          Tensors with the rows of all replicas along axis 0; numbers become a tensor with one element for each replica.
          They stay on the devices that computed them.
        """
        return map_results(lambda leaf: leaf.joined() if isinstance(leaf, PerReplica) else leaf, value)

    def evaluate(
        self, f: Callable[..., Any], dataset: Iterable[Any], *, metrics: Mapping[str, Metric] | None = None
    ) -> Any:
        """Returns the mean of a function's results over all rows of a data set, and metrics.

        The batches may have any number of rows, and each row counts once. Sums use 64 bits.

        Args:
          f: a function of a batch; returns a value for each row, or a nested structure of tensors with the rows
            on axis 0, or None. It may update the metrics.
          dataset: batches; a tuple or list holds the arguments of ``f``.
          metrics: metrics of :mod:`graphc.metrics`; they are reset first.

        Returns:
          The means, as NumPy arrays and numbers in the structure of the result of ``f``; with metrics, a dict of their
          results, next to the means if ``f`` returns a dict, else with the means under ``"mean"``.

        Raises:
          InvalidTypeError: ``f`` does not return a value for each row.
          InvalidArgumentError: there are no batches.

        Example:
          >>> import graphc as gx
          >>> parallel = gx.distribute.DataParallel(devices=["cpu:0"])
          >>> batches = [gx.asarray([1.0, 2.0]), gx.asarray([6.0])]
          >>> parallel.evaluate(lambda x: {"square": x * x}, batches)["square"].item()
          13.666666666666666
        """
        return evaluate(self.run, f, dataset, dict(metrics or {}))

    def report(self, step: Callable[..., Any], *args: Any, steps: int = 5) -> StepReport:
        """Reports the costs of a step: communication, the memory of each device, and time.

        The step runs ``2 * steps + 1`` times, and trains as usual: once to compile it, then to time it, then under
        JAX's profiler, which separates compute from communication. With several processes, all must call this; each
        gets the figures of all. ``print`` shows the report.

        Args:
          step: a compiled function of batches that are laid out over the devices, or one that :meth:`function` gave.
          *args: its arguments.
          steps: the number of steps to time.

        Raises:
          InvalidArgumentError: ``step`` is not compiled, or is more than one program; ``steps`` is not an int of at
            least 1.

        Example:
          >>> import graphc as gx
          >>> parallel = gx.distribute.DataParallel(devices=["cpu:0"])
          >>> with parallel.scope():
          ...     w = gx.Variable([1.0, 2.0])
          >>> step = parallel.function(lambda x: gx.mean(w * x))
          >>> found = parallel.report(step, gx.ones((4, 2)))
          >>> found.devices[0].parameters, found.devices[0].arguments, found.exchanged
          (8, 32, 0)
        """
        with self.scope():
            return report(dict(zip(self.mesh.devices.flat, self.devices, strict=True)), step, args, steps)


class ParallelFunction(MappedFunction):
    """A step compiled for all devices of a :class:`DataParallel`; made by its ``function``.

    It is a compiled function: it can be called in others, differentiated, explained, lowered and compared with one
    device.
    """

    @property
    def compared(self) -> Function:
        """A version for :func:`graphc.compare`: joins rows and averages numbers, so that one device gives the same."""
        return MappedFunction(_like(self.python_function, partial(_as_one, self.python_function)), name=self.name)

    def __repr__(self) -> str:
        plural = "s" if self.num_traces != 1 else ""
        return f"<data-parallel function {self.name}, {self.num_traces} trace{plural}>"


def _as_one(program: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    def one(leaf: Any) -> Any:
        if not isinstance(leaf, PerReplica):
            return leaf
        return leaf.joined() if len(leaf.stacked.shape) > 1 else FUNCTIONS["mean"](leaf.stacked)

    return map_results(one, program(*args, **kwargs))


def _like(step: Callable[..., Any], function: Any) -> Any:
    """Gives a function the signature of the step."""
    function.__signature__ = inspect.signature(step)
    return function


def _in_parallel(
    parallel: DataParallel, step: Callable[..., Any], axis: int, accumulate: int, /, *args: Any, **kwargs: Any
) -> Any:
    """Returns the step on all replicas, as a function to trace and as one that runs eagerly."""
    label = str(getattr(step, "__name__", "step"))
    refuse_nested("DataParallel", label)
    mapped = _split(step, axis, args, kwargs)
    tracing = is_tracing()
    alone = not (tracing or context.creating)  # for a comparison, one device has all rows
    groups = 1 if alone else groups_of(parallel.num_replicas, mapped.size)
    rows = None
    if groups < parallel.num_replicas and not alone:
        if parallel.uneven == "refuse":
            _refuse_uneven(parallel, mapped)
        if parallel.uneven == "mask":
            rows, groups = mapped.size, parallel.num_replicas
    replica = Replica(REPLICA_AXIS, groups, averages=True, rehearsed=not tracing, parts=accumulate)
    with parallel.scope():
        if rows is not None:
            step, mapped = _filled_up(step, mapped, replica)
        if not tracing:
            return _first_part(step, mapped, replica)
        layout = Places(parallel.devices, groups, REPLICA_AXIS)
        results, differs, structure, _ = emit_replicas(
            step, mapped, layout, replica, "DataParallel", label, lifts=False
        )
    if accumulate > 1 and not replica.parts_requested:
        raise InvalidArgumentError(
            f"{label}: accumulate={accumulate} is for gx.distribute.mean_gradients(loss, variables, *batch), which "
            "this step does not call; graphc cannot split other computations on the rows"
        ).here()
    if rows is not None and not replica.weighed:
        raise InvalidArgumentError(
            f"{label}: uneven='mask' fills up the {rows} rows with copies that have no weight, and this step does not "
            "ask which: take gradients by gx.distribute.mean_gradients, or use gx.distribute.row_weights(), or "
            "DataParallel(uneven='repeat'), which is exact for any step"
        ).here()
    pairs = zip(results, differs, strict=True)
    return nest.unflatten(structure, [PerReplica(value, rows) if different else value for value, different in pairs])


def _filled_up(
    step: Callable[..., Any], mapped: MappedArguments, replica: Replica
) -> tuple[Callable[..., Any], MappedArguments]:
    """Returns the step on a batch padded with copies of its last row, and the batch, with the row weights first."""
    rows = mapped.size
    index = FUNCTIONS["arange"](-(-rows // replica.num_replicas) * replica.num_replicas)
    weights = FUNCTIONS["astype"](index < rows, "float32")
    taken = FUNCTIONS["minimum"](index, rows - 1)
    values = {key: FUNCTIONS["take"](value, taken, axis=mapped.axes[key]) for key, value in mapped.values.items()}
    positional, named = mapped.rebuilt(values)
    leaves, structure = nest.flatten(((weights, *positional), named))
    filled = MappedArguments(
        leaves,
        structure,
        ["row_weights", *mapped.paths],
        {0: weights, **{key + 1: value for key, value in values.items()}},
        {0: 0, **{key + 1: axis for key, axis in mapped.axes.items()}},
        len(weights),
    )

    def weighted(weights: Any, *args: Any, **kwargs: Any) -> Any:
        replica.weights = weights
        return converted(step)(*args, **kwargs)

    return weighted, filled


def _split(step: Callable[..., Any], axis: int, args: tuple[Any, ...], kwargs: dict[str, Any]) -> MappedArguments:
    """Returns the arguments of a call, with its tensors split along an axis, if all have ``size`` rows."""
    bound = inspect.signature(step).bind(*args, **kwargs)
    paths = [path for name, value in bound.arguments.items() for path, _ in nest.flatten_with_paths(value, name)]
    leaves, structure = nest.flatten((bound.args, bound.kwargs))
    values: dict[int, Any] = {}
    for index, leaf in enumerate(leaves):
        if is_array(leaf) and len(leaf.shape):
            values[index] = leaf if isinstance(leaf, Tensor) else FUNCTIONS["asarray"](operand(leaf))
            if axis >= len(leaf.shape):
                raise InvalidArgumentError(
                    f"argument {paths[index]}: there is no axis {axis} to split in the shape {tuple(leaf.shape)}"
                ).here()
    sizes = {value.shape[axis]: index for index, value in reversed(values.items())}
    if len(sizes) > 1:
        one, other = sorted(sizes.values())[:2]
        raise InvalidArgumentError(
            f"arguments {paths[one]} and {paths[other]}: the shapes {tuple(values[one].shape)} and "
            f"{tuple(values[other].shape)} differ along axis {axis}, which is split over the devices; let the step "
            "read what is no part of the batch from a closure or a gx.Variable, or use the global view, a gx.function "
            "that is given parallel.shard(batch) and anything else whole"
        ).here()
    size = next(iter(sizes), 0)
    return MappedArguments(leaves, structure, paths, values, dict.fromkeys(values, axis), size)


def _refuse_uneven(parallel: DataParallel, mapped: MappedArguments) -> None:
    for index, value in mapped.values.items():
        size, axis = value.shape[mapped.axes[index]], mapped.axes[index]
        if size % parallel.num_replicas:
            raise InvalidArgumentError(
                f"argument {mapped.paths[index]}: axis {axis} of shape {tuple(value.shape)} has size {size}, which "
                f"does not divide by the {parallel.num_replicas} devices; use a batch of a multiple of "
                f"{parallel.num_replicas}, or DataParallel(uneven='repeat')"
            ).here()


def _first_part(step: Callable[..., Any], mapped: MappedArguments, replica: Replica) -> Any:
    """Runs the step eagerly on the first replica's part, for the Variables that it makes, or on the only replica's."""
    parts: dict[int, Any] = {}
    for index, value in mapped.values.items():
        axis = mapped.axes[index]
        size = value.shape[axis] // replica.num_replicas
        parts[index] = value[(slice(None),) * axis + (slice(0, size),)]
    positional, named = mapped.rebuilt(parts)
    with replica_scope(replica):
        return step(*positional, **named)
