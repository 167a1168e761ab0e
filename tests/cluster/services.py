"""Services for tests, which tasks host in whatever process they run."""

from __future__ import annotations

import os
import threading
from typing import Any

from graphc.cluster.task import Task
from graphc.compiler.base import Signal, config
from graphc.compiler.base.errors import OutOfRangeError
from graphc.compiler.core import current_resources
from graphc.compiler.devices import device_name, devices


class Probe:
    """Answers about the task in which it runs, and waits on demand."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.begun = threading.Event()
        self.total = 0
        self.waiting = 0
        self._waiters = threading.Condition()

    def double(self, x: Any) -> Any:
        return 2 * x

    def echo(self, x: Any) -> Any:
        return x

    def keeps_own_resources(self) -> bool:
        return current_resources() is self.task.resources

    def add(self, amount: int) -> int:
        with self._waiters:
            self.total += amount
            return self.total

    def wait(self) -> None:
        with self._waiters:
            self.waiting += 1
        self.begun.set()
        try:
            Signal().wait("the end of time")
        finally:
            with self._waiters:
                self.waiting -= 1
                self._waiters.notify_all()

    def nobody_waits(self) -> bool:
        with self._waiters:
            return self._waiters.wait_for(lambda: self.waiting == 0, 30)

    def wait_for_waiter(self) -> bool:
        found = self.begun.wait(30)
        self.begun.clear()
        return found

    def fail(self) -> None:
        raise OutOfRangeError("the queue is closed")

    def break_down(self) -> None:
        raise ZeroDivisionError("no such luck")

    def process(self) -> dict[str, Any]:
        return {
            "pid": os.getpid(),
            "x64": config.enable_x64,
            "heartbeat": config.heartbeat_timeout,
            "devices": [device_name(device) for device in devices()],
        }

    def call_other(self, address: str, method: str, *arguments: Any) -> Any:
        from graphc.cluster.carriers import find

        return find(address).call("probe", method, *arguments)

    def add_at(self, address: str, times: int) -> None:
        from graphc.cluster.carriers import find

        counter = find(address)
        for _ in range(times):
            counter.call("probe", "add", 1)

    def _private(self) -> None:
        raise AssertionError
