"""Tensors of strings: file names, lines, labels. They are Python values on the host, not part of any program.

XLA has no strings. While a function is traced, a tensor of strings keeps its values: its contents are part of the
trace's key, functions of it run at once, and graphc refuses operations that need the values of a traced tensor.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn, cast

import jax.numpy as jnp
import numpy as np

from graphc.compiler.base.errors import (
    ConcretizationError,
    GraphcError,
    InvalidArgumentError,
    InvalidTypeError,
    OutOfRangeError,
)
from graphc.compiler.core.array_methods import FUNCTIONS, ArrayMethods
from graphc.compiler.core.context import context
from graphc.compiler.core.convert import operand
from graphc.compiler.core.dispatch import apply
from graphc.compiler.core.dtypes import canonical_array
from graphc.compiler.core.symbolic_tensor import SymbolicTensor
from graphc.compiler.core.tensor import Tensor, representation, shown_text
from graphc.compiler.ir import OPS


class StringDType:
    """The dtype of tensors of strings, :data:`graphc.string`; calling it makes a tensor of strings.

    Example:
      >>> import graphc as gx
      >>> gx.asarray(["cat", "dog"]).dtype == gx.string
      True
    """

    __slots__ = ()

    name = "string"
    kind = "T"

    as_numpy_dtype = object
    size = 0
    is_floating = is_complex = is_integer = is_unsigned = is_bool = is_numeric = False

    @property
    def base_dtype(self) -> StringDType:
        """The dtype itself."""
        return self

    def is_compatible_with(self, other: Any) -> bool:
        """Returns True if another dtype is the same."""
        return self == other

    def __call__(self, x: Any = "") -> StringTensor:
        """Returns a string, or an array of strings, as a tensor."""
        return FUNCTIONS["asarray"](x, dtype=self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, StringDType) or other is str or (isinstance(other, str) and other in _NAMES)

    def __hash__(self) -> int:
        return hash(StringDType)

    def __reduce__(self) -> str:
        return "string"

    def __repr__(self) -> str:
        return "graphc.string"


_NAMES = ("string", "str")

string = StringDType()
"""The dtype of tensors of strings."""


def is_string_dtype(dtype: Any) -> bool:
    """Returns True if a dtype given by the user is that of strings: ``gx.string``, ``str`` or ``"string"``."""
    return isinstance(dtype, StringDType) or dtype is str or (type(dtype) is str and dtype in _NAMES)


def _operator(name: str, *, reflected: bool = False) -> Any:
    """Returns an operator that applies a binary op; ops that do not accept strings raise."""

    def forward(self: StringTensor, other: Any) -> Any:
        return apply(OPS[name], (self, other))

    def backward(self: StringTensor, other: Any) -> Any:
        return apply(OPS[name], (other, self))

    return backward if reflected else forward


def _function(name: str) -> Any:
    """Returns the method that calls a function of the table."""

    def method(self: StringTensor, *args: Any, **kwargs: Any) -> Any:
        return FUNCTIONS[name](self, *args, **kwargs)

    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"``gx.{name}`` of this tensor; see :func:`graphc.{name}`."
    return method


class StringTensor:
    """An immutable tensor of strings on the host.

    The strings are Python's ``str``. Bytes are decoded as UTF-8; undecodable bytes are escaped as in Python's file
    names (PEP 383).

    Args:
      values: an array of Python strings; users call :func:`graphc.asarray` instead, which converts and checks.

    Example:
      >>> import graphc as gx
      >>> names = gx.asarray(["a.csv", "b.csv"])
      >>> "data/" + names
      StringTensor(['data/a.csv', 'data/b.csv'], shape=(2,), dtype=string)
    """

    __slots__ = ("__weakref__", "_contents", "_encoded", "_text")

    __array_ufunc__ = None  # NumPy's operators defer to ours

    def __init__(self, values: np.ndarray[Any, Any]) -> None:
        self._text: np.ndarray[Any, Any] | None = _frozen(values)
        self._encoded: np.ndarray[Any, Any] | None = None
        self._contents: StringContents | None = None

    @classmethod
    def of_bytes(cls, encoded: np.ndarray[Any, Any]) -> StringTensor:
        """Returns a tensor of strings given as ``bytes``, which are decoded when they are read."""
        tensor = cls.__new__(cls)
        tensor._text, tensor._encoded, tensor._contents = None, _frozen(encoded), None
        return tensor

    @property
    def held(self) -> np.ndarray[Any, Any]:
        """The strings as given: Python's ``str``, or ``bytes``."""
        contents = self._text if self._encoded is None else self._encoded
        assert contents is not None
        return contents

    @property
    def encoded(self) -> np.ndarray[Any, Any]:
        """The strings as ``bytes``."""
        if self._encoded is None:
            self._encoded = _frozen(_each(lambda text: str(text).encode("utf-8", "surrogateescape"), self.held))
        return self._encoded

    @property
    def _values(self) -> np.ndarray[Any, Any]:
        if self._text is None:
            self._text = _frozen(_each(_text, self.held))
        return self._text

    @property
    def contents(self) -> StringContents:
        """The shape and strings, as part of a key."""
        if self._contents is None:
            self._contents = StringContents(self.shape, tuple(self._values.ravel().tolist()))
        return self._contents

    @property
    def shape(self) -> tuple[int, ...]:
        """The size of each axis."""
        return self.held.shape

    @property
    def dtype(self) -> StringDType:
        """The dtype, :data:`graphc.string`."""
        return string

    @property
    def type(self) -> str:
        """The shape and dtype as text."""
        return f"string[{','.join(map(str, self.shape))}]"

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return self.held.ndim

    @property
    def size(self) -> int:
        """The number of strings."""
        return self.held.size

    @property
    def device(self) -> str:
        """The host."""
        return "/device:CPU:0"

    @property
    def T(self) -> StringTensor:  # noqa: N802
        """The tensor with its axes reversed."""
        return StringTensor(self._values.T)

    def numpy(self) -> Any:
        """Returns the strings as a NumPy array of Python's ``str``; a 0-d tensor returns the ``str`` itself."""
        return self._values[()] if not self.shape else self._values.copy()

    def item(self) -> str:
        """Returns the only string.

        Raises:
          InvalidArgumentError: the tensor does not have exactly one element.
        """
        if self.size != 1:
            raise InvalidArgumentError(f"item() needs exactly one element, this tensor is {self.type}").here()
        return self._values.item()

    def tolist(self) -> Any:
        """Returns the strings as nested Python lists."""
        return self._values.tolist()

    def copy(self) -> StringTensor:
        """Returns the tensor itself, which is immutable."""
        return self

    __copy__ = copy

    def __deepcopy__(self, memo: dict[int, Any]) -> StringTensor:
        return self

    def wait(self) -> StringTensor:
        """Returns the tensor itself, which is always computed."""
        return self

    def astype(self, dtype: Any) -> StringTensor:
        """Raises for another dtype: :func:`graphc.strings.to_number` parses strings as numbers."""
        return FUNCTIONS["astype"](self, dtype)

    def reshape(self, *shape: Any) -> StringTensor:
        """Returns the tensor with another shape; one size may be -1."""
        return FUNCTIONS["reshape"](self, shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape)

    flatten = _function("flatten")
    ravel = _function("ravel")
    repeat = _function("repeat")
    squeeze = _function("squeeze")
    swapaxes = _function("swapaxes")
    take = _function("take")

    def __getitem__(self, index: Any) -> StringTensor:
        return StringTensor(array_of_strings(self._at(_known_index(self, index))))

    def _at(self, index: Any) -> Any:
        try:
            return self._values[index]
        except IndexError as error:
            kind = OutOfRangeError if "bounds" in str(error) or "too many" in str(error) else InvalidTypeError
            raise kind(f"strings ({self.type}): {error}").here() from None

    def __setitem__(self, index: Any, value: Any) -> NoReturn:
        raise InvalidTypeError(
            f"items of a tensor of strings ({self.type}) cannot be assigned; use gx.where, or make a new tensor of a "
            "list with gx.asarray"
        ).here()

    def __len__(self) -> int:
        if not self.shape:
            raise InvalidTypeError(
                "len() of a 0-d tensor of strings; use len(x.item()) for the length of the string"
            ).here()
        return self.shape[0]

    def __iter__(self) -> Iterator[StringTensor]:
        if not self.shape:
            raise InvalidTypeError("iteration over a 0-d tensor of strings").here()
        return (StringTensor(array_of_strings(row)) for row in self._values)

    def __contains__(self, value: Any) -> bool:
        strings = as_strings(value)
        if strings is None:
            return False
        return bool(np.any(np.equal(self._values, strings.numpy())))

    def __bool__(self) -> bool:
        if self.size != 1:
            raise InvalidArgumentError(
                f"the truth value of a tensor needs exactly one element, this tensor is {self.type}; compare it, and "
                "use gx.any or gx.all"
            ).here()
        return bool(self.item())

    __add__ = _operator("add")
    __radd__ = _operator("add", reflected=True)
    __eq__ = _operator("equal")
    __ne__ = _operator("not_equal")
    __lt__ = _operator("less")
    __le__ = _operator("less_equal")
    __gt__ = _operator("greater")
    __ge__ = _operator("greater_equal")
    # These raise for strings.
    __sub__ = _operator("subtract")
    __rsub__ = _operator("subtract", reflected=True)
    __mul__ = _operator("multiply")
    __rmul__ = _operator("multiply", reflected=True)
    __truediv__ = _operator("divide")
    __rtruediv__ = _operator("divide", reflected=True)
    __floordiv__ = _operator("floor_divide")
    __rfloordiv__ = _operator("floor_divide", reflected=True)
    __mod__ = _operator("remainder")
    __rmod__ = _operator("remainder", reflected=True)
    __pow__ = _operator("pow")
    __rpow__ = _operator("pow", reflected=True)
    __matmul__ = _operator("matmul")
    __rmatmul__ = _operator("matmul", reflected=True)
    __and__ = _operator("bitwise_and")
    __rand__ = _operator("bitwise_and", reflected=True)
    __or__ = _operator("bitwise_or")
    __ror__ = _operator("bitwise_or", reflected=True)
    __xor__ = _operator("bitwise_xor")
    __rxor__ = _operator("bitwise_xor", reflected=True)

    # == compares elements, so tensors cannot be keys, as in NumPy.
    __hash__ = None  # pyright: ignore[reportAssignmentType]

    def __fspath__(self) -> str:
        return self.item()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        return self._values.astype(object if dtype is None else dtype)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return ArrayMethods.__array_function__(cast("Any", self), function, types, args, kwargs)

    def __reduce__(self) -> Any:
        return StringTensor, (self._values.copy(),)

    def __str__(self) -> str:
        return shown_text(self._values, "string")

    def __format__(self, spec: str) -> str:
        return format(self.item(), spec) if not self.shape else str(self.numpy())

    def __repr__(self) -> str:
        return representation("StringTensor", self._values, "string")


