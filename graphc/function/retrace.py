"""Why a function was traced again."""

from __future__ import annotations

from dataclasses import dataclass

from graphc.base import Location, config

__all__ = ["TraceReport", "is_due", "ordinal", "retrace_reason"]


@dataclass(frozen=True)
class TraceReport:
    """Why a function was traced.

    Attributes:
      number: which trace of the function it is, from 1.
      reason: what was new, naming the argument, its old and its new value.
      location: the line of the call.
      seconds: what tracing cost; compiling comes on top at the first run.
    """

    number: int
    reason: str
    location: Location | None
    seconds: float

    def __str__(self) -> str:
        place = f" at {self.location.short}" if self.location else ""
        return f"trace {self.number}{place}: {self.reason} ({self.seconds * 1e3:.1f} ms)"


def is_due(retraces: int, *, always: bool) -> bool:
    """Returns True if something is to be said after so many retraces.

    Args:
      retraces: how many there were.
      always: whether at each of them, from the first on that counts; otherwise whenever their number has doubled.
    """
    times, rest = divmod(retraces, config.warn_retraces)
    return times > 0 and (always or (rest == 0 and times.bit_count() == 1))


def ordinal(number: int) -> str:
    """Returns a number in order.

    Example:
      >>> [ordinal(number) for number in (1, 2, 3, 4, 11, 22)]
      ['1st', '2nd', '3rd', '4th', '11th', '22nd']
    """
    suffix = "th" if number // 10 % 10 == 1 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{suffix}"


def retrace_reason(new: list[tuple[str, str]], earlier: list[list[tuple[str, str]]]) -> str:
    """Returns what is new in a call, against the most similar one before."""
    if not earlier:
        return "the first call"

    def differences(old: list[tuple[str, str]]) -> list[str]:
        before = dict(old)
        after = dict(new)
        changed = [
            f"{path} was {before[path]}, is {after[path]}"
            for path in after
            if before.get(path, after[path]) != after[path]
        ]
        changed += [f"{path} is new" for path in after if path not in before]
        changed += [f"{path} is gone" for path in before if path not in after]
        return changed

    best = min((differences(old) for old in reversed(earlier)), key=len)
    if best:
        return "; ".join(best)
    return (
        "an object among the arguments, its attributes, the device scope, or the values of a tensor from outside "
        "changed"
    )
