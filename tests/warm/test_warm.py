"""Programs of the server behave like those of a new interpreter."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.multiprocess, pytest.mark.skipif(sys.platform != "linux", reason="the server is for Linux")]

PROGRAMS = {
    "result": ["-c", "import sys; print(sys.argv, __name__, sys.path[0] == '')", "first", "--second"],
    "error": ["-c", "print('before'); 1 / 0"],
    "message": ["-c", "import sys; sys.exit('said at the end')"],
    "killed": ["-c", "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"],
    "interrupted": ["-c", "import os, signal; os.kill(os.getpid(), signal.SIGINT)"],
    "file": ["program.py", "first"],
    "module": ["-m", "program", "first"],
    "unbuffered": ["-u", "-c", "import os; print('said'); os._exit(3)"],
    "not flushed": ["-c", "import os; print('not said'); os._exit(3)"],
    "at exit": ["-c", "import atexit; atexit.register(print, 'last'); print('first')"],
    "streams": ["-c", "import sys; print(sys.stdin.read()); print('told', file=sys.stderr)"],
    "environment": ["-c", "import os; print(os.environ['GRAPHC_PROCESSES'], os.getcwd(), os.getppid())"],
    "sessions": ["-c", "import os; print(os.getsid(0) == os.getpid())"],
    "other options": ["-B", "-c", "import sys; print(sys.flags.dont_write_bytecode, 'jax' in sys.modules)"],
}


def _outcome(arguments: list[str], folder: Path) -> tuple[int, str, list[str]]:
    environment = {**os.environ, "GRAPHC_PROCESSES": "3", "PYTHONUNBUFFERED": ""}
    found = subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, check=False, timeout=60, input="given",
        cwd=folder, env=environment, start_new_session=arguments == PROGRAMS["sessions"],
    )  # fmt: skip
    return found.returncode, found.stdout, found.stderr.splitlines()[-1:]


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_ends_as_in_a_new_interpreter(name: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    (tmp_path / "program.py").write_text("import sys\nprint(sys.argv[1:], __name__, __file__)\nsys.exit(7)\n")
    expected = _outcome(PROGRAMS[name], tmp_path)
    request.getfixturevalue("warm_python")
    assert _outcome(PROGRAMS[name], tmp_path) == expected


def test_a_program_has_jax_and_graphc_and_makes_devices_of_its_own(warm_python: None) -> None:
    text = """
import sys
print("graphc" in sys.modules, len([name for name in sys.modules if name.startswith("jax")]) > 100)
import graphc as gx
print(len(gx.devices()), (gx.asarray([1.0, 2.0]) * 2).tolist(), gx.function(lambda x: x + 1)(gx.ones(2)).tolist())
"""
    environment = {**os.environ, "GRAPHC_CPU_DEVICES": "3"}
    command = [sys.executable, "-c", text]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        said, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert said == "True True\n3 [2.0, 4.0] [2.0, 2.0]\n"


def test_a_program_can_be_signalled_and_waited_for(warm_python: None) -> None:
    command = [sys.executable, "-c", "print('begun', flush=True); import signal; signal.pause()"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        assert process.poll() is None
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == -signal.SIGTERM


def test_settings_that_imports_read_start_a_new_interpreter(warm_python: None) -> None:
    text = "import sys; print('graphc' in sys.modules)"
    for changed, expected in ({}, "True\n"), ({"GRAPHC_ENABLE_X64": "1"}, "False\n"):
        found = subprocess.run(
            [sys.executable, "-c", text], capture_output=True, text=True, env={**os.environ, **changed}, check=True
        )
        assert found.stdout == expected
