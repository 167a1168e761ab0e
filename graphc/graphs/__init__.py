"""TensorFlow 1's model: graphs built by hand, Sessions, queues and readers."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from graphc.graphs import queues, refusals, session

__all__ = ["queues", "refusals", "session"]
