"""Metrics: figures of Keras 3.15 and of NumPy, over batches, weights, modes and devices; bad input."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import graphc as gx
from graphc.compiler.base.errors import InvalidArgumentError, InvalidTypeError, UnimplementedError

_RNG = np.random.default_rng(3)
LABELS = _RNG.integers(0, 2, 40)
SCORES = np.clip(_RNG.random(40) * 0.6 + LABELS * 0.3, 0, 1).astype("float32")
WEIGHTS = _RNG.random(40).astype("float32")

# What Keras gives for these, with the weights in batches of 25 and 15, and without weights.
RECORDED: dict[str, Any] = {
    "auc": (lambda: gx.metrics.AUC(), 0.8989119529724121, 0.8746867179870605),
    "auc 10": (lambda: gx.metrics.AUC(10), 0.8958878517150879, 0.8696741461753845),
    "precision-recall": (lambda: gx.metrics.AUC(curve="PR"), 0.8862682580947876, 0.8880941867828369),
    "precision": (lambda: gx.metrics.Precision(), 0.6229162812232971, 0.7368420958518982),
    "recalls": (lambda: gx.metrics.Recall([0.3, 0.7]), [1.0, 0.312228262424469], [1.0, 0.31578946113586426]),
    "binary": (lambda: gx.metrics.BinaryAccuracy(threshold=0.4), 0.6818034648895264, 0.699999988079071),
}


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("name", RECORDED)
def test_the_figures_are_those_of_keras(name: str, compiled: bool) -> None:
    make, weighted, plain = RECORDED[name]
    metric = make()
    update = gx.function(metric.update) if compiled else metric.update
    for rows in (slice(25), slice(25, None)):
        update(gx.asarray(LABELS[rows]), gx.asarray(SCORES[rows]), sample_weight=gx.asarray(WEIGHTS[rows]))
    np.testing.assert_allclose(metric.result().numpy(), weighted, rtol=1e-6)
    metric.reset()
    metric.update_state(LABELS[:, None], SCORES)
    np.testing.assert_allclose(metric.result().numpy(), plain, rtol=1e-6)
    metric.reset_state()
    assert not metric.result().numpy().any()  # without rows


def test_classes_are_compared_by_number_by_score_and_by_row() -> None:
    rng = np.random.default_rng(0)
    scores, labels = rng.normal(size=(30, 4)).astype("float32"), rng.integers(0, 4, 30)
    right = (scores.argmax(-1) == labels).mean()
    sparse, categorical = gx.metrics.SparseCategoricalAccuracy(), gx.metrics.CategoricalAccuracy()
    plain, matrix = gx.metrics.Accuracy(), gx.metrics.ConfusionMatrix(4)
    for rows in (slice(8), slice(8, 30)):
        assert 0 <= sparse(labels[rows, None], scores[rows]).item() <= 1
        categorical.update(np.eye(4)[labels[rows]], scores[rows])
        plain.update(labels[rows], scores[rows].argmax(-1))
        matrix.update(labels[rows], scores[rows])
    assert [metric.result().item() for metric in (sparse, categorical, plain)] == [pytest.approx(right)] * 3
    counts = np.zeros((4, 4))
    np.add.at(counts, (labels, scores.argmax(-1)), 1)
    assert matrix.result().tolist() == counts.tolist()
    matrix.update([4], [0])
    assert np.isnan(matrix.result().numpy()).all()


@pytest.mark.parametrize("compiled", [False, True])
def test_counts_stay_exact_where_float32_stops_counting(compiled: bool) -> None:
    mean = gx.metrics.Mean()

    @gx.function
    def many(values: Any) -> None:
        for _ in range(100):
            mean.update(values)

    mean.update([2.0**25], sample_weight=[0.5])
    mean.update([1.0], sample_weight=[2.0**24])
    run = many if compiled else many.python_function
    run(gx.asarray([1.0]))
    total, weight = (sum(mean.named_variables()[key].numpy().astype("float64")) for key in ("total", "weight"))
    assert (total, weight) == (2**25 + 100, 2**24 + 100.5)


def test_weights_and_values_are_summed_in_float32() -> None:
    mean, half = gx.metrics.Mean(), np.full(4, 40000, "float16")
    mean.update(np.arange(4, dtype="float16"), sample_weight=half)  # whose sum float16 does not have
    assert mean.result().item() == 1.5
    with gx.config.scope(enable_x64=True):
        wide = gx.metrics.Mean()
        wide.update(np.arange(4.0), sample_weight=np.ones(4))
        assert wide.result().dtype == "float32"


def test_several_axes_and_weights_for_rows() -> None:
    mean, values = gx.metrics.Mean(), np.arange(6.0, dtype="float32").reshape(3, 2)
    mean.update(values, sample_weight=[1.0, 0.0, 2.0])
    assert mean.result().item() == pytest.approx(np.average(values, weights=[[1, 1], [0, 0], [2, 2]]))
    mean.reset()
    gx.function(mean.update)(gx.asarray(4.0), gx.asarray(0.5))  # scalars
    assert mean.result().item() == 4.0


def test_metrics_of_parts_are_merged_saved_and_loaded() -> None:
    parts = [gx.metrics.AUC(20) for _ in range(3)]
    whole = gx.metrics.AUC(20)
    whole.update(LABELS, SCORES)
    for part, rows in zip(parts, (slice(10), slice(10, 11), slice(11, 40)), strict=True):
        part.update(LABELS[rows], SCORES[rows])
    parts[0].merge(parts[1:])
    assert parts[0].result().item() == whole.result().item()
    parts[1].load_state_dict(whole.state_dict())
    assert parts[1].result().item() == whole.result().item()
    with pytest.raises(InvalidTypeError, match="auc: merge takes metrics of the same kind, got <Mean 'mean'>"):
        whole.merge(gx.metrics.Mean())
    with pytest.raises(InvalidTypeError, match="auc: merge takes metrics of the same kind, got <AUC 'auc'>"):
        whole.merge([gx.metrics.AUC(21)])


def test_updates_by_several_threads_all_count() -> None:
    count, start = 100, threading.Barrier(4)
    metrics = [gx.metrics.Mean(), _Halves(), gx.metrics.ConfusionMatrix(2)]

    def work() -> None:
        start.wait()
        for _ in range(count):
            for metric in metrics:
                metric.update(*[[1, 0]] * (2 if metric is metrics[2] else 1))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [metrics[0].total(key).item() for key in ("total", "weight")] == [4 * count, 8 * count]
    assert metrics[1].total("weight").item() == 4 * count
    assert metrics[2].result().tolist() == [[4 * count, 0], [0, 4 * count]]


class _Halves(gx.metrics.Mean):
    """A mean with half the weights."""

    def sums(self, *values: Any, **options: Any) -> Any:
        return {key: total / 2 for key, total in super().sums(*values, **options).items()}


def test_a_class_that_overrides_sums_adds_its_own() -> None:
    halves, half = _Halves(), np.asarray(0.5)
    for update in (halves.update, gx.function(halves.update)):
        update([1.0, 3.0])
    update([5.0], sample_weight=half)
    assert [halves.total(key).item() for key in ("total", "weight")] == [5.25, 2.25]
    assert halves.sums([4.0])["total"].item() == 2.0


def test_sums_of_another_shape_are_refused() -> None:
    class Wrong(gx.metrics.Metric):
        def sums(self, values: Any) -> Any:
            return {"total": values, "count": 1}

    metric = Wrong(shapes={"count": (), "total": ()})
    with pytest.raises(
        InvalidArgumentError, match=r"(?s)shape \(2, 2\) given, shape \(2,\) expected.*test_standard.py"
    ):
        metric.update(gx.ones(2))
    metric.update(gx.asarray(1.5))
    assert [metric.total(key).item() for key in ("total", "count")] == [1.5, 1.0]


def test_replicas_add_up_their_rows() -> None:
    parallel = gx.distribute.DataParallel(gx.devices()[:4])
    with parallel.scope():
        metric = gx.metrics.AUC()

    def update(y: Any, scores: Any, weights: Any) -> None:
        metric.update(y, scores, sample_weight=weights)

    parallel.run(update, *(gx.asarray(value) for value in (LABELS, SCORES, WEIGHTS)))
    assert metric.result().item() == pytest.approx(RECORDED["auc"][1])


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda: gx.metrics.AUC(curve="ROCK"), InvalidArgumentError, "AUC: curve must be 'ROC' or 'PR', got 'ROCK'"),  # pyright: ignore
        (lambda: gx.metrics.AUC(1), InvalidArgumentError, "AUC: num_thresholds must be an int of at least 2, got 1"),
        (lambda: gx.metrics.Recall([True]), InvalidArgumentError, "recall: a threshold must be a number, got True"),
        (lambda: gx.metrics.ConfusionMatrix(0), InvalidArgumentError, "ConfusionMatrix: num_classes must be an int of"),
        (
            lambda: gx.metrics.Recall().update([1, 0, 1], [0.5, 0.2]),
            InvalidArgumentError,
            r"recall: .*labels have shape \(3,\) and predictions \(2,\); they must be equal",
        ),
        (lambda: gx.metrics.Mean().update(["a"]), InvalidTypeError, "mean: .*strings"),
        (lambda: gx.metrics.Metric(shapes={}).update(), UnimplementedError, "Metric is a Metric without a sums"),
        (lambda: gx.metrics.Metric(shapes={}).result(), UnimplementedError, "Metric is a Metric without a result"),
    ],
)
def test_bad_input_is_refused_with_the_users_line(call: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=f"(?s){message}.*test_standard.py"):
        call()
