"""Shapes and dtypes that do not fit: every row refuses them in eager code and in a graph with the same sentence.

A third of the rows is drawn (see ``tests/draws.py``). Of each one refusal is looked at, and a tenth of the others.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import graphc as gx
from graphc.compiler.base.errors import GraphcError, InvalidArgumentError, InvalidTypeError, OutOfRangeError
from graphc.compiler.core import Tensor
from graphc.compiler.ops.signature import RowSignature
from tests.compiler.ops.calls import ALL_ROWS, EXAMPLES, called
from tests.compiler.ops.examples import Example
from tests.compiler.ops.support import trace
from tests.draws import is_drawn

TAKE_ALL = {
    *("append", "array_equal", "array_equiv", "fmax", "fmin", "full_like", "geomspace", "gradient", "insert"),
    *(
        "intersect1d",
        "isin",
        "kron",
        "lax.full_like",
        "linspace",
        "logspace",
        "nn.squareplus",
        "outer",
        "setdiff1d",
        "setxor1d",
        "union1d",
    ),
}
"""Rows of several tensors that take any shapes and dtypes in the place of one of their example's."""

_KINDS = (InvalidArgumentError, InvalidTypeError, OutOfRangeError)


def cases(name: str) -> Iterator[tuple[str, Any, list[Any]]]:
    """The row's first example with one of its tensors of another shape or dtype."""
    by_value = ALL_ROWS[name].by_value is not None
    case = next((case for case in EXAMPLES[name] if not by_value or "size" in case.kwargs), Example(()))
    call, inputs = called(name, case)
    for place, array in enumerate(inputs):
        others = [
            np.zeros((7, 5, 2), array.dtype),
            np.zeros((), array.dtype),
            array.astype(np.complex64 if array.dtype.kind != "c" else np.bool_),
            array.astype(np.float32 if array.dtype.kind in "iub" else np.bool_),
        ]
        for kind, other in zip(("larger", "scalar", "complex", "of another kind"), others, strict=True):
            if (other.shape, other.dtype) != (array.shape, array.dtype):
                yield f"{name}, {place} {kind}", call, [*inputs[:place], other, *inputs[place + 1 :]]


def refused(call: Any, inputs: list[Any]) -> GraphcError | None:
    try:
        call(inputs)
    except GraphcError as error:
        return error
    except (DeprecationWarning, np.exceptions.ComplexWarning):
        # JAX warns of what it will refuse one day, such as the loss of an imaginary part. Were the warning ignored, JAX
        # would keep the trace, and not warn the tests that come later.
        return None
    return None


def test_every_row_refuses_in_both_modes_with_the_same_sentence() -> None:
    refusing: set[str] = set()
    wrong: list[str] = []
    rows = {name: row for name, row in ALL_ROWS.items() if is_drawn(name, 3)}
    for name in rows:
        for which, call, inputs in cases(name):
            if name in refusing and not is_drawn(which):
                continue
            in_graph = refused(lambda values, call=call: trace(call, values), inputs)
            if in_graph is None:
                continue
            refusing.add(name)
            eager = refused(lambda values, call=call: call(*map(Tensor, map(jnp.asarray, values))), inputs)
            sentences = [str(error).split("\n")[0] for error in (eager, in_graph)]
            same = type(eager) is type(in_graph) and sentences[0] == sentences[1]
            named = isinstance(eager, _KINDS) and sentences[0].startswith((f"{name}(", f"{name}."))
            lines = all("calls.py" in str(error) for error in (eager, in_graph))
            if not (same and named and lines):
                wrong.append(f"{which}: {sentences}")
    assert wrong == []
    several = {name for name, row in rows.items() if len(RowSignature.parse(row.signature).tensors) > 1}
    assert several - refusing == TAKE_ALL & rows.keys()


def test_a_name_is_no_axis() -> None:
    with pytest.raises(InvalidTypeError, match=r"sum\(x: f32\[3\], axis='a'\): an axis must be an int or a tuple"):
        gx.sum(gx.ones(3), axis="a")  # pyright: ignore[reportArgumentType]
