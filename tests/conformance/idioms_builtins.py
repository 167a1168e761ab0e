"""Comprehensions, generator expressions, and Python's built-in functions on tensors."""

from __future__ import annotations

import functools
import itertools
import math
from dataclasses import dataclass
from typing import Any

import graphc as gx
from tests.conformance.harness import f, i, program

COMPREHENSION = "comprehensions over tensors"
FILTERED = "comprehensions with an `if` on tensors"
GENERATOR = "generator expressions in `sum`, `any`, `all`, `min`, `max`"
MINMAX = "`max(a, b)`, `min(a, b, c)`"
SELECTED = "`min`, `max` of tuples, objects and iterators, by keys of tensors"
ASKED = "`len`, `bool`, `int`, `float`, `abs` of user classes"
METHODS = "methods of numbers: `is_integer`, `conjugate`, `numerator`"
FOLDS = "`functools.reduce`, `itertools.accumulate`, `takewhile`, `dropwhile`, `starmap`, `math.prod`"
FILTER = "`filter` and `filterfalse` by tensors"
NUMBERS = "`int()`, `float()`, `bool()`, `round`"


@program("builtins/max with key", inputs=[(f(1, -5, 3),), (f(-1, 0, 1),)], construct=MINMAX, gradient=True)
def max_key(x: Any) -> Any:
    return max(x, key=abs), min(x, key=lambda value: value * value)


@program(
    "builtins/max(a, b), min(a, b, c)",
    inputs=[(f(1.0), f(2.0), f(3.0)), (f(3.0), f(1.0), f(2.0)), (f(2.0), f(3.0), f(1.0))],
    construct=MINMAX,
    gradient=True,
)
def max_min(a: Any, c: Any, d: Any) -> Any:
    return max(a, c) * min(a, c, d), max([a, c, d])


@program(
    "builtins/max with Python numbers",
    inputs=[(f(0.5),), (f(-2.0),), (f(7.0),)],
    construct=MINMAX,
    gradient=True,
    python_numbers=True,
)
def clamp(x: Any) -> Any:
    return min(max(x, 0.0), 5.0) * x


@program("builtins/max and NaN", inputs=[(f(float("nan")), f(1.0)), (f(1.0), f(float("nan")))], construct=MINMAX)
def max_nan(x: Any, y: Any) -> Any:
    return max(x, y), min(x, y)


@program("builtins/max of ties", inputs=[(f(2.0, 2.0),), (f(1.0, 2.0),)], construct=MINMAX, gradient=True)
def max_ties(x: Any) -> Any:
    return max(x[0], x[1])


@program("builtins/abs and pow", inputs=[(f(-1.5),), (f(2.0),)], construct="`abs`, `len`, `pow`", gradient=True)
def abs_pow(x: Any) -> Any:
    return abs(x) + pow(x, 2), pow(abs(x), 0.5)


@program("builtins/len and shape", inputs=[(f([[1, 2], [3, 4]]),), (f([[1, 2, 3]]),)], construct="`abs`, `len`, `pow`")
def length(x: Any) -> Any:
    n = len(x)
    return x / n, n, x.shape, x.ndim, x.size, len(x[0])


@program("builtins/int of a tensor", inputs=[(f(2.7),), (f(-2.7),), (f(0.2),)], construct=NUMBERS, python_numbers=True)
def int_of_tensor(x: Any) -> Any:
    n = int(x)
    if n > 1:
        n = n * 10
    return n, n // 2, n / 4


@program("builtins/float of a tensor", inputs=[(i(7),), (i(-2),)], construct=NUMBERS, python_numbers=True)
def float_of_tensor(n: Any) -> Any:
    x = float(n)
    return x / 2, x * n


@program("builtins/item", inputs=[(f(2.5),), (f(-2.5),)], construct="`x.item()`", python_numbers=True)
def item_of_tensor(x: Any) -> Any:
    value = x.item()
    if value > 0:
        value = value * 2
    return value


