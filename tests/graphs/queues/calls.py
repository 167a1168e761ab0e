"""Calls that may wait, each on a thread of its own, of which a test knows when they wait."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from graphc.compiler.base import CancellationToken
from graphc.graphs.queues import QueueState

SECONDS = 30.0
"""No test waits for longer: then something hangs."""


class Call:
    """A call on a thread, which has returned, raised or begun to wait once the constructor is done.

    Args:
      state: of the queue at which it may wait.
      function: what to call.
    """

    def __init__(self, state: QueueState, function: Callable[[], Any]) -> None:
        self.result: Any = None
        self.error: BaseException | None = None
        self.token = CancellationToken()
        self._function = function
        self._settled = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        note_waits(state)
        _calls[self._thread] = self
        self._thread.start()
        assert self._settled.wait(SECONDS)

    def _run(self) -> None:
        try:
            with self.token:
                self.result = self._function()
        except BaseException as error:
            self.error = error
        finally:
            self._settled.set()

    @property
    def waits(self) -> bool:
        """Whether it waits still, of a call that nothing has woken."""
        return self._thread.is_alive()

    def end(self) -> Any:
        """Waits for the end, and returns or raises what the call did."""
        self._thread.join(SECONDS)
        assert not self._thread.is_alive(), "the call waits for ever"
        if self.error is not None:
            raise self.error
        return self.result

    def cancel(self) -> BaseException:
        """Cancels the call, and returns what it raises."""
        self.token.cancel("not needed")
        self._thread.join(SECONDS)
        assert self.error is not None
        return self.error

    def settled(self) -> None:
        """Says that the call waits."""
        self._settled.set()


_calls: dict[threading.Thread, Call] = {}


def note_waits(state: QueueState) -> None:
    """Has a state tell a call on whose thread it is about to wait; the state is locked until that waits."""
    block = type(state)._block

    def noted(waiter: Any) -> None:
        call = _calls.get(threading.current_thread())
        if call is not None:
            call.settled()
        block(state, waiter)

    state._block = noted
