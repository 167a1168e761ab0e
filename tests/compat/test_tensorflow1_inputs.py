"""Input pipelines of TensorFlow 1 give what TensorFlow 2.21 has given, and end as they do there."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import graphc.compat.v1 as tf
from tests.compat.input_programs import PROGRAMS, transcript, write_files

RECORDED = Path(__file__).with_name("tensorflow1_inputs.txt").read_text()

pytestmark = pytest.mark.timeout(120)


@pytest.fixture(scope="module", autouse=True)
def _files(tmp_path_factory: pytest.TempPathFactory) -> Any:
    before = os.getcwd()
    os.chdir(tmp_path_factory.mktemp("inputs"))
    write_files(tf)
    yield
    os.chdir(before)
    tf.reset_default_graph()


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_a_pipeline_gives_what_tensorflow_gives(program: Callable[[Any], Any]) -> None:
    found = re.search(rf"^# {program.__name__}$.*?(?=^# |\Z)", RECORDED, flags=re.MULTILINE | re.DOTALL)
    assert found is not None
    assert transcript(tf, program) == found[0].rstrip("\n")
