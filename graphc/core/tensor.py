"""Tensor: an array, eager or symbolic, with NumPy's interface."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, NoReturn, cast

import jax
import numpy as np
from jax.sharding import Sharding

from graphc.base import finish_given_up, interruption, nest, run_on_thread, slow_path_reasons, user_frame
from graphc.base.errors import ConcretizationError, UnimplementedError
from graphc.core.array_export import ShownArray, check_leaves, shown, stay, when_jax_converts
from graphc.core.array_methods import FUNCTIONS, VIEWS, ArrayMethods
from graphc.core.context import busy, context, open_tapes
from graphc.core.convert import operand
from graphc.core.dispatch import register_tensor
from graphc.core.dtypes import canonical_array
from graphc.core.multi_device import is_elsewhere
from graphc.core.notebook import tensor_html
from graphc.core.open_shapes import open_shape
from graphc.core.texts import representation, shown_text
from graphc.core.tracebacks import shorten
from graphc.core.waiting import describe, refuse_to_wait, wait_for, wait_for_async, wait_for_future
from graphc.devices import device_name
from graphc.ir import TensorType, Value

if TYPE_CHECKING:
    from graphc.core.convert import ArrayLike
    from graphc.core.protocols import Tracing

__all__ = ["SymbolicTensor", "Tensor", "wait_all"]

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
        found = getattr(self, "known_as", None)
        if found is None or found.raw is not self.raw:
            found = self.known_as = _new(_Snapshot)
            found.raw = self.raw
        return found

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
        self._looked_at()
        if slow_path_reasons:
            wait_for((self.raw,), self._description)
        array = super().numpy()
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
        return None if is_elsewhere(self.raw) else tensor_html(self)

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

_TEXT_REMEDY = (
    "print, f-strings, str() and format() in converted code format it when the program runs; in code that is not "
    "converted (a library) use repr(), or gx.pyfunc"
)


class SymbolicTensor(Tensor):
    """A tensor of a function that is being traced: it has a type and a position in the graph, but no values yet."""

    __slots__ = ("trace",)

    raw: Value
    trace: Tracing

    def __init__(self, value: Value, trace: Tracing) -> None:
        self.raw = value
        self.trace = trace

    def snapshot(self) -> SymbolicTensor:
        """Returns an immutable tensor with the current value in the graph, by which tapes identify it."""
        return SymbolicTensor(self.raw, self.trace)

    fork = snapshot

    def become(self, other: Tensor) -> None:
        """Takes the values of another tensor of the same type and tells the open trace."""
        assert context.trace is not None
        context.trace.replace(self, cast("SymbolicTensor", other))

    def __setitem__(self, index: Any, value: ArrayLike) -> None:
        self.become(FUNCTIONS["update_item"](self, index, value))

    def __getitem__(self, index: Any) -> Tensor:
        result = super().__getitem__(index)
        parts = cast("tuple[Any, ...]", index if isinstance(index, tuple) else (index,))
        if not any(isinstance(part, list | np.ndarray) or getattr(part, "ndim", 0) for part in parts):
            self._view(result)
        return result

    @property
    def T(self) -> Tensor:  # noqa: N802
        """The tensor with its axes reversed."""
        return self._view(super().T)

    @property
    def mT(self) -> Tensor:  # noqa: N802
        """The tensor with its last two axes exchanged."""
        return self._view(super().mT)

    @property
    def real(self) -> Tensor:
        """The real part."""
        return self._view(super().real)

    @property
    def imag(self) -> Tensor:
        """The imaginary part."""
        return self._view(super().imag)

    def reshape(self, *shape: Any) -> Tensor:
        """Returns the tensor with another shape; one size may be -1."""
        return self._view(super().reshape(*shape))

    def ravel(self) -> Tensor:
        """Returns the elements as a tensor with one axis."""
        return self._view(super().ravel())

    def squeeze(self, axis: Any = None) -> Tensor:
        """Returns the tensor without axes of size 1."""
        return self._view(super().squeeze(axis))

    def swapaxes(self, axis1: int, axis2: int) -> Tensor:
        """Returns the tensor with two axes exchanged."""
        return self._view(super().swapaxes(axis1, axis2))

    def transpose(self, *axes: Any) -> Tensor:
        """Returns the tensor with its axes permuted; reversed if no axes are given."""
        return self._view(super().transpose(*axes))

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        result = super().__array_function__(function, types, args, kwargs)
        if function.__name__ in VIEWS:
            for given in (*args, *kwargs.values()):
                if isinstance(given, SymbolicTensor):
                    for part in cast("list[Tensor]", result) if type(result) in (list, tuple) else (result,):
                        given._view(part)
        return result

    def _view(self, result: Tensor) -> Tensor:
        """Returns a result that in plain Python, if this tensor were a NumPy array, would be a view of it."""
        if result.shape:
            self.trace.view(self, result)
        return result

    @property
    def type(self) -> TensorType:
        """Shape and dtype together."""
        return self.raw.type

    @property
    def shape(self) -> tuple[int, ...]:
        """The size of each axis; in a graph that is built by hand, None for a size known only when it runs.

        Raises:
          InvalidArgumentError: the number of axes is unknown; :func:`graphc.shape` returns the shape as a tensor.
        """
        type = self.raw.type
        return open_shape(self) if type.is_open else type.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the elements."""
        return self.raw.type.dtype

    @property
    def device(self) -> str:
        """The device that the node is pinned to; empty if it is not pinned."""
        return "" if self.raw.node is None else self.raw.node.device

    def made_at(self) -> str:
        """Returns the origin of the tensor for messages: the op or argument, and the user's line."""
        node = self.raw.node
        if node is None:
            return f"the argument {self.raw.name!r}" if self.raw.name else "an argument"
        place = f" at {node.location.short}" if node.location else ""
        return f"the result of {node.op.name}{place}"

    @property
    def sharding(self) -> NoReturn:
        """Raises: XLA chooses the layout when it compiles the program."""
        self._refuse("sharding", "return the tensor and ask the result, or set the layout with gx.distribute.shard")

    def _refuse(self, use: str, remedy: str) -> NoReturn:
        error = ConcretizationError(
            f"{use} needs a value, but this tensor ({self.type}, {self.made_at()}) has none while the function is "
            f"traced; {remedy}"
        )
        raise self.trace.refuse(error)

    def numpy(self) -> np.ndarray[Any, Any]:
        """Raises: there are no values while the function is traced."""
        self._refuse(
            "numpy()",
            "return the tensor and call numpy() on the result; in the text of an error, write the tensor or Variable "
            "itself, as in {self.n}",
        )

    def item(self) -> Any:
        """Raises: there are no values while the function is traced."""
        self._refuse("item()", "return the tensor and call item() on the result")

    def __bool__(self) -> bool:
        frame = user_frame()
        reason = self.trace.root.unconverted.get("" if frame is None else frame.f_code.co_qualname)
        if reason is not None:
            self._refuse("bool()", f"Python control flow is not converted here, because {reason}")
        self._refuse(
            "bool()",
            "if, while, and, or, not and assert in a decorated function compile automatically; in code that is not "
            "converted (a library, a comprehension's condition) use gx.where or gx.cond",
        )

    def __int__(self) -> int:
        self._refuse("int()", "use gx.astype(x, int), or pass the number as a Python int")

    def __float__(self) -> float:
        self._refuse(
            "float()",
            "use gx.astype(x, float), or pass the number as a Python float; if the array's items are assigned, make "
            "the array with gx.zeros",
        )

    def __complex__(self) -> complex:
        self._refuse("complex()", "use gx.astype(x, complex)")

    def __index__(self) -> int:
        self._refuse("an index or a size", "pass the number as a Python int, or use gx.take or x[i] of a tensor")

    def wait(self) -> Tensor:
        """Raises: there is nothing to wait for while the function is traced."""
        self._refuse("wait()", "wait for the result of the call")

    def __await__(self) -> Generator[Any, None, Tensor]:
        """Raises, as :meth:`wait` does."""
        self._refuse("await", "await the result of the call")

    def wait_async(self) -> NoReturn:
        """Raises, as :meth:`wait` does, before any await."""
        self._refuse("wait_async()", "await the result of the call")

    def _leave(self, use: str) -> NoReturn:
        self._refuse(use, stay())

    def __reduce__(self) -> Any:
        self._refuse("pickling", "return the tensor and pickle the result")

    def __str__(self) -> str:
        self._refuse("a text", _TEXT_REMEDY)

    def __format__(self, spec: str) -> str:
        self._refuse("a text", _TEXT_REMEDY)

    def _repr_html_(self) -> None:
        return None

    def __repr__(self) -> str:
        return f"<symbolic Tensor {self.type}, {self.made_at()}>"


