"""Guards as code: a function for each trace that looks whether it may be used, and finds what its program works on.

What a trace depends on is known when it has been made (:mod:`graphc.tracing.reads`). It is written out as straight-line
Python, without a loop or a call for each guard: `if v2 is not c3: return MISS`. That is the cheapest way to ask, tens
of nanoseconds a guard, and it has the same form for every kind of argument.
"""

from __future__ import annotations

import builtins
import re
from collections.abc import Callable, Iterable, Sequence
from itertools import combinations
from typing import Any

import jax
import numpy as np

from graphc.core import SCALARS, Tensor, canonical_array, narrowed
from graphc.function.recycled import SMALLEST, Recycled
from graphc.tracing import ReadGuard, Source, exact, lacks, same_array, same_items, same_keys, same_set

__all__ = ["MISS", "Writer", "matcher"]

MISS: Any = object()
"""What the code returns where a guard does not hold."""

_HELPERS: dict[str, Any] = {
    "MISS": MISS,
    "exact": exact,
    "narrowed": narrowed,
    "lacks": lacks,
    "same_array": same_array,
    "same_items": same_items,
    "same_keys": same_keys,
    "same_set": same_set,
}

_ALWAYS = frozenset(("{v} is {0}", "type({v}) is {0}"))

# Of so many objects or fewer it takes less time to compare each two than to count their identities.
_PAIRED = 6

_OURS = re.compile(
    r"(c|v|p|t|held|own)\d+|results|program|pack|lock|new|run|in_time|run_on_variables|Tensor|Differ|starmap|refs|copied|restore|Single|ag__\w+"
)


def _is_ours(name: str) -> bool:
    """Returns True if the code has a name for itself."""
    return name in _HELPERS or hasattr(builtins, name) or _OURS.fullmatch(name) is not None


