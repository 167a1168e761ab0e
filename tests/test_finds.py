"""A property test that is killed while it looks for a smaller example has told the first."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = """
import threading
from hypothesis import given, settings, strategies

found = []

@settings(database=None, deadline=None)
@given(number=strategies.integers(5, 9))
def test_it(number):
    if found:
        threading.Event().wait()
    found.append(number)
    raise ValueError(f"wrong for {number}")
"""


@pytest.mark.multiprocess
@pytest.mark.parametrize("workers", [(), ("-n", "1")], ids=["alone", "in a worker"])
def test_a_find_is_told_before_its_test_is_killed(tmp_path: Path, workers: tuple[str, ...]) -> None:
    file = tmp_path / "test_property.py"
    file.write_text(SOURCE, encoding="utf-8")
    options = ("-p", "tests.finds", "-p", "no:cacheprovider", "--timeout", "2", "--timeout-method", "thread", *workers)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, "--rootdir", str(tmp_path), "-c", "/dev/null", str(file)],
        cwd=ROOT, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode != 0
    text = done.stdout + done.stderr
    assert "hypothesis found" in text, text
    assert "  number = " in text
    assert "ValueError: wrong for " in text
