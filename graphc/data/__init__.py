"""Layer 10: input pipelines: sources, transformations, and the processes that serve them."""

from graphc.base import hint_missing
from graphc.data import sources
from graphc.data.dataset import Dataset
from graphc.data.elements import DatasetSpec
from graphc.data.external import signature_of
from graphc.data.graph_iterators import GraphDataset, GraphIterator
from graphc.data.inspecting import progress
from graphc.data.iterator import DatasetIterator, Optional
from graphc.data.options import Options, ThreadingOptions
from graphc.data.planned_dataset import AUTOTUNE, INFINITE_CARDINALITY, UNKNOWN_CARDINALITY
from graphc.data.reading import (
    arrow,
    csv,
    fixed_length_records,
    from_python,
    from_queue,
    make_csv_dataset,
    numpy_files,
    parquet,
    text_lines,
    tf_records,
)

__all__ = [
    "AUTOTUNE",
    "INFINITE_CARDINALITY",
    "UNKNOWN_CARDINALITY",
    "Dataset",
    "DatasetIterator",
    "DatasetSpec",
    "GraphDataset",
    "GraphIterator",
    "Optional",
    "Options",
    "ThreadingOptions",
    "arrow",
    "csv",
    "fixed_length_records",
    "from_python",
    "from_queue",
    "make_csv_dataset",
    "numpy_files",
    "parquet",
    "progress",
    "signature_of",
    "sources",
    "text_lines",
    "tf_records",
]

hint_missing(globals(), "gx.data")
