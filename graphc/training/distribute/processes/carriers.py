"""Transport of the control plane's messages: JSON on ``multiprocessing`` connections with a shared secret.

Rank 0 listens on one interface, only until all ranks have arrived. Received data is never unpickled. Carriers have no
threads that wait for messages: a rank that waits at a barrier reads them itself, so that a barrier costs one round trip
and no thread switch.
"""

from __future__ import annotations

import json
import os
import queue
import re
import socket
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import AuthenticationError
from multiprocessing.connection import Client, Connection, Listener, answer_challenge, deliver_challenge, wait
from typing import cast

from graphc.compiler.base.errors import (
    FailedPreconditionError,
    InvalidArgumentError,
    UnauthenticatedError,
    UnavailableError,
)
from graphc.training.distribute.processes.protocol import Hub, Member, Message

# The process's place in its job, read from the environment variables that launchers and schedulers set.

_FIRST_PORT, _PORTS = 61440, 4096
"""Ports for the coordinator: schedulers set none, so the job's number picks one of the last 4096, as in JAX."""


@dataclass(frozen=True)
class ProcessRank:
    """A process's place in its job."""

    rank: int
    count: int
    host: str  # the name or address of the interface on which rank 0 listens
    port: int
    key: bytes
    local_rank: int | None = None  # its number among the processes of its machine; None if unknown
    local_count: int = 1


def find_place(environ: Mapping[str, str] | None = None) -> ProcessRank | None:
    """Returns the place of this process, or None if it is alone.

    ``graphc launch`` sets everything. SLURM, Open MPI and Kubernetes provide the numbers; the user must set the secret
    ``GRAPHC_AUTHKEY``, and on Kubernetes also ``GRAPHC_PROCESSES`` and ``GRAPHC_COORDINATOR``. ``GRAPHC_`` variables
    override the scheduler's.

    Example:
      >>> place = find_place({"SLURM_JOB_ID": "7", "SLURM_STEP_NODELIST": "node[03-05]", "SLURM_STEP_NUM_TASKS": "6",
      ...                     "SLURM_PROCID": "1", "SLURM_LOCALID": "1", "GRAPHC_AUTHKEY": "secret"})
      >>> place.rank, place.count, place.host, place.port
      (1, 6, 'node03', 61447)
    """
    environ = os.environ if environ is None else environ
    settings = {**_scheduler(environ), **_own(environ)}
    if not settings:
        return None
    names = {"rank": "GRAPHC_PROCESS_ID", "count": "GRAPHC_PROCESSES", "coordinator": "GRAPHC_COORDINATOR",
             "key": "GRAPHC_AUTHKEY"}  # fmt: skip
    missing = [names[name] for name in names if name not in settings]
    if missing:
        raise _refused(
            f"this process is one of several, but the environment lacks {', '.join(missing)}: set GRAPHC_PROCESSES "
            "(how many), GRAPHC_PROCESS_ID (from 0), GRAPHC_COORDINATOR (host:port of rank 0) and GRAPHC_AUTHKEY (a "
            "secret, such as `openssl rand -hex 16` gives, the same for all); graphc launch sets them on one machine"
        )
    rank, count = _number(settings, "rank"), _number(settings, "count")
    if count == 1:
        return None
    if rank >= count:
        raise _refused(f"there are {count} processes, numbered from 0, and this one is said to be number {rank}")
    host, _, port = settings["coordinator"].rpartition(":")
    if not host or not port.isdigit() or host in ("0.0.0.0", "::", "[::]"):
        raise _refused(
            f"GRAPHC_COORDINATOR must be host:port, with the name or address of one interface of rank 0's machine, got "
            f"{settings['coordinator']!r}"
        )
    local = _number(settings, "local_rank") if "local_rank" in settings else None
    local_count = _number(settings, "local_count") if "local_count" in settings else 1
    return ProcessRank(rank, count, host, int(port), settings["key"].encode(), local, local_count)


