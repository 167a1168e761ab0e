"""Input pipelines of graphs: ``gx.producers``, with TensorFlow 1's names from ``tf.train``."""

from graphc.compiler.base import hint_missing
from graphc.graphs.session.producers.batching import batch, batch_join, shuffle_batch, shuffle_batch_join
from graphc.graphs.session.producers.inputs import (
    input_producer,
    limit_epochs,
    match_filenames_once,
    range_input_producer,
    slice_input_producer,
    string_input_producer,
)

__all__ = [
    "batch", "batch_join", "input_producer", "limit_epochs", "match_filenames_once", "range_input_producer",
    "shuffle_batch", "shuffle_batch_join", "slice_input_producer", "string_input_producer",
]  # fmt: skip

hint_missing(globals(), "gx.producers")
