"""Tensor: an array, eager or symbolic, with NumPy's interface."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from html import escape
from typing import TYPE_CHECKING, Any

import jax
import numpy as np
from jax.sharding import Sharding

from graphc.compiler.base import config, has_mark, nest, slow_path_reasons
from graphc.compiler.base.errors import UnimplementedError
from graphc.compiler.core.array_export import FUNCTIONS, ShownArray, check_leaves, shown, when_jax_converts
from graphc.compiler.core.array_methods import ArrayMethods
from graphc.compiler.core.context import busy, context, open_tapes
from graphc.compiler.core.convert import SCALARS, operand
from graphc.compiler.core.dtypes import as_dtype, canonical_array
from graphc.compiler.core.multi_device import host_values, is_elsewhere
from graphc.compiler.core.op_errors import shorten
from graphc.compiler.core.waiting import describe, refuse_to_wait, wait_for, wait_for_async
from graphc.compiler.devices import device_name
from graphc.compiler.ir import Value

if TYPE_CHECKING:
    from graphc.compiler.core.convert import ArrayLike

# The printed form of tensors and Variables, in NumPy's or TensorFlow's style.

_SHORT = 64
"""Maximum number of elements printed in full; larger arrays are shown without their middle."""


def _is_tensorflows() -> bool:
    return config.tensor_text == "tensorflow"


def shown_text(array: np.ndarray[Any, Any], dtype: str) -> str:
    """Returns the ``str`` of a tensor: its values; in TensorFlow's style, with shape and dtype."""
    if not _is_tensorflows():
        return str(array)
    values = str(array) if array.shape else _value(array)
    start = "\n" if "\n" in values else ""
    return f"tf.Tensor({start}{values}, shape={array.shape}, dtype={dtype})"


def representation(kind: str, array: np.ndarray[Any, Any], dtype: str) -> str:
    """Returns the ``repr`` of a tensor."""
    if _is_tensorflows():
        return f"<tf.Tensor: shape={array.shape}, dtype={dtype}, numpy={_value(array)}>"
    values = np.array2string(array, separator=", ", threshold=_SHORT, prefix=f"{kind}(")
    return f"{kind}({values}, shape={array.shape}, dtype={dtype})"


def variable_representation(name: str, array: np.ndarray[Any, Any], dtype: str) -> str:
    """Returns a Variable's ``repr`` in TensorFlow's style, with an output number after the name."""
    return f"<tf.Variable '{name}:0' shape={array.shape} dtype={dtype}, numpy={_value(array)}>"


def _value(array: np.ndarray[Any, Any]) -> str:
    if array.shape:
        return repr(array)
    return repr(array.item()) if array.dtype.kind in "OT" else str(array)


_new = object.__new__  # calling the class takes 70 ns more, which shows under an open tape


