"""One Ray for all tests of a run, and the services that tests call."""

from __future__ import annotations

import importlib.util
import itertools
import os
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

import graphc as gx
from graphc.cluster.carriers import Peer, find

_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def ray_address(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The address of a Ray that all workers of a run share; it ends with the run."""
    if importlib.util.find_spec("ray") is None:  # not imported yet: connect() first says what Ray reads then
        pytest.skip("Ray is not installed")
    shared = "PYTEST_XDIST_WORKER" in os.environ
    folder = tmp_path_factory.getbasetemp()
    told = (folder.parent if shared else folder) / "ray_address"
    try:
        with told.open("x") as out:
            command = [sys.executable, str(Path(__file__).with_name("ray_head.py"))]
            owner = os.getppid() if shared else os.getpid()
            # Not a child to wait for: it ends by itself, after the last worker of the run.
            environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
            head = subprocess.Popen(
                [*command, str(owner)], stdout=out, stdin=subprocess.DEVNULL, env=environment, start_new_session=True
            )
            head.returncode = 0
    except FileExistsError:
        pass
    end = time.monotonic() + 120
    while not (found := told.read_text()).endswith("\n"):
        assert time.monotonic() < end, "Ray did not start within two minutes"
        time.sleep(0.05)
    return found.strip()


@pytest.fixture(scope="module")
def ray_here(ray_address: str) -> Iterator[str]:
    """Connects this process to Ray as long as the tests of a module run, of which servers start on Ray by default."""
    from graphc.cluster.carriers.rays import connect

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_ADDRESS", ray_address)
        connect()
        yield ray_address
        sys.modules["ray"].shutdown()


def started(protocol: str, job: str = "ps") -> tuple[gx.Server, Peer]:
    """Starts a task at an address of its own, with the service ``probe``."""
    server = gx.Server({job: [f"host-{uuid.uuid4().hex[:8]}:{next(_numbers)}"]}, protocol=protocol)
    peer = find(server.target)
    peer.call("task", "host", "probe", "tests.cluster.services:Probe")
    return server, peer
