"""Files of records, as TensorFlow writes them: each a length and bytes, both with a checksum (CRC-32C)."""

from __future__ import annotations

import gzip
import io
import os
import struct
import threading
import zlib
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any, BinaryIO, Self, cast

import numpy as np

from graphc.compiler.base import files
from graphc.compiler.base.errors import DataLossError, FailedPreconditionError, InvalidArgumentError, InvalidTypeError

# Files that readers open: with the errors of this package, and unpacked while they are read.

COMPRESSIONS = ("", "GZIP", "ZLIB")
"""The compressions of files; empty for none."""

_CHUNK = 1 << 16
"""Number of bytes of a compressed file to read at once."""


def checked_compression(requested: Any, use: str) -> str:
    """Returns the name of a compression as this package has it."""
    name = "" if requested is None else str(requested).upper()
    name = "" if name == "NONE" else name
    if name not in COMPRESSIONS:
        raise InvalidArgumentError(
            f"{use}: expected 'GZIP', 'ZLIB', or '' for no compression, got {requested!r:.40}"
        ).here()
    return name


def open_file(name: bytes, compression: str = "") -> BinaryIO:
    """Opens a file to read its bytes, unpacked."""
    path = os.fsdecode(name)
    with files.file_errors(path):
        file = gzip.open(path, "rb") if compression == "GZIP" else open(path, "rb")  # noqa: SIM115  the caller closes it
    binary = cast("BinaryIO", file)
    return io.BufferedReader(_Inflated(binary)) if compression == "ZLIB" else binary


@contextmanager
def reading(name: bytes) -> Generator[None]:
    """Says of a packed file that cannot be unpacked that its data is lost."""
    try:
        yield
    except (zlib.error, EOFError, gzip.BadGzipFile) as error:
        raise DataLossError(f"{os.fsdecode(name)!r} cannot be unpacked: {error}") from None


def skip_to(file: BinaryIO, offset: int, start: int = 0) -> None:
    """Goes forward to a byte of a file, by reading where the file has no other way."""
    if file.seekable():
        file.seek(offset)
        return
    offset -= start
    while offset > 0:
        skipped = len(file.read(min(offset, _CHUNK)))
        if not skipped:
            return
        offset -= skipped


