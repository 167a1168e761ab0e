"""Sources of a pipeline's elements."""

from graphc.training.data.sources.arrow import table_arrays, table_files
from graphc.training.data.sources.chunks import FileFormat, FileSource, file_names, matching_files
from graphc.training.data.sources.csv import csv_files
from graphc.training.data.sources.python import Iterated, QueueSource, python_source
from graphc.training.data.sources.records import FixedLengthRecords, TextLines, TFRecords
from graphc.training.data.sources.rows import Items, NumpyFiles
from graphc.training.data.sources.source import (
    INFINITE,
    Cardinality,
    RowSource,
    Source,
    SourceIterator,
    State,
    map_spec,
    stacked_spec,
)

__all__ = [
    "INFINITE",
    "Cardinality",
    "FileFormat",
    "FileSource",
    "FixedLengthRecords",
    "Items",
    "Iterated",
    "NumpyFiles",
    "QueueSource",
    "RowSource",
    "Source",
    "SourceIterator",
    "State",
    "TFRecords",
    "TextLines",
    "csv_files",
    "file_names",
    "map_spec",
    "matching_files",
    "python_source",
    "stacked_spec",
    "table_arrays",
    "table_files",
]
