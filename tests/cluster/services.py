"""Services for tests, which tasks host in whatever process they run."""

from __future__ import annotations

import os
import threading
from typing import Any

from graphc.base import Signal, config
from graphc.base.errors import OutOfRangeError
from graphc.cluster.task import Task
from graphc.core import current_resources, device_name, devices


class Probe:
    """Answers about the task in which it runs, and waits on demand."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.begun = threading.Event()
        self.total = 0
        self._lock = threading.Lock()

    def double(self, x: Any) -> Any:
        return 2 * x

    def echo(self, x: Any) -> Any:
        return x

    def keeps_own_resources(self) -> bool:
        return current_resources() is self.task.resources

    def add(self, amount: int) -> int:
        with self._lock:
            self.total += amount
            return self.total

    def wait(self) -> None:
        self.begun.set()
        Signal().wait("the end of time")

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

    def _private(self) -> None:
        raise AssertionError
