"""What a dataset tells of itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphc as gx
from graphc.compiler.base.errors import InvalidArgumentError
from graphc.training.data import Dataset, Options
from graphc.training.data.inspecting import NodeStatistics, profile_lines


def in_python(x: Any) -> Any:
    return np.asarray(x)  # graphc cannot compile this


def test_explain_names_the_line_that_python_must_run() -> None:
    dataset = Dataset.range(4).map(lambda x: x + 1).filter(lambda x: x > 1).map(in_python).batch(2)
    text = str(dataset.explain())
    assert text.count("compiled: one program for a block of rows") == 2
    assert "in_python: Python calls it for each element, since " in text
    assert "return np.asarray(x)  # graphc cannot compile this" in text
    assert text.splitlines()[-1].startswith("prefetch(buffer_size=2)")
    noise = Dataset.range(4).map(lambda x: x + gx.random.normal(())).explain()
    assert "compiled, and called for each element, since it keeps state" in noise
    assert "have no value while the function is traced" in Dataset.from_tensors("a").map(lambda t: t + "b").explain()


def test_to_look_at_a_plan_runs_nothing() -> None:
    called: list[int] = []

    def noted(x: Any) -> Any:
        called.append(int(np.asarray(x)))
        return x

    dataset = Dataset.range(3).map(noted).batch(2)
    assert "types not known yet" in f"{dataset}{dataset!r}{dataset.explain()}"
    assert not called
    list(dataset)
    assert repr(dataset) == "<Dataset of int32[?], 2 elements>"
    assert called == [0, 1, 2]


def test_options_say_how_it_runs() -> None:
    options = Options(deterministic=False, optimize=False, prefetch=False)
    options.threading.private_threadpool_size = 3
    dataset = Dataset.range(4).map(in_python, num_parallel_calls=8).batch(2).with_options(options)
    assert "num_parallel_calls=3, deterministic=False" in dataset.explain()
    assert "prefetch" not in dataset.explain()
    assert dataset.take(1).options() is options
    assert sorted(int(x) for x in dataset.unbatch()) == [0, 1, 2, 3]
    with pytest.raises(InvalidArgumentError, match=r"expected gx\.data\.Options, got 3"):
        dataset.with_options(3)


def test_a_profile_names_the_bottleneck() -> None:
    dataset = Dataset.range(40).map(in_python).shuffle(4, seed=0).batch(4)
    lines = dataset.profile(5).splitlines()
    assert lines[0] == "5 steps, milliseconds a step"
    assert [line.split()[1].partition("(")[0] for line in lines[1:]] == [
        "range", "map", "shuffle", "batch", "prefetch", "waiting",
    ]  # fmt: skip
    assert "10 steps" in dataset.profile(100, step=lambda batch: batch + 1)
    record = NodeStatistics("map", [NodeStatistics("range", [], 1.0, 8)], 3.0, 8)
    assert list(profile_lines(record, 4, 0.2, 4.0))[1:] == [
        "    250.000  range (8 elements)",
        "    500.000  map (8 elements)",
        "     50.000  waiting for the input",
        "   1000.000  the step",
        "the bottleneck is the step",
    ]
    assert list(profile_lines(record, 4, 2.0, 4.0))[-1] == "the bottleneck is the input"


def test_progress(capsys: pytest.CaptureFixture[str]) -> None:
    assert [int(x) for x in gx.data.progress(Dataset.range(3), "reading")] == [0, 1, 2]
    assert "reading" in capsys.readouterr().out
