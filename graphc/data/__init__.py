"""Layer 7: input pipelines: sources, transformations, and the processes that serve them."""

from graphc.data import sources
from graphc.data.dataset import Dataset
from graphc.data.elements import DatasetSpec
from graphc.data.iterator import DatasetIterator
from graphc.data.planned import INFINITE_CARDINALITY, UNKNOWN_CARDINALITY

__all__ = ["INFINITE_CARDINALITY", "UNKNOWN_CARDINALITY", "Dataset", "DatasetIterator", "DatasetSpec", "sources"]