def _own(environ: Mapping[str, str]) -> dict[str, str]:
    """Returns the values of the GRAPHC_ variables."""
    names = {"GRAPHC_PROCESS_ID": "rank", "GRAPHC_PROCESSES": "count", "GRAPHC_COORDINATOR": "coordinator",
             "GRAPHC_LOCAL_RANK": "local_rank", "GRAPHC_LOCAL_PROCESSES": "local_count"}  # fmt: skip
    settings = {names[name]: environ[name] for name in names if environ.get(name)}
    if (settings or _scheduler(environ)) and environ.get("GRAPHC_AUTHKEY"):
        settings["key"] = environ["GRAPHC_AUTHKEY"]
    return settings


def _scheduler(environ: Mapping[str, str]) -> dict[str, str]:
    """Returns the values from SLURM, Open MPI or Kubernetes; nothing if there is only one process."""
    if {"SLURM_JOB_ID", "SLURM_STEP_NODELIST", "SLURM_PROCID"} <= environ.keys():
        settings = _slurm(environ)
    elif "OMPI_COMM_WORLD_RANK" in environ:
        settings = _open_mpi(environ)
    elif "JOB_COMPLETION_INDEX" in environ and "KUBERNETES_SERVICE_HOST" in environ and "GRAPHC_PROCESSES" in environ:
        return {"rank": environ["JOB_COMPLETION_INDEX"]}
    else:
        return {}
    return {} if settings.get("count") == "1" else settings


def _slurm(environ: Mapping[str, str]) -> dict[str, str]:
    match = re.match(r"([^,\[]*)(?:\[([^\],-]+)[^\]]*\]([^,]*))?", environ["SLURM_STEP_NODELIST"])
    assert match is not None, "the pattern matches the empty text"
    host = "".join(part or "" for part in match.groups())
    settings = {
        "rank": environ["SLURM_PROCID"],
        "count": environ.get("SLURM_STEP_NUM_TASKS") or environ.get("SLURM_NTASKS", "1"),
        "coordinator": f"{host}:{_port(environ['SLURM_JOB_ID'])}",
        "local_rank": environ.get("SLURM_LOCALID", "0"),
    }
    tasks = re.match(r"\d+", environ.get("SLURM_STEP_TASKS_PER_NODE", ""))  # 4(x2),3: those of the first node
    return {**settings, "local_count": tasks[0]} if tasks is not None else settings


def _open_mpi(environ: Mapping[str, str]) -> dict[str, str]:
    settings = {
        "rank": environ["OMPI_COMM_WORLD_RANK"],
        "count": environ["OMPI_COMM_WORLD_SIZE"],
        "local_rank": environ.get("OMPI_COMM_WORLD_LOCAL_RANK", "0"),
        "local_count": environ.get("OMPI_COMM_WORLD_LOCAL_SIZE", "1"),
    }
    daemon = re.match(r"(\d+)\..*?tcp://([^,:;]+)", environ.get("OMPI_MCA_orte_hnp_uri", ""))
    if daemon is not None:  # Open MPI 4 provides the host of mpirun; the number of a job is a multiple of 4096
        host = "127.0.0.1" if settings["local_count"] == settings["count"] else daemon[2]
        settings["coordinator"] = f"{host}:{_port(str(int(daemon[1]) // _PORTS))}"
    return settings


def _port(job: str) -> int:
    return _FIRST_PORT + (int(job) if job.isdigit() else 0) % _PORTS


def _number(settings: Mapping[str, str], name: str) -> int:
    if not settings[name].isdigit() or (name == "count" and int(settings[name]) < 1):
        raise _refused(f"the {name} of this process must be a number, got {settings[name]!r}")
    return int(settings[name])


def _refused(message: str) -> InvalidArgumentError:
    return InvalidArgumentError(f"gx.distribute.initialize: {message}").here()


_RETRY_SECONDS = 0.1
_HANDSHAKE_SECONDS = 10.0


