"""graphc launch: what it shows, returns and leaves behind; its programs are Python alone, which starts soon."""

from __future__ import annotations

import io
import os
import select
import signal
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from graphc.cli import main
from graphc.compiler.base.errors import InvalidArgumentError
from graphc.training.distribute import launch

pytestmark = [pytest.mark.multiprocess, pytest.mark.timeout(60)]

HEAD = """
import os, signal, sys, time
from pathlib import Path
rank = int(os.environ["GRAPHC_PROCESS_ID"])
folder = Path(sys.argv[1])

def note():
    (folder / f"pid{rank}").write_text(str(os.getpid()))

def until_all_are_here():
    while len(list(folder.glob("pid*"))) < int(os.environ["GRAPHC_PROCESSES"]):
        time.sleep(0.01)
"""


@pytest.fixture(autouse=True)
def _short_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("graphc.training.distribute.processes.launcher._GRACE", 0.5)


def run(folder: Path, body: str, processes: int = 2, **options: int) -> tuple[int, list[str], str]:
    """Runs a program; returns the exit code, the sorted lines that it printed, and what went to standard error."""
    file = folder / "program.py"
    file.write_text(HEAD + body, encoding="utf-8")
    out, err = io.StringIO(), io.StringIO()
    code = launch([str(file), str(folder)], processes, out=out, err=err, **options)
    return code, sorted(out.getvalue().splitlines()), err.getvalue()


def is_alive(folder: Path, rank: int) -> bool:
    """Whether a child runs still; ours are waited for, so their numbers are free when they are gone."""
    try:
        os.kill(int((folder / f"pid{rank}").read_text()), 0)
    except ProcessLookupError:
        return False
    return True


def test_each_line_has_its_rank_and_each_rank_its_place(tmp_path: Path) -> None:
    names = ["PROCESSES", "PROCESS_ID", "LOCAL_RANK", "LOCAL_PROCESSES", "RESTART", "CPU_DEVICES", "PROCESS_TIMEOUT"]
    body = "print('[Gloo] Rank 0 is connected to 1 peer ranks.');"  # which JAX's runtime prints
    body += f"print(*[os.environ['GRAPHC_' + name] for name in {names}], len(os.environ['GRAPHC_AUTHKEY']))"
    code, lines, err = run(tmp_path, body, 3, timeout=7)
    assert (code, err) == (0, "")
    assert lines == [f"[{rank}] 3 {rank} {rank} 3 0 1 7 32" for rank in range(3)]


def test_the_first_failure_ends_all_and_is_told_with_its_last_lines(tmp_path: Path) -> None:
    body = """
note()
until_all_are_here()
if rank == 1:
    print("before", file=sys.stderr)
    sys.exit("no such file")
if rank == 2:
    sys.exit(75)  # brought down by another
time.sleep(60)
"""
    code, _, err = run(tmp_path, body, 3)
    assert code == 1
    told = "graphc launch: rank 1 ended with exit code 1; the last that it said:\n  before\n  no such file\n"
    assert err.endswith(told)
    assert "[1] before\n" in err
    assert [is_alive(tmp_path, rank) for rank in range(3)] == [False] * 3


def test_a_rank_that_is_killed_is_named_and_what_others_have_started_ends_too(tmp_path: Path) -> None:
    body = """
import subprocess
if rank == 0:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    helper = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    (folder / "pid9").write_text(str(helper.pid))
note()
while len(list(folder.glob("pid*"))) < 3:
    time.sleep(0.01)
if rank == 1:
    os.kill(os.getpid(), signal.SIGKILL)
time.sleep(60)
"""
    code, _, err = run(tmp_path, body)
    assert (code, err) == (137, "graphc launch: rank 1 was killed by signal 9 (SIGKILL)\n")
    assert not is_alive(tmp_path, 0)
    with suppress(ProcessLookupError):  # it is gone, or will be
        helper = os.pidfd_open(int((tmp_path / "pid9").read_text()))
        try:
            assert select.select([helper], [], [], 20)[0]
        finally:
            os.close(helper)


