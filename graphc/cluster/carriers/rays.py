"""The carrier across processes and machines: each task is a Ray actor. Only this file works without Ray."""

from __future__ import annotations

import logging
import os
import secrets
import socket
import sys
import threading
import time
import warnings
from collections.abc import Callable, Generator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from graphc.cluster.carriers.carrier import Carrier
from graphc.cluster.spec import ClusterSpec
from graphc.compiler.base import config, pause
from graphc.compiler.base.errors import (
    AlreadyExistsError,
    FailedPreconditionError,
    GraphcError,
    UnauthenticatedError,
    UnavailableError,
)

if TYPE_CHECKING:
    from graphc.cluster.carriers.rays_peer import RayPeer

_LOOK_SECONDS = 0.05


def ray_in_use() -> bool:
    """Returns True if ``RAY_ADDRESS`` is set, or Ray is running in this process."""
    ray = sys.modules.get("ray")
    return bool(os.environ.get("RAY_ADDRESS")) or (ray is not None and ray.is_initialized())


class Rays(Carrier):
    """The tasks of a Ray cluster: each is an actor in its own process, named by its address.

    An actor ends with the process that started it.
    """

    name: ClassVar[str] = "ray"

    def __init__(self) -> None:
        self._peers: dict[str, RayPeer] = {}

    @property
    def patient(self) -> bool:
        """True if Ray is in use."""
        return ray_in_use()

    def start(self, cluster: ClusterSpec, job: str, index: int, **resources: float) -> RayPeer:
        """Starts a task on Ray; starts Ray on this machine if ``RAY_ADDRESS`` is not set.

        Args:
          **resources: the resources that Ray reserves for it: ``num_cpus``, ``num_gpus``, ``memory``, or resources of
            its own. A task without ``num_gpus`` computes on the CPU.
        """
        connect()
        from graphc.cluster.carriers.rays_peer import start_peer  # which imports Ray: connect() sets what that reads

        address = cluster.task_address(job, index)
        limit = 2 * config.heartbeat_timeout
        until = time.monotonic() + limit
        while (peer := start_peer(cluster, job, index, self._forget, resources)) is None:
            taker = self.find(address)
            if taker is not None:
                raise AlreadyExistsError(
                    f"{taker.name} is running at {address} on this Ray cluster already; stop its gx.Server first, or "
                    f"give /job:{job}/task:{index} another address"
                )
            if time.monotonic() > until:
                raise UnavailableError(
                    f"Ray has not forgotten the task that was at {address} within {limit:g} s: try again later, give "
                    f"/job:{job}/task:{index} another address, or start Ray anew"
                )
            pause(_LOOK_SECONDS, f"Ray to forget the task that was at {address}")
        # Ray ends an actor without references: this keeps one, until the task is stopped or the process ends.
        self._peers[address] = peer
        return peer

    def find(self, address: str) -> RayPeer | None:
        """Returns the task at an address; searches only if Ray is in use, and connects to ``RAY_ADDRESS`` if needed."""
        if not ray_in_use():
            return None

        connect()
        from graphc.cluster.carriers.rays_peer import find_peer

        known = self._peers.get(address)
        if known is not None and not known.lost:
            return known
        found = find_peer(address, self._forget)
        if found is not None:
            self._peers[address] = found
        return found

    @staticmethod
    def listens_at() -> str:
        """Returns the address of the Ray cluster that this process is connected to: a value for ``RAY_ADDRESS``."""
        return listens_at()

    def _forget(self, peer: Any) -> None:
        if self._peers.get(peer.address) is peer:
            del self._peers[peer.address]


# Starts Ray on this machine or connects to a Ray cluster; defines the environment that a task's process inherits.

NAMESPACE = "graphc"
"""The namespace of the names of actors."""

_LOOPBACK = ("127.0.0.1", "localhost", "::1", "[::1]")
_OURS = ("GRAPHC_", "JAX_", "XLA_")
_KNOCK_SECONDS = 5.0
_connecting = threading.Lock()


def connect(**options: Any) -> None:
    """Connects this process to the Ray cluster at ``RAY_ADDRESS``, or starts Ray here, on loopback, with a token.

    Does nothing if Ray is already running in this process.
    """
    with _connecting:
        address = os.environ.get("RAY_ADDRESS")
        os.environ.setdefault("RAY_TQDM_PATCH_PRINT", "0")  # else Ray replaces print, also in compiled functions
        if "ray" not in sys.modules:
            _prepare(address)
        try:
            import ray as module
            from ray.exceptions import RayError
        except ImportError as error:
            raise FailedPreconditionError(
                "tasks in processes of their own run on Ray, which is not installed: pip install 'graphc[cluster]'"
            ) from error
        ray: Any = module
        if ray.is_initialized():
            return
        plain: dict[str, Any] = {"namespace": NAMESPACE, "log_to_driver": False, "logging_level": logging.ERROR}
        try:
            with _forks_allowed():
                if address:
                    _knock(address, ray.util.get_node_ip_address())
                    ray.init(address=address, **plain)
                else:
                    _lasting(lambda: ray.init(address="local", **{"include_dashboard": False, **plain, **options}))
        except (RayError, OSError, RuntimeError, ValueError) as error:
            raise _refused(address, error) from error


