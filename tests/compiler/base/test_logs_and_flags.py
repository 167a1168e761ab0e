"""Log lines, and flags of the command line."""

from __future__ import annotations

import logging
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from graphc.compiler.base import logs


@pytest.fixture
def level() -> Iterator[None]:
    before = logs.logger().level
    yield
    logs.logger().setLevel(before)


@pytest.mark.usefixtures("level")
def test_lines_are_logged_by_level_count_and_condition(caplog: pytest.LogCaptureFixture) -> None:
    logs.logger().info("too low")
    logs.logger().setLevel(logging.INFO)
    for i in range(4):
        logs.log_first(logging.INFO, "first %d", 2, i)
        logs.log_every(logging.INFO, "every %d", 2, i)
        logs.log_if(logging.INFO, "even %d", i % 2 == 0, i)
    logs.flush()
    lines = [record.getMessage() for record in caplog.records]
    assert [line for line in lines if line.startswith("first")] == ["first 0", "first 1"]
    assert [line for line in lines if line.startswith("every")] == ["every 0", "every 2"]
    assert [line for line in lines if line.startswith("even")] == ["even 0", "even 2"]
    assert "too low" not in lines


PROGRAM = """
from graphc.compiler.base import flags, logs
flags.define("integer", "steps", 3, "how many")
flags.define("string", flag_name="where", default_value="here", docstring="where to")
flags.define("boolean", "fast", False, "whether")
logs.logger().warning("to stderr")

def main(rest):
    print(flags.FLAGS.steps, flags.FLAGS.where, flags.FLAGS.fast, rest[1:], "steps" in flags.FLAGS)
    flags.FLAGS.steps = 9
    print(flags.FLAGS["steps"].value, hasattr(flags.FLAGS, "nothing"))

if __name__ == "__main__":
    START
"""


@pytest.mark.multiprocess
@pytest.mark.parametrize("start", ["flags.run()", "main(['', 'left', '--other=1'])"])
def test_a_program_reads_its_flags(tmp_path: Path, start: str) -> None:
    script = tmp_path / "program.py"
    script.write_text(PROGRAM.replace("START", start))
    command = [sys.executable, str(script), "--steps=7", "--fast", "left", "--other=1"]
    found = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert found.stdout == "7 here True ['left', '--other=1'] True\n9 False\n", found.stderr
    assert found.stderr == "WARNING:graphc:to stderr\n"
    assert found.returncode == 0
