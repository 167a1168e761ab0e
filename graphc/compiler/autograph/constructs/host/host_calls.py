"""Python that runs at run time: ``print`` and ``pyfunc``."""

from __future__ import annotations

import builtins
import io
import sys
import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import jax.numpy as jnp
import numpy as np

from graphc.compiler.autograph.constructs.exceptions.failure import failures
from graphc.compiler.autograph.constructs.exceptions.places import user_calls
from graphc.compiler.autograph.constructs.exceptions.try_scope import check_handlers
from graphc.compiler.autograph.constructs.expressions.text import text_of
from graphc.compiler.autograph.constructs.host.results import Results, is_type
from graphc.compiler.autograph.values.deferred import Frozen, is_deferred, rebuilt
from graphc.compiler.autograph.values.kinds import check_shown
from graphc.compiler.base import Location, at, nest, user_location, with_article
from graphc.compiler.base.errors import InvalidArgumentError, InvalidTypeError, UnimplementedError
from graphc.compiler.core import SymbolicTensor, Tensor, Variable, apply, open_tapes, with_short_errors
from graphc.compiler.ir import OPS, Attrs, TensorType
from graphc.compiler.ops import HOST_RESULT, HostFunction, emit_host_call
from graphc.compiler.tracing import context, current_trace

__all__ = ["call_host", "print_late", "pyfunc"]


_printing = threading.RLock()
"""Held while a program prints, so that the lines of several, or of replicas, do not run into each other."""


def call_host(
    function: Callable[[Any], Sequence[np.ndarray[Any, Any]]], kind: str, given: Any,
    results: Sequence[TensorType] = (), *, on_device: bool = False, ordered: bool = True,
) -> list[SymbolicTensor]:  # fmt: skip
    """Calls a function at run time.

    Args:
      function: takes what is given, with values in its tensors; returns the results.
      kind: what it is, for the graph's text.
      given: anything.
      results: the types of the results.
      on_device: whether the tensors that it gets hold arrays of JAX's; NumPy's do to look at.
      ordered: whether it comes after the calls before it.
    """
    trace = context.trace
    assert trace is not None
    frozen = Frozen(given)

    def run(*arrays: np.ndarray[Any, Any]) -> Sequence[np.ndarray[Any, Any]]:
        return function(frozen.evaluate([jnp.asarray(array) for array in arrays] if on_device else arrays))

    host = HostFunction(run, kind, results, user_calls())
    found = failures(trace)
    found.hosts.append(host)
    found.held.extend(frozen.held)
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
    """Prints into what the function may read again while it is traced.

    Raises:
      UnimplementedError: what is printed is known at run time only.
    """
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


def _print_late(stream: str | None, file: Any, given: tuple[list[str], dict[str, Any]]) -> tuple[()]:
    texts, options = given
    with _printing:
        print(*texts, file=getattr(sys, stream) if stream else file, **options)
    return ()


def pyfunc(function: Callable[..., Any], result_types: Any, *args: Any, ordered: bool = True) -> Any:
    """Calls a Python function at run time, also from compiled code (TensorFlow's ``py_function``).

    In eager code this is the call itself, with a look at the results. In a compiled function the Python code runs each
    time the program comes to this point, loops and branches included, in the order of the program with other calls of
    ``pyfunc`` and ``print``; the compiled call returns after it. The function is not converted. What it
    raises, the compiled call raises: the very exception. It is not called any more once the call has failed.

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
      UnimplementedError: while tracing: the call stands in a ``try`` statement that might catch its exception. While
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
        raise at(InvalidTypeError(f"gx.pyfunc: expected a function, got {function!r:.60}"), user_location())
    if not isinstance(ordered, bool):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise at(InvalidTypeError(f"gx.pyfunc: ordered is True or False, got {ordered!r:.60}"), user_location())
    # A tensor has a shape and a dtype, so that it would pass for a type.
    if isinstance(result_types, Tensor | Variable) and any(map(is_type, args)):
        error = InvalidTypeError(
            f"gx.pyfunc: the types of the results stand before the arguments, gx.pyfunc(function, types, *args), but "
            f"{result_types.type} is a tensor there, and among the arguments is a type"
        )
        raise at(error, user_location())
    declared = Results(result_types)
    given = _with_values(args)
    # A functools.partial has no name.
    name, location = str(getattr(function, "__name__", type(function).__name__)), user_location()

    returned: list[Any] = []

    def run(values: tuple[Any, ...]) -> list[np.ndarray[Any, Any]]:
        result = function(*values)
        if open_tapes:
            returned.append(result)
        try:
            return declared.check(result)
        except InvalidArgumentError as error:
            error.args = (f"gx.pyfunc of {name!r}: {error.args[0]}",)
            # At run time no frame of the user's is on the stack, so the line was noted before.
            raise at(error, location) from None

    if context.trace is None:
        run = with_short_errors(run)
        results = [Tensor(jnp.asarray(array)) for array in run(given)]
        # A tensor that it returns may depend on one that it took from outside.
        return nest.unflatten(declared.structure, _known(results, (given, returned), name, location))
    for leaf in nest.flatten(given)[0]:
        check_shown(leaf, "a call of gx.pyfunc", as_text=False)
    check_handlers(None)  # no class is declared for what it may raise, so any handler around might catch it
    failures(context.trace).held.append(function)
    results = call_host(run, _name(function), given, declared.types, on_device=True, ordered=ordered)
    return nest.unflatten(declared.structure, _known(results, given, name, location))


def _known(results: Sequence[Tensor], given: Any, name: str, location: Location | None) -> Sequence[Tensor]:
    """Returns the results on the device that scopes around ask for, and known to the tapes, which refuse gradients."""
    if open_tapes or context.tapes:
        values = [leaf for leaf in nest.flatten(given)[0] if isinstance(leaf, Tensor) and leaf.type.is_inexact]
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
