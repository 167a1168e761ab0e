"""Queues, accumulators, the coordinator of the threads that fill them, and readers of files."""

from graphc.compiler.base import hint_missing
from graphc.graphs.queues import ops, shared
from graphc.graphs.queues.accumulators import ConditionalAccumulator
from graphc.graphs.queues.components import QueueSpec
from graphc.graphs.queues.coordinator import Coordinator
from graphc.graphs.queues.examples import (
    FixedLenFeature,
    SparseValue,
    VarLenFeature,
    parse_example,
    parse_single_example,
)
from graphc.graphs.queues.ops import make_example
from graphc.graphs.queues.queue import FIFOQueue, PaddingFIFOQueue, QueueBase, RandomShuffleQueue
from graphc.graphs.queues.readers import (
    FixedLengthRecordReader,
    ReaderBase,
    TextLineReader,
    TFRecordReader,
    WholeFileReader,
)
from graphc.graphs.queues.shared import Fillers
from graphc.graphs.queues.state import QueueState
from graphc.graphs.queues.wait_queue import Lines
from graphc.library.formats import TFRecordOptions, TFRecordWriter, tf_record_iterator

__all__ = [
    "ConditionalAccumulator", "Coordinator", "FIFOQueue", "Fillers", "FixedLenFeature", "FixedLengthRecordReader",
    "Lines", "PaddingFIFOQueue", "QueueBase", "QueueSpec", "QueueState", "RandomShuffleQueue", "ReaderBase",
    "SparseValue", "TFRecordOptions", "TFRecordReader", "TFRecordWriter", "TextLineReader", "VarLenFeature",
    "WholeFileReader", "make_example", "ops", "parse_example", "parse_single_example", "shared", "tf_record_iterator",
]  # fmt: skip

hint_missing(globals(), "gx.queues")
