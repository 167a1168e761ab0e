"""Functions of the user's in a pipeline: compiled where graphc can trace them, else plain Python for each element.

A function of known shapes is traced once. If it only computes, it becomes one program for a whole block of rows; where
shapes differ, one for each shape, up to a number of them. Functions of strings run before that program (see
:mod:`graphc.data.tracing`). One that keeps state (Variables, random numbers) is compiled, and called for each element
in order. One that graphc cannot compile is called by Python, with NumPy arrays and, for strings, tensors of strings.
"""

from __future__ import annotations

import contextlib
import copy
import inspect
import traceback
from collections.abc import Callable, Generator, Sequence
from typing import Any, Literal, Self, TypeAlias

import jax.numpy as jnp
import numpy as np

from graphc.base import Location, at, user_location
from graphc.base.errors import InternalError, InvalidArgumentError
from graphc.base.nest import LEAF, Structure
from graphc.core import Tensor, on_host, trace_scope
from graphc.data.elements import (
    Block,
    DatasetSpec,
    Row,
    flatten,
    row_of,
    spec_of,
    take_apart,
    to_argument,
    unflatten,
)
from graphc.data.programs import Programs
from graphc.data.tracing import ElementTrace, as_tuple, call_with, called
from graphc.function import BoundFunction, Function, TensorSpec
from graphc.tracing import ReadGuard

__all__ = ["Mode", "UserFunction", "call_with"]

Mode: TypeAlias = Literal["blocks", "rows", "stateful", "python"]
Shapes: TypeAlias = tuple[tuple[int, ...], ...]

_MADE_UP = (2, 3)
_MOST_SHAPES = 16


