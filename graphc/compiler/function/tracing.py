"""Tracing: the arguments become symbolic, the converted code runs once, and the passes transform the graph."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from weakref import WeakKeyDictionary, WeakSet

from graphc.compiler.base import Location, collections_so_far, is_graphc_file
from graphc.compiler.base.errors import GraphcError
from graphc.compiler.core import context, trace_scope, type_of
from graphc.compiler.function import front_end
from graphc.compiler.function.arguments import Arguments, Binder
from graphc.compiler.function.options import TraceOptions
from graphc.compiler.function.results import Result, WriteBack, array_leaves
from graphc.compiler.function.side_effects import (
    RepeatabilityCheck,
    changes,
    check_repeatable,
    check_stores,
    find_side_effects,
    is_repeatable,
    take_back_tensors,
)
from graphc.compiler.function.traced import TracedFunction, TraceNotes
from graphc.compiler.ir import CONSTANT, Graph, TensorType, passes
from graphc.compiler.ops import CALL_STATUS
from graphc.compiler.tracing import CreationInTrace, Lifting, Trace, Write, has_parts


def finish_reads(trace: Trace, writes: Sequence[Write]) -> None:
    """Fixes the guards of a trace at its end."""
    reads = trace.reads
    read = {id(variable) for variable, _ in reads.objects()}
    if any(id(variable) not in read for variable in trace.variables.values()):
        # Read by code that reports nothing, perhaps through an argument.
        for value, source in reads.objects():
            if source.of_call:
                reads.whole(value)
    for tensor, array in trace.observed.values():
        reads.observed(tensor, array)
    if trace.check is not None:
        for value, source in reads.objects():
            if source.of_call and trace.check.refers_to([value]):
                reads.identify(value)
    if any(isinstance(value, WeakKeyDictionary | WeakSet) for value, _ in reads.objects()):
        for value, source in reads.objects():  # which any of them may be asked for
            if source.of_call and has_parts(value):
                reads.identify(value)
    # Changes by the function itself, which happen when it is traced, are reported; only arguments are tracked.
    changed = [(key, write) for write in changes(writes) if (key := write.cell.read_as(reads)) is not None]
    reads.forget([key for key, _ in changed])
    for _, write in changed:
        reads.unchanged(write.cell.owner, write.before)


def trace_function(
    function: Callable[..., Any], binder: Binder, arguments: Arguments, options: TraceOptions, *,
    may_create: bool, lifting: Lifting | None = None, types: Sequence[TensorType] | None = None,
) -> TracedFunction:  # fmt: skip
    """Traces a function for the types of these arguments."""
    # may_create: whether making a Variable that is not lifted raises CreationInTrace; otherwise it is an error.
    # lifting: creates state for real, in a trace for this call only; undone if the trace fails.
    # types: the types of the tensors inside the function, if they differ from the arguments' (parts of a batch).
    trace = Trace(options.name, may_create=may_create, unroll=options.unroll)
    trace.lifting = lifting
    try:
        traced = _trace_into(trace, function, binder, arguments, options, types)
        if traced.ends_in_python and lifting is not None and lifting.is_used and not trace.side_effects:
            raise CreationInTrace  # it may not be the user's exception
        return traced
    except CreationInTrace as creation:
        creation.__traceback__ = None  # its frames hold objects that the function made
        creation.guards = list(trace.reads.guards.values())
        _take_back(trace)
        check_repeatable(trace)
        raise
    except BaseException as error:
        if lifting is None or not lifting.is_used:
            raise
        if not isinstance(error, Exception) or trace.side_effects or not is_repeatable(trace):
            lifting.assignments.undo()
            raise
        _take_back(trace)
    creation = CreationInTrace()
    creation.guards = list(trace.reads.guards.values())
    raise creation


def _take_back(trace: Trace) -> None:
    """Undoes a trace's changes to Python objects, so that the call can run eagerly from its start."""
    if trace.lifting is not None:
        trace.lifting.undo()
    trace.journal.undo()