class StringContents:
    """The contents of a tensor of strings as part of a key, with a hash that is computed once."""

    __slots__ = ("_hash", "_held")

    def __init__(self, shape: tuple[int, ...], strings: tuple[str, ...]) -> None:
        self._held = (shape, strings)
        self._hash = hash(self._held)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return isinstance(other, StringContents) and self._hash == other._hash and self._held == other._held


def array_of_strings(value: Any) -> np.ndarray[Any, Any]:
    """Returns an array of strings; NumPy returns a single one as a scalar."""
    if isinstance(value, np.ndarray):
        return cast("np.ndarray[Any, Any]", value)
    array = np.empty((), object)
    array[()] = value
    return array


def _known_index(strings: StringTensor, index: Any) -> Any:
    """Returns an index with the values of its tensors; raises where one has no value."""
    if isinstance(index, tuple):
        return tuple(_known_index(strings, item) for item in cast("tuple[Any, ...]", index))
    if isinstance(index, SymbolicTensor):
        raise without_value(f"strings ({strings.type})[index]", "index", index)
    if not isinstance(index, ArrayMethods):
        return index
    array = index.numpy()
    return array if array.ndim else array[()]


def without_value(used: str, name: str, tensor: SymbolicTensor) -> GraphcError:
    """Returns the error of a use that needs the value of a traced tensor."""
    error = ConcretizationError(
        f"{used}: {name} ({tensor.type}, {tensor.made_at()}) has no value while the function is traced, and strings "
        "are on the host, outside of the program; return the tensor, and choose the strings by it after the call"
    )
    return tensor.trace.refuse(error)


