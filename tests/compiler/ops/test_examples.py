"""The example of each row runs, gives what it says, and stands in the docstring of its function."""

from __future__ import annotations

import doctest
import inspect

import pytest

import graphc as gx
from graphc.compiler.core import FUNCTIONS
from graphc.compiler.ops.table import FILE, ROWS, examples
from tests.compiler.ops.docstrings import Docstring
from tests.compiler.ops.write_examples import file_text
from tests.draws import is_drawn


def test_every_row_has_one() -> None:
    assert set(examples()) == {row.name for rows in ROWS.values() for row in rows}, (
        "run tests.compiler.ops.write_examples"
    )


def test_the_file_is_as_it_would_be_written() -> None:
    assert FILE.read_text(encoding="utf-8") == file_text()


@pytest.mark.parametrize("module", ROWS)
def test_they_give_what_they_say(module: str) -> None:
    runner = doctest.DocTestRunner(verbose=False)
    report: list[str] = []
    for row in ROWS[module]:
        text = Docstring.parse(inspect.getdoc(FUNCTIONS[row.name]) or "").example
        assert text == f">>> import graphc as gx\n{examples()[row.name]}"
        assert f"gx.{row.name}(" in text, "it shows another function"
        assert len(text.splitlines()) <= 9, row.name
        if "." not in row.name:
            assert getattr(gx, row.name) is FUNCTIONS[row.name], "pytest runs the docstrings of graphc, as this one"
            continue
        if is_drawn(row.name, 3):
            runner.run(doctest.DocTestParser().get_doctest(text, {}, row.name, None, None), out=report.append)
    assert not report, "".join(report)


def test_help_shows_them() -> None:
    assert ">>> gx.add(" in (inspect.getdoc(gx.add) or "")
    assert ">>> gx.clip(" in (inspect.getdoc(gx.clip) or "")
