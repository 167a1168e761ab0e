"""Users' functions in a pipeline: compiled if graphc can trace them, otherwise called by Python for each element.

A function of known shapes is traced once. If it only computes, it becomes one program for a whole block of rows; if
shapes differ, one for each shape, up to a limit. Functions of strings run before that program (see
:mod:`graphc.data.tracing`). A function that keeps state (Variables, random numbers) is compiled, and called for each
element in order. Python calls a function that graphc cannot compile, with NumPy arrays and, for strings, tensors of
strings.
"""

from __future__ import annotations

import contextlib
import copy
import inspect
import traceback
from collections.abc import Callable, Generator, Sequence
from contextvars import ContextVar
from typing import Any, Literal, Self, TypeAlias

import jax.numpy as jnp
import numpy as np

from graphc.compiler.base import Location
from graphc.compiler.base.errors import InternalError, InvalidArgumentError
from graphc.compiler.base.nest import LEAF, Structure
from graphc.compiler.core import Tensor, on_host, trace_scope
from graphc.compiler.function import BoundFunction, Function, TensorSpec
from graphc.compiler.tracing import ReadGuard
from graphc.training.data.elements import (
    Block,
    DatasetSpec,
    Row,
    described,
    flatten,
    row_of,
    spec_of,
    take_apart,
    to_argument,
    unflatten,
)
from graphc.training.data.late import Origin
from graphc.training.data.tracing import ElementTrace, Programs, as_tuple, called

Mode: TypeAlias = Literal["blocks", "rows", "stateful", "python"]
Shapes: TypeAlias = tuple[tuple[int, ...], ...]

_MADE_UP = (2, 3)
_MOST_SHAPES = 16


