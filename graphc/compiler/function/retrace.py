"""Retrace reports: why a function was traced again."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from graphc.compiler.base import Location, at, config, user_location, warn_at
from graphc.compiler.base.errors import InvalidArgumentError, RetraceWarning
from graphc.compiler.function.options import Report
from graphc.compiler.function.traced import TracedFunction
from graphc.compiler.tracing import ALIAS

__all__ = ["RetraceLog", "TraceReport", "is_due", "ordinal", "retrace_reason"]

_REPORTS_KEPT = 1_000
_SETTINGS = ("enable_x64", "default_dtype_bits", "check_numerics")


@dataclass(frozen=True)
class TraceReport:
    """The reason for a trace of a function.

    Attributes:
      reason: the argument that changed, with its old and its new value.
      seconds: the tracing time; compilation follows at the first run.
    """

    number: int
    reason: str
    location: Location | None
    seconds: float

    def __str__(self) -> str:
        place = f" at {self.location.short}" if self.location else ""
        return f"trace {self.number}{place}: {self.reason} ({self.seconds * 1e3:.1f} ms)"


class RetraceLog:
    """The traces of a function with their reasons; warns when there are too many.

    Args:
      on_retrace: the reaction to the third retrace: ``"warn"``, ``"error"`` or ``"ignore"``.

    Attributes:
      reports: the last reports.
    """

    def __init__(self, name: str, on_retrace: Report) -> None:
        self.reports: deque[TraceReport] = deque(maxlen=_REPORTS_KEPT)
        self._name = name
        self._on_retrace = on_retrace
        self._described: list[list[tuple[str, str]]] = []
        self._creating: list[list[tuple[str, str]]] = []
        self._num_expected = 0
        self._ran_in_python = False

    @property
    def num_traces(self) -> int:
        """The number of times the function was traced."""
        return self.reports[-1].number if self.reports else 0

    def clear(self) -> None:
        """Forgets the reports, so that the next trace is compared with none."""
        self._described.clear()
        self._creating.clear()

    def note_in_python(self, created: Sequence[str], seconds: float) -> None:
        """Records a first call that ran as plain Python, since the Variables that it created cannot be lifted."""
        others = f" and {len(created) - 1:,} more" if len(created) > 1 else ""
        reason = f"this call ran as plain Python; it creates the Variable {created[0]!r}{others}"
        self.reports.append(TraceReport(self.num_traces + 1, reason, user_location(), seconds))
        self._num_expected += 1
        self._ran_in_python = True

    def note(self, traced: TracedFunction, open_arguments: Collection[str], *, created: str = "") -> None:
        """Records a new trace.

        Args:
          open_arguments: the arguments whose shapes ``input_signature`` leaves open.
          created: the Variables that the call created; the next call, which creates none, is traced again.

        Raises:
          InvalidArgumentError: there are too many traces, and ``on_retrace`` is ``"error"``.
        """
        described = [*traced.described(), *_settings()]
        reason = retrace_reason(described, self._described)
        expected = self._is_expected(described, open_arguments)
        number = self.num_traces + 1
        if created:
            reason = "the first call with other objects" if described in self._creating else reason
            reason += f"; it creates {created}"
            self._creating.append(described)
        elif described in self._creating or (self._ran_in_python and not self._described):
            reason = "the first call created Variables, which exist now"
        elif expected:
            reason += "; input_signature leaves this open"
        self._described.append(described)
        expected = expected or bool(created)
        self._num_expected += expected
        report = TraceReport(number, reason, user_location(), traced.seconds)
        self.reports.append(report)
        del self._described[: -config.max_traces]
        del self._creating[: -config.max_traces]
        counted = number - 1 - self._num_expected
        if expected or self._on_retrace == "ignore" or not is_due(counted, always=self._on_retrace == "error"):
            return
        message = (
            f"{self._name} was traced again, for the {ordinal(number)} time: {reason}; each trace is compiled anew. "
            "Pass numbers that change as tensors, keep shapes fixed, or give input_signature or on_retrace='ignore'"
        )
        if self._on_retrace == "error":
            raise at(InvalidArgumentError(message), report.location)
        warn_at(RetraceWarning(message), report.location)

    def _is_expected(self, described: list[tuple[str, str]], open_arguments: Collection[str]) -> bool:
        """Returns True if a trace differs from an earlier one only in shapes that ``input_signature`` leaves open."""

        def rest(described: list[tuple[str, str]]) -> list[tuple[str, str]]:
            return [item for item in described if item[0] not in open_arguments]

        return bool(open_arguments) and rest(described) in map(rest, self._described)


def _settings() -> list[tuple[str, str]]:
    """Returns the settings that a trace depends on, by name, for retrace reasons."""
    return [(f"gx.config.{name}", str(getattr(config, name))) for name in _SETTINGS]


def is_due(retraces: int, *, always: bool) -> bool:
    """Returns True if a warning is due after this many retraces.

    Args:
      always: whether to warn at each of them, from the first one that counts; otherwise when their number has doubled.
    """
    times, rest = divmod(retraces, config.warn_retraces)
    return times > 0 and (always or (rest == 0 and times.bit_count() == 1))


def ordinal(number: int) -> str:
    """Returns an ordinal number in words.

    Example:
      >>> [ordinal(number) for number in (1, 2, 3, 4, 11, 22)]
      ['1st', '2nd', '3rd', '4th', '11th', '22nd']
    """
    suffix = "th" if number // 10 % 10 == 1 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{suffix}"


def retrace_reason(new: list[tuple[str, str]], earlier: list[list[tuple[str, str]]]) -> str:
    """Returns what is new in a call, compared with the most similar earlier one."""
    if not earlier:
        return "the first call"

    def differences(old: list[tuple[str, str]]) -> list[str]:
        before, after = dict(old), dict(new)
        changed = [path for path in {**after, **before} if before.get(path) != after.get(path)]
        if not changed and [*before] != [*after]:
            first, second = next(pair for pair in zip(before, after, strict=True) if pair[0] != pair[1])
            return [f"{second} comes before {first}"]
        aliases = [path for path in changed if ALIAS in before.get(path, "") + after.get(path, "")]
        below = tuple(alias + sign for alias in aliases for sign in ".[")  # told where the object was found first
        told = [path for path in changed if not path.startswith(below)]
        told.sort(key=lambda path: (path not in after, path not in before))
        return [_difference(path, before.get(path, ""), after.get(path, "")) for path in told]

    best = min((differences(old) for old in reversed(earlier)), key=len)
    if best:
        return "; ".join(best)
    return (
        "an object among the arguments, its attributes, the device scope, or the values of a tensor from outside "
        "changed"
    )


def _difference(path: str, before: str, after: str) -> str:
    if before and after:
        return f"{path} was {before}, is {after}"
    if ALIAS in before:
        return f"{path} was {before}, is another one"
    return f"{path} is {after}" if ALIAS in after else f"{path} is {'gone' if before else 'new'}"