class UserFunction:
    """A function from elements to elements.

    Args:
      function: the user's function.
      spec: the types of the elements it gets.
      use: the transformation, for messages.
      compiled: whether to try to compile it.
      sample: a function that returns one row of the input, to learn the types of the Python function's result.

    Attributes:
      reason: why it is not one program for a block of rows; None if it is.
      location: the line that is the reason, or that of the function.
      in_python: the function that Python calls for an element, if not the function itself.
    """

    in_python: Callable[..., Any] | None = None

    def __init__(
        self, function: Callable[..., Any], spec: Any, use: str, *, compiled: bool = True,
        sample: Callable[[], Row] | None = None,
    ) -> None:  # fmt: skip
        if not callable(function):
            raise at(InvalidArgumentError(f"{use}: expected a function, got {function!r:.60}"), user_location())
        self.function, self.use = function, use
        self.name = getattr(function, "__name__", type(function).__name__)
        self._leaves, self._given = flatten(spec)
        self._sample = sample
        self.reason: str | None = None
        self.location = location_of(function)
        self.structure: Structure | None = None
        self._result: list[Any] | None = None
        self._stateful: Function | BoundFunction | None = None
        self._before: UserFunction | None = None
        # One for all rows that are numbers; where there are strings, whose ops are noted, one for each shape.
        self._programs: dict[Shapes, Programs] = {}
        self._shapes: set[Shapes] = set()
        self.mode: Mode = self._prepared() if compiled else "python"
        if self.mode == "blocks":
            self._check_some(self._result)

    def __repr__(self) -> str:
        return self.name

    @property
    def is_known(self) -> bool:
        """True if the types of what it returns are known, without a call of it by Python."""
        return self._result is not None or self.mode == "rows"

    @property
    def takes_strings(self) -> bool:
        """True if elements have strings, so that the function may raise where a row of a block is wrong."""
        return any(getattr(leaf, "of_strings", False) for leaf in self._leaves)

    @property
    def spec(self) -> Any:
        """The types of what it returns; of a Python function, those of the first result."""
        if self._result is None and self.mode == "rows":
            # One that takes certain sizes only gives what it gives for those.
            with contextlib.suppress(Exception):
                self._result = self._of_open_sizes()
        if self._result is None:
            if self._sample is None:
                raise at(InvalidArgumentError(f"{self.use}: the types of {self.name} are not known"), user_location())
            with trace_scope(None):
                found = self.row(self._sample())
            self._result = self._result or [spec_of(leaf) for leaf in found]
        if self.structure is None:
            raise InternalError(f"{self.use}: {self.name} has run and has no types")
        return unflatten(self.structure, self._result)

    def with_sample(self, sample: Callable[[], Row] | None) -> Self:
        """Returns the function with another sample, which keeps a dataset alive, and the same programs."""
        found = copy.copy(self)
        found._sample = sample
        return found

    def declare(self, spec: Any) -> None:
        """Says of what types the results are, so that no element is asked for that.

        Args:
          spec: the types.
        """
        self._result, self.structure = flatten(spec)

    def _of_open_sizes(self) -> list[Any]:
        """Returns the types of the results where sizes are open: open are those that differ as these do."""
        found: list[Any] = []
        for size in _MADE_UP:
            shapes = tuple([tuple([size if axis is None else axis for axis in leaf.shape]) for leaf in self._leaves])
            found.append(self._types(shapes))
        return [
            TensorSpec([size if size == other else None for size, other in zip(a.shape, b.shape, strict=True)], a.dtype)
            for a, b in zip(*found, strict=True)
        ]

    def _types(self, shapes: Shapes) -> list[TensorSpec]:
        """Traces it for elements of these shapes, and returns the types of the results.

        Raises:
          GraphcError: it is no function that only computes.
        """
        programs = self._programs_for(shapes)
        trace = programs.traces[0]
        try:
            found = trace.types(shapes)
        finally:
            self._stateful = self._stateful or trace.stateful
        self._programs[self._key(shapes)] = programs
        self.structure = trace.structure
        return found

    def _key(self, shapes: Shapes) -> Shapes:
        return shapes if self.takes_strings else ()

    def _programs_for(self, shapes: Shapes) -> Programs:
        """Returns the programs for rows of these shapes; new ones if there are none."""
        key = self._key(shapes)
        if key in self._programs:
            return self._programs[key]
        return Programs(ElementTrace(self.function, self._leaves, self._given))

    def _prepared(self) -> Mode:
        """Returns how it is run."""
        nested = any(isinstance(leaf, DatasetSpec) for leaf in self._leaves)
        if nested or any(leaf.shape is None for leaf in self._leaves):
            self.reason = f"its elements {'are datasets' if nested else 'have shapes that are not known'}"
            return "python"
        open_sizes = any(None in leaf.shape for leaf in self._leaves)
        if open_sizes and not self.takes_strings:
            self.reason = "its elements differ in shape, so it is called once for each"
            return "rows"
        try:
            found = self._of_open_sizes() if open_sizes else self._types(tuple([leaf.shape for leaf in self._leaves]))
        except Exception as error:  # whatever it is, Python says it again where it is the user's
            return self._fallback(error)
        self._programs.clear() if open_sizes else None
        self._result = found
        self.reason = "its elements differ in shape, so it is called once for each" if open_sizes else None
        return "rows" if open_sizes else "blocks"

    def _fallback(self, error: Exception) -> Mode:
        """Returns how it is run where it is no program that only computes."""
        self.reason, self.location = _first_line(error), _place(error) or self.location
        _forget_frames(error)
        return "python" if self._stateful is None else "stateful"

    def fresh(self) -> UserFunction:
        """Returns the function, and sees to it that its programs know what it reads from outside as that is now."""
        for programs in self._programs.values():
            programs.refresh()
        return self

    @property
    def is_method(self) -> bool:
        """True if it is, or computes first, a compiled method, of which a trace finds the object with each call."""
        return any(trace.is_method for programs in self._programs.values() for trace in programs.traces)

    def guards(self) -> Sequence[ReadGuard]:
        """Returns what must stay as it is for programs that hold the function: what it reads beside its element."""
        traces = [trace for programs in self.fresh()._programs.values() for trace in programs.traces]
        return [guard for trace in traces for guard in trace.guards]

    def for_types(self, leaves: Row) -> Callable[..., Row]:
        """Returns what computes a row of numbers, of leaves of these types, which JAX may be tracing.

        Raises:
          GraphcError: it is no function that only computes.
        """
        if self.mode == "rows":
            self._types(tuple([tuple(leaf.shape) for leaf in leaves]))
        return self.compute

    def compute(self, *arrays: Any) -> tuple[Any, ...]:
        """Computes a row of numbers, by JAX, from another one."""
        return self._programs[()].compute(*arrays)

    @property
    def keeps_state(self) -> bool:
        """True if it uses Variables or random numbers, as far as tracing it tells."""
        if self.mode == "rows" and self._stateful is None:
            with contextlib.suppress(Exception):
                self._of_open_sizes()
        return self._stateful is not None

    def takes(self, shapes: Shapes) -> bool:
        """Returns whether there are programs for rows of these shapes; there are no more than some."""
        if self.mode == "blocks" or shapes in self._shapes:
            return True
        if self.mode != "rows" or len(self._shapes) >= _MOST_SHAPES:
            return False
        try:
            self._types(shapes)
        except Exception as error:
            self.mode = self._fallback(error)
            return False
        self._shapes.add(shapes)
        return True

    def block(self, block: Block, size: int = 0) -> Block:
        """Returns what it makes of each row of a block, whose shapes it takes; see :class:`Programs`."""
        return self._of_block(block).block(block, size)

    def apart(self, block: Block, size: int = 0) -> list[Row]:
        """Returns what it makes of each row of a block, so many together, or one by one."""
        return self._of_block(block).apart(block, size)

    def folded(self, state: Row, block: Block) -> Row:
        """Returns the last of the states that it makes of a state and each row, one after the other."""
        return self._programs[()].folded(state, block)

    def _of_block(self, block: Block) -> Programs:
        return self._programs[self._key(tuple([column.shape[1:] for column in block]))]

    def row(self, row: Row) -> Row:
        """Returns what it makes of one row."""
        if self.mode in ("blocks", "rows"):
            shapes = tuple([np.shape(leaf) for leaf in row])
            if self.takes(shapes):
                try:
                    return self._programs[self._key(shapes)].row(row)
                except Exception:
                    if not self.takes_strings:
                        raise  # else Python says it again, with the user's line
        return self._checked(*self._called(row))

    def _called(self, row: Row) -> tuple[Row, Structure]:
        """Returns what Python, or a program that keeps state, makes of a row, and its structure."""
        row = row if self._before is None else self._before.row(row)
        if self._stateful is not None and self.in_python is None:
            element = unflatten(self._given, [Tensor(jnp.asarray(leaf)) for leaf in row])
            return take_apart(called(self._stateful, element))
        function = self.in_python or self.function
        with on_host():
            if self._given == LEAF:
                return take_apart(as_tuple(function(to_argument(row[0]))))
            return take_apart(called(function, unflatten(self._given, [to_argument(leaf) for leaf in row])))

    def _checked(self, result: Row, structure: Structure) -> Row:
        self._check_some(result)
        if self.structure is None:
            self.structure = structure
        if self._result is None:
            self._result = [_open(spec_of(leaf)) for leaf in result]
        if structure != self.structure:
            error = InvalidArgumentError(f"{self.name} returned {structure} here, and {self.structure} before")
            raise at(error, self.location)
        return result

    def each(self, block: Block) -> Generator[Row]:
        """Yields what it makes of each row, one by one, so that all come that stand before one that is wrong."""
        for place in range(len(block[0])):
            yield self.row(row_of(block, place))

    def value(self, row: Row) -> Any:
        """Returns what it makes of a row, if that is a single leaf."""
        return self.single(self.row(row), 0)

    def single(self, found: Row, axes: int) -> Any:
        """Returns the only leaf of a result, a scalar, or one for each row of a block.

        Args:
          found: the function's result.
          axes: 0 for a row, 1 for a block.

        Raises:
          InvalidArgumentError: it is no single scalar.
        """
        shape = np.shape(found[0])[axes:]
        if len(found) == 1 and not shape:
            return found[0]
        what = f"{len(found)} values" if len(found) != 1 else f"an array of shape {shape}"
        remedy = "" if len(found) != 1 else "; make it one, with gx.all, gx.any or an index"
        raise at(InvalidArgumentError(f"{self.use}: {self.name} returns {what}, expected one{remedy}"), self.location)

    def _check_some(self, found: Any) -> None:
        if not found:
            problem = f"{self.use}: {self.name} returns nothing, expected an element; end it with `return element`"
            raise at(InvalidArgumentError(problem), self.location)

    def after(self, first: UserFunction) -> UserFunction:
        """Returns the function that computes another one first; both are programs for blocks, this one of numbers."""
        both = object.__new__(UserFunction)
        both.__dict__.update(self.__dict__)
        both.name, both._given, both._leaves = f"{self.name}({first.name})", first._given, first._leaves
        (own,), ((key, others),) = self._programs.values(), first._programs.items()
        both._programs, both._before = {key: Programs(*others.traces, *own.traces)}, first
        return both


def _open(leaf: Any) -> Any:
    """Returns the type of what Python returned once: another time its sizes may differ."""
    return TensorSpec((None,) * len(leaf.shape), leaf.dtype) if isinstance(leaf, TensorSpec) and leaf.shape else leaf


def _forget_frames(error: BaseException | None) -> None:
    """Lets go of what an exception refers to: frames, which hold each other, and the iterator that runs now."""
    while error is not None:
        traceback.clear_frames(error.__traceback__)
        error.__traceback__, error = None, error.__cause__ or error.__context__


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0] or type(error).__name__


def _place(error: Exception) -> Location | None:
    """Returns the user's line that an error of graphc's names."""
    _, mark, rest = str(error).rpartition('\n  at File "')
    file, _, rest = rest.partition('", line ')
    line, _, rest = rest.partition(", in ")
    return Location(file, int(line), rest.partition("\n")[0]) if mark and line.isdigit() else None


def location_of(function: Any) -> Location | None:
    """Returns where a function is defined; None for one that is not written in Python."""
    code = getattr(inspect.unwrap(getattr(function, "python_function", function)), "__code__", None)
    return None if code is None else Location(code.co_filename, code.co_firstlineno, code.co_name)
