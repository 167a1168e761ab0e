"""Symbolic tensors: those of a function that is being traced."""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Any, NoReturn, cast

import numpy as np

from graphc.compiler.base import user_frame
from graphc.compiler.base.errors import ConcretizationError, InvalidArgumentError
from graphc.compiler.core.array_export import FUNCTIONS, VIEWS, stay
from graphc.compiler.core.context import context
from graphc.compiler.core.tensor import Tensor
from graphc.compiler.ir import OPEN, TensorType, Value

if TYPE_CHECKING:
    from graphc.compiler.core.convert import ArrayLike
    from graphc.compiler.core.protocols import Tracing

# Shapes of tensors that are known only when the graph runs.


def open_shape(tensor: SymbolicTensor) -> tuple[int, ...]:
    """Returns the size of each axis, with None for an open one; raises where the number of axes is unknown."""
    type = tensor.type
    if not type.ranked:
        raise InvalidArgumentError(
            f"the number of axes of this tensor ({type}, {tensor.made_at()}) is unknown while the graph is built; "
            "gx.shape returns its shape as a tensor"
        ).here()
    # None rather than a number, so that Python code that computes with an open size fails instead of going wrong.
    return tuple([cast("Any", None) if size == OPEN else size for size in type.shape])


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
            for argument in (*args, *kwargs.values()):
                if isinstance(argument, SymbolicTensor):
                    for part in cast("list[Tensor]", result) if type(result) in (list, tuple) else (result,):
                        argument._view(part)
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
        where = f" at {node.location.short}" if node.location else ""
        return f"the result of {node.op.name}{where}"

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
