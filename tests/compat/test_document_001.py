"""The program of the first document, at small sizes, in which only the import is another."""

from __future__ import annotations

import re
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
