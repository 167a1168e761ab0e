"""Slicing, item assignment, augmented assignment."""

from __future__ import annotations

from typing import Any

import graphc as gx
from tests.conformance.harness import b, f, i, program

SLICES = "slicing"
STORE = "`x[i] = v`, `x[a:b] = v`, `x[i, j] = v`"
MASK = "`x[mask] = v`"
LOOP = "item assignment in loops and branches"
ARGUMENT = "item assignment to an argument: the caller sees it"
ALIAS = "aliases of a tensor that is assigned to"
COPY = "a slice is a copy"
AUGMENTED = "augmented assignment"
V = f(1, 2, 3, 4)


@program("items/slices", inputs=[(f(range(6)),), (f(-3, 5, 0, 1),)], construct=SLICES, gradient=True)
def slices(x: Any) -> Any:
    return x[1:3], x[::-1], x[-2:], x[:-1] - x[1:], x[..., 0], x[None, ::2]


@program(
    "items/slices of a matrix",
    inputs=[(f([[1, 2, 3], [4, 5, 6]]),), (f([[0, -1], [2, 2]]),)],
    construct=SLICES,
    gradient=True,
)
def matrix_slices(x: Any) -> Any:
    return x[0], x[:, 1], x[-1, 0] * x[1:, :1], x[[1, 0]], x[:, None]


@program("items/tensor index", inputs=[(V, i(0)), (V, i(3)), (V, i(-1))], construct=SLICES, gradient=True)
def tensor_index(x: Any, k: Any) -> Any:
    return x[k] * 2, x[gx.stack([k, k])]


@program(
    "items/window at a tensor start",
    inputs=[(V, i(0)), (V, i(2))],
    construct="a shape that depends on a tensor's value",
    refused=(gx.errors.InvalidArgumentError, "gx.dynamic_slice"),
)
def tensor_window(x: Any, k: Any) -> Any:
    return x[k : k + 2] * 3


@program(
    "items/slice up to a tensor",
    inputs=[(V, i(1)), (V, i(3))],
    construct="a shape that depends on a tensor's value",
    refused=(gx.errors.GraphcError, r"(?i)slice|shape|index"),
)
def slice_up_to(x: Any, n: Any) -> Any:
    return x[:n]


@program(
    "items/select by a mask",
    inputs=[(V,), (f(-1, 5, -3, 2),)],
    construct="a shape that depends on a tensor's value",
    refused=(gx.errors.GraphcError, r"(?i)mask|bool|where"),
)
def select_by_mask(x: Any) -> Any:
    return gx.sum(x[x > 2])


@program("items/assign an element", inputs=[(V,), (f(0, -1),)], construct=STORE)
def assign_element(x: Any) -> Any:
    y = x * 2
    y[0] = 10
    y[-1] = y[0] + x[1]
    return y


@program("items/assign, with gradients", inputs=[(V, f(5.0)), (f(-1, 0), f(2.0))], construct=STORE, gradient=True)
def assign_with_gradient(x: Any, v: Any) -> Any:
    y = x * x
    y[0] = v * v
    y[1] = y[0] * y[1]
    return y * 3


@program("items/assign slices", inputs=[(f(range(6)), f(7, 8)), (f([1] * 6), f(0, -1))], construct=STORE, gradient=True)
def assign_slices(x: Any, v: Any) -> Any:
    y = gx.zeros(6) + x
    y[1:3] = v
    y[4:] = 0
    y[::5] = v * 10
    return y


@program(
    "items/assign in a matrix",
    inputs=[(f([[1, 2], [3, 4]]), i(0)), (f([[5, 6], [7, 8]]), i(1))],
    construct=STORE,
    gradient=True,
)
def assign_matrix(x: Any, k: Any) -> Any:
    y = x * 1
    y[0, 1] = -1
    y[k, 0] = y[0, 1] * 4
    y[:, 1] += x[:, 0]
    y[k] *= 2
    return y


@program("items/assign casts to the dtype", inputs=[(f(1, 2, 3), i(7)), (f(0, 0, 0), i(-2))], construct=STORE)
def assign_casts(x: Any, v: Any) -> Any:
    y = x + 1
    y[0] = 3
    y[1] = v
    y[2] = True
    return y


