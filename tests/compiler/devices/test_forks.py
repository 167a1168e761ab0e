"""Forked processes: what works there does, and what would hang says so."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

PROGRAM = """
import os, signal, sys, warnings
warnings.simplefilter("ignore")
import graphc as gx

def in_child(*attempts):
    sys.stdout.flush()
    if os.fork():
        assert os.wait()[1] == 0
        return
    signal.alarm(60)  # ends one that hangs
    for attempt in attempts:
        try:
            print(attempt())
        except gx.errors.FailedPreconditionError as error:
            print("refused:", error)
    sys.stdout.flush()
    os._exit(0)

in_child(lambda: (gx.ones(2) + 1).tolist())
x = gx.asarray([1.0, 2.0])
f = gx.function(lambda x: x * 3)
f(x)
gx.submit(lambda: None).result()
in_child(
    lambda: f(x).tolist(),
    lambda: gx.submit(lambda: "submitted").result(),
    lambda: gx.cos(x),
    lambda: gx.asarray([1.0, 2.0, 3.0]) * x[0],
    lambda: gx.function(lambda x: x - 1)(x),
)
"""


@pytest.mark.multiprocess
@pytest.mark.usefixtures("warm_python")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_forked_process_compiles_if_it_has_devices_of_its_own() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stdout.splitlines() if not line.startswith("  ")]
    assert lines[:3] == ["[2.0, 2.0]", "[3.0, 6.0]", "submitted"]
    refused = "refused: this process was forked from one that had made its devices"
    assert [line.startswith(refused) for line in lines[3:]] == [True] * 3
    assert 'multiprocessing.get_context("spawn")' in lines[3]
