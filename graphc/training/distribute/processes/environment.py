"""The process's place in its job, read from the environment variables that launchers and schedulers set."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass

from graphc.compiler.base import at, user_location
from graphc.compiler.base.errors import InvalidArgumentError

__all__ = ["Place", "find_place"]

_FIRST_PORT, _PORTS = 61440, 4096
"""Ports for the coordinator: schedulers set none, so the job's number picks one of the last 4096, as in JAX."""


@dataclass(frozen=True)
class Place:
    """A process's place in its job.

    Attributes:
      rank: the process's number, from 0.
      count: the number of processes.
      host: the name or address of the interface on which rank 0 listens.
      port: the port there.
      key: the secret that all of them share.
      local_rank: its number among the processes of its machine; None if unknown.
      local_count: the number of processes on its machine.
    """

    rank: int
    count: int
    host: str
    port: int
    key: bytes
    local_rank: int | None = None
    local_count: int = 1


def find_place(environ: Mapping[str, str] | None = None) -> Place | None:
    """Returns the place of this process, or None if it is alone.

    ``graphc launch`` sets everything. SLURM, Open MPI and Kubernetes provide the numbers; the user must set the secret
    ``GRAPHC_AUTHKEY``, and on Kubernetes also ``GRAPHC_PROCESSES`` and ``GRAPHC_COORDINATOR``. ``GRAPHC_`` variables
    override the scheduler's.

    Args:
      environ: the environment; that of this process when None.

    Raises:
      InvalidArgumentError: something is missing or malformed; the message says what to set.

    Example:
      >>> place = find_place({"SLURM_JOB_ID": "7", "SLURM_STEP_NODELIST": "node[03-05]", "SLURM_STEP_NUM_TASKS": "6",
      ...                     "SLURM_PROCID": "1", "SLURM_LOCALID": "1", "GRAPHC_AUTHKEY": "secret"})
      >>> place.rank, place.count, place.host, place.port
      (1, 6, 'node03', 61447)
    """
    environ = os.environ if environ is None else environ
    found = {**_scheduler(environ), **_own(environ)}
    if not found:
        return None
    names = {"rank": "GRAPHC_PROCESS_ID", "count": "GRAPHC_PROCESSES", "coordinator": "GRAPHC_COORDINATOR",
             "key": "GRAPHC_AUTHKEY"}  # fmt: skip
    missing = [names[name] for name in names if name not in found]
    if missing:
        raise _refused(
            f"this process is one of several, but the environment lacks {', '.join(missing)}: set GRAPHC_PROCESSES "
            "(how many), GRAPHC_PROCESS_ID (from 0), GRAPHC_COORDINATOR (host:port of rank 0) and GRAPHC_AUTHKEY (a "
            "secret, such as `openssl rand -hex 16` gives, the same for all); graphc launch sets them on one machine"
        )
    rank, count = _number(found, "rank"), _number(found, "count")
    if count == 1:
        return None
    if rank >= count:
        raise _refused(f"there are {count} processes, numbered from 0, and this one is said to be number {rank}")
    host, _, port = found["coordinator"].rpartition(":")
    if not host or not port.isdigit() or host in ("0.0.0.0", "::", "[::]"):
        raise _refused(
            f"GRAPHC_COORDINATOR must be host:port, with the name or address of one interface of rank 0's machine, got "
            f"{found['coordinator']!r}"
        )
    local = _number(found, "local_rank") if "local_rank" in found else None
    local_count = _number(found, "local_count") if "local_count" in found else 1
    return Place(rank, count, host, int(port), found["key"].encode(), local, local_count)


def _own(environ: Mapping[str, str]) -> dict[str, str]:
    """Returns the values of the GRAPHC_ variables."""
    names = {"GRAPHC_PROCESS_ID": "rank", "GRAPHC_PROCESSES": "count", "GRAPHC_COORDINATOR": "coordinator",
             "GRAPHC_LOCAL_RANK": "local_rank", "GRAPHC_LOCAL_PROCESSES": "local_count"}  # fmt: skip
    found = {names[name]: environ[name] for name in names if environ.get(name)}
    if (found or _scheduler(environ)) and environ.get("GRAPHC_AUTHKEY"):
        found["key"] = environ["GRAPHC_AUTHKEY"]
    return found


def _scheduler(environ: Mapping[str, str]) -> dict[str, str]:
    """Returns the values from SLURM, Open MPI or Kubernetes; nothing if there is only one process."""
    if {"SLURM_JOB_ID", "SLURM_STEP_NODELIST", "SLURM_PROCID"} <= environ.keys():
        found = _slurm(environ)
    elif "OMPI_COMM_WORLD_RANK" in environ:
        found = _open_mpi(environ)
    elif "JOB_COMPLETION_INDEX" in environ and "KUBERNETES_SERVICE_HOST" in environ and "GRAPHC_PROCESSES" in environ:
        return {"rank": environ["JOB_COMPLETION_INDEX"]}
    else:
        return {}
    return {} if found.get("count") == "1" else found


def _slurm(environ: Mapping[str, str]) -> dict[str, str]:
    match = re.match(r"([^,\[]*)(?:\[([^\],-]+)[^\]]*\]([^,]*))?", environ["SLURM_STEP_NODELIST"])
    assert match is not None, "the pattern matches the empty text"
    host = "".join(part or "" for part in match.groups())
    found = {
        "rank": environ["SLURM_PROCID"],
        "count": environ.get("SLURM_STEP_NUM_TASKS") or environ.get("SLURM_NTASKS", "1"),
        "coordinator": f"{host}:{_port(environ['SLURM_JOB_ID'])}",
        "local_rank": environ.get("SLURM_LOCALID", "0"),
    }
    tasks = re.match(r"\d+", environ.get("SLURM_STEP_TASKS_PER_NODE", ""))  # 4(x2),3: those of the first node
    return {**found, "local_count": tasks[0]} if tasks is not None else found


def _open_mpi(environ: Mapping[str, str]) -> dict[str, str]:
    found = {
        "rank": environ["OMPI_COMM_WORLD_RANK"],
        "count": environ["OMPI_COMM_WORLD_SIZE"],
        "local_rank": environ.get("OMPI_COMM_WORLD_LOCAL_RANK", "0"),
        "local_count": environ.get("OMPI_COMM_WORLD_LOCAL_SIZE", "1"),
    }
    daemon = re.match(r"(\d+)\..*?tcp://([^,:;]+)", environ.get("OMPI_MCA_orte_hnp_uri", ""))
    if daemon is not None:  # Open MPI 4 provides the host of mpirun; the number of a job is a multiple of 4096
        host = "127.0.0.1" if found["local_count"] == found["count"] else daemon[2]
        found["coordinator"] = f"{host}:{_port(str(int(daemon[1]) // _PORTS))}"
    return found


def _port(job: str) -> int:
    return _FIRST_PORT + (int(job) if job.isdigit() else 0) % _PORTS


def _number(found: Mapping[str, str], name: str) -> int:
    if not found[name].isdigit() or (name == "count" and int(found[name]) < 1):
        raise _refused(f"the {name} of this process must be a number, got {found[name]!r}")
    return int(found[name])


def _refused(message: str) -> InvalidArgumentError:
    return at(InvalidArgumentError(f"gx.distribute.initialize: {message}"), user_location())