@program("builtins/int keeps narrow dtypes narrow", inputs=[(f(3.5),), (f(-1.5),)], construct=NUMBERS)
def int_is_weak(x: Any) -> Any:
    small = gx.asarray([1, 2, 3], dtype="int8")
    half = gx.asarray([0.5, 1.5], dtype="float16")
    return small * int(x), half * float(x), half + int(x)


@program("builtins/bool of a tensor", inputs=[(f(2.0),), (f(0.0),)], construct=NUMBERS, python_numbers=True)
def bool_of_tensor(x: Any) -> Any:
    flag = bool(x)
    return flag, x + 1 if flag else x - 1


@program("builtins/round of float", inputs=[(f(2.5),), (f(3.5),), (f(-0.6),)], construct=NUMBERS, python_numbers=True)
def round_float(x: Any) -> Any:
    return round(float(x)), round(float(x * 10) / 3, 1)


@program("builtins/round of a tensor", inputs=[(f(2.5),), (f(-1.26),)], construct=NUMBERS, python_numbers=True)
def round_tensor(x: Any) -> Any:
    return round(x, 1), round(x)


@program("builtins/divmod", inputs=[(i(17), i(5)), (i(-17), i(5))], construct="`divmod`")
def divmod_tensor(n: Any, d: Any) -> Any:
    q, r = divmod(n, d)
    return q * d + r, q, r


@program(
    "builtins/int as a list index",
    inputs=[(i(0), f(2.0)), (i(2), f(2.0)), (i(-1), f(2.0))],
    construct="a tensor as index of a Python list",
    gradient=True,
)
def list_index(k: Any, x: Any) -> Any:
    choices = [x, x * x, x * x * x]
    return choices[k]


@program(
    "builtins/Python numbers in a list, tensor index",
    inputs=[(i(0),), (i(2),)],
    construct="a tensor as index of a Python list",
    python_numbers=True,
)
def numbers_index(k: Any) -> Any:
    weights = [0.5, 1.5, 2.5]
    return weights[k], weights[int(k)] * 2


@program(
    "builtins/list index out of range",
    inputs=[(i(1),), (i(3),)],
    construct="a tensor as index of a Python list",
    raises=IndexError,
)
def list_index_out_of_range(k: Any) -> Any:
    return [gx.ones(2), gx.zeros(2)][k]


@program(
    "builtins/list, tuple, unpacking",
    inputs=[(f(1, 2, 3),), (f(0, -1, 5),)],
    construct="`list(x)`, `tuple(x)`, unpacking",
    gradient=True,
)
def unpacking(x: Any) -> Any:
    first, *middle, last = x
    values = list(x)
    values[0] = last
    return first * last, middle, tuple(values), [*x, first]


@program(
    "builtins/sorted",
    inputs=[(f(3, 1, 2),)],
    construct="`sorted` and `list.sort` by tensors",
    refused=(gx.errors.UnimplementedError, r"sorted\(\) would compare tensors.* use gx.sort\(x\) or gx.argsort"),
)
def sorted_values(x: Any) -> Any:
    return sorted(x)


@program("builtins/map and filter", inputs=[(f(3, 1, 2),), (f(-1, 4, -5),)], construct="`map`, `filter`", gradient=True)
def map_values(x: Any) -> Any:
    return list(map(lambda value: value * 2 if value > 2 else value, x)), sum(map(abs, x))  # noqa: C417


@program(
    "builtins/filter by tensors",
    inputs=[(f(3, 1, 2),), (f(-1, 4, -5),)],
    construct="`map`, `filter`",
    python_numbers=True,
)
def filter_values(x: Any) -> Any:
    return sum(filter(lambda value: value > 0, x))


@program("builtins/isinstance", inputs=[(f(1.0), 2), (f(1.0), f(2.0))], construct="`isinstance`, `type`, `hasattr`")
def is_instance(x: Any, y: Any) -> Any:
    kind = "tensor" if isinstance(y, gx.Tensor) else type(y).__name__
    return x * y, kind, hasattr(y, "shape")


