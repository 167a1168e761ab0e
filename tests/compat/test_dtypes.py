"""What an import of graphc.compat.v2 does to dtypes and to what tensors print, and what does nothing."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

IMPORT = """
import graphc as gx
try:
    gx.reduce_summ
except AttributeError:
    pass
assert gx.asarray(1.0).dtype == "float32" and gx.config.enable_x64 is False, "a typo is harmless"
import graphc.compat.v2 as tf
print(gx.config.enable_x64, tf.constant(1).dtype, tf.argmax([1.0]).dtype, tf.constant(1.0, tf.float64).dtype)
import threading
thread = threading.Thread(target=lambda: print(tf.argmax([1.0]).dtype, gx.asarray(0.5).dtype))
thread.start()
thread.join()
print(tf.constant(1, tf.int32))
"""


@pytest.mark.multiprocess
@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, ["True int32 int64 float64", "int64 float32", "tf.Tensor(1, shape=(), dtype=int32)"]),
        (
            {"GRAPHC_ENABLE_X64": "0", "GRAPHC_TENSOR_TEXT": "numpy"},
            ["False int32 int32 float32", "int32 float32", "1"],
        ),
    ],
)
def test_an_import_sets_tensorflows_dtypes_and_texts_unless_the_environment_decides(
    settings: dict[str, str], expected: list[str]
) -> None:
    unset = ("GRAPHC_ENABLE_X64", "GRAPHC_TENSOR_TEXT")
    environment = {name: value for name, value in os.environ.items() if name not in unset} | settings
    command = [sys.executable, "-c", IMPORT]
    found = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, timeout=120)
    assert found.returncode == 0, found.stderr
    assert found.stdout.splitlines() == expected
