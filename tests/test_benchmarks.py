"""The benchmarks run and compare equal things; nothing here looks at a time that was measured."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import cast

import pytest

import graphc as gx
from benchmarks import harness
from benchmarks.__main__ import ROWS, main
from benchmarks.attacks import Cost
from benchmarks.functions import CASES
from benchmarks.harness import Contender, Duel, Reading, Result, Row, Sample, arrays, batch, measure
from benchmarks.report import table, write_json


@pytest.mark.usefixtures("warm_python")
@pytest.mark.drawn(5)
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_row_runs_and_its_sides_agree(row: Row) -> None:
    result = measure(row, rounds=2, quick=True)  # raises when the results differ
    assert len(result.measured) == len(result.baseline) == min(2, row.rounds)
    assert all(seconds > 0 for seconds in (*result.measured, *result.baseline))


@pytest.mark.slow
@pytest.mark.multiprocess
def test_attacks_take_no_more_memory_than_good_requests_may(tmp_path: Path) -> None:
    costs = cast("Sequence[Cost]", main(["--attacks", "--quick", "--json", str(tmp_path / "attacks.json")]))
    assert [cost.status for cost in costs if cost.name.startswith("good")] == ["200"] * 3
    assert not [cost for cost in costs if cost.name.startswith(("a dtype", "npz", "npy")) and cost.status[0] != "4"]
    assert not [cost for cost in costs if cost.megabytes > 300]
    assert json.loads((tmp_path / "attacks.json").read_text())[0]["name"] == costs[0].name


def test_names_of_rows_are_unique() -> None:
    assert len({row.name for row in ROWS}) == len(ROWS)


def _row(log: list[str], given: object = 1.0, expected: object = 1.0) -> Row:
    def contender(label: str) -> Contender:
        def fresh() -> Sample:
            log.append(f"fresh {label}")
            return lambda: log.append(label)

        return Contender(label, fresh)

    return Row("row", "a case", 1.0, lambda _: Duel(contender("a"), contender("b"), lambda: [(given, expected)]))


def test_contenders_take_turns_and_the_first_changes() -> None:
    log: list[str] = []
    measure(_row(log), rounds=3)
    warm_up, timed = ["a", "b"], ["a", "b", "b", "a", "a", "b"]
    assert [entry for entry in log if not entry.startswith("fresh")] == warm_up + timed
    assert log[::2] == [f"fresh {label}" for label in warm_up + timed]


def test_unequal_results_are_not_timed() -> None:
    log: list[str] = []
    with pytest.raises(AssertionError, match="a case"):
        measure(_row(log, given=gx.asarray([1.0, 2.0]), expected=gx.asarray([1.0, 2.5])), rounds=1)
    assert log == []


def test_result_that_lacks_a_part_is_unequal() -> None:
    with pytest.raises(ValueError, match="longer"):
        measure(_row([], given=[1.0], expected=[1.0, 2.0]), rounds=1)


def test_batch_calls_as_often_as_asked() -> None:
    calls: list[int] = []
    batch(calls.append, (7,), 5)()()
    assert calls == [7] * 5


def test_arrays_of_a_nested_result() -> None:
    tensor, variable = gx.asarray(1.0), gx.Variable(2.0)
    assert [float(array) for array in arrays({"a": tensor, "b": [variable, None, 3.0]})] == [1.0, 2.0, 3.0]


def test_ratio_is_that_of_the_medians() -> None:
    result = Result("row", "a case", 2.0, ("a", "b"), measured=[1.0, 3.0, 100.0], baseline=[2.0, 1.0, 1.0])
    assert result.ratio == 3.0
    assert not result.met
    assert result.spread == (1.75, 51.5)


def test_row_of_several_duels_shows_the_worst_and_counts_those_within_the_bar(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Clock:
        now = 0.0

        def perf_counter(self) -> float:
            return self.now

        def sleep(self, seconds: float) -> None:
            self.now += seconds

    clock = Clock()
    monkeypatch.setattr(harness, "time", clock)

    def duel(measured: float) -> Duel:
        def contender(seconds: float) -> Contender:
            return Contender("", lambda: lambda: clock.sleep(seconds))

        return Duel(contender(measured), contender(0.01), list)

    row = Row("row", "two", 1.0, lambda _: {"slow": duel(0.05), "fast": duel(0.0)})
    result = measure(row, rounds=1)
    assert (result.name, result.case) == ("row", "two: 1 of 2 within the bar; the worst, slow")
    assert result.ratio == result.parts["slow"].ratio > 1.0
    path = tmp_path / "numbers.json"
    write_json([result], path)
    (written,) = json.loads(path.read_text())["rows"]
    assert list(written["parts"]) == ["slow", "fast"]
    assert written["parts"]["fast"]["met"]


def test_reading_is_shown_in_its_unit() -> None:
    row = Row(
        "row", "memory", 1.0, lambda _: Reading(("after", "before"), "KiB", lambda: (3000.0, 2000.0, "+1000 KiB"))
    )
    result = measure(row, rounds=1)
    assert (result.case, result.ratio, result.met) == ("memory: +1000 KiB", 1.5, False)
    assert "3,000 KiB" in list(table([result], "").columns[1].cells)


def test_functions_that_are_measured_are_forty() -> None:
    assert len(CASES) == 40


def test_verdict_is_doubtful_where_the_rounds_disagree() -> None:
    clear = Result("row", "a case", 2.0, ("a", "b"), measured=[1.0, 1.0, 1.0], baseline=[1.0, 1.0, 1.0])
    mixed = Result("row", "a case", 2.0, ("a", "b"), measured=[1.0, 1.0, 4.0, 4.0], baseline=[1.0, 1.0, 1.0, 1.0])
    assert (clear.verdict, mixed.verdict) == ("met", "missed ?")


def test_command_line_writes_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "folder" / "numbers.json"
    main(["--quick", "--only", "eager-add", "--only", "eager-matmul", "--json", str(path), "--markdown"])
    content = json.loads(path.read_text())
    assert [row["name"] for row in content["rows"]] == ["eager-add", "eager-matmul"]
    assert set(content["machine"]) == {"processor", "cores", "device", "system", "python", "jax"}
    assert {"ratio", "spread", "floor", "bar", "met", "measured", "baseline"} <= set(content["rows"][0])
    assert "\n| eager a @ b, 4x4 | graphc | jax.numpy | " in capsys.readouterr().out


def test_unknown_row_is_refused_with_the_names(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--only", "nothing"])
    assert "eager-add" in capsys.readouterr().err
