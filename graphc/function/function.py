"""``@gx.function``: the compiler's front door."""

from __future__ import annotations

import functools
import threading
import warnings
from collections import OrderedDict, deque
from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any, Literal, TypedDict, Unpack, overload

from graphc.base import Registry, at, collection_paused, config, user_location
from graphc.base.errors import InvalidArgumentError, InvalidTypeError, RetraceWarning, VariableCreationError
from graphc.core import CreationInTrace, Tensor, canonical_device, context, creation_scope, device_scope
from graphc.function.arguments import Arguments, Binder
from graphc.function.mode import Mode
from graphc.function.retrace import TraceReport, retrace_reason
from graphc.function.traced import TracedFunction, TraceOptions, converted, trace_function
from graphc.ir import Graph
from graphc.lowering import TypesDiffer, run_on_variables

__all__ = ["TOOLS", "Function", "TraceReport", "function"]

TOOLS: Registry[Callable[..., Any]] = Registry("tool")
"""What higher layers add to a function's methods: ``compare``."""

OnRetrace = Literal["warn", "error", "ignore"]

_REPORTS_KEPT = 1_000


class FunctionOptions(TypedDict, total=False):
    """The options of :func:`function`."""

    input_signature: Sequence[Any] | None
    autograph: bool
    unroll: bool | None
    device: str | None
    on_retrace: OnRetrace
    max_traces: int | None
    name: str | None


