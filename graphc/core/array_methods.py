"""Operators and methods that tensors and variables share, and NumPy's protocols."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NoReturn, Self

import numpy as np

from graphc.base import Registry, at, hint_of, user_location
from graphc.base.errors import InvalidArgumentError, InvalidTypeError, UnimplementedError
from graphc.core.dtypes import type_of
from graphc.core.multi_device import host_values
from graphc.core.operator_methods import binary_method, unary_method
from graphc.core.references import Reference
from graphc.core.tensor_shape import TensorShape
from graphc.core.tracebacks import shorten
from graphc.ir import TensorType

if TYPE_CHECKING:
    from graphc.core.convert import ArrayLike
    from graphc.core.tensor import Tensor

__all__ = ["FUNCTIONS", "ArrayMethods"]

FUNCTIONS: Registry[Callable[..., Any]] = Registry("function")
"""The public array functions by name, filled by the op table; Tensor methods and NumPy's protocols look here."""


_pow = binary_method("pow")


def _power(self: Any, other: Any) -> Any:
    """Returns ``self ** other``; refuses an int to a negative power, as NumPy does (JAX computes a wrong number)."""
    if type(other) is int and other < 0 and self.dtype.kind in "iu":
        error = InvalidArgumentError(
            f"pow: integers to negative integer powers are not integers, got {self.type} ** {other}; "
            "convert the base, for example with gx.astype(x, float)"
        )
        raise at(error, user_location())
    return _pow(self, other)


def _function(name: str) -> Callable[..., Any]:
    """Returns the method that calls a function of the table."""
    function: Any = None

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        nonlocal function
        if function is None:
            function = FUNCTIONS[name]
        try:
            return function(self, *args, **kwargs)
        except TypeError as error:
            _check_options(f"the method {name} of a tensor", function, kwargs, error)
            raise

    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"``gx.{name}`` of this tensor; see :func:`graphc.{name}`."
    return method


def _check_options(what: str, function: Callable[..., Any], given: dict[str, Any], error: TypeError) -> None:
    """Raises an error that names an option of NumPy's that graphc's function does not have, if there is one."""
    parameters = inspect.signature(function).parameters
    if unknown := [name for name in given if name not in parameters]:
        text = f"{what}: gx.{function.__name__} has no argument {unknown[0]!r}; it has {', '.join(parameters)}"
        raise at(InvalidTypeError(text), user_location()) from error


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

_IN_PLACE_FUNCTIONS = {
    "copyto": "x[...] = values",
    "fill_diagonal": "x = gx.fill_diagonal(x, value)",
    "place": "x[mask] = values",
    "put": "x = x.at[indices].set(values)",
    "put_along_axis": "x = gx.put_along_axis(x, indices, values, axis)",
    "putmask": "x = gx.where(mask, values, x)",
}
"""By the names of NumPy's functions that change an array, what to write instead."""

_API_VERSIONS = ("2022.12", "2023.12", "2024.12")
"""The supported versions of the array API standard."""


