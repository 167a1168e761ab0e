"""Whole numbers: gcd, primes, powers, sequences; in tensors and in Python ints."""

# ruff: noqa: FURB116, RUF007  the programs are as people write them at first

from __future__ import annotations

from functools import partial
from typing import Any

import graphc as gx
from graphc import Tensor
from tests.conformance import harness
from tests.conformance.harness import f as floats
from tests.conformance.harness import i as ints

program = partial(harness.program, construct="whole algorithms")


@program("integers/euclid", inputs=[(ints(48), ints(36)), (ints(17), ints(5)), (ints(7), ints(0))])
def euclid(a: Tensor, b: Tensor) -> Tensor:
    while b != 0:
        a, b = b, a % b
    return a


@program(
    "integers/extended_euclid",
    inputs=[(ints(240), ints(46)), (ints(12), ints(8)), (ints(5), ints(0))],
    python_numbers=True,
)
def extended_euclid(a: Tensor, b: Tensor) -> Any:
    x, next_x = 1, 0
    y, next_y = 0, 1
    while b:
        quotient = a // b
        a, b = b, a - quotient * b
        x, next_x = next_x, x - quotient * next_x
        y, next_y = next_y, y - quotient * next_y
    return a, x, y


@program("integers/collatz", inputs=[(ints(6),), (ints(27),), (ints(1),)], python_numbers=True)
def collatz(n: Tensor) -> Any:
    steps, highest = 0, n
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        if n > highest:
            highest = n
        steps += 1
    return steps, highest


@program("integers/collatz_longest", inputs=[(ints(12),), (ints(5),)], python_numbers=True)
def collatz_longest(limit: Tensor) -> Any:
    best, best_start = 0, 1
    for start in range(1, limit):
        n, length = start, 1
        while n > 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            length += 1
        if length > best:
            best, best_start = length, start
    return best, best_start


@program(
    "integers/fast_power", inputs=[(ints(3), ints(5)), (ints(2), ints(0)), (ints(-2), ints(7))], python_numbers=True
)
def fast_power(base: Tensor, exponent: Tensor) -> Tensor:
    result = 1
    while exponent > 0:
        if exponent % 2 == 1:
            result = result * base
        base = base * base
        exponent = exponent // 2
    return result


@program("integers/fast_power_bits", inputs=[(floats(1.5), 6), (floats(1.5), 0)], gradient=True)
def fast_power_bits(base: Tensor, exponent: int) -> Tensor:
    result = gx.ones_like(base)
    for bit in bin(exponent)[2:]:
        result = result * result
        if bit == "1":
            result *= base
    return result


@program("integers/modular_power", inputs=[(ints(7), ints(13), ints(11)), (ints(2), ints(10), ints(1000))])
def modular_power(base: Tensor, exponent: Tensor, modulus: Tensor) -> Tensor:
    result = gx.asarray(1)
    base %= modulus
    while exponent:
        if exponent & 1:
            result = (result * base) % modulus
        exponent >>= 1
        base = base * base % modulus
    return result


@program("integers/fibonacci_loop", inputs=[(ints(0),), (ints(1),), (ints(20),)], python_numbers=True)
def fibonacci_loop(n: Tensor) -> Tensor:
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a


@program("integers/fibonacci_list", inputs=[(ints(1), ints(1)), (ints(2), ints(5))])
def fibonacci_list(first: Tensor, second: Tensor) -> Tensor:
    numbers = [first, second]
    while len(numbers) < 10:
        numbers.append(numbers[-1] + numbers[-2])
    return gx.stack(numbers)


@program("integers/fibonacci_memo", inputs=[(floats(1.5), 12), (floats(2.0), 1)], gradient=True)
def fibonacci_memo(x: Tensor, n: int) -> Tensor:
    """Recursion and a dict of tensors, keyed by static ints."""
    memo = {0: x * 0, 1: x}

    def fib(k: int) -> Tensor:
        if k not in memo:
            memo[k] = fib(k - 1) + fib(k - 2)
        return memo[k]

    return fib(n)


@program("integers/fibonacci_until", inputs=[(ints(100),), (ints(3),), (ints(0),)], python_numbers=True)
def fibonacci_until(limit: Tensor) -> Any:
    """Terms up to a limit, summed while they are even."""
    total, a, b = 0, 1, 2
    even = 0
    while a <= limit:
        if a % 2 == 0:
            even += 1
            total += a
        a, b = b, a + b
    return total, even