def test_restarts_go_on_from_what_the_program_has_saved(tmp_path: Path) -> None:
    body = """
if rank == 1:
    saved = folder / "step"
    step = int(saved.read_text()) if saved.exists() else 0
    print("start", os.environ["GRAPHC_RESTART"], "at step", step)
    saved.write_text(str(step + 5))
    sys.exit(0 if os.environ["GRAPHC_RESTART"] == "2" else 3)
elif os.environ["GRAPHC_RESTART"] != "2":
    time.sleep(60)
"""
    code, lines, err = run(tmp_path, body, restarts=2)
    assert code == 0
    assert lines == [f"[1] start {n} at step {5 * n}" for n in range(3)]
    assert err == (
        "graphc launch: rank 1 ended with exit code 3; all start again (2 more times)\n"
        "graphc launch: rank 1 ended with exit code 3; all start again (1 more time)\n"
    )
    code, _, err = run(tmp_path, body, restarts=1)
    assert code == 3
    assert err.endswith("graphc launch: rank 1 ended with exit code 3\n")


def test_ctrl_c_leaves_no_child(tmp_path: Path) -> None:
    body = """
if rank == 1:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
note()
until_all_are_here()
if rank == 0:
    os.kill(os.getppid(), signal.SIGINT)
time.sleep(60)
"""
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, body)
    assert [is_alive(tmp_path, rank) for rank in range(2)] == [False, False]
    assert signal.getsignal(signal.SIGTERM) is before


def test_ctrl_c_shows_what_the_ranks_say_but_not_their_tracebacks_of_it(tmp_path: Path) -> None:
    body = """
try:
    print("usual", file=sys.stderr)
    note()
    until_all_are_here()
    if rank == 0:
        os.kill(os.getppid(), signal.SIGINT)
    time.sleep(60)
except KeyboardInterrupt:
    print("saved", file=sys.stderr)
    if rank == 0:
        raise ValueError("mine")
    raise
"""
    (tmp_path / "program.py").write_text(HEAD + body, encoding="utf-8")
    err = io.StringIO()
    with pytest.raises(KeyboardInterrupt):
        launch([str(tmp_path / "program.py"), str(tmp_path)], 2, out=io.StringIO(), err=err)
    lines = err.getvalue().splitlines()
    assert [line for line in lines if line.startswith("[1]")] == ["[1] usual", "[1] saved"]
    assert "[0] ValueError: mine" in lines
    assert "[0] saved" in lines


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_while_a_child_starts_leaves_none(
    number: signal.Signals, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[subprocess.Popen[str]] = []

    class Interrupted(subprocess.Popen[str]):
        def __init__(self, *given: Any, **options: Any) -> None:
            super().__init__(*given, **options)
            started.append(self)
            signal.raise_signal(number)

    monkeypatch.setattr(subprocess, "Popen", Interrupted)
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, "time.sleep(60)")
    assert [child.returncode is not None for child in started] == [True]


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "program.py"
    file.write_text("import sys; print(sys.argv[1:]); sys.exit(4)", encoding="utf-8")
    assert main(["launch", "--processes", "1", "--timeout", "9", str(file), "--rate", "0.1"]) == 4
    found = capsys.readouterr()
    assert (found.out, found.err) == ("[0] ['--rate', '0.1']\n", "graphc launch: rank 0 ended with exit code 4\n")
    assert main(["launch", "--processes", "2", str(tmp_path / "other.py")]) == 2
    assert "graphc launch: there is no file" in capsys.readouterr().err


def test_what_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        InvalidArgumentError, match="one or more processes and no negative number of restarts, got 0 and 0"
    ):
        run(tmp_path, "", 0)
    with pytest.raises(InvalidArgumentError, match="graphc launch: expected a positive, finite number of seconds"):
        run(tmp_path, "", timeout=-1)