class Function:
    """A function that is compiled for the types of its arguments; see :func:`function`."""

    # As an argument or attribute it stands for itself: what it holds are caches.
    __graphc_opaque__ = True

    def __init__(
        self,
        python_function: Callable[..., Any],
        *,
        input_signature: Sequence[Any] | None = None,
        autograph: bool = True,
        unroll: bool | None = None,
        device: str | None = None,
        on_retrace: OnRetrace = "warn",
        max_traces: int | None = None,
        name: str | None = None,
    ) -> None:
        if not callable(python_function):
            raise at(
                InvalidArgumentError(f"gx.function: expected a function, got {python_function!r:.60}"), user_location()
            )
        if on_retrace not in ("warn", "error", "ignore"):
            error = InvalidArgumentError(f"on_retrace must be 'warn', 'error' or 'ignore', got {on_retrace!r}")
            raise at(error, user_location())
        self.python_function = python_function
        pinned = "" if device is None else canonical_device(device)
        label = name or getattr(python_function, "__name__", type(python_function).__name__)
        self._options = TraceOptions("lambda" if label == "<lambda>" else label, autograph, unroll, pinned)
        self._on_retrace: OnRetrace = on_retrace
        self._max_traces = max_traces
        self._binder = Binder(python_function, input_signature)
        self._traces: OrderedDict[Any, TracedFunction] = OrderedDict()
        self._reports: deque[TraceReport] = deque(maxlen=_REPORTS_KEPT)
        self._described: list[list[tuple[str, str]]] = []
        self._created_in_vain: deque[Any] = deque(maxlen=config.max_traces)
        self._fast: Callable[[tuple[Any, ...]], Any] | None = None
        self._lock = threading.RLock()
        functools.update_wrapper(self, python_function, updated=())

    @property
    def name(self) -> str:
        """The function's name."""
        return self._options.name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Runs the compiled program for these arguments, tracing it first if there is none."""
        fast = self._fast
        if fast is not None and not kwargs and context.eager and not Mode.eager:
            result = fast(args)
            if result is not _MISS:
                return result
        if context.trace is not None:
            return self._inline(args, kwargs)
        if Mode.eager or context.creating is not None:
            return self._run_eagerly(args, kwargs)
        arguments = self._binder.bind(args, kwargs)
        traced = self._find(self._key(arguments))
        if traced is None:
            with self._lock:
                arguments = self._binder.bind(args, kwargs)  # again: another thread may have made self.w since
                try:
                    traced = self._trace(arguments)
                except CreationInTrace:
                    return self._create(args, kwargs, self._key(arguments))
        if context.tapes:
            return traced.call_recorded(arguments)
        result = traced(arguments)
        simple = len(self._traces) == 1 and not kwargs and not self._binder.has_state
        self._fast = _fast_path(traced, arguments, args) if simple else None
        return result

    def _find(self, key: Any) -> TracedFunction | None:
        found = self._traces.get(key)
        if found is not None and len(self._traces) > 1:
            with self._lock:
                if key in self._traces:
                    self._traces.move_to_end(key)
        return found

    def _key(self, arguments: Arguments) -> Any:
        return (arguments.key, context.device) if context.device else arguments.key

    def _inline(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The call inside another trace: its nodes become the caller's."""
        function = converted(self.python_function, self._options)
        args, kwargs = self._binder.convert(args, kwargs)
        with device_scope(self._options.device or context.device):
            return function(*args, **kwargs)

    def _run_eagerly(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        args, kwargs = self._binder.convert(args, kwargs)
        with device_scope(self._options.device or context.device):
            return self.python_function(*args, **kwargs)

    def _create(self, args: tuple[Any, ...], kwargs: dict[str, Any], key: Any, *, keep: bool = True) -> Any:
        """The first call of a function that makes Variables: plain Python, which is what it means.

        A second time the same arguments must not make any. Where the call changed its arguments (``self.w``) they are
        not the same any more, so that each new instance has a first call of its own.
        """
        with creation_scope(keep=keep):
            result = self._run_eagerly(args, kwargs)
        if self._key(self._binder.bind(args, kwargs)) == key:
            self._created_in_vain.append(key)
        return result

    def _trace(self, arguments: Arguments) -> TracedFunction:
        key = self._key(arguments)
        with self._lock:
            found = self._traces.get(key)
            if found is not None:
                return found
            may_create = key not in self._created_in_vain
            with collection_paused():
                traced = trace_function(
                    self.python_function, self._binder, arguments, self._options, may_create=may_create
                )
            self._report(arguments, traced.seconds)
            self._traces[key] = traced
            limit = self._max_traces or config.max_traces
            while len(self._traces) > limit:
                self._traces.popitem(last=False)
            if len(self._traces) > 1:
                self._fast = None
            return traced

    def _report(self, arguments: Arguments, seconds: float) -> None:
        described = arguments.described()
        reason = retrace_reason(described, self._described)
        self._described.append(described)
        number = self._reports[-1].number + 1 if self._reports else 1
        report = TraceReport(number, reason, user_location(), seconds)
        self._reports.append(report)
        del self._described[: -config.max_traces]
        retraces = report.number - 1
        if retraces < config.warn_retraces or self._on_retrace == "ignore":
            return
        message = (
            f"{self.name} was traced again, for the {report.number}th time: {reason}; each trace is compiled anew. "
            "Pass numbers that change as tensors, keep shapes fixed, or give input_signature or on_retrace='ignore'"
        )
        if self._on_retrace == "error":
            raise at(InvalidArgumentError(message), report.location)
        warnings.warn(f"{message} ({report.location.short if report.location else ''})", RetraceWarning, stacklevel=4)

    def __set_name__(self, owner: type, name: str) -> None:
        # Defined in the body of a class: a method, even where it is called as Model.step(model, x).
        self._binder.is_method = True

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return self
        self._binder.is_method = True
        return BoundFunction(self, instance)

    def make_variables(self, *args: Any, **kwargs: Any) -> None:
        """Makes the Variables that the first call would make, with their initial values; all others keep theirs.

        For tools that need a trace and must change nothing.
        """
        self._create(args, kwargs, self._key(self._binder.bind(args, kwargs)), keep=False)

    def trace(self, *args: Any, **kwargs: Any) -> TracedFunction:
        """The trace for these arguments, made if there is none; nothing is run.

        Raises:
          VariableCreationError: the function makes its Variables in its first call, which has not happened.
        """
        arguments = self._binder.bind(args, kwargs)
        found = self._traces.get(self._key(arguments))
        if found is not None:
            return found
        try:
            return self._trace(arguments)
        except CreationInTrace:
            error = VariableCreationError(
                f"{self.name} makes Variables in its first call; call it once before you ask for its graph"
            )
            raise at(error, user_location()) from None

    def graph(self, *args: Any, **kwargs: Any) -> Graph:
        """The graph for these arguments; ``print`` it to read it."""
        return self.trace(*args, **kwargs).graph

    def lower(self, *args: Any, **kwargs: Any) -> Any:
        """JAX's lowered program for these arguments: ``jax.stages.Lowered``, with ``as_text()`` and ``compile()``."""
        return self.trace(*args, **kwargs).lower(self._binder.bind(args, kwargs))

    def compare(self, *args: Any, **kwargs: Any) -> Any:
        """Eager against compiled; see :func:`graphc.compare`."""
        return TOOLS["compare"](self, *args, **kwargs)

    def clone(self) -> Function:
        """The same function with the same options and no traces, for tools that measure what tracing costs."""
        copy = Function(
            self.python_function,
            input_signature=self._binder.input_signature,
            autograph=self._options.autograph,
            unroll=self._options.unroll,
            device=self._options.device or None,
            on_retrace=self._on_retrace,
            max_traces=self._max_traces,
            name=self._options.name,
        )
        copy._binder.is_method = self._binder.is_method
        return copy

    def trace_report(self) -> list[TraceReport]:
        """Each time the function was traced, and why; the last thousand times."""
        return list(self._reports)

    def clear_cache(self) -> None:
        """Drops all traces and their programs."""
        with self._lock:
            self._traces.clear()
            self._described.clear()
            self._fast = None

    @property
    def num_traces(self) -> int:
        """How many traces are kept."""
        return len(self._traces)

    def __repr__(self) -> str:
        return f"<compiled function {self.name}, {len(self._traces)} traces>"


class BoundFunction:
    """A compiled method with its instance; made at each access, it holds nothing of its own."""

    __slots__ = ("_function", "_instance")

    def __init__(self, function: Function, instance: Any) -> None:
        self._function = function
        self._instance = instance

    @property
    def __func__(self) -> Function:
        """The compiled function, as of Python's own methods."""
        return self._function

    @property
    def __self__(self) -> Any:
        """The instance, as of Python's own methods."""
        return self._instance

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the compiled method."""
        return self._function(self._instance, *args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self._function, name)
        if name in ("trace", "graph", "lower", "compare"):
            return functools.partial(attribute, self._instance)
        if name == "python_function":
            return attribute.__get__(self._instance)
        return attribute


_MISS = object()
_raw = attrgetter("raw")


def _fast_path(
    traced: TracedFunction, arguments: Arguments, args: tuple[Any, ...]
) -> Callable[[tuple[Any, ...]], Any] | None:
    """A call that skips binding and the key, for a function with one trace whose arguments are all plain tensors.

    The types are checked by JAX's own C++ cache: for other types the program raises TypesDiffer while JAX traces it,
    and the call takes the long way. This leaves about 1 microsecond over a raw ``jax.jit`` call.
    """
    if traced.depends_on_arguments or traced.device or len(args) != traced.num_arguments:
        return None
    kinds = (Tensor,) * len(args)
    if tuple(map(type, args)) != kinds:
        return None
    jitted, pack = traced.executable.jitted, traced.packer(arguments)
    captures, variables = traced.captures, traced.bound_variables(arguments)
    num_written = traced.executable.num_written

    def fast(args: tuple[Any, ...]) -> Any:
        if tuple(map(type, args)) != kinds:
            return _MISS
        try:
            if variables:
                results = run_on_variables(jitted, variables, num_written, (*map(_raw, args), *captures))
            else:
                results = jitted(*map(_raw, args), *captures)
        except TypesDiffer:
            return _MISS
        return pack(map(Tensor, results))

    return fast


@overload
def function(fn: Callable[..., Any], **options: Unpack[FunctionOptions]) -> Function: ...
@overload
def function(fn: None = None, **options: Unpack[FunctionOptions]) -> Callable[[Callable[..., Any]], Function]: ...
def function(
    fn: Callable[..., Any] | None = None,
    *,
    input_signature: Sequence[Any] | None = None,
    autograph: bool = True,
    unroll: bool | None = None,
    device: str | None = None,
    on_retrace: OnRetrace = "warn",
    max_traces: int | None = None,
    name: str | None = None,
    **unknown: Any,
) -> Any:
    """Compiles a function: it is traced into a graph, loops and branches included, and XLA compiles the whole.

    Args:
      fn: the function; left out when options are given.
      input_signature: nested :class:`TensorSpec` that the arguments must fit, one for each tensor argument, without the
        instance of a method; Python values may follow. Python numbers become tensors where one is asked for.
      autograph: whether Python control flow on tensors is converted.
      unroll: whether loops over a ``range`` are unrolled; None rolls each loop whose iterations do the same work.
      device: where to run; None for where the arguments are.
      on_retrace: what a third retrace leads to: ``"warn"``, ``"error"`` or ``"ignore"``.
      max_traces: how many traces are kept; ``gx.config.max_traces`` when None.
      name: of the graph, and in messages; the function's own when None.
      **unknown: refused; here so that the message says which options there are.

    Returns:
      A :class:`Function`, to be called as ``fn`` is, or a decorator when ``fn`` is None.

    Raises:
      InvalidArgumentError: ``fn`` is no function, or there is no such option.
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
        error = InvalidTypeError(
            f"{next(iter(unknown))!r} is not an option of gx.function in this version; there are "
            f"{', '.join(FunctionOptions.__annotations__)}"
        )
        raise at(error, user_location())
    make = functools.partial(
        Function, input_signature=input_signature, autograph=autograph, unroll=unroll, device=device,
        on_retrace=on_retrace, max_traces=max_traces, name=name,
    )  # fmt: skip
    return make if fn is None else make(fn)
