"""Methods that tensors and variables share, and NumPy's protocols."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Generic, NoReturn, Self, TypeVar

import numpy as np

from graphc.compiler.base import hint_of
from graphc.compiler.base.errors import InvalidArgumentError, InvalidTypeError
from graphc.compiler.core.array_export import (
    FUNCTIONS,
    IN_PLACE,
    call_as_numpy,
    changes_array,
    function_of,
    graphc_name,
)
from graphc.compiler.core.dtypes import type_of
from graphc.compiler.core.multi_device import host_values
from graphc.compiler.core.op_errors import shorten
from graphc.compiler.core.operator_methods import Operators
from graphc.compiler.ir import TensorType

if TYPE_CHECKING:
    from graphc.compiler.core.convert import ArrayLike
    from graphc.compiler.core.tensor import Tensor
    from graphc.compiler.core.tensor_shape import TensorShape

# Functional updates of a tensor's items.


class ItemUpdater:
    """The ``.at`` of a tensor; indexing it returns an object with the update methods."""

    __slots__ = ("_tensor",)

    def __init__(self, tensor: Any) -> None:
        self._tensor = tensor

    def __getitem__(self, index: Any) -> _IndexedUpdater:
        return _IndexedUpdater(self._tensor, index)


class _IndexedUpdater:
    __slots__ = ("_index", "_tensor")

    def __init__(self, tensor: Any, index: Any) -> None:
        self._tensor = tensor
        self._index = index

    def _update(self, how: str, values: Any) -> Tensor:
        return FUNCTIONS["update_item"](self._tensor, self._index, values, how)

    def get(self) -> Tensor:
        """Returns the elements."""
        return self._tensor[self._index]

    def set(self, values: ArrayLike) -> Tensor:
        """Returns a copy with the elements replaced by ``values``."""
        return self._update("set", values)

    def add(self, values: ArrayLike) -> Tensor:
        """Returns a copy with ``values`` added to the elements; an index given twice adds twice."""
        return self._update("add", values)

    def multiply(self, values: ArrayLike) -> Tensor:
        """Returns a copy with the elements multiplied by ``values``."""
        return self._update("multiply", values)

    def min(self, values: ArrayLike) -> Tensor:
        """Returns a copy with the elementwise minimum of the elements and ``values``."""
        return self._update("min", values)

    def max(self, values: ArrayLike) -> Tensor:
        """Returns a copy with the elementwise maximum of the elements and ``values``."""
        return self._update("max", values)


def _function(name: str) -> Callable[..., Any]:
    """Returns the method that calls a function of the table."""
    function: Any = None

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        nonlocal function
        if function is None:
            function = FUNCTIONS[name]
        return call_as_numpy(f"the method {name} of a tensor", function, (self, *args), kwargs)

    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"``gx.{name}`` of this tensor; see :func:`graphc.{name}`."
    return method


def _missing(owner: Any, name: str) -> AttributeError:
    """Returns the error for a missing attribute; for another library's method name it says what to write."""
    text = f"{type(owner).__name__!r} object has no attribute {name!r}"
    if not name.startswith("_"):  # tools probe for these
        if name.endswith("_") and name[:-1] in FUNCTIONS:
            text += f"; functions return new tensors: x = gx.{name[:-1]}(x, ...)"
        elif name in _IN_PLACE:
            text += f", which changes an array in place; {_IN_PLACE[name]}"
        elif (hint := hint_of(name)) is not None:
            text += f"; use {hint}"
        elif name in FUNCTIONS:
            text += f"; use gx.{name}(x)"
    return AttributeError(text, name=name, obj=owner)


_IN_PLACE = {
    "fill": "write x = gx.full_like(x, value), or x[...] = value",
    "put": "write x = x.at[indices].set(values), or x[indices] = values",
    "itemset": "write x[index] = value",
    "byteswap": "swap the bytes of the NumPy array before the call",
    "partition": "write x = gx.partition(x, kth)",
    "resize": "write x = gx.reshape(x, shape)",
    "sort": "write x = gx.sort(x)",
}
"""By the names of methods of NumPy arrays that tensors do not have, what to write instead."""

_PROBES = frozenset(("__array_interface__", "__array_struct__"))
"""What NumPy asks an object for before ``__array__``, at each conversion; the usual error takes 1 microsecond more."""

_API_VERSIONS = ("2022.12", "2023.12", "2024.12")
"""The supported versions of the array API standard."""


