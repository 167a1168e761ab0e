"""``gx.print`` and ``gx.log_message``: at run time, in order, with the user's line."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest

import graphc as gx
from graphc import Tensor
from graphc.compiler.base.errors import InvalidArgumentError, InvalidTypeError

MODES = [pytest.param(lambda f, **_: f, id="eager"), pytest.param(gx.function, id="compiled")]


@pytest.mark.parametrize("make", MODES)
def test_print_where_nothing_is_converted(make: Any, capfd: pytest.CaptureFixture[str]) -> None:
    def f(x: Tensor) -> Tensor:
        gx.print("x", x, x * 2, sep="|", end="!\n")
        return x

    call = make(f, autograph=False)
    call(gx.asarray(1.0))
    call(gx.asarray(2.0))
    assert capfd.readouterr().out == "x|1.0|2.0!\nx|2.0|4.0!\n"


@pytest.mark.parametrize("make", MODES)
def test_messages_in_order_with_prints(
    make: Any, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    events: list[str] = []

    class Events(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            events.append(f"{record.levelname} {record.getMessage()}")

    def step(x: Tensor) -> Tensor:
        for i in range(3):
            gx.pyfunc(lambda: events.append("before"), None)
            gx.log_message("info", "step %d: %.2f and %s", i, x, {"x": x}, logger="graphc.test")
            x = x * 2
        if x > 4:
            gx.log_message(logging.WARNING, f"large: {x:.1f}", logger="graphc.test")
        return x

    logger = logging.getLogger("graphc.test")
    handler = Events()
    logger.addHandler(handler)
    try:
        with caplog.at_level("INFO", logger="graphc.test"):
            make(step)(gx.asarray(1.0))
    finally:
        logger.removeHandler(handler)
    assert [event for event in events if event != "before"] == [
        "INFO step 0: 1.00 and {'x': Tensor(1., shape=(), dtype=float32)}",
        "INFO step 1: 2.00 and {'x': Tensor(2., shape=(), dtype=float32)}",
        "INFO step 2: 4.00 and {'x': Tensor(4., shape=(), dtype=float32)}",
        "WARNING large: 8.0",
    ]
    assert events[::2][:3] == ["before"] * 3
    record = caplog.records[0]
    assert (record.filename, record.funcName, record.name) == ("test_messages.py", "step", "graphc.test")
    assert "gx.log_message" in Path(__file__).read_text(encoding="utf-8").split("\n")[record.lineno - 1]


def test_a_level_that_the_logger_does_not_take() -> None:
    class Never:
        def __str__(self) -> str:
            raise AssertionError("formatted")

    gx.log_message("debug", "%s", Never(), logger="graphc.test.quiet")


@pytest.mark.parametrize("make", MODES)
@pytest.mark.parametrize(
    ("given", "kind", "message"),
    [
        (
            ("loud", "x"),
            InvalidArgumentError,
            "there is no level 'loud'; there are CRITICAL, ERROR, WARNING, INFO, DEBUG",
        ),
        ((None, "x"), InvalidTypeError, "a level is an int or the name of one, got None"),
    ],
)
def test_refusals(make: Any, given: Any, kind: type[Exception], message: str) -> None:
    def f(x: Tensor) -> Tensor:
        gx.log_message(*given)
        return x

    with pytest.raises(kind, match=message):
        make(f)(gx.asarray(1.0))


def test_a_logged_list_is_as_at_the_call(caplog: pytest.LogCaptureFixture) -> None:
    def program(x: gx.Tensor) -> gx.Tensor:
        seen, state = list[Any](), {"n": 0}
        for i in range(3):
            seen.append(i)
            state["n"] = i
            gx.log_message("warning", "%s %s", seen, state, logger="test")
        return x

    for call in (program, gx.function(program)):
        caplog.clear()
        call(gx.asarray(1.0))
        texts = [record.message for record in caplog.records]  # made when it was logged
        assert texts == ["[0] {'n': 0}", "[0, 1] {'n': 1}", "[0, 1, 2] {'n': 2}"]
