"""The state that a reader keeps between runs, and the ops of readers, which find it by their attributes."""

from __future__ import annotations

import itertools
import threading
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from graphc.compiler.base import holding
from graphc.compiler.base.errors import GraphcError, InvalidArgumentError, NotFoundError
from graphc.compiler.core import STRING, as_dtype, current_resources
from graphc.compiler.ir import OPEN, OPS, Attrs, Effect, Graph, Infer, OpDef, TensorType, gives, part_of_world, writes
from graphc.graphs.queues import ops as queue_ops
from graphc.graphs.queues.formats import FORMATS, Format, Work
from graphc.graphs.queues.rows import single

__all__ = ["COMPLETED", "PRODUCED", "READ", "READ_UP_TO", "RESET", "ReaderState", "claim_reader", "reader_attrs"]


Take = Callable[[], bytes]
"""A function that waits for the name of the next file and returns it."""


class ReaderState:
    """A reader: it takes names of files from a queue, and returns the records of one file after the other.

    Threads share it; while one waits for a name, the others wait for that thread.

    Attributes:
      completed: the number of files read to the end.
    """

    def __init__(self, name: str, spec: tuple[Any, ...]) -> None:
        self._name = name
        self.spec = spec
        self._format: Format = FORMATS[spec[0]](*spec[1:])
        self._lock = threading.RLock()
        self._work: Work | None = None
        self.produced = 0
        self.completed = 0

    def read(self, take: Take) -> tuple[bytes, bytes]:
        """Returns the next key and record.

        Raises:
          OutOfRangeError: there are no more names; raised by ``take``.
          NotFoundError: the file does not exist; the next call continues with the file after it.
          DataLossError: the file is damaged; so is the next call's.
        """
        with holding(self._lock, self._what):
            while True:
                work = self._work or self._start(take)
                record = work.read()
                if record is None or work.is_single:
                    self._finish()
                if record is not None:
                    self.produced += 1
                    return record

    def read_up_to(self, take: Take, count: int) -> list[tuple[bytes, bytes]]:
        """Returns up to ``count`` keys and records, fewer at the end of a file; none only if ``count`` is 0."""
        with holding(self._lock, self._what):
            found = list[tuple[bytes, bytes]]()
            while not found and count:
                work = self._work or self._start(take)
                while len(found) < count:
                    try:
                        record = work.read()
                    except GraphcError:
                        if not found:
                            raise
                        break  # the next call raises it again
                    if record is not None:
                        found.append(record)
                    if record is None or work.is_single:
                        self._finish()
                        break
            self.produced += len(found)
            return found

    def _start(self, take: Take) -> Work:
        self._work = self._format.open(take())
        return self._work

    def _finish(self) -> None:
        self.close()
        self.completed += 1

    def _what(self) -> str:
        return f"reader {self._name!r}, which another thread reads from"

    def close(self) -> None:
        """Closes the current file, and leaves it."""
        work, self._work = self._work, None
        if work is not None:
            work.close()

    def __del__(self) -> None:
        if getattr(self, "_work", None) is not None:
            self.close()

    def reset(self) -> None:
        """Resets it: the next call starts with the next file."""
        with holding(self._lock, self._what):
            self.close()
            self.produced = self.completed = 0


PROCESS = "process"
"""The home of readers made in eager code: every run finds the same state there."""

_claimed: weakref.WeakValueDictionary[str, ReaderState] = weakref.WeakValueDictionary()
_numbers = itertools.count()


def claim_reader(label: str, spec: tuple[Any, ...]) -> tuple[ReaderState, Attrs]:
    """Makes the state of a reader in eager code, which lives as long as it is referenced.

    Returns:
      The state, and the attributes by which ops find it.
    """
    attrs = reader_attrs(label, spec, home=PROCESS, name=f"{label}_{next(_numbers)}")
    state = ReaderState(label, spec)
    _claimed[attrs["reader"]] = state
    return state, attrs