class Writer:
    """Writes the body of such a function, line by line.

    Args:
      parameters: of the user's function, in order: the names by which the code knows the arguments' values.
      miss: the statement that is run where a guard does not hold.

    Attributes:
      parameters: the same, each with its name in the code: another one where the code has that name for itself.
      lines: the code so far.
      namespace: its globals.
    """

    def __init__(self, parameters: Iterable[str], miss: str = "return MISS") -> None:
        self.miss = miss
        self.parameters = {name: f"p{place}" if _is_ours(name) else name for place, name in enumerate(parameters)}
        self.lines: list[str] = []
        self.namespace: dict[str, Any] = dict(_HELPERS)
        self._names: dict[int, str] = {}
        self._found: dict[Any, str] = {}
        self._count = 0

    def constant(self, value: Any) -> str:
        """Returns the name by which the code knows an object."""
        name = self._names.get(id(value))
        if name is None:
            name = self._names[id(value)] = f"c{len(self._names)}"
            self.namespace[name] = value
        return name

    def find(self, source: Source) -> str:
        """Returns the name of the variable that holds what a source finds."""
        name = self._found.get(source.key)
        if name is None:
            base = "" if source.base is None else self.find(source.base)
            code = source.code(base, self.constant)
            name = self.parameters.get(code) or (code if code in self.namespace else self._variable(code))
            self._found[source.key] = name
        return name

    def _variable(self, code: str) -> str:
        """Returns a new variable that holds the value of an expression."""
        self._count += 1
        self.lines.append(f"v{self._count} = {code}")
        return f"v{self._count}"

    def require(self, condition: str) -> None:
        """Adds a condition."""
        self.lines.append(f"if not ({condition}): {self.miss}")

    def guard(self, guard: ReadGuard) -> None:
        """Adds a guard, unless it says of a fixed object that it is what it is."""
        if guard.source.base is None and guard.test in _ALWAYS and guard.source.key[0] == "fixed":
            return
        constants = [self.constant(value) for value in guard.constants]
        others = {f"s{place}": self.find(source) for place, source in enumerate(guard.others)}
        self.require(guard.test.format(*constants, v=self.find(guard.source), **others))

    def distinct(self, sources: Sequence[Source], known: Sequence[Any]) -> None:
        """Adds that several objects are not one."""
        found = [self.find(source) for source in sources]
        names = [*found, *map(self.constant, known)]
        if not found or len(names) < 2:
            return
        if len(names) <= _PAIRED:
            pairs = [f"{one} is not {other}" for one, other in combinations(names, 2) if one in found or other in found]
            self.require(" and ".join(pairs))
        else:
            self.require(f"len({{{', '.join(f'id({name})' for name in names)}}}) == {len(names)}")

    def array(self, source: Source, value: Any, *, alone: bool) -> str:
        """Adds that an argument is an array of the kind and type of ``value``; returns what the program is given.

        Args:
          source: of the argument.
          value: an array of the kind.
          alone: whether there is no other trace, so that JAX, which looks at the types in any case, is left to do so.
        """
        name, kind = self.find(source), self.constant(type(value))
        if type(value) is Tensor:
            self.require(f"type({name}) is {kind}")
            raw = self._variable(f"{name}.raw")
            if not alone:
                self.require(f"{raw}.aval == {self.constant(value.raw.aval)}")
            return raw
        if isinstance(value, jax.Array):
            self.require(f"type({name}) is {kind} and {name}.aval == {self.constant(value.aval)}")
            return name
        dtype = self.constant(value.dtype)
        self.require(f"type({name}) is {kind} and {name}.dtype == {dtype} and {name}.shape == {tuple(value.shape)}")
        taken = canonical_array(value).dtype
        if taken.itemsize < value.dtype.itemsize and value.dtype.kind in "iu":
            return f"narrowed({name}, {self.constant(taken)})"
        # A copy: JAX reads the memory while the program runs, when the caller may write to it again.
        if type(value) is np.ndarray and taken.itemsize * value.size >= SMALLEST:
            return f"{self.constant(Recycled(taken, value.shape).copy)}({name})"
        return f"{name}.astype({self.constant(taken)})"

    def number(self, source: Source, value: Any, dtype: np.dtype[Any]) -> str:
        """Adds that an argument is a number of this type; returns it as the array that the program is given."""
        name = self.find(source)
        self.require(f"type({name}) is {self.constant(type(value))}")
        return self._variable(f"{self.constant(np.asarray)}({name}, {self.constant(dtype)})")

    def numbers(self, source: Source, value: Any, aval: Any) -> str:
        """Adds that an argument is a list of such numbers and of this shape; returns it as an array."""
        name = self.find(source)
        self.require(f"type({name}) is {self.constant(type(value))}")
        given = self.constant(np.asarray(value).dtype), self.constant(aval.dtype), tuple(aval.shape)
        return self._variable(f"{self.constant(_listed)}({name}, {given[0]}, {given[1]}, {given[2]})")

    def guarded(self) -> list[str]:
        """Returns the code so far, in which an exception is a guard that does not hold."""
        # an attribute that is gone, an item that is missing
        return ["try:", *(f"    {line}" for line in self.lines or ["pass"]), "except Exception:", f"    {self.miss}"]

    def function(self, parameters: str, body: Sequence[str]) -> Callable[..., Any]:
        """Returns the function with these parameters and lines."""
        text = "\n    ".join([f"def call({parameters}):", *body])
        exec(compile(text, "<graphc guards>", "exec"), self.namespace)
        return self.namespace["call"]


def _listed(value: Any, given: np.dtype[Any], dtype: np.dtype[Any], shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """Returns a list of numbers as an array.

    Raises:
      TypeError: it holds other numbers, or is of another shape; so it does not fit.
    """
    array = np.asarray(value)
    if array.dtype != given or array.shape != shape or not _are_numbers(value):
        raise TypeError
    return np.asarray(value, dtype)  # which refuses what the dtype cannot hold


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
    """Returns a function of the arguments' values that gives what ``wanted`` finds, or :data:`MISS`.

    It asks nothing of the arrays among the arguments, whose types the caller compares.

    Args:
      guards: what must hold.
      names: of the parameters, in order.
      wanted: what is asked for.
      distinct: sources that must find objects that are not one, and objects that they must not find.
    """
    writer = Writer(names)
    for guard in guards:
        writer.guard(guard)
    writer.distinct(*distinct)
    found = [writer.find(source) for source in wanted]
    result = f"return ({''.join(f'{name}, ' for name in found)})"
    return writer.function(", ".join(writer.parameters.values()), [*writer.guarded(), result])
