"""``@gx.function``: the compiler's front door."""

from __future__ import annotations

import copy
import functools
import inspect
import operator
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, ClassVar, Concatenate, Generic, ParamSpec, Self, TypeVar, Unpack, overload

import numpy as np

from graphc.base import (
    Registry,
    at,
    collection_paused,
    deep_recursion,
    interruption,
    only_interrupted,
    user_location,
)
from graphc.base.errors import InvalidArgumentError, VariableCreationError
from graphc.core import REASONS, DeviceChoice, Recorder, creation_scope, device, with_short_errors
from graphc.devices import Device
from graphc.function import front_end
from graphc.function.arguments import Arguments, Binder
from graphc.function.binding import Signals, signals
from graphc.function.bound_method import BoundFunction, bound
from graphc.function.concrete import ConcreteEntries, ConcreteFunction
from graphc.function.first_calls import FirstCalls
from graphc.function.generics import P, R
from graphc.function.guards import MISS
from graphc.function.mode import Mode
from graphc.function.options import FunctionOptions, Report, TraceOptions, check_options, unknown_option
from graphc.function.pickling import reduced
from graphc.function.retrace import RetraceLog, TraceReport
from graphc.function.running import shorten
from graphc.function.side_effects import SideEffects
from graphc.function.trace_cache import TraceCache
from graphc.function.traced import TracedFunction
from graphc.function.tracing import converted, trace_function
from graphc.ir import DeviceSpec, Graph
from graphc.tracing import CreationInTrace, Lifting, context

__all__ = ["TOOLS", "Function", "function"]

TOOLS: Registry[Callable[..., Any]] = Registry("tool")
"""What higher layers add to a function's methods: ``compare``, ``explain``."""

_is_idle: Callable[[Recorder], bool] = operator.attrgetter("is_idle")


Q = ParamSpec("Q")
S = TypeVar("S")


def _telling(text: str, *, compiles: bool = False) -> AbstractContextManager[None]:
    """Returns a line on the terminal, if there is one, for what takes long."""
    stream: Any = sys.stdout
    if stream is None or stream.closed or not stream.isatty():
        return nullcontext()
    from graphc.core import progress

    return progress.telling(text, compiles=compiles)


