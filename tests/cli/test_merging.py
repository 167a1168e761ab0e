"""The traces of several ranks become one, with one clock, and the rank is named that the others waited for."""

from __future__ import annotations

from pathlib import Path

import pytest

import graphc as gx
from graphc.cli import main
from graphc.cli.timeline import merge_timelines
from graphc.compiler.runtime import BARRIER, Event, Timeline


@pytest.fixture
def traces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Rank 1, whose profile began 90 s later, is late at step 1 by 2 s, and rank 0 at step 2 by 1 s."""
    found: list[Path] = []
    for rank, began, waits in ((0, 90.0, (2.5, 0.5)), (1, 0.0, (0.5, 1.5))):
        timeline = Timeline()
        ends = (began + 10, began + 20)
        timeline.events = (
            *(
                Event(f"{BARRIER}step {step}", "wait", "MainThread", end - wait, end)
                for step, (wait, end) in enumerate(zip(waits, ends, strict=True), 1)
            ),
            Event("step", "program", "/device:CPU:0", ends[1], ends[1] + 1),
        )
        monkeypatch.setattr("graphc.compiler.runtime.timeline._rank", lambda rank=rank: rank)
        found.append(tmp_path / f"trace.rank{rank}.json")
        timeline.save(found[-1])
    return found


def test_barriers_set_the_clocks_and_name_the_straggler(traces: list[Path], capsys: pytest.CaptureFixture[str]) -> None:
    merged = merge_timelines(traces[::-1])
    places = {(event.track, event.name): event for event in merged.events}
    assert len(places) == 6
    assert places["rank 0 /device:CPU:0", "step"].start == pytest.approx(places["rank 1 /device:CPU:0", "step"].start)
    assert min(event.start for event in merged.events) == 0
    assert merged.waited_for == pytest.approx({0: 1.0, 1: 2.0})
    assert merged.straggler == 1
    assert main(["timeline", *map(str, traces)]) == 0
    printed = capsys.readouterr().out
    assert "rank 1 /device:CPU:0" in printed
    assert "the others waited for rank 1 most: 2 s together" in printed


def test_files_that_are_not_of_different_ranks_are_refused(traces: list[Path], tmp_path: Path) -> None:
    with pytest.raises(gx.errors.InvalidArgumentError, match=r"rank0.json: rank 0 is there already; give a file of"):
        merge_timelines([traces[0], traces[0]])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("graphc.compiler.runtime.timeline._rank", lambda: None)
        (alone := Timeline()).save(tmp_path / "alone.json")
    assert alone.events == ()
    with pytest.raises(gx.errors.InvalidArgumentError, match=r"alone.json: it is no trace of one rank of several"):
        merge_timelines([traces[0], tmp_path / "alone.json"])
