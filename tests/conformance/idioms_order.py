"""What Python does in an order, or looks at again: iterators, evaluation order, identity, loop variables."""

from __future__ import annotations

import copy
import itertools
import operator
from typing import Any

import graphc as gx
from tests.conformance.harness import f, i, program

ORDER = "evaluation order"
LOOP_VARIABLE = "the loop variable and the bounds changed in the body"
LIVE = "a tensor or list that changes while a loop iterates over it"
ITERATOR = "`iter`, `next`, `itertools`"
IDENTITY = "`is`"
V = [(f(1, -2, 3),), (f(-1, -2, -3),), (f(5, 6, 7),)]
SIGNS = [(f(2.0),), (f(-3.0),), (f(0.0),)]


@program("order/item assignment", inputs=V, construct=ORDER)
def store_order(x: Any) -> Any:
    log = []

    def note(name: str, value: Any) -> Any:
        log.append(name)
        return value

    y = x * 1
    note("target", y)[note("index", 1)] = note("value", 5.0)
    y[note("index again", 0)] += note("more", 1.0)
    return y, log


@program("order/arguments of a call", inputs=SIGNS, construct=ORDER)
def call_order(x: Any) -> Any:
    log = []

    def note(name: str, value: Any) -> Any:
        log.append(name)
        return value

    def last(*args: Any, **named: Any) -> Any:
        return args[-1] * named["scale"]

    found = {note("key", 1): note("item", x)}
    result = note("function", last)(note("first", x), *note("star", [x]), scale=note("scale", 2), **note("rest", {}))
    return found, result, log


@program("order/middle of a chained comparison once", inputs=SIGNS, construct=ORDER, python_numbers=True)
def chained_once(x: Any) -> Any:
    calls = [0]

    def middle() -> Any:
        calls[0] += 1
        return x

    inside = -1 < middle() < 1
    return calls[0], inside


@program("order/loop variable assigned", inputs=[(f(1.0), 40), (f(2.0), 3)], construct=LOOP_VARIABLE)
def loop_variable_assigned(x: Any, n: int) -> Any:
    for k in range(n):
        k = k * 2
        x = x + k
    return x, k


@program("order/bound changed in the body", inputs=[(f(1.0), 5), (f(1.0), 0)], construct=LOOP_VARIABLE)
def bound_changed(x: Any, n: int) -> Any:
    for _ in range(n):
        n = n + 1
        x = x + n
    return x, n


@program("order/loop variable before the loop", inputs=[(f(1.0), 0), (f(1.0), 3)], construct=LOOP_VARIABLE)
def loop_variable_before(x: Any, n: int) -> Any:
    k = -1
    for k in range(n):  # noqa: B007
        x = x * 2
    return x, k


@program(
    "order/closure over the loop variable, called after", inputs=[(f(1.0), 4), (f(1.0), 40)], construct=LOOP_VARIABLE
)
def closure_called_after(x: Any, n: int) -> Any:
    read = None
    for k in range(n):
        read = lambda: k  # noqa: B023, E731
        x = x + k
    return x, read()


@program("order/tensor assigned while iterated", inputs=V, construct=LIVE)
def tensor_changes(x: Any) -> Any:
    y = x * 1
    total = gx.zeros(())
    for value in y:
        y[2] = 100.0
        total = total + value
    return total, y


@program("order/next element assigned while enumerated", inputs=V, construct=LIVE)
def next_element_changes(x: Any) -> Any:
    y = x * 1
    for k, value in enumerate(y):
        if k < 2:
            y[k + 1] = value * 2
    return y


@program("order/tensor rebound while iterated", inputs=V, construct=LIVE, gradient=True)
def tensor_rebound(x: Any) -> Any:
    total = gx.zeros(())
    for value in x:
        x = x * 2
        total = total + value
    return total, x


@program("order/list grows while iterated", inputs=SIGNS, construct=LIVE, gradient=True)
def list_grows(x: Any) -> Any:
    values = [x, x + 1]
    for value in values:
        if len(values) < 5:
            values.append(value * 2)
    return values


@program("order/iter and next", inputs=V, construct=ITERATOR, gradient=True)
def iter_and_next(x: Any) -> Any:
    iterator = iter(x)
    first = next(iterator)
    rest = [value * first for value in iterator]
    return first, rest, next(iterator, None)


@program(
    "order/iterator of a tensor, left and taken up",
    inputs=V,
    construct="an iterator used again after a loop that may stop early",
    refused=(gx.errors.UnimplementedError, "may stop early"),
)
def iterator_resumed(x: Any) -> Any:
    iterator = iter(x)
    total = gx.zeros(())
    for value in iterator:
        total = total + value
        if value > 0:
            break
    for value in iterator:
        total = total * 10 + value
    return total


@program("order/iterator of a list, left and taken up", inputs=V, construct=ITERATOR)
def list_iterator_resumed(x: Any) -> Any:
    iterator = iter([x[0], x[1], x[2]])
    total = gx.zeros(())
    for value in iterator:
        total = total + value
        break
    for value in iterator:
        total = total * 10 + value
    return total


@program("order/generator expression is read once, and late", inputs=V, construct=ITERATOR, python_numbers=True)
def generator_once(x: Any) -> Any:
    scale = 2
    values = (value * scale for value in x)
    scale = 10
    return sum(values), sum(values)


