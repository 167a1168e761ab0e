"""Options that control how pipelines run."""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = ["Options", "ThreadingOptions"]


@dataclass
class ThreadingOptions:
    """The threads of a pipeline.

    Attributes:
      private_threadpool_size: the maximum number of threads of one transformation; None for what it asks for.
    """

    private_threadpool_size: int | None = None


@dataclass
class Options:
    """The options of a pipeline (TensorFlow's ``tf.data.Options``).

    Attributes:
      deterministic: False lets parallel maps return elements as they finish, unless a map sets its own.
      optimize: whether passes optimize the plan, which does not change the elements.
      prefetch: whether a thread reads two elements ahead where the pipeline reads files or runs Python.
      threading: the threads.

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
