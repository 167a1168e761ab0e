"""The array functions that also accept tensors of strings: those that rearrange, select, compare and sort elements.

Each rule is NumPy's function of the same meaning, on arrays of Python strings.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial, wraps
from typing import Any, ParamSpec, TypeVar, cast

import numpy as np

from graphc.compiler.base.errors import InvalidArgumentError
from graphc.compiler.core import (
    STRING,
    STRING_RULES,
    LateStrings,
    StringRule,
    StringTensor,
    SymbolicTensor,
    apply,
    as_dtype,
    as_strings,
    bytes_array,
    refused,
)
from graphc.compiler.ir import OPEN, OPS, Attrs, Graph, OpDef, TensorType


def _reshape(x: Any, shape: Any, copy: bool | None = None) -> Any:
    return np.reshape(x, shape)


def _several(function: Any) -> Any:
    """Calls a function of a list of arrays with separate arguments."""

    def run(*arrays: Any, **attributes: Any) -> Any:
        return function(arrays, **attributes)

    return run


def _unstack(x: Any, axis: int = 0) -> Any:
    return tuple(_as_array(row) for row in np.moveaxis(x, axis, 0))


def _as_array(value: Any) -> Any:
    array = np.empty(np.shape(value), object)
    array[...] = value
    return array


def _take(x: Any, indices: Any, axis: int | None = None) -> Any:
    return _as_array(np.take(x, indices, axis=axis))


def _where(condition: Any, x1: Any, x2: Any) -> Any:
    return cast("Any", np.where(condition.astype(bool), x1, x2))


def _tile(x: Any, repetitions: Any) -> Any:
    return np.tile(x, repetitions)


def _sort(x: Any, axis: int = -1, descending: bool = False, stable: bool = True) -> Any:
    return np.take_along_axis(np.asarray(x), _argsort(x, axis, descending), axis)


def _argsort(x: Any, axis: int = -1, descending: bool = False, stable: bool = True) -> Any:
    if not descending:
        return np.argsort(x, axis, kind="stable")
    # Equal strings keep their order: the last of the flipped ones comes first.
    backwards = np.flip(np.argsort(np.flip(x, axis), axis, kind="stable"), axis)
    return x.shape[axis] - 1 - backwards


def _isin(x: Any, values: Any, invert: bool = False) -> Any:
    members = set(values.ravel().tolist())
    mask = np.array([item in members for item in x.ravel().tolist()], bool).reshape(x.shape)
    return ~mask if invert else mask


def _compared(function: Any) -> Any:
    def run(x1: Any, x2: Any) -> Any:
        return np.asarray(function(x1, x2), bool)

    return run


def _itself(x: Any) -> Any:
    return x


def _searchsorted(x1: Any, x2: Any, side: Any = "left") -> Any:
    return cast("Any", np.searchsorted(x1, x2, side))


RULES: dict[str, StringRule] = {
    # As they are.
    "identity": StringRule(_itself),
    "stop_gradient": StringRule(_itself),
    # Axes.
    "broadcast_arrays": StringRule(np.broadcast_arrays),
    "broadcast_to": StringRule(np.broadcast_to),
    "expand_dims": StringRule(np.expand_dims),
    "matrix_transpose": StringRule(np.matrix_transpose),
    "moveaxis": StringRule(np.moveaxis),
    "permute_dims": StringRule(np.transpose),
    "ravel": StringRule(np.ravel),
    "reshape": StringRule(_reshape),
    "squeeze": StringRule(np.squeeze),
    "swapaxes": StringRule(np.swapaxes),
    # Joining, splitting, order.
    "array_split": StringRule(np.array_split),
    "concat": StringRule(_several(np.concatenate)),
    "flip": StringRule(np.flip),
    "hstack": StringRule(_several(np.hstack)),
    "repeat": StringRule(np.repeat),
    "roll": StringRule(np.roll),
    "split": StringRule(np.split),
    "stack": StringRule(_several(np.stack)),
    "tile": StringRule(_tile),
    "unstack": StringRule(_unstack),
    "vstack": StringRule(_several(np.vstack)),
    # Choosing.
    "take": StringRule(_take, numbers=("indices",)),
    "where": StringRule(_where, numbers=("condition",)),
    # Comparing and sorting.
    "argsort": StringRule(_argsort),
    "equal": StringRule(_compared(np.equal)),
    "greater": StringRule(_compared(np.greater)),
    "greater_equal": StringRule(_compared(np.greater_equal)),
    "isin": StringRule(_isin),
    "less": StringRule(_compared(np.less)),
    "less_equal": StringRule(_compared(np.less_equal)),
    "not_equal": StringRule(_compared(np.not_equal)),
    "searchsorted": StringRule(_searchsorted),
    "sort": StringRule(_sort),
    # Sets, whose results have a data-dependent size.
    "intersect1d": StringRule(np.intersect1d),
    "setdiff1d": StringRule(np.setdiff1d),
    "setxor1d": StringRule(np.setxor1d),
    "union1d": StringRule(np.union1d),
    "unique": StringRule(np.unique),
    "unique_all": StringRule(np.unique_all),
    "unique_counts": StringRule(np.unique_counts),
    "unique_inverse": StringRule(np.unique_inverse),
    "unique_values": StringRule(np.unique),
    # Together.
    "add": StringRule(np.add),
}
"""The implementations of ops for strings, by op name."""

for _name, _rule in RULES.items():
    STRING_RULES.add(_name, _rule)


# String functions in graphs that are built by hand, as host ops that call the functions themselves.

P = ParamSpec("P")
R = TypeVar("R")
TypeOf = Callable[[Sequence[TensorType], Attrs], TensorType]


def in_graphs(*tensors: str, type: TypeOf) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Turns a function into a host op, for calls with tensors of graphs that are built by hand."""
    # tensors: the parameters that take tensors, or lists of them; the others are attributes.

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        signature = inspect.signature(function)
        name = f"strings.{function.__name__}"
        doc = (function.__doc__ or "").partition("\n")[0]
        op = OpDef(
            name, partial(_run, function, tensors), partial(_infer, type), ("*values",), differentiable=False,
            takes_open=True, host=True, elementwise=isinstance(type, each_of), doc=doc,
        )  # fmt: skip
        OPS.add(name, op)

        @wraps(function)
        def either(*args: P.args, **kwargs: P.kwargs) -> R:
            if not any(map(_is_late, (*args, *kwargs.values()))):
                return function(*args, **kwargs)
            bound = signature.bind(*args, **kwargs)
            bound.apply_defaults()
            values = [bound.arguments.pop(one) for one in tensors]
            lists = [_items(value) for value in values]
            lengths = tuple(-1 if items is None else len(items) for items in lists)
            flat: list[Any] = []
            for value, items in zip(values, lists, strict=True):
                flat.extend([value] if items is None else items)
            attrs = {key: _attribute(key, value) for key, value in bound.arguments.items()}
            return apply(op, flat, Attrs(lengths=lengths, **attrs))

        return either

    return decorate


