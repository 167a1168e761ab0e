"""The options of the decorator."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, Literal, TypedDict, cast

from graphc.base import at, checked_seconds, user_location
from graphc.base.errors import InvalidArgumentError, InvalidTypeError
from graphc.core import DeviceChoice
from graphc.devices import Device
from graphc.ir import DeviceSpec, Graph

__all__ = ["FunctionOptions", "Report", "TraceOptions", "check_options", "unknown_option"]

Report = Literal["warn", "error", "ignore"]


class FunctionOptions(TypedDict, total=False):
    """The options of :func:`graphc.function`, as a user gives them."""

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
    """How a function is traced.

    Attributes:
      name: the name of the graph.
      autograph: whether Python control flow on tensors is converted.
      unroll: whether loops over a ``range`` are unrolled, or how many iterations to make one; None leaves it to each
        loop.
      pin: the device scope around the body; None for none.
      max_iterations: how often a loop may run whose end depends on tensors, where the loop does not say.
      side_effects: what to do about what Python does only when the function is traced.
      timeout: within how many seconds a run must be done.
      placement: pins the nodes of the graph, where the user has not; None to leave them as they are.
    """

    name: str
    autograph: bool = True
    unroll: bool | int | None = None
    pin: AbstractContextManager[None] | None = None
    max_iterations: int | None = None
    side_effects: Report = "warn"
    timeout: float | None = None
    placement: Callable[[Graph], Graph] | None = None

    def pinned(self) -> AbstractContextManager[None]:
        """Returns the device scope around the body, inside those around the call."""
        return nullcontext() if self.pin is None else self.pin


_SIZES = "not there: each size is compiled by itself, so pad what varies to a few sizes"
_OF_OTHERS: Mapping[str, str] = {
    "static_argnums": "not needed: a Python value is static, a tensor is not",
    "static_argnames": "not needed: a Python value is static, a tensor is not",
    "donate_argnums": "not needed: a gx.Variable is updated in place",
    "donate_argnames": "not needed: a gx.Variable is updated in place",
    "keep_unused": "not needed: arguments that the program does not use cost nothing",
    "inline": "not needed: a compiled function that another one calls becomes part of it",
    "backend": "named device here, as in device='gpu:0'",
    "in_shardings": "not one of gx.function: arrays bring their sharding, and gx.distribute splits batches",
    "out_shardings": "not one of gx.function: arrays bring their sharding, and gx.distribute splits batches",
    "jit_compile": "not needed: XLA compiles the whole function",
    "experimental_compile": "not needed: XLA compiles the whole function",
    "reduce_retracing": _SIZES,
    "experimental_relax_shapes": _SIZES,
    "experimental_autograph_options": "not needed: gx.loop_options sets those of a loop",
    "experimental_implements": "not there: a graph has the ops of its function",
    "experimental_attributes": "not there: a graph has the ops of its function",
    "experimental_follow_type_hints": "not needed: arguments that are numbers are static, tensors are not",
    "fullgraph": "not needed: the whole function becomes one graph, or is refused with the line",
    "dynamic": _SIZES,
    "mode": "not needed: XLA chooses, and gx.compare measures",
    "options": "not one of gx.function: XLA_FLAGS in the environment sets XLA's",
}
"""The options of ``jax.jit``, ``tf.function`` and ``torch.compile`` that gx.function does without, and why."""


def unknown_option(name: str) -> InvalidTypeError:
    """Returns the error for an option that gx.function does not have."""
    from difflib import get_close_matches

    known = ", ".join(FunctionOptions.__annotations__)
    if name in _OF_OTHERS:
        text = f"the option {name!r} is {_OF_OTHERS[name]} (options: {known})"
    else:
        near = get_close_matches(name, FunctionOptions.__annotations__, n=1)
        meant = f" (did you mean {near[0]!r}?)" if near else ""
        text = f"{name!r} is not an option{meant}; there are {known}"
    return at(InvalidTypeError(f"gx.function: {text}"), user_location())


def check_options(options: FunctionOptions) -> None:
    """Looks at the values of the options.

    Raises:
      InvalidArgumentError: one is none of those it may have; the message says which.
    """
    given = cast("dict[str, Any]", options)
    for name in ("on_retrace", "side_effects"):
        if given.get(name, "warn") not in ("warn", "error", "ignore"):
            raise _error(f"{name} must be 'warn', 'error' or 'ignore', got {given[name]!r}")
    unroll = given.get("unroll")
    if not (unroll is None or isinstance(unroll, bool) or _is_count(unroll, 2)):
        raise _error(f"unroll must be None, True, False or a number of iterations from 2 on, got {unroll!r}")
    placement = given.get("placement")
    if not (placement is None or callable(placement)):
        raise _error(f"placement must be None or what gx.placement.auto proposes, got {placement!r:.60}")
    for name in ("max_iterations", "max_traces"):
        if not (given.get(name) is None or _is_count(given[name], 1)):
            raise _error(f"{name} must be None or an int from 1 on, got {given[name]!r}")

    checked_seconds(given.get("timeout"), "gx.function: timeout")


def _is_count(value: Any, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def _error(message: str) -> InvalidArgumentError:
    return at(InvalidArgumentError(f"gx.function: {message}"), user_location())
