"""Files that readers of queues and sources of pipelines share: opened, unpacked, taken apart into records."""

from graphc.library.formats.arrays import ArrayFile, Mark, checksum, header_of, is_in_progress, sync, write_arrays
from graphc.library.formats.events import histogram_message, merged, message, scalar_message, shape_message, tensorboard
from graphc.library.formats.records import (
    COMPRESSIONS,
    RecordStream,
    TFRecordOptions,
    TFRecordWriter,
    checked_compression,
    checked_options,
    open_file,
    reading,
    skip_to,
    tf_record_iterator,
)

__all__ = [
    "COMPRESSIONS", "ArrayFile", "Mark", "RecordStream", "TFRecordOptions", "TFRecordWriter", "checked_compression",
    "checked_options", "checksum", "header_of", "histogram_message", "is_in_progress", "merged", "message", "open_file",
    "reading", "scalar_message", "shape_message", "skip_to", "sync", "tensorboard", "tf_record_iterator",
    "write_arrays",
]  # fmt: skip
