"""A program that may be given up while it runs.

XLA cannot be interrupted, and on a CPU it even runs some programs (those that call Python, and those that look short)
in the thread that calls them. So the program runs on a thread of its own, and who waits for it may stop waiting. Only
one that is sure to be short is called where it is wanted, which takes a tenth of the time. It donates nothing: what it
was given is still there when it was given up.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from functools import cached_property
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from graphc.base import What, apart, collection_paused, config, deadline, interruption, interrupts_held, overseen
from graphc.core import device_name, devices, thread_settings, wait_for
from graphc.ir import TensorType
from graphc.ops import numbered_calls, waited_for, with_calls

__all__ = ["Attended", "ProgramApart", "current_run_timeout", "described", "on_device", "run_timeout"]

_PROGRAMS_KEPT = 8

# A program of no more operations, bytes and rounds of loops takes some hundred microseconds, if the compiler knows all
# that it does: it counts the body of a loop once, and says of most how often they run, and of foreign code nothing.
_MOST_OPERATIONS = 1e7
_MOST_BYTES = 1e7
_MOST_ROUNDS = 1000
_LOOP, _FOREIGN = " while(", " custom-call("
_ROUNDS = re.compile(r'"known_trip_count":\{"n":"(\d+)"')


class ProgramApart:
    """A program, compiled to run on a thread of its own unless it is short.

    Args:
      function: what JAX traces.
      calls_host: whether it calls Python; what was not begun when the program is given up is then not begun.
      compiler_options: for XLA.
      out_shardings: where the results are left; None where XLA decides.

    Attributes:
      short: the ``jax.jit`` function, once it was compiled and found to be sure to be short; None before, and else.
    """

    def __init__(
        self, function: Callable[..., Any], *, calls_host: bool, compiler_options: dict[str, Any] | None,
        out_shardings: Sequence[Any] | None = None,
    ) -> None:  # fmt: skip
        self._calls_host = calls_host
        self._compiled: dict[Any, Any] = {}
        self.short: Callable[..., Sequence[Any]] | None = None

        def numbered(number: Any, *arrays: Any) -> Any:
            with numbered_calls(number):
                return function(*arrays)

        program = numbered if calls_host else function
        program.__name__ = program.__qualname__ = function.__name__
        where: Any = {} if out_shardings is None else {"out_shardings": tuple(out_shardings)}
        self._jitted: Any = jax.jit(program, compiler_options=compiler_options, **where)

    def prepare(self, arrays: Sequence[Any]) -> Any:
        """Compiles the program for arrays that are where these are; in this thread, whose settings of JAX's count."""
        key = tuple(array.sharding for array in arrays)
        found = self._compiled.get(key)
        if found is None:
            while len(self._compiled) >= _PROGRAMS_KEPT:
                self._compiled.pop(next(iter(self._compiled)))
            numbers = [np.int32(0)] if self._calls_host else []
            with collection_paused():
                found = self._compiled[key] = self._jitted.lower(*numbers, *arrays).compile()
            self.short = None if self._calls_host or not _is_short(found) else self._jitted
        return found

    def run(self, compiled: Any, arrays: Sequence[Any], what: What) -> Sequence[Any]:
        """Runs what :meth:`prepare` gave, and waits for the results.

        Raises:
          DeadlineExceededError: the deadline in force has passed; what the program computes is dropped.
          CancelledError: a token in force was cancelled; the same.
        """
        if self.short is not None:
            results = compiled(*arrays)
            wait_for(jax.tree.leaves(results), what)
            return results
        settings = thread_settings()

        def program(*numbers: Any) -> Sequence[Any]:
            with settings():  # of the Python functions that it calls, mostly on this thread
                results: Sequence[Any] = compiled(*numbers, *arrays)
                jax.block_until_ready(results)
            return results

        if not self._calls_host:
            with overseen(what):
                return apart(program, what)
        call = 0

        def waits_for() -> str:
            return with_calls(what, call)

        with overseen(waits_for), waited_for() as number:  # what the host calls do is progress
            call = number
            return apart(lambda: program(np.int32(number)), waits_for)


def _is_short(compiled: Any) -> bool:
    """Whether a program is sure to be short."""
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


class Attended:
    """A compiled function of arrays that runs apart where a deadline, a token or :func:`run_timeout` is in force.

    So it does under the watchdog.

    Args:
      function: what JAX traces; it may return any pytree.
      name: of the compiled function that the user called, for messages.
      calls_host: whether it calls Python.
    """

    def __init__(self, function: Callable[..., Any], name: str, *, calls_host: bool) -> None:
        self._function, self._name, self._calls_host = function, name, calls_host
        self._jitted: Any = jax.jit(function)

    def __call__(self, *arrays: Any) -> Any:
        """Runs it, and under a deadline or a token waits for the results.

        Raises:
          DeadlineExceededError: they are not there in time; the time to compile counts for a deadline alone.
          CancelledError: a token in force was cancelled before they were there.
        """
        timeout = current_run_timeout()
        if timeout is None and interruption() is None and config.watchdog_seconds is None:
            with interrupts_held() if self._calls_host else nullcontext():
                return self._jitted(*arrays)
        given = on_device(arrays)
        compiled = self._apart.prepare(given)
        with deadline(timeout):
            return self._apart.run(compiled, given, lambda: described(self._name, given))

    def trace(self, types: Sequence[TensorType]) -> None:
        """Has JAX trace it for arrays of these types; raises what that raises."""
        structs = [jax.ShapeDtypeStruct(type.shape, type.dtype, weak_type=type.weak) for type in types]
        self._jitted.trace(*structs)

    @cached_property
    def _apart(self) -> ProgramApart:
        return ProgramApart(self._function, calls_host=self._calls_host, compiler_options=None)


_timeout: ContextVar[float | None] = ContextVar("graphc.run_timeout", default=None)


def current_run_timeout() -> float | None:
    """Within how many seconds a program must be done that is run here; None for no bound."""
    return _timeout.get()


@contextmanager
def run_timeout(seconds: float | None) -> Generator[None]:
    """Inside the scope each attended program has so many seconds to run; None for no bound."""
    token = _timeout.set(seconds)
    try:
        yield
    finally:
        _timeout.reset(token)


def described(name: str, arrays: Sequence[Any]) -> str:
    """A compiled function in words: what and where."""
    found = next((array for array in arrays if isinstance(array, jax.Array)), None)
    places = [devices()[0]] if found is None else found.devices()
    return f"the compiled function {name!r} on {', '.join(sorted(map(device_name, places)))}"


def on_device(arrays: Sequence[Any]) -> list[Any]:
    """The arrays as arrays of JAX's."""
    return [array if isinstance(array, jax.Array) else jnp.asarray(array) for array in arrays]