class Tensor(ArrayMethods):
    """An array of one dtype on a device.

    An eager tensor wraps a ``jax.Array`` that JAX may still be computing; a symbolic one (see
    :class:`SymbolicTensor`) is an output of a graph that is being traced.

    Args:
      value: an array; users call :func:`graphc.asarray` instead, which converts and checks.

    Example:
      >>> import graphc as gx
      >>> x = gx.asarray([1.0, 2.0])
      >>> (x * 2).numpy()
      array([2., 4.], dtype=float32)
    """

    __slots__ = ("known_as", "raw")

    known_as: Tensor
    """The last snapshot, if there is one: the tensor's values at that time."""

    def __init__(self, value: Any) -> None:
        self.raw = value

    def snapshot(self) -> Tensor:
        """Returns an immutable tensor with the current values, by which tapes identify this one.

        It is the same object until items are assigned.
        """
        cached = getattr(self, "known_as", None)
        if cached is None or cached.raw is not self.raw:
            cached = self.known_as = _new(_Snapshot)
            cached.raw = self.raw
        return cached

    def fork(self) -> Tensor:
        """Returns a tensor with the same values: the same one for tapes, a separate one for item assignment."""
        copy = Tensor(self.raw)
        copy.known_as = self.snapshot()
        return copy

    def become(self, other: Tensor) -> None:
        """Takes the values of another tensor of the same type; from here on tapes identify the two."""
        if context.creating is not None:
            context.creating.note(self)
        self.raw, self.known_as = other.raw, other.snapshot()

    def _each_row(self, count: int) -> Iterator[Tensor]:
        """Yields the rows, which JAX splits off a hundred at a time; one by one if ops are observed."""
        array = self.raw
        rows: Iterator[Any] = iter(()) if isinstance(array, Value) else iter(array)
        for index in range(count):
            if self.raw is array and (not busy or context.eager) and not isinstance(array, Value):
                row = _new(Tensor)
                row.raw = next(rows)
                yield row
            else:  # for example after an item assignment: the next row has the new values
                array = None
                yield self[index]

    def __setitem__(self, index: Any, value: ArrayLike) -> None:
        """Assigns items: ``x[index] = value`` changes this tensor in place, as in NumPy.

        Every name and container that holds the tensor sees the change, including the caller's of a compiled function.
        Values computed from it before do not: a slice is a copy, not a view, and so are ``x.T`` and ``x.reshape(...)``;
        assigning to their items leaves ``x`` unchanged. ``x[i] += 1`` assigns items; ``x += 1`` binds the name ``x`` to
        a new tensor and changes nothing else.

        Args:
          index: as for reading (:func:`graphc.get_item`). An int must be in range; out-of-range positions in an index
            tensor are ignored. In a compiled function, a mask may be a tensor without a value if ``value`` does not
            need one element for each selected item.
          value: broadcast to the shape of ``x[index]`` and converted to the tensor's dtype, which must be able to hold
            it: a float is not stored in a tensor of ints, where NumPy would truncate it. If the index selects an item
            twice, either value is stored.

        Raises:
          OutOfRangeError: an int is out of range, or there are too many indices.
          InvalidTypeError: the value does not fit the dtype, or the index is invalid.
          InvalidArgumentError: the value does not fit the shape.
          UnimplementedError: in a compiled function, the tensor is neither an argument nor made there.

        Example:
          >>> import graphc as gx
          >>> x = gx.zeros(4)
          >>> x[1:3] = [1.0, 2.0]
          >>> x[-1] += 5.0
          >>> x.numpy()
          array([0., 1., 2., 5.], dtype=float32)
        """
        if context.trace is not None:
            raise context.trace.refuse(_captured(self))
        try:
            self.become(FUNCTIONS["update_item"](self, index, value))
        except Exception as error:
            shorten(error)
            raise

    def copy(self) -> Tensor:
        """Returns a separate tensor with the same values: assigning items of one does not change the other.

        Example:
          >>> import graphc as gx
          >>> x = gx.zeros(2)
          >>> y = x.copy()
          >>> y[0] = 1.0
          >>> x.tolist(), y.tolist()
          ([0.0, 0.0], [1.0, 0.0])
        """
        return FUNCTIONS["copy"](self)

    __copy__ = copy

    def __deepcopy__(self, memo: dict[int, Any]) -> Tensor:
        return self.copy()

    def __reduce__(self) -> Any:
        return Tensor, (self.raw,)

    def numpy(self) -> np.ndarray[Any, Any]:
        """Returns the values as a NumPy array, after waiting until they are computed."""
        if not busy and not slow_path_reasons:  # no trace and no tape, in any thread
            return host_values(self.raw)
        self._looked_at()
        if slow_path_reasons:
            wait_for((self.raw,), self._description)
        array = host_values(self.raw)
        return shown(array, self) if context.tapes or open_tapes else array

    def _looked_at(self) -> None:
        """Tells the open trace, if any, that Python observes the values, so that results from them are constants."""
        if context.trace is not None:
            context.trace.look_at(self)

    @property
    def device(self) -> str:
        """The device of the values, such as ``/device:GPU:0``; several devices are joined by commas."""
        return ", ".join(sorted(device_name(device) for device in self.raw.devices()))

    @property
    def sharding(self) -> Sharding:
        """The layout of the values on their devices: a ``jax.sharding.Sharding``.

        Raises:
          ConcretizationError: in a compiled function, since XLA chooses the layout later.

        Example:
          >>> import graphc as gx
          >>> gx.ones(3).sharding.num_devices
          1
        """
        return self.raw.sharding

    def wait(self) -> Tensor:
        """Waits until the values are computed and returns the tensor; raises errors from the background.

        Raises:
          UnimplementedError: in a compiled function.
        """
        refuse_to_wait("wait()")
        if slow_path_reasons:
            wait_for((self.raw,), self._description)
        self.raw.block_until_ready()
        return self

    def _description(self) -> str:
        return describe(self.raw)

    def __await__(self) -> Generator[Any, None, Tensor]:
        """Waits like :meth:`wait`, but lets other asyncio tasks run meanwhile."""
        yield from wait_for_async((self.raw,), self._description).__await__()
        return self

    async def wait_async(self) -> Tensor:
        """Waits as ``await x`` does; a coroutine, for ``asyncio.gather`` and the like, which do not accept tensors.

        They store their awaitables in a dict; a tensor has no hash, since == compares elements.

        Example:
          >>> import asyncio
          >>> import graphc as gx
          >>> async def main(x):
          ...     return await asyncio.gather((x + 1).wait_async(), (x * 2).wait_async())
          >>> [y.item() for y in asyncio.run(main(gx.asarray(3.0)))]
          [4.0, 6.0]
        """
        return await self

    def _leave(self, use: str) -> None:
        if not busy:  # no trace and no tape, in any thread
            return
        if context.tapes or open_tapes:
            check_leaves(self, use)
        self._looked_at()

    @when_jax_converts
    def __jax_array__(self) -> jax.Array:
        self._leave(_TO_JAX)
        return self.raw

    def __dlpack__(
        self, *, stream: Any = None, max_version: Any = None, dl_device: Any = None, copy: bool | None = None
    ) -> Any:
        self._leave(_TO_DLPACK)
        if max_version is not None and max_version < (1, 0):
            max_version = None  # a capsule without a version, JAX's default
        return self.raw.__dlpack__(stream=stream, max_version=max_version, dl_device=dl_device, copy=copy)

    def __dlpack_device__(self) -> Any:
        return self.raw.__dlpack_device__()

    def __repr__(self) -> str:
        if is_elsewhere(self.raw):
            return f"<Tensor {self.type}, split over processes; call numpy() on all of them to gather it>"
        return representation("Tensor", self.numpy(), self.dtype.name)

    def _repr_html_(self) -> str | None:
        if is_elsewhere(self.raw):
            return None

        return tensor_html(self)

    def __str__(self) -> str:
        if is_elsewhere(self.raw):
            return repr(self)
        return shown_text(self.numpy(), self.dtype.name)

    def __format__(self, spec: str) -> str:
        return format(self.item(), spec) if spec and not self.shape else str(self.numpy())


