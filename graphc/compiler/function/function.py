"""``@gx.function``: the entry point of the compiler."""

from __future__ import annotations

import copy
import functools
import inspect
import operator
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, ClassVar, Concatenate, Generic, ParamSpec, Self, TypeVar, Unpack, overload

import numpy as np

from graphc.compiler.base import ABOVE, collection_paused, deep_recursion, interruption, nest, only_interrupted
from graphc.compiler.base.errors import InvalidArgumentError, VariableCreationError
from graphc.compiler.core import (
    REASONS,
    DeviceChoice,
    Recorder,
    creation_scope,
    device,
    note_results,
    open_tapes,
    tapes_following,
    with_short_errors,
)
from graphc.compiler.devices import Device
from graphc.compiler.function import front_end
from graphc.compiler.function.arguments import Arguments, Binder
from graphc.compiler.function.concrete import BoundFunction, ConcreteEntries, ConcreteFunction, P, R, bound
from graphc.compiler.function.guards import MISS, Signals, current_signals
from graphc.compiler.function.options import (
    EagerMode,
    FunctionOptions,
    Report,
    TraceOptions,
    check_options,
    reduced,
    unknown_option,
)
from graphc.compiler.function.running import shorten
from graphc.compiler.function.side_effects import SideEffects
from graphc.compiler.function.trace_cache import FirstCalls, RetraceLog, TraceCache, TraceReport
from graphc.compiler.function.traced import TracedFunction
from graphc.compiler.function.tracing import converted, trace_function
from graphc.compiler.ir import DeviceSpec, Graph
from graphc.compiler.tracing import CreationInTrace, Lifting, ReadGuard, context

_is_idle: Callable[[Recorder], bool] = operator.attrgetter("is_idle")


Q = ParamSpec("Q")
S = TypeVar("S")


def _telling(text: str, *, compiles: bool = False) -> AbstractContextManager[None]:
    """Shows a progress line on the terminal, if there is one, for slow work."""
    stream: Any = sys.stdout
    if stream is None or stream.closed or not stream.isatty():
        return nullcontext()
    from graphc.compiler.core import progress

    return progress.telling(text, compiles=compiles)


