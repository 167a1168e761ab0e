"""Monitored Sessions, managers and supervisors of TensorFlow 1: what TensorFlow 2.21 gave for the same programs."""

from __future__ import annotations

import json
from typing import Any

import pytest

import graphc.compat.v1 as tf
from tests.compat.monitored_programs import FILE, PROGRAMS, result

RESULTS: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))

pytestmark = pytest.mark.timeout(120)


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_does_what_it_does_in_tensorflow(name: str) -> None:
    assert result(tf, name) == RESULTS[name]
