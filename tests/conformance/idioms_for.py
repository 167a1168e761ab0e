"""`for` loops: over tensors, ranges, and what Python wraps around them."""

from __future__ import annotations

from typing import Any

import graphc as gx
from tests.conformance.harness import f, i, program

FOR_TENSOR = "`for` over a tensor"
FOR_RANGE = "`for` over a `range`"
FOR_TENSOR_RANGE = "`for` over a `range` or `gx.arange` with a tensor bound"
ITERATORS = "`enumerate`, `zip`, `reversed` over tensors"
CONTAINERS = "`for` over a list, tuple or dict of tensors"
FOR_ELSE = "`for..else`"


@program("for/tensor", inputs=[(f(1, 2, 3, 4),), (f(-1, 5, -7, 2),)], construct=FOR_TENSOR, gradient=True)
def for_tensor(x: Any) -> Any:
    total = gx.asarray(0.0)
    for value in x:
        if value > 0:
            total = total + value * value
        else:
            total = total - value
    return total


@program(
    "for/rows of a matrix",
    inputs=[(f([[1, 2], [3, 4], [5, 6]]),), (f([[-1, 0]]),)],
    construct=FOR_TENSOR,
    gradient=True,
)
def rows_of_a_matrix(x: Any) -> Any:
    best = x[0]
    for row in x:
        if gx.sum(row) > gx.sum(best):
            best = row
    return best * 2


@program(
    "for/python number as accumulator",
    inputs=[(f(0.5, -1, 2),), (f(3.0, 3.0, 3.0),)],
    construct=FOR_TENSOR,
    gradient=True,
)
def python_accumulator(x: Any) -> Any:
    total = 0
    for value in x:
        total += value
    return total


@program(
    "for/tensor without elements",
    inputs=[(np_empty,) for np_empty in (f([]), f(1, 2))],
    construct=FOR_TENSOR,
    python_numbers=True,
)
def empty_tensor(x: Any) -> Any:
    largest, count = -1.0, 0
    for value in x:
        largest, count = max(largest, value), count + 1
    return largest, count


@program("for/last value of the target", inputs=[(f(1, 2, 3),), (f(9, -9, 4),)], construct=FOR_TENSOR, gradient=True)
def target_after_the_loop(x: Any) -> Any:
    seen = x[0] * 0
    for value in x:
        seen = seen + value
        if value > 5:
            break
    return value, seen


@program("for/break", inputs=[(f(1, 2, 3), 2.5), (f(1, 2, 3), 0.5), (f(1, 2, 3), 7.0)], construct="`break`")
def with_break(x: Any, limit: float) -> Any:
    total = 0.0 * x[0]
    for value in x:
        if value > limit:
            break
        total += value
    return total


@program(
    "for/continue", inputs=[(f(1, -2, 3),), (f(-1, -2, -3),), (f(1, 2, 3),)], construct="`continue`", gradient=True
)
def with_continue(x: Any) -> Any:
    product = gx.ones(())
    for value in x:
        if value < 0:
            continue
        product *= value
    return product


@program("for/range, short", inputs=[(f(1.5), 3), (f(-0.5), 1), (f(2.0), 0)], construct=FOR_RANGE, gradient=True)
def short_range(x: Any, n: int) -> Any:
    for k in range(n):
        x = x * x + k
    return x


@program("for/range, long", inputs=[(f(0.9), 200), (f(-0.3), 57)], construct=FOR_RANGE, gradient=True)
def long_range(x: Any, n: int) -> Any:
    total = x
    for k in range(n):
        total = total * 0.5 + x / (k + 1)
    return total


@program(
    "for/range with a step",
    inputs=[(f(1.0), 0, 100, 7), (f(2.0), 50, 0, -3), (f(3.0), 5, 5, 1), (f(4.0), 3, 50, -1)],
    construct=FOR_RANGE,
    python_numbers=True,
)
def stepped_range(x: Any, start: int, stop: int, step: int) -> Any:
    last = -1
    for k in range(start, stop, step):
        x = gx.sin(x) + k
        last = k
    return x, last