class _Snapshot(Tensor):
    """The values of a tensor at one time."""

    __slots__ = ()

    def snapshot(self) -> Tensor:
        return self


def _captured(tensor: Tensor) -> UnimplementedError:
    return UnimplementedError(
        f"the assignment to items of a tensor ({tensor.type}) from outside the compiled function, neither an argument "
        "nor made there: the tensor would change when the function is traced, not when it is "
        "called. Pass it as an argument, keep it in a gx.Variable, or assign to the items of x.copy()"
    )


_TO_JAX, _TO_DLPACK = "conversion to a jax.Array", "DLPack export"


@operand.register(Tensor)
def _from_tensor(value: Tensor) -> Tensor:
    return value


@operand.register(list)
@operand.register(tuple)
def _from_sequence(value: Any) -> Any:
    items: list[Any] = list(value)
    if _holds_tensor(items):
        stacked = FUNCTIONS["stack"]([operand(item) for item in items])
        if not stacked.type.weak or not all(type(item) in SCALARS or _is_number(item) for item in items):
            return stacked
        # Numbers that depend on tensors alone: a list of Python's has a dtype that does not yield in promotion.
        return FUNCTIONS["astype"](stacked, as_dtype({"i": int, "f": float, "c": complex}[stacked.dtype.kind]))
    return canonical_array(items)


def _is_number(value: Any) -> bool:
    return has_mark(value, "__graphc_number__") or has_mark(value, "__graphc_index__")


def _holds_tensor(items: list[Any]) -> bool:
    return any(
        isinstance(item, ArrayMethods | jax.Array | ShownArray)
        or (isinstance(item, list | tuple) and _holds_tensor(list(nest.as_tuple(item))))
        for item in items
    )


# Notebook output of tensors: a table if they have rows, with type and device below.

_MOST = 10
"""Maximum number of rows and columns shown; of more, only the first and last appear."""


def tensor_html(tensor: Tensor) -> str:
    """Returns a tensor as an HTML fragment, after waiting for its values."""
    array = tensor.numpy()
    caption = f"<div><small><code>{escape(str(tensor.type))}</code> on {escape(tensor.device)}</small></div>"
    if array.ndim not in (1, 2) or not array.size:
        return f"<pre>{escape(np.array2string(array, threshold=60, edgeitems=3))}</pre>{caption}"
    rows, columns = array.reshape(-1, array.shape[-1]), _shown(array.shape[-1])
    numbers = _shown(array.shape[0]) if array.ndim == 2 else [0]
    head = "".join(f"<th>{'…' if column is None else column}</th>" for column in columns)
    body = "".join(
        f"<tr><th>{'' if array.ndim == 1 else '…' if row is None else row}</th>{_cells(rows, row, columns)}</tr>"
        for row in numbers
    )
    return f"<table><thead><tr><th></th>{head}</tr></thead><tbody>{body}</tbody></table>{caption}"


def _shown(count: int) -> list[int | None]:
    """Returns the indices that are shown; None marks those left out."""
    if count <= _MOST:
        return list(range(count))
    half = _MOST // 2
    return [*range(half), None, *range(count - half, count)]


def _cells(rows: Any, row: int | None, columns: list[int | None]) -> str:
    texts = ["…" if row is None or column is None else _text(rows[row, column]) for column in columns]
    return "".join(f"<td>{escape(text)}</td>" for text in texts)


def _text(item: Any) -> str:
    if isinstance(item, bytes):
        return item.decode("utf-8", "replace")
    return f"{item:.4g}" if getattr(item, "dtype", np.dtype(object)).kind in "fc" else str(item)
