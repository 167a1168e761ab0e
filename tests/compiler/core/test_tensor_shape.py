"""TensorShape and Dimension: what TensorFlow's own give, and what is refused."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import graphc as gx
from graphc.compiler.base.errors import InvalidArgumentError, InvalidTypeError
from graphc.compiler.core import Dimension, TensorShape
from graphc.compiler.ir import OPEN, TensorType

T, D = TensorShape, Dimension


@pytest.mark.parametrize(
    ("found", "expected"),  # as TensorFlow 2.21 has them
    [
        (T([1, 2]).concatenate([3]), T([1, 2, 3])),
        ((1,) + T([3]), T([1, 3])),  # noqa: RUF005  it is this operator
        (T(None) + (3,), T(None)),  # noqa: RUF005
        (T(None).with_rank(2), T([None, None])),
        (T([1, None]).merge_with([None, 3]), T([1, 3])),
        (T(None).merge_with([2, 3]), T([2, 3])),
        (T([1, None]).most_specific_compatible_shape([2, None]), T([None, None])),
        (T([1]).most_specific_compatible_shape([1, 2]), T(None)),
        (T([1, 2])[:1], T([1])),
        (T(None)[2:5], T([None] * 3)),
        (T(None)[1:], T(None)),
        (T([D(3), None]), T([3, None])),
        (T(3), T([3])),
    ],
)
def test_shapes_of_shapes(found: TensorShape, expected: TensorShape) -> None:
    assert found == expected
    assert repr(found) == repr(expected)


def test_facts() -> None:
    shape = T([2, None, 3])
    assert (shape.rank, shape.ndims, len(shape), shape[-1], shape.as_list()) == (3, 3, 3, 3, [2, None, 3])
    assert (str(shape), str(T(None)), str(T([1])), repr(T(None))) == (
        "(2, None, 3)", "<unknown>", "(1,)", "TensorShape(None)",
    )  # fmt: skip
    assert (shape.num_elements(), T([2, 3]).num_elements(), T(None).num_elements()) == (None, 6, None)
    assert (shape.is_fully_defined(), T([2]).is_fully_defined(), T(None).is_fully_defined()) == (False, True, False)
    assert shape.is_compatible_with([2, 5, 3])
    assert not shape.is_compatible_with([2, 5])
    assert T([2, 3]).is_subtype_of([2, None])
    assert not T([2, None]).is_subtype_of([2, 3])
    assert [dim.value for dim in shape.dims or ()] == [2, None, 3]
    assert (bool(T(None)), bool(T([])), T(None).rank, T(None).dims, T(None)[0]) == (False, True, None, None, None)
    assert T([1, 2]) == [1, 2] == list(T([1, 2]))
    assert T([1, 2]) == (1, 2)
    assert T([1, 2]) not in (T([2, 1]), [1, None], T(None), 3, "a")
    assert T(None) == T(None)
    assert len({T([1, None]), T([1, None]), T(None)}) == 2
    assert pickle.loads(pickle.dumps(shape)) == shape
    assert T.of(TensorType((OPEN, 3), np.dtype("float32"))) == [None, 3]
    assert gx.zeros(T([2, 3])).get_shape() == T([2, 3])


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (
            lambda: T([1, 2]).merge_with([2, 3]),
            InvalidArgumentError,
            r"Shapes \(1, 2\) and \(2, 3\) are not compatible",
        ),
        (lambda: T([1, 2]).with_rank(3), InvalidArgumentError, r"Shape \(1, 2\) must have rank 3"),
        (lambda: T([1, 2]).with_rank_at_least(3), InvalidArgumentError, "must have rank at least 3"),
        (lambda: T([1, 2]).with_rank_at_most(1), InvalidArgumentError, "must have rank at most 1"),
        (lambda: T([1]).assert_same_rank([1, 2]), InvalidArgumentError, r"\(1,\) and \(1, 2\) must have the same rank"),
        (lambda: T([1]).assert_is_compatible_with([2]), InvalidArgumentError, r"\(1,\) and \(2,\) are incompatible"),
        (lambda: T([None]).assert_is_fully_defined(), InvalidArgumentError, r"Shape \(None,\) is not fully defined"),
        (lambda: T(None).as_list(), InvalidArgumentError, "not defined on an unknown TensorShape"),
        (lambda: len(T(None)), InvalidArgumentError, "so it has no length"),
        (lambda: list(T(None)), InvalidArgumentError, "cannot be iterated over"),
        (lambda: T("ab"), InvalidTypeError, "a list of sizes, or one size; got 'ab'"),
        (lambda: T([1.5]), InvalidTypeError, "an int or None, got float 1.5"),
        (lambda: T([-1]), InvalidArgumentError, "at least 0, or None if unknown; got -1"),
        (lambda: D(3).merge_with(4), InvalidArgumentError, "Dimensions 3 and 4 are not compatible"),
        (lambda: D(6) / 2, InvalidTypeError, "use //"),
        (lambda: range(D(None)), InvalidArgumentError, "the size of this Dimension is not known"),  # type: ignore[arg-type]
    ],
)
def test_what_does_not_fit_is_refused(call: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=f"(?s){message}.*test_tensor_shape"):
        call()


def test_dimensions() -> None:
    assert [(D(7) + 2).value, (2 * D(7)).value, (D(7) // 2).value, (D(7) % 4).value, (9 - D(7)).value] == [
        9,
        14,
        3,
        3,
        2,
    ]
    assert [D(3) == 3, D(3) != 3, D(3) < 4, D(3) >= 4, D(None) == 3, D(None) < 3] == [
        True,
        False,
        True,
        False,
        None,
        None,
    ]
    assert (D(None) + 1).value is None
    assert (str(D(3)), str(D(None)), repr(D(None)), list(range(D(2)))) == ("3", "?", "Dimension(None)", [0, 1])
    assert D(None).merge_with(2).value == D(2).merge_with(None).value == 2