@program("order/itertools", inputs=V, construct=ITERATOR, gradient=True)
def with_itertools(x: Any) -> Any:
    total = gx.zeros(())
    for a, k in itertools.product(range(2), range(3)):
        total = total + a * x[k]
    for left, right in itertools.combinations(list(x), 2):
        total = total + left * right
    return total, list(itertools.accumulate(x)), list(itertools.chain([x[0]], x[1:]))


@program("order/operator", inputs=V, construct=ITERATOR, gradient=True)
def with_operator(x: Any) -> Any:
    return operator.mul(x, 2), operator.itemgetter(1)(x), operator.neg(x)


@program("order/copy", inputs=V, construct="`copy.copy`, `copy.deepcopy`")
def with_copy(x: Any) -> Any:
    y = copy.copy(x)
    y[0] = 9
    z = copy.deepcopy([x])[0]
    z[1] = 8
    return x * 1, y, z


@program("order/is, without branches", inputs=SIGNS, construct=IDENTITY)
def identity(x: Any) -> Any:
    y = x
    z = x * 1
    return y is x, z is x, y is not None, [x][0] is y


@program(
    "order/is, after a branch on a tensor",
    inputs=SIGNS,
    construct="`is` on values that depend on tensors",
    refused=(gx.errors.UnimplementedError, "`is` .* is not known while the function is traced"),
)
def identity_after_branch(x: Any) -> Any:
    y = x
    if x > 0:
        y = x * 1
    return y is x


@program(
    "order/is, of lists after a branch",
    inputs=SIGNS,
    construct="`is` on values that depend on tensors",
    refused=(gx.errors.UnimplementedError, "`is` .* is not known while the function is traced"),
)
def identity_of_lists(x: Any) -> Any:
    items = [x]
    others = items
    if x > 0:
        others = [x]
    return others is not items


@program(
    "order/is, of two arguments",
    inputs=[(f(2.0), f(3.0))],
    construct="`is` on values that depend on tensors",
    refused=(gx.errors.UnimplementedError, "the argument 'x'.*`is`.*the argument 'y'.*keep a flag"),
)
def identity_of_arguments(x: Any, y: Any) -> Any:
    return x is y


@program("order/is, of what cannot be one object", inputs=SIGNS, construct=IDENTITY)
def identity_of_others(x: Any) -> Any:
    y, z = x + 1, x * 3
    if x > 0:
        y = x * 1
    items, others = [x], [x]
    if x > 0:
        others.append(x)
    else:
        others.append(x + 1)
    return y is z, y is x, y is not z, others is items, others is others, x.dtype is not None


@program("order/is, of truth values", inputs=SIGNS, construct=IDENTITY, python_numbers=True)
def identity_of_truth(x: Any) -> Any:
    found = False
    if x > 0:
        found = True
    return found is True, found is False, found is not True, (x > 0) is True, bool(x > 0) is True


@program("order/is, in a loop", inputs=SIGNS, construct=IDENTITY)
def identity_in_loop(x: Any) -> Any:
    y, same = x, 0
    for _ in range(10):
        if y is x:
            same += 1
        x = x + 1
    return same, x


@program(
    "order/len of a range with a tensor bound",
    inputs=[(i(5),), (i(0),)],
    construct="a `range` with a tensor bound outside a `for`",
    refused=(gx.errors.UnimplementedError, "only in a for loop"),
)
def length_of_tensor_range(n: Any) -> Any:
    return len(range(n))


@program(
    "order/range with a tensor step",
    inputs=[(i(0), i(10), i(3)), (i(10), i(0), i(-4)), (i(0), i(5), i(-1))],
    construct="`for` over a `range` or `gx.arange` with a tensor bound",
    python_numbers=True,
)
def tensor_step(start: Any, stop: Any, step: Any) -> Any:
    total = 0
    for k in range(start, stop, step):
        total = total * 2 + k
    return total


@program("order/class attribute as a default", inputs=SIGNS, construct="attributes as state", gradient=True)
def class_attribute(x: Any) -> Any:
    class Total:
        value = 0.0

        def add(self, amount: Any) -> Total:
            if amount > 0:
                self.value = self.value + amount
            return self

    return Total().add(x).add(-x).add(x * 2).value + x


@program("order/object chosen by a branch", inputs=SIGNS, construct="an object or function chosen by a tensor")
def object_chosen(x: Any) -> Any:
    class Box:
        def __init__(self, value: Any) -> None:
            self.value = value

    low, high = Box(x), Box(x * 3)
    chosen = low if x > 0 else high
    return chosen.value


@program(
    "order/closure reads what a branch rebinds",
    inputs=SIGNS,
    construct="nested functions, closures, `nonlocal`",
    gradient=True,
)
def closure_reads_rebound(x: Any) -> Any:
    y = x

    def read() -> Any:
        return y * 10

    if x > 0:
        y = x * 2
    before = read()
    y = y + 1
    return before, read()


@program("order/defaults that are mutable", inputs=SIGNS, construct="calls: defaults, keywords, `*args`, `**kwargs`")
def mutable_default(x: Any) -> Any:
    def count(value: Any, seen: list[Any] = []) -> int:  # noqa: B006
        seen.append(value)
        return len(seen)

    return x * count(x), count(x)
