"""Sizes that are open: expressions that give a number for each of several sizes that were tried."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

__all__ = ["Expression", "Sizes", "equal_sizes", "expressions", "samples"]

Sizes = Mapping[str, int]
"""A size for each symbol."""

_PRIMES = (11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97, 101, 103, 107, 109, 113)
_TRIED = 3
"""Number of traces that a graph is made from: two points define a line, and the third checks it."""
_SETS = 3
_DIVISORS = range(2, 17)


@dataclass(frozen=True)
class Expression:
    """``(factor * product of symbols + offset) // divisor``.

    Attributes:
      symbols: the symbols to multiply, which are the names of sizes.
      factor: and by what number.
      offset: the summand.
      divisor: the divisor of the whole, which rounds down.
    """

    symbols: tuple[str, ...]
    factor: int = 1
    offset: int = 0
    divisor: int = 1

    def __call__(self, sizes: Sizes) -> int:
        """Returns the number for some sizes."""
        product = math.prod([sizes[symbol] for symbol in self.symbols])
        return (self.factor * product + self.offset) // self.divisor

    def __str__(self) -> str:
        text = "*".join([*([] if self.factor == 1 else [str(self.factor)]), *self.symbols])
        text += f" + {self.offset}" if self.offset else ""
        return text if self.divisor == 1 else f"floordiv({text}, {self.divisor})"


def expressions(numbers: Sequence[int], sizes: Sequence[Sizes]) -> Iterator[Expression]:
    """Yields what gives a number for each of some sizes, the simplest first.

    Args:
      numbers: the numbers to express.
      sizes: for each of them, the sizes.

    Example:
      >>> [str(found) for found in expressions((23, 27), ({"n": 11}, {"n": 13}))]
      ['2*n + 1']
    """
    symbols = sorted(sizes[0])
    groups = [group for count in range(1, len(symbols) + 1) for group in itertools.combinations(symbols, count)]
    for divisor, group in itertools.product((1, *_DIVISORS), groups):
        products = [math.prod([one[symbol] for symbol in group]) for one in sizes]
        rise, run = numbers[1] - numbers[0], products[1] - products[0]
        # Of those that are rounded only the plain ones are tried: n // 2, and (n + 1) // 2 as strides give it.
        factors = [rise // run] if divisor == 1 and run and rise % run == 0 else [1] if divisor > 1 else []
        for factor in factors:
            offsets = [numbers[0] - factor * products[0]] if divisor == 1 else range(-divisor, divisor + 1)
            for offset in sorted(offsets, key=abs):
                found = Expression(group, factor, offset, divisor)
                if factor and all(found(one) == number for one, number in zip(sizes, numbers, strict=True)):
                    yield found


def samples(symbols: Sequence[str]) -> Iterator[Sequence[Sizes]]:
    """Yields sizes to trace with: several sets, should one meet a number of the program.

    Args:
      symbols: the symbols of the open sizes.
    """
    count = len(symbols)
    step = _TRIED * count
    for start in range(0, len(_PRIMES) - step + 1, step)[:_SETS]:
        rows = [_PRIMES[start + row * count : start + (row + 1) * count] for row in range(_TRIED)]
        yield [dict(zip(symbols, row, strict=True)) for row in rows]


def equal_sizes(symbols: Sequence[str], size: int) -> Sizes:
    """Returns one size for all symbols."""
    return dict.fromkeys(symbols, size)
