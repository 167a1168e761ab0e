"""PerReplica: a result that differs between replicas."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from operator import add
from typing import Any

import jax
import numpy as np
from jax.sharding import NamedSharding

from graphc.compiler.base import nest
from graphc.compiler.base.errors import InvalidArgumentError, InvalidTypeError
from graphc.compiler.core import FUNCTIONS, SymbolicTensor, Tensor, context, converted, operand, replica_scope, whole_on
from graphc.compiler.devices import all_devices, common_name, find_device
from graphc.compiler.function import MappedArguments, MappedFunction, SameFunction, axes_of_results
from graphc.compiler.ops import REPLICA_AXIS
from graphc.compiler.tracing import is_array, is_tracing
from graphc.training.distribute.collectives import Replica
from graphc.training.distribute.processes import check_joined, meet
from graphc.training.distribute.replicated import Places, emit_replicas
from graphc.training.metrics import Metric


def _refuse(per_replica: PerReplica, *others: Any) -> Any:
    """Refuses an operator of PerReplica: only the user can say which replica's value it means."""
    del per_replica, others
    raise _not_one_tensor().here()


def _not_one_tensor() -> InvalidTypeError:
    return InvalidTypeError(
        "a PerReplica holds one tensor for each replica and cannot be computed with; make one tensor of it with "
        "DataParallel.gather(x), DataParallel.reduce('mean', x) or x.stack(), or take one of x.values"
    )


