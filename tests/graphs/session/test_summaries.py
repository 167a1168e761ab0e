"""Summaries and event files, read back by TensorBoard's own reader."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from graphc.compiler.base.errors import FailedPreconditionError, InvalidArgumentError, InvalidTypeError, NotFoundError
from graphc.compiler.ops import functions as gx
from graphc.graphs.session import FileWriter, Graph, GraphKeys, GraphVariable, Session, message, placeholder, summaries

pytest.importorskip("tensorboard")


def read(folder: Path) -> Any:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    found = EventAccumulator(str(folder))
    found.Reload()
    return found


def parsed(serialized: bytes) -> Any:
    return message("Summary").FromString(serialized)


def test_what_a_session_gives_is_what_tensorboard_reads(tmp_path: Path) -> None:
    with Graph().as_default() as graph:
        x = placeholder("float32", (3,), name="x")
        with graph.name_scope("train"):
            summaries.scalar("loss", gx.sum(x))
            summaries.scalar("loss", gx.sum(x), family="fam")
        summaries.histogram("weights", x)
        every = summaries.merge_all()
        some = summaries.merge_all(scope="train")
        assert every is not None
        assert some is not None
        with Session() as session, FileWriter(str(tmp_path), graph) as writer:
            for step in (3, 4):
                writer.add_summary(session.run(every, {x: [1.0, 2.0, step]}), step)
            assert len(parsed(session.run(some, {x: [1.0, 2.0, 3.0]})).value) == 2
    found = read(tmp_path)
    assert found.Tags()["scalars"] == ["train/loss", "fam/train/fam/loss"]
    assert [(event.step, event.value) for event in found.Scalars("train/loss")] == [(3, 6.0), (4, 7.0)]
    histogram = found.Histograms("weights")[-1].histogram_value  # it keeps the last one
    assert (histogram.min, histogram.max, histogram.num, histogram.sum) == (1.0, 4.0, 3.0, 7.0)
    nodes = {node.name: node for node in found.Graph().node}
    assert nodes["x"].op == "Placeholder"
    assert nodes["x"].attr["_output_shapes"].list.shape[0].dim[0].size == 3
    assert nodes["train/loss"].input[0].startswith("train/")


def test_variables_and_plain_values_are_summarized() -> None:
    with Graph().as_default(), Session() as session:
        w = GraphVariable([1.0, 2.0], name="w")
        made = [summaries.histogram("w", w), summaries.scalar("n", 3)]
        session.run(w.initializer)
        found = [parsed(one).value[0] for one in session.run(made)]
    assert [one.tag for one in found] == ["w_1", "n"]
    assert (found[0].histo.sum, found[1].simple_value) == (3.0, 3.0)


def test_histograms_have_tensorflows_buckets() -> None:
    values = np.array([1.0, 2.0, 3.0, -0.5, 0.0, 1e-13, 2.0, 50.0])
    with Graph().as_default() as graph, Session() as session:
        found = parsed(session.run(summaries.histogram("h", values))).value[0].histo
        assert graph.get_collection(GraphKeys.SUMMARIES)
    # As TensorFlow 2.21 has them for these values.
    assert list(found.bucket) == [0, 1, 0, 2, 0, 1, 0, 2, 0, 1, 0, 1, 0]
    assert found.bucket_limit[:4] == pytest.approx([-0.517761674, -0.470692431, 0, 1e-12])
    assert found.bucket_limit[-3:] == pytest.approx([45.665277614591687, 50.231805376050858, 1.7976931348623157e308])
    assert (found.sum, found.sum_squares, found.num) == (pytest.approx(57.5), pytest.approx(2518.25), 8)


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: summaries.scalar("s", np.ones(2)), InvalidArgumentError, r"'s': expected one number, got .* \(2,\)"),
        (lambda: summaries.histogram("h", np.array([np.nan])), InvalidArgumentError, "'h': a value is NaN or infinite"),
        (lambda: summaries.merge([summaries.scalar("s", 1.0)] * 2), InvalidArgumentError, "'s' is there twice"),
        (lambda: summaries.merge([]), InvalidArgumentError, "there are no summaries to merge"),
    ],
)
def test_what_is_no_summary_is_refused_when_it_runs(make: Any, error: type[Exception], text: str) -> None:
    with Graph().as_default(), Session() as session, pytest.raises(error, match=text):
        session.run(make())


def test_a_graph_without_summaries_has_nothing_to_merge() -> None:
    with Graph().as_default():
        assert summaries.merge_all() is None
        summaries.scalar("out", 1.0, collections=["mine"])
        assert summaries.merge_all() is None
        assert summaries.merge_all("mine") is not None


def test_a_writer_is_closed_and_opened_again(tmp_path: Path) -> None:
    writer = FileWriter(str(tmp_path), filename_suffix=".first")
    kind = message("Summary")
    writer.add_summary(kind(value=[kind.Value(tag="a", simple_value=1.0)]), np.int64(1))
    writer.flush()
    writer.close()
    writer.close()
    with pytest.raises(FailedPreconditionError, match=r"the FileWriter of '.*' is closed; call reopen\(\)"):
        writer.add_summary(kind())
    writer.reopen()
    with pytest.raises(InvalidTypeError, match=r"expected what session.run gives of a summary, got 'text'"):
        writer.add_summary("text")
    with pytest.raises(InvalidTypeError, match=r"expected a graph such as session.graph, got 1"):
        writer.add_graph(1)  # type: ignore[arg-type]
    writer.close()
    assert writer.get_logdir() == str(tmp_path)
    assert any(path.name.endswith(".first") for path in tmp_path.iterdir())


def test_without_tensorboard_the_extra_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "tensorboard.summary.writer.event_file_writer", None)
    with pytest.raises(NotFoundError, match=r"TensorBoard, which is not installed .*pip install 'graphc\[viz\]'"):
        FileWriter(str(tmp_path))
