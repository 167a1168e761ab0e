"""Launch policies: dispatching a program, or running it so that the call may abandon it.

A dispatched program runs asynchronously. The call of an interruptible one waits for it. XLA cannot be interrupted, and
on a CPU it even runs some programs (those that call Python, and those that look short) in the calling thread. An
interruptible program therefore runs on a separate thread, so that the call can stop waiting. Only a program that is
certainly short runs in the calling thread, which takes a tenth of the time. An interruptible program donates nothing:
its arguments still exist if it is abandoned.
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

from graphc.compiler.base import (
    Subject,
    collection_paused,
    config,
    deadline,
    interruption,
    interrupts_held,
    other_slow_path_reasons,
    overseen,
    run_on_thread,
    watched,
)
from graphc.compiler.core import in_flight, thread_settings, wait_for
from graphc.compiler.devices import device_name, devices
from graphc.compiler.ir import TensorType
from graphc.compiler.ops import host_lock, numbered_calls, waited_for, with_calls

_PROGRAMS_KEPT = 8

# A program below these numbers of operations, bytes and loop rounds takes some hundred microseconds, if the compiler
# knows all its work: it counts the body of a loop once, reports the trip counts of most loops, and nothing of foreign
# code.
_MOST_OPERATIONS = 1e7
_MOST_BYTES = 1e7
_MOST_ROUNDS = 1000
_LOOP, _FOREIGN = " while(", " custom-call("
_ROUNDS = re.compile(r'"known_trip_count":\{"n":"(\d+)"')


@dataclass(frozen=True)
class LaunchPolicy:
    """The way to launch a program."""

    interruptible: bool = False  # waits for the results; abandons the program at a deadline, changing no Variable
    timeout: float | None = None  # of an interruptible program in seconds, without its compilation
    max_in_flight: int | None = None  # steps dispatched but not yet computed; None for no limit
    watched: bool = False  # whether the watchdog reports a launch without progress

    def dispatch(
        self, name: str, subject: Subject, program: Callable[[], Sequence[Any]], written: Callable[[], Sequence[Any]]
    ) -> Sequence[Any]:
        """Dispatches a program once another step may be in flight."""
        with watched(subject) if self.watched else nullcontext():
            if self.max_in_flight is None:
                return program()
            in_flight.make_room(self.max_in_flight)
            results = program()
        in_flight.add(name, results or written())  # the assigned arrays track a program without results
        return results


DISPATCH = LaunchPolicy()
"""Dispatches a program without further conditions."""


def current_policy(timeout: float | None = None, *, calls_host: bool = False) -> LaunchPolicy:
    """Returns the policy that the deadlines, tokens and settings in force require."""
    if timeout is None and not other_slow_path_reasons:
        return DISPATCH
    watched = config.watchdog_seconds is not None
    attended = calls_host and (watched or host_lock.is_lent)
    interruptible = timeout is not None or interruption() is not None or attended
    return LaunchPolicy(interruptible, timeout, config.max_in_flight, watched)


class XlaFunction:
    """A function of arrays that XLA compiles, launched by a policy.

    Args:
      function: the function that JAX traces; it may return any pytree.
      results_at: the shardings of an interruptible program's results; None where XLA decides.
      dispatched: further ``jax.jit`` options for the dispatched program.
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
        # It may run in the thread of an interruptible call; None until the program was compiled, and for good once it
        # was compiled for devices where it may not be short.
        self.short: Callable[..., Sequence[Any]] | None = None

    def launch(self, arrays: Sequence[Any], policy: LaunchPolicy | None = None) -> Any:
        """Runs the function on arrays, by default with the policy in force."""
        if policy is None:
            policy = current_policy(current_run_timeout(), calls_host=self._calls_host)
        if policy.interruptible:
            operands = on_device(arrays)
            program = self.prepare(operands)
            with deadline(policy.timeout):  # without the compile time
                return program(operands, lambda: described(self._name, operands))
        with interrupts_held() if self._calls_host else nullcontext():
            return self.jitted(*arrays)

    def trace(self, types: Sequence[TensorType]) -> None:
        """Makes JAX trace the function for arrays of these types; raises its errors."""
        structs = [jax.ShapeDtypeStruct(type.shape, type.dtype, weak_type=type.weak) for type in types]
        self.jitted.trace(*structs)

    def prepare(self, arrays: Sequence[Any]) -> Callable[[Sequence[Any], Subject], Any]:
        """Compiles an interruptible program for arrays on the devices of these, with this thread's JAX settings."""
        # The function takes such arrays and a noun for messages; it runs the program, waits, and returns the results.
        key = tuple(array.sharding for array in arrays)
        entry = self._compiled.get(key)
        if entry is None:
            while len(self._compiled) >= _PROGRAMS_KEPT:
                self._compiled.pop(next(iter(self._compiled)))
            numbers = [np.int32(0)] if self._calls_host else []
            with collection_paused():
                compiled = self._undonated.lower(*numbers, *arrays).compile()
            is_short = not self._calls_host and _is_short(compiled)
            entry = self._compiled[key] = compiled, is_short
            self._may_be_short = self._may_be_short and is_short
            self.short = self._undonated if self._may_be_short else None
        compiled, is_short = entry
        return lambda arrays, subject: self._run(compiled, is_short, arrays, subject)

    @cached_property
    def _undonated(self) -> Any:
        function = self._function

        def numbered(number: Any, *arrays: Any) -> Any:
            with numbered_calls(number):
                return function(*arrays)

        program = numbered if self._calls_host else function
        program.__name__ = program.__qualname__ = function.__name__
        return jax.jit(program, **self._options)

    def _run(self, compiled: Any, is_short: bool, arrays: Sequence[Any], subject: Subject) -> Any:
        if is_short:
            results = compiled(*arrays)
            wait_for(jax.tree.leaves(results), subject)
            return results
        settings = thread_settings()

        def program(*numbers: Any) -> Any:
            with settings():  # for its host callbacks, which run mostly on this thread
                results = compiled(*numbers, *arrays)
                jax.block_until_ready(results)
            return results

        if not self._calls_host:
            with overseen(subject):
                return run_on_thread(program, subject)
        call = 0

        def waits_for() -> str:
            return with_calls(subject, call)

        with overseen(waits_for), waited_for() as number:  # progress of host calls counts as progress
            call = number
            return run_on_thread(lambda: program(np.int32(number)), waits_for)


