"""The array functions that also accept tensors of strings: those that rearrange, select, compare and sort elements.

Each rule is NumPy's function of the same meaning, on arrays of Python strings.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from graphc.compiler.core import STRING_RULES, StringRule

__all__ = ["RULES"]


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
    known = set(values.ravel().tolist())
    found = np.array([item in known for item in x.ravel().tolist()], bool).reshape(x.shape)
    return ~found if invert else found


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
