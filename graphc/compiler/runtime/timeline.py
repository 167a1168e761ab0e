"""The timeline of a program: the work of each device and thread, with waits.

Devices compute asynchronously, so a thread for each device observes when the results of its steps are ready. Devices
run their steps in order: a step begins when its inputs are ready and the step before it is done.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

import jax
from jax.core import Tracer

from graphc.compiler.base import ABOVE, listen_to_waits, set_slow_path_reason, user_location
from graphc.compiler.base.errors import FailedPreconditionError, InvalidArgumentError, NotFoundError
from graphc.compiler.core import observe_ops
from graphc.compiler.devices import device_name
from graphc.compiler.ops import CALL, VJP
from graphc.compiler.runtime.plan import HOST

if TYPE_CHECKING:
    from graphc.compiler.ir import Attrs, Graph, OpDef
    from graphc.compiler.runtime.executor import Execution
    from graphc.compiler.runtime.plan import Step


BARRIER = "other ranks, before "
"""Prefix of events in which a process waited for the others of its job."""

_SHOWN = 40
"""Maximum number of events that the text of a timeline shows."""


@dataclass(frozen=True)
class Event:
    """A span of time in which something ran.

    Attributes:
      name: the step's name: its ops, or the value that it moves.
      kind: ``op``, ``program``, ``segment``, ``transfer``, ``host call``, ``control flow``, ``transform`` or ``wait``.
      track: the device or host thread that was busy.
      start: the start, in seconds from the beginning of the timeline.
      end: the end, in seconds from the beginning of the timeline.
      function: the compiled function that it belongs to; empty if there is none.
      line: the user's line that ran an op or a program, such as ``train.py:12``; empty for other kinds.
    """

    name: str
    kind: str
    track: str
    start: float
    end: float
    function: str = ""
    line: str = ""

    def overlaps(self, other: Event) -> bool:
        """Returns True if the two events overlap in time."""
        return self.start < other.end and other.start < self.end


class Timeline:
    """The record of a :func:`profile` scope.

    Attributes:
      events: the events in order of their start, available once the scope is closed.
    """

    def __init__(self) -> None:
        self.events: tuple[Event, ...] = ()
        self._found: list[Event] = []
        self.began = time.perf_counter()
        self._lock = threading.Lock()
        self._devices: dict[str, _DeviceWatch] = {}
        self._closed = False
        self._task = f"/task:{_rank()}/"  # prefix of its own devices' names

    def add(self, name: str, kind: str, track: str, start: float, function: str = "", line: str = "") -> None:
        """Records an event that has just ended; ``start`` is by ``time.perf_counter``."""
        event = Event(name, kind, track, start - self.began, time.perf_counter() - self.began, function, line)
        with self._lock:
            self._found.append(event)

    def include(self, events: Sequence[Event], began: float, task: str) -> None:
        """Adds the events of another task's timeline.

        Args:
          began: the start of that timeline, by this process's ``time.perf_counter``.
          task: the task, a prefix for the names of its tracks.
        """
        offset = began - self.began
        with self._lock:
            self._found.extend(
                replace(event, track=task + event.track if event.track.startswith("/") else f"{task} {event.track}",
                        start=event.start + offset, end=event.end + offset)
                for event in events
            )  # fmt: skip

    def run(self, step: Step, arrays: Sequence[Any], execution: Execution) -> Sequence[Any]:
        """Runs and records a step of a plan."""
        waits = () if all(map(_is_there, arrays)) else arrays
        if step.device == HOST:
            jax.block_until_ready(waits)  # a Python call begins when its arguments are ready
        start = time.perf_counter()
        results = step.run(arrays, execution)
        if step.device == HOST:
            self.add(step.name, step.kind, threading.current_thread().name, start, execution.name)
        else:
            self.launched(step.name, step.kind, step.device, start, results, waits, execution.name)
        return results

    def ran(
        self, op: OpDef, attrs: Attrs, regions: Sequence[Graph], arrays: Sequence[Any], results: Sequence[Any],
        start: float,
    ) -> None:  # fmt: skip
        """Records an eager op; see :func:`graphc.compiler.core.observe_ops`."""
        if any(isinstance(array, Tracer) for array in results):  # JAX is tracing the caller, so nothing runs
            return
        name, kind = (regions[0].name, "program") if op is CALL else (op.name, "op")
        if op is VJP:
            inner = attrs["op"]
            name = f"{op.name} of {regions[0].name if inner == CALL.name and regions else inner}"
        devices = {device_name(device) for array in results for device in array.devices()}
        location = user_location()
        self.launched(
            name, kind, ", ".join(sorted(devices)), start, results, () if all(map(_is_there, arrays)) else arrays,
            line="" if location is None else location.short,
        )  # fmt: skip

    def waited(self, what: str, start: float) -> None:
        """Records a wait of this thread."""
        self.add(what, "wait", threading.current_thread().name, start)

    def launched(
        self, name: str, kind: str, device: str, start: float, results: Sequence[Any], arrays: Sequence[Any] = (),
        function: str = "", line: str = "",
    ) -> None:  # fmt: skip
        """Records a dispatch to a device, or several joined by commas, which computes once ``arrays`` are ready."""
        with self._lock:
            if self._closed:  # closed by another thread meanwhile
                return
            for one in device.replace(self._task, "/").split(", "):
                if one.startswith("/task:"):  # another process, which has its own timeline
                    continue
                watch = self._devices.get(one)
                if watch is None:
                    watch = self._devices[one] = _DeviceWatch(self, one)
                watch.queue.put((name, kind, function, line, start, list(arrays), list(results)))

    def close(self) -> None:
        """Waits until all recorded work is done, and sorts the events."""
        with self._lock:
            self._closed = True
        for watch in self._devices.values():
            watch.queue.put(None)
        for watch in self._devices.values():
            watch.thread.join()
        self.events = tuple(sorted(self._found, key=lambda event: event.start))

    def save(self, path: str | Path) -> None:
        """Writes the events in Chrome's trace format, also for https://ui.perfetto.dev; track names include the rank.

        Raises:
          InvalidArgumentError: the file has another suffix.
        """
        if Path(path).suffix not in ("", ".json", ".trace"):
            raise InvalidArgumentError(
                f"Timeline.save: the file is a JSON trace and its name must end in .json, got {str(path)!r:.80}; "
                "graphc timeline FILE.json --html OUT.html draws a picture of it"
            ).here()
        rank = _rank()
        before = "" if rank is None else f"rank {rank} "
        tracks = list(dict.fromkeys(event.track for event in self.events))
        process = os.getpid()
        names = [
            {"name": "thread_name", "ph": "M", "pid": process, "tid": number, "args": {"name": before + track}}
            for number, track in enumerate(tracks)
        ]
        spans = [
            {
                "name": event.name,
                "cat": event.kind,
                "ph": "X",
                "ts": round(event.start * 1e6, 3),
                "dur": round((event.end - event.start) * 1e6, 3),
                "pid": process,
                "tid": tracks.index(event.track),
                "args": {"function": event.function, "line": event.line},
            }
            for event in self.events
        ]
        Path(path).write_text(json.dumps({"traceEvents": [*names, *spans], "displayTimeUnit": "ms"}), encoding="utf-8")

    def __repr__(self) -> str:
        return f"<Timeline of {_counted(len(self.events))}>"

    def __str__(self) -> str:
        """Returns a table with a row for each event, in order of their starts."""
        rows = [
            (f"{event.start * 1e3:.3f}", f"{(event.end - event.start) * 1e3:.3f}", event.track, event.kind, event.name)
            for event in sorted(self.events, key=lambda event: event.start)
        ]
        table = [("start ms", "took ms", "where", "kind", "name"), *rows[:_SHOWN]]
        widths = [max(len(row[column]) for row in table) for column in range(4)]
        lines = [
            f"{row[0]:>{widths[0]}}  {row[1]:>{widths[1]}}  {row[2]:<{widths[2]}}  {row[3]:<{widths[3]}}  {row[4]:.60}"
            for row in table
        ]
        more = len(rows) - _SHOWN
        return "\n".join([*lines, f"and {_counted(more)} more"] if more > 0 else lines)

    def _repr_html_(self) -> str:
        return ABOVE["notebook_timeline"](self.events)


def _counted(count: int) -> str:
    return f"{count} event{'s' if count != 1 else ''}"


class _DeviceWatch:
    """Observes when a device finishes each of its steps."""

    def __init__(self, timeline: Timeline, device: str) -> None:
        self.queue: SimpleQueue[Any] = SimpleQueue()
        self._timeline = timeline
        self._device = device
        self.thread = threading.Thread(target=self._watch, name=f"graphc.timeline {device}", daemon=True)
        self.thread.start()

    def _watch(self) -> None:
        done = 0.0
        while (launched := self.queue.get()) is not None:
            name, kind, function, line, start, arrays, results = launched
            # Donated or failed results are not awaited: their users raise the error.
            with suppress(Exception):
                jax.block_until_ready(arrays)
                start = time.perf_counter() if arrays else start
            with suppress(Exception):
                jax.block_until_ready(results)
            self._timeline.add(name, kind, self._device, max(start, done), function, line)
            done = time.perf_counter()


def _rank() -> int | None:
    """Returns this process's rank; None if it is the only one."""
    return jax.process_index() if jax.distributed.is_initialized() else None


