"""The division of a dataset's rows among processes.

Rows are numbered over the whole dataset, and the processes divide each batch. So all processes take the same number of
steps, the batches equal those of a single process, and a position means the same for any number of processes.
"""

from __future__ import annotations

__all__ = ["part_of", "rows_of_step"]


def part_of(count: int, parts: int, index: int) -> tuple[int, int]:
    """Returns where one of several contiguous, even parts of some rows starts and ends.

    Args:
      count: the number of rows.
      parts: the number of parts; their sizes differ by at most one.
      index: the index of the part, from 0.

    Example:
      >>> from graphc.training.data.sharding import part_of
      >>> [part_of(8, 3, index) for index in range(3)]
      [(0, 3), (3, 6), (6, 8)]
    """
    size, more = divmod(count, parts)
    start = index * size + min(index, more)
    return start, start + size + (index < more)


def rows_of_step(step: int, batch_size: int, count: int, parts: int, index: int) -> range:
    """Returns the row numbers of a process's part of a step.

    Args:
      step: the number of the batch.
      batch_size: the number of rows in a batch of the whole dataset.
      count: the number of rows in the dataset.
      parts: the number of processes.
      index: the index of the process.

    Example:
      >>> from graphc.training.data.sharding import rows_of_step
      >>> rows_of_step(1, 4, 10, 2, 1), rows_of_step(2, 4, 10, 2, 1)
      (range(6, 8), range(9, 10))
    """
    first = min(step * batch_size, count)
    start, stop = part_of(min(batch_size, count - first), parts, index)
    return range(first + start, first + stop)