class ArrayMethods:
    """Operators and methods that tensors and variables share; each runs an op of the table."""

    __slots__ = ("__weakref__",)

    raw: Any

    if not TYPE_CHECKING:  # it would make any name valid for type checkers

        def __getattr__(self, name: str) -> Any:
            """Raises an error that names graphc's spelling of another library's method."""
            # Python and NumPy ask for special names in passing; the message needs the tables of all ops.
            if name.startswith("__"):
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)
            raise _missing(self, name)

    # The operators are generated without an extra Python call (80 ns of a 6 us call).
    if TYPE_CHECKING:

        def __add__(self, other: ArrayLike, /) -> Tensor: ...
        def __radd__(self, other: ArrayLike, /) -> Tensor: ...
        def __sub__(self, other: ArrayLike, /) -> Tensor: ...
        def __rsub__(self, other: ArrayLike, /) -> Tensor: ...
        def __mul__(self, other: ArrayLike, /) -> Tensor: ...
        def __rmul__(self, other: ArrayLike, /) -> Tensor: ...
        def __truediv__(self, other: ArrayLike, /) -> Tensor: ...
        def __rtruediv__(self, other: ArrayLike, /) -> Tensor: ...
        def __floordiv__(self, other: ArrayLike, /) -> Tensor: ...
        def __rfloordiv__(self, other: ArrayLike, /) -> Tensor: ...
        def __mod__(self, other: ArrayLike, /) -> Tensor: ...
        def __rmod__(self, other: ArrayLike, /) -> Tensor: ...
        def __pow__(self, other: ArrayLike, /) -> Tensor: ...
        def __rpow__(self, other: ArrayLike, /) -> Tensor: ...
        def __matmul__(self, other: ArrayLike, /) -> Tensor: ...
        def __rmatmul__(self, other: ArrayLike, /) -> Tensor: ...
        def __and__(self, other: ArrayLike, /) -> Tensor: ...
        def __rand__(self, other: ArrayLike, /) -> Tensor: ...
        def __or__(self, other: ArrayLike, /) -> Tensor: ...
        def __ror__(self, other: ArrayLike, /) -> Tensor: ...
        def __xor__(self, other: ArrayLike, /) -> Tensor: ...
        def __rxor__(self, other: ArrayLike, /) -> Tensor: ...
        def __lshift__(self, other: ArrayLike, /) -> Tensor: ...
        def __rlshift__(self, other: ArrayLike, /) -> Tensor: ...
        def __rshift__(self, other: ArrayLike, /) -> Tensor: ...
        def __rrshift__(self, other: ArrayLike, /) -> Tensor: ...
        def __lt__(self, other: ArrayLike, /) -> Tensor: ...
        def __le__(self, other: ArrayLike, /) -> Tensor: ...
        def __gt__(self, other: ArrayLike, /) -> Tensor: ...
        def __ge__(self, other: ArrayLike, /) -> Tensor: ...
        def __eq__(self, other: Any, /) -> Tensor: ...  # pyright: ignore[reportIncompatibleMethodOverride]
        def __ne__(self, other: Any, /) -> Tensor: ...  # pyright: ignore[reportIncompatibleMethodOverride]
        def __neg__(self) -> Tensor: ...
        def __pos__(self) -> Tensor: ...
        def __abs__(self) -> Tensor: ...
        def __invert__(self) -> Tensor: ...
    else:
        __add__ = binary_method("add")
        __radd__ = binary_method("add", reflected=True)
        __sub__ = binary_method("subtract")
        __rsub__ = binary_method("subtract", reflected=True)
        __mul__ = binary_method("multiply")
        __rmul__ = binary_method("multiply", reflected=True)
        __truediv__ = binary_method("divide")
        __rtruediv__ = binary_method("divide", reflected=True)
        __floordiv__ = binary_method("floor_divide")
        __rfloordiv__ = binary_method("floor_divide", reflected=True)
        __mod__ = binary_method("remainder")
        __rmod__ = binary_method("remainder", reflected=True)
        __pow__ = _power
        __rpow__ = binary_method("pow", reflected=True)
        __matmul__ = binary_method("matmul")
        __rmatmul__ = binary_method("matmul", reflected=True)
        __and__ = binary_method("bitwise_and")
        __rand__ = binary_method("bitwise_and", reflected=True)
        __or__ = binary_method("bitwise_or")
        __ror__ = binary_method("bitwise_or", reflected=True)
        __xor__ = binary_method("bitwise_xor")
        __rxor__ = binary_method("bitwise_xor", reflected=True)
        __lshift__ = binary_method("bitwise_left_shift")
        __rlshift__ = binary_method("bitwise_left_shift", reflected=True)
        __rshift__ = binary_method("bitwise_right_shift")
        __rrshift__ = binary_method("bitwise_right_shift", reflected=True)
        __lt__ = binary_method("less")
        __le__ = binary_method("less_equal")
        __gt__ = binary_method("greater")
        __ge__ = binary_method("greater_equal")
        __eq__ = binary_method("equal")
        __ne__ = binary_method("not_equal")
        __neg__ = unary_method("negative")
        __pos__ = unary_method("positive")
        __abs__ = unary_method("abs")
        __invert__ = unary_method("bitwise_invert")

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
    def at(self) -> _Updater:
        """Functional updates: ``x.at[1].set(0)`` is a copy of ``x`` in which element 1 is 0 (as in JAX)."""
        return _Updater(self)

    def __getitem__(self, index: Any) -> Tensor:
        try:
            return FUNCTIONS["get_item"](self, index)
        except Exception as error:
            shorten(error)
            raise

    def __delitem__(self, index: Any) -> NoReturn:
        error = InvalidTypeError(
            f"items of a tensor ({self.type}) cannot be deleted, since a tensor keeps its shape; select those to keep "
            "with an index or a mask, or join them with gx.concat"
        )
        raise at(error, user_location())

    def __len__(self) -> int:
        if not self.shape:
            raise at(InvalidTypeError("len() of a 0-d tensor"), user_location())
        return self._rows("len()")

    def __iter__(self) -> Iterator[Tensor]:
        if not self.shape:
            raise at(InvalidTypeError("iteration over a 0-d tensor"), user_location())
        return self._each_row(self._rows("iteration"))

    def _each_row(self, count: int) -> Iterator[Tensor]:
        return (self[index] for index in range(count))

    def _rows(self, use: str) -> int:
        """Returns the size of the first axis."""
        size = self.shape[0]
        if not isinstance(size, int):  # pyright: ignore[reportUnnecessaryIsInstance]
            error = InvalidTypeError(
                f"{use} needs the number of rows, which is known only when the graph runs ({self.type}); "
                "gx.shape(x)[0] is that number as a tensor, and gx.scan and gx.vmap iterate over rows"
            )
            raise at(error, user_location())
        return size

    def __bool__(self) -> bool:
        if self.size != 1:
            error = InvalidArgumentError(
                f"the truth value of a tensor needs exactly one element, this tensor is {self.type}; use gx.any or "
                "gx.all"
            )
            raise at(error, user_location())
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
            error = InvalidTypeError(f"only a 0-d integer tensor can be an index, got {self.type}")
            raise at(error, user_location())
        return int(self.numpy())

    def __divmod__(self, other: ArrayLike) -> tuple[Any, Any]:
        return self // other, self % other

    def __rdivmod__(self, other: ArrayLike) -> tuple[Any, Any]:
        return other // self, other % self

    def __round__(self, ndigits: int | None = None) -> Any:
        """Rounds to an int, or to a tensor with ``ndigits`` decimals; halves round to the even neighbour."""
        if self.shape:
            error = InvalidTypeError(f"round() of a tensor {self.type}; use gx.round(x, decimals)")
            raise at(error, user_location())
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
            raise at(
                InvalidArgumentError(f"item() needs exactly one element, this tensor is {self.type}"), user_location()
            )
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
            error = InvalidArgumentError(
                f"to_device: stream is {stream!r}, but JAX manages streams itself; omit the argument"
            )
            raise at(error, user_location())
        return FUNCTIONS["asarray"](self, device=device)

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        if api_version not in (None, *_API_VERSIONS):
            error = InvalidArgumentError(
                f"__array_namespace__: version {api_version!r} is not supported; "
                f"supported are {', '.join(_API_VERSIONS)}"
            )
            raise at(error, user_location())
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
        changed = method == "at" or any(isinstance(out, ArrayMethods) for out in kwargs.get("out") or ())
        if changed:
            if method == "at":
                raise _changes_array(f"{ufunc.__name__}.at", "x.at[index].add(value)", self)
            raise _changes_array(f"{ufunc.__name__} with out=", f"x = gx.{_named(ufunc)}(...)", self)
        if method != "__call__" or kwargs:
            return NotImplemented
        return _numpy_function(ufunc)(*inputs)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        del types
        name = str(function.__name__)
        if name in _IN_PLACE_FUNCTIONS:
            raise _changes_array(name, _IN_PLACE_FUNCTIONS[name], self)
        if kwargs.get("out") is not None:
            raise _changes_array(f"{name} with out=", f"x = gx.{name}(...)", self)
        found = _numpy_function(function)
        try:
            return found(*args, **kwargs)
        except TypeError as error:
            _check_options(f"numpy.{name} of a tensor", found, kwargs, error)
            raise


