"""Python that runs at run time: ``print`` and ``pyfunc``."""

from __future__ import annotations

import builtins
import io
import operator
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from numbers import Number
from typing import Any, cast

import jax.numpy as jnp
import numpy as np

from graphc.compiler.autograph.constructs.exceptions.failure import failures
from graphc.compiler.autograph.constructs.exceptions.origins import user_calls
from graphc.compiler.autograph.constructs.exceptions.try_scope import check_handlers
from graphc.compiler.autograph.constructs.expressions.text import text_of
from graphc.compiler.autograph.constructs.storage.native_state import (
    OPAQUE,
    STATEFUL,
    equal_states,
    is_internal,
    state_of,
)
from graphc.compiler.autograph.values.deferred import Deferred, Frozen, Opaque, is_deferred, rebuilt
from graphc.compiler.autograph.values.growing_list import as_lists, growing
from graphc.compiler.autograph.values.kinds import check_shown
from graphc.compiler.base import Location, is_library_module, nest, user_location, with_article
from graphc.compiler.base.errors import (
    FailedPreconditionError,
    InvalidArgumentError,
    InvalidTypeError,
    UnimplementedError,
)
from graphc.compiler.core import SymbolicTensor, Tensor, Variable, apply, as_dtype, open_tapes, with_short_errors
from graphc.compiler.ir import OPS, Attrs, TensorType
from graphc.compiler.ops import HOST_RESULT, HostFunction, emit_host_call
from graphc.compiler.tracing import Closures, closures_now, context, current_trace, graph_by_hand

# Declared results of a host function, and the check of its actual ones.

_Array = np.ndarray[Any, Any]


class Results:
    """The results that a host function is declared to return; ``structure`` is the user's, as for ``gx.pyfunc``."""

    def __init__(self, structure: Any) -> None:
        leaves, self.structure = nest.flatten(_boxed(structure))
        self.types = [_type(leaf.value) for leaf in leaves]

    def check(self, result: Any) -> list[_Array]:
        """Returns a result as arrays of the declared types; raises where its structure, shapes or dtypes differ."""
        if self.structure.kind is type(None):
            return []
        parts = _parts(result, self.structure)
        if parts is None:
            message = f"it returned {_short(result)}, where {self} is declared, another structure"
            remedy = "; if it returns nothing, declare None" if result is None else ""
            raise InvalidArgumentError(message + remedy)
        return [self._array(part, type, result) for part, type in zip(parts, self.types, strict=True)]

    def __str__(self) -> str:
        return repr(nest.unflatten(self.structure, map(_Said, self.types)))

    def _said(self, value: Any, result: Any) -> str:
        """Returns the start of a message: the text of an array takes longer than the call."""
        where = "" if self.structure == nest.LEAF else f", and there {_short(value)}"
        return f"it returned {_short(result)}{where}"

    def _array(self, value: Any, type: TensorType, result: Any) -> _Array:
        array = _numbers(value)
        if array is None:
            remedy = "; if it returns nothing, declare None" if result is None else ""
            message = f"{self._said(value, result)}, where {type} is declared: that is no tensor, number or nested list"
            raise InvalidTypeError(f"{message} of these{remedy}")
        if array.shape != type.shape:
            raise InvalidArgumentError(
                f"{self._said(value, result)}, of the shape {array.shape}, where {type} is declared"
            )
        whole = _whole_numbers(array)  # astype wraps without a word: 300 becomes 44 as uint8
        if whole and not (hasattr(value, "dtype") and as_dtype(array.dtype) != type.dtype) and type.dtype.kind in "iu":
            bounds = np.iinfo(type.dtype)
            worst = next((number for number in whole if not bounds.min <= number <= bounds.max), None)
            if worst is not None:
                range = f"whose numbers go from {bounds.min} to {bounds.max}"
                returned = self._said(value, result)
                raise InvalidArgumentError(f"{returned}, where {type} is declared, {range}: {worst} does not fit")
        converted = array.astype(type.dtype)
        dtype = as_dtype(array.dtype)
        if dtype != type.dtype and (hasattr(value, "dtype") or not _holds(converted, array)):
            raise InvalidTypeError(
                f"{self._said(value, result)}, of the dtype {dtype.name}, where {type} is declared; convert it in the "
                f"function, or declare {dtype.name!r}"
            )
        return converted


class _Said:
    """A type that a nested structure shows by its name."""

    def __init__(self, type: TensorType) -> None:
        self._type = type

    def __repr__(self) -> str:
        return str(self._type)


