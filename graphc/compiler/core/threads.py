"""Tapes that other threads have open: they record what this thread computes with the tensors that they follow.

A tape belongs to the thread that opened it, but a tensor that it follows may be handed to another one, such as a worker
of a ``ThreadPoolExecutor``. An op there on such a tensor runs as if the tape were open in this thread too. Reads of
Variables stay with the thread that reads, since a thread that evaluates a model beside its training is no part of the
loss: the tape only notes which values they reach, and warns if one of them arrives at it.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import cache
from typing import Any, cast

import jax

from graphc.compiler.base import config
from graphc.compiler.core.context import REASONS, busy, context, open_tapes
from graphc.compiler.core.protocols import Recorder

# JAX's thread-local settings, for threads that work on behalf of another one.

_jax_config = cast("Any", jax.config)
_precision = cast("Any", jax.default_matmul_precision)


def thread_settings() -> Callable[[], AbstractContextManager[None]]:
    """Returns what opens a scope with this thread's 64-bit and matmul settings in any thread; cached by settings."""
    return _scope_of(config.enable_x64, _jax_config.jax_default_matmul_precision)


@cache
def _scope_of(wide: bool, precision: Any) -> Callable[[], AbstractContextManager[None]]:
    @contextmanager
    def scope() -> Generator[None]:
        with ExitStack() as stack:
            if config.enable_x64 != wide:
                stack.enter_context(config.scope(enable_x64=wide))
            if _jax_config.jax_default_matmul_precision != precision:
                stack.enter_context(_precision(precision))
            yield

    return scope


def other_tapes() -> Sequence[Recorder]:
    """Returns the tapes that are open in eager code of other threads, and not in this one."""
    own = context.tapes
    if not open_tapes or context.exact or context.trace is not None or (own and len(open_tapes) == 1):
        return ()
    tapes_elsewhere = [tape for tapes in list(open_tapes.values()) for tape in tapes if tape not in own]
    return list(dict.fromkeys(tapes_elsewhere))


def only_tape() -> Recorder | None:
    """Returns the open tape if there is just one in all threads, and it is all that this thread's ops must heed."""
    taped = context.taped
    return taped[0] if len(taped) == 1 == len(open_tapes) and busy.isdisjoint(REASONS) else None


def tapes_following(values: Callable[[], Iterable[Any]]) -> tuple[Recorder, ...]:
    """Returns the tapes of other threads that follow one of the tensors; ``values`` is called if there are tapes."""
    others = other_tapes()
    if not others:
        return ()
    tensors = list(values())
    return tuple(tape for tape in others if any(map(tape.follows, tensors)))


def note_results(inputs: Sequence[Any], results: Sequence[Any]) -> None:
    """Tells the tapes of other threads which results this thread computed from tensors, and from Variables it read."""
    for tape in other_tapes():
        tape.note_elsewhere(inputs, results)
