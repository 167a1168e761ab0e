"""The typed programs run; pyright checks their types (``make check``, and here where it is installed)."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import graphc as gx
from tests.typing.programs import PROGRAMS

_ROOT = Path(__file__).parent.parent.parent


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_typed_programs_run(program: Callable[[], None]) -> None:
    program()


@pytest.mark.slow
@pytest.mark.multiprocess
def test_pyright_knows_the_types_of_programs_and_every_public_name(tmp_path: Path) -> None:
    pytest.importorskip("pyright")
    subprocess.run([sys.executable, "-m", "graphc.compiler.ops.stubs"], cwd=_ROOT, check=True, timeout=120)
    spaces = ("data", "distribute", "fft", "lax", "layers", "linalg", "losses", "metrics", "nn", "optim", "random")
    names = [f"gx.{name}" for name in gx.__all__]
    names += [f"gx.{space}.{name}" for space in spaces for name in getattr(gx, space).__all__]
    file = tmp_path / "names.py"
    file.write_text("import graphc as gx\n" + "".join(f"reveal_type({name})\n" for name in names))
    (tmp_path / "pyrightconfig.json").write_text(json.dumps({"extraPaths": [str(_ROOT)], "typeCheckingMode": "strict"}))
    command = [sys.executable, "-m", "pyright", "--pythonpath", sys.executable, "--outputjson"]
    programs = str(_ROOT / "tests/typing/programs.py")
    for arguments, cwd in (([programs], _ROOT), (["--project", str(tmp_path)], tmp_path)):
        done = subprocess.run([*command, *arguments], cwd=cwd, capture_output=True, text=True, check=False, timeout=270)
        found = json.loads(done.stdout)["generalDiagnostics"]
        assert not [each["message"] for each in found if each["severity"] != "information"]
    told = [each["message"] for each in found]
    assert len(told) == len(names)
    assert not [text for text in told if text.endswith('is "Unknown"')]
