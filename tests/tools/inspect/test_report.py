"""A comparison as JSON, as a table and as a page."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from typing import Any

import pytest
from rich.console import Console

from graphc.compiler.runtime.costs import Memory, format_bytes, format_seconds
from graphc.tools.inspect import Agreement, CallTiming, Comparison, CompileCost, Difference, Machine, ModeReport
from graphc.tools.inspect.compare import find_doubts

MACHINE = Machine("a model", "cpu", 8, 2, "0.10.2", "3.11.0", None, None)
RIGHT = Agreement((Difference("result", "float32[2]", 1e-7, 1e-8, 1e-5, (1,)),))
WRONG = Agreement((Difference("result", "float32[2]", float("inf"), None, 1e-5, (1,), "inf at [1], eager gives 1.0"),))


def comparison(
    eager: float = 0.3, compiled: float = 0.1, *, values: Agreement = RIGHT, timed: bool = True
) -> Comparison:
    def timing(median: float) -> CallTiming | None:
        return CallTiming((median * 0.9, median, median * 1.1), 2) if timed else None

    modes = (
        ModeReport("eager", None, None, 0.5, 7, None, timing(eager)),
        ModeReport("compiled", values, RIGHT, 0.2, 1, Memory(100, 20, 30, 10), timing(compiled)),
    )
    return Comparison("f", modes, CompileCost(0.1, 0.2, 0.3), ("a note",), MACHINE)


def printed(found: Comparison, width: int = 80) -> str:
    file = io.StringIO()
    Console(width=width, file=file).print(found)
    return file.getvalue()


def test_compiling_has_paid_off_after_its_cost_over_what_a_call_saves() -> None:
    assert comparison(0.5, 0.1).break_even == 2  # 0.6 s over 0.4 s a call, rounded up
    assert comparison(0.1, 0.3).break_even is None
    assert comparison(timed=False).break_even is None


def test_speed_is_the_ratio_of_the_medians() -> None:
    assert comparison(0.3, 0.1).speedup() == pytest.approx(3.0)
    assert comparison(0.3, 0.1).speedup("eager", over="compiled") == pytest.approx(1 / 3)
    with pytest.raises(KeyError, match="missing"):
        comparison().mode("missing")


def test_the_json_holds_every_figure() -> None:
    found: dict[str, Any] = json.loads(comparison().to_json())
    keys = {
        "function",
        "equal",
        "speedup",
        "speedup_range",
        "break_even_calls",
        "compiling",
        "modes",
        "notes",
        "machine",
    }
    assert found.keys() == keys
    assert found["equal"] is True
    assert found["compiling"] == {"trace": 0.1, "lower": 0.2, "compile": 0.3, "total": pytest.approx(0.6)}
    eager, compiled = found["modes"]
    assert eager.keys() == compiled.keys()
    assert eager.keys() == {"name", "equal", "values", "gradients", "first_call", "launches", "memory", "timing"}
    assert eager["values"] is None
    assert compiled["values"] == [
        {
            "path": "result", "type": "float32[2]", "equal": True, "error": 1e-7, "relative": 1e-8, "allowed": 1e-5,
            "index": [1], "problem": "",
        }
    ]  # fmt: skip
    assert compiled["memory"] == {"arguments": 100, "outputs": 20, "temporaries": 30, "aliased": 10, "total": 140}
    timing = compiled["timing"]
    assert timing.keys() == {"median", "quartiles", "calls_per_sample", "samples"}
    assert timing["median"] == 0.1
    assert timing["samples"] == pytest.approx([0.09, 0.1, 0.11])
    assert timing["calls_per_sample"] == 2
    assert found["machine"]["device"] == "a model"


def test_an_infinite_error_is_json_too() -> None:
    found = json.loads(comparison(values=WRONG).to_json())
    assert found["equal"] is False
    assert found["modes"][1]["values"][0]["error"] == "inf"


def test_the_table_fits_a_terminal_and_says_all() -> None:
    text = printed(comparison(0.5, 0.1))
    assert all(len(line.rstrip()) <= 80 for line in text.splitlines())
    for part in ("f on a model", "500 ms", "475-525", "1.0e-07", "5x", "140 B"):
        assert part in text
    assert "trace 100 ms + lower 200 ms + compile 300 ms = 600 ms; paid off after 2 calls" in " ".join(text.split())
    assert "note: a note" in text
    assert "NOT EQUAL" not in text


@pytest.mark.parametrize("width", range(40, 80))
def test_a_number_stands_on_one_line_with_its_unit(width: int) -> None:
    text = printed(comparison(0.5, 0.1), width)
    below = [line.strip() for line in text[text.index("compiling:") :].splitlines()]
    words = " ".join(below)
    for part in ("trace 100 ms + lower 200 ms + compile 300 ms = 600 ms; paid off after 2 calls", "eager 500 ms"):
        assert part in words
    for line in below:
        assert not line[-1:].isdigit(), text
    assert "\N{NO-BREAK SPACE}" not in text


def test_a_difference_is_reported_loudly() -> None:
    found = comparison(values=WRONG, timed=False)
    text = " ".join(printed(found).split())
    assert "NO " in text
    assert "NOT EQUAL: compiled, values: result: inf at [1], eager gives 1.0 (error inf, 1e-05 allowed)" in text
    assert repr(found) == "<Comparison of f: NOT EQUAL, not timed>"


def test_a_difference_a_little_above_the_tolerance_is_called_rounding() -> None:
    near = Agreement((Difference("result", "float32[]", error=1.2e-7, allowed=1e-7, problem="1.1, eager gives 1.0"),))
    text = " ".join(printed(comparison(0.5, 0.1, values=near)).split())
    said = (
        "NOT EQUAL: compiled, values: result: 1.1, eager gives 1.0: differs by rounding a little above the tolerance "
    )
    assert f"{said}(1.2 times: error 1.2e-07, 1e-07 allowed); gx.compare(..., rtol=..., atol=...) sets" in text
    assert repr(comparison()) == "<Comparison of f: equal, compiled 3 times as fast as eager>"


def test_doubtful_times_are_noted() -> None:
    steady, wide = CallTiming((1.0, 1.0, 1.0)), CallTiming((1.0, 2.0, 3.0))
    eager, compiled = comparison().modes

    def notes(first: CallTiming, second: CallTiming) -> str:
        return "\n".join(find_doubts([replace(eager, timing=first), replace(compiled, timing=second)]))

    assert notes(CallTiming((5.0, 5.0, 5.0)), steady) == ""
    assert "the times of compiled spread widely: the middle half covers 50% of the median" in notes(steady, wide)
    assert "which of the two is faster is not certain" in notes(wide, CallTiming((2.0, 2.1, 2.2)))
    assert "compiling does not pay off here" in notes(steady, CallTiming((5.0, 5.0, 5.0)))


def test_a_notebook_shows_a_table_and_bars() -> None:
    html: Any = replace(comparison(0.5, 0.1), notes=("a <note>",))._repr_html_()
    page = replace(comparison(0.5, 0.1), notes=("a <note>",)).html()
    for part in ("<table", "<svg", "500 ms", "475-525", "5x", "140 B", "a &lt;note&gt;"):
        assert part in html
        assert part in page
    wrong: Any = comparison(values=WRONG, timed=False)._repr_html_()
    assert "NOT EQUAL" in wrong
    assert "<svg" not in wrong


def test_the_ratio_of_each_round_is_told_where_it_varies() -> None:
    eager, compiled = comparison().modes
    slow = replace(eager, timing=CallTiming((4.0, 4.0, 8.0, 8.0)))
    quick = replace(compiled, timing=CallTiming((1.0, 1.0, 1.0, 1.0)))
    found = replace(comparison(), modes=(slow, quick))
    assert found.speedup_range() == (4.0, 8.0)
    assert "speed over the rounds, middle half: compiled 4-8x" in printed(found)
    # Both are slowed down alike: the ratio is as sure as before.
    loaded = replace(compiled, timing=CallTiming((1.0, 1.0, 2.0, 2.0)))
    assert replace(found, modes=(slow, loaded)).speedup_range() == (4.0, 4.0)


def test_a_load_that_changed_is_noted() -> None:
    eager, compiled = comparison().modes
    changed = replace(eager, timing=CallTiming((1.0,) * 5 + (2.0,) * 5))
    steady = replace(compiled, timing=CallTiming((0.5,) * 10))
    text = "\n".join(find_doubts([changed, steady]))
    assert "the machine's load changed while eager ran: the figures are uncertain" in text
    assert "load" not in "\n".join(find_doubts([replace(eager, timing=CallTiming((1.0,) * 10)), steady]))


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.0, "0 ns"), (2e-9, "2 ns"), (1.5e-6, "1.5 µs"), (0.1234, "123 ms"), (75.0, "75 s")]
)
def test_times_in_a_unit_that_suits_them(seconds: float, text: str) -> None:
    assert format_seconds(seconds) == text


@pytest.mark.parametrize(("count", "text"), [(0, "0 B"), (1023, "1023 B"), (1024, "1 KiB"), (3 << 40, "3 TiB")])
def test_memory_in_a_unit_that_suits_it(count: int, text: str) -> None:
    assert format_bytes(count) == text