def _is_short(compiled: Any) -> bool:
    """Returns True if a program is certainly short."""
    try:
        cost, text = compiled.cost_analysis(), compiled.as_text()
    except (NotImplementedError, RuntimeError):  # a device whose compiler does not report costs
        return False
    counts = [int(rounds) for rounds in _ROUNDS.findall(text or "")]
    if not cost or not text or _FOREIGN in text or text.count(_LOOP) > len(counts):
        return False
    rounds = math.prod(counts)  # as if all loops were nested
    operations, size = cost.get("flops", 0), cost.get("bytes accessed", 0)
    return rounds <= _MOST_ROUNDS and operations * rounds <= _MOST_OPERATIONS and size * rounds <= _MOST_BYTES


_timeout: ContextVar[float | None] = ContextVar("graphc.run_timeout", default=None)


def current_run_timeout() -> float | None:
    """Returns the time limit of the innermost :func:`run_timeout` in seconds; None for no limit."""
    return _timeout.get()


@contextmanager
def run_timeout(seconds: float | None) -> Generator[None]:
    """Limits each run of an :class:`XlaFunction` inside the scope to ``seconds``; None for no limit."""
    token = _timeout.set(seconds)
    try:
        yield
    finally:
        _timeout.reset(token)


def described(name: str, arrays: Sequence[Any] = ()) -> str:
    """Returns a description of a compiled function and the devices of its arguments."""
    placed = next((array for array in arrays if isinstance(array, jax.Array)), None)
    used = [devices()[0]] if placed is None else placed.devices()
    return f"the compiled function {name!r} on {', '.join(sorted(map(device_name, used)))}"


def on_device(arrays: Sequence[Any]) -> list[Any]:
    """Returns the arrays as JAX arrays."""
    return [array if isinstance(array, jax.Array) else jnp.asarray(array) for array in arrays]
