"""What a test may not leave behind in its process, as all tests after it would run under it."""

from __future__ import annotations

import os
import signal
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import pytest

__all__ = ["READ_BY_IMPORTS", "unchanged_process"]

READ_BY_IMPORTS = ("JAX_", "GRAPHC_", "XLA_", "PYTHON", "NPY_", "LD_")
"""Variables that are read by Python itself, or when JAX or graphc are imported. Libraries set others of their own."""

FOLDER, CTRL_C = "the working directory", "the handler of SIGINT"


@contextmanager
def unchanged_process() -> Generator[None]:
    """Fails the test inside the scope that leaves the process changed, and puts it right for the tests after it."""
    variables, rest = _variables(), _rest()
    yield
    changes = [*_changes(variables, _variables()), *_changes(rest, _rest())]
    if changes:
        _put_right(variables, rest)
        pytest.fail("\n".join(["the test leaves its process changed; use monkeypatch", *changes]), pytrace=False)


def _variables() -> dict[str, Any]:
    return {name: value for name, value in os.environ.items() if name.startswith(READ_BY_IMPORTS)}


def _rest() -> dict[str, Any]:
    return {FOLDER: os.getcwd(), CTRL_C: signal.getsignal(signal.SIGINT)}


def _changes(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    if before == after:
        return []
    names = [name for name in {**before, **after} if before.get(name) != after.get(name)]
    return [f"{name}: was {before.get(name)!r}, is {after.get(name)!r}" for name in names]


def _put_right(variables: dict[str, Any], rest: dict[str, Any]) -> None:
    for name in _variables().keys() - variables.keys():
        del os.environ[name]
    os.environ.update(variables)
    os.chdir(rest[FOLDER])
    signal.signal(signal.SIGINT, rest[CTRL_C])