@program(
    "for/index used as a number, a tensor and an index",
    inputs=[(f(range(20)), f(2.0)), (f([-1.0] * 20), f(0.5))],
    construct=FOR_RANGE,
    gradient=True,
)
def index_uses(x: Any, y: Any) -> Any:
    for k in range(len(x)):
        if k % 3 == 0:
            y = y + x[k] * k
        elif k > 15:
            y = y - x[-k - 1] / (k // 2)
    return y


@program("for/index chooses in a Python list", inputs=[(f(1.0),), (f(-2.0),)], construct=FOR_RANGE, gradient=True)
def index_into_python_list(x: Any) -> Any:
    weights = [0.5, 1.0, -2.0, 0.25]
    names = {0: "plus", 1: "minus"}
    for k in range(4):
        x = x * weights[k] if names[k % 2] == "plus" else x - weights[k]
    return x


@program(
    "for/range with a tensor bound",
    inputs=[(f(1.0), i(4)), (f(1.0), i(0)), (f(-1.0), i(-3))],
    construct=FOR_TENSOR_RANGE,
)
def tensor_bound(x: Any, n: Any) -> Any:
    for k in range(n):
        x = x * 2 + k
    return x


@program(
    "for/range with tensor start and stop",
    inputs=[(i(2), i(9)), (i(5), i(5)), (i(7), i(3))],
    construct=FOR_TENSOR_RANGE,
    python_numbers=True,
)
def tensor_start_and_stop(start: Any, stop: Any) -> Any:
    evens = total = 0
    for k in range(start, stop):
        if k % 2 == 0:
            evens += 1
        total += k
    return evens, total


@program("for/gx.arange", inputs=[(f(0.5), i(5)), (f(-1.5), i(0))], construct=FOR_TENSOR_RANGE, gradient=True)
def over_arange(x: Any, n: Any) -> Any:
    y = x
    for k in gx.arange(n):
        y = gx.where(k % 2 == 0, y * x, y + k)
    return y


@program("for/enumerate", inputs=[(f(3, 1, 2),), (f(-1, -5, 0),)], construct=ITERATORS, python_numbers=True)
def over_enumerate(x: Any) -> Any:
    where, best = -1, -gx.asarray(float("inf"))
    for k, value in enumerate(x):
        if value > best:
            where, best = k, value
    return where, best


@program("for/enumerate with a start", inputs=[(f(3, 1, 2),), (f(-1, -5, 0),)], construct=ITERATORS, gradient=True)
def enumerate_from_one(x: Any) -> Any:
    total = gx.zeros(())
    for rank, value in enumerate(x, start=1):
        total += value / rank
    return total


@program(
    "for/zip",
    inputs=[(f(1, 2, 3), f(4, 5, 6)), (f(1, -2, 3), f(0, 1)), (f(1.0, 2.0), f(-1, -1, -1))],
    construct=ITERATORS,
    gradient=True,
)
def over_zip(x: Any, y: Any) -> Any:
    total = gx.asarray(1.0)
    for left, right in zip(x, y):  # noqa: B905  the shorter one ends it
        total = total * left if left > right else total + right
    return total


@program("for/zip, strict, of unequal lengths", inputs=[(f(1, 2), f(3, 4)), (f(1, 2, 3), f(1, 2))], construct=ITERATORS)
def strict_zip(x: Any, y: Any) -> Any:
    total = gx.asarray(0.0)
    for left, right in zip(x, y, strict=True):
        total += left * right
    return total


@program("for/reversed", inputs=[(f(1, 2, 3), f(2.0)), (f(-1, 0, 5), f(-1.0))], construct=ITERATORS, gradient=True)
def over_reversed(coefficients: Any, x: Any) -> Any:
    value = gx.zeros(())
    for c in reversed(coefficients):
        value = value * x + c
    return value


@program(
    "for/nested targets",
    inputs=[(f([[1, 2], [3, 4]]), f(5, 6)), (f([[0, -1], [-2, 3]]), f(-1, 1))],
    construct="nested tuples as targets",
    gradient=True,
)
def nested_targets(pairs: Any, weights: Any) -> Any:
    total = gx.zeros(())
    for k, ((left, right), weight) in enumerate(zip(pairs, weights, strict=True)):
        total = total + (left - right) * weight + k
    return total


@program(
    "for/starred target",
    inputs=[(f([[1, 2, 3], [4, 5, 6]]),), (f([[-1, 0, 1]]),)],
    construct="nested tuples as targets",
)
def starred_target(x: Any) -> Any:
    total = gx.zeros(())
    for first, *rest in x:
        if first > 0:
            total = total + sum(rest)
    return total


@program(
    "for/list of tensors of different shapes",
    inputs=[([f(1, 2), f(3), f([[1, -1]])],), ([f(-5.0)],), ([],)],
    construct=CONTAINERS,
    python_numbers=True,
)
def list_of_tensors(layers: Any) -> Any:
    total = 0.0
    for layer in layers:
        total = total + gx.sum(layer * layer)
    return total


@program(
    "for/dict of tensors",
    inputs=[({"w": f(1, 2), "b": f(0.5)},), ({"w": f(-1, -2), "b": f(3.0)},)],
    construct=CONTAINERS,
    gradient=True,
)
def dict_of_tensors(parameters: Any) -> Any:
    norms = {}
    for name, value in parameters.items():
        if gx.sum(value) < 0:
            value = -value
        norms[name + "_norm"] = gx.sum(value * value)
    return norms


@program(
    "for/else after break", inputs=[(f(1, 2, 3), f(2)), (f(1, 2, 3), f(9))], construct=FOR_ELSE, python_numbers=True
)
def for_else(x: Any, wanted: Any) -> Any:
    for k, value in enumerate(x):
        if value == wanted:
            found = k
            break
    else:
        found = -1
    return found


@program(
    "for/else, several breaks bind several names",
    inputs=[(f(1, 2, 3), f(2)), (f(1, 2, 3), f(9)), (f(1, -7, 3), f(4))],
    construct=FOR_ELSE,
    gradient=True,
    python_numbers=True,
)
def for_else_names(x: Any, limit: Any) -> Any:
    for value in x:
        if value > limit:
            sign, pair = 1, [value, value * 2]
            break
        if value < -limit:
            sign, pair = -1, [-value, value]
            break
    else:
        sign, pair = 0, [x[0], x[1]]
    return sign, pair[0] * pair[1]


@program(
    "for/else that continues an outer loop",
    inputs=[(f(1, 2, 3), f(2)), (f(1, 2, 3), f(9))],
    construct=FOR_ELSE,
    gradient=True,
)
def for_else_continue(x: Any, limit: Any) -> Any:
    total = limit * 0
    for _ in range(6):
        for value in x:
            if value > limit:
                found = value
                break
        else:
            limit = limit - 3
            continue
        total = total + found
    return total


@program(
    "for/name bound before a break only",
    inputs=[(f(1, 2, 3), f(2)), (f(1, 2, 3), f(9))],
    construct="a name bound in one branch only, read after",
    refused=(gx.errors.UndefinedNameError, "name 'found' is used"),
)
def for_break_only(x: Any, limit: Any) -> Any:
    for value in x:
        if value > limit:
            found = value
            break
    return found


@program("for/else with return in the loop", inputs=[(f(4, -1),), (f(4, 2),)], construct=FOR_ELSE, gradient=True)
def for_else_return(x: Any) -> Any:
    for value in x:
        if value < 0:
            return value * 10
    else:
        x = x * 2
    return gx.sum(x)


@program("for/rolled on request", inputs=[(f(1.0),), (f(0.2),)], construct="`unroll=`", gradient=True, unroll=False)
def rolled_on_request(x: Any) -> Any:
    for k in range(4):
        x = gx.cos(x) * k + x
    return x


@program("for/unrolled on request", inputs=[(f(1.0),), (f(0.2),)], construct="`unroll=`", gradient=True, unroll=True)
def unrolled_on_request(x: Any) -> Any:
    for k in range(30):
        x = gx.cos(x) + k * 0.01
    return x


@program("for/two state variables that swap", inputs=[(f(1, 2), 31), (f(0, -1), 2)], construct=FOR_RANGE, gradient=True)
def swapping(x: Any, n: int) -> Any:
    a, b = x[0], x[1]
    for _ in range(n):
        a, b = b, a + 0.1 * b
    return a, b


@program("for/shape that grows", inputs=[(f(1, 2), 3), (f(5, -1), 2)], construct="a short `range` that is unrolled")
def growing_shape(x: Any, n: int) -> Any:
    for _ in range(n):
        x = gx.concat([x, x[:1]])
    return x


@program(
    "for/shape that grows over a tensor",
    inputs=[(f(1, 2),)],
    construct="a shape that changes in a rolled loop",
    refused=(gx.errors.GraphcError, r"(?s)f32\[\d\].*f32\[\d\]"),
    unroll=False,
)
def growing_shape_rolled(x: Any) -> Any:
    y = x[:1]
    for value in x:
        y = gx.concat([y, gx.reshape(value, (1,))])
    return y
