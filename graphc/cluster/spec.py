"""ClusterSpec: the tasks of a cluster, by job, with their addresses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from graphc.compiler.base.errors import GraphcError, InvalidTypeError
from graphc.compiler.ir import DeviceSpec
from graphc.graphs.refusals import user_error


@dataclass(frozen=True)
class JobDef:
    """A job of a :class:`ClusterDef`: its name, and the address of each task by its index."""

    name: str
    tasks: Mapping[int, str]


@dataclass(frozen=True)
class ClusterDef:
    """A cluster as plain data, with the field names of TensorFlow's protocol buffer."""

    job: tuple[JobDef, ...]


class ClusterSpec:
    """The tasks of a cluster, by job.

    Args:
      cluster: for each job the addresses of its tasks, as a list, or as a dict by index if some are omitted; or another
        ClusterSpec, or an :meth:`as_cluster_def`. An address, ``host:port``, names a task; it need not be the address
        of a socket.

    Raises:
      InvalidTypeError: the argument has another type.
      InvalidArgumentError: an index is negative, or two tasks have one address.

    Example:
      >>> import graphc as gx
      >>> cluster = gx.ClusterSpec({"ps": ["127.0.0.1:2221"], "worker": ["127.0.0.1:2222", "127.0.0.1:2223"]})
      >>> cluster.num_tasks("worker"), cluster.task_address("worker", 1)
      (2, '127.0.0.1:2223')
    """

    def __init__(self, cluster: ClusterSpec | ClusterDef | Mapping[str, Sequence[str] | Mapping[int, str]]) -> None:
        jobs: dict[str, dict[int, str]] = {}
        for job, tasks in _jobs_of(cluster).items():
            jobs[_checked_job(job)] = dict(sorted(_tasks_of(job, tasks).items()))
        self._jobs = dict(sorted(jobs.items()))
        self._tasks = {address: (job, index) for job, tasks in self._jobs.items() for index, address in tasks.items()}
        if len(self._tasks) < sum(map(len, self._jobs.values())):
            addresses = [address for tasks in self._jobs.values() for address in tasks.values()]
            twice = next(address for address in addresses if addresses.count(address) > 1)
            raise user_error(f"gx.ClusterSpec: two tasks have the address {twice!r}; give each task its own address")

    @property
    def jobs(self) -> list[str]:
        """The names of the jobs, sorted."""
        return list(self._jobs)

    def num_tasks(self, job_name: str) -> int:
        """Returns the number of tasks in a job."""
        return len(self._job(job_name))

    def task_indices(self, job_name: str) -> list[int]:
        """Returns the indices of a job's tasks, sorted."""
        return list(self._job(job_name))

    def task_address(self, job_name: str, task_index: int) -> str:
        """Returns the address of a task.

        Raises:
          InvalidArgumentError: the job or task does not exist.
        """
        tasks = self._job(job_name)
        if task_index not in tasks:
            raise user_error(f"No task with index {task_index!r} in job {job_name!r}; it has {list(tasks)}")
        return tasks[task_index]

    def job_tasks(self, job_name: str) -> list[str | None]:
        """Returns the addresses of a job's tasks by index; None for omitted ones."""
        tasks = self._job(job_name)
        return [tasks.get(index) for index in range(max(tasks, default=-1) + 1)]

    def find(self, address: str) -> tuple[str, int] | None:
        """Returns the job and the index of the task at an address; None if there is none."""
        return self._tasks.get(address)

    def as_dict(self) -> dict[str, list[str] | dict[int, str]]:
        """Returns the addresses by job: a list if all indices exist, else a dict by index."""
        return {
            job: list(tasks.values()) if list(tasks) == list(range(len(tasks))) else dict(tasks)
            for job, tasks in self._jobs.items()
        }

    def as_cluster_def(self) -> ClusterDef:
        """Returns the cluster as plain data."""
        return ClusterDef(tuple(JobDef(job, dict(tasks)) for job, tasks in self._jobs.items()))

    def _job(self, job: str) -> Mapping[int, str]:
        if job not in self._jobs:
            raise user_error(f"No such job in cluster: {job!r}; it has {', '.join(self._jobs) or 'none'}")
        return self._jobs[job]

    def __bool__(self) -> bool:
        return bool(self._jobs)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ClusterSpec) and other._jobs == self._jobs

    def __hash__(self) -> int:
        return hash(tuple(self._tasks.items()))

    def __repr__(self) -> str:
        return f"ClusterSpec({self.as_dict()!r})"


def task_name(job: str, index: int) -> str:
    """Returns the name of a task, such as ``/job:ps/task:0``."""
    return f"/job:{job}/task:{index}"


def _jobs_of(cluster: Any) -> Mapping[str, Any]:
    if isinstance(cluster, ClusterSpec):
        return cluster.as_dict()
    if isinstance(cluster, ClusterDef):
        return {job.name: job.tasks for job in cluster.job}
    if isinstance(cluster, Mapping):
        return cast("Mapping[str, Any]", cluster)
    raise user_error(
        "gx.ClusterSpec: expected a dict from names of jobs to addresses, such as {'worker': ['127.0.0.1:2222']}, "
        f"got {cluster!r:.80}",
        InvalidTypeError,
    )


def _checked_job(job: Any) -> str:
    try:
        DeviceSpec(job=job)
    except GraphcError as error:
        raise user_error(f"gx.ClusterSpec: {error.message}", type(error)) from None
    return job


def _tasks_of(job: str, tasks: Any) -> dict[int, str]:
    addresses = tasks
    if isinstance(tasks, list | tuple):
        addresses = dict(enumerate(cast("Sequence[Any]", tasks)))
    if not isinstance(addresses, Mapping):
        problem = f"expected a list of addresses, or a dict from indices to addresses, got {tasks!r:.80}"
        raise user_error(f"gx.ClusterSpec: job {job!r}: {problem}", InvalidTypeError)
    for index, address in cast("Mapping[Any, Any]", addresses).items():
        if not isinstance(index, int) or not isinstance(address, str):
            problem = f"expected an address such as '127.0.0.1:2222' for each index, got {index!r}: {address!r:.80}"
            raise user_error(f"gx.ClusterSpec: job {job!r}: {problem}", InvalidTypeError)
        if index < 0:
            raise user_error(f"gx.ClusterSpec: job {job!r}: a task has the index {index}; count from 0")
    return dict(cast("Mapping[int, str]", addresses))