def _is_there(array: Any) -> bool:
    """Returns True if a value is computed; a value that is not an array, such as a loop's number, always is."""
    is_ready = getattr(array, "is_ready", None)
    return is_ready is None or is_ready()


_current: Timeline | None = None


def observer() -> Timeline | None:
    """Returns the timeline that is being recorded, if any."""
    return _current


@contextmanager
def profile(path: str | Path | None = None, *, jax_profiler: str | Path | None = None) -> Generator[Timeline]:
    """Records the work of all threads inside the scope: ops, steps of compiled functions, transfers and waits.

    Meanwhile eager ops take the slow path, some microseconds more each.

    Args:
      path: a file for the trace, in Chrome's format: open it at https://ui.perfetto.dev or ``chrome://tracing``, or
        draw it with ``graphc timeline FILE --html OUT``. None writes no file. Of several processes each writes its own,
        with its rank in the name (``trace.rank1.json``).
      jax_profiler: a folder for the output of JAX's own profiler, for TensorBoard and Perfetto.

    Yields:
      The timeline; its ``events`` are available once the scope is closed.

    Raises:
      FailedPreconditionError: another profile is open.
      NotFoundError: the folder of ``path`` does not exist.

    Example:
      >>> import graphc as gx
      >>> double = gx.function(lambda x: x * 2)
      >>> with gx.profile() as timeline:
      ...     y = double(gx.ones(3))
      >>> [(event.name, event.kind, event.track) for event in timeline.events]
      [('ones', 'op', '/device:CPU:0'), ('lambda', 'program', '/device:CPU:0')]
    """
    global _current
    if _current is not None:
        raise FailedPreconditionError("gx.profile: another profile is open; close it first").here()
    if path is not None and not Path(path).resolve().parent.is_dir():
        raise NotFoundError(f"gx.profile: the folder of the trace {str(path)!r} does not exist").here()
    timeline = Timeline()
    with ExitStack() as stack:
        if jax_profiler is not None:
            stack.enter_context(jax.profiler.trace(str(jax_profiler)))
        _current = timeline
        set_slow_path_reason("profile", "a profile is recorded", active=True)
        listen_to_waits(timeline.waited)
        observe_ops(timeline.ran)
        try:
            yield timeline
        finally:
            _current = None
            observe_ops(None)
            listen_to_waits(None)
            set_slow_path_reason("profile", "", active=False)
            timeline.close()
    if path is not None:
        rank = _rank()
        timeline.save(path if rank is None else Path(path).with_stem(f"{Path(path).stem}.rank{rank}"))


def read_timeline(path: str | Path) -> list[Event]:
    """Returns the events of a trace file written by :func:`profile`.

    Raises:
      NotFoundError: the file does not exist.
      InvalidArgumentError: the file is not such a trace.
    """
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
        rows = content["traceEvents"]
        tracks = {row["tid"]: row["args"]["name"] for row in rows if row["ph"] == "M"}
        return [
            Event(
                row["name"], row["cat"], tracks[row["tid"]], row["ts"] / 1e6, (row["ts"] + row["dur"]) / 1e6,
                row["args"]["function"], row["args"].get("line", ""),
            )
            for row in rows
            if row["ph"] == "X"
        ]  # fmt: skip
    except OSError as error:
        raise NotFoundError(f"{path}: {error.strerror}") from None
    except (ValueError, KeyError, TypeError) as error:
        raise InvalidArgumentError(f"{path}: not a trace written by gx.profile ({error!r})") from None
