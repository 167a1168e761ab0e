"""A user's function of elements after tracing: ops of the host on its strings, then a program that only computes.

A program holds no strings. So functions of strings whose results depend on one string each, such as
``gx.strings.decode_csv``, are recorded while the function is traced, with strings that have no value yet. They run for
all rows of a block at once, and their numbers are inputs of the program.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

import jax as _jax
import jax.numpy as jnp
import numpy as np

from graphc.compiler.autograph import do_not_convert
from graphc.compiler.base import nest
from graphc.compiler.base.errors import GraphcError
from graphc.compiler.base.nest import Structure
from graphc.compiler.core import (
    STRING,
    LateStrings,
    StringTensor,
    Tensor,
    as_dtype,
    host_array,
    host_type,
    on_host,
    trace_scope,
)
from graphc.compiler.function import BoundFunction, Function, TensorSpec, TracedFunction, to_jax
from graphc.compiler.ir import Attrs, OpDef, TensorType
from graphc.compiler.tracing import ReadGuard
from graphc.training.data.elements import Block, Nested, Row, flatten, unflatten

jax: Any = _jax  # its functions are only partly annotated

Shapes: TypeAlias = Sequence[tuple[int, ...]]


def call_with(function: Callable[..., Any], element: Any) -> Any:
    """Calls a function with an element; the items of a plain tuple are its arguments, as in tf.data."""
    return function(*element) if type(element) is tuple else function(element)


def called(function: Callable[..., Any], element: Any) -> Any:
    """Returns a function's result for an element; a list means several values of any types, as in tf.data."""
    return as_tuple(call_with(function, element))


def as_tuple(result: Any) -> Any:
    """Converts a list to a tuple; returns anything else unchanged."""
    return tuple(cast("list[Any]", result)) if isinstance(result, list) else result


@dataclass(frozen=True)
class _Step:
    """An op of the host on strings."""

    op: OpDef
    inputs: tuple[Any, ...]  # strings of the element, or constants
    attrs: Attrs
    types: tuple[TensorType, ...]

    def run(self, strings: Sequence[Any], count: int) -> list[Any]:
        """Returns the results for ``count`` rows."""
        arrays = [strings[value.place] if isinstance(value, LateStrings) else value for value in self.inputs]
        with trace_scope(None), on_host():
            result = self.op.impl(*arrays, **self.attrs)
        results = nest.as_tuple(result)
        return [
            np.asarray(array, type.dtype).reshape(count, *type.shape)
            for array, type in zip(results, self.types, strict=True)
        ]


class _Strings:
    """The part of a function that works on strings, recorded when the function is traced."""

    def __init__(self, placeholders: Sequence[Any] | None) -> None:
        self._given = placeholders  # of the numbers that ops return; None while their count is unknown
        self.steps: list[_Step] = []
        self.columns: list[TensorType] = []  # the types of the numbers that the steps give, in order
        self.held: list[LateStrings] = []  # all strings, the element's first
        self.places: list[int | None] = []  # for each result, the index of its strings; None for numbers

    def strings(self, shape: tuple[int, ...]) -> LateStrings:
        """Returns strings without a value yet, at the next index."""
        self.held.append(LateStrings(shape, len(self.held), self._note))
        return self.held[-1]

    def _note(self, op: OpDef, inputs: Sequence[Any], attrs: Attrs) -> list[Any]:
        """Records an op and returns placeholders for its results."""
        shape = next(value.shape for value in inputs if isinstance(value, LateStrings))
        rest = [value if isinstance(value, LateStrings) else host_array(value) for value in inputs]
        fits = [value.shape == shape if isinstance(value, LateStrings) else value.size <= 1 or value.ndim <= len(shape)
                for value in rest]  # fmt: skip
        if not op.elementwise or not all(fits):
            raise GraphcError(f"{op.name} is called for each element: it does not work on each string separately")
        operand_types = [TensorType(value.shape, STRING) if isinstance(value, LateStrings) else host_type(value)
                 for value in rest]  # fmt: skip
        types = tuple(op.infer(operand_types, attrs, ()))
        self.steps.append(_Step(op, tuple(rest), attrs, types))
        return [self.strings(type.shape) if type.dtype == STRING else self._column(type) for type in types]

    def _column(self, type: TensorType) -> Any:
        self.columns.append(type)
        if self._given is None:
            return Tensor(jnp.zeros(type.shape, type.dtype))
        return self._given[len(self.columns) - 1]

    def run(self, block: Sequence[Any], count: int) -> tuple[list[Any], list[Any]]:
        """Returns the columns of numbers that the ops compute from the strings of some rows, and all strings."""
        strings, columns = list(block), list[Any]()
        for step in self.steps:
            for array, type in zip(step.run(strings, count), step.types, strict=True):
                (strings if type.dtype == STRING else columns).append(array)
        return columns, strings


