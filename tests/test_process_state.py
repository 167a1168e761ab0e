"""A test that leaves its process changed fails, and the tests after it do not see the change."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from tests.process_state import unchanged_process


def test_what_a_test_leaves_changed_is_named_and_put_right(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRAPHC_KEPT", "1")
    folder, handler = os.getcwd(), signal.getsignal(signal.SIGINT)
    with pytest.raises(pytest.fail.Exception) as error, unchanged_process():  # noqa: PT012
        del os.environ["GRAPHC_KEPT"]
        os.environ["GRAPHC_LEFT"] = "2"
        os.chdir(tmp_path)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    message = str(error.value)
    assert "GRAPHC_KEPT: was '1', is None\nGRAPHC_LEFT: was None, is '2'\n" in message
    assert f"the working directory: was {folder!r}, is {str(tmp_path)!r}" in message
    assert "the handler of SIGINT" in message
    assert (os.environ["GRAPHC_KEPT"], "GRAPHC_LEFT" in os.environ) == ("1", False)
    assert (os.getcwd(), signal.getsignal(signal.SIGINT)) == (folder, handler)


def test_a_process_that_is_as_before_passes() -> None:
    with unchanged_process(), pytest.MonkeyPatch.context() as patch:
        patch.setenv("GRAPHC_LEFT", "2")


def test_every_test_is_watched(request: pytest.FixtureRequest) -> None:
    """Holds the order, too: what is torn down before it, monkeypatch above all, has put its changes right."""
    names = [name for name in request.fixturenames if name != "request"]
    assert names[0] == "_leaves_its_process_unchanged"
