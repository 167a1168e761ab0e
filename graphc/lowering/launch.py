"""How a program is launched: dispatched, or run so that the call may give it up.

A dispatched program runs behind the call. The call of an interruptible one waits for it. XLA cannot be interrupted, and
on a CPU it even runs some programs (those that call Python, and those that look short) in the thread that calls them.
So an interruptible program runs on a thread of its own, and the call may stop waiting. Only one that is sure to be
short runs in the thread of the call, which takes a tenth of the time. An interruptible program donates nothing: its
arguments are still there when it was given up.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from graphc.base import (
    What,
    collection_paused,
    config,
    deadline,
    interruption,
    interrupts_held,
    other_detours,
    overseen,
    run_on_thread,
    watched,
)
from graphc.core import thread_settings, wait_for
from graphc.devices import device_name, devices
from graphc.ir import TensorType
from graphc.lowering.backpressure import in_flight
from graphc.ops import host_lock, numbered_calls, waited_for, with_calls

__all__ = [
    "DISPATCH",
    "LaunchPolicy",
    "XlaFunction",
    "current_policy",
    "current_run_timeout",
    "described",
    "on_device",
    "run_timeout",
]

_PROGRAMS_KEPT = 8

# A program of no more operations, bytes and rounds of loops takes some hundred microseconds, if the compiler knows all
# that it does: it counts the body of a loop once, and says of most how often they run, and of foreign code nothing.
_MOST_OPERATIONS = 1e7
_MOST_BYTES = 1e7
_MOST_ROUNDS = 1000
_LOOP, _FOREIGN = " while(", " custom-call("
_ROUNDS = re.compile(r'"known_trip_count":\{"n":"(\d+)"')


@dataclass(frozen=True)
class LaunchPolicy:
    """How a program is launched.

    Attributes:
      interruptible: the call waits for the results, and gives the program up at a deadline or a cancellation; no
        Variable is changed then.
      timeout: within how many seconds an interruptible program must be done, the time to compile it not counted.
      max_in_flight: how many steps may be dispatched and not yet computed; None for any number.
      watched: the watchdog reports a launch that makes no progress.
    """

    interruptible: bool = False
    timeout: float | None = None
    max_in_flight: int | None = None
    watched: bool = False

    def dispatch(
        self, name: str, what: What, program: Callable[[], Sequence[Any]], written: Callable[[], Sequence[Any]]
    ) -> Sequence[Any]:
        """Dispatches a program once there is room for one more step in flight.

        Args:
          name: of the program.
          what: the program as a noun, for messages.
          program: launches it.
          written: gives the arrays that it has assigned; a program without results is in flight by these.
        """
        with watched(what) if self.watched else nullcontext():
            if self.max_in_flight is None:
                return program()
            in_flight.make_room(self.max_in_flight)
            results = program()
        in_flight.add(name, results or written())
        return results


DISPATCH = LaunchPolicy()
"""Dispatches a program and asks nothing else."""


def current_policy(timeout: float | None = None, *, calls_host: bool = False) -> LaunchPolicy:
    """Returns the policy that deadlines, tokens and settings in force here ask for.

    Args:
      timeout: of the program, in seconds.
      calls_host: the program calls Python.
    """
    if timeout is None and not other_detours:
        return DISPATCH
    watched = config.watchdog_seconds is not None
    attended = calls_host and (watched or host_lock.is_lent)
    interruptible = timeout is not None or interruption() is not None or attended
    return LaunchPolicy(interruptible, timeout, config.max_in_flight, watched)


class XlaFunction:
    """A function of arrays that XLA compiles, and that is launched as a policy says.

    Args:
      function: what JAX traces; it may return any pytree.
      name: of the compiled function that the user called, for messages.
      calls_host: it calls Python. Calls that have not begun when the program is given up do not begin.
      compiler_options: for XLA.
      results_at: the shardings of what an interruptible program returns; None where XLA decides.
      dispatched: other options of ``jax.jit`` for the program that is dispatched.

    Attributes:
      jitted: the ``jax.jit`` function that is dispatched.
      short: the ``jax.jit`` function that may run in the thread of an interruptible call; None until the program was
        compiled, and for good once it was compiled for devices where it is not sure to be short.
    """

    def __init__(
        self, function: Callable[..., Any], name: str, *, calls_host: bool,
        compiler_options: dict[str, Any] | None = None, results_at: Sequence[Any] | None = None, **dispatched: Any,
    ) -> None:  # fmt: skip
        self._function, self._name, self._calls_host = function, name, calls_host
        self._options: dict[str, Any] = {"compiler_options": compiler_options}
        self.jitted: Any = jax.jit(function, **self._options, **dispatched)
        if results_at is not None:
            self._options["out_shardings"] = tuple(results_at)
        self._compiled: dict[Any, tuple[Any, bool]] = {}
        self._may_be_short = not calls_host
        self.short: Callable[..., Sequence[Any]] | None = None

    def launch(self, arrays: Sequence[Any], policy: LaunchPolicy | None = None) -> Any:
        """Runs it on arrays.

        Args:
          arrays: its arguments.
          policy: how; what is in force here if None, with the timeout of :func:`run_timeout`.

        Raises:
          DeadlineExceededError: the results were not there in time; the time to compile counts for a deadline alone.
          CancelledError: a token in force was cancelled before they were there.
        """
        if policy is None:
            policy = current_policy(current_run_timeout(), calls_host=self._calls_host)
        if policy.interruptible:
            given = on_device(arrays)
            program = self.prepare(given)
            with deadline(policy.timeout):
                return program(given, lambda: described(self._name, given))
        with interrupts_held() if self._calls_host else nullcontext():
            return self.jitted(*arrays)

    def trace(self, types: Sequence[TensorType]) -> None:
        """Has JAX trace it for arrays of these types; raises what that raises."""
        structs = [jax.ShapeDtypeStruct(type.shape, type.dtype, weak_type=type.weak) for type in types]
        self.jitted.trace(*structs)

    def prepare(self, arrays: Sequence[Any]) -> Callable[[Sequence[Any], What], Any]:
        """Compiles an interruptible program for arrays that are where these are.

        JAX's settings of this thread hold for it.

        Returns:
          Takes such arrays and a noun for messages; runs the program, waits for the results and returns them.
        """
        key = tuple(array.sharding for array in arrays)
        found = self._compiled.get(key)
        if found is None:
            while len(self._compiled) >= _PROGRAMS_KEPT:
                self._compiled.pop(next(iter(self._compiled)))
            numbers = [np.int32(0)] if self._calls_host else []
            with collection_paused():
                compiled = self._undonated.lower(*numbers, *arrays).compile()
            is_short = not self._calls_host and _is_short(compiled)
            found = self._compiled[key] = compiled, is_short
            self._may_be_short = self._may_be_short and is_short
            self.short = self._undonated if self._may_be_short else None
        compiled, is_short = found
        return lambda arrays, what: self._run(compiled, is_short, arrays, what)

    @cached_property
    def _undonated(self) -> Any:
        function = self._function

        def numbered(number: Any, *arrays: Any) -> Any:
            with numbered_calls(number):
                return function(*arrays)

        program = numbered if self._calls_host else function
        program.__name__ = program.__qualname__ = function.__name__
        return jax.jit(program, **self._options)

    def _run(self, compiled: Any, is_short: bool, arrays: Sequence[Any], what: What) -> Any:
        if is_short:
            results = compiled(*arrays)
            wait_for(jax.tree.leaves(results), what)
            return results
        settings = thread_settings()

        def program(*numbers: Any) -> Any:
            with settings():  # of the Python functions that it calls, mostly on this thread
                results = compiled(*numbers, *arrays)
                jax.block_until_ready(results)
            return results

        if not self._calls_host:
            with overseen(what):
                return run_on_thread(program, what)
        call = 0

        def waits_for() -> str:
            return with_calls(what, call)

        with overseen(waits_for), waited_for() as number:  # what the host calls do is progress
            call = number
            return run_on_thread(lambda: program(np.int32(number)), waits_for)


def _is_short(compiled: Any) -> bool:
    """Returns True if a program is sure to be short."""
    try:
        cost, text = compiled.cost_analysis(), compiled.as_text()
    except (NotImplementedError, RuntimeError):  # of a device whose compiler does not tell
        return False
    known = [int(rounds) for rounds in _ROUNDS.findall(text or "")]
    if not cost or not text or _FOREIGN in text or text.count(_LOOP) > len(known):
        return False
    rounds = math.prod(known)  # as if each loop were in all others
    operations, size = cost.get("flops", 0), cost.get("bytes accessed", 0)
    return rounds <= _MOST_ROUNDS and operations * rounds <= _MOST_OPERATIONS and size * rounds <= _MOST_BYTES


_timeout: ContextVar[float | None] = ContextVar("graphc.run_timeout", default=None)


def current_run_timeout() -> float | None:
    """Returns the seconds that a function of the innermost :func:`run_timeout` may run; None for no bound."""
    return _timeout.get()


@contextmanager
def run_timeout(seconds: float | None) -> Generator[None]:
    """Inside the scope each :class:`XlaFunction` has so many seconds to run; None for no bound."""
    token = _timeout.set(seconds)
    try:
        yield
    finally:
        _timeout.reset(token)


def described(name: str, arrays: Sequence[Any] = ()) -> str:
    """Returns a compiled function and the devices of its arguments in words."""
    found = next((array for array in arrays if isinstance(array, jax.Array)), None)
    places = [devices()[0]] if found is None else found.devices()
    return f"the compiled function {name!r} on {', '.join(sorted(map(device_name, places)))}"


def on_device(arrays: Sequence[Any]) -> list[Any]:
    """Returns the arrays as arrays of JAX's."""
    return [array if isinstance(array, jax.Array) else jnp.asarray(array) for array in arrays]