def _lasting(start: Callable[[], object]) -> None:
    """Calls a function that starts processes, in a thread that lives as long as this process.

    On Linux, Ray asks the kernel to end its processes with their parent, which is the thread that started them.
    """
    if threading.current_thread() is threading.main_thread():
        start()
        return
    started: Future[object] = Future()

    def run() -> None:
        try:
            started.set_result(start())
        except BaseException as error:
            started.set_exception(error)
        threading.Event().wait()

    threading.Thread(target=run, name="graphc Ray", daemon=True).start()
    started.result()


def _refused(address: str | None, error: BaseException) -> GraphcError:
    where = f"at RAY_ADDRESS={address}" if address else "on this machine"
    causes: list[str] = []
    current: BaseException | None = error
    while current is not None:
        causes.append(str(current))
        current = current.__cause__
    if any("AuthenticationError" in cause or "InvalidAuthToken" in cause for cause in causes):
        return UnauthenticatedError(
            f"the Ray cluster {where} does not take this process's token: set RAY_AUTH_MODE=token and "
            "RAY_AUTH_TOKEN to the cluster's token (or RAY_AUTH_TOKEN_PATH to a file with it) before Ray "
            "is imported; where neither is set Ray reads ~/.ray/auth_token"
        )
    return UnavailableError(
        f"there is no Ray cluster {where}: {causes[0].partition('Last')[0].strip()}\n"
        "start one with `graphc cluster up`, or leave RAY_ADDRESS unset to start Ray in this process"
    )


def listens_at() -> str:
    """Returns the address of the Ray cluster that this process is connected to: a value for ``RAY_ADDRESS``."""
    import ray as module

    ray: Any = module
    return str(ray.get_runtime_context().gcs_address)


def environment(gpus: float) -> dict[str, str]:
    """Returns the environment variables of a task's process: this process's settings of graphc and JAX."""
    here = str(Path(__file__).resolve().parents[3])
    paths = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    return {
        **{name: value for name, value in os.environ.items() if name.startswith(_OURS)},
        "PYTHONPATH": os.pathsep.join([here, *(path for path in paths if path and path != here)]),
        "JAX_PLATFORMS": "" if gpus else "cpu",
        "GRAPHC_ENABLE_X64": str(int(config.enable_x64)),
        "GRAPHC_DEFAULT_DTYPE_BITS": str(config.default_dtype_bits),
        "GRAPHC_HEARTBEAT_TIMEOUT": str(config.heartbeat_timeout),
    }


def _prepare(address: str | None) -> None:
    """Sets what Ray reads when it is imported: whether it uses tokens, and that this machine is 127.0.0.1."""
    if not address or _has_token():
        os.environ.setdefault("RAY_AUTH_MODE", "token")
    if os.environ.get("RAY_AUTH_MODE") == "token":
        _keep_token_private(make=not address)
    if not address or (address.rpartition(":")[0] in _LOOPBACK and _listens(address)):
        # Otherwise Ray listens on the machine's first external interface, and treats 127.0.0.1 as another name of it.
        # On macOS and Windows, Ray does this anyway.
        os.environ.setdefault("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")
    if address:  # something listens there: an error after two attempts, a second apart, is permanent
        os.environ.setdefault("RAY_NUM_REDIS_GET_RETRIES", "2")


def _has_token() -> bool:
    return _gives_token() or _token_file().exists()


def _gives_token() -> bool:
    return bool(os.environ.get("RAY_AUTH_TOKEN") or os.environ.get("RAY_AUTH_TOKEN_PATH"))


def _token_file() -> Path:
    return Path.home() / ".ray" / "auth_token"


def _keep_token_private(*, make: bool) -> None:
    """Lets nobody else read the token, with which they could run code; Ray would write it for everybody to read."""
    file = _token_file()
    if make and not _has_token():
        file.parent.mkdir(mode=0o700, exist_ok=True)
        unfinished = file.with_name(f"{file.name}.{os.getpid()}")
        unfinished.touch(0o600)
        unfinished.write_text(secrets.token_hex(32), "ascii")
        with suppress(FileExistsError):  # another process has just made it
            file.hardlink_to(unfinished)
        unfinished.unlink()
    elif not _gives_token() and file.exists() and file.stat().st_mode & 0o077:
        with suppress(PermissionError):  # it is another user's
            file.chmod(0o600)


def _knock(address: str, here: str) -> None:
    """Raises an OSError if nothing listens at an address; Ray would try for minutes."""
    host, _, port = address.rpartition(":")
    real = f"{here if host in _LOOPBACK else host}:{port}"
    if port.isdigit() and "://" not in host and not _listens(real):
        remedy = ""
        if real != address and _listens(address):
            remedy = ", which was imported before: set RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER=0 in the environment"
        raise ConnectionError(f"nothing listens at {real}" + (f", to Ray the same{remedy}" if real != address else ""))


def _listens(address: str) -> bool:
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), _KNOCK_SECONDS).close()
    except OSError:
        return False
    return True


@contextmanager
def _forks_allowed() -> Generator[None]:
    """Silences JAX's warning about forks: Ray forks only to start other programs, which is safe."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="os.fork\\(\\) was called", category=RuntimeWarning)
        yield