def as_strings(value: Any) -> StringTensor | None:
    """Returns a tensor of strings from strings, bytes, paths, arrays or nested lists of them; None for others."""
    if isinstance(value, StringTensor):
        return value
    if isinstance(value, str | bytes | os.PathLike):
        source = cast("Any", value)
        is_bytes = type(source) is bytes
        array = array_of_strings(source if is_bytes else _text(source))
        return StringTensor.of_bytes(array) if is_bytes else StringTensor(array)
    if isinstance(value, np.ndarray):
        return _of_array(cast("np.ndarray[Any, Any]", value))
    if not isinstance(value, list | tuple) or not value:
        return None
    items = cast("Sequence[Any]", value)
    if all(type(item) is str for item in items):
        return StringTensor(np.array(items, object))
    rows: list[StringTensor] = []
    for item in items:
        row = as_strings(item)
        if row is None:
            return None
        rows.append(row)
    if len({row.shape for row in rows}) > 1:
        shapes = ", ".join(dict.fromkeys(str(row.shape) for row in rows))
        error = InvalidArgumentError(f"cannot make a tensor from {value!r:.60}: its rows have the shapes {shapes}")
        raise refused(error)
    return StringTensor(np.stack([row.__array__() for row in rows]))


def _of_array(array: np.ndarray[Any, Any]) -> StringTensor | None:
    if array.dtype.kind not in "USTO":
        return None
    if array.dtype.kind != "O":
        return StringTensor(array.astype(object) if array.dtype.kind in "UT" else _each(_text, array))
    kinds: set[Any] = set(map(type, array.ravel().tolist()))
    if kinds == {bytes}:
        return StringTensor.of_bytes(array.copy())
    if not kinds or not all(issubclass(kind, str | bytes) for kind in kinds):
        return None
    return StringTensor(_each(_text, array))


