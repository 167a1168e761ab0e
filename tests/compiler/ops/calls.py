"""The rows of the op table, an example of use of each, and the calls that the examples are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from graphc.compiler.core import FUNCTIONS
from graphc.compiler.ops.table import ROWS
from tests.compiler.ops.examples import EXAMPLES as FIRST_EXAMPLES
from tests.compiler.ops.examples import Example
from tests.compiler.ops.examples_lax import LAX_EXAMPLES
from tests.compiler.ops.examples_nn import NN_EXAMPLES
from tests.compiler.ops.examples_numpy import NUMPY_EXAMPLES
from tests.compiler.ops.examples_special import SPECIAL_EXAMPLES

__all__ = ["ALL_ROWS", "EXAMPLES", "called", "is_jax_s", "is_tensor", "leaves", "replaced"]

EXAMPLES = FIRST_EXAMPLES | NUMPY_EXAMPLES | SPECIAL_EXAMPLES | NN_EXAMPLES | LAX_EXAMPLES
ALL_ROWS = {row.name: row for rows in ROWS.values() for row in rows}


def is_jax_s(name: str) -> bool:
    """Tells if a row's callable is a function of JAX, which JAX's own tests look at."""
    return str(getattr(ALL_ROWS[name].impl, "__module__", "")).partition(".")[0] in ("jax", "jaxlib")


def is_tensor(value: Any) -> bool:
    return isinstance(value, np.ndarray | np.generic)


def leaves(value: Any) -> Iterator[Any]:
    """The arrays in an example's arguments."""
    if is_tensor(value):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from leaves(item)


def replaced(value: Any, tensors: Iterator[Any]) -> Any:
    if is_tensor(value):
        return next(tensors)
    if isinstance(value, list):
        return [replaced(item, tensors) for item in value]
    return value


def called(name: str, case: Example) -> tuple[Callable[..., Any], list[Any]]:
    """The public function on an example, as a function of the arrays in it, and these arrays."""
    inputs = [array for value in (*case.args, *case.kwargs.values()) for array in leaves(value)]

    def call(*tensors: Any) -> Any:
        rest = iter(tensors)
        args = [replaced(value, rest) for value in case.args]
        return FUNCTIONS[name](*args, **{key: replaced(value, rest) for key, value in case.kwargs.items()})

    return call, inputs
