"""gx.explain: what became of each line, and why."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

import graphc as gx
from graphc.compiler.base.errors import ConcretizationError, InvalidArgumentError, SideEffectWarning
from graphc.tools.inspect import Explanation

X = gx.asarray([1.0, 2.0, 3.0])
SCALE = gx.asarray(2.0)


def explain(fn: Any, *args: Any, **options: Any) -> Explanation:
    return gx.explain(fn, *args, compile=False, **options)


def notes(found: Explanation, function: Callable[..., Any], text: str) -> str:
    """What is said of the line of a function that holds a text."""
    return "; ".join(found.line(line_of(function, text)).notes)


def line_of(function: Callable[..., Any], text: str) -> int:
    lines = Path(__file__).read_text(encoding="utf-8").splitlines()
    first = function.__code__.co_firstlineno
    return next(number for number in range(first, len(lines)) if text in lines[number - 1])


def loops(x: Any) -> Any:
    for i in range(100):
        x = x + i
    for i in range(3):
        x = x * i
    while gx.sum(x) > 9:
        x = x / 2
    for row in x:
        x = x + row
    return x


def test_loops_have_their_kind_and_reason() -> None:
    found = explain(loops, X)
    assert [loop.kind for loop in found.loops] == ["rolled", "unrolled", "while", "rolled"]
    assert all(loop.location is not None and loop.location.file == __file__ for loop in found.loops)
    assert "100 iterations" in found.loops[0].reason
    assert notes(found, loops, "range(100)") == f"rolled loop: {found.loops[0].reason}"
    assert notes(found, loops, "while").startswith("while loop: ")
    assert notes(found, loops, "for row").startswith("rolled loop: it runs over the 3 rows")


def test_an_inner_loop_of_an_unrolled_one_is_told_once() -> None:
    def function(x: Any) -> Any:
        for _ in range(3):
            for i in range(50):
                x = x + i
        return x

    found = explain(function, X)
    assert {(loop.kind, loop.times) for loop in found.loops} == {("rolled", 3), ("unrolled", 1)}
    assert "rolled x3" in repr(found)
    assert "(3 times)" in str(found)


def branches(x: Any, flag: bool) -> Any:
    if flag:
        x = x + 1
    else:
        x = x - 1
    if gx.sum(x) > 0:
        x = x * 2
    elif gx.sum(x) < -1:
        x = x / 2
    for i in range(4):
        if i % 2:
            x = x + i
        else:
            x = x - i
    return x


def test_branches_are_compiled_or_decided_when_traced() -> None:
    found = explain(branches, X, False)
    assert notes(found, branches, "if flag") == "decided when traced: false"
    assert notes(found, branches, "if gx.sum(x) > 0").startswith("cond: decided by the program, branches of ")
    assert notes(found, branches, "elif").startswith("cond")
    assert notes(found, branches, "if i % 2") == "decided when traced: sometimes true, sometimes false"


def folded(x: Any) -> Any:
    n = gx.sum(gx.asarray([1.0, 2.0])) if x is None else gx.ones(())
    unused = gx.exp(x)  # nobody needs it
    y = gx.sin(x) + n
    z = gx.sin(x) + n
    del unused
    return y * z


def test_passes_are_counted_by_line() -> None:
    found = explain(folded, X)
    assert found.line(line_of(folded, "nobody needs it")).removed == 1
    assert found.line(line_of(folded, "z = gx.sin")).merged == 2
    assert found.line(line_of(folded, "y = gx.sin")).left == 2
    assert found.ops > found.left
    assert sum(line.left for line in found.lines) == found.left
    listing = str(found)
    assert "unused = gx.exp(x)  # nobody needs it" in listing
    assert "1 removed" in listing
    assert "2 merged" in listing


def test_constants_are_folded() -> None:
    def function(x: Any) -> Any:
        n = gx.asarray(2) + 0 * gx.zeros(())  # of constants
        return x * n

    found = explain(function, X)
    line = found.line(line_of(function, "# of constants"))
    assert line.ops == line.left + line.folded + line.merged + line.removed


def test_pins_and_the_device_are_named() -> None:
    def function(x: Any) -> Any:
        with gx.device("cpu:1"):
            return x + 1  # pinned

    found = explain(function, X)
    assert found.device == "/device:CPU:1"
    assert notes(found, function, "# pinned") == "pinned to /device:CPU:1"
    assert "the program runs on /device:CPU:1" in str(found)


def test_variables_captures_and_arguments() -> None:
    weight, bias = gx.Variable([1.0, 1.0, 1.0], name="weight"), gx.Variable(0.0, name="bias")

    def function(x: Any, options: Any, *, n: int) -> Any:
        bias.assign_add(1.0)
        return x * weight * SCALE * options["rate"] * n

    found = explain(function, X, {"rate": 0.5, "w": X}, n=3)
    assert {(v.name.split("_")[0], v.read, v.written) for v in found.variables} == {
        ("weight", True, False),
        ("bias", True, True),
    }
    assert {v.type for v in found.variables} == {"f32[3]", "f32[]"}
    assert found.captured == (("capture_0", "f32[]"),)
    assert [(a.path, a.what, a.static) for a in found.arguments] == [
        ("x", "f32[3]", False),
        ("options['rate']", "0.5", True),
        ("options['w']", "f32[3]", False),
        ("n", "3", True),
    ]
    assert "n: 3 (static: another value needs another trace)" in str(found)


def test_side_effects_and_what_is_done_after_a_run() -> None:
    log: list[int] = []

    def function(x: Any) -> Any:
        log.append(1)
        y = x + time.time()  # the clock
        x[0] = 5.0
        return y

    found = explain(gx.function(function, side_effects="ignore"), gx.asarray([1.0, 2.0]))
    assert {what for what, _ in found.side_effects} == {"the call of list.append", "the call of time.time"}
    assert notes(found, function, "# the clock") == "only when traced: the call of time.time"
    assert found.after_call == ("it assigns items of the argument 'x'",)


def test_host_calls_are_named() -> None:
    def function(x: Any) -> Any:
        print("sum", gx.sum(x))
        return x

    found = explain(function, X)
    assert "runs on the host: print" in notes(found, function, "print(")


def test_functions_that_are_not_converted_say_why() -> None:
    namespace: dict[str, Any] = {}
    exec("def double(x):\n    return x * 2\n", namespace)
    double = namespace["double"]
    with pytest.warns(SideEffectWarning, match="the call of double, whose source is not available"):
        found = explain(lambda x: double(x) + 1, X)
    assert list(found.unconverted) == ["double"]
    assert "the file cannot be read" in found.unconverted["double"]
    assert "not converted" in str(found)
    assert list(explain(double, X).unconverted) == ["double"]
    plain = gx.function(lambda x: x, autograph=False)
    assert list(explain(plain, X).unconverted.values()) == ["autograph=False; use gx.where or gx.cond"]


def test_the_trace_is_the_functions_own() -> None:
    compiled = gx.function(loops, name="mine")
    compiled(X)
    found = explain(compiled, X)
    assert compiled.num_traces == 1
    assert len(found.traces) == 1
    assert "the first call" in found.traces[0]
    compiled.explain(gx.ones((2,)), compile=False)
    assert compiled.num_traces == 2
    assert "x was f32[3], is f32[2]" in explain(compiled, gx.ones((2,))).traces[1]
    assert found.function == "mine"


class Model:
    """Makes its weight in its first call."""

    def __init__(self) -> None:
        self.weight: Any = None

    @gx.function
    def __call__(self, x: Any) -> Any:
        if self.weight is None:
            self.weight = gx.Variable(1.0, name="lazy")
        return x * self.weight


def test_methods_and_variables_of_the_first_call() -> None:
    model = Model()
    found = model.__call__.explain(X, compile=False)
    assert [variable.name.split("_")[0] for variable in found.variables] == ["lazy"]
    assert explain(model.__call__, X).function == "__call__"
    assert explain(Model().__call__, X).ops == 2


def test_compiling_is_timed() -> None:
    found = gx.explain(lambda x: x + 1, X)
    assert found.cost is not None
    assert found.cost.total > 0
    assert found.memory is None or found.memory.arguments == 12
    assert "cost" in str(found)
    assert explain(lambda x: x + 1, X).cost is None


def test_the_cost_is_that_of_the_first_compile_also_where_the_function_ran_before() -> None:
    compiled = gx.function(lambda x: gx.sin(x) + 1, name="costs")
    told: list[float] = []

    def listen(event: str, seconds: float, **details: Any) -> None:
        if event.endswith("/backend_compile_duration") and details["fun_name"] == "jit(costs)":
            told.append(seconds)

    jax.monitoring.register_event_duration_secs_listener(listen)
    try:
        compiled(X)
        first, again = gx.explain(compiled, X).cost, gx.explain(compiled, X).cost
    finally:
        jax.monitoring.unregister_event_duration_listener(listen)
    assert first is not None
    assert first == again
    assert [first.compile] == told
    assert first.lower > 0


def test_arrays_are_taken_as_by_a_call() -> None:
    assert explain(lambda x: x * 2, np.ones(3, np.float32)).arguments[0].what == "f32[3]"


def test_json_text_and_html() -> None:
    found = gx.explain(branches, X, True)
    data = json.loads(found.to_json())
    assert data["function"] == "branches"
    assert data["ops"] == found.ops
    assert data["lines"][0]["location"]["line"] == found.lines[0].location.line
    assert found._repr_html_() == found.to_html()
    page = found.to_html()
    assert page.startswith("<pre>")
    assert "x = x * 2" in page
    assert "gx.sum(x) &lt; -1" in page
    text = str(found)
    assert not any(line != line.rstrip() for line in text.splitlines())
    assert max(map(len, text.splitlines())) <= 120
    assert repr(found).startswith("<Explanation of branches: ")


def test_lines_far_apart_are_not_all_listed() -> None:
    def function(x: Any) -> Any:
        x = x + 1  # first
        #
        #
        #
        #
        #
        return x * 2

    text = str(explain(function, X))
    assert "# first" in text
    assert "..." in text
    with pytest.raises(KeyError):
        explain(function, X).line(1)


def test_an_error_of_the_function_is_raised() -> None:
    with pytest.raises(ConcretizationError, match="numpy"):
        explain(lambda x: x.numpy(), X)


def test_what_is_no_function_is_refused() -> None:
    with pytest.raises(
        InvalidArgumentError, match=r"gx.explain: expected a function, got 3; its arguments come"
    ) as caught:
        gx.explain(3, X)  # type: ignore[arg-type]
    assert __file__ in str(caught.value)


_RATE = 0.5
_TABLE = np.ones(100_000, np.float32)


def test_the_option_of_compare_is_told_of() -> None:
    with pytest.raises(TypeError, match="has no option show, and double has no argument of that name"):
        gx.explain(double, gx.ones(2), show=False)
    assert gx.explain(lambda x, show: x if show else -x, gx.ones(2), show=True).function


def double(x: Any) -> Any:
    return x * 2


def test_what_is_looked_at_again_is_listed_and_what_takes_long_is_named() -> None:
    found = gx.explain(lambda x: x * _RATE + gx.sum(gx.asarray(_TABLE)), gx.ones(2), compile=False)
    guards = {guard.what.split()[1]: guard for guard in found.guards if guard.what.startswith("global")}
    assert guards["_RATE"].was == "0.5"
    assert guards["_RATE"].seconds < 1e-6 < guards["_TABLE"].seconds
    text = str(found)
    assert re.search(r"checked at each call\n  global _RATE \(test_explain.py:\d+\), global _TABLE", text)
    assert re.search(r"global _TABLE \(.*\) takes about \d+ us at each call: pass it as a tensor", text)


_MODEL = gx.layers.Dense(1, in_features=2)


def test_many_values_read_of_one_global_are_counted() -> None:
    text = str(gx.explain(lambda x: _MODEL(x) * _RATE, gx.ones((1, 2)), compile=False))
    assert re.search(r"global _MODEL \(.*\) with \d+ of its attributes and items, global _RATE", text)


def steps(x: Any) -> Any:
    y = x
    for _ in range(100):
        y = y * 0.5 + gx.exp(y)
    return y


def test_a_line_of_which_only_constants_leave_the_loop_is_not_computed_once() -> None:
    found = explain(steps, gx.ones(3))
    assert "computed once" not in notes(found, steps, "y * 0.5")


def test_a_long_line_of_source_leaves_room_for_its_notes() -> None:
    def long(x: Any) -> Any:
        for _ in [gx.ones(3), gx.ones(3) * 2, gx.ones(3) * 3, gx.ones(3) * 4, gx.ones(3) * 5, gx.ones(3) * 6, x * 7]:
            x = x * 0.5
        return x

    text = str(explain(long, gx.ones(3)))
    row = next(row for row in text.splitlines() if "for _ in [" in row)
    assert re.search(r"gx\.o.*\.\.\. +\d+ +\d+ +.{30}", row)


def test_the_arithmetic_of_a_loop_that_ends_by_a_test_is_a_lower_bound() -> None:
    def until(x: Any) -> Any:
        while gx.sum(x) < 100.0:
            x = x @ x
        return x

    assert re.search(
        r">at least [^<]*FLOP<.*loops that end by a test count once", explain(until, gx.ones((4, 4))).html()
    )


def test_guards_that_take_long_together_are_told() -> None:
    arrays = [np.full(4, number, np.float32) for number in range(60)]
    few = arrays[:3]

    def told(used: list[Any]) -> list[str]:
        text = str(gx.explain(lambda x: x + sum(map(gx.asarray, used)), gx.ones(4), compile=False))
        return re.findall(r"(\d+) more values take about \d+ us together", text)

    (count,) = told(arrays)
    assert int(count) >= 60
    assert told(few) == []
