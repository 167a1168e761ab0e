"""The example of each row runs, gives what it says, and stands in the docstring of its function."""

from __future__ import annotations

import doctest
import inspect

import pytest

import graphc as gx
from graphc.core import FUNCTIONS
from graphc.ops.examples import examples_of
from graphc.ops.table import ROWS
from tests.ops.docstrings import Docstring


@pytest.mark.parametrize("module", ROWS)
def test_every_row_has_one(module: str) -> None:
    assert set(examples_of(module)) == {row.name for row in ROWS[module]}, "run python -m tests.ops.write_examples"


@pytest.mark.parametrize("module", ROWS)
def test_they_give_what_they_say(module: str) -> None:
    runner = doctest.DocTestRunner(verbose=False)
    report: list[str] = []
    for row in ROWS[module]:
        text = Docstring.parse(inspect.getdoc(FUNCTIONS[row.name]) or "").example
        assert text == f">>> import graphc as gx\n{examples_of(module)[row.name].strip()}"
        assert f"gx.{row.name}(" in text, "it shows another function"
        assert len(text.splitlines()) <= 9, row.name
        if "." not in row.name:
            assert getattr(gx, row.name) is FUNCTIONS[row.name], "pytest runs the docstrings of graphc, as this one"
            continue
        runner.run(doctest.DocTestParser().get_doctest(text, {}, row.name, None, None), out=report.append)
    assert not report, "".join(report)


def test_help_shows_them() -> None:
    assert ">>> gx.add(" in (inspect.getdoc(gx.add) or "")
    assert ">>> gx.clip(" in (inspect.getdoc(gx.clip) or "")
