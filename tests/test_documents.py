"""What README.md and docs/ show is run: the Python blocks of a page make one program."""

from __future__ import annotations

import contextlib
import doctest
import importlib
import inspect
import re
import runpy
from pathlib import Path

import pytest

import graphc as gx
from graphc.graphs.session import reset_default_graph

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def program(page: str) -> str:
    """The Python blocks of a page, each on its own lines, so that an error names a line of the page."""
    lines = [""] * page.count("\n")
    for block in re.finditer(r"^```python\n(.*?)^```$", page, flags=re.MULTILINE | re.DOTALL):
        first = page.count("\n", 0, block.start(1))
        code = block[1].splitlines()
        lines[first : first + len(code)] = code
    return "\n".join(lines)


def outputs(page: str) -> list[str]:
    """What a page says that its program prints: its blocks of text with the title "output"."""
    return re.findall(r'^```text title="output"\n(.*?)^```$', page, flags=re.MULTILINE | re.DOTALL)


def prints(printed: str, expected: str) -> bool:
    """Whether a page prints an output somewhere; ``...`` in it stands for any text, as in doctests."""
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    return doctest.OutputChecker().check_output(f"...{expected.strip()}...\n", f"begin {printed} end\n", flags)


def with_code() -> list[Path]:
    return [page for page in PAGES if program(page.read_text(encoding="utf-8")).strip()]


def test_blocks_keep_their_lines() -> None:
    page = "words\n```python\nx = 1\n```\nmore\n```console\n$ make\n```\n```python\ny = x\n```\n"
    assert program(page).splitlines() == ["", "", "x = 1", "", "", "", "", "", "", "y = x"]


def test_outputs_are_looked_for() -> None:
    page = '```python\nprint(1)\n```\n```text title="output"\nloss 0.5 ...\nend\n```\n```text\nnot this\n```\n'
    assert outputs(page) == ["loss 0.5 ...\nend\n"]
    assert prints("before\nloss 0.5 in 3 s\nend\nafter", outputs(page)[0])
    assert not prints("loss 0.6 in 3 s\nend", outputs(page)[0])


def test_the_readme_shows_short_programs() -> None:
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```$", page, flags=re.MULTILINE | re.DOTALL)
    assert len(blocks) >= 3
    assert max(block.count("\n") for block in blocks) <= 25


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, id=str(page.relative_to(ROOT)), marks=[] if page.parent == ROOT else pytest.mark.drawn(3))
        for page in with_code()
    ],
)
def test_the_code_of_a_page_runs(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    text = page.read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    script = tmp_path / f"{page.stem}.py"
    script.write_text(program(text), encoding="utf-8")
    reset_default_graph()  # each page is a program of its own
    gx.random.seed(0)
    runpy.run_path(str(script), run_name="__main__")
    printed = capfd.readouterr().out
    for expected in outputs(text):
        assert prints(printed, expected), f"the page shows\n{expected}\nand its program printed\n{printed}"


def test_the_files_that_internals_name_are_there() -> None:
    text = (ROOT / "docs" / "explanation" / "internals.md").read_text(encoding="utf-8")
    there = {path.as_posix() for path in (ROOT / "graphc").rglob("*.py")}
    named = re.findall(r"`([a-z_/]+\.py)`", text)
    assert named
    assert not [name for name in named if not any(path.endswith(f"/{name}") for path in there)]


def test_what_docstrings_refer_to_is_there() -> None:
    role = re.compile(r":(?:attr|class|data|exc|func|meth|mod):`~?(graphc[\w.]*)`")
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "graphc").rglob("*.py")]
    names = sorted({name for text in texts for name in role.findall(text)})
    assert len(names) > 50
    assert [name for name in names if not _is_there(name)] == []


def _is_there(name: str) -> bool:
    """Returns True if attributes lead from a module to the rest of a dotted name; fields of instances count too."""
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        with contextlib.suppress(ModuleNotFoundError):
            owner = importlib.import_module(".".join(parts[:end]))
            for part in parts[end:]:
                if isinstance(owner, type) and f"self.{part}" in inspect.getsource(owner):
                    return True
                if not hasattr(owner, part):
                    return False
                owner = getattr(owner, part)
            return True
    return False