def _short(value: Any) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) <= 80 else text[:77] + "..."


def _boxed(types: Any) -> Any:
    """Result types with each type a leaf, whatever its class."""
    if nest.children(types) is None or (hasattr(types, "shape") and hasattr(types, "dtype")):
        return Opaque(types)
    return rebuilt(types, _boxed)


def _type(spec: Any) -> TensorType:
    has_shape = hasattr(spec, "shape") and hasattr(spec, "dtype") and not isinstance(spec, type)
    sizes = cast("Any", spec).shape if has_shape else ()
    shape = cast("tuple[int | None, ...]", (None,) if sizes is None else tuple(sizes))
    if None in shape:
        raise InvalidArgumentError(
            f"gx.pyfunc: the result type {spec} leaves a size open; give it: programs are compiled for fixed sizes"
        ).here()
    try:
        dtype = as_dtype(spec.dtype if has_shape else spec)
    except InvalidTypeError as problem:
        raise InvalidTypeError(
            f"gx.pyfunc: a result type is a TensorSpec or a dtype, got {spec!r:.60}"
        ).here() from problem
    return TensorType(cast("tuple[int, ...]", shape), dtype)


def is_type(value: Any) -> bool:
    """Returns True if a value is the type of a tensor, and no tensor."""
    if not isinstance(value, str | type):
        # An array has both, and is no type.
        return hasattr(value, "shape") and hasattr(value, "dtype") and not hasattr(value, "__array__")
    try:
        as_dtype(value)
    except InvalidTypeError:
        return False
    return True


def _parts(value: Any, structure: nest.Structure) -> list[Any] | None:
    """Returns what stands in a value at the leaves of a structure; None if it has another structure."""
    if structure == nest.LEAF:
        return [value]
    children = nest.children(value)
    kinds = (tuple, list) if structure.kind in (tuple, list) else (structure.kind,)
    if children is None or type(value) not in kinds or children[0] != structure.keys:
        return None
    parts = [_parts(item, child) for item, child in zip(children[1], structure.children, strict=True)]
    return None if None in parts else [leaf for part in parts for leaf in part or ()]


def _numbers(value: Any) -> _Array | None:
    """Returns the value as an array; None if it is none of numbers."""
    try:
        array = np.array(value.numpy() if isinstance(value, Tensor | Variable) else value)
    except ValueError:  # lists of different lengths
        return None
    kind = array.dtype.kind
    # O: ints beyond 64 bits, or anything else; SUTmM: texts, dates and durations.
    of_numbers = all(isinstance(item, Number) for item in array.ravel()) if kind == "O" else kind not in "SUTmM"
    return array if of_numbers else None


def _whole_numbers(array: _Array) -> Sequence[int]:
    """Returns the ints of an array, those too that no dtype of NumPy's holds; none if it has others."""
    if array.dtype.kind not in "iuO":
        return ()
    numbers = array.ravel().tolist()
    return numbers if all(isinstance(number, int) for number in numbers) else ()


def _holds(converted: _Array, array: _Array) -> bool:
    """Returns True if Python numbers are the same in another dtype, but for rounding to a floating one."""
    if array.dtype.kind in "fc":
        return converted.dtype.kind not in "biu" and (array.dtype.kind == "f" or converted.dtype.kind == "c")
    return bool((converted == array).all()) and (converted.dtype.kind != "b" or array.dtype.kind == "b")


_printing = threading.RLock()
"""Held while a program prints, so that the lines of several, or of replicas, do not run into each other."""


def call_host(
    function: Callable[[Any], Sequence[np.ndarray[Any, Any]]], kind: str, arguments: Any,
    results: Sequence[TensorType] = (), *, on_device: bool = False, ordered: bool = True,
) -> list[SymbolicTensor]:  # fmt: skip
    """Calls ``function`` at run time with ``arguments``, whose tensors have values then.

    Args:
      on_device: whether the tensors that it gets hold arrays of JAX's; NumPy's do to look at.
      ordered: whether it comes after the calls before it.
    """
    trace = context.trace
    assert trace is not None
    frozen = Frozen(arguments)

    def run(*arrays: np.ndarray[Any, Any]) -> Sequence[np.ndarray[Any, Any]]:
        return function(frozen.evaluate([jnp.asarray(array) for array in arrays] if on_device else arrays))

    host = HostFunction(run, kind, results, user_calls())
    host.assigned = trace.assigned_names()
    recorded = failures(trace)
    recorded.hosts.append(host)
    recorded.held.extend(frozen.held)
    outputs = emit_host_call(host, frozen.tensors, ordered=ordered)
    frozen.release()  # the program gives it values; the trace's own tensors must not live on with it
    return outputs