class Function(Generic[P, R]):
    """A function that is compiled for the types of its arguments; see :func:`function`."""

    # As an argument or attribute it is compared by identity: its contents are caches.
    __graphc_opaque__ = True

    _plain: ClassVar[type[Function[..., Any]] | None] = None
    """The public class of a function whose own class was generated for it alone."""

    __slots__ = ("__dict__", "__weakref__", "_entry", "signals")  # a slot is faster to read than one attribute of many

    @with_short_errors
    def __init__(self, python_function: Callable[..., Any], **options: Unpack[FunctionOptions]) -> None:
        _check_function(python_function)
        check_options(options)
        self._python_function = python_function
        self._given = options
        label = options.get("name") or getattr(python_function, "__name__", type(python_function).__name__)
        pin = options.get("device")
        self._options = TraceOptions(
            "lambda" if label == "<lambda>" else label,
            autograph=options.get("autograph", True),
            unroll=options.get("unroll"),
            pin=nullcontext() if pin is None else device(pin),
            max_iterations=options.get("max_iterations"),
            side_effects=options.get("side_effects", "warn"),
            timeout=options.get("timeout"),
            placement=options.get("placement"),
        )
        self._side_effects = SideEffects(self._options.name)
        self._binder = Binder(python_function, options.get("input_signature"))
        self._entry: Callable[..., Any] = _miss  # the fast path of a call
        self.signals = current_signals()  # checked before the fast path
        self._cache = TraceCache(self._binder, options.get("max_traces"), self._install)
        self._lock = self._cache.lock
        self._log = RetraceLog(self._options.name, options.get("on_retrace", "warn"))
        self._first_calls = FirstCalls()
        functools.update_wrapper(self, python_function, updated=())

    @property
    def python_function(self) -> Callable[..., Any]:
        """The Python function, uncompiled; it cannot be replaced."""
        return self._python_function

    @python_function.setter
    def python_function(self, other: Any) -> None:
        message = (
            f"{self.name}.python_function cannot be replaced; make another compiled function, as in "
            f"`{self.name} = gx.function(other)`"
        )
        raise InvalidArgumentError(message).here()

    @property
    def name(self) -> str:
        """The function's name."""
        return self._options.name

    def __call__(self, /, *args: P.args, **kwargs: P.kwargs) -> R:
        """Runs the compiled program for these arguments, tracing it first if there is none."""
        signals = self.signals
        if signals.busy and not context.eager:
            ways = self._in_scopes(signals)
        elif signals.slow_path_reasons:
            ways = self._interrupted(signals)
        else:
            ways = (self._entry,)
        for way in ways:
            result = way(None, *args, **kwargs) if kwargs else way(None, *args)
            if result is not MISS:
                return result
        if context.trace is not None:
            return self._inline(args, kwargs)
        try:
            return self._call(args, kwargs)
        except Exception as error:
            shorten(error)
            raise

    general = __call__
    """Handles a call that no entry serves."""

    def _in_scopes(self, signals: Signals) -> Sequence[Callable[..., Any]]:
        """Returns the entries for the open device scope."""
        if signals.slow_path_reasons or not REASONS.isdisjoint(signals.busy):
            return ()
        if context.pinned:
            scopes = context.device.layers
            for layers, entries in self._cache.pinned:  # hashing them takes longer
                if layers == scopes:
                    return entries
        return ()

    def _interrupted(self, signals: Signals) -> Sequence[Callable[..., Any]]:
        """Returns the entries for calls under a deadline or a token, in this thread or another."""
        if not only_interrupted(signals.slow_path_reasons):
            return ()
        return (self._entry,) if interruption() is None else self._cache.bounded

    def _call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Makes a call on the slow path."""
        if EagerMode.eager or context.creating is not None:
            return self._run_eagerly(args, kwargs)
        arguments = self._binder.bind(args, kwargs)
        traced = self._cache.find(arguments)
        return self._first_call(args, kwargs) if traced is None else self._run(traced, arguments)

    def _first_call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Traces the function for a call and runs it; JAX traces and compiles the program at its end."""
        with deep_recursion():
            with self._lock:
                arguments = self._binder.bind(args, kwargs)  # again: another thread may have made self.w meanwhile
                lifting, before = Lifting(front_end.is_converted), arguments.described()
                try:
                    traced = self._trace(arguments, lifting)
                except CreationInTrace as creation:
                    return self._create(args, kwargs, is_certain=lifting.is_certain, guards=creation.guards)
                if lifting.is_used:
                    with lifting.finishing(), _telling(f"compiling {self.name}", compiles=True):
                        result = traced.call_recorded(arguments) if open_tapes else traced(arguments)
                    self._first_calls.keep_program(traced)
                    self._log.note(traced, (), created=lifting.created_text() or "state")
                    self._first_calls.note_creation(before, self._binder.bind(args, kwargs), traced.guards)
                    return result
            with _telling(f"compiling {self.name}", compiles=True):
                return self._run(traced, arguments)

    def _run(self, traced: TracedFunction, arguments: Arguments) -> Any:
        if open_tapes and tapes_following(lambda: traced.tensors(arguments)):
            return traced.call_recorded(arguments)
        if context.tapes and (traced.executable.variables or not all(map(_is_idle, context.tapes))):
            return traced.call_recorded(arguments)
        result = traced(arguments)
        if open_tapes:
            note_results([*traced.bound_variables(arguments), *traced.tensors(arguments)], nest.flatten(result)[0])
        self._cache.add_entry(traced, arguments)
        return result

    def _install(self, entry: Callable[..., Any] | None, signals: Signals) -> None:
        """Makes an entry the first to handle calls; None removes it."""
        method = entry or _miss
        if method is not self._entry:
            # Python looks up __call__ on the class, so a function with an entry has a class of its own.
            plain: Any = self._plain or type(self)
            names = {"__call__": entry, "__module__": plain.__module__, "__qualname__": plain.__qualname__}
            own = {"__slots__": (), "__doc__": plain.__doc__, "_plain": plain, **names}
            self.__class__ = plain if entry is None else type(plain.__name__, (plain,), own)
            self._entry = method
        self.signals = signals

    def add_concrete(
        self, known: ConcreteEntries, args: tuple[Any, ...], kwargs: dict[str, Any], fixed: Mapping[str, Any]
    ) -> None:
        """As :meth:`TraceCache.add_concrete`."""
        self._cache.add_concrete(known, args, kwargs, fixed)

    def _inline(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Runs the call inside another trace: its nodes become the caller's."""
        trace = context.trace
        assert trace is not None  # the caller checks it
        trace.root.reads.record_wrapper(self, self.python_function, self.name)
        function = converted(self.python_function, self._options)
        args, kwargs = self._binder.convert(args, kwargs)
        with self._options.inlined(trace):
            return trace.inlined(lambda: function(*args, **kwargs))

    def _run_eagerly(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        args, kwargs = self._binder.convert(args, kwargs)
        with self._options.pin:
            return self.python_function(*args, **kwargs)

    def _create(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], *, keep: bool = True, is_certain: bool = True,
        guards: Sequence[ReadGuard] = (),
    ) -> Any:  # fmt: skip
        """Runs the first call of a function whose Variables cannot be lifted, as plain Python."""
        before, start = self._binder.bind(args, kwargs).described(), time.perf_counter()
        with creation_scope(keep=keep) as assignments:
            result = self._run_eagerly(args, kwargs)
        if keep and (created := assignments.made()):
            self._log.note_in_python([variable.name for variable in created], time.perf_counter() - start)
        if is_certain or assignments.made():
            self._first_calls.note_creation(before, self._binder.bind(args, kwargs), guards)
        return result

    def _trace(self, arguments: Arguments, lifting: Lifting | None = None) -> TracedFunction:
        with self._lock:
            cached = self._cache.find(arguments)
            if cached is not None:
                return cached
            may_create = self._first_calls.may_create(arguments)
            with collection_paused(), _telling(f"tracing {self.name}"):
                traced = trace_function(
                    self.python_function, self._binder, arguments, self._options, may_create=may_create,
                    lifting=lifting if may_create else None,
                )  # fmt: skip
            first = lifting is not None and lifting.is_used
            if first or self._first_calls.programs:
                self._first_calls.share_program(traced, self._cache.traces, first=first)
            if first:
                return traced
            if self._options.side_effects == "warn":
                self._side_effects.tell(traced.notes.side_effects)
                traced.tell_changed = self._side_effects.tell_changed
            if traced.ends_in_python:
                return traced
            self._first_calls.tell_of_loops(traced)
            self._log.note(traced, self._binder.open_arguments)
            self._cache.add(traced)
            return traced

    def __set_name__(self, owner: type, name: str) -> None:
        # Defined in the body of a class: a method, even if it is called as Model.step(model, x).
        self._binder.is_method = True

    @overload
    def __get__(self, instance: None, owner: type | None = None) -> Self: ...
    @overload
    def __get__(
        self: Function[Concatenate[Any, Q], S], instance: object, owner: type | None = None
    ) -> BoundFunction[Q, S]: ...
    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return self
        self._binder.is_method = True
        return bound(self, instance)

    def bind(self, *args: Any, **kwargs: Any) -> Arguments:
        """Returns the bound arguments of a call, with the tensors separated; for tools."""
        return self._binder.bind(args, kwargs)

    @property
    def input_signature(self) -> tuple[Any, ...] | None:
        """The spec of each argument; None for no check."""
        return self._binder.input_signature

    def bound_arguments(
        self, args: Sequence[Any], kwargs: Mapping[str, Any], *, partial: bool = False
    ) -> inspect.BoundArguments:
        """Returns the arguments of a call by name, for tools; ``partial`` allows missing ones."""
        return self._binder.bound(args, kwargs, partial=partial)

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> ConcreteFunction:
        """Returns the function for arguments of given types, with known argument and result types.

        Args:
          *args: a :class:`TensorSpec` or an example for each tensor, and all other arguments; nothing if the function
            has an ``input_signature``.
          **kwargs: the keyword arguments, likewise.

        Raises:
          InvalidArgumentError: the arguments do not match the function's signature.
          VariableCreationError: the function makes its Variables in its first call, which has not happened yet.
        """
        return ConcreteFunction(self, args, kwargs)

    def experimental_get_tracing_count(self) -> int:
        """Returns the number of times the function was traced (TensorFlow's name)."""
        return self._log.num_traces

    def pinned(self) -> AbstractContextManager[None]:
        """Returns the device scope that ``device=`` opens around the body; for tools that run the body themselves."""
        return self._options.pin

    def make_variables(self, *args: Any, **kwargs: Any) -> None:
        """Makes the Variables that the first call would make, with initial values; other Variables keep their values.

        For tools that need a trace but must not change anything.
        """
        self._create(args, kwargs, keep=False)

    def trace(self, *args: Any, **kwargs: Any) -> TracedFunction:
        """Returns the trace for these arguments, making it if there is none; runs nothing.

        Raises:
          VariableCreationError: the function makes its Variables in its first call, which has not happened yet.
        """
        arguments = self._binder.bind(args, kwargs)
        cached = self._cache.find(arguments)
        if cached is not None:
            return cached
        try:
            with deep_recursion():
                return self._trace(arguments)
        except CreationInTrace:
            raise VariableCreationError(
                f"{self.name} makes Variables in its first call; call it once before requesting its graph"
            ).here() from None
        except Exception as error:
            shorten(error)
            raise

    def graph(self, *args: Any, **kwargs: Any) -> Graph:
        """Returns the graph for these arguments; ``print`` it to read it."""
        return self.trace(*args, **kwargs).graph

    def lower(self, *args: Any, **kwargs: Any) -> Any:
        """Returns JAX's ``jax.stages.Lowered`` for these arguments, with ``as_text()`` and ``compile()``."""
        with deep_recursion():
            return self.trace(*args, **kwargs).lower(self._binder.bind(args, kwargs))

    @property
    def compared(self) -> Function:
        """Returns the function that :func:`graphc.compare` runs; a single-device one for several devices."""
        return self

    def compare(self, *args: Any, **kwargs: Any) -> Any:
        """Compares eager and compiled results and times; see :func:`graphc.compare`."""
        return ABOVE["compare"](self, *args, **kwargs)

    def explain(self, *args: Any, **kwargs: Any) -> Any:
        """Explains the program compiled for these arguments; see :func:`graphc.explain`."""
        return ABOVE["explain"](self, *args, **kwargs)

    def to_source(self) -> str:
        """Returns the rewritten source that graphc traces, as readable text; see :func:`graphc.to_source`."""
        return front_end.to_source(self.python_function)

    def clone(self, **options: Unpack[FunctionOptions]) -> Function:
        """Returns a copy of the function without traces, with some options replaced."""
        return self.made(self.python_function, {**self._given, **options}, is_method=self._binder.is_method)

    @classmethod
    def made(cls, python_function: Callable[..., Any], options: FunctionOptions, *, is_method: bool) -> Function:
        """Returns a function rebuilt from the parts of another one."""
        rebuilt = (cls._plain or cls)(python_function, **options)  # not the class that holds the entry of this one
        rebuilt._binder.is_method = is_method
        return rebuilt

    def __reduce_ex__(self, protocol: Any) -> Any:
        return reduced(self, self._given, self._binder.is_method)

    def __deepcopy__(self, memo: dict[int, Any]) -> Function:
        inner = copy.deepcopy(self.python_function, memo)  # the function itself, except for a method of a copied object
        if inner is self.python_function:
            return self
        return self.made(inner, self._given, is_method=self._binder.is_method)

    def trace_report(self) -> list[TraceReport]:
        """Returns a report for each time the function was traced, with the reason; the last thousand."""
        return list(self._log.reports)

    def clear_cache(self) -> None:
        """Drops all traces and their programs."""
        with self._lock:
            self._cache.clear()
            self._first_calls.programs.clear()
            self._log.clear()

    @property
    def num_traces(self) -> int:
        """Returns the number of traces in the cache."""
        return len(self._cache.traces)

    def __repr__(self) -> str:
        count = len(self._cache.traces)
        return f"<compiled function {self.name}, {count} trace{'s' if count != 1 else ''}>"


def _check_function(value: Any) -> None:
    """Raises InvalidArgumentError if a value is not a Python function that can be compiled."""
    if isinstance(value, staticmethod | classmethod):
        name = "staticmethod" if isinstance(value, staticmethod) else "classmethod"
        text = f"gx.function is applied on top of @{name}; put @{name} first, and @gx.function below it"
        raise InvalidArgumentError(text).here()
    if isinstance(value, np.ufunc):
        name = value.__name__
        text = f"gx.function: {name} is a ufunc, not a Python function; wrap it, as in `lambda x: np.{name}(x)`"
        raise InvalidArgumentError(text).here()
    if not callable(value):
        raise InvalidArgumentError(f"gx.function: expected a function, got {value!r:.60}").here()


def _miss(*args: Any, **kwargs: Any) -> Any:
    return MISS


@overload
def function(fn: Callable[Q, S], **options: Unpack[FunctionOptions]) -> Function[Q, S]: ...
@overload
def function(fn: None = None, **options: Unpack[FunctionOptions]) -> Callable[[Callable[Q, S]], Function[Q, S]]: ...
def function(
    fn: Callable[..., Any] | None = None,
    *,
    input_signature: Sequence[Any] | None = None,
    autograph: bool = True,
    unroll: bool | int | None = None,
    max_iterations: int | None = None,
    side_effects: Report = "warn",
    device: str | DeviceSpec | Device | DeviceChoice | None = None,
    on_retrace: Report = "warn",
    max_traces: int | None = None,
    timeout: float | None = None,
    placement: Callable[[Graph], Graph] | None = None,
    name: str | None = None,
    **unknown: Any,
) -> Any:
    """Compiles a function: graphc traces it into a graph, loops and branches included, and XLA compiles the graph.

    Args:
      fn: the function; omitted to make a decorator with options.
      input_signature: nested :class:`TensorSpec` that the arguments must fit, one for each tensor argument, without a
        method's instance; Python values may follow. Python numbers become tensors where the signature has a spec.
      autograph: whether Python control flow on tensors is converted.
      unroll: whether to unroll loops over a ``range``, or how many iterations to merge into one; None rolls each loop
        whose iterations do the same work.
      max_iterations: the maximum number of iterations of data-dependent loops that set no bound themselves; storage for
        each iteration (lists, values for gradients) is allocated for this many. None for no bound.
      side_effects: the treatment of Python side effects, which happen only when the function is traced (a store into an
        object that outlives the call, an assigned global, a file, the clock, another library's random numbers):
        ``"warn"`` warns of each once per function, with its line; ``"error"`` refuses it; ``"ignore"`` accepts it.
      device: the device to run on, given as to :func:`graphc.device`, which is applied to the body. None for the device
        of the scopes around the call, or else of the arguments.
      on_retrace: the reaction to the third retrace: ``"warn"``, ``"error"`` or ``"ignore"``. The warning repeats
        whenever the number of retraces has doubled.
      max_traces: the maximum number of cached traces; None for ``gx.config.max_traces``.
      timeout: the time limit of a run in seconds, without tracing and compiling. The call waits for its results; at the
        limit it raises, Variables keep their values, the program's further results are dropped, and Python code that it
        would call does not start. Inside another compiled function, it is refused unless that one's limit is as
        short. None for no limit.
      placement: the devices of ops that are not pinned, as proposed by :func:`graphc.placement.auto`.
      name: the name of the graph, also used in messages; None for the function's name.
      **unknown: refused with a message that lists the options.

    Returns:
      A :class:`Function`, to be called as ``fn`` is, or a decorator when ``fn`` is None.

    Raises:
      InvalidArgumentError: ``fn`` is not a function, or an option does not exist.
      DeadlineExceededError: when called: the run did not finish within ``timeout``, or by a deadline in force.
      GraphcError: when called: something cannot be compiled with Python's meaning; the message names the line.

    Example:
      >>> import graphc as gx
      >>> @gx.function
      ... def collatz(n):
      ...     steps = 0
      ...     while n != 1:
      ...         if n % 2 == 0:
      ...             n = n // 2
      ...         else:
      ...             n = 3 * n + 1
      ...         steps += 1
      ...     return steps
      >>> collatz(gx.asarray(27)).item()
      111
    """
    if unknown:
        raise unknown_option(next(iter(unknown)))
    make = functools.partial(
        Function, input_signature=input_signature, autograph=autograph, unroll=unroll, max_iterations=max_iterations,
        side_effects=side_effects, device=device, on_retrace=on_retrace, max_traces=max_traces, timeout=timeout,
        placement=placement, name=name,
    )  # fmt: skip
    return make if fn is None else make(fn)