def free_port(host: str) -> int:
    """Returns a port of an interface that is free now."""
    with socket.socket() as probe:
        probe.bind((host, 0))
        return probe.getsockname()[1]


class MessageCarrier(ABC):
    """Transports the messages of one rank. ``interval``: seconds after which a rank says that it is alive."""

    def __init__(self, member: Member) -> None:
        self.member = member
        self.interval = min(1.0, member.silence / 5)
        self._spoke = 0.0

    @abstractmethod
    def send(self, message: Message) -> None:
        """Sends a message to the hub."""

    @abstractmethod
    def pump(self, timeout: float) -> None:
        """Handles messages that arrive within ``timeout`` seconds, and those that have arrived; checks the time."""

    @abstractmethod
    def linger(self, seconds: float, dead: int | None) -> None:
        """Waits until ranks that depend on this one, except ``dead``, are gone; at most ``seconds``."""

    def is_due(self) -> bool:
        """Returns True if it is time to report again that the rank is alive."""
        now = time.monotonic()
        if now - self._spoke < self.interval:
            return False
        self._spoke = now
        return True


class MemberCarrier(MessageCarrier):
    """Connects a rank to rank 0."""

    def __init__(self, member: Member, process: ProcessRank, timeout: float) -> None:
        super().__init__(member)
        self._connection = self._connect(process, time.monotonic() + timeout, timeout)
        member.heard = time.monotonic()
        _send_at_once(self._connection)

    def _connect(self, process: ProcessRank, end: float, timeout: float) -> Connection:
        where = f"{process.host}:{process.port}"
        while True:
            try:
                return _shown_in(process)
            except AuthenticationError:
                raise _differing_keys(where) from None
            except (OSError, EOFError) as error:
                if time.monotonic() > end:
                    text = (
                        f"rank 0 does not answer at {where} within {timeout:g} s ({error}); check that it was "
                        "started, and that this machine can reach it at that address"
                    )
                    raise UnavailableError(text).here() from None
                time.sleep(_RETRY_SECONDS)

    def send(self, message: Message) -> None:
        """Sends a message to the hub."""
        try:
            self._connection.send_bytes(json.dumps(message).encode())
        except OSError:
            self.member.lost()

    def pump(self, timeout: float) -> None:
        """Handles messages that arrive within ``timeout`` seconds, and those that have arrived; checks the time."""
        try:
            while self.member.failure is None and self._connection.poll(timeout):
                self.member.receive(json.loads(self._connection.recv_bytes()), time.monotonic())
                timeout = 0.0
        except (EOFError, OSError):
            self.member.lost()
        self.member.tick(time.monotonic())

    def linger(self, seconds: float, dead: int | None) -> None:
        """Does nothing: ranks depend only on rank 0."""


