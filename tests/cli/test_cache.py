"""Compiled programs on disk: a second process compiles nothing, and the setting says where they are."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import graphc as gx
from graphc.compiler.base.errors import InvalidArgumentError

PROGRAM = """
import jax
events = []
jax.monitoring.register_event_listener(lambda name, **_: events.append(name.rpartition("/")[2]))
import graphc as gx

@gx.function
def known_step(x):
    for _ in range(30):
        x = gx.tanh(x @ x)
    return x

assert known_step(gx.ones((4, 4))).shape == (4, 4)
print(events.count("cache_hits"), events.count("cache_misses"), gx.config.compilation_cache)
"""


def run(*arguments: str, cache: str) -> str:
    removed = ("JAX_COMPILATION_CACHE_DIR", "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS")
    environment = {name: value for name, value in os.environ.items() if name not in removed}
    environment["GRAPHC_COMPILATION_CACHE"] = cache
    found = subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, check=False, timeout=120, env=environment
    )
    assert found.returncode == 0, found.stderr
    return found.stdout


@pytest.mark.multiprocess
def test_the_second_process_compiles_nothing(tmp_path: Path) -> None:
    hits, misses, folder = run("-c", PROGRAM, cache=str(tmp_path)).split()
    assert (int(hits), Path(folder)) == (0, tmp_path)
    assert int(misses) > 0
    again = run("-c", PROGRAM, cache=str(tmp_path)).split()
    assert again == [misses, "0", folder]
    (machine,) = Path(folder).iterdir()
    assert oct(machine.stat().st_mode)[-3:] == "700"


def test_the_setting_takes_folders_and_tells_what_it_takes(tmp_path: Path) -> None:
    before = gx.config.compilation_cache
    with pytest.raises(InvalidArgumentError, match="expected a folder, True for the user's cache folder, or None"):
        gx.config.compilation_cache = 3  # pyright: ignore[reportAttributeAccessIssue]
    assert gx.config.compilation_cache == before
