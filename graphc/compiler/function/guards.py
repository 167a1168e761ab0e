"""Guards as code: a function for each trace that checks whether it may be used, and finds its program's operands.

The conditions of a trace are known when it is complete (:mod:`graphc.compiler.tracing.reads`). They become
straight-line Python, without a loop or a call for each guard: `if v2 is not c3: return MISS`. This is the cheapest
check, tens of nanoseconds a guard, and it has the same form for every kind of argument.
"""

from __future__ import annotations

import builtins
import inspect
import re
from collections import deque
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from sys import getrefcount
from typing import Any, Final, cast

import jax
import jax.numpy as jnp
import numpy as np

from graphc.compiler.base import SPREAD_ARRAYS, other_slow_path_reasons, slow_path_reasons
from graphc.compiler.core import SCALARS, Tensor, busy, canonical_array, narrowed, occupied
from graphc.compiler.tracing import (
    SMALL_BYTES,
    ReadGuard,
    Source,
    addresses,
    exact,
    lacks_attribute,
    same_array,
    same_items,
    same_keys,
    same_set,
)

# Copies of NumPy arguments, in reused memory.
#
# JAX reads the memory of a NumPy argument while the program runs, even after the call has returned. It would then see
# what the caller writes into the array, so a call passes a copy. Allocating memory for a large copy takes longer than
# the copying, because the system maps it page by page.

SMALLEST: Final = 2**14
"""Minimum size in bytes; smaller copies take no longer in new memory."""

_BYTES: Final = 2**24  # the maximum size kept for one argument
_BUFFERS: Final = 16  # the maximum number of programs in flight
_ALIGNED: Final = 64  # bytes


