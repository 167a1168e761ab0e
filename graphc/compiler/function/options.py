"""The options of the decorator."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Literal, TypedDict, cast

from graphc.compiler.base import checked_seconds, set_slow_path_reason
from graphc.compiler.base.errors import InvalidArgumentError, InvalidTypeError, UnimplementedError
from graphc.compiler.core import DeviceChoice
from graphc.compiler.devices import Device
from graphc.compiler.ir import DeviceSpec, Graph
from graphc.compiler.tracing import Trace

if TYPE_CHECKING:
    from graphc.compiler.function.function import Function

Report = Literal["warn", "error", "ignore"]


class FunctionOptions(TypedDict, total=False):
    """The options of :func:`graphc.function`, as the user passes them."""

    input_signature: Sequence[Any] | None
    autograph: bool
    unroll: bool | int | None
    max_iterations: int | None
    side_effects: Report
    device: str | DeviceSpec | Device | DeviceChoice | None
    on_retrace: Report
    max_traces: int | None
    timeout: float | None
    placement: Callable[[Graph], Graph] | None
    name: str | None


@dataclass(frozen=True)
class TraceOptions:
    """The options that apply to the tracing of a function."""

    name: str
    autograph: bool = True  # whether Python control flow on tensors is converted
    # Whether to unroll loops over a ``range``, or how many iterations to merge into one; None decides by loop.
    unroll: bool | int | None = None
    pin: AbstractContextManager[None] = field(
        default_factory=nullcontext
    )  # the device scope around the body, inside those of the call
    max_iterations: int | None = None  # the bound on data-dependent loops that set none themselves
    side_effects: Report = "warn"
    timeout: float | None = None  # the time limit of a run in seconds
    placement: Callable[[Graph], Graph] | None = None  # pins the nodes that the user has not pinned; None to pin none

    @contextmanager
    def inlined(self, trace: Trace) -> Generator[None]:
        """Applies the options to the part of another function's trace that the body becomes."""
        root = trace.root
        if self.timeout is not None and (root.timeout is None or root.timeout > self.timeout):
            error = UnimplementedError(
                f"{self.name} has timeout={self.timeout:g}, which cannot limit a part of another compiled function "
                f"({root.builder.name}). Give that one a timeout of at most {self.timeout:g}, or use "
                f"{self.name}.python_function"
            )
            raise trace.refuse(error)
        before = root.unroll, root.max_iterations
        root.unroll = before[0] if self.unroll is None else self.unroll
        root.max_iterations = self.max_iterations or before[1]
        try:
            with self.pin:
                yield
        finally:
            root.unroll, root.max_iterations = before


_SIZES = "not supported: each size is compiled separately, so pad varying sizes to a few"
_OF_OTHERS: Mapping[str, str] = {
    "static_argnums": "not needed: a Python value is static, a tensor is not",
    "static_argnames": "not needed: a Python value is static, a tensor is not",
    "donate_argnums": "not needed: a gx.Variable is updated in place",
    "donate_argnames": "not needed: a gx.Variable is updated in place",
    "keep_unused": "not needed: arguments that the program does not use cost nothing",
    "inline": "not needed: a compiled function that another one calls becomes part of it",
    "backend": "called device, as in device='gpu:0'",
    "in_shardings": "not an option of gx.function: arrays carry their sharding, and gx.distribute splits batches",
    "out_shardings": "not an option of gx.function: arrays carry their sharding, and gx.distribute splits batches",
    "jit_compile": "not needed: XLA compiles the whole function",
    "experimental_compile": "not needed: XLA compiles the whole function",
    "reduce_retracing": _SIZES,
    "experimental_relax_shapes": _SIZES,
    "experimental_autograph_options": "not needed: gx.loop_options sets those of a loop",
    "experimental_implements": "not supported: a graph has the ops of its function",
    "experimental_attributes": "not supported: a graph has the ops of its function",
    "experimental_follow_type_hints": "not needed: arguments that are numbers are static, tensors are not",
    "fullgraph": "not needed: the whole function becomes one graph, or is refused with the line",
    "dynamic": _SIZES,
    "mode": "not needed: XLA chooses, and gx.compare measures",
    "options": "not an option of gx.function: the environment variable XLA_FLAGS sets XLA's options",
}
"""Options of ``jax.jit``, ``tf.function`` and ``torch.compile`` that gx.function does not have, with the reason."""