_NUMPY_NAMES = {
    "absolute": "abs",
    "amax": "max",
    "amin": "min",
    "concatenate": "concat",
    "invert": "bitwise_invert",
    "left_shift": "bitwise_left_shift",
    "power": "pow",
    "right_shift": "bitwise_right_shift",
    "transpose": "permute_dims",
    "true_divide": "divide",
}

VIEWS = frozenset(
    (
        "array_split", "atleast_1d", "atleast_2d", "atleast_3d", "broadcast_arrays", "broadcast_to", "diagonal",
        "dsplit", "expand_dims", "flip", "fliplr", "flipud", "hsplit", "imag", "matrix_transpose", "moveaxis",
        "permute_dims", "ravel", "real", "reshape", "rollaxis", "rot90", "split", "squeeze", "swapaxes", "transpose",
        "unstack", "vsplit",
    )
)  # fmt: skip
"""NumPy's functions that return views of arrays."""


def _changes_array(name: str, instead: str, tensor: Any) -> InvalidTypeError:
    """Returns the error for a function of NumPy's that would change a tensor in place."""
    return at(
        InvalidTypeError(
            f"numpy.{name} changes an array in place, but was given a tensor ({tensor.type}): in a compiled function "
            f"the arguments that are NumPy arrays are tensors. Write {instead} instead"
        ),
        user_location(),
    )


def _named(ufunc: Any) -> str:
    """Returns graphc's name of a NumPy function of single elements."""
    return _NUMPY_NAMES.get(ufunc.__name__) or ufunc.__name__


def _numpy_function(function: Any) -> Callable[..., Any]:
    """Returns graphc's function of a NumPy function's name, from the namespace of the same name."""
    module = str(getattr(function, "__module__", None) or "").removeprefix("numpy").lstrip(".")
    given = str(function.__name__)
    name = _NUMPY_NAMES.get(given, given)
    name = f"{module}.{name}" if module in ("fft", "linalg") else name
    special = getattr(sys.modules.get("scipy.special"), given, None) is function
    if name not in FUNCTIONS or special:
        near = f"use gx.special.{given}" if special and f"special.{given}" in FUNCTIONS else ""
        error = UnimplementedError(
            f"{'scipy.special' if special else 'numpy'}.{given if special else name} of a graphc tensor: "
            + (near or "graphc has no function of that name; gx.pyfunc calls it when the program runs")
        )
        raise at(error, user_location())
    return FUNCTIONS[name]


class _Updater:
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
