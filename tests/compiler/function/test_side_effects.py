"""What Python does only when a function is traced: told once, with its line, or refused."""

from __future__ import annotations

import collections
import contextlib
import datetime
import enum
import functools
import io
import itertools
import logging
import math
import os
import pprint
import random
import re
import time
import uuid
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import rich.progress

import graphc as gx
from graphc.compiler.base.errors import InvalidArgumentError, SideEffectWarning, UnimplementedError

ONE = gx.asarray(1.0)
PATH = Path(os.devnull)
GENERATOR = np.random.default_rng(0)
RANDOM = random.Random(0)
LOG: list[Any] = []
LOGGER = logging.getLogger("graphc.test")
TABLE: dict[str, Any] = {}
SEEN: set[Any] = set()
RECENT: collections.deque[Any] = collections.deque()
TOTALS = np.zeros(3, np.float32)


class Holder:
    """Holds a number."""

    def __init__(self) -> None:
        self.number = 0


HOLDER = Holder()
count = 0


def assigns_global(x: Any) -> Any:
    global count
    count += 1
    return x + count


def counter() -> Callable[[Any], Any]:
    calls = 0

    def assigns_outer(x: Any) -> Any:
        nonlocal calls
        calls += 1
        return x + calls

    return assigns_outer


def writes_file(x: Any) -> Any:
    with open(os.devnull, "w") as file:
        file.write("seen")
    return x


def draws(x: Any) -> Any:
    return x + np.random.default_rng().normal()


def stores_attribute(x: Any) -> Any:
    HOLDER.number = HOLDER.number + 1
    return x


def stores_item(x: Any) -> Any:
    TOTALS[1:][0] = TOTALS[1] + 1
    return x


def adds_in_place(x: Any) -> Any:
    totals = TOTALS
    totals += 1
    return x


def joins_in_place(x: Any) -> Any:
    seen = SEEN
    seen |= {object()}
    return x


def sets_a_setting(x: Any) -> Any:
    gx.config.warn_retraces = gx.config.warn_retraces
    return x


def logs_in_a_helper(x: Any) -> Any:
    logging.debug("called")
    return x


PROGRAMS: list[tuple[Callable[[Any], Any], str]] = [
    (lambda x: x + time.time(), "the call of time.time"),
    (sets_a_setting, "the assignment to attribute 'warn_retraces' of a Config object"),
    (lambda x: x + time.perf_counter() * 0, "the call of time.perf_counter"),
    (lambda x: x + random.random(), "the call of random.random"),
    (lambda x: x + random.randint(0, 3), "the call of random.randint"),
    (lambda x: x + RANDOM.random(), "the call of Random.random"),
    (lambda x: x + float(np.random.rand()), "the call of numpy.random.rand"),
    (lambda x: x + GENERATOR.normal(), "the call of Generator.normal"),
    (draws, "the call of numpy.random.default_rng"),
    (lambda x: x + random.Random().random(), "the call of random.Random"),
    (lambda x: x + len(os.urandom(2)), "the call of os.urandom"),
    (lambda x: x + len(str(uuid.uuid4())), "the call of uuid.uuid4"),
    (lambda x: x + datetime.datetime.now().year, "the call of datetime.now"),
    (lambda x: (x, PATH.read_text())[0], "the call of PosixPath.read_text"),
    (writes_file, "the call of open"),
    (writes_file, "the call of TextIOWrapper.write"),
    (logs_in_a_helper, "the call of logging.debug"),
    (lambda x: logs_in_a_helper(x), "the call of logging.debug"),
    (assigns_global, "the assignment to the global 'count'"),
    (counter(), "the assignment to 'calls' of another function"),
    (lambda x: (x, LOG.append(1))[0], "the call of list.append"),
    (lambda x: (x, TABLE.update(a=object()))[0], "the call of dict.update"),
    (stores_attribute, "the assignment to attribute 'number' of a Holder object"),
    (lambda x: (x, SEEN.add(object()))[0], "the call of set.add"),
    (lambda x: (x, RECENT.append(1))[0], "the call of deque.append"),
    (lambda x: (x, TOTALS.fill(TOTALS[0] + 1))[0], "the call of ndarray.fill"),
    (stores_item, "the assignment to an item of a ndarray"),
    (adds_in_place, "the in-place operator += on a ndarray"),
    (joins_in_place, "the in-place operator |= on a set"),
]