class _Inflated(io.RawIOBase):
    """The bytes of a file that zlib has packed."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._inflate = zlib.decompressobj()

    def readable(self) -> bool:
        """Returns True."""
        return True

    def readinto(self, buffer: Any, /) -> int:
        """Unpacks as much as fits into a buffer; returns how many bytes that were."""
        while not self._inflate.eof:
            packed = self._inflate.unconsumed_tail or self._file.read(_CHUNK)
            unpacked = self._inflate.decompress(packed, len(buffer))
            if unpacked:
                buffer[: len(unpacked)] = unpacked
                return len(unpacked)
            if not packed:
                raise EOFError("it ends in the middle of the data")
        return 0

    def close(self) -> None:
        """Closes the file."""
        self._file.close()
        super().close()


_LENGTH = struct.Struct("<QI")
_CHECKSUM = struct.Struct("<I")
_BLOCK = 1 << 18
"""Number of bytes to read at once when many records are requested."""
_MASK = 0xA282EAD8
"""The constant that the format adds to a checksum, so that a record of records does not match by chance."""


@dataclass(frozen=True)
class TFRecordOptions:
    """The compression of a record file; all fields but the first are zlib's, with None for its default.

    Args:
      compression_type: ``"GZIP"``, ``"ZLIB"``, or ``""`` for not at all.
      compression_level: from 0 (fast) to 9 (small).
      window_bits: the size of the window, as a power of 2.
      mem_level: how much memory is used, from 1 to 9.
      compression_strategy: one of the ``Z_`` constants of Python's zlib.

    Raises:
      InvalidArgumentError: there is no such compression.

    Example:
      >>> import graphc as gx
      >>> gx.queues.TFRecordOptions("gzip").compression_type
      'GZIP'
    """

    compression_type: str | None = ""
    compression_level: int | None = None
    window_bits: int | None = None
    mem_level: int | None = None
    compression_strategy: int | None = None

    def __post_init__(self) -> None:
        name = checked_compression(self.compression_type, "TFRecordOptions: compression_type")
        object.__setattr__(self, "compression_type", name)

    @property
    def compression(self) -> str:
        """The name of the compression; empty for none."""
        return self.compression_type or ""

    def packer(self) -> Any:
        """Returns what packs a stream of bytes; None where nothing does."""
        if not self.compression:
            return None
        bits = 15 if self.window_bits is None else self.window_bits
        return zlib.compressobj(
            -1 if self.compression_level is None else self.compression_level,
            zlib.DEFLATED,
            bits + 16 if self.compression == "GZIP" else bits,
            8 if self.mem_level is None else self.mem_level,
            zlib.Z_DEFAULT_STRATEGY if self.compression_strategy is None else self.compression_strategy,
        )


def checked_options(requested: Any, use: str) -> TFRecordOptions:
    """Returns the options that a user names: options, the name of a compression, or None for none."""
    if isinstance(requested, TFRecordOptions):
        return requested
    if requested is None or isinstance(requested, str):
        return TFRecordOptions(checked_compression(requested, f"{use}: options"))
    raise InvalidTypeError(
        f"{use}: options must be TFRecordOptions, a compression or None, got {requested!r:.60}"
    ).here()


class TFRecordWriter:
    """Writes records into a file, from its start on; a context manager that closes it.

    Threads may share it. It is TensorFlow's ``tf.io.TFRecordWriter``.

    Args:
      path: the file; what it held is gone.
      options: how it is packed: a ``TFRecordOptions``, or just ``"GZIP"`` or ``"ZLIB"``.

    Raises:
      FailedPreconditionError: the extra ``data``, which has the checksums, is not installed.
      InvalidArgumentError: there is no such compression.
      NotFoundError: the folder of the file does not exist.

    Example:
      >>> import os, tempfile
      >>> import graphc as gx
      >>> path = os.path.join(tempfile.mkdtemp(), "two.tfrecord")
      >>> with gx.queues.TFRecordWriter(path) as writer:
      ...     writer.write(b"first")
      ...     writer.write(b"second")
      >>> list(gx.queues.tf_record_iterator(path))
      [b'first', b'second']
    """

    def __init__(self, path: str | bytes | os.PathLike[str], options: TFRecordOptions | str | None = None) -> None:
        self._packer = checked_options(options, "TFRecordWriter").packer()
        self._checksum = _checksum()
        self._lock = threading.Lock()
        with files.file_errors(os.fspath(path)):
            self._file: BinaryIO | None = open(os.fspath(path), "wb")  # noqa: SIM115  close() closes it

    def write(self, record: bytes | bytearray | memoryview | str) -> None:
        """Adds a record; text is encoded as UTF-8.

        Raises:
          InvalidTypeError: it is neither bytes nor text.
          FailedPreconditionError: the file is closed.
        """
        payload: Any = record.encode() if isinstance(record, str) else record
        if not isinstance(payload, bytes | bytearray | memoryview):
            problem = f"TFRecordWriter.write: expected bytes, got {payload!r:.60}; serialize a message first"
            raise InvalidTypeError(problem).here()
        data = bytes(cast("Any", payload))
        length = struct.pack("<Q", len(data))
        parts = (length, _CHECKSUM.pack(self._checksum(length)), data, _CHECKSUM.pack(self._checksum(data)))
        packed = b"".join(parts)
        with self._lock:
            self._open().write(packed if self._packer is None else self._packer.compress(packed))

    def flush(self) -> None:
        """Hands what was written to the system; a reader of a packed file may still miss the last records."""
        with self._lock:
            self._open().flush()

    def close(self) -> None:
        """Ends the file; does nothing the second time."""
        with self._lock:
            file, self._file = self._file, None
            if file is not None:
                with file:
                    if self._packer is not None:
                        file.write(self._packer.flush())

    def _open(self) -> BinaryIO:
        if self._file is None:
            raise FailedPreconditionError("TFRecordWriter: the file is closed").here()
        return self._file

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


class RecordStream:
    """The records of a file, one after the other. ``offset``: where in the unpacked file the next record starts."""

    def __init__(self, name: bytes, compression: str = "") -> None:
        self._checksum = _checksum()
        self._name = name
        self._compression = compression
        self._file = open_file(name, compression)
        self._ahead = b""
        self.offset = 0

    def seek(self, offset: int) -> None:
        """Goes to where a record starts, in a file from which nothing was read yet."""
        with reading(self._name):
            skip_to(self._file, offset)
        self.offset = offset

    def read(self) -> bytes | None:
        """Returns the next record; None at the end."""
        with reading(self._name):
            head = self._take(_LENGTH.size)
            if not head:
                return None
            length = self._length(head)
            data, tail = self._take(length), self._take(_CHECKSUM.size)
        if len(data) < length or len(tail) < _CHECKSUM.size:
            raise self._lost("is cut off")
        if self._checksum(data) != _CHECKSUM.unpack(tail)[0]:
            raise self._lost("does not fit its checksum")
        self.offset += _LENGTH.size + length + _CHECKSUM.size
        return data

    def read_some(self) -> list[bytes]:
        """Returns a block's worth of records, at least one; none at the end. As :meth:`read`, in bulk."""
        with reading(self._name):
            block = self._ahead + self._file.read(_BLOCK)
        records, size = _whole_records(block)
        self.offset += size
        self._ahead = block[size:]
        if records:
            return records
        record = self.read()  # it is larger than a block, or damaged
        return [] if record is None else [record]

    def skip(self) -> bool:
        """Passes over a damaged record; returns False if it does not say where the next one starts."""
        try:
            with reading(self._name):
                length = self._length(self._take(_LENGTH.size))
                size = length + _CHECKSUM.size
                whole = len(self._take(size)) == size
        except DataLossError:
            return False
        self.offset += _LENGTH.size + size
        return whole

    def _length(self, head: bytes) -> int:
        """Returns how long a record is that starts so."""
        if len(head) < _LENGTH.size:
            raise self._lost("is cut off")
        length, checksum = _LENGTH.unpack(head)
        if self._checksum(head[:8]) != checksum:
            hint = "" if self.offset else "; is it a file of records, and packed as was said?"
            raise self._lost(f"has a length that does not fit its checksum{hint}")
        return length

    def _take(self, size: int) -> bytes:
        """Reads bytes, first those that were read ahead."""
        chunk, self._ahead = self._ahead[:size], self._ahead[size:]
        return chunk + self._file.read(size - len(chunk)) if len(chunk) < size else chunk

    def _lost(self, problem: str) -> DataLossError:
        self._file.close()
        self._file = open_file(self._name, self._compression)
        self._ahead = b""
        self.seek(self.offset)  # so that the next call meets the record again
        return DataLossError(f"{os.fsdecode(self._name)!r}: the record at byte {self.offset} {problem}")

    def close(self) -> None:
        """Closes the file."""
        self._file.close()


