"""TensorArray: tensors of one shape by position, written one at a time."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import Any, NoReturn, cast

from graphc.compiler.autograph import is_unset, require, unset
from graphc.compiler.base import has_mark, user_location
from graphc.compiler.base.errors import (
    FailedPreconditionError,
    InvalidArgumentError,
    InvalidTypeError,
    OutOfRangeError,
    UnimplementedError,
)
from graphc.compiler.core import ArrayLike, SymbolicTensor, Tensor, TensorShape, as_dtype, operand
from graphc.compiler.ops import asarray, concat, take, zeros
from graphc.library.arrays import known_values


@dataclass(frozen=True, init=False, eq=False, repr=False)
class TensorArray:
    """Tensors of one shape and dtype, by position: a list that compiled loops can write (TensorFlow's TensorArray).

    It does not change: :meth:`write` returns the array with the tensor in it, which the program goes on with. To the
    compiler it is one tensor with an axis more, in loops, branches, arguments and results alike. Where only a branch or
    loop that does not run would write a first tensor, compiled code reads zeros, and eager code raises.

    Args:
      dtype: the dtype of the tensors.
      size: the number of tensors.
      dynamic_size: whether writing behind the last one makes the array longer. In a compiled loop the position must be
        known for it while the loop is traced.
      clear_after_read: taken as TensorFlow's programs give it; tensors that are read stay.
      infer_shape: taken likewise; all tensors have one shape.
      element_shape: the shape of the tensors; None for that of the first one written.
      name: a name for messages.

    Raises:
      InvalidArgumentError: ``size`` is no count.

    Example:
      >>> import graphc as gx
      >>> @gx.function
      ... def powers(n):
      ...     array = gx.TensorArray("float32", size=5)
      ...     x = 1.0
      ...     for i in gx.arange(n):
      ...         array = array.write(i, x)
      ...         x = x * 2
      ...     return array.stack()
      >>> powers(gx.asarray(4)).tolist()
      [1.0, 2.0, 4.0, 8.0, 0.0]
    """

    __graphc_composite__ = True

    buffer: Any
    length: int
    dtype_name: str
    dynamic_size: bool
    sizes: tuple[int, ...] | None

    def __init__(
        self,
        dtype: Any,
        size: Any = None,
        dynamic_size: bool | None = None,
        clear_after_read: bool | None = None,
        *,
        infer_shape: bool = True,
        element_shape: Any = None,
        name: str | None = None,
    ) -> None:
        del clear_after_read, infer_shape, name
        kind = as_dtype(dtype)
        length = 0 if size is None else int(known_values("TensorArray: size", size, "give it as an int"))
        if length < 0:
            raise InvalidArgumentError(f"TensorArray: size must be a count, got {size!r:.60}").here()
        shape = TensorShape(element_shape)
        sizes = cast("tuple[int, ...]", tuple(shape)) if shape.is_fully_defined() else None
        self._set(
            "buffer", unset("the first tensor of a TensorArray") if sizes is None else zeros((length, *sizes), kind)
        )
        self._set("length", length)
        self._set("dtype_name", kind.name)
        self._set("dynamic_size", bool(dynamic_size if size is not None else dynamic_size is not False))
        self._set("sizes", sizes)

    def _set(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    @property
    def dtype(self) -> Any:
        """The dtype of the tensors."""
        return as_dtype(self.dtype_name)

    @property
    def element_shape(self) -> TensorShape:
        """The shape of the tensors, as far as it is known."""
        if self.sizes is not None:
            return TensorShape(self.sizes)
        return TensorShape(None if is_unset(self.buffer) else self.buffer.shape[1:])

    def size(self) -> Tensor:
        """Returns how many tensors there are, as a tensor."""
        return asarray(self.length, dtype="int32")

    def write(self, index: Any, value: ArrayLike) -> TensorArray:
        """Returns the array with a tensor at a position.

        Args:
          index: the position, an int or an integer tensor.
          value: the tensor.

        Raises:
          OutOfRangeError: the position is out of range, and the array has a fixed size.
          InvalidTypeError: the tensor has another dtype.
          InvalidArgumentError: it has another shape.
        """
        element = self._element(value)
        position, length = self._position("write", index, grows=self.dynamic_size)
        buffer = self._buffer(element.shape, length)
        return self._with(buffer.at[position].set(element))

    def read(self, index: Any) -> Tensor:
        """Returns the tensor at a position; zeros where nothing was written.

        Args:
          index: the position, an int or an integer tensor.

        Raises:
          OutOfRangeError: the position is out of range.
          FailedPreconditionError: nothing was written to the array, so that the shape is not known.
        """
        position, _ = self._position("read", index)
        return self._held("read")[position]

    def stack(self) -> Tensor:
        """Returns all tensors as one, along a new first axis."""
        return self._held("stack")

    def gather(self, indices: ArrayLike) -> Tensor:
        """Returns the tensors at some positions as one, along a new first axis."""
        return take(self._held("gather"), asarray(indices), axis=0)

    def concat(self) -> Tensor:
        """Returns all tensors as one, joined along their first axis.

        Raises:
          InvalidArgumentError: they have no axis.
        """
        buffer = self._held("concat")
        if buffer.ndim < 2:
            raise InvalidArgumentError(
                "TensorArray.concat: the tensors are scalars, which stack() makes a vector of"
            ).here()
        return buffer.reshape((-1, *buffer.shape[2:]))

    def unstack(self, value: ArrayLike) -> TensorArray:
        """Returns the array that holds the parts of a tensor along its first axis.

        Raises:
          InvalidArgumentError: it has another number of parts, and the array has a fixed size.
        """
        parts = self._element(value)
        if parts.ndim == 0 or (parts.shape[0] != self.length and not self.dynamic_size):
            raise InvalidArgumentError(
                f"TensorArray.unstack: a tensor of shape {parts.shape} has not {self.length} parts, the array's size"
            ).here()
        self._check_shape(parts.shape[1:])
        return self._with(parts)

    def scatter(self, indices: ArrayLike, value: ArrayLike) -> TensorArray:
        """Returns the array with the parts of a tensor at some positions.

        Args:
          indices: the positions; their values must be known where the array has to grow.
          value: the parts lie along the first axis.
        """
        parts, positions = self._element(value), asarray(indices)
        length = self.length
        if self.dynamic_size and type(positions) is Tensor and positions.size:
            length = max(length, int(positions.numpy().max()) + 1)
        return self._with(self._buffer(parts.shape[1:], length).at[positions].set(parts))

    def split(self, value: ArrayLike, lengths: Any) -> TensorArray:
        """Returns the array that holds the pieces of a tensor, of one length each, along its first axis.

        Args:
          value: the tensor.
          lengths: the lengths of the pieces, which must be equal.

        Raises:
          UnimplementedError: they differ.
        """
        sizes = known_values("TensorArray.split: lengths", lengths, "give them as ints").ravel()
        parts = self._element(value)
        if len(set(sizes.tolist())) > 1:
            raise UnimplementedError(
                f"TensorArray.split: pieces of different lengths, {sizes.tolist()}; use a list of tensors "
                "(gx.split), or a RaggedTensor"
            ).here()
        return self.unstack(parts.reshape((len(sizes), -1, *parts.shape[1:])))

    def identity(self) -> TensorArray:
        """Returns the array itself."""
        return self

    def _with(self, buffer: Tensor) -> TensorArray:
        array = object.__new__(TensorArray)
        for name in ("dtype_name", "dynamic_size", "sizes"):
            array._set(name, getattr(self, name))
        array._set("buffer", buffer)
        array._set("length", buffer.shape[0])
        return array

    def _element(self, value: Any) -> Tensor:
        plain = not hasattr(value, "dtype") and not has_mark(value, "__graphc_index__")
        element = asarray(value, dtype=self.dtype if plain else None)
        if element.dtype != self.dtype and not element.type.weak:
            raise InvalidTypeError(
                f"TensorArray of {self.dtype_name}: a tensor of {element.dtype.name} is given; convert it by astype"
            ).here()
        return asarray(element, dtype=self.dtype)

    def _check_shape(self, shape: tuple[int, ...]) -> None:
        if not self.element_shape.is_compatible_with(shape):
            raise InvalidArgumentError(
                f"TensorArray: a tensor of shape {shape} is given, the others have {tuple(self.element_shape)}"
            ).here()

    def _buffer(self, shape: tuple[int, ...], length: int) -> Tensor:
        """Returns the tensor that holds all, with room for so many."""
        self._check_shape(shape)
        if is_unset(self.buffer):
            return zeros((length, *shape), dtype=self.dtype)
        missing = length - self.length
        return concat([self.buffer, zeros((missing, *shape), dtype=self.dtype)]) if missing > 0 else self.buffer

    def _held(self, method: str) -> Tensor:
        if not is_unset(self.buffer):
            return self.buffer
        raise FailedPreconditionError(
            f"TensorArray.{method}: nothing was written to this array, so that the shape of its tensors is not known. "
            "write() returns the array that holds the tensor (array = array.write(i, x)); element_shape tells the shape"
        ).here()

    def _position(self, method: str, index: Any, grows: bool = False) -> tuple[Any, int]:
        """Returns a position, and how many tensors there are then."""
        if isinstance(index, SymbolicTensor) or has_mark(index, "__graphc_index__"):
            span = (getattr(index, "low", None), getattr(index, "high", None))
            if not grows or (None not in span and 0 <= cast("int", span[0]) <= cast("int", span[1]) < self.length):
                self._require(method, index, span)
                return index, self.length
            if isinstance(index, SymbolicTensor) and not has_mark(index, "__graphc_index__"):
                raise UnimplementedError(
                    f"TensorArray.{method}: a position that is known at run time only cannot make the array longer; "
                    "give it the size that it needs, TensorArray(dtype, size=n)"
                ).here()
        position = operator.index(index)  # of the index of a loop, which is unrolled then
        if not 0 <= position < self.length and not (grows and position >= 0):
            raise self._out_of_range(method, position).here()
        return position, max(self.length, position + 1)

    def _require(self, method: str, index: Any, span: tuple[Any, Any]) -> None:
        """Raises for a position that is out of range, when the program runs unless its bounds tell that it is not."""
        if None not in span and 0 <= span[0] <= span[1] < self.length:
            return
        tensor, location = asarray(index), user_location()
        require((tensor >= 0) & (tensor < self.length), lambda: self._out_of_range(method, "(a tensor)").at(location))

    def _out_of_range(self, method: str, position: Any) -> OutOfRangeError:
        return OutOfRangeError(f"TensorArray.{method}: position {position} in an array of {self.length} tensors")

    def __len__(self) -> int:
        return self.length

    def __repr__(self) -> str:
        return f"TensorArray({self.dtype_name}, size={self.length}, element_shape={self.element_shape})"


@operand.register(TensorArray)
def _refused(value: TensorArray) -> NoReturn:
    del value
    raise InvalidTypeError("a TensorArray is no tensor here; array.stack() is one").here()
