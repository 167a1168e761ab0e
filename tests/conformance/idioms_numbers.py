"""Python's numbers that depend on tensors, and the index of a loop: operators, comparisons and methods of all kinds."""

from __future__ import annotations

import math
from typing import Any

from tests.conformance.harness import f, i, program

NUMBERS = "arithmetic with Python numbers that depend on tensors"
PAIRS = [(i(7), i(2)), (i(3), i(5)), (i(0), i(1)), (i(-4), i(3)), (i(1), i(0))]


@program("numbers/operators of a loop's index", inputs=[(f(1.0),), (f(-2.0),)], construct=NUMBERS, loops=("unrolled",))
def operators_of_an_index(x: Any) -> Any:
    for k in range(12):
        quotient, rest = divmod(k, 3)
        of_two, rest_of_two = divmod(50, k + 1)
        x = x + quotient + rest + of_two + rest_of_two
        x = x + (k & 3) + (k | 1) + (k ^ 2) + (k << 1) + (k >> 1) + ~k + (+k) + abs(k - 5)
        x = x + (9 & k) + (8 | k) + (6 ^ k) + (1 << k) + (64 >> k) + 2**k + k**2 + k**-0.5 if k else x
        x = x + 40 // (k + 1) + 40 % (k + 1) + k // 2.5 + k % 1.5 + k / 2 + 1 / (k + 1) + (k + 1) / (k + 2)
        x = x + round(k) + math.floor(k) + math.ceil(k) + math.trunc(k) + float(k) + k * 0.5 + (2.5 - k)
    return x


@program("numbers/comparisons of a loop's index", inputs=[(f(1.0),), (f(4.5),)], construct=NUMBERS)
def comparisons_of_an_index(x: Any) -> Any:
    count = 0
    for k in range(10):
        count += (k < 4) + (k <= 4.5) + (k > 2) + (k >= 2.5) + (k == 3) + (k != 3)
        count += (k == 2.5) + (k != 2.5) + (k < -1.0) + (k > 1e20)
        x = x + count
    return x


@program("numbers/ints of which both depend on tensors", inputs=PAIRS, construct=NUMBERS, python_numbers=True)
def operators_of_two_ints(a: Any, b: Any) -> Any:
    n, k = int(a), int(b)
    return n + k, n - k, n * k, n**k, n << k, n >> k, n & k, n | k, n ^ k, -n, ~n, abs(n), +n


@program("numbers/quotients of two ints", inputs=[*PAIRS, (i(1), i(0))], construct=NUMBERS, python_numbers=True)
def quotients_of_two_ints(a: Any, b: Any) -> Any:
    n, k = int(a), int(b)
    return n // k, n % k, n / k, divmod(n, k)


@program("numbers/ints with known ones", inputs=[*PAIRS, (i(20), i(9))], construct=NUMBERS, python_numbers=True)
def operators_with_known_ints(a: Any, b: Any) -> Any:
    n, k = int(a), int(b)
    powers = n**2, n**0, n**1, 2**k, 1**k, 0**k, (-3) ** k
    shifts = n << 2, n << 0, 3 << k, 0 << k, n >> 1, 100 >> k
    return powers, shifts, 5 + n, 5 - n, n * 0, n * -3, n // -1, 7 & n, n | -1, n ^ 3


@program(
    "numbers/ints that pass 32 bits",
    inputs=[(i(2**31 - 1), i(40)), (i(-(2**31)), i(31)), (i(65536), i(2))],
    construct=NUMBERS,
    python_numbers=True,
)
def bits_of_large_ints(a: Any, b: Any) -> Any:
    n, k = int(a), int(b)
    return n & k, n | k, n ^ k, n >> k, n % k, n > k


@program(
    "numbers/ints and floats compared exactly",
    inputs=[(i(16777217), f(16777216.0)), (i(3), f(3.5)), (i(-7), f(-7.0)), (i(2), f(math.inf)), (i(2), f(math.nan))],
    construct=NUMBERS,
    python_numbers=True,
)
def compared_exactly(a: Any, b: Any) -> Any:
    n, x = int(a), float(b)
    both = n < x, n <= x, n > x, n >= x, n == x, n != x, x < n, x == n
    known = n < 2.5, n == 2.5, n != 2.5, n > 1e20, n < 1e20, n == math.nan, n != math.nan, n > -1e20
    return both, known, x < 0.1, x >= 0.1, x == 0.1, x != 3


@program(
    "numbers/attributes of numbers", inputs=[(f(2.5), i(3)), (f(-4.0), i(0))], construct=NUMBERS, python_numbers=True
)
def attributes_of_numbers(a: Any, b: Any) -> Any:
    x, n, flag, z = float(a), int(b), bool(b), complex(a)
    parts = x.real, x.imag, n.real, n.imag, flag.real, flag.imag, z.real, z.imag
    return parts, x.is_integer(), n.numerator, n.denominator, n.conjugate()


@program("numbers/classes of numbers", inputs=[(f(2.0),), (f(-1.0),)], construct=NUMBERS, python_numbers=True)
def classes_of_numbers(x: Any) -> Any:
    k: Any = 0
    flag = x > 0
    while x > 0:
        k, x = k + 1, x - 1
    known = isinstance(k, int), isinstance(k, float), isinstance(x > 0, int), type(k) is int
    for index in range(9):
        number: Any = index
        if isinstance(number, int) and not isinstance(number, float):
            x = x + 1
    return x, known, bool(flag) is True, k is True


@program("numbers/indices of two loops", inputs=[(f(1.0),), (f(-0.5),)], construct=NUMBERS, gradient=True)
def indices_of_two_loops(x: Any) -> Any:
    for row in range(6):
        for column in range(7):
            place = row * 7 + column
            x = x + place * 0.5 + (2.5 - place) + place / 4 + 1 / (place + 1) + (place + 0.25)
            x = x * 0.5 + place // 2 + place % 5 + abs(row - column) + max(row, column) + min(place, 9)
    return x


@program(
    "numbers/slices that a loop's index moves",
    inputs=[(f(1.0, -2.0, 3.0, 4.0, 5.0, -6.0, 7.0, 8.0, 9.0, 10.0, -11.0),)],
    construct=NUMBERS,
    gradient=True,
)
def slices_by_an_index(xs: Any) -> Any:
    total = xs[0] * 0
    for k in range(8):
        total = total + (xs[k : k + 3] * xs[k + 1 : k + 4]).sum()
        total = total * 0.5 + xs[2 * k // 2 : k + 2].sum() + xs[k % 3 : k % 3 + 2].sum()
    for k in range(3):
        total = total + xs[k:].sum() + xs[: k + 1].sum()
    return total


@program(
    "numbers/numbers that Python computes for all iterations", inputs=[(f(2.0),)], construct=NUMBERS, gradient=True
)
def numbers_of_all_iterations(x: Any) -> Any:
    rate, count, late = 1.0, 3, False
    for _ in range(40):
        rate = rate * 0.9 + 0.01
        count = (count * 5 + 1) % 17
        late = not late and count > 4
        scale = -rate if late else abs(rate - 0.5)
        x = x + scale * (~count & 7) + (count << 1) + math.floor(rate * 10) + math.ceil(rate) + (count / 2) ** 0.5
    return x
