"""Numbers: what dtype a Python number, a counter or an index gives, and what it does to narrow dtypes."""

from __future__ import annotations

from typing import Any

import numpy as np

import graphc as gx
from tests.conformance.harness import f, i, program

WEAK = "Python numbers do not widen tensors"
INDEX = "the index of a `range` loop as a number"
COUNTER = "Python numbers that change in loops and branches"


@program("dtypes/branch on the factor of a float16", inputs=[(f(2.0),), (f(-2.0),)], construct=WEAK)
def weak_through_branch(x: Any) -> Any:
    half = gx.asarray([1.0, 2.0], dtype="float16")
    scale = 2.0 if x > 0 else 3.0
    return half * scale, half + abs(scale), half * -scale


@program("dtypes/counter against int8", inputs=[(i(4),), (i(0),)], construct=WEAK)
def weak_through_loop(n: Any) -> Any:
    small = gx.asarray([1, 2], dtype="int8")
    count = 0
    for _ in range(n):
        count = count + 1
    return small * count, small + count


@program("dtypes/tensor range index against int8", inputs=[(i(4),), (i(1),)], construct=WEAK)
def weak_index(n: Any) -> Any:
    total = gx.asarray([1, 2], dtype="int8")
    for k in range(n):
        total = total + k
    return total


@program("dtypes/while counter against bfloat16", inputs=[(f(4.0),), (f(40.0),)], construct=WEAK)
def weak_while(x: Any) -> Any:
    brain = gx.asarray([1.0, 2.0], dtype="bfloat16")
    scale = 1
    while x > 1:
        x = x / 2
        scale = scale * 2
    return brain * scale, brain / scale


@program("dtypes/float16 in a while loop", inputs=[(i(3),), (i(300),)], construct=WEAK)
def float16_while(n: Any) -> Any:
    value = gx.astype(n, "float16")
    while value < 100:
        value = value * 1.5 + 0.125
    return value


@program("dtypes/narrow integers wrap", inputs=[(i(100),), (i(3),)], construct="integers wrap as in NumPy")
def wrapping(n: Any) -> Any:
    signed, unsigned = gx.astype(n, "int8"), gx.astype(n, "uint8")
    for _ in range(5):
        signed = signed + signed
    if unsigned > 2:
        unsigned = unsigned - 5
    return signed, unsigned, -unsigned


@program("dtypes/index arithmetic", inputs=[(f(1.0), 30), (f(1.0), 4)], construct=INDEX)
def index_arithmetic(x: Any, n: int) -> Any:
    for k in range(n):
        x = x + k / 3 + k // 3 + k % 3 + k**2 + (-k) + abs(k - 5) + max(k, 3) + float(k) + int(k / 2)
    return x


@program("dtypes/index bits", inputs=[(f(1.0), 30), (f(1.0), 4)], construct=INDEX)
def index_bits(x: Any, n: int) -> Any:
    for k in range(n):
        x = x + (k & 1) + (k | 2) + (k ^ 3) + (k >> 1) + (k << 1) + (~k)
    return x


@program("dtypes/index comparisons", inputs=[(f(1.0), 30), (f(1.0), 4)], construct=INDEX)
def index_comparisons(x: Any, n: int) -> Any:
    for k in range(n):
        if 3 < k < 7 or k == 20 or k in (1, 2):
            x = x + k
        elif not k:
            x = x - 5
        x = x + (k > 5)
    return x


@program("dtypes/index powers beyond int32", inputs=[(f(1.0), 400), (f(1.0), 3)], construct=INDEX, tolerance=1e-4)
def index_powers(x: Any, n: int) -> Any:
    for k in range(n):
        x = x + (k * k * k * k) / 1e12
    return x


@program("dtypes/index as shape, text and NumPy index", inputs=[(f(1.0), 12), (f(1.0), 1)], construct=INDEX)
def index_as_python(x: Any, n: int) -> Any:
    weights = np.arange(12.0, dtype=np.float32)
    for k in range(n):
        x = x + gx.sum(gx.ones(k)) + len(str(k * 5)) + weights[k] + np.float32(k)
    return x


@program("dtypes/index kept in a list", inputs=[(f(1.0), 30), (f(1.0), 2)], construct=INDEX)
def index_in_list(x: Any, n: int) -> Any:
    kept = []
    for k in range(n):
        x = x + k
        kept.append(k)
    return x, kept


