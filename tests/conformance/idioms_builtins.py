"""Comprehensions, generator expressions, and Python's built-in functions on tensors."""

from __future__ import annotations

from typing import Any

import graphc as gx
from tests.conformance.harness import f, i, program

COMPREHENSION = "comprehensions over tensors"
FILTERED = "comprehensions with an `if` on tensors"
GENERATOR = "generator expressions in `sum`, `any`, `all`, `min`, `max`"
MINMAX = "`max(a, b)`, `min(a, b, c)`"
NUMBERS = "`int()`, `float()`, `bool()`, `round`"


@program(
    "builtins/max with key",
    inputs=[(f(1, -5, 3),), (f(-1, 0, 1),)],
    construct=MINMAX,
    gradient=True,
)
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


@program(
    "builtins/max and NaN",
    inputs=[(f(float("nan")), f(1.0)), (f(1.0), f(float("nan")))],
    construct=MINMAX,
)
def max_nan(x: Any, y: Any) -> Any:
    return max(x, y), min(x, y)


@program(
    "builtins/max of ties",
    inputs=[(f(2.0, 2.0),), (f(1.0, 2.0),)],
    construct=MINMAX,
    gradient=True,
)
def max_ties(x: Any) -> Any:
    return max(x[0], x[1])


@program("builtins/abs and pow", inputs=[(f(-1.5),), (f(2.0),)], construct="`abs`, `len`, `pow`", gradient=True)
def abs_pow(x: Any) -> Any:
    return abs(x) + pow(x, 2), pow(abs(x), 0.5)


@program("builtins/len and shape", inputs=[(f([[1, 2], [3, 4]]),), (f([[1, 2, 3]]),)], construct="`abs`, `len`, `pow`")
def length(x: Any) -> Any:
    n = len(x)
    return x / n, n, x.shape, x.ndim, x.size, len(x[0])


@program(
    "builtins/int of a tensor",
    inputs=[(f(2.7),), (f(-2.7),), (f(0.2),)],
    construct=NUMBERS,
    python_numbers=True,
)
def int_of_tensor(x: Any) -> Any:
    n = int(x)
    if n > 1:
        n = n * 10
    return n, n // 2, n / 4


@program(
    "builtins/float of a tensor",
    inputs=[(i(7),), (i(-2),)],
    construct=NUMBERS,
    python_numbers=True,
)
def float_of_tensor(n: Any) -> Any:
    x = float(n)
    return x / 2, x * n


@program(
    "builtins/item",
    inputs=[(f(2.5),), (f(-2.5),)],
    construct="`x.item()`",
    python_numbers=True,
)
def item_of_tensor(x: Any) -> Any:
    value = x.item()
    if value > 0:
        value = value * 2
    return value


@program(
    "builtins/int keeps narrow dtypes narrow",
    inputs=[(f(3.5),), (f(-1.5),)],
    construct=NUMBERS,
)
def int_is_weak(x: Any) -> Any:
    small = gx.asarray([1, 2, 3], dtype="int8")
    half = gx.asarray([0.5, 1.5], dtype="float16")
    return small * int(x), half * float(x), half + int(x)


@program(
    "builtins/bool of a tensor",
    inputs=[(f(2.0),), (f(0.0),)],
    construct=NUMBERS,
    python_numbers=True,
)
def bool_of_tensor(x: Any) -> Any:
    flag = bool(x)
    return flag, x + 1 if flag else x - 1


@program(
    "builtins/round of float",
    inputs=[(f(2.5),), (f(3.5),), (f(-0.6),)],
    construct=NUMBERS,
    python_numbers=True,
)
def round_float(x: Any) -> Any:
    return round(float(x)), round(float(x * 10) / 3, 1)


@program(
    "builtins/round of a tensor",
    inputs=[(f(2.5),), (f(-1.26),)],
    construct=NUMBERS,
    python_numbers=True,
)
def round_tensor(x: Any) -> Any:
    return round(x, 1), round(x)


@program(
    "builtins/divmod",
    inputs=[(i(17), i(5)), (i(-17), i(5))],
    construct="`divmod`",
)
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
    inputs=[(f(3, 1, 2),), (f(-1, -1, -5),)],
    construct="`sorted` of tensors",
)
def sorted_values(x: Any) -> Any:
    return sorted(x), sorted(x, key=abs)[1]


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
