"""How pipelines run, where that is not left to graphc."""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = ["Options", "ThreadingOptions"]


@dataclass
class ThreadingOptions:
    """How many threads a pipeline has.

    Attributes:
      private_threadpool_size: the most threads of one transformation; None for what it asks for.
    """

    private_threadpool_size: int | None = None


@dataclass
class Options:
    """How a pipeline runs (TensorFlow's ``tf.data.Options``).

    Attributes:
      deterministic: False lets parallel maps give elements as they are done, where they do not say themselves.
      optimize: whether passes improve the plan, which changes no elements.
      prefetch: whether what reads files or runs Python is read ahead, two elements, in a thread.
      threading: how many threads there are.

    Example:
      >>> import graphc as gx
      >>> options = gx.data.Options()
      >>> options.prefetch = False
      >>> gx.data.Dataset.range(3).with_options(options).options().prefetch
      False
    """

    deterministic: bool | None = None
    optimize: bool = True
    prefetch: bool = True
    threading: ThreadingOptions = field(default_factory=ThreadingOptions)