class Function(Generic[P, R]):
    """A function that is compiled for the types of its arguments; see :func:`function`."""

    # As an argument or attribute it stands for itself: what it holds are caches.
    __graphc_opaque__ = True

    _plain: ClassVar[type[Function[..., Any]] | None] = None
    """The class of a function whose own class was made for it alone."""

    __slots__ = (
        "__dict__",
        "__weakref__",
        "_entry",
        "asked",
    )  # a call reads a slot faster than one attribute of many

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
            pin=None if pin is None else device(pin),
            max_iterations=options.get("max_iterations"),
            side_effects=options.get("side_effects", "warn"),
            timeout=options.get("timeout"),
            placement=options.get("placement"),
        )
        self._side_effects = SideEffects(self._options.name)
        self._binder = Binder(python_function, options.get("input_signature"))
        self._entry: Callable[..., Any] = _miss  # the short way of a call
        self.asked = signals()  # what is asked before it is taken
        self._cache = TraceCache(self._binder, options.get("max_traces"), self._install)
        self._lock = self._cache.lock
        self._log = RetraceLog(self._options.name, options.get("on_retrace", "warn"))
        self._first_calls = FirstCalls()
        functools.update_wrapper(self, python_function, updated=())

    @property
    def python_function(self) -> Callable[..., Any]:
        """The Python function, uncompiled; it stays the one that :func:`function` was given."""
        return self._python_function

    @python_function.setter
    def python_function(self, other: Any) -> None:
        message = (
            f"{self.name}.python_function stays the function that was compiled; make another compiled function, as in "
            f"`{self.name} = gx.function(other)`"
        )
        raise at(InvalidArgumentError(message), user_location())

    @property
    def name(self) -> str:
        """The function's name."""
        return self._options.name

    def __call__(self, /, *args: P.args, **kwargs: P.kwargs) -> R:
        """Runs the compiled program for these arguments, tracing it first if there is none."""
        asked = self.asked
        if asked.busy and not context.eager:
            ways = self._in_scopes(asked)
        elif asked.detours:
            ways = self._interrupted(asked)
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
    """A call that no entry serves."""

    def _in_scopes(self, asked: Signals) -> Sequence[Callable[..., Any]]:
        """Returns the entries for a device scope, or a tape that follows nothing."""
        if asked.detours or not REASONS.isdisjoint(asked.busy):
            return ()
        if context.pinned:
            scopes = context.device.layers
            for layers, entries in self._cache.pinned:  # their hash takes longer
                if layers == scopes:
                    return entries
        tapes = context.taped
        return (self._entry,) if tapes and self._cache.is_unseen and all(map(_is_idle, tapes)) else ()

    def _interrupted(self, asked: Signals) -> Sequence[Callable[..., Any]]:
        """Returns the entries where a deadline or a token is in force, here or elsewhere."""
        if not only_interrupted(asked.detours):
            return ()
        return (self._entry,) if interruption() is None else self._cache.bounded

    def _call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Makes a call by itself, the long way."""
        if Mode.eager or context.creating is not None:
            return self._run_eagerly(args, kwargs)
        arguments = self._binder.bind(args, kwargs)
        traced = self._cache.find(arguments)
        return self._first_call(args, kwargs) if traced is None else self._run(traced, arguments)

    def _first_call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Makes a call that traces the function; at its end JAX traces and compiles the program."""
        with deep_recursion():
            with self._lock:
                arguments = self._binder.bind(args, kwargs)  # again: another thread may have made self.w since
                lifting, before = Lifting(front_end.is_converted), arguments.described()
                try:
                    traced = self._trace(arguments, lifting)
                except CreationInTrace:
                    return self._create(args, kwargs)
                if lifting.is_used:
                    with lifting.finishing(), _telling(f"compiling {self.name}", compiles=True):
                        result = traced.call_recorded(arguments) if context.tapes else traced(arguments)
                    self._first_calls.keep_program(traced)
                    self._first_calls.note_creation(before, self._binder.bind(args, kwargs))
                    return result
            with _telling(f"compiling {self.name}", compiles=True):
                return self._run(traced, arguments)

    def _run(self, traced: TracedFunction, arguments: Arguments) -> Any:
        if context.tapes and (traced.executable.variables or not all(map(_is_idle, context.tapes))):
            return traced.call_recorded(arguments)
        result = traced(arguments)
        self._cache.add_entry(traced, arguments)
        return result

    def _install(self, entry: Callable[..., Any] | None, asked: Signals) -> None:
        """Makes an entry what a call takes first, None for none."""
        method = entry or _miss
        if method is not self._entry:
            # Python calls what the class has, so a function that has entries is of a class of its own.
            plain: Any = self._plain or type(self)
            self.__class__ = plain if entry is None else _class_of(plain, entry)
            self._entry = method
        self.asked = asked

    def add_concrete(
        self, known: ConcreteEntries, args: tuple[Any, ...], kwargs: dict[str, Any], fixed: Mapping[str, Any]
    ) -> None:
        """Writes the short way of a concrete function for calls like one, unless it is there, or there can be none.

        Args:
          known: those that there are, the newest last.
          args: of the call.
          kwargs: those by name.
          fixed: the arguments that are no tensors, which must be these.
        """
        self._cache.add_concrete(known, args, kwargs, fixed)

    def _inline(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Makes the call inside another trace: its nodes become the caller's."""
        assert context.trace is not None
        context.trace.root.reads.wraps(self, self.python_function, self.name)
        function = converted(self.python_function, self._options)
        args, kwargs = self._binder.convert(args, kwargs)
        trace = context.trace
        assert trace is not None  # or the call would not be inside it
        with self._options.pinned():
            return trace.inlined(lambda: function(*args, **kwargs))

    def _run_eagerly(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        args, kwargs = self._binder.convert(args, kwargs)
        with self._options.pinned():
            return self.python_function(*args, **kwargs)

    def _create(self, args: tuple[Any, ...], kwargs: dict[str, Any], *, keep: bool = True) -> Any:
        """Gives the first call of a function whose Variables cannot be lifted: plain Python, which is what it means."""
        before = self._binder.bind(args, kwargs).described()
        with creation_scope(keep=keep):
            result = self._run_eagerly(args, kwargs)
        self._first_calls.note_creation(before, self._binder.bind(args, kwargs))
        return result

    def _trace(self, arguments: Arguments, lifting: Lifting | None = None) -> TracedFunction:
        with self._lock:
            found = self._cache.find(arguments)
            if found is not None:
                return found
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
            if traced.ends_in_python:
                return traced
            self._log.note(traced, self._binder.open_arguments)
            self._cache.add(traced)
            return traced

    def __set_name__(self, owner: type, name: str) -> None:
        # Defined in the body of a class: a method, even where it is called as Model.step(model, x).
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
        """Returns the arguments of a call, tensors apart; for tools."""
        return self._binder.bind(args, kwargs)

    @property
    def input_signature(self) -> tuple[Any, ...] | None:
        """Returns what each argument must be; None for no check."""
        return self._binder.input_signature

    def bound_arguments(
        self, args: Sequence[Any], kwargs: Mapping[str, Any], *, partial: bool = False
    ) -> inspect.BoundArguments:
        """Returns the arguments of a call by name; for tools. With ``partial`` some may be missing."""
        return self._binder.bound(args, kwargs, partial=partial)

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> ConcreteFunction:
        """Returns the function for arguments of certain types: what goes in, and what comes out.

        Args:
          *args: a :class:`TensorSpec` or an example for each tensor, and all other arguments; none where the function
            has an ``input_signature``.
          **kwargs: the same by name.

        Raises:
          InvalidArgumentError: the function does not take such arguments.
          VariableCreationError: the function makes its Variables in its first call, which has not happened.
        """
        return ConcreteFunction(self, args, kwargs)

    def experimental_get_tracing_count(self) -> int:
        """Returns how often the function was traced (TensorFlow's name)."""
        return self._log.num_traces

    def pinned(self) -> AbstractContextManager[None]:
        """Returns the device scope that ``device=`` puts around the body; for tools that run it themselves."""
        return self._options.pinned()

    def make_variables(self, *args: Any, **kwargs: Any) -> None:
        """Makes the Variables that the first call would make, with their initial values; all others keep theirs.

        For tools that need a trace and must change nothing.
        """
        self._create(args, kwargs, keep=False)

    def trace(self, *args: Any, **kwargs: Any) -> TracedFunction:
        """Returns the trace for these arguments, made if there is none; nothing is run.

        Raises:
          VariableCreationError: the function makes its Variables in its first call, which has not happened.
        """
        arguments = self._binder.bind(args, kwargs)
        found = self._cache.find(arguments)
        if found is not None:
            return found
        try:
            with deep_recursion():
                return self._trace(arguments)
        except CreationInTrace:
            error = VariableCreationError(
                f"{self.name} makes Variables in its first call; call it once before you ask for its graph"
            )
            raise at(error, user_location()) from None
        except Exception as error:
            shorten(error)
            raise

    def graph(self, *args: Any, **kwargs: Any) -> Graph:
        """Returns the graph for these arguments; ``print`` it to read it."""
        return self.trace(*args, **kwargs).graph

    def lower(self, *args: Any, **kwargs: Any) -> Any:
        """JAX's lowered program for these arguments: ``jax.stages.Lowered``, with ``as_text()`` and ``compile()``."""
        with deep_recursion():
            return self.trace(*args, **kwargs).lower(self._binder.bind(args, kwargs))

    @property
    def compared(self) -> Function:
        """Gives what :func:`graphc.compare` runs; of a function on several devices, one that gives the same on one."""
        return self

    def compare(self, *args: Any, **kwargs: Any) -> Any:
        """Eager against compiled; see :func:`graphc.compare`."""
        return TOOLS["compare"](self, *args, **kwargs)

    def explain(self, *args: Any, **kwargs: Any) -> Any:
        """Returns what was compiled for these arguments, and why so; see :func:`graphc.explain`."""
        return TOOLS["explain"](self, *args, **kwargs)

    def to_source(self) -> str:
        """Gives the function as it is rewritten before it is traced, as readable text; see :func:`graphc.to_source`."""
        return front_end.to_source(self.python_function)

    def clone(self, **options: Unpack[FunctionOptions]) -> Function:
        """Returns the same function with the same options, but for those given here, and no traces."""
        return self.made(self.python_function, {**self._given, **options}, is_method=self._binder.is_method)

    @classmethod
    def made(cls, python_function: Callable[..., Any], options: FunctionOptions, *, is_method: bool) -> Function:
        """Returns a function like another one, of which these are the parts."""
        made = cls(python_function, **options)
        made._binder.is_method = is_method
        return made

    def __reduce_ex__(self, protocol: Any) -> Any:
        return reduced(self, self._given, self._binder.is_method)

    def __deepcopy__(self, memo: dict[int, Any]) -> Function:
        inner = copy.deepcopy(self.python_function, memo)  # itself, but for a method of an object that is copied
        if inner is self.python_function:
            return self
        return self.made(inner, self._given, is_method=self._binder.is_method)

    def trace_report(self) -> list[TraceReport]:
        """Each time the function was traced, and why; the last thousand times."""
        return list(self._log.reports)

    def clear_cache(self) -> None:
        """Drops all traces and their programs."""
        with self._lock:
            self._cache.clear()
            self._first_calls.programs.clear()
            self._log.clear()

    @property
    def num_traces(self) -> int:
        """Returns how many traces are kept."""
        return len(self._cache.traces)

    def __repr__(self) -> str:
        return f"<compiled function {self.name}, {len(self._cache.traces)} traces>"


def _check_function(value: Any) -> None:
    """Raises InvalidArgumentError where a value is no Python function that can be compiled."""
    if isinstance(value, staticmethod | classmethod):
        name = "staticmethod" if isinstance(value, staticmethod) else "classmethod"
        text = f"gx.function stands above @{name}; write @{name} first, and @gx.function below it"
        raise at(InvalidArgumentError(text), user_location())
    if isinstance(value, np.ufunc):
        name = value.__name__
        text = f"gx.function: {name} is no Python function, but a ufunc; wrap it, as in `lambda x: np.{name}(x)`"
        raise at(InvalidArgumentError(text), user_location())
    if not callable(value):
        raise at(InvalidArgumentError(f"gx.function: expected a function, got {value!r:.60}"), user_location())


def _miss(*args: Any, **kwargs: Any) -> Any:
    return MISS


def _class_of(plain: type[Function], entry: Callable[..., Any]) -> Any:
    """Returns a class of one function, which is called by its entry alone."""
    names = {"__call__": entry, "__module__": plain.__module__, "__qualname__": plain.__qualname__}
    return type(plain.__name__, (plain,), {"__slots__": (), "__doc__": plain.__doc__, "_plain": plain, **names})


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
    """Compiles a function: it is traced into a graph, loops and branches included, and XLA compiles the whole.

    Args:
      fn: the function; left out when options are given.
      input_signature: nested :class:`TensorSpec` that the arguments must fit, one for each tensor argument, without the
        instance of a method; Python values may follow. Python numbers become tensors where one is asked for.
      autograph: whether Python control flow on tensors is converted.
      unroll: whether loops over a ``range`` are unrolled, or how many iterations of them become one that does the work
        of all; None rolls each loop whose iterations do the same work.
      max_iterations: how often a loop may run whose end depends on tensors, for those that do not say it themselves;
        what is kept of each iteration (lists, values for gradients) gets room for so many. None for no bound.
      side_effects: what to do about what Python does only when the function is traced (a store into an object that
        outlives the call, a global that is assigned, a file, the clock, random numbers of other libraries): ``"warn"``
        tells of each once per function, with its line; ``"error"`` refuses it; ``"ignore"`` says that once is meant.
      device: where to run: all that :func:`graphc.device` takes, which is put around the body. None for where the
        scopes around the call say, or else where the arguments are.
      on_retrace: what the third retrace leads to: ``"warn"``, ``"error"`` or ``"ignore"``. The warning comes again
        whenever the number of retraces has doubled, so that one that goes on for ever is seen and does not flood.
      max_traces: how many traces are kept; ``gx.config.max_traces`` when None.
      timeout: within how many seconds a run must be done, not counting the time to trace and compile it. The call waits
        for its results; when they do not come in time it raises, Variables keep their values, what the program still
        computes is dropped, and Python that it calls is not begun any more. None for no bound.
      placement: where ops run that are not pinned, as :func:`graphc.placement.auto` proposes it.
      name: of the graph, and in messages; the function's own when None.
      **unknown: refused; here so that the message says which options there are.

    Returns:
      A :class:`Function`, to be called as ``fn`` is, or a decorator when ``fn`` is None.

    Raises:
      InvalidArgumentError: ``fn`` is no function, or there is no such option.
      DeadlineExceededError: when called: the run was not done within ``timeout``, or by a deadline in force.
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
