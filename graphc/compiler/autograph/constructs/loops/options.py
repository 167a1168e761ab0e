"""``gx.loop_options``: what the user says about one loop, inside it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from types import CodeType, FrameType
from typing import Any

from graphc.compiler.autograph.frontend.convert import is_converted
from graphc.compiler.base.errors import InvalidArgumentError, UnimplementedError
from graphc.compiler.tracing import LoopReport, Trace, context


@dataclass(frozen=True)
class LoopOptions:
    """The options that the user gives for a loop; see :func:`loop_options`."""

    unroll: bool | int | None = None
    max_iterations: int | None = None


# No Exception: an attempt to trace the loop catches those, and would swallow it.
class OptionsFound(BaseException):
    """The body of a loop has said its options, so that the loop can begin anew with them."""

    def __init__(self, loop: OpenLoop) -> None:
        super().__init__(loop)
        self.loop = loop


class OpenLoop:
    """A loop that is being run or traced."""

    def __init__(self, trace: Trace, body: Callable[..., Any]) -> None:
        self.said: LoopOptions | None = None  # what its body says; None as long as it says nothing
        # Whether the loop begins anew, by OptionsFound, when its body says options that were not known.
        self.restarts = False
        self.per_step = 1  # how many iterations became one step of the loop node
        self.code: CodeType | None = getattr(body, "__code__", None)
        self._trace = trace

    @property
    def unroll(self) -> bool | int | None:
        """True if the loop is unrolled, or how many iterations become one; None where nobody says."""
        setting = None if self.said is None else self.said.unroll
        return self._trace.root.unroll if setting is None else setting

    @property
    def max_iterations(self) -> int | None:
        """Returns how often the loop runs at most; None where nobody says."""
        setting = None if self.said is None else self.said.max_iterations
        return self._trace.root.max_iterations if setting is None else setting

    def say(self, options: LoopOptions) -> None:
        """Takes note of the options."""
        news = self.said is None
        self.said = options
        if news and self.restarts:
            raise OptionsFound(self)


_loops: ContextVar[tuple[OpenLoop, ...]] = ContextVar("graphc_loops", default=())


@contextmanager
def open_loop(trace: Trace, body: Callable[..., Any]) -> Generator[OpenLoop]:
    """Inside, the body may say the options of the loop."""
    loop = OpenLoop(trace, body)
    token = _loops.set((*_loops.get(), loop))
    try:
        yield loop
    finally:
        _loops.reset(token)


def with_options(trace: Trace, options: OpenLoop, run: Callable[[], None]) -> None:
    """Runs a loop, and once more from its start if its body says options that were not known by then."""
    before = trace.checkpoint()
    options.restarts = options.said is None
    try:
        run()
    except OptionsFound as signal:
        if signal.loop is not options:
            raise
        trace.rollback(before)
        run()
    finally:
        options.restarts = False


def report_unrolled(trace: Trace, options: OpenLoop, reason: str) -> LoopReport:
    """Reports that Python ran a loop; refuses that if its body says that it is to be rolled."""
    if options.said is not None and options.said.unroll is False:
        raise trace.refuse(UnimplementedError(f"unroll=False, but this loop cannot be rolled: {reason}"))
    return trace.report_loop("unrolled", reason)


def loop_options(*, unroll: bool | int | None = None, max_iterations: int | None = None) -> None:
    """Says how the loop in whose body it is the first statement is compiled; plain Python code runs past it.

    It is about that very loop, not about those inside it, and wins over the options of :func:`graphc.function` (the
    idea of ``tf.autograph.experimental.set_loop_options``).

    Args:
      unroll: True unrolls the loop: each iteration becomes nodes of its own. False rolls it into one node, or is
        refused where that would change its meaning. An int rolls it, with so many iterations made one where the number
        of iterations is known. None leaves it to graphc.
      max_iterations: how often the loop runs at most, where that depends on tensors. Lists that the loop makes longer,
        and gradients through it, need room for so many iterations. A loop that has not ended by then raises.

    Raises:
      InvalidArgumentError: an option of another kind, or it stands elsewhere than in the body of a loop.

    Example:
      >>> import graphc as gx
      >>> @gx.function
      ... def halvings(x):
      ...     count = 0
      ...     while x > 1:
      ...         gx.loop_options(max_iterations=100)
      ...         x = x / 2
      ...         count = count + 1
      ...     return count
      >>> halvings(gx.asarray(10.0)).item()
      4
    """
    _check("unroll", unroll, 2, switch=True)
    _check("max_iterations", max_iterations, 1, switch=False)
    if context.trace is None:
        return
    frame: FrameType | None = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
    while frame is not None and frame.f_code.co_filename.startswith("<graphc alias"):
        frame = frame.f_back  # a function of graphc.compat's, by whose name this one was called
    assert frame is not None
    code = frame.f_code
    # Innermost first: of a recursive function all open loops have the same code.
    for loop in reversed(_loops.get()):
        if loop.code is code:
            loop.say(LoopOptions(unroll, max_iterations))
            return
    if is_converted(code):
        message = "loop_options stands outside of a loop's body; make it the first statement there, in no branch"
        raise InvalidArgumentError(message).here()


def _check(name: str, value: Any, least: int, *, switch: bool) -> None:
    if value is None or (switch and isinstance(value, bool)):
        return
    # True is an int to Python: max_iterations=True would pass for 1.
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        switches = "True, False, " if switch else ""
        message = f"loop_options: {name} must be None, {switches}or an int from {least} on, got {value!r}"
        raise InvalidArgumentError(message).here()
