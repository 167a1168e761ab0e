"""Several processes that run one program: their places, their control plane, and the launcher."""

from graphc.training.distribute.processes.carriers import ProcessRank, find_place
from graphc.training.distribute.processes.gate import check_joined, compares_batch, from_local_rows, mark_batch, meet
from graphc.training.distribute.processes.job import (
    FAILED_WITH_ANOTHER,
    Job,
    current_job,
    initialize,
    process_count,
    process_index,
    synchronized,
)
from graphc.training.distribute.processes.launcher import launch

__all__ = [
    "FAILED_WITH_ANOTHER", "Job", "ProcessRank", "check_joined", "compares_batch", "current_job", "find_place",
    "from_local_rows", "initialize", "launch", "mark_batch", "meet", "process_count", "process_index", "synchronized",
]  # fmt: skip