def reader_attrs(label: str, spec: tuple[Any, ...], *, home: str, name: str, container: str = "") -> Attrs:
    """Returns the attributes that identify a reader to ops.

    Args:
      label: its kind and name, for messages.
      home: ``process``, or ``session`` for a state in each Session.
    """
    return Attrs(label=label, format=spec, home=home, reader=name, container=container)


def _state(attrs: Mapping[str, Any]) -> ReaderState:
    name, spec, label = attrs["reader"], attrs["format"], attrs["label"]
    if attrs["home"] == PROCESS:
        found = _claimed.get(name)
        if found is None:
            raise NotFoundError(f"{label} was made in eager code and no longer exists; keep a reference to the reader")
        return found
    found = current_resources().get_or_make(attrs["container"], name, lambda: ReaderState(label, spec), ReaderState)
    if found.spec != spec:
        problem = f"another reader with that shared name has {found.spec}, this one has {spec}; they must be equal"
        raise InvalidArgumentError(f"{label}: {problem}")
    return found


def _names(attrs: Mapping[str, Any]) -> Take:
    """Returns a function that takes a name from the queue of a reader."""
    queue = queue_ops.state_of(dict(attrs["queue"]))
    return lambda: np.asarray(single(queue.take_row())[0]).item()


def _read(**attrs: Any) -> tuple[Any, ...]:
    return tuple(map(_text, _state(attrs).read(_names(attrs))))


def _read_up_to(*n: Any, count: int | None, **attrs: Any) -> tuple[Any, ...]:
    wanted = int(n[0]) if count is None else count
    if wanted < 0:
        raise InvalidArgumentError(f"{attrs['label']}.read_up_to: num_records is negative: {wanted}")
    records = _state(attrs).read_up_to(_names(attrs), wanted)
    return _texts([key for key, _ in records]), _texts([record for _, record in records])


def _produced(**attrs: Any) -> Any:
    return np.asarray(_state(attrs).produced, as_dtype("int64"))


def _completed(**attrs: Any) -> Any:
    return np.asarray(_state(attrs).completed, as_dtype("int64"))


def _reset(**attrs: Any) -> tuple[()]:
    _state(attrs).reset()
    return ()


def _text(value: bytes) -> np.ndarray[Any, Any]:
    array = np.empty((), object)
    array[()] = value
    return array


def _texts(values: Sequence[bytes]) -> np.ndarray[Any, Any]:
    array = np.empty(len(values), object)
    array[:] = values
    return array


def _counts(types: Sequence[TensorType], attrs: Attrs, regions: Sequence[Graph]) -> tuple[TensorType, ...]:
    return (TensorType((), as_dtype("int64")),)


def _touches(attrs: Mapping[str, Any]) -> tuple[Effect, ...]:
    own = writes(part_of_world(f"reader/{attrs['home']}/{attrs['container']}/{attrs['reader']}"))
    queue = attrs.get("queue")
    if queue is None:
        return (own,)
    return (own, writes(part_of_world(f"queue/{queue_ops.handle_of(dict(queue))}")))


def _op(name: str, impl: Callable[..., Any], infer: Infer, doc: str, params: tuple[str, ...] = ()) -> OpDef:
    name = f"reader.{name}"
    row = OpDef(name, impl, infer, params, effects=_touches, differentiable=False, host=True, doc=doc)
    return OPS.add(name, row)


_ONE, _MANY = TensorType((), STRING), TensorType((OPEN,), STRING)
READ = _op("read", _read, gives(_ONE, _ONE), "The next key and record of a reader.")
READ_UP_TO = _op("read_up_to", _read_up_to, gives(_MANY, _MANY), "Up to n keys and records of a reader.", ("*n",))
PRODUCED = _op("num_records_produced", _produced, _counts, "The number of records that a reader has returned.")
COMPLETED = _op(
    "num_work_units_completed", _completed, _counts, "The number of files that a reader has read to the end."
)
RESET = _op("reset", _reset, gives(), "Resets a reader.")