@program(
    "items/assign with a loss",
    inputs=[(i(1, 2, 3), f(2.75))],
    construct="`x[i] = v` of a dtype that does not fit",
    refused=(gx.errors.InvalidTypeError, "float32.*int32.*without loss"),
)
def assign_with_loss(x: Any, v: Any) -> Any:
    y = x + 1
    y[1] = v
    return y


@program("items/assign broadcasts", inputs=[(f([[1, 2], [3, 4]]),), (f([[0, 0], [0, 0]]),)], construct=STORE)
def assign_broadcasts(x: Any) -> Any:
    y = gx.ones((2, 2))
    y[...] = x[0]
    y[1, :] = 5
    y[[0, 1], [1, 0]] = x[:, 0]
    return y


@program("items/assign a shape that does not fit", inputs=[(V,)], construct=STORE, raises=ValueError)
def assign_wrong_shape(x: Any) -> Any:
    y = x * 1
    y[0:2] = gx.ones(3)
    return y


@program("items/assign out of range", inputs=[(V,)], construct=STORE, raises=IndexError)
def assign_out_of_range(x: Any) -> Any:
    y = x * 1
    y[4] = 0
    return y


@program("items/assign by a mask", inputs=[(f(1, -2, 3),), (f(-1, -1, -1),)], construct=MASK)
def assign_mask(x: Any) -> Any:
    y = x * 1
    y[y < 0] = 0
    y[x > 2] *= 10
    return y


@program(
    "items/mask given as an argument",
    inputs=[(f(1, -2, 3), b(True, False, True)), (f(1, 2, 3), b(False, False, False))],
    construct=MASK,
    gradient=True,
)
def assign_mask_argument(x: Any, mask: Any) -> Any:
    y = x * 2
    y[mask] = x[0]
    return y


@program("items/assign in a loop over a range", inputs=[(f(range(5)),), (f(3, 1, 2),)], construct=LOOP, gradient=True)
def assign_in_range(x: Any) -> Any:
    y = gx.zeros(len(x))
    for k in range(len(x)):
        y[k] = x[k] * k
    return y


@program("items/prefix sums", inputs=[(f(range(40)),), (f([0.5] * 40),)], construct=LOOP, gradient=True)
def prefix_sums(x: Any) -> Any:
    y = x * 1
    for k in range(1, len(x)):
        y[k] += y[k - 1]
    return y


@program("items/assign in a while loop", inputs=[(f(5, 3, 9, 1),), (f(1, 2, 3, 4),)], construct=LOOP)
def insertion(x: Any) -> Any:
    y = x + 0
    k = gx.asarray(3)
    while k > 0 and y[k - 1] > y[k]:
        y[k - 1], y[k] = y[k], y[k - 1]
        k = k - 1
    return y


@program("items/bubble sort", inputs=[(f(5, 3, 9, 1),), (f(1, 2, 3, 4),)], construct=LOOP)
def bubble(x: Any) -> Any:
    y = x + 0
    n = len(y)
    for end in range(n - 1, 0, -1):
        for k in range(end):
            if y[k] > y[k + 1]:
                y[k], y[k + 1] = y[k + 1], y[k]
    return y


@program("items/assign in a branch", inputs=[(f(1, 2),), (f(-1, 2),)], construct=LOOP, gradient=True)
def assign_in_branch(x: Any) -> Any:
    y = x * 3
    if x[0] > 0:
        y[1] = 0
    else:
        y[0] = x[1] * x[1]
    return y


@program("items/assign in a called function", inputs=[(f(1, 2),), (f(-1, 2),)], construct=LOOP)
def assign_in_called(x: Any) -> Any:
    y = x * 3
    _set_first(y, x[1])
    if x[0] > 0:
        _set_first(y, y[0] + 1)
    return y


def _set_first(target: Any, value: Any) -> None:
    target[0] = value