@pytest.mark.skipif(os.name != "posix", reason="the names of some classes differ")
@pytest.mark.parametrize(("program", "what"), PROGRAMS, ids=[what for _, what in PROGRAMS])
def test_what_happens_when_traced_is_told_once_at_its_line(program: Callable[[Any], Any], what: str) -> None:
    function = gx.function(program)
    with pytest.warns(SideEffectWarning) as caught:
        function.trace(ONE)
    found = [warning for warning in caught if str(warning.message).startswith(f"{what} happens once, when ")]
    assert len(found) == 1
    assert found[0].filename == __file__
    line = Path(__file__).read_text(encoding="utf-8").splitlines()[found[0].lineno - 1]
    words = what.rpartition("'")[0].rpartition("'")[2] or what.rpartition(".")[2]
    assert (" = " if "item" in what else "= " if "in-place" in what else words.rpartition(" ")[2]) in line
    function.trace(ONE)
    function.trace(gx.ones((2,)))  # traced again, and not told again


RECORDS = np.zeros(2, [("a", float)])
MASKED = np.ma.array([1.0, 2.0], mask=[False, False])


def fills_a_flat_view(x: Any) -> Any:
    TOTALS[1:].flat[0] = TOTALS[1] + 1
    return x


def sets_an_item_of_a_memoryview(x: Any) -> Any:
    memoryview(TOTALS)[0] = TOTALS[0] + 1
    return x


def sets_a_field_of_a_record(x: Any) -> Any:
    RECORDS[0]["a"] += 1
    return x


def masks_an_item(x: Any) -> Any:
    MASKED[0] = np.ma.masked
    return x


def sets_a_mask(x: Any) -> Any:
    MASKED.mask = [False, True]
    return x


def sets_a_field_of_records(x: Any) -> Any:
    records = RECORDS.view(np.recarray)
    records.a = RECORDS["a"] + 1
    return x


@pytest.mark.parametrize(
    "program",
    [
        lambda x: (x, np.add(TOTALS[:1], 1, out=TOTALS[:1]))[0],
        lambda x: (x, np.copyto(TOTALS[1:], TOTALS[1] + 1))[0],
        fills_a_flat_view,
        sets_an_item_of_a_memoryview,
        sets_a_field_of_a_record,
        sets_a_field_of_records,
        masks_an_item,
        sets_a_mask,
    ],
)
def test_a_write_through_a_view_is_told_as_one_into_the_array(program: Callable[[Any], Any]) -> None:
    with pytest.warns(SideEffectWarning, match="happens once, when"):
        gx.function(program).trace(ONE)


@pytest.mark.parametrize("program", [program for program, _ in PROGRAMS], ids=[what for _, what in PROGRAMS])
def test_it_may_be_meant(program: Callable[[Any], Any]) -> None:
    gx.function(program, side_effects="ignore").trace(ONE)


@pytest.mark.skipif(os.name != "posix", reason="the names of some classes differ")
@pytest.mark.parametrize(
    ("program", "what"),
    [(program, what) for program, what in PROGRAMS if what != "the call of TextIOWrapper.write"],
    ids=[what for _, what in PROGRAMS if what != "the call of TextIOWrapper.write"],
)
def test_it_may_be_refused(program: Callable[[Any], Any], what: str) -> None:
    with pytest.raises(
        UnimplementedError, match=f"{re.escape(what)} would happen once, when .* which side_effects='error'"
    ) as caught:
        gx.function(program, side_effects="error")(ONE)
    assert __file__ in str(caught.value)


def closed(x: Any) -> Any:
    with contextlib.closing(io.StringIO()):
        return x + 1


def stacked(x: Any) -> Any:
    with contextlib.ExitStack() as stack:
        stack.callback(LOG.clear)
    return x


@pytest.mark.parametrize(("program", "what"), [(closed, "closing"), (stacked, "ExitStack")])
def test_managers_of_the_standard_library_act_when_traced(program: Callable[[Any], Any], what: str) -> None:
    with pytest.warns(SideEffectWarning, match=f"what `with` on an? {what} does happens once, when .* is traced"):
        gx.function(program)(ONE)