def _each(function: Callable[[Any], Any], array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Returns an array with a function applied to each element."""
    results: np.ndarray[Any, Any] = np.empty(array.size, object)
    results[:] = [function(item) for item in array.ravel().tolist()]
    return results.reshape(array.shape)


def _frozen(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    view = array.view()
    view.flags.writeable = False
    return view


def _text(value: Any) -> str:
    """Returns Python's text of a value; bytes are decoded like file names, so that none is lost."""
    text = value if type(value) is bytes else cast("str | bytes", os.fspath(value))
    return text.decode("utf-8", "surrogateescape") if isinstance(text, bytes) else str(text)


def host_tensor(array: Any) -> Any:
    """Returns a tensor of numbers computed from strings, which has values even while a function is traced."""
    if context.on_host and context.trace is None:
        return canonical_array(array)
    tensor = Tensor(jnp.array(canonical_array(array)))
    return apply(OPS["identity"], (tensor,)) if context.device and context.trace is None else tensor


def refused(error: GraphcError) -> GraphcError:
    """Returns the error with the user's line, recorded as a refusal while a function is traced."""
    return error.here() if context.trace is None else context.trace.refuse(error)


@operand.register(StringTensor)
def _no_operand(value: StringTensor) -> NoReturn:
    raise InvalidTypeError(
        f"a tensor of strings ({value.type}) is not a tensor of numbers; gx.strings.to_number parses numbers"
    )
