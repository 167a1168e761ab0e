"""What gx.profile records."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jax
import pytest

import graphc as gx
from graphc.compiler.base import pause
from graphc.compiler.core import context
from graphc.compiler.runtime import Event, Timeline, read_timeline
from graphc.compiler.runtime.plan import HOST


def chain(x: Any) -> Any:
    for _ in range(25):
        x = x @ x / 500.0
    return x


def test_chains_on_two_devices_are_in_flight_together(tmp_path: Path) -> None:
    @gx.function
    def two(x: Any) -> Any:
        with gx.device("cpu:1"):
            a = chain(x)
        with gx.device("cpu:2"):
            b = chain(x + 1)
        return a, b

    @gx.function
    def one(x: Any) -> Any:
        return chain(x), chain(x + 1)

    x = gx.ones((500, 500))
    expected = one(x)
    two(x)
    # Neither segment waits for the other, nor a thread for any step: both devices are told what to do without a wait.
    # How long they take, and whether this thread loses its turn, is not for a test to say.
    plan = two.trace(x).plan
    first, second = [number for number, step in enumerate(plan.steps) if step.kind == "segment"]
    assert not plan.followers[first] & 1 << second
    assert not plan.followers[second] & 1 << first
    assert not plan.blocks
    path = tmp_path / "trace.json"
    with gx.profile(path) as timeline:
        found = two(x)
    for a, b in zip(found, expected, strict=True):
        assert gx.allclose(a, gx.asarray(b.numpy()), rtol=1e-4).item()
    tracks = [event.track for event in timeline.events if event.kind == "segment"]
    assert sorted(tracks) == ["/device:CPU:1", "/device:CPU:2"]
    assert {event.function for event in timeline.events} == {"two"}
    again = read_timeline(path)
    assert [event.name for event in again] == [event.name for event in timeline.events]
    assert json.loads(path.read_text())["displayTimeUnit"] == "ms"


def test_a_plain_program_a_transfer_a_host_call_and_a_wait_are_recorded() -> None:
    power = gx.function(chain)

    @gx.function
    def spread(x: Any) -> Any:
        with gx.device("cpu:1"):
            y = x + 1
        return gx.pyfunc(lambda value: value * 2, gx.TensorSpec((), "float32"), y) + x

    x = gx.asarray(1.0)
    large = gx.ones((400, 400))
    power(large), spread(x)
    with gx.profile() as timeline:
        spread(x)
        power(large)
        pause(1e-3, "a moment")  # what waits for arrays waits by the same way
    kinds = {(event.kind, event.track.split("-")[0]) for event in timeline.events}
    assert ("program", "/device:CPU:0") in kinds
    assert ("segment", "/device:CPU:1") in kinds
    assert ("transfer", "/device:CPU:1") in kinds
    assert {kind for kind, _ in kinds} == {"op", "program", "segment", "transfer", "host call", "wait"}
    assert [event.name for event in timeline.events if event.kind == "wait"].count("a moment") == 1


def test_eager_ops_are_recorded_with_their_devices_and_lines() -> None:
    double = gx.function(lambda x: x * 2, name="double")
    x, w = gx.asarray([1.0, 2.0]), gx.Variable(3.0)

    def run() -> None:
        y = gx.sum(x @ x) + w
        w.assign_add(y)
        with gx.device("cpu:1"):
            gx.exp(x)
        with gx.GradientTape() as tape:
            tape.watch(x)
            y = gx.sin(double(x))
        tape.gradient(y, x)
        double(x)

    run()
    with gx.profile() as timeline:
        run()
    here, there = [[event for event in timeline.events if event.track.endswith(number)] for number in "01"]
    assert [(event.kind, event.name) for event in there] == [("op", "exp")]
    assert [(event.kind, event.name) for event in here if event.name != "ones_like"] == [
        ("op", "matmul"),
        ("op", "sum"),
        ("op", "add"),
        ("op", "add"),
        ("program", "double"),
        ("op", "sin"),
        ("op", "vjp of sin"),
        ("op", "vjp of double"),
        ("program", "double"),
    ]
    first = run.__code__.co_firstlineno
    lines = [int(event.line.removeprefix("test_timeline.py:")) - first for event in timeline.events]
    assert set(lines) == {1, 2, 4, 7, 8, 9}
    run()
    assert len(timeline.events) == len(lines)  # and no more of them
    assert context.eager


def test_ops_of_other_threads_are_recorded_and_the_settings_beside_it_hold(caplog: pytest.LogCaptureFixture) -> None:
    x = gx.ones(2)
    with caplog.at_level("INFO", logger="graphc.tools.placement"), gx.config.scope(log_device_placement=True):
        with gx.profile() as timeline:
            thread = threading.Thread(target=lambda: gx.exp(x))
            thread.start()
            thread.join()
        gx.sin(x)
    assert [event.name for event in timeline.events] == ["exp"]
    assert [record.getMessage().split(":")[0] for record in caplog.records] == ["exp", "sin"]
    assert context.eager


def test_what_jax_traces_is_not_run() -> None:
    with gx.profile() as timeline:
        jax.jit(lambda x: (gx.Tensor(x) * 2).raw)(gx.ones(2).raw)
    assert [event.name for event in timeline.events] == ["ones"]


def test_a_step_begins_when_its_device_is_told_and_has_done_the_one_before() -> None:
    timeline = Timeline()
    told = time.perf_counter()
    array = gx.ones(3).raw
    for name in "first", "second":
        timeline.launched(name, "segment", "/device:CPU:0", told, [array])
    timeline.close()
    first, second = timeline.events
    assert first.start == pytest.approx(told - timeline.began, abs=1e-9)
    assert first.end <= second.start <= second.end


def test_a_call_of_python_begins_when_its_arguments_are_there(monkeypatch: pytest.MonkeyPatch) -> None:
    order: list[str] = []

    class Late:
        def is_ready(self) -> bool:
            return False

        def block_until_ready(self) -> None:
            order.append("arguments")

    class Call:
        name, kind, device = "call", "host call", HOST

        def run(self, arrays: Any, execution: Any) -> Any:
            order.append("call")

    def clock() -> float:
        order.append("clock")
        return 0.0

    timeline: Any = Timeline()
    monkeypatch.setattr(time, "perf_counter", clock)
    timeline.run(Call(), (Late(),), SimpleNamespace(name="f"))
    assert order[:3] == ["arguments", "clock", "call"]


def test_events_overlap_that_went_on_at_some_time_together() -> None:
    first, second, third = (
        Event("step", "segment", "/device:CPU:0", start, end) for start, end in [(0.0, 2.0), (1.0, 3.0), (2.0, 4.0)]
    )
    assert first.overlaps(second)
    assert second.overlaps(first)
    assert not first.overlaps(third)


def test_one_profile_at_a_time() -> None:
    message = "another profile is open"
    with gx.profile(), pytest.raises(gx.errors.FailedPreconditionError, match=message), gx.profile():
        pass
    with gx.profile() as timeline:
        pass
    assert timeline.events == ()


def test_files_that_are_no_traces_are_refused(tmp_path: Path) -> None:
    with pytest.raises(gx.errors.NotFoundError, match="No such file"):
        read_timeline(tmp_path / "missing.json")
    path = tmp_path / "other.json"
    path.write_text("[1, 2]")
    with pytest.raises(gx.errors.InvalidArgumentError, match=r"not a trace written by gx.profile"):
        read_timeline(path)


def test_a_folder_that_does_not_exist_is_told_at_once(tmp_path: Path) -> None:
    message = "gx.profile: the folder of the trace '.*' does not exist"
    with pytest.raises(gx.errors.NotFoundError, match=message), gx.profile(tmp_path / "missing" / "trace.json"):
        raise AssertionError("not reached")


def test_the_profiler_of_jax_runs_beside_it_when_it_is_asked_for(tmp_path: Path) -> None:
    double = gx.function(lambda x: x * 2)
    double(gx.ones(3))
    with gx.profile(jax_profiler=tmp_path / "jax") as timeline:
        double(gx.ones(3)).wait()
    assert "lambda" in [event.name for event in timeline.events]
    assert [path.suffix for path in (tmp_path / "jax").rglob("*.pb")] == [".pb"]
    with gx.profile(tmp_path / "own.json"):
        double(gx.ones(3)).wait()
    assert not list(tmp_path.glob("plugins"))


def test_the_text_of_a_timeline_has_a_row_for_each_event() -> None:
    power = gx.function(chain)
    power(gx.eye(4))
    with gx.profile() as timeline:
        power(gx.eye(4))
    heading, *rows = str(timeline).splitlines()
    assert heading.split() == ["start", "ms", "took", "ms", "where", "kind", "name"]
    assert len(rows) == len(timeline.events)
    assert any("/device:CPU:0" in row and "program" in row for row in rows)
    count = len(timeline.events)
    assert repr(timeline) == f"<Timeline of {count} event{'s' if count > 1 else ''}>"
