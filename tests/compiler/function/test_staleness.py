"""Python state that changes between two calls is followed, told, refused, or documented: each kind of it."""

from __future__ import annotations

import contextlib
import decimal
import os
import time
import warnings
from collections.abc import Generator, Iterator
from typing import Any
from unittest import mock

import numpy as np
import pytest

import graphc as gx
from graphc.compiler.base.errors import GraphcError, SideEffectWarning, UnimplementedError
from tests.compiler.function.staleness import Case, cases
from tests.compiler.function.staleness_table import PAGE, page

CASES = [
    pytest.param(case, marks=pytest.mark.xfail(strict=True, reason="not yet followed")) if case.gap else case
    for case in cases()
]


@pytest.fixture(autouse=True)
def _own_environment() -> Iterator[None]:
    with mock.patch.dict(os.environ):
        yield
    time.tzset()


@contextlib.contextmanager
def _eagerly() -> Generator[None]:
    gx.run_functions_eagerly(True)
    try:
        yield
    finally:
        gx.run_functions_eagerly(False)


def _twice(case: Case, **options: Any) -> list[Any]:
    """What the program gives before and after its state changes, and what was told; eagerly without options."""
    program, change = case.make()
    if options and not case.direct:
        program = gx.function(program, **options)
    with (
        decimal.localcontext(),
        gx.config.scope(warn_retraces=3),
        np.printoptions(),
        warnings.catch_warnings(record=True) as caught,
    ):
        warnings.simplefilter("always")
        before = np.asarray(program(gx.asarray(1.0)).numpy()).tolist()
        change()
        after = np.asarray(program(gx.asarray(1.0)).numpy()).tolist()
    return [before, after, [warning for warning in caught if issubclass(warning.category, SideEffectWarning)]]


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in cases()])
def test_state_that_changes_between_calls(case: Case) -> None:
    if case.outcome == "refused":
        with pytest.raises(GraphcError):
            _twice(case, side_effects="warn")
        return
    before, after, told = _twice(case, side_effects="warn")
    assert bool(told) == (case.outcome == "warned" or case.told)
    if told:
        assert "happens once, when" in str(told[0].message)
        assert told[0].filename.startswith(__file__.rpartition("/")[0])
    if case.outcome == "followed":
        with _eagerly():
            assert [before, after] == _twice(case)[:2]
    else:
        assert before == after


@pytest.mark.parametrize(
    "case", [case for case in cases() if case.outcome == "warned" and not case.direct], ids=lambda case: case.name
)
def test_what_is_told_can_be_refused(case: Case) -> None:
    with pytest.raises(UnimplementedError, match="which side_effects='error' forbids"):
        _twice(case, side_effects="error")


def test_the_page_shows_the_table() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run `python -m tests.compiler.function.staleness_table`"
