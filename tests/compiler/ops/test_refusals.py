"""What is said where arguments do not fit: by the parameters' names, with the user's line, alike in both modes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import graphc as gx
from graphc.compiler.base.errors import InvalidArgumentError, InvalidTypeError

A, B, V, S = gx.ones((3, 3)), gx.ones((2, 3)), gx.ones(3), gx.asarray(1.0)
I = gx.zeros((2, 0), dtype="int32")  # noqa: E741
SQUARE = "expected a square matrix or a batch of them"
COUNT = "expected a nonnegative int"

CASES: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (
        lambda: gx.linalg.inv(B),
        InvalidArgumentError,
        f"linalg.inv(x: f32[2,3]): x has the shape (2, 3), {SQUARE} (x is",
    ),
    (lambda: gx.linalg.cholesky(V), InvalidArgumentError, f"x has the shape (3,), {SQUARE}"),
    (lambda: gx.linalg.matrix_power(B, 2), InvalidArgumentError, f"x has the shape (2, 3), {SQUARE}"),
    (lambda: gx.linalg.matrix_power(A, 1.5), InvalidTypeError, "n is 1.5, expected an int"),  # pyright: ignore
    (lambda: gx.linalg.eigh(S), InvalidArgumentError, f"x has the shape (), {SQUARE}"),
    (lambda: gx.linalg.pinv(V), InvalidArgumentError, "x has the shape (3,), expected a matrix or a batch of matrices"),
    (lambda: gx.linalg.solve(B, V), InvalidArgumentError, f"x1 has the shape (2, 3), {SQUARE}"),
    (
        lambda: gx.linalg.solve(A, B),
        InvalidArgumentError,
        "x2 has the shape (2, 3), expected a vector of 3 elements or",
    ),
    (lambda: gx.linalg.solve(A, S), InvalidArgumentError, "x2 has the shape (), expected a vector of 3 elements or a"),
    (
        lambda: A @ B,
        InvalidArgumentError,
        "matmul(x1: f32[3,3], x2: f32[2,3]): x1 has 3 columns and x2 has 2 rows, exp",
    ),
    (lambda: gx.matmul(B, gx.ones(2)), InvalidArgumentError, "x1 has 3 columns and x2 has 2 elements, expected equal"),
    (lambda: gx.matmul(S, A), InvalidArgumentError, "x1 has the shape (), expected a vector or a matrix"),
    (
        lambda: gx.linalg.matmul(gx.ones((2, 3, 3)), gx.ones((4, 3, 3))),
        InvalidArgumentError,
        "the batch axes (2,) and (4,) cannot be broadcast together",
    ),
    (lambda: gx.zeros(-1), InvalidArgumentError, "zeros(shape=-1): shape is -1, expected nonnegative ints"),
    (lambda: gx.ones((2, -1)), InvalidArgumentError, "shape is (2, -1), expected nonnegative ints"),
    (lambda: gx.zeros(2.5), InvalidTypeError, "shape is 2.5, expected an int or a tuple of ints"),  # pyright: ignore
    (
        lambda: gx.full(3, gx.ones(2)),
        InvalidArgumentError,
        "fill_value has the shape (2,), which cannot be broadcast to",
    ),
    (
        lambda: gx.broadcast_to(A, (2, 3)),
        InvalidArgumentError,
        "x has the shape (3, 3), which cannot be broadcast to (2,",
    ),
    (lambda: gx.eye(-1), InvalidArgumentError, f"eye(n_rows=-1): n_rows is -1, {COUNT}"),
    (lambda: gx.eye(3, -2), InvalidArgumentError, f"n_cols is -2, {COUNT}"),
    (lambda: gx.eye(3, k=1.5), InvalidTypeError, "k is 1.5, expected an int"),  # pyright: ignore
    (lambda: gx.linspace(0.0, 1.0, -1), InvalidArgumentError, f"num is -1, {COUNT}"),
    (lambda: gx.hanning(-1), InvalidArgumentError, f"M is -1, {COUNT}"),
    (lambda: gx.arange(0, 3, 0), InvalidArgumentError, "step must not be 0"),
    (lambda: gx.arange((1, 2)), InvalidTypeError, "start is (1, 2), expected a number"),  # pyright: ignore
    (lambda: gx.tile(A, -1), InvalidArgumentError, "repetitions is -1, expected nonnegative ints"),
    (lambda: gx.repeat(A, -1), InvalidArgumentError, "repeats is -1, expected nonnegative ints"),
    (lambda: gx.reshape(A, (1.5, 2)), InvalidTypeError, "shape is (1.5, 2), expected an int or a tuple of ints"),  # pyright: ignore
    (lambda: gx.reshape(A, (-1, 2)), InvalidArgumentError, "reshape(x: f32[3,3], shape=(-1, 2)): "),
    # XLA divides by zero while it compiles, which ended the process.
    (lambda: gx.mean(I, dtype="int32"), InvalidArgumentError, "the mean of no elements is not int32; omit dtype"),
    (lambda: gx.nanmean(I, axis=-1, dtype="int8"), InvalidArgumentError, "the mean of no elements is not int8; omit"),
    (lambda: gx.nanmean(A, dtype="int32"), InvalidTypeError, "the mean of float32 is not int32; convert it with"),
    (lambda: gx.linspace(1j, 2.0, 3, dtype="float32"), InvalidTypeError, "complex numbers do not fit float32; take"),
    (lambda: gx.random.normal((-1,)), InvalidArgumentError, "shape is (-1,), expected nonnegative ints"),
]


@pytest.mark.parametrize(("call", "kind", "message"), CASES)
def test_what_does_not_fit_is_told_in_both_modes(call: Callable[[], Any], kind: type[Exception], message: str) -> None:
    texts: list[str] = []
    for one in (call, gx.function(call)):
        with pytest.raises(kind) as caught:
            one()
        assert type(caught.value) is kind
        text = str(caught.value)
        assert message in text
        assert f'\n  at File "{__file__}"' in text
        texts.append(text)
    assert texts[0] == texts[1]
