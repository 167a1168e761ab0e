"""Sources of a pipeline's elements."""

from graphc.training.data.sources.arrow import table_arrays, table_files
from graphc.training.data.sources.chunks import (
    INFINITE,
    Cardinality,
    ChunkSource,
    FileFormat,
    FileSource,
    RowSource,
    SourceIterator,
    State,
    file_names,
    map_spec,
    matching_files,
    stacked_spec,
)
from graphc.training.data.sources.csv import csv_files
from graphc.training.data.sources.python import Iterated, QueueSource, Slices, python_source
from graphc.training.data.sources.rows import FixedLengthRecords, Items, NumpyFiles, TextLines, TFRecords

__all__ = [
    "INFINITE", "Cardinality", "ChunkSource", "FileFormat", "FileSource", "FixedLengthRecords", "Items", "Iterated",
    "NumpyFiles", "QueueSource", "RowSource", "Slices", "SourceIterator", "State", "TFRecords", "TextLines",
    "csv_files", "file_names", "map_spec", "matching_files", "python_source", "stacked_spec", "table_arrays",
    "table_files",
]  # fmt: skip
