"""What is said of devices before JAX makes them reaches JAX and XLA; later it is refused."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import pytest

import graphc as gx
from graphc.compiler.devices import has_made_devices

PROGRAM = """
import glob
import os, jax
import graphc as gx
from graphc.compiler.core import context
from graphc.compiler.devices import has_made_devices

def environment():
    names = ("XLA_PYTHON_CLIENT_MEM_FRACTION", "XLA_PYTHON_CLIENT_PREALLOCATE")
    return [os.environ.get(name) for name in names]

assert not has_made_devices(), "graphc makes devices when it is imported"
assert (gx.config.visible_devices, gx.config.gpu_memory_fraction, gx.config.gpu_memory_growth) == (None, None, False)
assert environment() == [None, None]

gx.config.visible_devices = [0, "gpu:2"]
assert gx.config.visible_devices == [0, 2]
assert jax.config.read("jax_cuda_visible_devices") == jax.config.read("jax_rocm_visible_devices") == "0,2"
gx.config.visible_devices = []
assert (gx.config.visible_devices, jax.config.jax_platforms) == ([], "cpu")
gx.config.visible_devices = None
assert (gx.config.visible_devices, jax.config.jax_platforms) == (None, PLATFORMS)
assert jax.config.read("jax_cuda_visible_devices") == "all"

gx.config.gpu_memory_fraction = 0.25
gx.config.gpu_memory_growth = True
assert environment() == ["0.25", "false"]
gx.config.gpu_memory_growth = False
gx.config.gpu_memory_fraction = None
assert environment() == [None, "true"]
with gx.config.scope(gpu_memory_fraction=1):
    assert environment() == ["1.0", "true"]
assert environment() == [None, "true"]
gx.config.intra_op_threads = 3
assert gx.config.intra_op_threads == 3
assert not has_made_devices(), "a setting makes devices"
assert gx.ones(2).device == "/device:CPU:0" and has_made_devices()
assert gx.config.soft_placement and gx.config.log_device_placement and not context.eager
gx.config.log_device_placement = False
assert context.eager
tasks = glob.glob("/proc/self/task/*/comm")  # of Linux alone
assert not tasks or [open(task).read().strip() for task in tasks].count("tf_XLAEigen") == 3
print("done")
"""


def test_settings_reach_jax_and_xla() -> None:
    platforms = os.environ.get("JAX_PLATFORMS")
    program = PROGRAM.replace("PLATFORMS)", f"{platforms!r})")
    environment = os.environ | {"GRAPHC_SOFT_PLACEMENT": "1", "GRAPHC_LOG_DEVICE_PLACEMENT": "on"}
    environment["GRAPHC_CPU_DEVICES"] = "1"  # XLA has at least one thread for each
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300, env=environment)
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr


@pytest.mark.parametrize(
    ("name", "value"),
    [("visible_devices", [0]), ("gpu_memory_fraction", 0.5), ("gpu_memory_growth", True), ("intra_op_threads", 3)],
)
def test_a_setting_that_comes_too_late_is_refused(name: str, value: Any) -> None:
    gx.devices()
    assert has_made_devices()
    before = getattr(gx.config, name)
    with pytest.raises(gx.errors.FailedPreconditionError) as caught:
        setattr(gx.config, name, value)
    assert f"gx.config.{name} = {value!r} comes too late: JAX has already made its devices" in str(caught.value)
    assert "set it earlier, right after `import graphc as gx`" in str(caught.value)
    assert getattr(gx.config, name) == before
    setattr(gx.config, name, before)  # which changes nothing


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("visible_devices", "0,1", r"expected a list of different GPUs, such as \[0, 1\]"),
        ("visible_devices", [0, 0], "expected a list of different GPUs"),
        ("visible_devices", [-1], "expected a list of different GPUs"),
        ("visible_devices", ["cpu:0"], "expected a list of different GPUs"),
        ("visible_devices", ["gpu"], "expected a list of different GPUs"),
        ("gpu_memory_fraction", 0, "expected a number above 0 and not above 1"),
        ("gpu_memory_fraction", 1.5, "expected a number above 0 and not above 1"),
        ("gpu_memory_fraction", True, "expected a number above 0 and not above 1"),
        ("intra_op_threads", 0, "expected a positive int or None"),
        ("gpu_memory_growth", 1, "expected True or False, got 1"),
        ("log_device_placement", "yes", "expected True or False, got 'yes'"),
    ],
)
def test_a_setting_that_cannot_be_is_refused(name: str, value: Any, expected: str) -> None:
    with pytest.raises(gx.errors.InvalidArgumentError, match=f"gx.config.{name}: {expected}"):
        setattr(gx.config, name, value)