def print_late(native: Any, *values: Any, **options: Any) -> None:
    """``print``: the texts are made, and printed, when the program runs."""
    del native
    file = options.pop("file", None)
    # What Python would look up at each call is looked up at each call.
    stream = "stdout" if file is None else {id(sys.stdout): "stdout", id(sys.stderr): "stderr"}.get(id(file))
    texts = [text_of("str", value) for value in values]
    # What the function could read back has to be there while it is traced.
    if stream is not None or (isinstance(file, io.IOBase) and not file.readable()):
        call_host(partial(_print_late, stream, file), "print", (texts, options))
    else:
        _print_now(texts, options, file)


def _print_now(texts: list[Any], options: dict[str, Any], file: Any) -> None:
    """Prints into what the function may read again while it is traced; refuses what only the run can print."""
    trace = current_trace()
    what = f"print() into {with_article(type(file).__name__)}"
    if is_deferred((texts, options)):
        error = UnimplementedError(
            f"{what} of a text that is made of tensors: the text is there when the program runs, and the function may "
            "read what it printed while it is traced; print to sys.stdout or to a file that is open for writing only, "
            "or make the text with an f-string, which can be printed, raised, passed to gx.pyfunc, or returned"
        )
        raise trace.refuse(error)
    trace.side_effect(what, certain=trace.root.reads.source(file) is not None)
    builtins.print(*texts, file=file, **options)


def _print_late(stream: str | None, file: Any, call: tuple[list[str], dict[str, Any]]) -> tuple[()]:
    texts, options = call
    with _printing:
        print(*texts, file=getattr(sys, stream) if stream else file, **options)
    return ()


def pyfunc(function: Callable[..., Any], result_types: Any, *args: Any, ordered: bool = True) -> Any:
    """Calls a Python function at run time, also from compiled code (TensorFlow's ``py_function``).

    In eager code this is the call itself, with a look at the results. In a compiled function the Python code runs each
    time the program comes to this point, loops and branches included, in the order of the program with other calls of
    ``pyfunc`` and ``print``; the compiled call returns after it. The function is not converted. Its arguments and its
    outer variables hold what they held where it was given. Objects from outside are shared; tensors, lists and objects
    that the compiled function makes must not be changed. What it raises, the compiled call raises: the very exception.
    It is not called any more once the call has failed.

    A gradient through it is refused: pass ``gx.stop_gradient(x)`` for a constant, or define its gradient by
    :func:`custom_gradient` around the call.

    On an accelerator its tensors are copied to the host and back, and the program waits for it.

    Args:
      function: takes eager tensors where ``args`` holds tensors, and everything else as it is.
      result_types: what it returns: for each tensor a :class:`TensorSpec` or anything else with a shape and a dtype, or
        a dtype, which stands for a scalar, in a nested structure; None if it returns nothing. Python numbers, and
        nested lists of them, become tensors of the dtype if it can hold them; arrays must have the dtype.
      *args: tensors and Python values, in any nested structure. A variable is passed as a tensor of its value.
      ordered: False for a function that needs no order relative to prints, other calls and exceptions, such as one
        that reads a file or counts: it runs when its arguments are there, once each time the program comes to this
        point, and may do so before what stands above it, also where that fails the call. What stands below it, in
        order, waits for it; independent calls of this kind wait for nothing of each other. In eager code all calls are
        in order.

    Returns:
      Tensors, in the structure of ``result_types``.

    Raises:
      InvalidArgumentError: ``result_types`` leaves a shape open; or a result has another shape or structure, or is a
        number that its dtype cannot hold.
      InvalidTypeError: ``function`` is none, or a result has another dtype or is no tensor.
      FailedPreconditionError: in compiled code: ``function`` reads a Variable that the compiled function has assigned
        before, assigns one that it uses, or changes a tensor, list or object that it makes.
      UnimplementedError: while tracing: the call stands in a ``try`` statement that might catch its exception, or
        ``function`` assigns a variable of the compiled function. While
        gradients are computed: one would flow through the call.

    Example:
      >>> import graphc as gx
      >>> @gx.function
      ... def f(x):
      ...     digits = gx.pyfunc(lambda n: len(str(n.item())), "int32", x)
      ...     return digits * 2
      >>> f(gx.asarray(1234)).item()
      8
    """
    if not callable(function):
        raise InvalidTypeError(f"gx.pyfunc: expected a function, got {function!r:.60}").here()
    if not isinstance(ordered, bool):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidTypeError(f"gx.pyfunc: ordered is True or False, got {ordered!r:.60}").here()
    # A tensor has a shape and a dtype, so that it would pass for a type.
    if isinstance(result_types, Tensor | Variable) and any(map(is_type, args)):
        raise InvalidTypeError(
            f"gx.pyfunc: the types of the results stand before the arguments, gx.pyfunc(function, types, *args), but "
            f"{result_types.type} is a tensor there, and among the arguments is a type"
        ).here()
    declared = Results(result_types)
    inputs = _with_values(args)
    # A functools.partial has no name.
    name, location = str(getattr(function, "__name__", type(function).__name__)), user_location()

    returned: list[Any] = []
    passed = None if context.trace is None or graph_by_hand() is not None else _Passed(function, inputs)
    late = inputs if passed is None else passed.values
    call = partial(_called, function) if passed is None else passed.call

    def run(values: Any) -> list[np.ndarray[Any, Any]]:
        result = call(values)
        if open_tapes:
            returned.append(result)
        try:
            return declared.check(result)
        except InvalidArgumentError as error:
            error.args = (f"gx.pyfunc of {name!r}: {error.args[0]}",)
            # At run time no frame of the user's is on the stack, so the line was noted before.
            raise error.at(location) from None

    if context.trace is None:
        run = with_short_errors(run)
        results = [Tensor(jnp.asarray(array)) for array in run(inputs)]
        # A tensor that it returns may depend on one that it took from outside.
        return nest.unflatten(declared.structure, _known(results, (inputs, returned), name, location))
    for leaf in nest.flatten(late)[0]:
        check_shown(leaf, "a call of gx.pyfunc", as_text=False)
    check_handlers(None)  # no class is declared for what it may raise, so any handler around might catch it
    failures(context.trace).held += [function] if passed is None else passed.held
    results = call_host(run, _name(function), late, declared.types, on_device=True, ordered=ordered)
    outcome = nest.unflatten(declared.structure, _known(results, late, name, location))
    if passed is not None:
        passed.values.clear()  # the program keeps the function, and must not keep the trace's tensors
    return outcome