def test_what_is_refused_has_not_happened() -> None:
    before = count, HOLDER.number, len(LOG), len(SEEN), TOTALS.tolist()
    state = random.getstate()
    programs = (assigns_global, stores_attribute, lambda x: (x, LOG.append(1))[0], joins_in_place, stores_item)
    for program in (*programs, lambda x: x + random.random()):
        with pytest.raises(UnimplementedError):
            gx.function(program, side_effects="error")(ONE)
    assert (count, HOLDER.number, len(LOG), len(SEEN), TOTALS.tolist()) == before
    assert random.getstate() == state


def local_objects(x: Any) -> Any:
    rows = [1]
    rows.append(2)
    table = {"a": 1}
    table["b"] = 2
    table.update(c=3)
    holder = Holder()
    holder.number += 1
    calls = 0

    def inner(depth: int) -> int:  # refers to itself: a cycle
        nonlocal calls
        calls += 1
        rows.append(depth)
        return inner(depth - 1) if depth else calls

    queue = collections.deque([1])
    queue.append(2)
    seen = {1}
    seen.add(2)
    return x + sum(rows) + len(table) + holder.number + inner(3) + len(queue) + len(seen)


def local_arrays(x: Any) -> Any:
    weights = np.zeros(3, np.float32)
    weights[0] = 1
    weights += 2
    half = weights[1:]
    half[0] = 5
    half.sort()
    return gx.sum(x * weights) + gx.sum(gx.asarray(half))


def pure_libraries(x: Any) -> Any:
    pairs = list(itertools.product((1, 2), repeat=2))
    total = functools.reduce(lambda a, b: a + b, (1, 2, 3))
    name = os.path.join("a", "b") + os.path.basename("c/d") + str(PATH.with_suffix(".x"))
    text = io.StringIO()
    text.write("kept in memory")
    return x + len(pairs) + total + math.sqrt(4) + len(name) + len(text.getvalue())


def loops(x: Any) -> Any:
    rows = []
    for i in range(3):
        rows.append(x * i)  # noqa: PERF401  the append is what is tested
    for _ in range(20):
        x = x + len(rows)
    return x + rows[1]


def restored(x: Any) -> Any:
    LOG.append(1)
    LOG.pop()
    kept = HOLDER.number
    HOLDER.number = kept
    return x


@pytest.mark.parametrize("program", [local_objects, local_arrays, pure_libraries, loops, restored])
def test_what_nobody_sees_is_not_told(program: Callable[[Any], Any]) -> None:
    assert gx.function(program)(ONE).item() == pytest.approx(program(ONE).item())


def test_another_line_is_told_when_it_is_traced() -> None:
    @gx.function
    def function(x: Any, first: bool) -> Any:
        if first:
            LOG.append(1)
        else:
            LOG.append(2)
        return x

    lines: list[int] = []
    for first in (True, False, True):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            function(ONE, first)
        lines += [warning.lineno for warning in caught]
    assert len(lines) == 2
    assert lines[1] == lines[0] + 2


def test_a_failed_attempt_to_roll_a_loop_tells_nothing_twice() -> None:
    @gx.function
    def function(x: Any) -> Any:
        for _ in range(10):
            x = x + time.time() * 0
        return x

    with pytest.warns(SideEffectWarning) as caught:
        function(ONE)
    assert len(caught) == 1
    loop = function.trace(ONE).loops[0]
    assert loop.kind == "unrolled"
    assert "time.time" in loop.reason or "call of time" in loop.reason


def in_a_branch(x: Any) -> Any:
    if x > 0:
        x = x + random.random()
    return x


def global_in_a_branch(x: Any) -> Any:
    global count
    if x > 0:
        count = x
    return x


def global_in_a_helper(x: Any) -> Any:
    if x > 0:
        assigns_global(x)
    return x


@pytest.mark.parametrize(
    ("program", "message"),
    [
        (in_a_branch, "the call of random.random inside the true branch of an if"),
        (global_in_a_branch, "the assignment to the global 'count' stores a tensor that has no value yet"),
        (global_in_a_helper, "the call of assigns_global, which assigns the global 'count', inside the true branch"),
    ],
)
def test_under_a_condition_on_tensors_it_is_always_refused(program: Callable[[Any], Any], message: str) -> None:
    before = count
    with pytest.raises(UnimplementedError, match=message) as caught:
        gx.function(program, side_effects="ignore")(ONE)
    assert __file__ in str(caught.value)
    assert count is before