@program("integers/sieve", inputs=[(30,), (8,)])
def sieve(n: int) -> Any:
    prime = gx.ones(n + 1, dtype=bool)
    prime[0] = False
    prime[1] = False
    i = 2
    while i * i <= n:
        if prime[i]:
            for multiple in range(i * i, n + 1, i):
                prime[multiple] = False
        i += 1
    return prime, gx.sum(prime)


@program("integers/sieve_slices", inputs=[(30,), (10,)])
def sieve_slices(n: int) -> Tensor:
    flags = gx.ones((n,), dtype=gx.asarray(True).dtype)
    flags[:2] = False
    for i in range(2, int(n**0.5) + 1):
        if flags[i]:
            flags[i * i :: i] = False
    return flags


@program("integers/is_prime", inputs=[(ints(29),), (ints(91),), (ints(2),), (ints(1),)], python_numbers=True)
def is_prime(n: Tensor) -> Any:
    if n < 2:
        return False
    d = 2
    while d * d <= n:
        if n % d == 0:
            return False
        d += 1
    return True


@program("integers/factors", inputs=[(ints(360),), (ints(97),), (ints(1),)], python_numbers=True)
def factors(n: Tensor) -> Any:
    """How often each small prime divides."""
    counts = {}
    for p in (2, 3, 5, 7):
        counts[p] = 0
        while n % p == 0:
            n = n // p
            counts[p] += 1
    return counts, n


@program("integers/digits", inputs=[(ints(9045),), (ints(7),), (ints(0),)], python_numbers=True)
def digits(n: Tensor) -> Any:
    total, count, backwards = 0, 0, 0
    while n > 0:
        n, digit = n // 10, n % 10
        total += digit
        backwards = backwards * 10 + digit
        count += 1
    return total, count, backwards


@program("integers/integer_square_root", inputs=[(ints(0),), (ints(26),), (ints(10000),)])
def integer_square_root(n: Tensor) -> Tensor:
    if n < 2:
        return n
    x = n
    y = (x + 1) // 2
    while y < x:
        x = y
        y = (x + n // x) // 2
    return x


@program("integers/hamming_weight", inputs=[(ints(255),), (ints(1024),), (ints(0),)], python_numbers=True)
def hamming_weight(n: Tensor) -> Any:
    count = 0
    while n:
        n &= n - 1
        count += 1
    return count


@program("integers/ackermann_static", inputs=[(floats(1.0), 2, 2), (floats(0.5), 1, 3)])
def ackermann(x: Tensor, m: int, n: int) -> Tensor:
    def a(m: int, n: int) -> int:
        if m == 0:
            return n + 1
        if n == 0:
            return a(m - 1, 1)
        return a(m - 1, a(m, n - 1))

    return x * a(m, n)


@program("integers/pascal", inputs=[(ints(1),), (ints(3),)])
def pascal(first: Tensor) -> Tensor:
    row = [first]
    for _ in range(5):
        row = [first] + [a + b for a, b in zip(row, row[1:], strict=False)] + [first]
    return gx.stack(row)


@program("integers/perfect_numbers", inputs=[(30,), (5,)])
def perfect_numbers(limit: int) -> Any:
    found = gx.zeros(limit + 1, dtype="int32")
    for n in range(2, limit + 1):
        if sum(d for d in range(1, n) if n % d == 0) == n:
            found[n] = 1
    return found


@program("integers/tower_of_hanoi", inputs=[(ints(1, 2, 3),)])
def hanoi(discs: Tensor) -> Any:
    """Lists of tensors as pegs, a static recursion, a list of moves."""
    pegs = {"a": [discs[i] for i in range(3)][::-1], "b": [], "c": []}
    moves = []

    def move(count: int, source: str, target: str, spare: str) -> None:
        if count > 0:
            move(count - 1, source, spare, target)
            pegs[target].append(pegs[source].pop())
            moves.append(pegs[target][-1])
            move(count - 1, spare, target, source)

    move(3, "a", "c", "b")
    return gx.stack(pegs["c"]), gx.stack(moves)


@program("integers/game_of_nim", inputs=[(ints(3, 4, 5),), (ints(1, 1, 0),)], python_numbers=True)
def nim(heaps: Tensor) -> Any:
    x = 0
    for heap in heaps:
        x = x ^ heap
    if x == 0:
        return -1, 0
    for i, heap in enumerate(heaps):
        if heap ^ x < heap:
            return i, heap - (heap ^ x)
    return -1, 0