@program("builtins/in a list", inputs=[(f(1.0),), (f(4.0),)], construct="`in` with tensors", python_numbers=True)
def in_list(x: Any) -> Any:
    if x in (1.0, 2.0, 3.0):
        return x * 10
    return x


@program(
    "builtins/in a tensor",
    inputs=[(f(1.0), f(1, 2)), (f(4.0), f(1, 2))],
    construct="`in` with tensors",
    python_numbers=True,
)
def in_tensor(x: Any, values: Any) -> Any:
    return x in values, x not in values


@program(
    "builtins/type of a number or a tensor",
    inputs=[(f(3.0),), (f(0.5),)],
    construct="`isinstance`, `type`, `hasattr`",
    refused=(gx.errors.UnimplementedError, r"type\(\) of .* it may be a Tensor or float"),
)
def type_of_number_or_tensor(x: Any) -> Any:
    k = 1.0
    while k < x:
        k = k * x
    return x if type(k) is float else -x


MIXED = "a number on one path, a tensor on another"


@program(
    "builtins/isinstance of a number or a tensor",
    inputs=[(f(3.0),), (f(0.5),)],
    construct=MIXED,
    refused=(gx.errors.UnimplementedError, r"is of the class Tensor is not known"),
)
def class_of_number_or_tensor(x: Any) -> Any:
    k = 0 if x > 1 else x
    y = k if x > 5 else x * 2
    return x if isinstance(y, gx.Tensor) else -x


@program(
    "builtins/text of an int or a float tensor",
    inputs=[(f(3.0),), (f(0.5),)],
    construct=MIXED,
    refused=(gx.errors.UnimplementedError, r"a text shows whether .* a number \(int\); make it a tensor of one dtype"),
)
def text_of_int_or_tensor(x: Any) -> Any:
    total = 0
    while total < x:
        total = total + x
    return f"{total}"


@program(
    "builtins/representation of a number or a tensor",
    inputs=[(f(3.0),), (f(0.5),)],
    construct=MIXED,
    refused=(gx.errors.UnimplementedError, r"a text shows whether .* a number \(float\)"),
)
def representation_of_number_or_tensor(x: Any) -> Any:
    total = 0.0
    while total < x:
        total = total + x
    print([total])
    return total


@program(
    "builtins/pyfunc of a number or a tensor",
    inputs=[(f(3.0),), (f(0.5),)],
    construct=MIXED,
    refused=(gx.errors.UnimplementedError, r"a call of gx.pyfunc shows whether .* a number \(float\)"),
)
def pyfunc_of_number_or_tensor(x: Any) -> Any:
    total = 0.0
    while total < x:
        total = total + x
    return gx.pyfunc(lambda value: isinstance(value, float), bool, total)


@program(
    "builtins/text of a float or a float tensor", inputs=[(f(3.0),), (f(-0.5),)], construct="`print` and f-strings"
)
def text_of_float_or_tensor(x: Any) -> Any:
    total = 0.0
    while total < x:
        total = total + x
    print(total, f"{total:.2f}")
    return total * x


_ROWS = [(f(1, 3, 2),), (f(-1, 0, 1),), (f(5, 5, 0),)]


@program("builtins/next", inputs=_ROWS, construct="`iter`, `next`, `itertools`", gradient=True)
def first_item(x: Any) -> Any:
    doubled = (v * 2 for v in x)
    first = next(doubled), next(doubled)
    return first, next((n for n in ("a", "b") if n == "b"), None), next(k for k in range(100) if k * k > 20)


@program(
    "builtins/next by a tensor",
    inputs=_ROWS,
    construct="`next` of a generator expression with conditions on tensors",
    refused=(gx.errors.UnimplementedError, r"the condition of this comprehension is a tensor .*choose by gx.where"),
)
def first_item_by_tensor(x: Any) -> Any:
    return next(v for v in x if v > 0.5)