def test_a_tensor_in_a_variable_of_a_function_around_is_refused() -> None:
    last: Any = 0

    @gx.function
    def function(x: Any) -> Any:
        nonlocal last
        last = x * 2
        return x

    with pytest.raises(UnimplementedError, match="the assignment to 'last' of another function stores a tensor"):
        function(ONE)
    assert last == 0


class Lazy:
    """Makes its weight in its first call, after it has done other things."""

    def __init__(self) -> None:
        self.weight: Any = None
        self.calls = 0

    @gx.function(side_effects="ignore")
    def __call__(self, x: Any) -> Any:
        global count
        count += 1
        self.calls += 1
        LOG.append(1)
        drawn = random.random()
        if self.weight is None:
            self.weight = gx.Variable(1.0)
        return x * self.weight + drawn


def test_a_call_that_makes_variables_does_everything_once() -> None:
    random.seed(0)
    expected = random.random()
    random.seed(0)
    before, length, lazy = count, len(LOG), Lazy()
    assert lazy(gx.asarray(0.0)).item() == pytest.approx(expected)
    assert (count, len(LOG), lazy.calls) == (before + 1, length + 1, 1)


class Factor(enum.Enum):
    """A number by name."""

    DOUBLE = 2.0


def test_without_conversion_the_value_of_an_enumeration_s_member_is_no_side_effect() -> None:
    assert gx.function(lambda x: x * Factor.DOUBLE.value, autograph=False)(ONE).item() == 2.0


def test_without_conversion_names_are_watched_too() -> None:
    with pytest.warns(SideEffectWarning, match="the assignment to the global 'count'"):
        gx.function(assigns_global, autograph=False)(ONE)


def test_a_global_that_was_not_there_is_taken_away_again() -> None:
    source = "def f(x):\n    global fresh\n    fresh = x * 2\n    return x\n"
    namespace: dict[str, Any] = {}
    exec(source, namespace)
    with pytest.raises(UnimplementedError, match="the global 'fresh'"):
        gx.function(namespace["f"])(ONE)
    assert "fresh" not in namespace


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"side_effects": "no"}, "side_effects must be 'warn', 'error' or 'ignore', got 'no'"),
        ({"unroll": 1}, "unroll must be None, True, False or an int of at least 2, got 1"),
        ({"unroll": "all"}, "unroll must be None, True, False or an int of at least 2, got 'all'"),
        ({"max_iterations": 0}, "max_iterations must be None or a positive int, got 0"),
        ({"max_iterations": True}, "max_iterations must be None or a positive int, got True"),
        ({"max_traces": 0}, "max_traces must be None or a positive int, got 0"),
    ],
)
def test_options_are_checked(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidArgumentError, match=message) as caught:
        gx.function(lambda x: x, **options)
    assert __file__ in str(caught.value)


def test_options_reach_the_trace() -> None:
    seen: list[Any] = []

    class Marker:
        __graphc_opaque__ = True

    def function(x: gx.Tensor, marker: Marker) -> gx.Tensor:
        trace = x.trace.root  # type: ignore[attr-defined]
        seen.append((trace.unroll, trace.max_iterations))
        return x

    gx.function(function, unroll=4, max_iterations=7, side_effects="ignore", autograph=False)(ONE, Marker())
    assert seen == [(4, 7)]


class Meter:
    def __init__(self) -> None:
        self.count, self.total = 0, gx.asarray(0.0)

    def push(self, x: Any) -> Any:
        self.count = 5
        self.total = self.total + x
        return self.total


def test_the_attribute_that_takes_a_tensor_is_blamed() -> None:
    meter = Meter()
    with pytest.raises(
        UnimplementedError, match=r"attribute 'total' of a Meter object stores a tensor(.|\n)*self.total = "
    ):
        gx.function(meter.push)(ONE)
    assert isinstance(meter.total, gx.Tensor)
    assert meter.total.item() == 0.0


def test_the_change_of_an_argument_is_named_with_its_line() -> None:
    def program(rows: list[Any], x: Any) -> Any:
        rows.append(1)
        return x

    with pytest.raises(
        UnimplementedError, match=r"among its arguments \(by the call of list.append\)(.|\n)*rows.append\(1\)"
    ):
        gx.function(program)([1.0], ONE)