def unknown_option(name: str) -> InvalidTypeError:
    """Returns the error for an option that gx.function does not have."""
    from difflib import get_close_matches

    names = ", ".join(FunctionOptions.__annotations__)
    if name in _OF_OTHERS:
        text = f"the option {name!r} is {_OF_OTHERS[name]} (options: {names})"
    else:
        near = get_close_matches(name, FunctionOptions.__annotations__, n=1)
        meant = f" (did you mean {near[0]!r}?)" if near else ""
        text = f"{name!r} is not an option{meant}; the options are {names}"
    return InvalidTypeError(f"gx.function: {text}").here()


def check_options(options: FunctionOptions) -> None:
    """Checks the values of the options."""
    values = cast("dict[str, Any]", options)
    for name in ("on_retrace", "side_effects"):
        if values.get(name, "warn") not in ("warn", "error", "ignore"):
            raise _error(f"{name} must be 'warn', 'error' or 'ignore', got {values[name]!r}")
    unroll = values.get("unroll")
    if not (unroll is None or isinstance(unroll, bool) or _is_count(unroll, 2)):
        raise _error(f"unroll must be None, True, False or an int of at least 2, got {unroll!r}")
    placement = values.get("placement")
    if not (placement is None or callable(placement)):
        raise _error(f"placement must be None or a result of gx.placement.auto, got {placement!r:.60}")
    for name in ("max_iterations", "max_traces"):
        if not (values.get(name) is None or _is_count(values[name], 1)):
            raise _error(f"{name} must be None or a positive int, got {values[name]!r}")

    checked_seconds(values.get("timeout"), "gx.function: timeout")


def _is_count(value: Any, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def _error(message: str) -> InvalidArgumentError:
    return InvalidArgumentError(f"gx.function: {message}").here()


# The switch that makes decorated functions run as plain Python.


class EagerMode:
    """The global mode: True makes functions run eagerly, for debugging."""

    eager = False


class _Restoring:
    """The result of :func:`run_functions_eagerly`, which restores the mode at the end of a ``with`` block."""

    def __init__(self, before: bool) -> None:
        self._before = before

    def __enter__(self) -> None:
        pass

    def __exit__(self, *error: object) -> None:
        _set(self._before)


def run_functions_eagerly(run_eagerly: bool) -> _Restoring:
    """Makes decorated functions run as plain Python, for debugging (TensorFlow's ``run_functions_eagerly``).

    The mode lasts until the next call, or until the end of a ``with`` block.

    Args:
      run_eagerly: True to run eagerly, False to run compiled programs.

    Example:
      >>> import graphc as gx
      >>> with gx.run_functions_eagerly(True):
      ...     result = gx.function(lambda x: x + 1)(gx.asarray(1))
    """
    before = EagerMode.eager
    _set(run_eagerly)
    return _Restoring(before)


@contextmanager
def functions_run_eagerly() -> Generator[None]:
    """Runs decorated functions as plain Python inside the scope."""
    saved = EagerMode.eager
    _set(True)
    try:
        yield
    finally:
        _set(saved)


def _set(eager: bool) -> None:
    EagerMode.eager = eager
    set_slow_path_reason("eager", "functions run eagerly", active=eager)


# Pickling of compiled functions: like Python functions, by name if possible, and without caches.


def reduced(function: Function, options: FunctionOptions, is_method: bool) -> Any:
    """Returns the result of ``__reduce_ex__``: the function's name in its module, or the parts to rebuild it from."""
    named = _named_like(function)
    if named is function:
        if not (function.__module__ == "__main__" and _is_for_another_main()):
            return _name(function)
    elif hasattr(named, "clone") and named.python_function is function.python_function:
        # As f.clone(...): pickle would look for Python's function under the name that the compiled one has.
        return _clone, (named, options)
    return _made, (function.python_function, options, is_method)


def _named_like(function: Function) -> Any:
    """Returns the object that has the function's name in its module."""
    try:
        return attrgetter(_name(function))(sys.modules[function.__module__])
    except (AttributeError, KeyError):
        return None


def _name(function: Any) -> str:
    return function.__qualname__


def _is_for_another_main() -> bool:
    """Returns True if cloudpickle asks, which pickles functions of the main module by value for another main module."""
    asking = sys._getframe(3).f_globals  # pyright: ignore[reportPrivateUsage]
    return str(asking.get("__name__")).endswith("cloudpickle")


def _clone(function: Function, options: FunctionOptions) -> Function:
    return function.clone(**options)


def _made(python_function: Any, options: FunctionOptions, is_method: bool) -> Function:
    from graphc.compiler.function.function import Function

    return Function.made(python_function, options, is_method=is_method)