class ElementTrace:
    """A traced function from elements to elements."""

    def __init__(self, function: Callable[..., Any], leaves: Sequence[TensorSpec], structure: Structure) -> None:
        self._function, self._leaves, self._given = function, leaves, structure
        self._are_strings = [bool(getattr(leaf, "of_strings", False)) for leaf in leaves]
        self.has_strings = any(self._are_strings)
        self.structure: Structure | None = None
        self.stateful: Function | BoundFunction | None = None  # the compiled function, if it keeps state
        self._compiled: Function | BoundFunction | None = None
        self._look: Function | None = None
        self._shapes: Shapes = ()
        self._strings = _Strings(None)
        self._example: Any = None
        self._known: list[Any] | None = None
        self.guards: Sequence[ReadGuard] = ()

    def prepare(self, shapes: Shapes) -> None:
        """Traces the function for elements of these shapes."""
        self._shapes = shapes
        if self.has_strings:
            self._example = self._with_columns()
        else:
            self._compiled = self._compiled or _compiled(self._function)
            self._example = unflatten(self._given, [self._blank(index) for index in range(len(shapes))])
        assert self._compiled is not None
        pure = to_jax(self._compiled)
        with trace_scope(None):
            variables = call_with(pure.init, self._example)
        if variables:
            self.stateful = None if self.has_strings else self._compiled
            names = ", ".join(sorted(variables))
            raise GraphcError(f"it keeps state in {names}, so it is called once for each element")
        self._pure = to_jax(self._compiled, stateless=True)

    def _blank(self, index: int) -> Tensor:
        return Tensor(jnp.zeros(self._shapes[index], as_dtype(self._leaves[index].dtype)))

    def _with_columns(self) -> tuple[Any, ...]:
        """Traces the function to find the uses of its strings; returns the inputs of the rest of it."""
        # These are the function, the numbers that ops on strings return, and those of the element.
        numbers = [self._blank(index) for index, strings in enumerate(self._are_strings) if not strings]
        self._look = self._look or self._following(None)
        with trace_scope(None):
            self._look.trace(self._function, *numbers)
        columns = list(self._strings.columns)

        if self._compiled is None or columns != self._columns:
            self._compiled, self._columns = self._following(len(columns)), columns
        return (self._function, *[Tensor(jnp.zeros(type.shape, type.dtype)) for type in columns], *numbers)

    _columns: Sequence[TensorType] = ()

    def _following(self, columns: int | None) -> Function:
        """Returns the function as a function of numbers to numbers; its first arguments are the columns."""

        def start(*inputs: Any) -> Any:
            return self._element(None if columns is None else inputs[:columns], inputs[columns or 0 :])

        def end(result: Any) -> Any:
            return self._numbers_of(result)

        def computes(function: Any, *inputs: Any) -> Any:  # an argument, so that what it reads is known
            return end(function(*start(*inputs)))

        do_not_convert(start)
        do_not_convert(end)
        return Function(computes, side_effects="error", on_retrace="ignore")

    def _element(self, columns: Sequence[Any] | None, numbers: Sequence[Any]) -> tuple[Any, ...]:
        """Returns the arguments of the user's function, which is being traced."""
        strings, left = _Strings(columns), iter(numbers)
        self._strings = strings
        leaves = [
            strings.strings(tuple(shape)) if is_string else next(left)
            for shape, is_string in zip(self._shapes, self._are_strings, strict=True)
        ]
        element = unflatten(self._given, leaves)
        return cast("tuple[Any, ...]", element) if type(element) is tuple else (element,)

    def _numbers_of(self, result: Any) -> tuple[Any, ...]:
        """Returns the numbers in the user's result."""
        leaves, self.structure = flatten(as_tuple(result))
        self._strings.places = [leaf.place if isinstance(leaf, LateStrings) else None for leaf in leaves]
        return tuple([leaf for leaf in leaves if not isinstance(leaf, LateStrings)])

    def compute(self, *arrays: Any) -> tuple[Any, ...]:
        """Computes the numbers of a row with JAX, from the :meth:`inputs` of another one."""
        if self.has_strings:
            leaves = list(self._pure(self._function, *arrays))
        else:
            leaves, self.structure = flatten(called(self._pure, unflatten(self._given, arrays)))
        if any(isinstance(leaf, str | bytes | StringTensor | Nested) for leaf in leaves):
            raise GraphcError("it returns strings or datasets, which no compiled program holds")
        return tuple([jnp.asarray(leaf.raw if isinstance(leaf, Tensor) else leaf) for leaf in leaves])

    def inputs(self, block: Block) -> tuple[Sequence[Any], Sequence[Any]]:
        """Returns the inputs of :meth:`compute` for some rows, and all their strings."""
        if not self.has_strings:
            return block, ()
        pairs = list(zip(block, self._are_strings, strict=True))
        columns, texts = self._strings.run([leaf for leaf, strings in pairs if strings], len(block[0]))
        return [*columns, *[leaf for leaf, strings in pairs if not strings]], texts

    def whole(self, numbers: Sequence[Any], strings: Sequence[Any]) -> Row:
        """Assembles results from the program's numbers, and from the strings that are results."""
        if not self.has_strings:
            return tuple(numbers)
        left = iter(numbers)
        return tuple([next(left) if index is None else strings[index] for index in self._strings.places])

    def types(self, shapes: Shapes) -> list[TensorSpec]:
        """Traces the function for elements of these shapes; returns the types of the results."""
        self.prepare(shapes)
        arguments = [(type.shape, type.dtype) for type in self._columns]
        arguments += [(shape, as_dtype(leaf.dtype)) for shape, leaf, strings in
                  zip(shapes, self._leaves, self._are_strings, strict=True) if not strings]  # fmt: skip
        outputs = jax.eval_shape(self.compute, *[jax.ShapeDtypeStruct(*each) for each in arguments])
        strings = [TensorSpec(late.shape, "string") for late in self._strings.held]
        return list(self.whole([TensorSpec(leaf.shape, leaf.dtype) for leaf in outputs], strings))

    def has_changed(self) -> bool:
        """Returns True if something that the function reads from outside has changed since the last call."""
        if self._compiled is None:
            return False
        if self.has_strings:
            self.prepare(self._shapes)
        trace: TracedFunction = call_with(self._compiled.trace, self._example)
        self.guards = _guards_of(trace)
        now = [trace, *[value for guard in self.guards for value in guard.constants]]
        changed = self._known is not None and list(map(id, now)) != list(map(id, self._known))
        self._known = now
        return changed

    @property
    def is_method(self) -> bool:
        """True if it is a compiled method, whose object a trace finds at each call."""
        return isinstance(self._compiled, BoundFunction)