SymbolicTensor.__name__ = "Tensor"  # Python's messages show the same name as in eager code


@operand.register(Tensor)
def _from_tensor(value: Tensor) -> Tensor:
    return value


@operand.register(list)
@operand.register(tuple)
def _from_sequence(value: Any) -> Any:
    items: list[Any] = list(value)
    if _holds_tensor(items):
        return FUNCTIONS["stack"]([operand(item) for item in items])
    return canonical_array(items)


def _holds_tensor(items: list[Any]) -> bool:
    return any(
        isinstance(item, ArrayMethods | jax.Array | ShownArray)
        or (isinstance(item, list | tuple) and _holds_tensor(list(nest.as_tuple(item))))
        for item in items
    )


def wait_all(*values: Any) -> None:
    """Waits until everything dispatched to any device is computed (MXNet's ``waitall``).

    This includes programs abandoned at a deadline or by a token, and the Python code that they call.

    Args:
      *values: tensors, Variables, and futures from :func:`graphc.submit` or ``concurrent.futures``, also in nested
        structures: waits only for these, and for the tensors that the futures return.

    Raises:
      DeadlineExceededError: the deadline in force (:func:`graphc.deadline`) passed first.
      CancelledError: a token in force was cancelled first.
      UnimplementedError: in a compiled function.
      Exception: the error of a future.

    Example:
      >>> import graphc as gx
      >>> y = gx.ones((2, 2)) + 1
      >>> gx.wait_all()
    """
    refuse_to_wait("gx.wait_all")
    if values:
        leaves = nest.flatten(values)[0]
        futures = cast("list[Future[Any]]", [leaf for leaf in leaves if isinstance(leaf, Future)])
        given = [wait_for_future(future) for future in futures]
        arrays = [leaf.raw for leaf in (*leaves, *nest.flatten(given)[0]) if isinstance(leaf, ArrayMethods)]
        wait_for(arrays, lambda: ", ".join(map(describe, arrays[:3])) + (", ..." if len(arrays) > 3 else ""))
        return
    finish_given_up()  # first, so that an error at a deadline names the program
    live = cast("Any", jax.live_arrays)()
    wait_for(live, lambda: f"everything that was dispatched ({len(live)} arrays)")
    if interruption() is None:
        jax.effects_barrier()
    else:
        run_on_thread(jax.effects_barrier, "everything that was dispatched")


register_tensor(Tensor)
