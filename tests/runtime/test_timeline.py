"""What gx.profile records."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

import graphc as gx
from graphc.base import pause
from graphc.runtime import Timeline, read_timeline


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
    path = tmp_path / "trace.json"
    with gx.profile(path) as timeline:
        found = two(x)
    for a, b in zip(found, expected, strict=True):
        assert gx.allclose(a, gx.asarray(b.numpy()), rtol=1e-4).item()
    first, second = [event for event in timeline.events if event.kind == "segment"]
    assert {first.track, second.track} == {"/device:CPU:1", "/device:CPU:2"}
    assert first.overlaps(second)
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
    assert {kind for kind, _ in kinds} == {"program", "segment", "transfer", "host call", "wait"}
    assert [event.name for event in timeline.events if event.kind == "wait"].count("a moment") == 1


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
    with pytest.raises(gx.errors.InvalidArgumentError, match=r"is no trace that gx.profile has written"):
        read_timeline(path)


def test_a_folder_that_does_not_exist_is_told_at_once(tmp_path: Path) -> None:
    message = "gx.profile: the trace '.*' is to be in a folder that does not exist"
    with pytest.raises(gx.errors.NotFoundError, match=message), gx.profile(tmp_path / "missing" / "trace.json"):
        raise AssertionError("not reached")