class BufferPool:
    """Copies the values of one argument of a call, as arrays of one dtype and shape."""

    # JAX holds a reference to an array as long as it may read it, so reference counts show which memory is free.

    def __init__(self, dtype: np.dtype[Any], shape: tuple[int, ...]) -> None:
        self._dtype, self._shape = dtype, shape
        self._size = dtype.itemsize * int(np.prod(shape, dtype=np.int64))
        self._most = min(_BUFFERS, _BYTES // max(self._size, 1))
        self._buffers: deque[np.ndarray[Any, Any]] = deque()

    def copy(self, value: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Returns a copy whose memory is not reused while a reference to it exists."""
        buffers = self._buffers
        for _ in range(len(buffers)):
            try:
                buffer, references = _turned(buffers)
            except IndexError:  # another thread is rotating the only one
                continue
            if references == _FREE:  # another thread that takes it now sees the reference of this name
                break
        else:
            buffer = self._allocated()
            if len(buffers) < self._most:
                buffers.append(buffer)
        np.copyto(buffer, value, casting="unsafe")
        return buffer

    def _allocated(self) -> np.ndarray[Any, Any]:
        """Returns new memory, aligned so that JAX uses it where it is; it copies what is not aligned."""
        memory = bytearray(self._size + _ALIGNED)
        start = -np.ndarray((1,), np.uint8, memory).ctypes.data % _ALIGNED
        # Since the memory is no array, this array is the base of its views, which keep it alive.
        return np.ndarray(self._shape, self._dtype, memory, start)


def _turned(buffers: deque[np.ndarray[Any, Any]]) -> tuple[np.ndarray[Any, Any], int]:
    """Moves the first buffer to the end; returns it with its reference count in between."""
    # The count saves memory only: a buffer that somebody refers to is not used again, and a new one is made.
    buffer = buffers.popleft()
    references = getrefcount(buffer)
    buffers.append(buffer)
    return buffer, references


_FREE: Final = _turned(deque([np.empty(0)]))[1]
"""The reference count of an unused buffer."""


MISS: Any = object()
"""Returned by the code if a guard does not hold."""

_HELPERS: dict[str, Any] = {
    "MISS": MISS,
    "addresses": addresses,
    "exact": exact,
    "narrowed": narrowed,
    "lacks": lacks_attribute,
    "same_array": same_array,
    "same_items": same_items,
    "same_keys": same_keys,
    "same_set": same_set,
}

_ALWAYS = frozenset(("{v} is {0}", "type({v}) is {0}"))

_MOST_KEPT = 1 << 20
"""The most bytes of a default that are compared, to save a copy."""

# Up to this many objects, comparing each pair is faster than counting the identities.
_PAIRED = 6

_OURS = re.compile(
    r"(c|v|p|t|held|own)\d+|results|program|pack|lock|new|run|in_time|run_on_variables|Tensor|Differ|starmap|refs|copied|restore|Single|ag__\w+"
)


def _is_ours(name: str) -> bool:
    """Returns True if the code uses a name itself."""
    return name in _HELPERS or hasattr(builtins, name) or _OURS.fullmatch(name) is not None


class GuardWriter:
    """Writes the body of a guard function, line by line."""

    def __init__(self, parameters: Iterable[str], miss: str = "return MISS") -> None:
        self.miss = miss  # the statement to run if a guard does not hold
        # The parameters with their names in the code, which differ where the code uses the name itself.
        self.parameters = {name: f"p{index}" if _is_ours(name) else name for index, name in enumerate(parameters)}
        self.lines: list[str] = []
        self.namespace: dict[str, Any] = dict(_HELPERS)
        self._names: dict[int, str] = {}
        self._found: dict[Any, str] = {}
        self._count = 0

    def constant(self, value: Any) -> str:
        """Returns the code's name for an object."""
        name = self._names.get(id(value))
        if name is None:
            name = self._names[id(value)] = f"c{len(self._names)}"
            self.namespace[name] = value
        return name

    def find(self, source: Source) -> str:
        """Returns the name of the variable that holds a source's value."""
        name = self._found.get(source.key)
        if name is None:
            base = "" if source.base is None else self.find(source.base)
            code = source.code(base, self.constant)
            if source.parts:
                code = code.format(*map(self.find, source.parts))
            name = self.parameters.get(code) or (code if code in self.namespace else self._variable(code))
            self._found[source.key] = name
        return name

    def stands_for(self, source: Source, name: str) -> None:
        """Makes a parameter the place of a source's value."""
        self._found[source.key] = name

    def _variable(self, code: str) -> str:
        """Returns a new variable that holds the value of an expression."""
        self._count += 1
        self.lines.append(f"v{self._count} = {code}")
        return f"v{self._count}"

    def require(self, condition: str) -> None:
        """Adds a condition."""
        self.lines.append(f"if not ({condition}): {self.miss}")

    def guard(self, guard: ReadGuard) -> None:
        """Adds a guard, unless it is trivially true of a fixed object."""
        if guard.source.base is None and guard.test in _ALWAYS and guard.source.key[0] == "fixed":
            return
        constants = [self.constant(value) for value in guard.constants]
        others = {f"s{index}": self.find(source) for index, source in enumerate(guard.others)}
        self.require(guard.test.format(*constants, v=self.find(guard.source), **others))

    def distinct(self, sources: Sequence[Source], constants: Sequence[Any]) -> None:
        """Adds the condition that several objects are distinct."""
        varying = [self.find(source) for source in sources]
        names = [*varying, *map(self.constant, constants)]
        if not varying or len(names) < 2:
            return
        if len(names) <= _PAIRED:
            pairs = [
                f"{one} is not {other}" for one, other in combinations(names, 2) if one in varying or other in varying
            ]
            self.require(" and ".join(pairs))
        else:
            self.require(f"len({{{', '.join(f'id({name})' for name in names)}}}) == {len(names)}")

    def array(self, source: Source, value: Any, *, alone: bool, used: bool = True, is_default: bool = False) -> str:
        """Adds the condition that an argument is an array of ``value``'s kind and type; returns the program's input."""
        # alone: whether there is no other trace, so that JAX's own type check suffices.
        # used: whether the program uses it; JAX passes on no memory that its program does not read.
        # is_default: whether it is a parameter's default, the same in most calls.
        array_type = cast("type[Any]", type(value))
        name, kind = self.find(source), self.constant(array_type)
        if array_type is Tensor:
            self.require(f"type({name}) is {kind}")
            raw = self._variable(f"{name}.raw")
            if not alone:
                self.require(f"{raw}.aval == {self.constant(value.raw.aval)}")
            return raw
        if isinstance(value, jax.Array):
            self.require(f"type({name}) is {kind} and {name}.aval == {self.constant(value.aval)}")
            return name
        if array_type is not np.ndarray and issubclass(array_type, np.ndarray):  # such as an np.memmap
            self.require(f"type({name}) is {kind}")
            # Its own methods may do something else; its memory is not copied here.
            name, kind = self._variable(f"{self.constant(np.asarray)}({name})"), self.constant(np.ndarray)
            value, is_default = np.asarray(value), False
        dtype, shape = self.constant(value.dtype), tuple(value.shape)
        fits = f"type({name}) is {kind} and {name}.dtype == {dtype} and {name}.shape == {shape}"
        taken = canonical_array(value).dtype
        if type(value) is np.ndarray and not used and taken == value.dtype:
            self.require(fits)
            return name
        # A copy: JAX reads the memory while the program runs, when the caller may already write to it.
        copied = f"{name}.astype({self.constant(taken)})"
        if type(value) is np.ndarray and taken.itemsize * value.size >= SMALLEST:
            copied = f"{self.constant(BufferPool(taken, value.shape).copy)}({name})"
        if taken.itemsize < value.dtype.itemsize and value.dtype.kind in "iu":
            copied = f"narrowed({name}, {copied})"
        if isinstance(value, np.generic):  # JAX takes an array without axes in two thirds of the time
            copied = f"{self.constant(np.asarray)}({copied})"
        if not is_default or value.nbytes > _MOST_KEPT:
            self.require(fits)
            return copied
        copy = self._variable(
            f"{self.constant(jnp.asarray(canonical_array(value)))} if {self._is_kept(name, value)} else None"
        )
        self.lines += [f"if {copy} is None:", f"    if not ({fits}): {self.miss}", f"    {copy} = {copied}"]
        return copy

    def _is_kept(self, name: str, value: Any) -> str:
        """Returns the condition that an argument is an array which has not been written to since."""
        same = f"{name} is {self.constant(value)}"
        if isinstance(value, np.generic):
            return same
        same += f" and {name}.dtype is {self.constant(value.dtype)} and {name}.shape == {tuple(value.shape)}"
        content = self.constant(value.tobytes())
        if value.nbytes <= SMALL_BYTES:
            return f"{same} and {name}.tobytes() == {content}"
        return f"{same} and same_array({name}, {self.constant(type(value))}, {name}.dtype, {name}.shape, {content})"

    def number(self, source: Source, value: Any, dtype: np.dtype[Any]) -> str:
        """Adds the condition that an argument is a number of this type; returns it as the program's input array."""
        name = self.find(source)
        self.require(f"type({name}) is {self.constant(type(value))}")
        return self._variable(f"{self.constant(np.asarray)}({name}, {self.constant(dtype)})")

    def numbers(self, source: Source, value: Any, aval: Any) -> str:
        """Adds the condition that an argument is a list of such numbers with this shape; returns it as an array."""
        name = self.find(source)
        self.require(f"type({name}) is {self.constant(type(value))}")
        layout = self.constant(np.asarray(value).dtype), self.constant(aval.dtype), tuple(aval.shape)
        return self._variable(f"{self.constant(_listed)}({name}, {layout[0]}, {layout[1]}, {layout[2]})")

    def guarded(self) -> list[str]:
        """Returns the code so far, in a block where an exception counts as a failed guard."""
        # A missing attribute or item.
        return ["try:", *(f"    {line}" for line in self.lines or ["pass"]), "except Exception:", f"    {self.miss}"]

    def function(self, parameters: str, body: Sequence[str]) -> Callable[..., Any]:
        """Returns the function with these parameters and this body."""
        text = "\n    ".join([f"def call({parameters}):", *body])
        exec(compile(text, "<graphc guards>", "exec"), self.namespace)
        return self.namespace["call"]


def _listed(value: Any, natural: np.dtype[Any], dtype: np.dtype[Any], shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """Returns a list of numbers as an array."""
    array = np.asarray(value)
    if array.dtype != natural or array.shape != shape or not _are_numbers(value):
        raise TypeError
    return np.asarray(value, dtype)  # raises for numbers that the dtype cannot hold


def _are_numbers(value: Any) -> bool:
    if type(value) in (list, tuple):
        return all(map(_are_numbers, value))
    return type(value) in SCALARS


def matcher(
    guards: Sequence[ReadGuard],
    names: Sequence[str],
    wanted: Sequence[Source],
    distinct: tuple[Sequence[Source], Sequence[Any]],
) -> Callable[..., Any]:
    """Returns a function of the arguments' values that returns the values of ``wanted``, or :data:`MISS`."""
    # It does not check the array arguments, whose types the caller compares.
    # distinct: sources whose objects must be distinct, and objects that they must not find.
    writer = GuardWriter(names)
    for guard in guards:
        writer.guard(guard)
    writer.distinct(*distinct)
    results = [writer.find(source) for source in wanted]
    result = f"return ({''.join(f'{name}, ' for name in results)})"
    return writer.function(", ".join(writer.parameters.values()), [*writer.guarded(), result])


# Binding of a call's arguments in an entry: by Python's rules, with errors left to the slow path.

_UNSET: Any = object()
"""Default of a parameter that was not passed."""

_KINDS = inspect.Parameter
_BY_POSITION = (_KINDS.POSITIONAL_ONLY, _KINDS.POSITIONAL_OR_KEYWORD)


@dataclass(frozen=True, eq=False, slots=True)
class Signals:
    """The state that an entry checks first."""

    busy: Collection[int]  # the threads that are not eager, and the reasons why none is; empty if the entry may run
    slow_path_reasons: Mapping[Hashable, str]  # the reasons why calls take the slow path; empty if the entry may run
    looks: bool  # whether the entry itself checks for arrays on several devices


_USUAL = Signals(busy, slow_path_reasons, looks=False)
_SPREAD = Signals(occupied, other_slow_path_reasons, looks=True)


def current_signals() -> Signals:
    """Returns the signals for an entry that is written now."""
    return _SPREAD if SPREAD_ARRAYS in slow_path_reasons else _USUAL


@dataclass(frozen=True)
class Binding:
    """The code that binds the arguments of an entry."""

    parameters: str  # the function, or None to decline the call; then the call's arguments
    lines: list[str]  # the code at the start: keyword arguments, the check that all arguments fit, and defaults
    missed: list[str]  # the code at the end, for a call that the entry cannot serve: the slow path

    @classmethod
    def of(
        cls, signature: inspect.Signature, writer: GuardWriter, signals: Signals, checked: Collection[str] = (),
        fixed: Mapping[str, Any] | None = None, passes: Callable[[], bool] | None = None,
    ) -> Binding:  # fmt: skip
        """Returns the code for a function's parameters."""
        # checked: the parameters whose types the code checks, so that it does not check whether they were passed.
        # fixed: required values of parameters, also used if they are not passed; the other parameters then have no
        # defaults.
        # passes: returns True if the entry may run in a thread that is busy; None if it may not.
        writer.namespace.update(ag__busy=signals.busy, ag__slow_path=signals.slow_path_reasons)
        writer.namespace.update(ag__UNSET=_UNSET, ag__given=_given, ag__passes=passes, MISS=MISS)
        own, declared = writer.parameters, signature.parameters.values()
        all_of = {each.kind: own[each.name] for each in declared}
        rest, more = all_of.get(_KINDS.VAR_POSITIONAL, "ag__rest"), all_of.get(_KINDS.VAR_KEYWORD, "ag__more")
        positional = [each for each in declared if each.kind in _BY_POSITION]
        by_name = [each for each in declared if each.kind is _KINDS.KEYWORD_ONLY]
        lines = [f"{own[each.name]} = ag__UNSET" for each in by_name]
        named = [each.name for each in (*positional, *by_name) if each.kind is not _KINDS.POSITIONAL_ONLY]
        fill = [f"    if {own[name]} is ag__UNSET: {own[name]} = {more}.pop({name!r}, ag__UNSET)" for name in named]
        lines += [f"if {more}:", *fill] if fill else []
        surplus = [name for name in ("ag__rest", "ag__more") if name in (rest, more)]
        busy = "ag__busy and not ag__passes()" if passes else "ag__busy"
        odd = [f"ag__self is not None and ({busy} or ag__slow_path)"]
        odd += surplus
        defaults = {each.name: each.default for each in declared if each.default is not each.empty}
        defaults = defaults if fixed is None else fixed
        slots = dict(own)
        for index, each in enumerate((*positional, *by_name)):
            name = own[each.name]
            if each.name in defaults:
                slots[each.name] = f"ag__given{index}"  # the defaults may differ when the slow path runs
                lines.append(f"ag__given{index} = {name}")
                lines.append(f"if {name} is ag__UNSET: {name} = {writer.constant(defaults[each.name])}")
            elif each.name not in checked:
                odd.append(f"{name} is ag__UNSET")
        lines.append(f"if {' or '.join(odd)}: {writer.miss}")
        first = "".join(f"{each.name!r}: {slots[each.name]}, " for each in positional)
        others = "".join(f"{each.name!r}: {slots[each.name]}, " for each in by_name)
        fitting = [*(slots[each.name] for each in positional), *([f"*{rest}"] if rest in own.values() else [])]
        fitting += [f"{each.name}={slots[each.name]}" for each in by_name]
        fitting += [f"**{more}"] if more in own.values() else []
        unset = [f"{slots[each.name]} is ag__UNSET" for each in (*positional, *by_name)]
        missed = [
            "if ag__self is None: return MISS",
            f"if not ({' or '.join([*surplus, *unset]) or 'False'}): return ag__self.general({', '.join(fitting)})",
            f"ag__args, ag__kwargs = ag__given({{{first}}}, {rest}, {{{others}**{more}}})",
            "return ag__self.general(*ag__args, **ag__kwargs)",
        ]
        parameters = [*(f"{own[each.name]}=ag__UNSET" for each in positional), "/", f"*{rest}", f"**{more}"]
        return cls(", ".join(["ag__self", *parameters]), lines, missed)


def _given(
    positional: Mapping[str, Any], rest: tuple[Any, ...], named: Mapping[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Returns the arguments of a call from those of an entry."""
    values = list(positional.values())
    count = next((index for index, value in enumerate(values) if value is _UNSET), len(values))
    by_name = {**dict(list(positional.items())[count:]), **named}
    return (*values[:count], *rest), {name: value for name, value in by_name.items() if value is not _UNSET}
