"""Where the elements of pipelines come from."""

from graphc.data.sources.source import (
    INFINITE,
    Cardinality,
    RowSource,
    Source,
    SourceIterator,
    State,
    map_spec,
    stacked_spec,
)

__all__ = ["INFINITE", "Cardinality", "RowSource", "Source", "SourceIterator", "State", "map_spec", "stacked_spec"]
