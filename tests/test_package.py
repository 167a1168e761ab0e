"""What is packed and installed: stub files, metadata, the command, and an installation into an empty environment."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path
from typing import Any

import pytest

import graphc as gx
from graphc.cli import main
from graphc.compiler.ops import ROWS

_ROOT = Path(__file__).parent.parent
_SECONDS = 280
_MODULES = [module.replace(".", "/") for module in ROWS]

PROGRAM = """
import sys
import graphc as gx
assert gx.__file__.startswith(sys.prefix), gx.__file__

@gx.function
def loop(x):
    for i in range(100):
        x = x + gx.sum(x) * i
    return x

print(gx.__version__, loop(gx.asarray([1.0, 0.0])).shape)
"""


def _run(*command: str | Path, cwd: Path, **environ: str) -> str:
    # Without the tree on its path, of which pytest's own processes know.
    inherited = {name: text for name, text in os.environ.items() if name not in ("PYTHONPATH", "XLA_FLAGS")}
    done = subprocess.run(
        list(map(str, command)), cwd=cwd, env={**inherited, **environ}, capture_output=True, text=True, check=False,
        timeout=_SECONDS,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def _hook() -> Any:
    spec = importlib.util.spec_from_file_location("hatch_build", _ROOT / "hatch_build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_what_tests_share_holds_for_the_examples_of_docstrings(request: pytest.FixtureRequest) -> None:
    files = {str(getattr(plugin, "__file__", "")) for plugin in request.config.pluginmanager.get_plugins()}
    assert str(_ROOT / "conftest.py") in files  # above graphc/ and tests/
    assert not (_ROOT / "tests" / "conftest.py").exists()


def test_the_command_and_the_module_tell_one_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert ended.value.code == 0
    said = capsys.readouterr().out
    assert said.startswith(f"graphc {gx.__version__} (jax ")
    assert f"Python {sys.version.split()[0]}" in said
    assert f"version: {gx.__version__}\n" in (_ROOT / "CITATION.cff").read_text(encoding="utf-8")
    minor = ".".join(gx.__version__.split(".")[:2])
    assert f"| {minor} |" in (_ROOT / "docs/reference/versions.md").read_text(encoding="utf-8")
    if "dev" not in gx.__version__:
        changes = (_ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
        assert re.findall(r"^## \[(\d.*)\] - \d{4}-\d\d-\d\d$", changes, re.MULTILINE)[0] == gx.__version__


def test_stub_files_are_written_where_they_are_missing_or_old(tmp_path: Path) -> None:
    pytest.importorskip("hatchling")
    written = _hook().stubs_are_written
    rows, other = tmp_path / "graphc/compiler/ops/rows.py", tmp_path / "graphc/compiler/ops/nn/other.py"
    other.parent.mkdir(parents=True)
    rows.write_text("define(globals(), _ROWS)")
    other.write_text("")
    assert not written(tmp_path)
    stub = rows.with_suffix(".pyi")
    stub.write_text("")
    os.utime(rows, (1, 1))
    os.utime(other, (1, 1))
    assert written(tmp_path)
    os.utime(stub, (1, 1))
    assert written(tmp_path), "all files of an unpacked source distribution have one time"
    os.utime(other, (2, 2))
    assert not written(tmp_path)
    os.utime(other, (1, 1))
    gone = tmp_path / "graphc/compiler/ops/gone.pyi"
    gone.write_text("")
    assert not written(tmp_path), "a wheel would have the stub file of a module that is gone"


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a wheel, made from a source distribution, which is made from what git has."""
    pytest.importorskip("build")
    pytest.importorskip("hatchling")
    folder = tmp_path_factory.mktemp("packed")
    listed = _run("git", "ls-files", "--cached", "--others", "--exclude-standard", cwd=_ROOT).splitlines()
    for name in listed:
        if (_ROOT / name).is_file():
            (folder / "clone" / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(_ROOT / name, folder / "clone" / name)
    assert not list((folder / "clone").rglob("*.pyi"))
    _run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, ".", cwd=folder / "clone")
    return folder


def _install(folder: Path, *arguments: str) -> Path:
    venv.create(folder / "venv", with_pip=False)
    (wheel,) = folder.glob("*.whl")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", folder / "venv/bin/python"]
    _run(*pip, "install", "--quiet", *arguments, wheel, cwd=folder)
    return folder / "venv/bin"


@pytest.mark.slow
@pytest.mark.multiprocess
def test_a_wheel_has_the_stub_files_and_installs_offline(packed: Path) -> None:
    (wheel,), (source,) = packed.glob("*.whl"), packed.glob("*.tar.gz")
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    assert {f"{module}.pyi" for module in _MODULES} | {"graphc/py.typed"} <= names
    assert not [name for name in names if not name.startswith(("graphc/", f"graphc-{gx.__version__}.dist-info/"))]
    with tarfile.open(source) as archive:
        held = {name.partition("/")[2] for name in archive.getnames()}
    assert {f"{module}.pyi" for module in _MODULES} <= held
    assert {"hatch_build.py", "CHANGELOG.md", "CITATION.cff", "SECURITY.md", "LICENSE"} <= held
    binaries = _install(packed, "--no-deps", "--no-index")
    # Its dependencies are those of this environment; the .pth file of an editable graphc does not count there.
    (site,) = (packed / "venv/lib").glob("python*/site-packages")
    here = Path(str(importlib.util.find_spec("jax").origin)).parent.parent  # pyright: ignore
    (site / "here.pth").write_text(f"{here}\n")
    assert (site / f"{_MODULES[0]}.pyi").is_file()
    assert _run(binaries / "graphc", "--version", cwd=packed).startswith(f"graphc {gx.__version__} (jax ")
    (packed / "program.py").write_text(PROGRAM)
    assert _run(binaries / "python", "program.py", cwd=packed) == f"{gx.__version__} (2,)\n"


@pytest.mark.slow
@pytest.mark.multiprocess
@pytest.mark.timeout(600)
def test_a_wheel_installs_with_its_dependencies_into_an_empty_environment(packed: Path, tmp_path: Path) -> None:
    shutil.copy2(next(packed.glob("*.whl")), tmp_path)
    probe = [sys.executable, "-m", "pip", "download", "--no-deps", "--quiet", "--timeout=5", "--retries=0", "absl-py"]
    if subprocess.run([*probe, "--dest", tmp_path / "probe"], capture_output=True, check=False, timeout=60).returncode:
        pytest.skip("no package index can be reached")
    binaries = _install(tmp_path, "--timeout=15", "--retries=1")
    (tmp_path / "program.py").write_text(PROGRAM)
    assert _run(binaries / "python", "program.py", cwd=tmp_path) == f"{gx.__version__} (2,)\n"
    # It brings no server; who asks for one is told what to install.
    failed = subprocess.run(
        [binaries / "graphc", "serve", "json:dumps"], capture_output=True, text=True, check=False, timeout=_SECONDS
    )
    assert failed.returncode == 2
    assert "pip install 'graphc[serve]'" in failed.stderr
