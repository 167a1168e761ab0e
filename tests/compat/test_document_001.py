"""The program of the first document, at small sizes, in which only the import is another."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import graphc as gx

PROGRAM = Path(__file__).parent / "document_001.txt"

PRINTED = """<tf.Tensor: shape=(1, 2), dtype=float32, numpy=array([[3., 3.]], dtype=float32)>
Workloads are queued. time: # sec
sum = tf.Tensor(#, shape=(), dtype=float32)
Workloads are finished. time: # sec
time: # sec
time: # sec
time: # sec
time: # sec
synchronous. time: # sec
asynchronous. time: # sec
<tf.Tensor: shape=(), dtype=float32, numpy=#>
batch 2, time # sec
batch 4, time # sec
increased memory: # MB
batch 2, time # sec
batch 4, time # sec
"""


def test_the_program_prints_what_the_document_prints(capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, object] = {}
    with pytest.warns(gx.errors.GraphcWarning, match="no variables were given, so nothing is updated"):
        exec(compile(PROGRAM.read_text(encoding="utf-8"), str(PROGRAM), "exec"), names)
    assert re.sub(r"-?\d+\.\d+(e-\d+)?(?! ?,? ?\d*\.?\]\])", "#", capsys.readouterr().out) == PRINTED
    assert float(names["loss_value"]) < float(names["first"])  # type: ignore[arg-type]


@pytest.mark.multiprocess
@pytest.mark.parametrize(("setting", "shown"), [(None, "tf.Tensor(1, shape=(), dtype=int32)"), ("numpy", "1")])
def test_an_import_sets_tensorflows_texts_unless_the_environment_decides(setting: str | None, shown: str) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "GRAPHC_TENSOR_TEXT"}
    environment |= {} if setting is None else {"GRAPHC_TENSOR_TEXT": setting}
    command = [sys.executable, "-c", "import graphc.compat.v2 as tf; print(tf.constant(1, tf.int32))"]
    found = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, timeout=120)
    assert found.stdout == f"{shown}\n", found.stderr
