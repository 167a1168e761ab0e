"""RaggedTensor: rows of different lengths."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NoReturn, cast

import numpy as np

from graphc.compiler.base import config
from graphc.compiler.base.errors import InvalidArgumentError, InvalidTypeError, OutOfRangeError
from graphc.compiler.core import ArrayLike, Tensor, TensorShape, converted, operand
from graphc.compiler.ops import arange, asarray, concat, cumsum, full, searchsorted, take, zeros
from graphc.library.arrays import known_values


@dataclass(frozen=True, init=False, eq=False, repr=False)
class RaggedTensor:
    """Rows of different lengths: their elements in one tensor, and where each row begins (TensorFlow's RaggedTensor).

    Make one with :meth:`from_row_splits` and its neighbours, or :meth:`constant`. The number of all elements and that
    of the rows are part of its type, the lengths of the rows are values.

    Attributes:
      values: the elements of all rows, one after the other: a tensor, or a RaggedTensor where rows hold rows.
      row_splits: the start of each row in the values, and last their number: ``[rows + 1]``.

    Example:
      >>> import graphc as gx
      >>> ragged = gx.RaggedTensor.constant([[1, 2], [], [3]])
      >>> ragged.row_lengths().tolist(), ragged.to_tensor().tolist()
      ([2, 0, 1], [[1, 2], [0, 0], [3, 0]])
      >>> gx.function(lambda r: r.map_flat_values(gx.negative))(ragged).to_list()
      [[-1, -2], [], [-3]]
    """

    __graphc_composite__ = True

    values: Any
    row_splits: Tensor

    def __init__(self, values: Any, row_splits: ArrayLike) -> None:
        object.__setattr__(self, "values", values if isinstance(values, RaggedTensor) else asarray(values))
        object.__setattr__(self, "row_splits", asarray(row_splits))

    @classmethod
    def from_row_splits(
        cls, values: Any, row_splits: ArrayLike, name: str | None = None, validate: bool = True
    ) -> RaggedTensor:
        """Returns rows of which it is known where they begin.

        Args:
          values: the elements of all rows.
          row_splits: the start of each row, and last the number of elements.
          name: taken as TensorFlow's programs give it.
          validate: whether this is checked, where its values are known.

        Raises:
          InvalidArgumentError: the splits do not begin with 0, descend, or end elsewhere.
        """
        del name
        ragged = cls(values, _splits(row_splits))
        if validate and (splits := _if_known(ragged.row_splits)) is not None:
            count = (
                len(ragged.values.row_splits) - 1 if isinstance(ragged.values, RaggedTensor) else ragged.values.shape[0]
            )
            if splits.ndim != 1 or not splits.size or splits[0] or splits[-1] != count or (np.diff(splits) < 0).any():
                raise InvalidArgumentError(
                    f"RaggedTensor: row_splits must ascend from 0 to the {count} values, got {splits.tolist()}"
                ).here()
        return ragged

    @classmethod
    def from_row_lengths(
        cls, values: Any, row_lengths: ArrayLike, name: str | None = None, validate: bool = True
    ) -> RaggedTensor:
        """Returns rows of which the lengths are known; see :meth:`from_row_splits`."""
        lengths = _splits(row_lengths)
        splits = concat([zeros((1,), dtype=lengths.dtype), cumsum(lengths, dtype=lengths.dtype)])
        return cls.from_row_splits(values, splits, name, validate)

    @classmethod
    def from_value_rowids(
        cls,
        values: Any,
        value_rowids: ArrayLike,
        nrows: int | None = None,
        name: str | None = None,
        validate: bool = True,
    ) -> RaggedTensor:
        """Returns rows of which it is known which row each element belongs to.

        Args:
          values: the elements of all rows.
          value_rowids: the number of each one's row, ascending.
          nrows: the number of rows; None for one more than the last index.
          name: as for :meth:`from_row_splits`.
          validate: as there.
        """
        ids = _splits(value_rowids)
        if nrows is None:
            row_numbers = known_values("RaggedTensor.from_value_rowids", ids, "pass nrows")
            nrows = int(row_numbers[-1]) + 1 if row_numbers.size else 0
        starts = searchsorted(ids, arange(int(nrows) + 1, dtype=ids.dtype), "left")
        return cls.from_row_splits(values, asarray(starts, dtype=ids.dtype), name, validate)

    @classmethod
    def constant(cls, pylist: Any, dtype: Any = None, row_splits_dtype: Any = "int64") -> RaggedTensor:
        """Returns rows that are given as nested lists.

        Args:
          pylist: lists in a list, all nested equally deep.
          dtype: the dtype of the elements; None for that of their values.
          row_splits_dtype: the dtype of the row splits.

        Raises:
          InvalidArgumentError: the lists are not nested equally deep, or not at all.
        """
        depth = _depth(pylist)
        if depth < 2:
            raise InvalidArgumentError(f"RaggedTensor.constant: expected a list of lists, got {pylist!r:.80}").here()
        splits: list[Any] = []
        level: Any = pylist
        for _ in range(depth - 1):
            splits.append(np.cumsum([0, *map(len, level)]))
            level = [item for row in level for item in row]
        values: Any = asarray(level, dtype=dtype) if level or dtype is not None else zeros((0,))
        for rows in reversed(splits):
            values = cls(values, asarray(rows, dtype=row_splits_dtype))
        return values

    @classmethod
    def from_tensor(cls, tensor: ArrayLike, lengths: ArrayLike | None = None, padding: Any = None) -> RaggedTensor:
        """Returns the rows of a tensor, without what only fills them up.

        Args:
          tensor: ``[rows, columns, ...]``.
          lengths: the number of elements to keep in each row; its values must be known.
          padding: the value that pads rows at their ends, instead of lengths.

        Raises:
          ConcretizationError: values that decide on the lengths are not known while the function is traced.
        """
        array = asarray(tensor)
        rows, columns = array.shape[:2]
        if lengths is None and padding is None:
            row_lengths = np.full(rows, columns)
        elif lengths is not None:
            row_lengths = known_values("RaggedTensor.from_tensor", lengths, "make it from values and row_splits")
        else:
            filled = known_values("RaggedTensor.from_tensor", array, "make it from values and row_splits") != padding
            row_lengths = columns - np.argmax(filled[:, ::-1], 1) * filled.any(1) - columns * ~filled.any(1)
        positions = np.concatenate([np.arange(int(length)) + row * columns for row, length in enumerate(row_lengths)])
        flat = array.reshape((rows * columns, *array.shape[2:]))
        return cls.from_row_lengths(
            take(flat, asarray(positions, dtype="int32"), axis=0), asarray(row_lengths, dtype="int64")
        )

    @property
    def flat_values(self) -> Tensor:
        """The innermost elements, in one tensor."""
        return self.values.flat_values if isinstance(self.values, RaggedTensor) else self.values

    @property
    def nested_row_splits(self) -> tuple[Tensor, ...]:
        """Returns where the rows of each level begin, the outermost first."""
        inner = self.values.nested_row_splits if isinstance(self.values, RaggedTensor) else ()
        return (self.row_splits, *inner)

    @property
    def ragged_rank(self) -> int:
        """Returns how many axes are ragged."""
        return len(self.nested_row_splits)

    @property
    def dtype(self) -> Any:
        """The dtype of the elements."""
        return self.flat_values.dtype

    @property
    def shape(self) -> TensorShape:
        """The shape, in which the sizes of ragged axes are not known."""
        inner: Any = self.values.shape[1:]
        return TensorShape([self.row_splits.shape[0] - 1, None, *inner])

    def nrows(self) -> int:
        """Returns how many rows there are."""
        return self.row_splits.shape[0] - 1

    def row_starts(self) -> Tensor:
        """Returns where each row begins."""
        return self.row_splits[:-1]

    def row_limits(self) -> Tensor:
        """Returns where each row ends."""
        return self.row_splits[1:]

    def row_lengths(self) -> Tensor:
        """Returns how long each row is."""
        return self.row_limits() - self.row_starts()

    def value_rowids(self) -> Tensor:
        """Returns for each element the number of its row."""
        count = self.values.nrows() if isinstance(self.values, RaggedTensor) else self.values.shape[0]
        positions = arange(count, dtype=self.row_splits.dtype)
        return asarray(searchsorted(self.row_splits, positions, "right") - 1, dtype=self.row_splits.dtype)

    def with_values(self, new_values: Any) -> RaggedTensor:
        """Returns rows of the same lengths that hold other values."""
        return RaggedTensor(new_values, self.row_splits)

    def with_flat_values(self, new_values: ArrayLike) -> RaggedTensor:
        """Returns rows of the same lengths that hold other innermost elements."""
        inner = self.values
        return self.with_values(inner.with_flat_values(new_values) if isinstance(inner, RaggedTensor) else new_values)

    def map_flat_values(self, op: Callable[..., Any], *args: Any, **kwargs: Any) -> RaggedTensor:
        """Returns what a function gives for the innermost elements, in rows of the same lengths.

        Args:
          op: a function of a tensor.
          *args: further arguments; RaggedTensors among them are replaced by their innermost elements.
          **kwargs: the same by name.
        """
        others = [arg.flat_values if isinstance(arg, RaggedTensor) else arg for arg in args]
        return self.with_flat_values(converted(op)(self.flat_values, *others, **kwargs))

    def to_tensor(self, default_value: Any = None, shape: Any = None) -> Tensor:
        """Returns the rows filled up to one length.

        Args:
          default_value: the padding value; None for 0.
          shape: the sizes of the result, of which the second cuts or fills rows; None for the longest row's. A compiled
            function needs it.

        Raises:
          ConcretizationError: the longest row is not known while the function is traced.
        """
        values = self.values
        sizes: list[Any] = [None, None] if shape is None else list(TensorShape(shape))
        if isinstance(values, RaggedTensor):
            values = values.to_tensor(default_value, None if shape is None else [None, *sizes[2:]])
        if sizes[1] is None:
            what = "RaggedTensor.to_tensor"
            lengths = known_values(what, self.row_lengths(), "pass shape=[None, columns]")
            sizes[1] = int(lengths.max(initial=0))
        rows = self.nrows() if sizes[0] is None else int(sizes[0])
        fill = 0 if default_value is None else default_value
        start = full((rows, sizes[1], *values.shape[1:]), fill, dtype=values.dtype)
        ids = self.value_rowids()
        columns = arange(ids.shape[0], dtype=ids.dtype) - take(self.row_splits, ids)
        return start.at[ids, columns].set(values)

    def bounding_shape(self) -> tuple[int, ...]:
        """Returns the shape of :meth:`to_tensor`."""
        lengths = known_values("RaggedTensor.bounding_shape", self.row_lengths(), "use nrows()")
        inner = self.values.bounding_shape() if isinstance(self.values, RaggedTensor) else self.values.shape
        return (self.nrows(), int(lengths.max(initial=0)), *inner[1:])

    def to_list(self) -> list[Any]:
        """Returns the rows as nested lists."""
        rows = self.values.to_list() if isinstance(self.values, RaggedTensor) else self.values.tolist()
        splits = self.row_splits.tolist()
        return [rows[start:end] for start, end in pairwise(splits)]

    def numpy(self) -> np.ndarray[Any, Any]:
        """Returns the rows as a NumPy array of arrays."""
        rows = self.to_list()
        array = np.empty(len(rows), object)
        for index, row in enumerate(rows):
            array[index] = np.asarray(row, None if isinstance(self.values, RaggedTensor) else self.dtype)
        return array

    def __len__(self) -> int:
        return self.nrows()

    def __getitem__(self, index: int) -> Any:
        """Returns one row, whose length must be known.

        Raises:
          OutOfRangeError: there is no such row.
          ConcretizationError: its length is not known while the function is traced.
        """
        count = self.nrows()
        row = int(index)
        if not -count <= row < count:
            raise OutOfRangeError(f"row {row} of a RaggedTensor of {count} rows").here()
        splits = known_values("RaggedTensor[row]", self.row_splits, "use to_tensor(shape=[None, columns])[row]")
        start, end = int(splits[row % count]), int(splits[row % count + 1])
        if not isinstance(self.values, RaggedTensor):
            return self.values[start:end]
        inner = known_values("RaggedTensor[row]", self.values.row_splits, "use to_tensor")[start : end + 1]
        content: Any = self.values.values
        part = (
            content[inner[0] : inner[-1]]
            if isinstance(content, Tensor)
            else _rows(content, int(inner[0]), int(inner[-1]))
        )
        return RaggedTensor(part, asarray(inner - inner[0], dtype=self.row_splits.dtype))

    def __iter__(self) -> Iterator[Any]:
        return (self[row] for row in range(self.nrows()))

    def __repr__(self) -> str:
        library = "tf." if config.tensor_text == "tensorflow" else ""
        if _if_known(self.row_splits) is None:
            return f"<{library}RaggedTensor of {self.nrows()} rows, values={self.values!r}>"
        return f"<{library}RaggedTensor {self.to_list()}>"


def _rows(ragged: RaggedTensor, start: int, end: int) -> RaggedTensor:
    """Some rows, one after the other."""
    splits = known_values("RaggedTensor[row]", ragged.row_splits, "use to_tensor")[start : end + 1]
    content: Any = ragged.values
    part = (
        content[splits[0] : splits[-1]]
        if isinstance(content, Tensor)
        else _rows(content, int(splits[0]), int(splits[-1]))
    )
    return RaggedTensor(part, asarray(splits - splits[0], dtype=ragged.row_splits.dtype))


def _splits(value: Any) -> Tensor:
    """Returns where rows begin, as integers."""
    splits = asarray(value)
    return splits if splits.dtype.kind in "iu" else asarray(splits, dtype="int64")


def _if_known(tensor: Tensor) -> np.ndarray[Any, Any] | None:
    return None if type(tensor) is not Tensor else tensor.numpy()


def _depth(value: Any) -> int:
    """Returns how deep lists are nested."""
    if not isinstance(value, list | tuple):
        return 0
    depths = {_depth(item) for item in cast("Sequence[Any]", value)} or {0}
    inner = {depth for depth in depths if depth} or {0}
    return 1 + max(inner)


@operand.register(RaggedTensor)
def _refused(value: RaggedTensor) -> NoReturn:
    del value
    raise InvalidTypeError(
        "a RaggedTensor is no tensor here; x.to_tensor() is one, and x.map_flat_values(function) works on elements"
    ).here()