@dataclass(frozen=True, eq=False, repr=False)
class PerReplica:
    """A result that differs between replicas; an iterable of one tensor for each.

    Attributes:
      stacked: the tensors as one, laid over the replicas along a leading axis.
      rows: the number of rows in the batch if copies of its last row pad it (``uneven="mask"``); else None.
    """

    __graphc_composite__ = True
    __array_ufunc__ = None  # NumPy leaves operators to this class
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _refuse
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __pow__ = __rpow__ = __matmul__ = __rmatmul__ = _refuse
    __lt__ = __le__ = __gt__ = __ge__ = __neg__ = __abs__ = __float__ = __int__ = __bool__ = _refuse

    stacked: Tensor
    rows: int | None = None

    @property
    def values(self) -> tuple[Tensor, ...]:
        """One tensor for each replica of this process; outside of compiled functions each on its device."""
        if isinstance(self.stacked, SymbolicTensor):
            return tuple(self.stacked[index] for index in range(self.stacked.shape[0]))
        array: jax.Array = self.stacked.raw
        tensors: dict[int, Tensor] = {}
        for shard in array.addressable_shards:
            start, stop, _ = shard.index[0].indices(len(self))
            for index in range(start, stop):
                if index not in tensors:
                    tensors[index] = Tensor(shard.data[index - start])
        return tuple(tensors[index] for index in sorted(tensors))

    def __iter__(self) -> Iterator[Tensor]:
        return iter(self.values)

    def __len__(self) -> int:
        return self.stacked.shape[0]

    def stack(self) -> Tensor:
        """Stacks the values into one tensor, on every device like a Variable, with a leading axis for the replicas.

        If several processes run the program, all must call this and :meth:`numpy`.
        """
        sharding: Any = None if isinstance(self.stacked, SymbolicTensor) else self.stacked.raw.sharding
        if not isinstance(sharding, NamedSharding):
            return self.stacked
        if not sharding.is_fully_addressable:
            meet("the gathering of a PerReplica")
        return Tensor(jax.device_put(self.stacked.raw, whole_on(sharding.mesh)))

    def joined(self) -> Tensor:
        """Joins the values along their first axis into one tensor; stacks numbers."""
        shape = self.stacked.shape
        if len(shape) < 2:
            return self.stacked
        joined = FUNCTIONS["reshape"](self.stacked, (shape[0] * shape[1], *shape[2:]))
        filled = self.rows is not None and shape[1] == -(-self.rows // shape[0])
        return joined[: self.rows] if filled else joined

    def numpy(self) -> np.ndarray[Any, Any]:
        """Returns the values as one NumPy array with a leading axis for the replicas; waits for them."""
        return self.stacked.numpy() if self._is_here else self.stack().numpy()

    @property
    def _is_here(self) -> bool:
        return isinstance(self.stacked, SymbolicTensor) or self.stacked.raw.is_fully_addressable

    def __repr__(self) -> str:
        if not self._is_here:
            return f"PerReplica(of {len(self)}, here {[value.tolist() for value in self.values]})"
        return f"PerReplica({self.stacked if isinstance(self.stacked, SymbolicTensor) else self.numpy()})"


def map_results(function: Callable[[Any], Any], value: Any) -> Any:
    """Maps a function over the leaves of a nested structure, where a PerReplica counts as a leaf."""
    parts = None if isinstance(value, PerReplica) else nest.children(value)
    if parts is None:
        return function(value)
    return nest.rebuilt(value, [map_results(function, part) for part in parts[1]])


@operand.register(PerReplica)
def _operand(value: PerReplica) -> Any:
    del value
    raise _not_one_tensor()


# Means over all rows of a data set, independent of its batches.


def evaluate(
    run: Callable[..., Any], f: Callable[..., Any], dataset: Iterable[Any], metrics: Mapping[str, Metric]
) -> Any:
    """Returns means and metrics over all rows; see :meth:`DataParallel.evaluate`."""
    for metric in metrics.values():
        metric.reset()
    totals: Any = None
    count = 0
    for batch in dataset:
        arguments = tuple(batch) if type(batch) in (tuple, list) else (batch,)
        rows = next((leaf.shape[0] for leaf in nest.flatten(arguments)[0] if is_array(leaf) and len(leaf.shape)), 0)
        sums = map_results(partial(_sum, rows), run(f, *arguments))
        totals = sums if totals is None else nest.map_structure(add, totals, sums)
        count += rows
    if not count:
        raise InvalidArgumentError("evaluate: the data set has no batches with rows").here()
    means: Any = map_results(partial(_mean, count), totals)
    results = {name: metric.result().numpy() for name, metric in metrics.items()}
    if not results:
        return means
    return {**(means if isinstance(means, dict) else {} if means is None else {"mean": means}), **results}


def _mean(count: int, total: Any) -> Any:
    return total / count


def _sum(rows: int, leaf: Any) -> Any:
    """Returns the sum of a function's results over the rows of a batch."""
    if isinstance(leaf, PerReplica):
        array = leaf.numpy()
        values = array.reshape(-1, *array.shape[2:])[: leaf.rows] if array.ndim > 1 else array[0]
    else:
        values = leaf.numpy() if isinstance(leaf, Tensor) else np.asarray(leaf)
    if values.dtype == object or not values.ndim or values.shape[0] != rows:
        raise InvalidTypeError(
            f"evaluate: the function must return a value for each of the {rows} rows, got {leaf!r:.80}; return the "
            "values before their mean, or update a metric"
        ).here()
    return values.sum(axis=0, dtype=np.float64)


# ``pmap``: runs one function on several devices.


def pmap(
    fn: Callable[..., Any], axis_name: str | None = None, *, in_axes: Any = 0, out_axes: Any = 0,
    devices: Sequence[Any] | None = None,
) -> Callable[..., Any]:  # fmt: skip
    """Maps a function over devices: each device runs it for one row of the arguments, in parallel (``jax.pmap``).

    The result is compiled, even in eager code. It can be called in compiled functions, differentiated, and mapped by
    :func:`vmap`. The replicas communicate through :func:`psum` and other collectives. Variables are on all devices; a
    replica may assign only values that are the same on all replicas, such as results of :func:`pmean`. Each replica
    draws its own random numbers, all from one step of the generator.

    Args:
      fn: a function of one row of each argument.
      axis_name: the name of the replica axis in collectives.
      in_axes: the row axis of each argument, see :func:`vmap`; None for an argument that all replicas share.
      out_axes: the row axis of each result, see :func:`vmap`; None for a result that is the same on all replicas.
      devices: names such as ``"gpu:0"`` or ``jax.Device`` objects, at least as many as there are rows; all of the
        default platform when None. The first ones are used.

    Returns:
      The function of all rows.

    Raises:
      InvalidTypeError: ``fn`` is not a function; otherwise see :func:`vmap`.
      InvalidArgumentError: a device is named twice; when called: there are more rows than devices, a result with
        ``out_axes`` None or a value assigned to a Variable differs between replicas; otherwise see :func:`vmap`.
      NotFoundError: a device does not exist.
      UnimplementedError: called in the function of another pmap or in a device scope, or its function pins ops.

    Example:
      >>> import graphc as gx
      >>> share = gx.pmap(lambda x: x / gx.psum(x, "i"), axis_name="i")
      >>> share(gx.asarray([5.0])).tolist()
      [1.0]
    """
    if not callable(fn):
        raise InvalidTypeError(f"pmap: expected a function, got {fn!r:.60}").here()
    names = found_devices("pmap", devices)
    axis = REPLICA_AXIS if axis_name is None else axis_name
    try:
        compiled = _kept(SameFunction(fn), axis, in_axes, out_axes, names)
    except TypeError:  # an argument is not hashable
        compiled = _made(fn, axis, in_axes, out_axes, names)

    @functools.wraps(fn)
    def mapped(*args: Any, **kwargs: Any) -> Any:
        return compiled(*args, **kwargs)

    return mapped


def found_devices(what: str, requested: Sequence[Any] | None) -> tuple[str, ...]:
    """Returns the names of devices; None means all of the default platform, including those of other processes."""
    check_joined()
    chosen = all_devices() if requested is None else [find_device(device) for device in requested]
    if not chosen or len(set(chosen)) < len(chosen):
        raise InvalidArgumentError(f"{what}: devices must be one or more different devices, got {requested!r}").here()
    return tuple(map(common_name, chosen))


@lru_cache(maxsize=64, typed=True)
def _kept(same: SameFunction, axis: str, in_axes: Any, out_axes: Any, names: tuple[str, ...]) -> MappedFunction:
    return _made(same.fn, axis, in_axes, out_axes, names)


def _made(fn: Callable[..., Any], axis: str, in_axes: Any, out_axes: Any, names: tuple[str, ...]) -> MappedFunction:
    label = str(getattr(fn, "__name__", type(fn).__name__))
    return MappedFunction(partial(_on_devices, fn, axis, in_axes, out_axes, names), on_retrace="ignore", name=label)


def _on_devices(
    fn: Callable[..., Any], axis: str, in_axes: Any, out_axes: Any, names: tuple[str, ...], /, *args: Any, **kwargs: Any
) -> Any:
    label = str(getattr(fn, "__name__", type(fn).__name__))
    arguments = MappedArguments.of("pmap", label, in_axes, args, kwargs)
    if arguments.size > len(names) or not arguments.size:
        raise InvalidArgumentError(
            f"pmap: {label!r} is mapped over {arguments.size} rows, and there are {len(names)} devices; give each "
            "device one row, of which gx.vmap maps another function over more"
        ).here()
    refuse_nested("pmap", label)
    if not is_tracing():  # for the Variables that it makes
        rows = {
            index: FUNCTIONS["take"](value, 0, axis=arguments.axes[index]) for index, value in arguments.values.items()
        }
        positional, named = arguments.rebuilt(rows)
        with replica_scope(Replica(axis, arguments.size, averages=False, rehearsed=True)):
            fn(*positional, **named)
        return None

    def row(*args: Any, **kwargs: Any) -> Any:
        parts, structure = nest.flatten((args, kwargs))
        for index, split in arguments.axes.items():
            parts[index] = FUNCTIONS["squeeze"](parts[index], axis=split)
        positional, named = nest.unflatten(structure, parts)
        return converted(fn)(*positional, **named)

    layout = Places(names[: arguments.size], arguments.size, axis)
    replica = Replica(axis, arguments.size, averages=False)
    results, differs, structure, result = emit_replicas(row, arguments, layout, replica, "pmap", label)
    one = [value[0] if different else value for value, different in zip(results, differs, strict=True)]
    wanted = axes_of_results("pmap", out_axes, result, one)
    return nest.unflatten(structure, list(map(_laid_out, results, differs, wanted, [arguments.size] * len(results))))


def refuse_nested(what: str, name: str) -> None:
    """Raises an error for replicas inside replicas."""
    if isinstance(context.replica, Replica):
        raise InvalidArgumentError(
            f"{what}: {name!r} is called on one replica of another function that runs on several devices; map over all "
            "devices at once, and use gx.vmap inside"
        ).here()


def _laid_out(value: Any, differs: bool, axis: int | None, size: int) -> Any:
    """Returns a result with the replicas along an axis, or the common one."""
    if axis is None:
        if differs:
            raise InvalidArgumentError(
                "pmap: a result with out_axes=None differs between replicas; reduce it, with gx.pmean or another "
                "collective, or give it an axis"
            ).here()
        return value
    if not differs:
        value = FUNCTIONS["broadcast_to"](value, (size, *value.shape))
    return value if axis == 0 else FUNCTIONS["moveaxis"](value, 0, axis)
