"""Layer 9: queues, accumulators, the coordinator of the threads that fill them, and readers of files."""

from graphc.base import hint_missing
from graphc.formats import TFRecordOptions, TFRecordWriter, tf_record_iterator
from graphc.queues import building, ops
from graphc.queues.accumulators import (
    ConditionalAccumulator,
    ConditionalAccumulatorBase,
    SparseConditionalAccumulator,
    SparseGradient,
)
from graphc.queues.coordinator import Coordinator, LooperThread
from graphc.queues.examples import parse_example, parse_single_example
from graphc.queues.features import (
    FixedLenFeature,
    FixedLenSequenceFeature,
    SparseFeature,
    VarLenFeature,
)
from graphc.queues.fillers import Fillers
from graphc.queues.kinds import FIFOQueue, PaddingFIFOQueue, PriorityQueue, RandomShuffleQueue
from graphc.queues.messages import make_example
from graphc.queues.queue import QueueBase
from graphc.queues.readers import (
    FixedLengthRecordReader,
    IdentityReader,
    ReaderBase,
    TextLineReader,
    TFRecordReader,
    WholeFileReader,
)
from graphc.queues.sparse import SparseValue
from graphc.queues.spec import QueueSpec
from graphc.queues.state import QueueState
from graphc.queues.wait_queue import Lines

__all__ = [
    "ConditionalAccumulator",
    "ConditionalAccumulatorBase",
    "Coordinator",
    "FIFOQueue",
    "Fillers",
    "FixedLenFeature",
    "FixedLenSequenceFeature",
    "FixedLengthRecordReader",
    "IdentityReader",
    "Lines",
    "LooperThread",
    "PaddingFIFOQueue",
    "PriorityQueue",
    "QueueBase",
    "QueueSpec",
    "QueueState",
    "RandomShuffleQueue",
    "ReaderBase",
    "SparseConditionalAccumulator",
    "SparseFeature",
    "SparseGradient",
    "SparseValue",
    "TFRecordOptions",
    "TFRecordReader",
    "TFRecordWriter",
    "TextLineReader",
    "VarLenFeature",
    "WholeFileReader",
    "building",
    "make_example",
    "ops",
    "parse_example",
    "parse_single_example",
    "tf_record_iterator",
]

hint_missing(globals(), "gx.queues")
