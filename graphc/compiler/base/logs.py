"""Log lines of programs: Python's logging under graphc's name, on stderr unless logging is configured."""

from __future__ import annotations

import itertools
import logging
import sys
from functools import cache
from typing import Any

from graphc.compiler.base.frames import Location, user_location


class _Stderr(logging.Handler):
    """Writes lines to the current ``sys.stderr``, unless the program has installed handlers."""

    def emit(self, record: logging.LogRecord) -> None:
        if not logging.getLogger().handlers:
            print(self.format(record), file=sys.stderr, flush=True)


@cache
def logger() -> logging.Logger:
    """Returns graphc's logger, with level WARNING unless the program sets another."""
    log = logging.getLogger("graphc")
    if log.level == logging.NOTSET:
        log.setLevel(logging.WARNING)
    handler = _Stderr()
    handler.setFormatter(logging.Formatter("%(levelname)s:%(name)s:%(message)s"))
    log.addHandler(handler)
    return log


def flush() -> None:
    """Flushes all handlers."""
    for handler in (*logger().handlers, *logging.getLogger().handlers):
        handler.flush()


@cache
def _calls_of(kind: str, location: Location | None) -> itertools.count[int]:
    return itertools.count()


def log_first(level: int, message: str, n: int, *args: Any) -> None:
    """Logs a message at the first ``n`` calls from a line of the program."""
    if next(_calls_of("first", user_location())) < n:
        logger().log(level, message, *args)


def log_every(level: int, message: str, n: int, *args: Any) -> None:
    """Logs a message at the first call from a line of the program and at every ``n``-th call after it."""
    if next(_calls_of("every", user_location())) % n == 0:
        logger().log(level, message, *args)


def log_if(level: int, message: str, condition: object, *args: Any) -> None:
    """Logs a message if a condition is true."""
    if condition:
        logger().log(level, message, *args)
