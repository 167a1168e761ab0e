"""Input pipelines: sources, transformations, and the processes that serve them."""

from graphc.compiler.base import hint_missing
from graphc.training.data import sources
from graphc.training.data.dataset import Dataset, signature_of
from graphc.training.data.elements import DatasetSpec
from graphc.training.data.graph_iterators import GraphDataset, GraphIterator
from graphc.training.data.inspecting import progress
from graphc.training.data.iterator import DatasetIterator, Optional
from graphc.training.data.planned_dataset import (
    AUTOTUNE,
    INFINITE_CARDINALITY,
    UNKNOWN_CARDINALITY,
    Options,
    ThreadingOptions,
)
from graphc.training.data.reading import (
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
    "AUTOTUNE", "INFINITE_CARDINALITY", "UNKNOWN_CARDINALITY", "Dataset", "DatasetIterator", "DatasetSpec",
    "GraphDataset", "GraphIterator", "Optional", "Options", "ThreadingOptions", "arrow", "csv", "fixed_length_records",
    "from_python", "from_queue", "make_csv_dataset", "numpy_files", "parquet", "progress", "signature_of", "sources",
    "text_lines", "tf_records",
]  # fmt: skip

hint_missing(globals(), "gx.data")
