"""The examples say what they should: in this process, and those that are drawn as programs of their own.

JAX and graphc take two seconds to start, as long as most examples. ``make test-slow`` starts each as a program.
"""

from __future__ import annotations

import logging
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

import graphc as gx
from graphc.cli import main
from graphc.graphs.session import reset_default_graph
from tests.draws import is_drawn

ROOT = Path(__file__).parent.parent
EXPECTED = {
    "async_memory.py": r"8 batches, at most 2 steps in flight: extra MB after each quarter:( [+-]\d+){4}\n"
    r"dispatched in \d+\.\d s, computed in \d+\.\d s, loss \d\.\d{4}\nevaluated: \d\.\d{4} \d\.\d{4} \d\.\d{4}\n",
    "data_parallel.py": r"devices: 8\nloss: \d\.\d+e-\d\d\nweights: \[1\.0, 2\.0, 3\.0\]\n",
    "graph_text.py": r"graph collatz\(.*the text says the same: True\nsteps: 111 and of what was parsed: 111\n",
    "loop.py": r"the square root of 2, by Newton's method: 1\.41421.*graph step\(",
    "mlp.py": r"step 0: loss 0\.\d+\n.*step 1000: loss 0\.00.*trace 1 at mlp\.py:\d+: the first call",
    "parameter_server.py": r"asynchronous: accuracy 0\.\d+, 400 updates; of 400 steps 400 applied, 0 late, 0 lost\n"
    r".*gone: /job:worker/task:0\n.*staleness at /job:ps/task:0: .*"
    r"synchronous, 2 of 5 spare: accuracy 0\.\d+, \d+ updates; of 400 steps \d+ applied, \d+ late, 0 lost\n"
    r".*gone: /job:worker/task:0\n",
    "parallel.py": r"two chains, .* the same values as on one: True\n"
    r"(  \w+ on /device:CPU:1 overlaps \w+ on /device:CPU:2\n)?"  # where the first takes longer than to tell the second
    r"two calls of Python that wait for each other; their sum: 6\.0\n"
    r"  \w+ \(parallel\.py:\d+\) on \S+ overlaps \w+ \(parallel\.py:\d+\) on \S+\nfirst: 0\.0\nsecond: 3\.0\n"
    r"in the graph: %cos: .* after\(%sum\)\n.*where +kind +name .*written: trace\.html trace\.json\n",
    "pipeline.py": r"51 steps on 3 devices; eager and compiled differ by \d\.\de-?\+?\d\d\n"
    r"loss of the last step: 1\.5\d+ in stages, 1\.5\d+ on one device\n"
    r"devices idle: 20% predicted for stages of equal cost, \d+% measured on (/device:CPU:\d,? ?){3}\n",
    "placement.py": r"pinned: /device:CPU:1 /device:CPU:2 /device:CPU:0\nVariables:( /device:CPU:0){3}\n"
    r"products: /device:CPU:1 /device:CPU:2 /device:CPU:3\nwhat runs where:\n"
    r"  sin: requested /device:CPU:1, placed on .*  sum: requested nothing, placed on .*"
    r"branches: .*/device:CPU:1 \(pinned\).*\n"
    r"one device: predicted \d+\.\d+ ms, measured \d+\.\d+ ms\nthe same value: True\n",
    "save_and_load.py": r"60 steps: loss 0\.\d+\nin another process: accuracy 0\.9\d+ on 297 other digits, "
    r"14 Variables\ntrained on some of them there: accuracy 0\.9\d+\n",
    "several_processes.py": r"steps 0 to 120 on 1 processes: loss 0\.04\d\naccuracy on 297 other digits: 0\.8\d\d\n",
    "queue_pipeline.py": r"all rows were read: 100 steps of up to 20 rows, the last loss is below 0\.001: True\n"
    r"weights and bias: \[3\.0, -2\.0, 1\.0\]\n",
}

ARGUMENTS = {"async_memory.py": ["8", "64"]}


def test_every_example_is_tested() -> None:
    assert {path.name for path in (ROOT / "examples").glob("*.py")} == EXPECTED.keys()


@pytest.mark.multiprocess
@pytest.mark.usefixtures("warm_python")
@pytest.mark.parametrize("name", [name for name in EXPECTED if is_drawn(name)])
def test_an_example_runs_as_a_program(name: str, tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "error"}
    command = [sys.executable, str(ROOT / "examples" / name), *ARGUMENTS.get(name, ())]
    found = subprocess.run(
        command, capture_output=True, text=True, check=False, env=environment, timeout=120, cwd=tmp_path
    )
    assert found.returncode == 0, found.stderr
    assert re.match(EXPECTED[name], found.stdout, flags=re.DOTALL), found.stdout


@pytest.mark.drawn(3)
@pytest.mark.parametrize("name", [name for name in EXPECTED if not is_drawn(name)])
def test_an_example_runs_here(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    program = ROOT / "examples" / name
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [str(program), *ARGUMENTS.get(name, ())])
    monkeypatch.setattr(logging.getLogger("graphc.placement"), "handlers", [])
    reset_default_graph()
    gx.random.seed(0)
    status: object = None
    try:
        runpy.run_path(str(program), run_name="__main__")
    except SystemExit as ended:
        status = ended.code
    assert not status
    said = capfd.readouterr().out
    assert re.match(EXPECTED[name], said, flags=re.DOTALL), said


@pytest.mark.slow
@pytest.mark.multiprocess
@pytest.mark.timeout(120)
def test_two_processes_of_which_one_dies_train_what_one_does(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    program = [str(ROOT / "examples" / "several_processes.py"), str(tmp_path), "70"]
    assert main(["launch", "--processes", "2", "--restarts", "1", *program]) == 0
    found = capfd.readouterr()
    assert "graphc launch: rank 1 was killed by signal 6 (SIGABRT); all start again (1 more time)" in found.err
    assert re.search(r"\[0\] steps 60 to 120 on 2 processes: loss 0\.04\d\n", found.out)
    assert re.search(r"\[0\] accuracy on 297 other digits: 0\.8\d\d\n", found.out)


@pytest.mark.slow
@pytest.mark.multiprocess
def test_steps_in_flight_take_no_more_memory_as_their_number_grows() -> None:
    """The experiment at its full size: what the first quarter of the batches takes, all of them take."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, str(ROOT / "examples" / "async_memory.py")]
    found = subprocess.run(command, capture_output=True, text=True, check=True, env=environment, timeout=280)
    said = re.search(r"extra MB after each quarter: (.*)", found.stdout)
    assert said is not None, found.stdout
    first, *later = map(int, said[1].split())
    assert max(later) - first < 50, found.stdout  # one batch and its activations are about 15 MB, 75 of them 1,100