@program("dtypes/index after a Python break", inputs=[(f(1.0), 10), (f(1.0), 2)], construct=INDEX)
def index_after_break(x: Any, n: int) -> Any:
    for k in range(n):
        if k == 3:
            break
        if k == 1:
            continue
        x = x + k
    else:
        x = x * 100
    return x, k


@program(
    "dtypes/an int that grows beyond 32 bits",
    inputs=[(f(40.0),)],
    construct="Python ints beyond 32 bits that depend on tensors",
    refused=(gx.errors.NumberOverflowError, r"passes 32 bits"),
)
def beyond_32_bits(x: Any) -> Any:
    n = 1
    while x > 0:
        x = x - 1
        n = n * 2
    return n


@program(
    "dtypes/index after a Python break far on",
    inputs=[(f(1.0), 200), (f(1.0), 60), (f(1.0), 3), (f(1.0), 12)],
    construct=INDEX,
    gradient=True,
)
def index_after_late_break(x: Any, n: int) -> Any:
    kept = 0.0
    for k in range(0, n, 2):
        if (k % 7 == 6 and k // 10 == 4) or k > 100:
            break
        x = x + kept / 100
        kept = k * x
    else:
        x = x * 100
    return x, k, kept


@program("dtypes/index after a Python return", inputs=[(f(1.0), 200), (f(1.0), 20), (f(1.0), 3)], construct=INDEX)
def index_after_return(x: Any, n: int) -> Any:
    for k in range(n):
        x = x + k
        if k * k > 500:
            return x, k
    return x, -k


@program("dtypes/index and iterator after a Python break", inputs=[(f(1.0), 20), (f(1.0), 3)], construct=INDEX)
def iterator_after_break(x: Any, n: int) -> Any:
    pairs = zip(gx.arange(30.0) * x, range(n), strict=False)
    for row, k in pairs:
        if k >= 12:
            break
        x = x + row
    return x, k, [k for _, k in pairs]


NUMBER = "arithmetic with Python numbers that depend on tensors"
SIGNS = [(f(2.0),), (f(-2.0),)]


@program("dtypes/division by a number that may be zero", inputs=SIGNS, construct=NUMBER, python_numbers=True)
def divided_by_number(x: Any) -> Any:
    count = 0
    if x > 0:
        count = 2
    return 1 / count, 7 // count, 7 % count


@program("dtypes/remainder by a number that may be zero", inputs=SIGNS, construct=NUMBER, python_numbers=True)
def remainder(x: Any) -> Any:
    count = 0
    while x > 0:
        x = x - 1
        count += 1
    return 7 % count


@program("dtypes/length that may be zero", inputs=SIGNS, construct=NUMBER, python_numbers=True)
def length_divided(x: Any) -> Any:
    kept = []
    for k in range(10):
        if x * k > 3:
            kept.append(x + k)
            x = x * 1
    return 1 / len(kept)


@program("dtypes/truth values that are added", inputs=[*SIGNS, (f(0.5),)], construct=NUMBER, python_numbers=True)
def truth_added(x: Any) -> Any:
    first = second = False
    count = 0
    if x > 0:
        first, count = True, 1
    if x > 1:
        second = True
    return first + second, (count == 1) + (count > 0), -first, ~count, first * 2, sum([first, second])


@program("dtypes/negative power and shift", inputs=SIGNS, construct=NUMBER, python_numbers=True)
def powers(x: Any) -> Any:
    n = 2
    if x < 0:
        n = -1
    return n**-1, 1 << n


@program("dtypes/number compared with other things", inputs=SIGNS, construct=NUMBER, python_numbers=True)
def compared(x: Any) -> Any:
    n = 1
    if x > 0:
        n = 2
    return n == None, n != "a", n == [1], n in (2, 3), n in {2: 1}, isinstance(n, int), type(n) is int  # noqa: E711


@program("dtypes/float compared with itself", inputs=SIGNS, construct=NUMBER, python_numbers=True)
def float_compared(x: Any) -> Any:
    rate = 0.1
    if x > 0:
        rate = 0.3
    return rate == 0.1, rate != 0.3, rate <= 0.1, rate < 0.3


@program("dtypes/numbers that gx.switch gives", inputs=[(i(0),), (i(1),)], construct=NUMBER, python_numbers=True)
def switched(k: Any) -> Any:
    n = gx.switch(k, [lambda: 0, lambda: 2])
    return 1 // n


@program(
    "dtypes/list repeated by a number",
    inputs=SIGNS,
    construct="a list of a length that depends on tensors",
    refused=(gx.errors.ConcretizationError, "an index or a size needs a value"),
)
def repeated(x: Any) -> Any:
    n = 1
    if x > 0:
        n = 3
    return [x] * n


@program("dtypes/Python number that changes in a long loop", inputs=[(f(1.0), 300), (f(1.0), 1)], construct=COUNTER)
def changing_number(x: Any, n: int) -> Any:
    a = 1
    for _ in range(n):
        x = x * 0.5 + a
        a = (a * 7 + 3) % 11
    return x, a


@program("dtypes/Python float summed in a long loop", inputs=[(f(1.0), 100), (f(1.0), 1)], construct=COUNTER)
def summed_float(x: Any, n: int) -> Any:
    total = 0.1
    for _ in range(n):
        total = total + 0.1
    return x * total, total


@program("dtypes/flag and text that change in a loop", inputs=[(f(1.0), 30), (f(1.0), 3)], construct=COUNTER)
def flag_and_text(x: Any, n: int) -> Any:
    flip, text = False, "a"
    for k in range(n):
        x = x + len(text) if flip else x * 0.5
        flip = not flip
        text = text + "b" if k % 2 else text
    return x, flip, text


@program(
    "dtypes/None in the first iteration",
    inputs=[(f(1.0), 30), (f(1.0), 1)],
    construct="`None` in the first iteration of a loop",
)
def none_at_first(x: Any, n: int) -> Any:
    previous = None
    for _ in range(n):
        if previous is not None:
            x = x + previous * 0.1
        previous = x * 0.5
    return x


@program(
    "dtypes/None in the first iteration, over a tensor",
    inputs=[(f(1, -2, 3),), (f(5, 6, 7),)],
    construct="`None` in the first iteration of a loop",
    gradient=True,
)
def none_at_first_over_tensor(x: Any) -> Any:
    previous = None
    total = gx.zeros(())
    for value in x:
        if previous is not None:
            total = total + previous * value
        previous = value
    return total


@program(
    "dtypes/sums of truth values", inputs=[(f(1, -2, 3),), (f(-1, -2, -3),)], construct=COUNTER, python_numbers=True
)
def truth_sums(x: Any) -> Any:
    count = 0
    bad = False
    for value in x:
        count += value > 0
        bad |= value < -2
    return count, bad, sum(value > 0 for value in x), (x[0] > 0) + (x[1] > -5)


@program(
    "dtypes/running maximum from minus infinity",
    inputs=[(f(1, -2, 3),), (f(-1, -2, -3),)],
    construct=COUNTER,
    python_numbers=True,
    gradient=True,
)
def running_maximum(x: Any) -> Any:
    best, where = float("-inf"), -1
    for k in range(len(x)):
        if x[k] > best:
            best, where = x[k], k
    return best, where


@program(
    "dtypes/number too large for int32",
    inputs=[(f(1.0),), (f(-1.0),)],
    construct="a Python int that does not fit into int32",
    refused=(gx.errors.InvalidArgumentError, "variable 'n' is 4294967296 when.*does not fit int32; use a float"),
)
def too_large(x: Any) -> Any:
    n = 2**30
    if x > 0:
        n = n * 4
    return n


@program(
    "dtypes/number too large for int32 before a loop",
    inputs=[(f(1.0),), (f(-1.0),)],
    construct="a Python int that does not fit into int32",
    refused=(gx.errors.InvalidArgumentError, "variable 'n' is 1099511627776 before the loop.*does not fit int32"),
)
def too_large_before_loop(x: Any) -> Any:
    n = 2**40
    while x > 0:
        n = n - 1
        x = x - 1
    return n


@program("dtypes/complex numbers", inputs=[(f(2.0),), (f(-2.0),)], construct="complex numbers")
def complex_numbers(x: Any) -> Any:
    z = gx.astype(x, "complex64") * 1j
    if x > 0:
        z = z * (2 + 1j)
    return z, abs(z), gx.real(z)


@program(
    "dtypes/NaN is not equal to itself",
    inputs=[(f(float("nan")),), (f(1.0),), (f(3.0),)],
    construct="`if`, `elif`, `else`",
)
def not_a_number(x: Any) -> Any:
    if x != x:
        return x * 0 + 1
    if not x < 2:
        return x * 0 + 2
    return x * 0 + 3


@program(
    "dtypes/Python integers and tensors divided", inputs=[(i(7),), (i(-7),)], construct="integers wrap as in NumPy"
)
def divided(n: Any) -> Any:
    return n // 2, n / 2, n % 3, -n // 2, n**2, 2 ** abs(n), n % -3