class UserFunction:
    """A function from elements to elements.

    Args:
      sample: a function that returns one row of the input, to learn the types of the Python function's result.

    Attributes:
      reason: the reason why it is not one program for a block of rows; None if it is.
      in_python: the function that Python calls for an element, if not the function itself.
    """

    in_python: Callable[..., Any] | None = None

    def __init__(
        self, function: Callable[..., Any], spec: Any, use: str, *, compiled: bool = True,
        sample: Callable[[], Row] | None = None,
    ) -> None:  # fmt: skip
        if not callable(function):
            raise InvalidArgumentError(f"{use}: expected a function, got {function!r:.60}").here()
        self.function, self.use = function, use
        self.name = getattr(function, "__name__", type(function).__name__)
        self._leaves, self._given = flatten(spec)
        self._sample, self._compiled = sample, compiled
        self._origin = Origin()
        self.reason: str | None = None
        self.location = location_of(function)
        self.structure: Structure | None = None
        self._result: list[Any] | None = None
        self._stateful: Function | BoundFunction | None = None
        self._before: UserFunction | None = None
        # One trace for all rows of numbers; with strings, whose ops are recorded, one for each shape.
        self._programs: dict[Shapes, Programs] = {}
        self._shapes: set[Shapes] = set()
        self.mode: Mode = self._prepared() if compiled else "python"
        if self.mode == "blocks":
            self._check_some(self._result)

    def __repr__(self) -> str:
        return self.name

    @property
    def is_known(self) -> bool:
        """True if the types of its results are known without a Python call."""
        return self._result is not None or self.mode == "rows"

    @property
    def takes_strings(self) -> bool:
        """True if elements have strings, so that the function may raise for an invalid row of a block."""
        return any(getattr(leaf, "of_strings", False) for leaf in self._leaves)

    @property
    def spec(self) -> Any:
        """The types of its results; for a Python function, those of the first result."""
        if self._result is None and self.mode == "rows":
            # A function that takes only certain sizes returns only results of those sizes.
            with contextlib.suppress(Exception):
                self._result = self._of_open_sizes()
        if self._result is None:
            if self._sample is None:
                raise InvalidArgumentError(f"{self.use}: the types of {self.name} are unknown").here()
            with trace_scope(None):
                outputs = self.row(self._sample())
            self._result = self._result or [spec_of(leaf) for leaf in outputs]
        if self.structure is None:
            raise InternalError(f"{self.use}: {self.name} has run but has no types")
        return unflatten(self.structure, self._result)

    def as_now(self) -> UserFunction:
        """Returns the function with what it captures now, if the open trace has made it."""
        function = self._origin.as_now(self.function)
        if function is self.function:
            return self
        current_function = UserFunction(
            function, unflatten(self._given, self._leaves), self.use, compiled=self._compiled, sample=self._sample
        )
        current_function._result, current_function.structure = (
            current_function._result or self._result,
            current_function.structure or self.structure,
        )
        return current_function

    def with_sample(self, sample: Callable[[], Row] | None) -> Self:
        """Returns the same function and programs with another sample, which keeps a dataset alive."""
        function = copy.copy(self)
        function._sample = sample
        return function

    def declare(self, spec: Any) -> None:
        """Sets the types of the results, so that no element is needed to find them."""
        self._result, self.structure = flatten(spec)

    def _of_open_sizes(self) -> list[Any]:
        """Returns the types of the results for open sizes: sizes that vary with the input's are open."""
        specs: list[Any] = []
        for size in _MADE_UP:
            shapes = tuple([tuple([size if axis is None else axis for axis in leaf.shape]) for leaf in self._leaves])
            specs.append(self._types(shapes))
        return [
            TensorSpec([size if size == other else None for size, other in zip(a.shape, b.shape, strict=True)], a.dtype)
            for a, b in zip(*specs, strict=True)
        ]

    def _types(self, shapes: Shapes) -> list[TensorSpec]:
        """Traces the function for elements of these shapes, and returns the types of the results."""
        programs = self._programs_for(shapes)
        trace = programs.traces[0]
        try:
            specs = trace.types(shapes)
        finally:
            self._stateful = self._stateful or trace.stateful
        self._programs[self._key(shapes)] = programs
        self.structure = trace.structure
        return specs

    def _key(self, shapes: Shapes) -> Shapes:
        return shapes if self.takes_strings else ()

    def _programs_for(self, shapes: Shapes) -> Programs:
        """Returns the programs for rows of these shapes, and makes them if there are none."""
        key = self._key(shapes)
        if key in self._programs:
            return self._programs[key]
        return Programs(ElementTrace(self.function, self._leaves, self._given))

    def _prepared(self) -> Mode:
        """Returns the way that the function runs."""
        nested = any(isinstance(leaf, DatasetSpec) for leaf in self._leaves)
        if nested or any(leaf.shape is None for leaf in self._leaves):
            self.reason = f"its elements {'are datasets' if nested else 'have unknown shapes'}"
            return "python"
        open_sizes = any(None in leaf.shape for leaf in self._leaves)
        if open_sizes and not self.takes_strings:
            self.reason = "its elements differ in shape, so it is called once for each"
            return "rows"
        try:
            specs = self._of_open_sizes() if open_sizes else self._types(tuple([leaf.shape for leaf in self._leaves]))
        except Exception as error:  # whatever it is, Python raises it again if it is the user's
            return self._fallback(error)
        self._programs.clear() if open_sizes else None
        self._result = specs
        self.reason = "its elements differ in shape, so it is called once for each" if open_sizes else None
        return "rows" if open_sizes else "blocks"

    def _fallback(self, error: Exception) -> Mode:
        """Returns the way that the function runs if it does more than compute."""
        self.reason, self.location = _first_line(error), _place(error) or self.location
        _forget_frames(error)
        return "python" if self._stateful is None else "stateful"

    def fresh(self) -> UserFunction:
        """Returns the function, after updating its programs to the current values of what it reads from outside."""
        for programs in self._programs.values():
            programs.refresh()
        return self

    @property
    def is_method(self) -> bool:
        """True if it is, or first calls, a compiled method, whose object a trace finds at each call."""
        return any(trace.is_method for programs in self._programs.values() for trace in programs.traces)

    def guards(self) -> Sequence[ReadGuard]:
        """Returns the guards of programs that hold the function: what it reads besides its element."""
        traces = [trace for programs in self.fresh()._programs.values() for trace in programs.traces]
        return [guard for trace in traces for guard in trace.guards]

    def for_types(self, leaves: Row) -> Callable[..., Row]:
        """Returns a function that computes a row of numbers from leaves of these types, which JAX may be tracing."""
        if self.mode == "rows":
            self._types(tuple([tuple(leaf.shape) for leaf in leaves]))
        return self.compute

    def compute(self, *arrays: Any) -> tuple[Any, ...]:
        """Computes a row of numbers from another one with JAX."""
        return self._programs[()].compute(*arrays)

    @property
    def keeps_state(self) -> bool:
        """True if it uses Variables or random numbers, as far as tracing shows."""
        if self.mode == "rows" and self._stateful is None:
            with contextlib.suppress(Exception):
                self._of_open_sizes()
        return self._stateful is not None

    def takes(self, shapes: Shapes) -> bool:
        """Returns True if there are programs for rows of these shapes; their number is limited."""
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
        """Returns the function's result for each row of a block of supported shapes; see :class:`Programs`."""
        return self._of_block(block).block(block, size)

    def split(self, block: Block, size: int = 0) -> list[Row]:
        """Returns the function's results for the rows of a block, ``size`` rows together, or one by one."""
        return self._of_block(block).split(block, size)

    def folded(self, state: Row, block: Block) -> Row:
        """Folds a state over the rows of a block, and returns the last state."""
        return self._programs[()].folded(state, block)

    def _of_block(self, block: Block) -> Programs:
        return self._programs[self._key(tuple([column.shape[1:] for column in block]))]

    def row(self, row: Row) -> Row:
        """Returns the function's result for one row."""
        if self.mode in ("blocks", "rows"):
            shapes = tuple([np.shape(leaf) for leaf in row])
            if self.takes(shapes):
                try:
                    return self._programs[self._key(shapes)].row(row)
                except Exception:
                    if not self.takes_strings:
                        raise  # else Python raises it again, with the user's line
        return self._checked(*self._called(row))

    def _called(self, row: Row) -> tuple[Row, Structure]:
        """Returns the result of Python, or of a program that keeps state, for a row, and its structure."""
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
            raise InvalidArgumentError(f"{self.name} returned {structure} here, but {self.structure} before").at(
                self.location
            )
        return result

    def each(self, block: Block) -> Generator[Row]:
        """Yields the result for each row one by one, so that all results before a failing row are returned."""
        for index in range(len(block[0])):
            yield self.row(row_of(block, index))

    def value(self, row: Row) -> Any:
        """Returns the result for a row, if it is a single leaf."""
        return self.single(self.row(row), 0)

    def single(self, leaves: Row, axes: int) -> Any:
        """Returns the only leaf of a result, a scalar (``axes`` 0), or one scalar for each row of a block (1)."""
        shape = np.shape(leaves[0])[axes:]
        if len(leaves) == 1 and not shape:
            return leaves[0]
        what = f"{len(leaves)} values" if len(leaves) != 1 else f"an array of shape {shape}"
        remedy = "" if len(leaves) != 1 else "; reduce it to one, with gx.all, gx.any or an index"
        raise InvalidArgumentError(f"{self.use}: {self.name} returns {what}, expected one{remedy}").at(self.location)

    def _check_some(self, leaves: Any) -> None:
        if not leaves:
            problem = f"{self.use}: {self.name} returns nothing, expected an element; end it with `return element`"
            raise InvalidArgumentError(problem).at(self.location)

    def after(self, first: UserFunction) -> UserFunction:
        """Composes it with a function that runs first; both are programs for blocks, this one of numbers."""
        both = object.__new__(UserFunction)
        both.__dict__.update(self.__dict__)
        both.name, both._given, both._leaves = f"{self.name}({first.name})", first._given, first._leaves
        (own,), ((key, others),) = self._programs.values(), first._programs.items()
        both._programs, both._before = {key: Programs(*others.traces, *own.traces)}, first
        return both


