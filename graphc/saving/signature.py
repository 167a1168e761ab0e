"""Signatures of saved functions: the arguments, with a TensorSpec or an example for each tensor."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from graphc.compiler.base import at, nest, user_location
from graphc.compiler.base.errors import InvalidArgumentError, InvalidTypeError
from graphc.compiler.core import StringTensor, Tensor, Variable, as_dtype
from graphc.compiler.function import TensorSpec
from graphc.compiler.ops import asarray
from graphc.compiler.tracing import is_array

__all__ = [
    "Expression",
    "OpenSpec",
    "Signature",
    "Sizes",
    "as_signature",
    "equal_sizes",
    "examples",
    "expressions",
    "samples",
    "symbols_of",
    "with_symbols",
]

# Sizes that are open: expressions that give a number for each of several sizes that were tried.

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

    @property
    def tree(self) -> Any:
        """The expression as JSON."""
        return {"size": [list(self.symbols), self.factor, self.offset, self.divisor]}

    def __str__(self) -> str:
        text = "*".join([*([] if self.factor == 1 else [str(self.factor)]), *self.symbols])
        text += f" + {self.offset}" if self.offset else ""
        return text if self.divisor == 1 else f"floordiv({text}, {self.divisor})"


def expressions(numbers: Sequence[int], sizes: Sequence[Sizes]) -> Iterator[Expression]:
    """Yields what gives a number for each of some sizes, the simplest first.

    Args:
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
    """Yields sizes to trace with: several sets, should one meet a number of the program."""
    count = len(symbols)
    step = _TRIED * count
    for start in range(0, len(_PRIMES) - step + 1, step)[:_SETS]:
        rows = [_PRIMES[start + row * count : start + (row + 1) * count] for row in range(_TRIED)]
        yield [dict(zip(symbols, row, strict=True)) for row in rows]


def equal_sizes(symbols: Sequence[str], size: int) -> Sizes:
    """Returns one size for all symbols."""
    return dict.fromkeys(symbols, size)


_LARGEST = 1 << 20
"""Maximum number of elements of a tensor used as an example."""


class Signature:
    """The arguments of a call that a function is saved for.

    Args:
      *args: a :class:`TensorSpec` or an example for each tensor; Python values become part of the program.
      **kwargs: the same by name.

    Example:
      >>> import graphc as gx
      >>> gx.saving.Signature(gx.TensorSpec((None, 3)), training=False)
      Signature(float32[?,3], training=False)
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.args: tuple[Any, ...] = args
        self.kwargs: dict[str, Any] = kwargs

    def __repr__(self) -> str:
        shown = [_shown(value) for value in self.args]
        shown += [f"{name}={_shown(value)}" for name, value in self.kwargs.items()]
        return f"Signature({', '.join(shown)})"


def _shown(value: Any) -> str:
    return str(value) if isinstance(value, TensorSpec) else f"{value!r:.60}"


def as_signature(given: Any) -> Signature:
    """Normalizes a given signature: a tuple holds all arguments, anything else is a single one."""
    if isinstance(given, Signature):
        return given
    return Signature(*cast("tuple[Any, ...]", given)) if type(given) is tuple else Signature(given)


@dataclass(frozen=True)
class OpenSpec:
    """A tensor argument: its dtype and its sizes, with a symbol for each open size."""

    shape: tuple[int | str, ...]
    dtype: np.dtype[Any]
    name: str

    def example(self, sizes: Sizes) -> Any:
        """Returns a tensor of these sizes; a large one is an array without its own memory."""
        shape = [sizes[size] if isinstance(size, str) else size for size in self.shape]
        zeros = np.broadcast_to(np.zeros((), self.dtype), shape)
        return asarray(zeros) if zeros.size <= _LARGEST else zeros

    @property
    def spec(self) -> TensorSpec:
        """The TensorSpec, without symbols."""
        return TensorSpec([None if isinstance(size, str) else size for size in self.shape], self.dtype, self.name)

    def __str__(self) -> str:
        return f"{self.dtype.name}[{','.join(map(str, self.shape))}]"


class _Leaf:
    """A box that hides an OpenSpec, which is a dataclass, from nest."""

    __slots__ = ("spec",)

    def __init__(self, spec: OpenSpec) -> None:
        self.spec = spec


def with_symbols(values: Mapping[str, Any], tied: str) -> dict[str, Any]:
    """Returns arguments by name, with a boxed OpenSpec for each tensor.

    Args:
      tied: the open sizes that are equal: ``"none"``, those of the first axes (``"rows"``), or ``"all"``.

    Raises:
      InvalidArgumentError: a specification leaves the number of axes open.
      InvalidTypeError: a tensor of strings.
    """
    names = (f"n{number}" for number in range(1_000))

    def spec_of(value: Any, name: str) -> OpenSpec | None:
        if isinstance(value, TensorSpec):
            if value.of_strings:
                raise _of_strings(name)
            if value.shape is None:
                error = InvalidArgumentError(
                    f"gx.save: the argument {name!r} is {value}; give the number of axes, and None for each open size"
                )
                raise at(error, user_location())
            shape = [_symbol(axis) if size is None else size for axis, size in enumerate(value.shape)]
            return OpenSpec(tuple(shape), as_dtype(value.dtype), value.name or name)
        if isinstance(value, StringTensor):
            raise _of_strings(name)
        if is_array(value) or (isinstance(value, Tensor) and not isinstance(value, Variable)):
            return OpenSpec(tuple(value.shape), as_dtype(value.dtype), name)
        return None

    def _symbol(axis: int) -> str:
        return next(names) if tied == "none" or (tied == "rows" and axis) else "rows" if tied == "rows" else "size"

    def boxed(value: Any, name: str) -> Any:
        spec = spec_of(value, name)
        if spec is not None:
            return _Leaf(spec)
        parts = nest.children(value)
        return value if parts is None else nest.rebuilt(value, [boxed(part, name) for part in parts[1]])

    return {name: boxed(value, name) for name, value in values.items()}


def _of_strings(name: str) -> InvalidTypeError:
    error = InvalidTypeError(
        f"gx.save: the argument {name!r} is a tensor of strings, which are Python values to a compiled function; do "
        "what needs them outside"
    )
    return at(error, user_location())


def specs_in(value: Any) -> Iterator[OpenSpec]:
    """Yields the specifications in arguments, in the order of the tensors."""
    for leaf in nest.flatten(value)[0]:
        if isinstance(leaf, _Leaf):
            yield leaf.spec


def symbols_of(values: Any) -> Sequence[str]:
    """Returns the symbols of arguments, each once."""
    return list(dict.fromkeys(size for spec in specs_in(values) for size in spec.shape if isinstance(size, str)))


def examples(value: Any, sizes: Sizes) -> Any:
    """Returns arguments with an array for each tensor."""
    if isinstance(value, _Leaf):
        return value.spec.example(sizes)
    parts = nest.children(value)
    return value if parts is None else nest.rebuilt(value, [examples(part, sizes) for part in parts[1]])


def spec_leaf(value: Any) -> Any:
    """Returns the JSON of a tensor argument; None for anything else."""
    if not isinstance(value, _Leaf):
        return None
    spec = value.spec
    return {"tensor": {"shape": list(spec.shape), "dtype": spec.dtype.name, "name": spec.name}}