def _trace_into(
    trace: Trace, function: Callable[..., Any], binder: Binder, arguments: Arguments, options: TraceOptions,
    types: Sequence[TensorType] | None,
) -> TracedFunction:  # fmt: skip
    start, collections = time.perf_counter(), collections_so_far()
    trace.max_iterations, trace.forbids_side_effects = options.max_iterations, options.side_effects == "error"
    trace.timeout = options.timeout
    trace.reads.function(function)
    for name, value in arguments.values.items():
        trace.reads.argument(name, value)
    names, leaves = zip(*array_leaves(arguments), strict=True) if arguments.arrays else ((), ())
    types = [type_of(array) for array in arguments.arrays] if types is None else types
    symbolic = [trace.argument(type, name) for type, name in zip(types, names, strict=True)]
    before = [tensor.raw for tensor in symbolic]
    for index, tensor in enumerate(symbolic):
        trace.memory.argument(index, tensor, leaves[index])
    args, kwargs = binder.rebuild(arguments, symbolic, trace.reads.stands_for)
    watch = RepeatabilityCheck(options.name, args, kwargs)
    with _telling_refusals(trace), trace_scope(trace), options.pin:
        device = context.device.text
        try:
            result = converted(function, options, trace)(*args, **kwargs)
        except BaseException as error:
            if not front_end.ends_function(error):
                raise
            result = None
        returned = Result.of(trace, result, symbolic, definition(function))
        del result
        write_back = WriteBack.of(trace, options.name, arguments, symbolic, before)
        if write_back is not None:
            trace.after_call["write back"] = write_back
        checks = [] if trace.check is None else [trace.check]
        after_call = [(after, [*after.tensors(trace)]) for after in (*checks, *trace.after_call.values())]
    writes = check_stores(trace, collections)
    watch.check(writes)
    side_effects = find_side_effects(trace, writes)
    finish_reads(trace, writes)
    unoptimized = trace.finish([*returned.outputs, *(tensor for _, tensors in after_call for tensor in tensors)])
    graph = passes.run_passes(unoptimized, passes.DEFAULT)
    if checks and _succeeds(trace, graph, first := len(returned.outputs)):
        (_, dropped), *after_call = after_call
        trace.check = None
        unoptimized = _without(unoptimized, first, len(dropped))
        graph = passes.DCE()(_without(graph, first, len(dropped)))
    if options.placement is not None:
        graph = options.placement(graph)
    counts = [(after, len(tensors)) for after, tensors in after_call]
    notes = TraceNotes(unoptimized, trace.loops, side_effects, trace.unconverted, time.perf_counter() - start)
    traced = TracedFunction(graph, trace, counts, returned, arguments, notes, device)
    traced.executable.timeout = options.timeout
    if writes:
        traced.forget_changed(arguments)
    traced.check(arguments)
    trace.reads.release()
    return traced


def definition(function: Callable[..., Any]) -> Location | None:
    """Returns the line where a function or method is defined; None for other callables."""
    code = getattr(getattr(function, "__func__", function), "__code__", None)
    return None if code is None else Location(code.co_filename, code.co_firstlineno, code.co_name)


def _succeeds(trace: Trace, graph: Graph, index: int) -> bool:
    """Returns True if the passes found that no call can fail: the status, an output, is always 0."""
    assert trace.check is not None
    status = graph.outputs[index].node
    if status is None or status.op is not CALL_STATUS or trace.check.is_final or trace.check.host_calls:
        return False
    source = status.inputs[0].node
    return source is not None and source.op is CONSTANT and not source.attrs["value"].array


def _without(graph: Graph, first: int, count: int) -> Graph:
    """Returns a graph without ``count`` of its outputs from ``first`` on."""
    return Graph(graph.inputs, graph.nodes, (*graph.outputs[:first], *graph.outputs[first + count :]), graph.name)


@contextmanager
def _telling_refusals(trace: Trace) -> Generator[None]:
    """Raises the first refusal even if the user's code caught it, or failed because of it."""
    try:
        yield
    except CreationInTrace:
        raise
    except BaseException as error:
        take_back_tensors(trace)
        swallowed = trace.refusals and isinstance(error, Exception) and trace.refusals[0] not in _leading_to(error)
        if not swallowed:
            raise
    else:
        if not trace.refusals:
            return
        take_back_tensors(trace)
    raise trace.refusals[0]


def _leading_to(error: BaseException) -> Iterator[BaseException]:
    """Yields a refusal and its causes, but of any other exception only itself, which is not what was refused."""
    last: BaseException | None = error
    while last is not None:
        yield last
        last = last.__cause__ if isinstance(last, GraphcError) else None


def converted(function: Callable[..., Any], options: TraceOptions, trace: Trace | None = None) -> Callable[..., Any]:
    """Returns the function with its control flow converted, if the options allow it and its source is available."""
    if not options.autograph:
        front_end.run_as_is(function)
        if trace is not None:
            trace.unconverted[_qualname(function)] = "autograph=False; use gx.where or gx.cond"
        return function
    convert_call = front_end.convert_call  # imports the front end, which wrappers convert with
    if _is_own_wrapper(function):
        if trace is not None:
            wrapper: Any = getattr(function, "__func__", function)
            trace.reads.record_wrapper(wrapper, wrapper.__wrapped__, wrapper.__name__)
        return function
    try:
        result = convert_call(function)
    except front_end.NoSourceError as error:
        front_end.run_as_is(function)
        result, reason = function, str(error)
        if trace is not None:
            trace.unconverted[_qualname(function)] = reason
    else:
        reason = "" if trace is None else trace.unconverted.get(_qualname(function), "")
    if reason and front_end.has_control_flow(function):
        raise front_end.NoSourceError(reason)
    return result


def _is_own_wrapper(function: Any) -> bool:
    """Returns True for what graphc made of a user's function (``gx.grad(f)``): it converts that function by itself."""
    code = getattr(function, "__code__", None)
    return code is not None and hasattr(function, "__wrapped__") and is_graphc_file(code.co_filename)


def _qualname(function: Any) -> str:
    return str(getattr(function, "__qualname__", type(function).__qualname__))
