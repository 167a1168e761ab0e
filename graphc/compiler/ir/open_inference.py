"""Inference of output types from input types with open sizes.

Ops have no rules for open sizes. The ordinary inference runs on trial sizes in their place: an output size that is the
same for all trials is known, and all others are open. Trial sizes that inference refuses cannot occur in a run, and if
it refuses all of them, the shapes cannot fit.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from graphc.compiler.base.errors import InvalidArgumentError
from graphc.compiler.ir.types import OPEN, Attrs, TensorType

if TYPE_CHECKING:
    from graphc.compiler.ir.graph import Graph
    from graphc.compiler.ir.opdef import OpDef

# Relations between types with open sizes.
#
# An open size, or an open number of axes, is known only when the graph runs. Such a type represents all types that it
# may turn out to be.


def compatible(first: TensorType, second: TensorType) -> bool:
    """Returns True if two types could be equal once their open sizes are known.

    Example:
      >>> import numpy as np
      >>> compatible(TensorType((OPEN, 3), np.dtype("int32")), TensorType((2, OPEN), np.dtype("int32")))
      True
    """
    return first.dtype == second.dtype and first.weak == second.weak and compatible_shapes(first, second)


def compatible_shapes(first: TensorType, second: TensorType) -> bool:
    """Returns True if two types could have the same shape once their open sizes are known, whatever their dtypes."""
    if not first.ranked or not second.ranked:
        return True
    return len(first.shape) == len(second.shape) and all(map(_may_equal, first.shape, second.shape))


def merge(first: TensorType, second: TensorType) -> TensorType:
    """Returns the type of a tensor that has both types.

    Raises:
      InvalidArgumentError: no tensor has both types.

    Example:
      >>> import numpy as np
      >>> str(merge(TensorType((OPEN, 3), np.dtype("int32")), TensorType((2, OPEN), np.dtype("int32"))))
      'i32[2,3]'
    """
    if not compatible(first, second):
        raise InvalidArgumentError(f"no tensor is both {first} and {second}")
    if not first.ranked:
        return second
    if not second.ranked:
        return first
    shape = [b if a == OPEN else a for a, b in zip(first.shape, second.shape, strict=True)]
    return replace(first, shape=tuple(shape))


def widen(types: Sequence[TensorType]) -> TensorType:
    """Returns the narrowest type that includes all of these: sizes in which they differ are open.

    Args:
      types: at least one, all of one dtype and of the same weakness.

    Raises:
      InvalidArgumentError: the types differ in more than their shapes.

    Example:
      >>> import numpy as np
      >>> str(widen([TensorType((2, 3), np.dtype("int32")), TensorType((4, 3), np.dtype("int32"))]))
      'i32[?,3]'
    """
    first = types[0]
    if any(type.dtype != first.dtype or type.weak != first.weak for type in types):
        raise InvalidArgumentError(f"the types {', '.join(map(str, types))} differ in more than their shapes")
    if not all(type.ranked and len(type.shape) == len(first.shape) for type in types):
        return replace(first, shape=(), ranked=False)
    columns = zip(*[type.shape for type in types], strict=True)
    return replace(first, shape=tuple([sizes[0] if len(set(sizes)) == 1 else OPEN for sizes in columns]))


def _may_equal(first: int, second: int) -> bool:
    return first == second or OPEN in (first, second)


Types: TypeAlias = tuple[TensorType, ...]
Infer: TypeAlias = Callable[[Types], Sequence[TensorType]]

_PRIMES = (61, 67)
"""Trial sizes: primes, and small enough that an op that iterates over rows is not slow."""
_SMALL = (2, 0)
"""Sizes smaller than a slice such as ``x[:5]``."""
_TELLING = 1031
"""Trial size of probes whose error is shown; error texts hide its multiples, so it should not occur elsewhere."""
_RANKS = range(5)
"""Trial numbers of axes for an unknown one."""
_MOST_PROBES = 256
"""Maximum number of size combinations to try if no single size fits everywhere."""
_MOST_SUBSETS = 4
"""Maximum number of open sizes whose subsets are all varied; beyond it only singles, pairs and equal sizes are."""
_KEPT = 4096


class ProbeError(ValueError):
    """Raised if no trial sizes fit, or too many; the message is inference's, with ``?`` for the trial sizes.

    Attributes:
      error: the error of inference.
      types: the trial types that it raised the error for.
    """

    def __init__(self, error: Exception, types: Types) -> None:
        self.error = error
        self.types = types
        super().__init__(self.hide(str(error)))

    def hide(self, text: str) -> str:
        """Returns a text with ``?`` in place of trial sizes and of sizes computed from them."""
        return re.sub(r"\d+", lambda digits: "?" if _is_made(int(digits[0])) else digits[0], text)


def _is_made(number: int) -> bool:
    return number > 0 and number % _TELLING == 0


@dataclass(frozen=True)
class _Found:
    """The known parts of the outputs, with one probe to repeat, which detects changed rules."""

    types: Types
    given: Types
    gave: Types


_found: dict[Any, _Found] = {}


def infer_open(op: OpDef, types: Sequence[TensorType], attrs: Attrs, regions: Sequence[Graph] = ()) -> Types:
    """Returns the known parts of an op's output types, given open input types.

    Args:
      op: the op; ops with bodies, on strings, on the host, or with ``takes_open`` infer open types themselves.
      types: the types of its inputs.
      attrs: its attributes.
      regions: its bodies.

    Raises:
      ProbeError: the types do not fit for any open sizes; or the number of outputs depends on the open sizes.
    """
    if op.takes_open or op.host or regions or any(type.dtype.kind == "O" for type in types):
        return tuple(op.infer(types, attrs, regions))

    def infer(types: Types) -> Types:
        return tuple(op.infer(types, attrs, ()))

    key = (op, attrs, *types)
    entry = _found.get(key)
    if entry is None or infer(entry.given) != entry.gave:
        if len(_found) >= _KEPT:
            _found.clear()
        entry = _found[key] = probe(infer, tuple(types), ints_in(attrs))
    return entry.types


def ints_in(value: Any) -> list[int]:
    """Returns the distinct integers in an attribute, or in nested ones."""
    if isinstance(value, Mapping):
        value = tuple(cast("Mapping[str, Any]", value).values())
    if isinstance(value, tuple):
        return list(dict.fromkeys(number for item in cast("tuple[Any, ...]", value) for number in ints_in(item)))
    return [value] if type(value) is int else []


def probe(infer: Infer, types: Types, hints: Sequence[int] = ()) -> _Found:
    """Returns the known parts of an inference rule's outputs.

    Args:
      infer: returns the output types for input types without open sizes, or raises.
      types: the input types, some of them open.
      hints: numbers that open sizes may relate to, in addition to the known sizes.

    Raises:
      ProbeError: no sizes fit, or the number of outputs depends on them.
    """
    accepted: list[tuple[Types, Types]] = []
    for ranked in _ranked(types):
        accepted += _Probes(infer, ranked, hints, quick=ranked != types).run()
        if accepted and all(not type.ranked for type in _widened(accepted)):
            break
    if accepted:
        return _Found(_widened(accepted), *accepted[0])
    raise _refusal(infer, types)


def _ranked(types: Types) -> Iterator[Types]:
    """Yields the types with trial numbers of axes in place of unknown ones, small numbers first."""
    indices = [index for index, type in enumerate(types) if not type.ranked]
    if not indices:
        yield types
        return
    if len(indices) > 2:
        choices = [(rank,) * len(indices) for rank in _RANKS]
    else:
        choices = sorted(itertools.product(_RANKS, repeat=len(indices)), key=sum)
    for ranks in choices:
        chosen = list(types)
        for index, rank in zip(indices, ranks, strict=True):
            chosen[index] = replace(types[index], shape=(OPEN,) * rank, ranked=True)
        yield tuple(chosen)


def _refusal(infer: Infer, types: Types) -> Exception:
    """Returns the error for types that no sizes fit."""
    most = max([len(type.shape) for type in types if type.ranked], default=1)
    shapes = [type.shape if type.ranked else (OPEN,) * most for type in types]
    trial = tuple([
        replace(type, shape=tuple([_TELLING if size == OPEN else size for size in shape]), ranked=True)
        for type, shape in zip(types, shapes, strict=True)
    ])  # fmt: skip
    try:
        infer(trial)
    except Exception as error:
        return ProbeError(error, trial)
    return ProbeError(ValueError("these shapes do not fit"), trial)


def _widened(accepted: Sequence[tuple[Types, Types]]) -> Types:
    """Returns the most specific types that fit all results."""
    first = accepted[0][1]
    if any(len(gave) != len(first) for _, gave in accepted):
        error = ValueError(
            "the number of results depends on a size that is unknown while the graph is built; set this size of the "
            "placeholder"
        )
        raise ProbeError(error, accepted[0][0])
    return tuple(map(widen, zip(*[gave for _, gave in accepted], strict=True)))


class _Probes:
    """A series of trials of an inference rule, for types with known numbers of axes."""

    def __init__(self, infer: Infer, types: Types, hints: Sequence[int], *, quick: bool) -> None:
        self._infer = infer
        self._types = types
        self._count = sum([type.shape.count(OPEN) for type in types])
        self._quick = quick  # fewer trials, since there are many types to try
        sizes = dict.fromkeys(size for type in types for size in type.shape if size > 1)
        numbers = list(dict.fromkeys([*sizes, *[abs(hint) for hint in hints if abs(hint) > 1]]))[:8]
        pairs = list(itertools.combinations_with_replacement(numbers, 2))
        derived = [number for a, b in pairs for number in (max(a, b) // min(a, b), a * b, a + b, abs(a - b)) if number]
        self._numbers = numbers
        self._more = [number for number in dict.fromkeys(derived) if number not in numbers]
        self._accepted: dict[tuple[int, ...], tuple[Types, Types]] = {}
        self._tried: set[tuple[int, ...]] = set()

    def run(self) -> list[tuple[Types, Types]]:
        """Returns the types that the rule accepts, each with its result."""
        if self._try_all():
            return list(self._accepted.values())
        if not self._accepted:
            for sizes in self._combinations():
                if self._try(sizes):
                    break
        for size in _SMALL:
            self._try((size,) * self._count)
        for base in list(self._accepted)[:2]:
            if self._vary(base):
                break
        return list(self._accepted.values())

    def _try_all(self) -> bool:
        """Tries the same size everywhere; returns True if no others are needed."""
        for size in (*_PRIMES, 1):  # axes of size 1 may be omitted
            self._try((size,) * self._count)
        if self._is_settled():
            return True
        if self._is_free():
            if not self._quick:
                self._try((_TELLING,) * self._count)
        else:
            for size in self._numbers:
                self._try((size,) * self._count)
            for size in () if self._accepted else self._more:
                self._try((size,) * self._count)
        return self._is_settled()

    def _is_free(self) -> bool:
        """Returns True if the rule accepts any size, as long as it is the same everywhere."""
        return (_PRIMES[0],) * self._count in self._accepted

    def _combinations(self) -> Iterator[tuple[int, ...]]:
        """Yields combinations of different sizes, the most common requirements first."""
        if self._count < 2:
            return
        for fill in (_PRIMES[0], 1):
            yield self._aligned(fill)
        first, second = self._numbers[:1], self._numbers[1:2]
        wanted = list(dict.fromkeys([*first, 1, _PRIMES[0], *second, 2, *self._numbers, *self._more, 3]))
        most = 2
        while (most + 1) ** self._count <= (_MOST_PROBES // 10 if self._quick else _MOST_PROBES):
            most += 1
        if self._count <= 10:
            yield from itertools.product(wanted[:most], repeat=self._count)

    def _aligned(self, fill: int) -> tuple[int, ...]:
        """Returns the sizes that other inputs have on the same axes."""
        shapes = [type.shape for type in self._types]

        def size(axis: int) -> int:
            return next((shape[axis] for shape in shapes if axis < len(shape) and shape[axis] != OPEN), fill)

        return tuple([size(axis) for shape in shapes for axis, extent in enumerate(shape) if extent == OPEN])

    def _vary(self, base: tuple[int, ...]) -> bool:
        """Varies some of the accepted sizes; returns True if no others need trying."""
        free = self._is_free()
        for subset in self._subsets(base):
            if self._try(_changed(base, subset, _same(_PRIMES[1]))):
                self._try(_changed(base, subset, _same(2)))
            elif not free:  # equal to a number, or to another size
                for change in (_times(2), _plus(1)):
                    self._try(_changed(base, subset, change))
            if self._is_settled():
                return True
        return False

    def _subsets(self, base: tuple[int, ...]) -> Iterator[Sequence[int]]:
        everything = range(self._count)
        if self._count <= _MOST_SUBSETS and not self._quick:
            for count in range(1, self._count + 1):
                yield from itertools.combinations(everything, count)
            return
        yield from [(index,) for index in everything]
        yield everything
        for size in dict.fromkeys(base):
            yield [index for index in everything if base[index] == size]
        if not self._quick:
            yield from itertools.combinations(everything, 2)

    def _is_settled(self) -> bool:
        """Returns True if every size that can be open was found open."""
        if len(self._accepted) < 2:
            return not self._count and bool(self._accepted)
        outputs = _widened(list(self._accepted.values()))
        return all(not type.ranked or all(size == OPEN for size in type.shape) for type in outputs)

    def _try(self, sizes: tuple[int, ...]) -> bool:
        """Tries sizes; returns True if the rule accepts them."""
        if sizes not in self._tried:
            self._tried.add(sizes)
            rest = iter(sizes)
            trial = tuple([
                replace(type, shape=tuple([next(rest) if size == OPEN else size for size in type.shape]))
                if OPEN in type.shape else type
                for type in self._types
            ])  # fmt: skip
            try:
                self._accepted[sizes] = (trial, tuple(self._infer(trial)))
            except Exception:
                return False
        return sizes in self._accepted


def _same(size: int) -> Callable[[int], int]:
    return lambda old: size


def _times(factor: int) -> Callable[[int], int]:
    return lambda old: old * factor


def _plus(more: int) -> Callable[[int], int]:
    return lambda old: old + more


def _changed(sizes: tuple[int, ...], changed: Sequence[int], change: Callable[[int], int]) -> tuple[int, ...]:
    return tuple([change(size) if index in changed else size for index, size in enumerate(sizes)])