class HubCarrier(MessageCarrier):
    """Connects rank 0, which has the hub, to all others."""

    def __init__(self, member: Member, process: ProcessRank, hub: Hub) -> None:
        super().__init__(member)
        self.hub = hub
        self._key = process.key
        self._connections: dict[int, Connection] = {}
        self._arrivals: queue.SimpleQueue[tuple[Connection, Message]] = queue.SimpleQueue()
        try:
            self._listener = Listener((socket.gethostbyname(process.host), process.port), backlog=process.count)
        except OSError as error:
            text = (
                f"rank 0 cannot listen on {process.host}:{process.port} ({error}); GRAPHC_COORDINATOR must name an "
                "interface of its machine, and a free port"
            )
            raise FailedPreconditionError(text).here() from None
        self.accepting = threading.Thread(target=self._accept, name="graphc.processes.accept", daemon=True)
        self.accepting.start()

    def _accept(self) -> None:
        while True:
            connection = self._listener.accept()
            if self.hub.is_complete:
                connection.close()
                self._listener.close()
                return
            threading.Thread(target=self._greet, args=(connection,), daemon=True).start()

    def _greet(self, connection: Connection) -> None:
        """Accepts a connection that knows the secret; runs on a thread, because the peer may stay silent."""
        try:
            deliver_challenge(connection, self._key)
            answer_challenge(connection, self._key)
            if connection.poll(_HANDSHAKE_SECONDS):
                self._arrivals.put((connection, json.loads(connection.recv_bytes())))
                return
        except (AuthenticationError, EOFError, OSError, ValueError):
            pass
        connection.close()

    def send(self, message: Message) -> None:
        """Passes a message to the hub in this process."""
        self.hub.receive(0, message, time.monotonic())
        if message["kind"] == "alive":
            self.hub.outbox += [(rank, message) for rank in self._connections]
        self._flush()

    def pump(self, timeout: float) -> None:
        """Handles messages that arrive within ``timeout`` seconds, and those that have arrived; checks the time."""
        if not self.hub.is_complete:
            self._welcome(timeout)
            timeout = 0.0
        for connection in wait(list(self._connections.values()), timeout):
            assert isinstance(connection, Connection)
            self._read(
                next(rank for rank, candidate in self._connections.items() if candidate is connection), connection
            )
        now = self.member.heard = time.monotonic()
        self.hub.heard(0, now)
        self.hub.tick(now)
        self._flush()

    def linger(self, seconds: float, dead: int | None) -> None:
        """Waits until all others are gone: if rank 0 leaves first, JAX kills them without a message."""
        end = time.monotonic() + seconds
        while self._connections.keys() - {dead} and time.monotonic() < end:
            self.pump(self.interval)

    def _welcome(self, timeout: float) -> None:
        try:
            connection, message = self._arrivals.get(timeout=timeout) if timeout > 0 else self._arrivals.get_nowait()
        except queue.Empty:
            return
        rank = message["rank"]
        refused = rank in self._connections or not 0 < rank < self.hub.count
        if not refused:
            self._connections[rank] = connection
            _send_at_once(connection)
        self.hub.receive(rank, message, time.monotonic())
        if refused and self.hub.failure is not None:
            connection.send_bytes(json.dumps(self.hub.failure.message).encode())
            connection.close()
        if self.hub.is_complete:
            self._close_door()

    def _close_door(self) -> None:
        """Stops accepting connections: one of our own wakes the accepting thread."""
        host, port = cast("tuple[str, int]", self._listener.address)
        with suppress(OSError):
            socket.create_connection((host, port), timeout=_HANDSHAKE_SECONDS).close()

    def _read(self, rank: int, connection: Connection) -> None:
        try:
            while connection.poll():
                self.hub.receive(rank, json.loads(connection.recv_bytes()), time.monotonic())
        except (EOFError, OSError):
            self._lost(rank)

    def _lost(self, rank: int) -> None:
        self._connections.pop(rank).close()
        self.hub.lost(rank)

    def _flush(self) -> None:
        while self.hub.outbox:
            rank, message = self.hub.outbox.pop(0)
            if rank == 0:
                self.member.receive(message, time.monotonic())
            elif rank in self._connections:
                try:
                    self._connections[rank].send_bytes(json.dumps(message).encode())
                except OSError:
                    self._lost(rank)


def _shown_in(process: ProcessRank) -> Connection:
    """Returns a connection to rank 0, after both sides have proved that they know the secret."""
    connection = Client((process.host, process.port))
    if not connection.poll(_HANDSHAKE_SECONDS):  # it listens, but is suspended
        connection.close()
        raise TimeoutError("it takes no connections")
    answer_challenge(connection, process.key)
    deliver_challenge(connection, process.key)
    return connection


def _send_at_once(connection: Connection) -> None:
    """Disables the delay of small packets."""
    with socket.socket(fileno=os.dup(connection.fileno())) as same:
        same.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


def _differing_keys(where: str) -> UnauthenticatedError:
    text = f"rank 0, at {where}, has another secret than this process; give all the same GRAPHC_AUTHKEY"
    return UnauthenticatedError(text).here()