@program("builtins/reduce with functions that look", inputs=_ROWS, construct=FOLDS, gradient=True, python_numbers=True)
def reduce_max(x: Any) -> Any:
    largest = functools.reduce(max, list(x)), functools.reduce(min, x), functools.reduce(max, [int(x[0]), 2])
    return largest, functools.reduce(lambda a, v: a if a > v else v * 2, (v + 1 for v in x))


@program("builtins/prod", inputs=_ROWS, construct=FOLDS, python_numbers=True)
def products(x: Any) -> Any:
    return math.prod([x[0], x[1], 2]), math.prod([int(x[0]), 3]), math.prod(x), math.fsum([0.1] * 10)


@program("builtins/accumulate and starmap", inputs=_ROWS, construct=FOLDS, gradient=True)
def running_maximum(x: Any) -> Any:
    running = list(itertools.accumulate(x, max)), list(itertools.accumulate(list(x)))
    from_second = itertools.accumulate(x, lambda a, v: a if a > v else v * 2, initial=x[1])
    return running, list(from_second), list(itertools.starmap(max, [(x[0], x[1]), (x[2], x[1])]))


@program("builtins/takewhile and dropwhile", inputs=_ROWS, construct=FOLDS, gradient=True)
def take_and_drop(x: Any) -> Any:
    total = 0.0
    for k, v in itertools.takewhile(lambda pair: pair[0] < 2, enumerate(x)):
        total = total + v * k
    taken = list(itertools.takewhile(lambda k: k < 3, [1, 2, 3, 1]))
    return total, taken, [x[k] for k in itertools.dropwhile(lambda k: k < 1, range(3))]


@program("builtins/filter and list", inputs=_ROWS, construct=FILTER, gradient=True, python_numbers=True)
def filtered(x: Any) -> Any:
    rows = [x[0], x[1], x[2]]
    above = list(filter(lambda v: v > 1, rows))
    pairs = list(filter(lambda pair: pair[1] > 1, enumerate(rows)))
    below = list(itertools.filterfalse(lambda v: v > 1, x))
    return above, pairs, below, [v * 2 for v in filter(lambda v: v > 0, x)], list(v * 3 for v in x if v > 1)  # noqa: C400


@program(
    "builtins/tuple of a filter",
    inputs=_ROWS,
    construct="a tuple of items filtered by tensors",
    refused=(gx.errors.UnimplementedError, r"what the function of filter\(\) gives is a tensor .* list\(\)"),
)
def filtered_tuple(x: Any) -> Any:
    return tuple(filter(lambda v: v > 1, x))


@dataclass
class Point:
    """A value with a number."""

    value: Any
    number: int = 0


@dataclass(order=True)
class Ranked:
    """A value with a number, in the order of both."""

    value: Any
    number: int = 0


class Holder:
    """An object with a value."""

    def __init__(self, value: Any) -> None:
        self.value = value


@program("builtins/argmin by range and key", inputs=_ROWS, construct=SELECTED, python_numbers=True)
def argmin_by_key(x: Any) -> Any:
    return (
        min(range(3), key=lambda k: x[k]),
        max([0, 1, 2], key=lambda k: x[k]),
        min("abc", key=lambda n: x[ord(n) - 97]),
    )


@program("builtins/max of pairs and objects", inputs=_ROWS, construct=SELECTED, python_numbers=True)
def max_of_pairs(x: Any) -> Any:
    pair = max(zip(x, [1, 2, 3], strict=True), key=lambda p: p[0]), min(enumerate([x[0], x[1]]), key=lambda p: p[1])
    points = [Point(x[0], 1), Point(x[1], 2)]
    ranked = max([Ranked(x[0], 1), Ranked(x[1], 2)]).number, Ranked(x[0], 1) == Ranked(x[1], 1)
    held = max([Holder(x[0]), Holder(x[1])], key=lambda h: h.value).value
    return pair, max(zip([x[0], x[1]], [7, 8], strict=True)), max(points, key=lambda p: p.value).number, ranked, held


