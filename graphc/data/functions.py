"""Functions of the user's in a pipeline: compiled where graphc can trace them, else plain Python for each element.

A function of numbers of known shapes is traced once. If it only computes, it becomes one program for a whole block of
rows. One that keeps state (Variables, random numbers) or raises is compiled, and called for each element in order. One
that graphc cannot compile is called by Python, with NumPy arrays and, for strings, tensors of strings.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np

from graphc.base import Location, at, user_location
from graphc.base.errors import GraphcError, InvalidArgumentError
from graphc.base.nest import Structure
from graphc.core import StringTensor, Tensor, as_dtype, on_host, trace_scope
from graphc.data.elements import (
    Block,
    DatasetSpec,
    Nested,
    Row,
    flatten,
    is_static,
    spec_of,
    take_apart,
    to_argument,
    unflatten,
)
from graphc.function import BoundFunction, Function, TensorSpec, to_jax

__all__ = ["Mode", "UserFunction", "call_with"]

Mode: TypeAlias = Literal["blocks", "stateful", "python"]


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
    """

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
        self._sizes: list[int] = []
        self.mode: Mode = self._prepared(spec) if compiled else "python"

    def __repr__(self) -> str:
        return self.name

    @property
    def spec(self) -> Any:
        """The types of what it returns; of a Python function, those of the first result."""
        if self._result is None:
            if self._sample is None:
                raise at(InvalidArgumentError(f"{self.use}: the types of {self.name} are not known"), user_location())
            self.row(self._sample())
        assert self._result is not None
        assert self.structure is not None
        return unflatten(self.structure, self._result)

    def _prepared(self, spec: Any) -> Mode:
        """How it is run."""
        if not is_static(spec):
            strings = any(getattr(leaf, "of_strings", False) for leaf in self._leaves)
            nested = any(isinstance(leaf, DatasetSpec) for leaf in self._leaves)
            what = "strings, which no compiled program holds" if strings else "shapes that are not known"
            self.reason = "its elements are datasets" if nested else f"its elements have {what}"
            return "python"
        examples = [Tensor(jnp.zeros(leaf.shape, as_dtype(leaf.dtype))) for leaf in self._leaves]
        try:
            self._pure = self._traced(examples)
            types = [jax.ShapeDtypeStruct(leaf.shape, as_dtype(leaf.dtype)) for leaf in self._leaves]
            self._result = [TensorSpec(found.shape, found.dtype) for found in jax.eval_shape(self.compute, *types)]
        except Exception as error:  # whatever it is, Python says it again where it is the user's
            self.reason, self.location = _first_line(error), _place(error) or self.location
            return "python" if self._stateful is None else "stateful"
        self._jitted: Any = jax.jit(jax.vmap(self.compute))
        return "blocks"

    _stateful: Function | BoundFunction | None = None

    def _traced(self, examples: Sequence[Tensor]) -> Any:
        """The pure function of JAX's.

        Raises:
          GraphcError: there is none.
        """
        given: Any = self.function
        if not isinstance(given, Function | BoundFunction):
            given = Function(given, side_effects="error", on_retrace="ignore")
        pure = to_jax(given)
        element = unflatten(self._given, examples)
        variables = call_with(pure.init, element)
        if variables:
            self._stateful = given
            raise GraphcError(
                f"it keeps state in {', '.join(sorted(variables))}, so it is called once for each element"
            )
        return to_jax(given, stateless=True)

    def compute(self, *arrays: Any) -> tuple[Any, ...]:
        """Computes a row of arrays, by JAX, from another one."""
        result = call_with(self._pure, unflatten(self._given, arrays))
        leaves, self.structure = flatten(result)
        if any(isinstance(leaf, str | bytes | StringTensor | Nested) for leaf in leaves):
            raise GraphcError("it returns strings or datasets, which no compiled program holds")
        return tuple([_array(leaf) for leaf in leaves])

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

    def _padded(self, block: Block, count: int, size: int) -> Block:
        """Results of a small block, by the program for a larger one, since compiling takes longer."""
        padded = [np.concatenate([column := np.asarray(c), np.repeat(column[-1:], size - count, 0)]) for c in block]
        with trace_scope(None):
            return tuple([np.asarray(column)[:count] for column in self._jitted(*padded)])

    def row(self, row: Row) -> Row:
        """Returns what it makes of one row."""
        if self.mode == "blocks":
            return tuple(
                [np.asarray(column)[0] for column in self.block(tuple([np.asarray(leaf)[None] for leaf in row]))]
            )
        if self._stateful is not None:
            element = unflatten(self._given, [Tensor(jnp.asarray(leaf)) for leaf in row])
            result, structure = take_apart(call_with(self._stateful, element))
        else:
            element = unflatten(self._given, [to_argument(leaf) for leaf in row])
            with on_host():
                result, structure = take_apart(call_with(self.function, element))
        if self.structure is None:
            self.structure, self._result = structure, [spec_of(leaf) for leaf in result]
        elif structure != self.structure:
            error = InvalidArgumentError(f"{self.name} returned {structure} here, and {self.structure} before")
            raise at(error, self.location)
        return result

    def value(self, row: Row) -> Any:
        """Returns what it makes of a row, if that is a single leaf."""
        found = self.row(row)
        if len(found) != 1:
            error = InvalidArgumentError(f"{self.use}: {self.name} returns {len(found)} values, expected one")
            raise at(error, self.location)
        return found[0]

    def after(self, first: UserFunction) -> UserFunction:
        """Returns the function that computes another one first; both are programs for blocks."""
        both = object.__new__(UserFunction)
        both.__dict__.update(self.__dict__)
        both.name, both._given, both._leaves = f"{self.name}({first.name})", first._given, first._leaves
        both.compute = lambda *arrays: self.compute(*first.compute(*arrays))
        both._jitted, both._sizes = jax.jit(jax.vmap(both.compute)), []
        return both


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