def tf_record_iterator(
    path: str | bytes | os.PathLike[str], options: TFRecordOptions | str | None = None
) -> Generator[bytes]:
    """Reads the records of a file, as TensorFlow's ``tf.python_io.tf_record_iterator``.

    Args:
      path: the file.
      options: how it is packed, as for :class:`TFRecordWriter`.

    Returns:
      An iterator over the records, as bytes.

    Raises:
      NotFoundError: there is no such file.
      DataLossError: a record is damaged or cut off.
      FailedPreconditionError: the extra ``data``, which has the checksums, is not installed.
    """
    return _records(RecordStream(os.fsencode(path), checked_options(options, "tf_record_iterator").compression))


def _records(stream: RecordStream) -> Generator[bytes]:
    try:
        while (record := stream.read()) is not None:
            yield record
    finally:
        stream.close()


def _whole_records(block: bytes) -> tuple[list[bytes], int]:
    """Returns the records that a block holds whole and undamaged, up to the first that is not, and their size.

    The checksums of the data are compared in bulk, and a length that is met again needs none.
    """
    checksum, crc = _checksum(), _library().value
    records, crcs, stops = list[bytes](), list[int](), list[int]()
    lengths: dict[bytes, int] = {}
    start, end = 0, len(block) - _CHECKSUM.size
    while True:
        head = block[start : start + 12]
        length = lengths.get(head)
        if length is None:
            if len(head) < _LENGTH.size:
                break
            length, stored = _LENGTH.unpack(head)
            if checksum(head[:8]) != stored:
                break
            lengths[head] = length
        stop = start + 12 + length
        if stop > end:
            break
        data = block[start + 12 : stop]
        records.append(data)
        crcs.append(crc(data))
        stops.append(stop)
        start = stop + 4
    if not records:
        return [], 0
    tails = np.frombuffer(block, np.uint8)[np.array(stops)[:, None] + np.arange(4)]
    expected = tails.view("<u4")[:, 0]
    values = np.array(crcs, np.uint32)
    right = ((values >> 15 | values << 17) + np.uint32(_MASK)) == expected
    whole = len(records) if right.all() else int(right.argmin())
    return records[:whole], stops[whole - 1] + _CHECKSUM.size if whole else 0


@cache
def _library() -> Any:
    """Returns the library of checksums, which is an extra."""
    try:
        import google_crc32c
    except ImportError:
        raise FailedPreconditionError(
            "files of records need google-crc32c: pip install 'graphc[data]'"
        ).here() from None
    return google_crc32c


@cache
def _checksum() -> Callable[[bytes], int]:
    """Returns the checksum of the format; it is made where it is first needed, since its library is an extra."""
    library = _library()

    def checksum(data: bytes) -> int:
        crc: int = library.value(data)
        return ((crc >> 15 | crc << 17) + _MASK) & 0xFFFFFFFF

    return checksum