def _called(function: Callable[..., Any], args: Any) -> Any:
    return function(*args)


class _Passed:
    """A function and its arguments as they are now; Python calls it later, when names may hold something else."""

    # What the traced function makes, it makes once: each call gets lists and dicts anew, with the values of that call,
    # and other objects if they are still as they are now. Nobody would see what Python changes of either.

    def __init__(self, function: Callable[..., Any], args: Sequence[Any]) -> None:
        self.values: list[Any] = []  # what has no value yet in arguments and closure; the program passes it
        trace = current_trace()
        self._reads, self._name = trace.root.reads, trace.root.builder.name
        self._knows = not trace.root.unconverted  # code that is not converted does not tell what it has from outside
        self._ends = frozenset(id(value) for value, _ in self._reads.objects())
        self._watched: list[tuple[Any, Any]] = []
        self._lists: list[int] = []  # the places of those of the values that are lists of unknown length
        self._is_fixed = True
        self._closures = closures_now(self._keep)
        self._function, *self._args = map(self._closures.of, (function, *args))
        self._cells = {id(cell) for cell in self._closures.cells.values()}
        if self._closures.assigned:
            name = min(self._closures.assigned)
            error = UnimplementedError(
                f"the function of gx.pyfunc assigns {name!r}, a variable of the compiled function, where each call "
                "would find what the last one left; return it from the function, or make the variable outside"
            )
            raise trace.note_refusal(error)
        del self._closures, self._reads  # which keep what belongs to the trace

    @property
    def held(self) -> list[Any]:
        """The Python objects that it keeps."""
        return [self._function, *self._args]

    def _keep(self, value: Any) -> Any:
        """Returns a value from outside as it is, and of others what stands for them in a call."""
        if isinstance(value, Variable):
            return value
        parts = nest.children(value)
        grows = growing(value) is not None
        if grows or isinstance(value, Deferred) or (parts is None and is_deferred(value)):
            self._is_fixed = False
            self._lists += [len(self.values)] * grows
            self.values.append(value)
            return _Place(len(self.values) - 1)
        if isinstance(value, OPAQUE):
            return value
        is_made = self._knows and id(self._reads.original(value)) not in self._ends
        if parts is None:
            if is_made and _has_state(value):
                self._watched.append((value, state_of(value, True, self._ends)))
            return value
        knows, self._knows = self._knows, is_made  # what is from outside holds what is from outside
        items = [*map(self._closures.of, parts[1])]
        self._knows = knows
        same = all(map(operator.is_, items, parts[1])) and not (is_made and nest.is_mutable(value))
        self._is_fixed &= same
        return value if same else _Anew(nest.rebuilt(value, items))

    def call(self, values: Sequence[Any]) -> Any:
        """Calls the function with these as :attr:`values`; raises if Python changed what nobody else would see."""
        values = [as_lists(value) if place in self._lists else value for place, value in enumerate(values)]
        fresh = [leaf for leaf in nest.flatten(values)[0] if isinstance(leaf, Tensor)]
        fresh += [values[place] for place in self._lists]

        def keep(value: Any) -> Any:
            if isinstance(value, _Anew):
                new = rebuilt(value.pattern, closures.of)
                fresh.append(new)
                return new
            return values[value.place] if isinstance(value, _Place) else value

        closures = Closures(keep, lambda function, cell: cell is not None and id(cell) not in self._cells)
        function, *args = self.held if self._is_fixed else map(closures.of, self.held)
        before = [*map(_contents, fresh)]
        self._check_watched()
        result = function(*args)
        self._check_watched()
        for value, contents in zip(fresh, before, strict=True):
            if [*map(id, contents)] != [*map(id, _contents(value))]:
                raise FailedPreconditionError(
                    f"{with_article(type(value).__name__)} that gx.pyfunc passed was changed by Python code, and the "
                    f"compiled function {self._name!r} would not see the change; return the new value from gx.pyfunc"
                )
        return result

    def _check_watched(self) -> None:
        for value, state in self._watched:
            if not equal_states(state, state_of(value, True, self._ends)):
                raise FailedPreconditionError(
                    f"{with_article(type(value).__name__)} that the compiled function {self._name!r} makes has changed "
                    "since gx.pyfunc was called with it: it is made once, when the function is traced, and Python code "
                    "of all calls uses this one; make it outside the function or in the function of gx.pyfunc, or "
                    "return what changes"
                )


