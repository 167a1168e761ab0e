"""Readers: they take names of files from a queue and return the records of one file after the other."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from graphc.compiler.base import holding
from graphc.compiler.base.errors import AbortedError, GraphcError, InvalidArgumentError, InvalidTypeError
from graphc.compiler.core import STRING, SymbolicTensor, as_dtype
from graphc.compiler.ir import OPEN, Attrs, Effect, Graph, Infer, OpDef, TensorType, gives, part_of_world, writes
from graphc.graphs.queues import ops as queue_ops
from graphc.graphs.queues.components import integer
from graphc.graphs.queues.formats import (
    FORMATS,
    FixedLengthFormat,
    Format,
    Records,
    TextLineFormat,
    WholeFiles,
    spec_of,
)
from graphc.graphs.queues.queue import QueueBase
from graphc.graphs.queues.rows import single
from graphc.graphs.queues.shared import Act, SharedObject, graph_here, handle_of, op_on, shared_state
from graphc.graphs.refusals import refusal
from graphc.library.formats import TFRecordOptions, checked_compression, checked_options


class Record(NamedTuple):
    """A record that a reader returns: two strings, or two vectors of strings."""

    key: Any
    value: Any


class ReaderBase(SharedObject["ReaderState"]):
    """A reader of files; the base of :class:`TextLineReader` and the others.

    It takes the name of a file from a queue of strings when it needs one, and waits for it. Threads share it. A reader
    made in eager code is the same reader everywhere; one made in a graph has its own state in each Session, and its
    methods add operations to the graph.
    """

    supports_serialize = False
    """True if states can be saved; TensorFlow's name."""

    def __init__(self, format: Format, name: str | None, shared_name: str | None = None) -> None:
        kind = type(self).__name__
        spec, default = Attrs(kind=kind, format=spec_of(format)), kind if graph_here() is None else f"{kind}V2"
        self._make(_make, ReaderState, spec, (shared_name, name, default), None)

    def read(self, queue: QueueBase, name: str | None = None) -> Record:
        """Returns the next key and record.

        Args:
          queue: a queue of file names, with one string component.
          name: the name of the operation in a graph.

        Returns:
          The key and the record, as strings.

        Raises:
          OutOfRangeError: the queue is closed and empty, and the last file has ended.
          NotFoundError: the file does not exist; the next call continues with the file after it.
          DataLossError: the file is damaged.
          DeadlineExceededError: the deadline in force passed before there was a name.
          InvalidTypeError: the queue has other components.
        """
        key, value = self._emit(READ, (), "", name or "ReaderReadV2", queue=self._names("read", queue))
        return Record(key, value)

    def read_up_to(self, queue: QueueBase, num_records: Any, name: str | None = None) -> Record:
        """Returns up to ``num_records`` keys and records, all of one file.

        Args:
          queue: see :meth:`read`.
          num_records: the maximum number of records; may be a tensor in a graph.
          name: the name of the operation in a graph.

        Returns:
          The keys and the records, as vectors of strings; fewer than ``num_records`` at the end of a file.

        Raises:
          InvalidArgumentError: ``num_records`` is negative.
          OutOfRangeError: see :meth:`read`; likewise the other errors.
        """
        use, names = f"{self._label}.read_up_to", self._names("read_up_to", queue)
        count = None if isinstance(num_records, SymbolicTensor) else integer(use, "num_records", num_records)
        if count is not None and count < 0:
            raise refusal(use, f"num_records must not be negative, got {count}")
        inputs = () if count is not None else (num_records,)
        keys, values = self._emit(READ_UP_TO, inputs, "", name or "ReaderReadUpToV2", count=count, queue=names)
        return Record(keys, values)

    def num_records_produced(self, name: str | None = None) -> Any:
        """Returns the number of records read so far."""
        return self._emit(PRODUCED, (), "", name or "ReaderNumRecordsProducedV2")

    def num_work_units_completed(self, name: str | None = None) -> Any:
        """Returns the number of files read to the end."""
        return self._emit(COMPLETED, (), "", name or "ReaderNumWorkUnitsCompletedV2")

    def reset(self, name: str | None = None) -> Any:
        """Resets the reader: it leaves the current file, and counts from 0."""
        return self._emit(RESET, (), "", name or "ReaderResetV2")

    def _names(self, method: str, queue: Any) -> tuple[tuple[str, Any], ...]:
        use = f"{self._label}.{method}"
        if not isinstance(queue, QueueBase):
            raise refusal(use, f"expected a queue of file names, got {queue!r:.60}", InvalidTypeError)
        attrs = queue._attrs  # pyright: ignore[reportPrivateUsage]
        types = attrs["types"]
        if len(types) != 1 or types[0].dtype != STRING or (types[0].ranked and types[0].shape):
            listed = ", ".join(map(str, types))
            problem = f"expected a queue whose one component is a string, got {queue.name!r} of ({listed})"
            raise refusal(use, problem, InvalidTypeError)
        return tuple(attrs.items())

    def __repr__(self) -> str:
        return f"<{self._label}>"