def _open(leaf: Any) -> Any:
    """Returns the type of one result of Python, with open sizes, which may differ in other results."""
    return TensorSpec((None,) * len(leaf.shape), leaf.dtype) if isinstance(leaf, TensorSpec) and leaf.shape else leaf


def _forget_frames(error: BaseException | None) -> None:
    """Drops references of an exception: frames, which hold each other, and the iterator that is running."""
    while error is not None:
        traceback.clear_frames(error.__traceback__)
        error.__traceback__, error = None, error.__cause__ or error.__context__


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0] or type(error).__name__


def _place(error: Exception) -> Location | None:
    """Returns the user's line that graphc's error names."""
    _, mark, rest = str(error).rpartition('\n  at File "')
    file, _, rest = rest.partition('", line ')
    line, _, rest = rest.partition(", in ")
    return Location(file, int(line), rest.partition("\n")[0]) if mark and line.isdigit() else None


def location_of(function: Any) -> Location | None:
    """Returns the location of a function's definition; None if it is not written in Python."""
    code = getattr(inspect.unwrap(getattr(function, "python_function", function)), "__code__", None)
    return None if code is None else Location(code.co_filename, code.co_firstlineno, code.co_name)


_inside: ContextVar[bool] = ContextVar("graphc.training.data.inside", default=False)


@contextlib.contextmanager
def inside_of_a_function() -> Generator[None]:
    """Marks code that runs once per element: inside it, only functions that are always the same are compiled."""
    token = _inside.set(True)
    try:
        yield
    finally:
        _inside.reset(token)


def user_function(
    function: Callable[..., Any], spec: Any, use: str, *, compiled: bool = True, sample: Callable[[], Row] | None = None
) -> UserFunction:
    """Returns a function of elements; one that another dataset makes for each element is compiled once, or never."""
    if not compiled or not _inside.get():
        return UserFunction(function, spec, use, compiled=compiled, sample=sample)
    target: Any = function
    # Methods of two objects have the same code: they differ in their objects, as closures do in their cells.
    code = None if getattr(target, "__self__", None) is not None else getattr(target, "__code__", None)
    if code is None or target.__closure__ or target.__defaults__ or target.__kwdefaults__:
        uncompiled = UserFunction(function, spec, use, compiled=False, sample=sample)
        uncompiled.reason = "the enclosing dataset makes a new function for each element"
        return uncompiled
    key = (code, id(target.__globals__), use, described(spec))
    if key not in _known:
        if len(_known) >= _MOST_KNOWN:
            _known.clear()
        _known[key] = UserFunction(function, spec, use)
    return _known[key].with_sample(sample)


_known: dict[Any, UserFunction] = {}
_MOST_KNOWN = 256
