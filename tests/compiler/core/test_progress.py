"""The line on a terminal for what takes long: it comes, tells the innermost work, and goes; in a pipe there is none."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
from collections.abc import Callable
from typing import Any, ClassVar

import pytest

from graphc.compiler.base import config
from graphc.compiler.base.errors import InvalidArgumentError
from graphc.compiler.core import progress

PROGRAM = """
import graphc as gx
@gx.function
def step(x):
    return x * 2
print("result", step(gx.asarray(3.0)).item())
proposal = gx.placement.auto(step, gx.asarray(3.0), devices=["cpu:0"], measure=False)
print("proposed", proposal.one_device)
"""
SHOWN = {"GRAPHC_PROGRESS_AFTER": "0", "TERM": "xterm-256color", "COLUMNS": "100"}


def environment(**settings: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in ("PYTEST_CURRENT_TEST", "NO_COLOR")}
    return {**kept, **SHOWN, **settings}


def on_a_terminal(**settings: str) -> str:
    """What the program writes to a pseudo-terminal."""
    outside, inside = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM], stdout=inside, stderr=inside, stdin=inside, env=environment(**settings)
    ) as process:
        os.close(inside)
        written = b""
        try:
            while select.select([outside], [], [], 120)[0]:
                try:
                    found = os.read(outside, 65536)
                except OSError:  # the end, on Linux
                    break
                if not found:
                    break
                written += found
        finally:
            process.kill()
            os.close(outside)
    return written.decode()


@pytest.mark.multiprocess
def test_a_terminal_shows_what_is_done_and_clears_the_line() -> None:
    text = on_a_terminal()
    for work in ("tracing step", "compiling step", "placing step"):
        assert work in text
    first, last = text.index("tracing step"), text.index("result 6.0")
    assert first < text.index("compiling step") < last
    assert "\x1b[2K" in text[text.rindex("compiling step", 0, last) : last]  # the line is erased
    assert "step" not in text[text.index("proposed") :]


@pytest.mark.drawn(3)
@pytest.mark.multiprocess
@pytest.mark.parametrize(
    "settings", [{"GRAPHC_PROGRESS_AFTER": "none"}, {"TERM": "dumb"}, {"PYTEST_CURRENT_TEST": "x"}]
)
def test_a_terminal_without_the_line(settings: dict[str, str]) -> None:
    text = on_a_terminal(**settings)
    assert "result 6.0" in text
    assert "tracing" not in text


@pytest.mark.multiprocess
def test_a_pipe_has_no_line_whatever_the_colours() -> None:
    found = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=240, check=True,
        env=environment(FORCE_COLOR="1"),
    )  # fmt: skip
    assert found.stdout.split("\n")[0] == "result 6.0"
    assert "\x1b" not in found.stdout + found.stderr


class Timers:
    """Stands for ``threading.Timer``: what would come after a second comes when the test says so."""

    def __init__(self) -> None:
        self.made: list[Timers.One] = []

    def __call__(self, seconds: float, call: Callable[[], None]) -> Timers.One:
        self.made.append(self.One(seconds, call))
        return self.made[-1]

    class One:
        daemon = False

        def __init__(self, seconds: float, call: Callable[[], None]) -> None:
            self.seconds, self.call, self.begun, self.cancelled = seconds, call, False, False

        def start(self) -> None:
            self.begun = True

        def cancel(self) -> None:
            self.cancelled = True


class Bar:
    """Stands for rich's bar."""

    shown: ClassVar[list[str]] = []
    task_ids = (0,)

    def __init__(self, *columns: Any, **options: Any) -> None:
        assert options["transient"] is True

    def add_task(self, text: str, total: None) -> None:
        self.shown.append(text)

    def update(self, task: int, description: str) -> None:
        self.shown.append(description)

    def start(self) -> None:
        self.shown.append("start")

    def stop(self) -> None:
        self.shown.append("stop")


@pytest.fixture
def timers(monkeypatch: pytest.MonkeyPatch) -> Timers:
    found = Timers()
    monkeypatch.setattr("threading.Timer", found)
    monkeypatch.setattr("rich.progress.Progress", Bar)
    monkeypatch.setattr(progress, "_shows", lambda: True)
    Bar.shown = []
    return found


def test_short_work_shows_nothing(timers: Timers) -> None:
    with progress.telling("tracing f"):
        pass
    (timer,) = timers.made
    assert (timer.seconds, timer.begun, timer.cancelled, timer.daemon) == (1.0, True, True, True)
    timer.call()  # too late
    assert Bar.shown == []


def test_long_work_shows_the_innermost(timers: Timers) -> None:
    with progress.telling("compiling f", compiles=True):
        with progress.telling("tracing g"):
            timers.made[0].call()
        with progress.telling("tracing h"):
            pass
    assert Bar.shown == ["tracing g", "start", "compiling f", "tracing h", "compiling f", "stop"]
    assert len(timers.made) == 1


def test_a_compilation_is_over_when_jax_says_so(timers: Timers) -> None:
    import jax.monitoring

    event = "/jax/core/compile/backend_compile_duration"
    with progress.telling("tracing f"):
        timers.made[0].call()
        jax.monitoring.record_event_duration_secs(event, 0.1)  # of an op that the trace runs
        assert "stop" not in Bar.shown
    with progress.telling("compiling f", compiles=True):
        timers.made[1].call()
        jax.monitoring.record_event_duration_secs(event, 0.1)
        assert Bar.shown[-1] == "stop"


def test_tests_dumb_terminals_and_closed_files_have_no_line(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal:
        closed = False

        def isatty(self) -> bool:
            if self.closed:
                raise ValueError("I/O operation on closed file")
            return True

    terminal = Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)
    monkeypatch.setenv("TERM", "xterm")
    assert not progress._shows()  # pytest says that it runs
    monkeypatch.delenv("PYTEST_CURRENT_TEST")
    assert progress._shows()
    terminal.closed = True
    assert not progress._shows()
    terminal.closed = False
    monkeypatch.setenv("TERM", "dumb")
    assert not progress._shows()


def test_the_setting_is_checked() -> None:
    with config.scope(progress_after=None), progress.telling("tracing f"):
        pass
    with pytest.raises(
        InvalidArgumentError, match="progress_after: expected a finite nonnegative number of seconds or"
    ):
        config.progress_after = -1.0