@program(
    "builtins/list.sort with a key",
    inputs=_ROWS,
    construct="`sorted` and `list.sort` by tensors",
    refused=(gx.errors.UnimplementedError, r"sorted\(\) would compare tensors.* use gx.sort\(x\) or gx.argsort"),
)
def sort_in_place(x: Any) -> Any:
    rows = [x[0], x[1], x[2]]
    rows.sort(key=lambda v: -v)
    return rows


@program("builtins/sorted by names", inputs=_ROWS, construct="`sorted` of Python values", python_numbers=True)
def sorted_by_names(x: Any) -> Any:
    weights = {"w": x, "b": x[0], "a": x[:2]}
    named = [weight for _, weight in sorted(weights.items())]
    numbered = sorted([(2, x[0], "c"), (1, x[1], "a"), (1.5, x[2], "b")], reverse=True)
    lengths = sorted(["bb", "a", "ccc"], key=functools.cmp_to_key(lambda one, other: len(other) - len(one)))
    return named, numbered, lengths


@program(
    "builtins/sorted dataclasses of tensors",
    inputs=_ROWS,
    construct="`sorted` and `list.sort` by tensors",
    refused=(gx.errors.UnimplementedError, r"sorted\(\) would compare tensors"),
)
def sorted_dataclasses(x: Any) -> Any:
    return [r.number for r in sorted([Ranked(x[0], 3), Ranked(x[1], 2)])]


class Ring:
    """A buffer of which tensors decide how many items it holds."""

    def __init__(self, value: Any = 0.0) -> None:
        self.size = 0
        self.value = value

    def push(self, x: Any) -> None:
        if x > 0:
            self.size += 1
            self.value = x

    def __len__(self) -> int:
        return self.size

    def __int__(self) -> int:
        return int(self.value)

    def __float__(self) -> float:
        return float(self.value) if self.value > 0 else 0.0

    def __abs__(self) -> Any:
        return self.value if self.value > 0 else -self.value


@program("builtins/len and bool of an object", inputs=_ROWS, construct=ASKED, python_numbers=True)
def length_of_object(x: Any) -> Any:
    ring = Ring()
    ring.push(x[0])
    y = 1.0 if ring else 2.0
    if not ring:
        y += 10
    count, some, both = len(ring) * 2, bool(ring), bool(ring and x[1] > 0)
    while ring:
        ring.size -= 1
        y += 100
    for v in x:
        ring.push(v)
        if len(ring) > 1:
            break
    return y, count, some, both, len(ring)


@program("builtins/int, float, abs of an object", inputs=_ROWS, construct=ASKED, python_numbers=True)
def numbers_of_object(x: Any) -> Any:
    ring = Ring(x[0])
    return int(ring), float(ring), abs(ring), math.sqrt(ring)


class Odd(Ring):
    """A buffer that answers what Python does not take."""

    def __len__(self) -> int:
        return int(self.value)

    def __float__(self) -> float:
        return self.value


@program("builtins/len below zero", inputs=_ROWS, construct=ASKED)
def negative_length(x: Any) -> Any:
    return len(Odd(x[0]))


@program("builtins/methods of numbers", inputs=[(f(3.0),), (f(-2.5),), (f(0.0),), (f(100.0),)], construct=METHODS)
def methods_of_numbers(x: Any) -> Any:
    n = int(x)
    return float(x).is_integer(), (n.numerator, n.denominator), n.conjugate(), n.real


@program(
    "builtins/methods that need a value",
    inputs=[(f(3.0),)],
    construct="methods of numbers that need their values: `hex`, `to_bytes`, `as_integer_ratio`",
    refused=(
        gx.errors.ConcretizationError,
        r"float\.hex needs a value, but this number .* functions of math, or of the",
    ),
)
def hexadecimal(x: Any) -> Any:
    return float(x).hex()