@program(
    "items/augmented assignment", inputs=[(f(1, 2), f(3.0)), (f(-1, 0.5), f(2.0))], construct=AUGMENTED, gradient=True
)
def augmented(x: Any, s: Any) -> Any:
    x += s
    x *= 2
    x -= 1
    x /= s
    x **= 2
    return x


@program("items/augmented assignment rebinds", inputs=[(f(1, 2),), (f(-1, 0.5),)], construct=AUGMENTED)
def augmented_rebinds(x: Any) -> Any:
    y = x
    y += 10
    return x, y


@program("items/augmented assignment of integers", inputs=[(i(13), i(4)), (i(-13), i(4))], construct=AUGMENTED)
def augmented_integers(n: Any, d: Any) -> Any:
    n //= d
    m = n
    m %= d
    m <<= 2
    m |= 1
    m ^= d
    return n, m & 7


@program("items/augmented assignment of an element", inputs=[(f(1, 2),), (f(-1, 0.5),)], construct=AUGMENTED)
def augmented_element(x: Any) -> Any:
    y = x * 1
    y[0] += 5
    y[0] **= 2
    y[1] -= y[0]
    return y


@program("items/at", inputs=[(f(1, 2), i(0)), (f(-1, 0.5), i(1))], construct="`x.at[i].set(v)`", gradient=True)
def functional_update(x: Any, k: Any) -> Any:
    return x.at[k].set(x[0] * 3).at[1].add(10), x


@program("items/delete", inputs=[(V,)], construct="`del x[i]` of a tensor", refused=(gx.errors.GraphcError, r"(?i)del"))
def delete_item(x: Any) -> Any:
    y = x * 1
    del y[0]
    return y


AFTER_RETURN = "`x[i] = v` after a `return` under a condition"


@program(
    "items/assign after a return in a loop",
    inputs=[(f(1, 2, 3, 4),), (f(1, 6, 3, 4),), (f(6, 1),)],
    construct=AFTER_RETURN,
    gradient=True,
)
def assign_after_return_in_a_loop(xs: Any) -> Any:
    squares = gx.zeros(8)
    for k in range(len(xs)):
        squares[k] = xs[k] ** 2
        if xs[k] > 5:
            return squares, xs[k] * 2
        squares[k + 1] = xs[k]
    return squares, xs[0]


@program(
    "items/assign after a return in a while loop", inputs=[(f(1.0),), (f(3.0),), (f(60.0),)], construct=AFTER_RETURN
)
def assign_after_return_in_a_while_loop(x: Any) -> Any:
    seen = gx.zeros(3)
    while x < 50:
        seen[0] = x
        x = x * 2
        if x == 24:
            return seen
        seen[1] = x + seen[0]
    return seen


@program(
    "items/assign to what a call may have returned",
    inputs=[(f(1.0),), (f(6.0),)],
    construct=AFTER_RETURN,
    refused=(gx.errors.UnimplementedError, r"the return value may or may not be"),
)
def assign_to_returned(x: Any) -> Any:
    squares = gx.zeros(3)

    def chosen(x: Any) -> Any:
        if x > 5:
            return squares
        squares[1] = x
        return gx.ones(3)

    y = chosen(x)
    squares[0] = 7.0
    return y, squares


@program(
    "items/assign in a finally block after a return",
    inputs=[(f(1.0),), (f(6.0),)],
    construct=AFTER_RETURN,
    refused=(gx.errors.UnimplementedError, r"the return value may or may not be"),
)
def assign_in_finally(x: Any) -> Any:
    squares = gx.zeros(3)
    try:
        if x > 5:
            return squares
        squares[1] = x
    finally:
        squares[0] = 7.0
    return squares


class _Closing:
    def __init__(self, values: Any) -> None:
        self.values = values

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *error: object) -> None:
        self.values[0] = 9.0


@program(
    "items/assign when a context manager is left after a return",
    inputs=[(f(1.0),), (f(6.0),)],
    construct=AFTER_RETURN,
    refused=(gx.errors.UnimplementedError, r"the return value may or may not be"),
)
def assign_in_exit(x: Any) -> Any:
    squares = gx.zeros(3)
    with _Closing(squares):
        if x > 5:
            return squares
        squares[1] = x
    return squares
