"""Compiled programs on disk: a second process compiles nothing, and the setting says where they are."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import graphc as gx
from graphc.cli import main
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
def test_the_second_process_compiles_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hits, misses, folder = run("-c", PROGRAM, cache=str(tmp_path)).split()
    assert (int(hits), Path(folder)) == (0, tmp_path)
    assert int(misses) > 0
    again = run("-c", PROGRAM, cache=str(tmp_path)).split()
    assert again == [misses, "0", folder]
    (machine,) = Path(folder).iterdir()
    assert oct(machine.stat().st_mode)[-3:] == "700"

    assert "known_step" in run("-m", "graphc", "cache", cache=str(tmp_path))
    assert main(["cache", "--folder", str(tmp_path)]) == 0
    listed = capsys.readouterr().out
    assert f"{misses} programs" in listed
    assert "ago" in listed
    assert main(["cache", "--folder", str(tmp_path), "--clear"]) == 0
    assert f"removed {misses} programs" in capsys.readouterr().out
    assert not list(machine.iterdir())
    assert main(["cache", "--folder", str(tmp_path)]) == 0
    assert "0 programs" in capsys.readouterr().out


def test_the_setting_takes_folders_and_tells_what_it_takes(tmp_path: Path) -> None:
    before = gx.config.compilation_cache
    with pytest.raises(InvalidArgumentError, match="expected a folder, True for the user's cache folder, or None"):
        gx.config.compilation_cache = 3  # pyright: ignore[reportAttributeAccessIssue]
    assert gx.config.compilation_cache == before


def test_without_a_cache_the_command_says_how_to_have_one(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(type(gx.config), "compilation_cache", None)
    assert main(["cache"]) == 2
    assert "no cache is on: set GRAPHC_COMPILATION_CACHE=1" in capsys.readouterr().err


def test_clearing_removes_nothing_else(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = tmp_path / "machine" / f"jit_f-{'0' * 64}-cache"
    others = [tmp_path / "npm-cache", tmp_path / "src" / "deep" / f"a-{'1' * 64}-cache"]
    for path in (program, *others):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    (tmp_path / "pip-cache").mkdir()
    assert main(["cache", "--clear", "--folder", str(tmp_path)]) == 0
    assert "removed 1 programs" in capsys.readouterr().out
    assert not program.exists()
    assert all(path.exists() for path in others)