class TextLineReader(ReaderBase):
    """Reads lines, without their ends; the key is ``file:line``, from 1. TensorFlow's ``tf.TextLineReader``.

    Args:
      skip_header_lines: the number of lines to skip at the start of each file.
      name: the name of the reader, for messages and in a graph.
      compression_type: ``"GZIP"`` or ``"ZLIB"`` for compressed files.
      shared_name: a name that makes readers of one Session share their state.

    Raises:
      InvalidArgumentError: ``skip_header_lines`` is negative, or the compression is unknown.

    Example:
      >>> import os, tempfile
      >>> import graphc as gx
      >>> path = os.path.join(tempfile.mkdtemp(), "two.csv")
      >>> with open(path, "w") as file:
      ...     print("x,y", "1,2", "3,4", sep=chr(10), file=file)
      >>> names = gx.queues.FIFOQueue(10, gx.string, shapes=[[]])
      >>> names.enqueue(path)
      >>> names.close()
      >>> reader = gx.queues.TextLineReader(skip_header_lines=1)
      >>> key, line = reader.read(names)
      >>> gx.strings.decode_csv(line, [0, 0])
      [Tensor(1, shape=(), dtype=int32), Tensor(2, shape=(), dtype=int32)]
    """

    def __init__(
        self, skip_header_lines: int | None = None, name: str | None = None, *, compression_type: str | None = None,
        shared_name: str | None = None,
    ) -> None:  # fmt: skip
        skip = _count("TextLineReader", "skip_header_lines", skip_header_lines or 0)
        packed = checked_compression(compression_type, "TextLineReader: compression_type")
        super().__init__(TextLineFormat(skip, packed), name, shared_name)


class WholeFileReader(ReaderBase):
    """Reads whole files: the key is the name, and the record the contents. TensorFlow's ``tf.WholeFileReader``.

    Args:
      name: the name of the reader, for messages and in a graph.
      shared_name: a name that makes readers of one Session share their state.
    """

    def __init__(self, name: str | None = None, *, shared_name: str | None = None) -> None:
        super().__init__(WholeFiles(), name, shared_name)


class FixedLengthRecordReader(ReaderBase):
    """Reads records of fixed length; the key is ``file:record``, from 0.

    TensorFlow's ``tf.FixedLengthRecordReader``. It skips the end of a file if that is too short for a record.

    Args:
      record_bytes: the size of a record.
      header_bytes: the number of bytes to skip at the start of each file.
      footer_bytes: the number of bytes to ignore at the end of each file.
      hop_bytes: the distance between the starts of successive records; 0 or None for ``record_bytes``.
      name: the name of the reader, for messages and in a graph.
      encoding: ``"GZIP"`` or ``"ZLIB"`` for compressed files.
      shared_name: a name that makes readers of one Session share their state.

    Raises:
      InvalidArgumentError: a size is negative, ``record_bytes`` is 0, or the encoding is unknown.
    """

    def __init__(
        self, record_bytes: int, header_bytes: int | None = None, footer_bytes: int | None = None,
        hop_bytes: int | None = None, name: str | None = None, encoding: str | None = None, *,
        shared_name: str | None = None,
    ) -> None:  # fmt: skip
        kind = "FixedLengthRecordReader"
        sizes = {"header_bytes": header_bytes, "footer_bytes": footer_bytes, "hop_bytes": hop_bytes}
        checked = {size: _count(kind, size, count or 0) for size, count in sizes.items()}
        length = _count(kind, "record_bytes", record_bytes, least=1)
        packed = checked_compression(encoding, f"{kind}: encoding")
        super().__init__(FixedLengthFormat(length, **checked, compression=packed), name, shared_name)


class TFRecordReader(ReaderBase):
    """Reads TFRecord files, as :class:`TFRecordWriter` writes them; the key is ``file:byte``.

    TensorFlow's ``tf.TFRecordReader``.

    Args:
      name: the name of the reader, for messages and in a graph.
      options: the compression of the files: a :class:`TFRecordOptions`, or just ``"GZIP"`` or ``"ZLIB"``.
      shared_name: a name that makes readers of one Session share their state.
    """

    def __init__(
        self, name: str | None = None, options: TFRecordOptions | str | None = None, *, shared_name: str | None = None,
    ) -> None:  # fmt: skip
        super().__init__(Records(checked_options(options, "TFRecordReader").compression), name, shared_name)


def _count(kind: str, name: str, value: Any, least: int = 0) -> int:
    count = integer(kind, name, value)
    if count < least:
        raise refusal(kind, f"{name} must be {least} or more, got {count}")
    return count


# The state that a reader keeps between runs, and the ops of readers, which find it by their attributes.

Take = Callable[[], bytes]
"""A function that waits for the name of the next file and returns it."""


class _Work:
    """A file that is being read; what is wrong with it is raised again by each later read."""

    def __init__(self, format: Format, name: bytes) -> None:
        self._file = format.open(name)
        self._records = format.records(name, self._file)
        self._error: BaseException | None = None

    def read(self) -> tuple[bytes, bytes] | None:
        if self._error is not None:
            raise self._error
        try:
            return next(self._records, None)
        except BaseException as error:  # after which the generator has no more records
            self._error = error if isinstance(error, Exception) else AbortedError("the read was interrupted")
            raise

    def close(self) -> None:
        self._file.close()


