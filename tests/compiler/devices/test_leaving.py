"""Programs that end while XLA still works for them: by themselves, and with their own exit status."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

# The end of Python takes some hundredths of a second. Here it takes a second, in which the abandoned work ends.
START = """
import atexit, sys, threading, time
import graphc as gx

class End:
    sleep = time.sleep
    def __del__(self):
        self.sleep(1.0)

sys.end = End()
atexit.register(print, "at exit")

@gx.function
def slow(x, rounds):
    for _ in range(rounds):
        x = gx.sin(x @ x)
    return x

x, many, endless = gx.ones((200, 200)), gx.asarray(1500), gx.asarray(2_000_000_000)
with gx.deadline(60.0):  # a program of its own
    slow(x, gx.asarray(1))
begun = threading.Event()

def begin(x):
    begun.set()
    return x

def give_up(call):
    try:
        with gx.deadline(0.01):
            call()
    except gx.errors.DeadlineExceededError:
        print("given up")
"""

WORK = {
    "a call at a deadline": "give_up(lambda: slow(x, many))",
    "an endless call": "give_up(lambda: slow(x, endless))",
    "a call that XLA runs in the thread that calls it": """
@gx.function
def spin(x, rounds):
    for _ in range(rounds):
        x = gx.sin(x) + 1.0
    return x
spin(gx.asarray(1.0), gx.asarray(1))
give_up(lambda: spin(gx.asarray(1.0), gx.asarray(10_000_000)))
""",
    "a wait": "y = slow(x, many); give_up(y.wait)",
    "a future": "give_up(lambda: gx.submit(slow, x, many).result())",
    "a profile": """
profile = gx.profile()
profile.__enter__()
slow(x, many)
print("given up")
""",
    "a dataset": """
def rows():
    yield slow(begin(x), many).numpy()
read = iter(gx.data.Dataset.from_generator(rows, output_signature=gx.TensorSpec((200, 200), "float32")).prefetch(1))
give_up(lambda: next(read))
""",
    "replicas": """
import graphc.serve.replicas
graphc.serve.replicas._GRACE_SECONDS = 0.001
replicas = gx.serve.Replicas(lambda rows: slow(x, many)[:1] + rows)
replicas(gx.ones((1, 200)))
replicas.submit(gx.ones((1, 200)))
print("given up")
""",
    "a thread": """
threading.Thread(target=lambda: slow(begin(x), many).wait(), daemon=True).start()
begun.wait()
print("given up")
""",
}
WAYS = {
    "its end": ("", 0),
    "exit": ("sys.exit(3)", 3),
    "an exception": ("raise ValueError('mine')", 1),
    "Ctrl-C": ("raise KeyboardInterrupt", -signal.SIGINT),
}


def run(folder: Path, source: str, *options: str) -> subprocess.CompletedProcess[str]:
    program = folder / "test_program.py"
    program.write_text(source)
    return subprocess.run(
        [sys.executable, *options, str(program)], env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True,
        text=True, check=False, timeout=120,
    )  # fmt: skip


@pytest.mark.multiprocess
@pytest.mark.usefixtures("warm_python")
@pytest.mark.parametrize(
    ("work", "way"), [*((work, "exit") for work in WORK), *(("a wait", way) for way in WAYS if way != "exit")]
)
def test_a_program_ends_with_its_own_status_while_xla_works(tmp_path: Path, work: str, way: str) -> None:
    leave, status = WAYS[way]
    # Without a newline, so that the text is in Python's buffer when the program ends.
    found = run(tmp_path, f"{START}{WORK[work]}\nsys.stdout.write('written ')\n{leave}\n")
    assert (found.returncode, found.stdout) == (status, "given up\nwritten at exit\n"), found.stderr
    assert ("mine" in found.stderr) == (way == "an exception")
    assert "terminate" not in found.stderr


@pytest.mark.multiprocess
def test_pytest_ends_with_its_own_status_while_xla_works(tmp_path: Path) -> None:
    source = f"{START}\ndef test_it():\n    {WORK['a call at a deadline']}\n"
    found = run(tmp_path, source, "-m", "pytest", "-q", "-s", "-p", "no:cacheprovider")
    assert found.returncode == 0, found.stdout + found.stderr
    assert "1 passed" in found.stdout