def _compiled(function: Any) -> Any:
    if isinstance(function, Function | BoundFunction):
        return cast("Any", function)
    return Function(function, side_effects="error", on_retrace="ignore")


def _guards_of(trace: TracedFunction) -> list[ReadGuard]:
    """Returns the guards of programs that hold a trace: the trace's own guards, and the tensors that it uses."""
    captured = [ReadGuard(source, "{v} is {0}", (value,)) for source, value in trace.from_outside()]
    return [*[guard for guard in trace.guards if not guard.source.of_call], *captured]


# Programs of a function of elements: for blocks of rows, for several batches at once, for one row, for a fold.


class Programs:
    """The compiled programs of a chain of pure functions, each on the results before; only the first takes strings."""

    def __init__(self, *traces: ElementTrace) -> None:
        self.traces = traces
        self._forget()

    def _forget(self) -> None:
        """Drops the compiled programs; the next calls compile again."""
        self._of_block: Any = jax.jit(jax.vmap(self.compute))
        self._sizes: list[int] = []
        self._split_programs: dict[int, Any] = {}
        self._folding: Any = None
        self._of_row: Any = None

    def compute(self, *arrays: Any) -> tuple[Any, ...]:
        """Computes the numbers of a row with JAX."""
        for trace in self.traces:
            arrays = trace.compute(*arrays)
        return arrays

    @property
    def takes_strings(self) -> bool:
        """True if it takes strings, and may therefore raise."""
        return self.traces[0].has_strings

    def refresh(self) -> None:
        """Updates the programs to the current values of what the functions read from outside."""
        with trace_scope(None), contextlib.suppress(Exception):  # an error here is raised again by the call
            changed = [
                trace.has_changed() for trace in self.traces
            ]  # all of them, since each records its current values
            if any(changed):
                self._forget()

    def block(self, block: Block, size: int = 0) -> Block:
        """Returns the results for the rows of a block, computed as one program."""
        # Blocks of less than the usual ``size`` are padded, since compiling takes longer.
        inputs, strings = self.traces[0].inputs(block)
        columns = self._numbers(inputs, len(block[0]), size) if inputs else ()
        return self.traces[-1].whole(columns, strings)

    def _numbers(self, inputs: Sequence[Any], count: int, size: int) -> Sequence[Any]:
        if count not in self._sizes:
            fits = [compiled for compiled in self._sizes if compiled > count]
            if fits or size > count:
                return self._padded(inputs, count, min(fits, default=size))
            self._sizes.append(count)
        with trace_scope(None):
            return self._of_block(*inputs)

    def _padded(self, inputs: Sequence[Any], count: int, size: int) -> Sequence[Any]:
        if size not in self._sizes:
            self._sizes.append(size)
        padded = [np.concatenate([column := np.asarray(c), np.repeat(column[-1:], size - count, 0)]) for c in inputs]
        with trace_scope(None):
            return [np.asarray(column)[:count] for column in self._of_block(*padded)]

    def split(self, block: Block, size: int) -> list[Row]:
        """Returns the results for the rows of a block, ``size`` joined into one (0: each separate), as one program."""
        # Starting a program takes 10 us, and each of its results less than 1 us.
        if size not in self._split_programs:

            def compute(*columns: Any) -> list[Block]:
                outputs = jax.vmap(self.compute)(*columns)
                return [tuple(part) for part in _parts(outputs, size, len(columns[0]))]

            self._split_programs[size] = jax.jit(compute)
        inputs, strings = self.traces[0].inputs(block)
        count = len(block[0])
        numbers: Sequence[Any] = [()] * (count // (size or 1))
        if inputs:
            with trace_scope(None):
                numbers = self._split_programs[size](*inputs)
        texts = _parts(strings, size, count) if strings else [()] * len(numbers)
        return [self.traces[-1].whole(*pair) for pair in zip(numbers, texts, strict=True)]

    def folded(self, state: Row, block: Block) -> Row:
        """Folds a state over the rows of a block, and returns the last state."""
        if self._folding is None:

            def step(state: Row, row: Row) -> tuple[Row, None]:
                return self.compute(*state, *row), None

            def fold(state: Row, block: Block) -> Row:
                return jax.lax.scan(step, state, block)[0]

            self._folding = jax.jit(fold)
        with trace_scope(None):
            return self._folding(state, block)

    def row(self, row: Row) -> Row:
        """Returns the result for one row."""
        if self.takes_strings:
            outputs: Any = self.block(tuple([_alone(leaf) for leaf in row]))
            return tuple([column[0] for column in map(np.asarray, outputs)])
        # JAX would treat the method itself as the same function even after its reads have changed.
        self._of_row = self._of_row or jax.jit(functools.partial(self.compute))
        with trace_scope(None):
            outputs = self._of_row(*row)
        return tuple([leaf if leaf.shape else np.asarray(leaf)[()] for leaf in outputs])


def _parts(columns: Sequence[Any], size: int, count: int) -> list[list[Any]]:
    """Splits columns into groups of ``size`` rows, or into single rows."""
    if not size:
        return [[column[index] for column in columns] for index in range(count)]
    return [[column[start : start + size] for column in columns] for start in range(0, count, size)]


def _alone(leaf: Any) -> Any:
    """Returns a leaf as a column of one row."""
    column = np.empty((1, *np.shape(leaf)), object if isinstance(leaf, bytes) else leaf.dtype)
    column[0] = leaf
    return column
