"""Functions of the user's in a pipeline: compiled where graphc can trace them, else plain Python for each element.

A function of numbers of known shapes is traced once. If it only computes, it becomes one program for a whole block of
rows; where shapes differ, one for each shape, up to a number of them. One that keeps state (Variables, random numbers)
is compiled, and called for each element in order. One that graphc cannot compile is called by Python, with NumPy
arrays and, for strings, tensors of strings.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Callable, Generator, Sequence
from contextvars import ContextVar
from typing import Any, Literal, TypeAlias, cast

import jax as _jax
import jax.numpy as jnp
import numpy as np

from graphc.base import Location, at, user_location
from graphc.base.errors import GraphcError, InternalError, InvalidArgumentError
from graphc.base.nest import Structure
from graphc.core import ReadGuard, StringTensor, Tensor, as_dtype, on_host, trace_scope
from graphc.data.elements import (
    Block,
    DatasetSpec,
    Nested,
    Row,
    described,
    flatten,
    is_static,
    spec_of,
    take_apart,
    to_argument,
    unflatten,
)
from graphc.function import BoundFunction, Function, TensorSpec, TracedFunction, to_jax

__all__ = ["Mode", "UserFunction", "call_with", "inside_of_a_function", "user_function"]

jax: Any = _jax  # its functions are only partly annotated

_inside: ContextVar[bool] = ContextVar("graphc.data.inside", default=False)


@contextlib.contextmanager
def inside_of_a_function() -> Generator[None]:
    """What is made here is made for each element anew, so only functions that are always the same are compiled."""
    token = _inside.set(True)
    try:
        yield
    finally:
        _inside.reset(token)


Mode: TypeAlias = Literal["blocks", "rows", "stateful", "python"]

_MADE_UP = (2, 3)
_MOST_SHAPES = 16


def call_with(function: Callable[..., Any], element: Any) -> Any:
    """Calls a function with an element; the items of a plain tuple are its arguments, as in tf.data."""
    return function(*element) if type(element) is tuple else function(element)


class UserFunction:
    """A function from elements to elements.

    Args:
      function: what the user gave.
      spec: the types of the elements it gets.
      use: the transformation, for messages.
      compiled: whether to try to compile it.
      sample: gives one row of the input, for the types of what Python makes of it.

    Attributes:
      reason: why it is not one program for a block of rows; None if it is.
      location: the line that is the reason, or that of the function.
      in_python: what Python calls for an element, where that is not the function itself.
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
        self._parts: tuple[UserFunction, ...] = (self,)
        self._forget_programs()
        self.mode: Mode = self._prepared(spec) if compiled else "python"
        if self.mode == "blocks":
            self._check_some(self._result)

    def __repr__(self) -> str:
        return self.name

    @property
    def is_known(self) -> bool:
        """Whether the types of what it returns are known, without a call of it by Python."""
        return self._result is not None or self.mode == "rows"

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

    def declare(self, spec: Any) -> None:
        """Says of what types the results are, so that no element is asked for that.

        Args:
          spec: the types.
        """
        self._result, self.structure = flatten(spec)

    def _of_open_sizes(self) -> list[Any]:
        """The types of the results where sizes are open: open are those that differ as these do."""
        found: list[Any] = []
        for size in _MADE_UP:
            shapes = [tuple([size if axis is None else axis for axis in leaf.shape]) for leaf in self._leaves]
            types = [
                jax.ShapeDtypeStruct(shape, as_dtype(leaf.dtype))
                for shape, leaf in zip(shapes, self._leaves, strict=True)
            ]
            self._prepare(shapes)
            found.append(jax.eval_shape(self.compute, *types))
        return [
            TensorSpec([size if size == other else None for size, other in zip(a.shape, b.shape, strict=True)], a.dtype)
            for a, b in zip(*found, strict=True)
        ]

    def _types(self, shapes: Sequence[tuple[int, ...]]) -> Sequence[Any]:
        """What JAX says of the results for elements of these shapes."""
        pairs = zip(shapes, self._leaves, strict=True)
        return jax.eval_shape(
            self.compute, *[jax.ShapeDtypeStruct(shape, as_dtype(leaf.dtype)) for shape, leaf in pairs]
        )

    def _prepared(self, spec: Any) -> Mode:
        """How it is run."""
        if any(isinstance(leaf, DatasetSpec) or leaf.of_strings or leaf.shape is None for leaf in self._leaves):
            nested = any(isinstance(leaf, DatasetSpec) for leaf in self._leaves)
            strings = any(getattr(leaf, "of_strings", False) for leaf in self._leaves)
            what = "strings, which no compiled program holds" if strings else "shapes that are not known"
            self.reason = "its elements are datasets" if nested else f"its elements have {what}"
            return "python"
        if not is_static(spec):
            self.reason = "its elements differ in shape, so it is called once for each"
            return "rows"
        shapes = [tuple(leaf.shape) for leaf in self._leaves]
        try:
            self._prepare(shapes)
            types = [
                jax.ShapeDtypeStruct(shape, as_dtype(leaf.dtype))
                for shape, leaf in zip(shapes, self._leaves, strict=True)
            ]
            self._result = [TensorSpec(found.shape, found.dtype) for found in jax.eval_shape(self.compute, *types)]
        except Exception as error:  # whatever it is, Python says it again where it is the user's
            return self._fallback(error)
        self._forget_programs()
        return "blocks"

    def _fallback(self, error: Exception) -> Mode:
        """How it is run where it is no program that only computes."""
        self.reason, self.location = _first_line(error), _place(error) or self.location
        return "python" if self._stateful is None else "stateful"

    _stateful: Function | BoundFunction | None = None

    def _prepare(self, shapes: Sequence[tuple[int, ...]]) -> None:
        """Traces the function for elements of these shapes.

        Raises:
          GraphcError: it is no function that only computes.
        """
        given: Any = self.function
        if not isinstance(given, Function | BoundFunction):
            given = self._compiled or Function(given, side_effects="error", on_retrace="ignore")
        self._compiled = given
        pure = to_jax(given)
        examples = [Tensor(jnp.zeros(s, as_dtype(leaf.dtype))) for s, leaf in zip(shapes, self._leaves, strict=True)]
        self._example = unflatten(self._given, examples)
        with trace_scope(None):
            variables = call_with(pure.init, self._example)
        if variables:
            self._stateful = given
            names = ", ".join(sorted(variables))
            raise GraphcError(f"it keeps state in {names}, so it is called once for each element")
        self._pure = to_jax(given, stateless=True)

    _compiled: Function | BoundFunction | None = None
    _example: Any = None
    _known: list[Any] | None = None
    _guards: Sequence[ReadGuard] = ()

    def fresh(self) -> UserFunction:
        """Returns the function, and sees to it that its programs know what it reads from outside as that is now."""
        with trace_scope(None), contextlib.suppress(Exception):  # what fails now fails again where it is called
            traces = [part._traced_now() for part in self._parts if part._compiled is not None]
            guards = [guard for trace in traces for guard in _guards_of(trace)]
            now = [*traces, *[value for guard in guards for value in guard.constants]]
            if self._known is not None and list(map(id, now)) != list(map(id, self._known)):
                self._forget_programs()
            self._known, self._guards = now, guards
        return self

    def _traced_now(self) -> TracedFunction:
        assert self._compiled is not None
        return call_with(self._compiled.trace, self._example)

    @property
    def is_method(self) -> bool:
        """Whether it is, or computes first, a compiled method, of which a trace finds the object with each call."""
        return any(isinstance(part._compiled, BoundFunction) for part in self._parts)

    def guards(self) -> Sequence[ReadGuard]:
        """Returns what must stay as it is for programs that hold the function: what it reads beside its element."""
        return self.fresh()._guards

    def _forget_programs(self) -> None:
        """Has no programs yet: the next calls make them."""
        self._jitted: Any = jax.jit(jax.vmap(self.compute))
        self._sizes: list[int] = []
        self._shapes: set[Any] = set()
        self._in_batches: dict[int, Any] = {}
        self._folding: Any = None
        self._of_row: Any = None

    def compute(self, *arrays: Any) -> tuple[Any, ...]:
        """Computes a row of arrays, by JAX, from another one."""
        result = _called(self._pure, unflatten(self._given, arrays))
        leaves, self.structure = flatten(result)
        if any(isinstance(leaf, str | bytes | StringTensor | Nested) for leaf in leaves):
            raise GraphcError("it returns strings or datasets, which no compiled program holds")
        return tuple([_array(leaf) for leaf in leaves])

    def for_types(self, leaves: Row) -> Callable[..., Row]:
        """Returns :meth:`compute` for leaves of these types, which JAX may be tracing.

        Raises:
          GraphcError: it is no function that only computes.
        """
        if self.mode == "rows":
            self._prepare([tuple(leaf.shape) for leaf in leaves])
        return self.compute

    @property
    def keeps_state(self) -> bool:
        """Whether it uses Variables or random numbers, as far as tracing it tells."""
        if self.mode == "rows" and self._stateful is None:
            with contextlib.suppress(Exception):
                self._of_open_sizes()
        return self._stateful is not None

    def block(self, block: Block) -> Block:
        """Returns what it makes of each row, computed as one program."""
        count = len(block[0]) if block else 0
        if count not in self._sizes:
            fits = [size for size in self._sizes if size > count]
            if fits:
                return self._padded(block, count, min(fits))
            self._sizes.append(count)
        with trace_scope(None):
            return self._jitted(*block)

    def batches(self, block: Block, size: int) -> list[Block]:
        """Returns what it makes of each row, in batches of a size, computed as one program.

        A program takes 10 us to start, and a result of it less than 1.
        """
        if size not in self._in_batches:

            def compute(*columns: Any) -> list[Block]:
                found = jax.vmap(self.compute)(*columns)
                count = len(columns[0]) // size
                return [tuple([column[i * size : (i + 1) * size] for column in found]) for i in range(count)]

            self._in_batches[size] = jax.jit(compute)
        with trace_scope(None):
            return self._in_batches[size](*block)

    def _padded(self, block: Block, count: int, size: int) -> Block:
        """Results of a small block, by the program for a larger one, since compiling takes longer."""
        padded = [np.concatenate([column := np.asarray(c), np.repeat(column[-1:], size - count, 0)]) for c in block]
        with trace_scope(None):
            return tuple([np.asarray(column)[:count] for column in self._jitted(*padded)])

    def folded(self, state: Row, block: Block) -> Row:
        """Returns the last of the states that it makes of a state and each row, one after the other."""
        if self._folding is None:

            def step(state: Row, row: Row) -> tuple[Row, None]:
                return self.compute(*state, *row), None

            def fold(state: Row, block: Block) -> Row:
                return jax.lax.scan(step, state, block)[0]

            self._folding = jax.jit(fold)
        with trace_scope(None):
            return self._folding(state, block)

    def row(self, row: Row) -> Row:
        """Returns what it makes of one row."""
        if self.mode == "blocks" or (self.mode == "rows" and self._takes(row)):
            # JAX takes the method itself for the same function even when what it reads has changed.
            self._of_row = self._of_row or jax.jit(functools.partial(self.compute))
            with trace_scope(None):
                found: Any = self._of_row(*row)
            return tuple([leaf if leaf.shape else np.asarray(leaf)[()] for leaf in found])
        if self._stateful is not None and self.in_python is None:
            element = unflatten(self._given, [Tensor(jnp.asarray(leaf)) for leaf in row])
            result, structure = take_apart(_called(self._stateful, element))
        else:
            element = unflatten(self._given, [to_argument(leaf) for leaf in row])
            with on_host():
                result, structure = take_apart(_called(self.in_python or self.function, element))
        self._check_some(result)
        if self.structure is None:
            self.structure = structure
        if self._result is None:
            self._result = [_open(spec_of(leaf)) for leaf in result]
        if structure != self.structure:
            error = InvalidArgumentError(f"{self.name} returned {structure} here, and {self.structure} before")
            raise at(error, self.location)
        return result

    def _takes(self, row: Row) -> bool:
        """Whether there is a program for a row of these shapes; there are no more than some."""
        shapes = tuple([leaf.shape for leaf in row])
        if shapes in self._shapes:
            return True
        if len(self._shapes) >= _MOST_SHAPES:
            return False
        try:
            self._prepare(shapes)
            jax.eval_shape(self.compute, *row)
        except Exception as error:
            self.mode = self._fallback(error)
            return False
        self._shapes.add(shapes)
        return True

    def value(self, row: Row) -> Any:
        """Returns what it makes of a row, if that is a single leaf."""
        return self.single(self.row(row), 0)

    def single(self, found: Row, axes: int) -> Any:
        """Returns the only leaf of a result, a scalar, or one for each row of a block.

        Args:
          found: what it returned.
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
        """Returns the function that computes another one first; both are programs for blocks."""
        both = object.__new__(UserFunction)
        both.__dict__.update(self.__dict__)
        both.name, both._given, both._leaves = f"{self.name}({first.name})", first._given, first._leaves
        both.compute = lambda *arrays: self.compute(*first.compute(*arrays))
        both._known, both._guards = None, ()
        both._parts = (*first._parts, *self._parts)
        both._forget_programs()
        return both


def user_function(
    function: Callable[..., Any], spec: Any, use: str, *, compiled: bool = True, sample: Callable[[], Row] | None = None
) -> UserFunction:
    """Returns a function of elements; one that is made for each element of another dataset is compiled once, or never.

    Args:
      function: see :class:`UserFunction`, as of the others.
      spec: the types of the elements it gets.
      use: the transformation.
      compiled: whether to try to compile it.
      sample: gives one row of the input.
    """
    if not compiled or not _inside.get():
        return UserFunction(function, spec, use, compiled=compiled, sample=sample)
    given: Any = function
    code = getattr(given, "__code__", None)
    if code is None or given.__closure__ or given.__defaults__ or given.__kwdefaults__:
        found = UserFunction(function, spec, use, compiled=False, sample=sample)
        found.reason = "it is another function for each element of the dataset around it"
        return found
    key = (code, id(given.__globals__), use, described(spec))
    if key not in _known:
        if len(_known) >= _MOST_KNOWN:
            _known.clear()
        _known[key] = UserFunction(function, spec, use, sample=sample)
    return _known[key]


_known: dict[Any, UserFunction] = {}
_MOST_KNOWN = 256


def _called(function: Callable[..., Any], element: Any) -> Any:
    """What a function returns for an element; a list is several values, whose types may differ, as in tf.data."""
    result = call_with(function, element)
    return tuple(cast("list[Any]", result)) if isinstance(result, list) else result


def _guards_of(trace: TracedFunction) -> list[ReadGuard]:
    """What must stay as it is for programs that hold a trace: what it was guarded by, and the tensors that it uses."""
    found = [ReadGuard(source, "{v} is {0}", (value,)) for source, value in trace.from_outside()]
    return [*[guard for guard in trace.guards if not guard.source.of_call], *found]


def _open(leaf: Any) -> Any:
    """The type of what Python returned once: another time its sizes may differ."""
    return TensorSpec((None,) * len(leaf.shape), leaf.dtype) if isinstance(leaf, TensorSpec) and leaf.shape else leaf


def _array(leaf: Any) -> Any:
    return jnp.asarray(leaf.raw if isinstance(leaf, Tensor) else leaf)


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0] or type(error).__name__


def _place(error: Exception) -> Location | None:
    """The user's line that an error of graphc's names."""
    _, mark, rest = str(error).rpartition('\n  at File "')
    file, _, rest = rest.partition('", line ')
    line, _, rest = rest.partition(", in ")
    return Location(file, int(line), rest.partition("\n")[0]) if mark and line.isdigit() else None


def location_of(function: Any) -> Location | None:
    """Returns where a function is defined; None for one that is not written in Python."""
    code = getattr(inspect.unwrap(getattr(function, "python_function", function)), "__code__", None)
    return None if code is None else Location(code.co_filename, code.co_firstlineno, code.co_name)
