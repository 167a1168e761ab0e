"""The log lines of programs: Python's logging under graphc's name, on stderr where nothing else is set up."""

from __future__ import annotations

import itertools
import logging
import sys
from functools import cache
from typing import Any

from graphc.base.frames import Location, user_location

__all__ = ["flush", "log_every", "log_first", "log_if", "logger"]


class _Stderr(logging.Handler):
    """Writes lines to what is ``sys.stderr`` now, unless the program has set up handlers of its own."""

    def emit(self, record: logging.LogRecord) -> None:
        if not logging.getLogger().handlers:
            print(self.format(record), file=sys.stderr, flush=True)


@cache
def logger() -> logging.Logger:
    """Returns graphc's logger, whose level is WARNING until the program sets another."""
    found = logging.getLogger("graphc")
    if found.level == logging.NOTSET:
        found.setLevel(logging.WARNING)
    handler = _Stderr()
    handler.setFormatter(logging.Formatter("%(levelname)s:%(name)s:%(message)s"))
    found.addHandler(handler)
    return found


def flush() -> None:
    """Hands lines that handlers still hold to where they go."""
    for handler in (*logger().handlers, *logging.getLogger().handlers):
        handler.flush()


@cache
def _calls_of(kind: str, place: Location | None) -> itertools.count[int]:
    return itertools.count()


def log_first(level: int, message: str, n: int, *args: Any) -> None:
    """Logs what a line of the program says in its first ``n`` calls."""
    if next(_calls_of("first", user_location())) < n:
        logger().log(level, message, *args)


def log_every(level: int, message: str, n: int, *args: Any) -> None:
    """Logs what a line of the program says in its first call and each ``n``-th one after it."""
    if next(_calls_of("every", user_location())) % n == 0:
        logger().log(level, message, *args)


def log_if(level: int, message: str, condition: object, *args: Any) -> None:
    """Logs a line if a condition holds."""
    if condition:
        logger().log(level, message, *args)