def _items(value: Any) -> list[Any] | None:
    """Returns the items of a list or tuple; None for other values."""
    return list(cast("Sequence[Any]", value)) if isinstance(value, list | tuple) else None


def _is_late(value: Any) -> bool:
    """Returns True for a tensor of a graph, strings without a value, or a list with one of these."""
    items = _items(value)
    if items is not None:
        return any(map(_is_late, items))
    return isinstance(value, LateStrings) or (isinstance(value, SymbolicTensor) and value.trace.root.is_graph)


def _attribute(name: str, value: Any) -> Any:
    if name == "out_type":
        return as_dtype(getattr(value, "as_numpy_dtype", value))
    items = _items(value)
    return value if items is None else tuple(items)


def _run(
    function: Callable[..., Any], tensors: Sequence[str], *arrays: np.ndarray[Any, Any], lengths: Sequence[int],
    **attrs: Any,
) -> np.ndarray[Any, Any]:  # fmt: skip
    rest = iter([as_strings(array) if array.dtype == STRING else array for array in arrays])
    arguments = {
        name: next(rest) if length < 0 else [next(rest) for _ in range(length)]
        for name, length in zip(tensors, lengths, strict=True)
    }
    result = function(**arguments, **attrs)
    return bytes_array(result) if isinstance(result, StringTensor) else np.asarray(result)


def _infer(type: TypeOf, types: Sequence[TensorType], attrs: Attrs, regions: Sequence[Graph]) -> tuple[TensorType, ...]:
    del regions
    return (type(types, attrs),)


@dataclass(frozen=True)
class each_of:  # noqa: N801  a rule among functions that are rules
    """The type rule of elementwise functions: the broadcast shape of all inputs."""

    dtype: Callable[[Attrs], Any] | None = None  # returns the result's dtype for the attributes; None for strings

    def __call__(self, types: Sequence[TensorType], attrs: Attrs) -> TensorType:
        """Returns the type of the result for the types of the tensors and the attributes."""
        dtype: Any = STRING if self.dtype is None else self.dtype(attrs)
        if not all(type.ranked for type in types):
            return TensorType((), dtype, ranked=False)
        rank = max(len(type.shape) for type in types)
        columns = zip(*[(1,) * (rank - len(type.shape)) + tuple(type.shape) for type in types], strict=True)
        return TensorType(tuple(_together(column, types) for column in columns), dtype)


def _together(sizes: Sequence[int], types: Sequence[TensorType]) -> int:
    fixed = {size for size in sizes if size not in (1, OPEN)}
    if len(fixed) > 1:
        shapes = " and ".join(map(str, types))
        raise refused(InvalidArgumentError(f"the shapes of {shapes} cannot be broadcast together"))
    return fixed.pop() if fixed else OPEN if OPEN in sizes else 1


def single(types: Sequence[TensorType], attrs: Attrs) -> TensorType:
    """Returns the type of a single string."""
    del types, attrs
    return TensorType((), STRING)


def parts(types: Sequence[TensorType], attrs: Attrs) -> TensorType:
    """Returns the type of the parts of strings, whose number is the largest number of parts."""
    del attrs
    return TensorType((*types[0].shape, OPEN), STRING) if types[0].ranked else types[0]


def joined(types: Sequence[TensorType], attrs: Attrs) -> TensorType:
    """Returns the type of strings that are joined along axes."""
    (operand,) = types
    axis = attrs["axis"]
    if axis is None and not attrs["keepdims"]:
        return TensorType((), STRING)
    if not operand.ranked:
        return operand
    rank = len(operand.shape)
    axes = range(rank) if axis is None else (axis,) if isinstance(axis, int) else axis
    if not all(-rank <= one < rank for one in axes):
        raise refused(InvalidArgumentError(f"strings.reduce_join: axis {axis} is out of range for {operand}"))
    gone = {one % rank for one in axes}
    reduced = [1 if index in gone else size for index, size in enumerate(operand.shape)]
    shape = reduced if attrs["keepdims"] else [size for index, size in enumerate(operand.shape) if index not in gone]
    return TensorType(tuple(shape), STRING)
