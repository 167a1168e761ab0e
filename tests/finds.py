"""What hypothesis finds, told when it finds it: it then looks for smaller examples, until a time limit kills it."""

from __future__ import annotations

import functools
import os
import sys
import traceback
import warnings
from typing import Any

import pytest
from hypothesis.errors import HypothesisException

__all__ = ["pytest_itemcollected"]


def pytest_itemcollected(item: pytest.Item) -> None:
    """Makes a property test tell its first failing example."""
    handle = getattr(getattr(item, "obj", None), "hypothesis", None)
    if handle is not None and not hasattr(handle.inner_test, "tells_its_find"):
        handle.inner_test = _telling(handle.inner_test, item.config)


def _telling(test: Any, config: pytest.Config) -> Any:
    told: set[str] = set()

    @functools.wraps(test)
    def telling(*args: Any, **kwargs: Any) -> Any:
        try:
            return test(*args, **kwargs)
        except HypothesisException:  # such as that of assume()
            raise
        except Exception:
            name = os.environ["PYTEST_CURRENT_TEST"].removesuffix(" (call)")
            if name not in told:
                told.add(name)
                given = "".join(f"\n  {parameter} = {value!r}" for parameter, value in kwargs.items())
                _tell(config, name, f"hypothesis found, in {name}:{given}\n{traceback.format_exc()}")
            raise

    telling.tells_its_find = True  # pyright: ignore[reportAttributeAccessIssue]
    return telling


def _tell(config: pytest.Config, test: str, text: str) -> None:
    print(text, file=sys.stderr)  # pytest-timeout shows it before it kills the process, unless it is a worker
    # A worker sends warnings at once to the process that started it, and all else when the test ends.
    warning = warnings.WarningMessage(pytest.PytestWarning(text), pytest.PytestWarning, __file__, 0)
    config.hook.pytest_warning_recorded.call_historic(
        kwargs={"warning_message": warning, "nodeid": test, "when": "runtest", "location": None}
    )
