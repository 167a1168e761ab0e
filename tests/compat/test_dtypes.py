"""What an import of graphc.compat.v2 does to the dtypes, and what does nothing."""

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
threading.Thread(target=lambda: print(tf.argmax([1.0]).dtype, gx.asarray(0.5).dtype)).start()
"""


@pytest.mark.multiprocess
@pytest.mark.parametrize(
    ("setting", "expected"),
    [(None, "True int32 int64 float64\nint64 float32\n"), ("0", "False int32 int32 float32\nint32 float32\n")],
)
def test_an_import_sets_tensorflows_dtypes_unless_the_environment_says_no(setting: str | None, expected: str) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "GRAPHC_ENABLE_X64"}
    if setting is not None:
        environment["GRAPHC_ENABLE_X64"] = setting
    command = [sys.executable, "-c", IMPORT]
    found = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, timeout=120)
    assert found.returncode == 0, found.stderr
    assert found.stdout == expected