def _contents(value: Any) -> list[Any]:
    """Returns the array of a tensor, and the keys and items of a container."""
    if isinstance(value, Tensor):
        return [value.raw]
    parts = nest.children(value)
    if parts is None:  # a dataclass that got other attributes
        return [*vars(value).values()]
    return [*(parts[0] if isinstance(value, dict) else ()), *parts[1]]


def _has_state(value: Any) -> bool:
    """Returns True for an object that the traced function has made, and not a library for it, if it may change."""
    kind = cast("type[Any]", type(value))
    if is_internal(value) or isinstance(value, io.IOBase):
        return False
    return isinstance(value, (*STATEFUL, Iterator)) or not is_library_module(kind.__module__)


@dataclass(frozen=True)
class _Place:
    """Stands for a value that the program passes."""

    place: int


@dataclass(frozen=True)
class _Anew:
    """Stands for a container that each call makes."""

    pattern: Any


def _known(results: Sequence[Tensor], inputs: Any, name: str, location: Location | None) -> Sequence[Tensor]:
    """Returns the results on the device that scopes around ask for, and known to the tapes, which refuse gradients."""
    if open_tapes or context.tapes:
        values = [leaf for leaf in nest.flatten(inputs)[0] if isinstance(leaf, Tensor) and leaf.type.is_inexact]
        attrs = Attrs(title=f"gx.pyfunc of {name!r}" + ("" if location is None else f" ({location.short})"))
        return [apply(HOST_RESULT, (result, *values), attrs) for result in results]
    return [apply(OPS["identity"], (result,)) for result in results] if context.device else results


def _with_values(value: Any) -> Any:
    """Returns the value with tensors in place of variables; what holds none stays the same object."""
    if isinstance(value, Variable):
        return value.value()
    parts = nest.children(value)
    if parts is None or all(_with_values(part) is part for part in parts[1]):
        return value
    return rebuilt(value, _with_values)


def _name(function: Any) -> str:
    name = getattr(function, "__name__", type(function).__name__)
    return "pyfunc" if name == "<lambda>" else f"pyfunc.{name}"