class ArrayMethods(Operators):
    """Operators and methods that tensors and variables share; each runs an op of the table."""

    __slots__ = ("__weakref__",)

    raw: Any

    if not TYPE_CHECKING:  # it would make any name valid for type checkers

        def __getattr__(self, name: str) -> Any:
            """Raises an error that names graphc's spelling of another library's method."""
            if name == "known_as":
                return None  # the empty slot of a tensor, which each op under a tape asks for
            if name in _PROBES:
                raise AttributeError(name)
            # Python and NumPy ask for special names in passing; the message needs the tables of all ops.
            if name.startswith("__"):
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)
            if isinstance(attribute := getattr(type(self), name, None), property):
                return attribute.fget(
                    self
                )  # Python comes here when it raises an AttributeError, which is no missing name
            raise _missing(self, name)

    # == compares elements, so tensors cannot be keys, as in NumPy.
    __hash__ = None  # pyright: ignore[reportAssignmentType, reportIncompatibleMethodOverride]

    def ref(self) -> Reference[Self]:
        """Returns a hashable key for sets and dicts; ``.deref()`` returns the object (TensorFlow's ``ref``)."""
        return Reference(self)

    @property
    def type(self) -> TensorType:
        """The shape and dtype."""
        return type_of(self.raw)

    @property
    def shape(self) -> tuple[int, ...]:
        """The size of each axis."""
        return self.raw.shape

    def get_shape(self) -> TensorShape:
        """Returns the shape as a :class:`TensorShape` with TensorFlow's methods (TensorFlow's ``get_shape``)."""
        from graphc.compiler.core.tensor_shape import TensorShape  # deferred, since importing graphc does not need it

        return TensorShape.of(self.type)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the elements."""
        return self.raw.dtype

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return self.type.size

    @property
    def T(self) -> Tensor:  # noqa: N802
        """The tensor with its axes reversed."""
        return FUNCTIONS["permute_dims"](self, tuple(reversed(range(self.ndim))))

    @property
    def mT(self) -> Tensor:  # noqa: N802
        """The tensor with its last two axes exchanged."""
        return FUNCTIONS["matrix_transpose"](self)

    @property
    def real(self) -> Tensor:
        """The real part."""
        return FUNCTIONS["real"](self)

    @property
    def imag(self) -> Tensor:
        """The imaginary part."""
        return FUNCTIONS["imag"](self)

    @property
    def itemsize(self) -> int:
        """The number of bytes of an element."""
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """The number of bytes of all elements."""
        return self.size * self.dtype.itemsize

    @property
    def at(self) -> ItemUpdater:
        """Functional updates: ``x.at[1].set(0)`` is a copy of ``x`` in which element 1 is 0 (as in JAX)."""
        return ItemUpdater(self)

    def __getitem__(self, index: Any) -> Tensor:
        try:
            return FUNCTIONS["get_item"](self, index)
        except Exception as error:
            shorten(error)
            raise

    def __delitem__(self, index: Any) -> NoReturn:
        raise InvalidTypeError(
            f"items of a tensor ({self.type}) cannot be deleted, since a tensor keeps its shape; select those to keep "
            "with an index or a mask, or join them with gx.concat"
        ).here()

    def __len__(self) -> int:
        shape = self.shape
        if not shape:
            raise InvalidTypeError("len() of a 0-d tensor").here()
        if type(shape[0]) is int:
            return shape[0]
        return self._rows("len()")

    def __iter__(self) -> Iterator[Tensor]:
        if not self.shape:
            raise InvalidTypeError("iteration over a 0-d tensor").here()
        return self._each_row(self._rows("iteration"))

    def _each_row(self, count: int) -> Iterator[Tensor]:
        return (self[index] for index in range(count))

    def _rows(self, use: str) -> int:
        """Returns the size of the first axis."""
        size = self.shape[0]
        if not isinstance(size, int):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidTypeError(
                f"{use} needs the number of rows, which is known only when the graph runs ({self.type}); "
                "gx.shape(x)[0] is that number as a tensor, and gx.scan and gx.vmap iterate over rows"
            ).here()
        return size

    def __bool__(self) -> bool:
        if self.size != 1:
            raise InvalidArgumentError(
                f"the truth value of a tensor needs exactly one element, this tensor is {self.type}; use gx.any or "
                "gx.all"
            ).here()
        return bool(self.numpy())

    def __int__(self) -> int:
        try:
            return int(self.item())
        except Exception as error:
            shorten(error)
            raise

    def __float__(self) -> float:
        try:
            return float(self.item())
        except Exception as error:
            shorten(error)
            raise

    def __complex__(self) -> complex:
        try:
            return complex(self.item())
        except Exception as error:
            shorten(error)
            raise

    def __index__(self) -> int:
        if self.dtype.kind not in "iub" or self.shape:
            raise InvalidTypeError(f"only a 0-d integer tensor can be an index, got {self.type}").here()
        return int(self.numpy())

    def __divmod__(self, other: ArrayLike) -> tuple[Any, Any]:
        return self // other, self % other

    def __rdivmod__(self, other: ArrayLike) -> tuple[Any, Any]:
        return other // self, other % self

    def __round__(self, ndigits: int | None = None) -> Any:
        """Rounds to an int, or to a tensor with ``ndigits`` decimals; halves round to the even neighbour."""
        if self.shape:
            raise InvalidTypeError(f"round() of a tensor {self.type}; use gx.round(x, decimals)").here()
        return round(self.item()) if ndigits is None else FUNCTIONS["round"](self, ndigits)

    def __format__(self, spec: str) -> str:
        return format(self.item(), spec) if spec and not self.shape else str(self)

    def numpy(self) -> np.ndarray[Any, Any]:
        """Returns the values as a NumPy array, after waiting until they are computed."""
        return host_values(self.raw)

    def item(self) -> Any:
        """Returns the only element as a Python number, after waiting until it is computed.

        Raises:
          InvalidArgumentError: the tensor does not have exactly one element.
        """
        array = self.numpy()
        if array.size != 1:
            raise InvalidArgumentError(f"item() needs exactly one element, this tensor is {self.type}").here()
        return array.item()

    def tolist(self) -> Any:
        """Returns the values as nested Python lists, after waiting until they are computed."""
        return self.numpy().tolist()

    def astype(self, dtype: Any) -> Tensor:
        """Returns the tensor converted to ``dtype``."""
        return FUNCTIONS["astype"](self, dtype)

    def reshape(self, *shape: Any) -> Tensor:
        """Returns the tensor with another shape; one size may be -1."""
        return FUNCTIONS["reshape"](self, shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape)

    def sum(self, axis: Any = None, keepdims: bool = False) -> Tensor:
        """Returns the sum over ``axis`` (None: over all)."""
        return FUNCTIONS["sum"](self, axis=axis, keepdims=keepdims)

    def mean(self, axis: Any = None, keepdims: bool = False) -> Tensor:
        """Returns the mean over ``axis`` (None: over all)."""
        return FUNCTIONS["mean"](self, axis=axis, keepdims=keepdims)

    def max(self, axis: Any = None, keepdims: bool = False) -> Tensor:
        """Returns the largest element over ``axis`` (None: over all)."""
        return FUNCTIONS["max"](self, axis=axis, keepdims=keepdims)

    def min(self, axis: Any = None, keepdims: bool = False) -> Tensor:
        """Returns the smallest element over ``axis`` (None: over all)."""
        return FUNCTIONS["min"](self, axis=axis, keepdims=keepdims)

    all = _function("all")
    any = _function("any")
    argmax = _function("argmax")
    argmin = _function("argmin")
    argsort = _function("argsort")
    clip = _function("clip")
    conj = _function("conj")
    cumprod = _function("cumprod")
    cumsum = _function("cumsum")
    diagonal = _function("diagonal")
    dot = _function("dot")
    flatten = _function("flatten")
    nonzero = _function("nonzero")
    prod = _function("prod")
    ptp = _function("ptp")
    ravel = _function("ravel")
    repeat = _function("repeat")
    round = _function("round")
    squeeze = _function("squeeze")
    std = _function("std")
    swapaxes = _function("swapaxes")
    take = _function("take")
    var = _function("var")

    def transpose(self, *axes: Any) -> Tensor:
        """Returns the tensor with its axes permuted; reversed if no axes are given."""
        order = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes or None
        return FUNCTIONS["permute_dims"](self, order)

    def to_device(self, device: Any, /, *, stream: Any = None) -> Tensor:
        """Returns the tensor on a device, such as ``"gpu:0"``; ``stream`` must be None."""
        if stream is not None:
            raise InvalidArgumentError(
                f"to_device: stream is {stream!r}, but JAX manages streams itself; omit the argument"
            ).here()
        return FUNCTIONS["asarray"](self, device=device)

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        if api_version not in (None, *_API_VERSIONS):
            raise InvalidArgumentError(
                f"__array_namespace__: version {api_version!r} is not supported; "
                f"supported are {', '.join(_API_VERSIONS)}"
            ).here()
        return sys.modules["graphc"]

    def _leave(self, use: str) -> None:
        """Refuses the export of values to another library if a gradient would be lost; ``use`` is for the message."""
        raise NotImplementedError

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        self._leave("conversion to a NumPy array")
        array = self.numpy()
        if dtype is not None and array.dtype != dtype:
            return array.astype(dtype)
        return array.copy() if copy else array

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if method == "at":
            raise changes_array(f"{ufunc.__name__}.at", "x.at[index].add(value)", self)
        if any(isinstance(out, ArrayMethods) for out in kwargs.get("out") or ()):
            raise changes_array(f"{ufunc.__name__} with out=", f"x = gx.{graphc_name(ufunc)}(...)", self)
        if method != "__call__" or kwargs:
            return NotImplemented
        return function_of(ufunc)(*inputs)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        del types
        name = str(function.__name__)
        if name in IN_PLACE:
            raise changes_array(name, IN_PLACE[name], self)
        if kwargs.get("out") is not None:
            raise changes_array(f"{name} with out=", f"x = gx.{name}(...)", self)
        return call_as_numpy(f"numpy.{name} of a tensor", function_of(function), args, kwargs)


# References: hashable keys for tensors and Variables, which have no hash.

T = TypeVar("T")


class Reference(Generic[T]):
    """A key for one object in sets and dicts, compared by identity (TensorFlow's ``tensor.ref()``)."""

    __slots__ = ("_referenced",)

    def __init__(self, referenced: T) -> None:
        self._referenced = referenced

    def deref(self) -> T:
        """Returns the object."""
        return self._referenced

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Reference):
            return NotImplemented
        return self._referenced is other._referenced  # pyright: ignore[reportUnknownMemberType]

    def __hash__(self) -> int:
        return id(self._referenced)

    def __repr__(self) -> str:
        return f"<Reference wrapping {self._referenced!r}>"