def test_a_change_of_what_a_trace_depends_on_is_not_said_to_happen_once() -> None:
    class Counter:
        def __init__(self) -> None:
            self.n = 0

        @gx.function
        def step(self, x: Any) -> Any:
            self.n += 1
            return x * self.n

    counter = Counter()
    with pytest.warns(
        SideEffectWarning, match=r"attribute 'n' of a Counter object happens when .* traces it anew for each value"
    ):
        assert counter.step(ONE).item() == 1
    assert counter.step(ONE).item() == 2


def logged(x: Any) -> Any:
    logging.warning("value %s", x)
    return x


def logged_text(x: Any) -> Any:
    LOGGER.error(f"value {x}")
    return x


def logged_in_branch(x: Any) -> Any:
    if x > 0:
        LOGGER.error("large")
    return x


def tracked(n: Any) -> Any:
    total = 0
    for i in rich.progress.track(range(n)):
        total += i
    return total


@pytest.mark.parametrize(
    ("function", "message", "line"),
    [
        (logged, r"logging\.warning is given a tensor \(f32\[\], the argument 'x'\) that.*gx\.log_message", 1),
        (logged_text, r"Logger\.error is given a tensor .*gx\.log_message", 1),
        (logged_in_branch, r"Logger\.error inside the true branch.*write gx\.log_message\(", 2),
        (tracked, r"rich\.progress\.track is given a value that depends on tensors.*gx\.data\.progress", 2),
    ],
)
def test_logging_and_progress_bars_lead_to_what_works(function: Any, message: str, line: int) -> None:
    with pytest.raises(UnimplementedError, match=message) as caught:
        gx.function(function)(ONE if function is not tracked else gx.asarray(3))
    place = f"line {function.__code__.co_firstlineno + line}, in {function.__name__}"
    assert caught.value.message.count("\n  at ") == 1
    assert place in caught.value.message


def test_a_progress_bar_over_a_known_range_is_told_of(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.warns(SideEffectWarning, match=r"rich\.progress\.track happens once.*gx\.data\.progress"):
        assert gx.function(tracked)(3) == 3
    assert "Working" in capsys.readouterr().out


def kept_in_loop(x: Any) -> Any:
    for row in x:
        y = row + 1
        LOG.append(y)
    return x


def kept_in_branch(x: Any) -> Any:
    if gx.sum(x) > 0:
        y = x + 1
        LOG.append(y)
    return x


@pytest.mark.parametrize(("function", "line"), [(kept_in_loop, 3), (kept_in_branch, 3)])
def test_a_store_in_a_loop_or_branch_is_refused_at_its_own_line(function: Any, line: int) -> None:
    LOG.clear()
    with pytest.raises(UnimplementedError, match="outlives the function") as caught:
        gx.function(function)(gx.ones(3))
    assert f"line {function.__code__.co_firstlineno + line}, in" in caught.value.message


class _Coded(Exception):
    def __init__(self, text: str, code: int) -> None:
        super().__init__(text)
        self.code = code


def test_the_fields_of_an_exception_are_told_if_it_is_kept() -> None:
    kept: list[Any] = []

    def caught(x: Any, keeps: bool) -> Any:
        try:
            raise _Coded("a", 3)
        except _Coded as error:
            if keeps:
                kept.append(error)
            return x * error.code

    compiled = gx.function(caught)
    assert compiled(gx.asarray(2.0), False).item() == 6.0  # a warning would be an error
    with pytest.warns(SideEffectWarning) as told:
        compiled(gx.asarray(2.0), True)
    assert any("attribute 'code' of a _Coded object" in str(warning.message) for warning in told)


def remembers(x: Any) -> Any:
    if x.shape in KNOWN:
        return x * 0
    KNOWN[x.shape] = True
    return x


def shows(x: Any) -> Any:
    pprint.pprint({"rate": 1})
    return x


KNOWN: dict[Any, bool] = {}


@pytest.mark.parametrize(
    ("program", "what", "remedy"),
    [
        (remembers, "the assignment to an item of a dict", "Later calls reuse .* in a gx.Variable, or pass it in"),
        (shows, "the call of pprint.pprint", "Write print"),
    ],
)
def test_the_warning_says_what_to_write_instead(program: Callable[[Any], Any], what: str, remedy: str) -> None:
    with pytest.warns(SideEffectWarning, match=f"{what} happens once, .*{remedy}"):
        gx.function(program)(ONE)
