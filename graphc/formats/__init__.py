"""Layer 8: files that readers of queues and sources of pipelines share: opened, unpacked, taken apart into records."""

from graphc.formats.arrays import ArrayFile, checksum, header_of, sync, write_arrays
from graphc.formats.files import COMPRESSIONS, checked_compression, open_file, reading, skip_to
from graphc.formats.marks import Mark, is_in_progress
from graphc.formats.records import (
    RecordStream,
    TFRecordOptions,
    TFRecordWriter,
    checked_options,
    tf_record_iterator,
)

__all__ = [
    "COMPRESSIONS",
    "ArrayFile",
    "Mark",
    "RecordStream",
    "TFRecordOptions",
    "TFRecordWriter",
    "checked_compression",
    "checked_options",
    "checksum",
    "header_of",
    "is_in_progress",
    "open_file",
    "reading",
    "skip_to",
    "sync",
    "tf_record_iterator",
    "write_arrays",
]