class ReaderState:
    """A reader: it takes names of files from a queue, and returns the records of one file after the other.

    Threads share it; while one waits for a name, the others wait for that thread.
    """

    def __init__(self, label: str, spec: tuple[Any, ...]) -> None:
        self.label = label
        self._spec = spec
        self._format: Format = FORMATS[spec[0]](*spec[1:])
        self._lock = threading.RLock()
        self._work: _Work | None = None
        self.produced = 0
        self.completed = 0

    def difference(self, attrs: Mapping[str, Any]) -> str:
        """Describes the first difference from an op's attributes; empty if there is none."""
        return "" if self._spec == attrs["format"] else f"the format {self._spec}, not {attrs['format']}"

    def read(self, take: Take) -> tuple[bytes, bytes]:
        """Returns the next key and record."""
        with holding(self._lock, self._what):
            while True:
                work = self._work or self._start(take)
                record = work.read()
                if record is None or self._format.is_single:
                    self._finish()
                if record is not None:
                    self.produced += 1
                    return record

    def read_up_to(self, take: Take, count: int) -> list[tuple[bytes, bytes]]:
        """Returns up to ``count`` keys and records, fewer at the end of a file; none only if ``count`` is 0."""
        with holding(self._lock, self._what):
            records = list[tuple[bytes, bytes]]()
            while not records and count:
                work = self._work or self._start(take)
                while len(records) < count:
                    try:
                        record = work.read()
                    except GraphcError:
                        if not records:
                            raise
                        break  # the next call raises it again
                    if record is not None:
                        records.append(record)
                    if record is None or self._format.is_single:
                        self._finish()
                        break
            self.produced += len(records)
            return records

    def _start(self, take: Take) -> _Work:
        self._work = _Work(self._format, take())
        return self._work

    def _finish(self) -> None:
        self.close()
        self.completed += 1

    def _what(self) -> str:
        return f"{self.label}, which another thread reads from"

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


def _make(name: str, attrs: Mapping[str, Any]) -> ReaderState:
    return ReaderState(f"{attrs['kind']} {name!r}", attrs["format"])


def _state(attrs: Mapping[str, Any]) -> ReaderState:
    return shared_state(_make, ReaderState, attrs)


def _names(attrs: Mapping[str, Any]) -> Take:
    """Returns a function that takes a name from the queue of a reader."""
    queue = queue_ops.state_of(dict(attrs["queue"]))
    return lambda: np.asarray(single(queue.take_row())[0]).item()


def _read_up_to(state: ReaderState, n: Sequence[Any], attrs: Mapping[str, Any]) -> tuple[Any, ...]:
    wanted = int(n[0]) if attrs["count"] is None else attrs["count"]
    if wanted < 0:
        raise InvalidArgumentError(f"{state.label}.read_up_to: num_records is negative: {wanted}")
    records = state.read_up_to(_names(attrs), wanted)
    return _texts([key for key, _ in records]), _texts([record for _, record in records])


def _text(value: bytes) -> np.ndarray[Any, Any]:
    array = np.empty((), object)
    array[()] = value
    return array


def _texts(values: Sequence[bytes]) -> np.ndarray[Any, Any]:
    array = np.empty(len(values), object)
    array[:] = values
    return array


def _counts(inputs: Sequence[TensorType], attrs: Attrs, regions: Sequence[Graph]) -> tuple[TensorType, ...]:
    return (TensorType((), as_dtype("int64")),)


def _touches(attrs: Mapping[str, Any]) -> tuple[Effect, ...]:
    own, queue = writes(part_of_world(f"reader/{handle_of(attrs)}")), attrs.get("queue")
    return (own,) if queue is None else (own, writes(part_of_world(f"queue/{handle_of(dict(queue))}")))


def _op(name: str, act: Act[ReaderState], infer: Infer, doc: str, *params: str) -> OpDef:
    return op_on("reader", _state, name, act, infer, doc, *params, effects=_touches)


_ONE, _MANY = TensorType((), STRING), TensorType((OPEN,), STRING)
READ = _op(
    "read", lambda state, _, attrs: tuple(map(_text, state.read(_names(attrs)))), gives(_ONE, _ONE),
    "The next key and record of a reader.",
)  # fmt: skip
READ_UP_TO = _op("read_up_to", _read_up_to, gives(_MANY, _MANY), "Up to n keys and records of a reader.", "*n")
PRODUCED = _op(
    "num_records_produced", lambda state, _, attrs: np.asarray(state.produced, as_dtype("int64")), _counts,
    "The number of records that a reader has returned.",
)  # fmt: skip
COMPLETED = _op(
    "num_work_units_completed", lambda state, _, attrs: np.asarray(state.completed, as_dtype("int64")), _counts,
    "The number of files that a reader has read to the end.",
)  # fmt: skip
RESET = _op("reset", lambda state, _, attrs: state.reset(), gives(), "Resets a reader.")
