"""8-bit weights: what they take, what they change, and that programs read integers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphc as gx
from graphc.training.layers import Conv2D, Dense, Embedding, Flatten, Sequential, quantize


def test_a_trained_network_keeps_its_accuracy_on_digits() -> None:
    from sklearn.datasets import load_digits

    images, labels = load_digits(return_X_y=True)
    x, y = (images / 16).astype(np.float32), labels.astype(np.int32)
    gx.random.seed(0)
    model, optimizer = Sequential([Dense(64, "relu"), Dense(10)]), gx.optim.Adam(1e-2)

    @gx.function
    def step(x: Any, y: Any) -> Any:
        with gx.GradientTape() as tape:
            loss = gx.losses.sparse_softmax_cross_entropy(y, model(x))
        weights = model.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights, strict=True))
        return loss

    for _ in range(60):
        step(x[:1200], y[:1200])
    data = gx.data.Dataset.from_tensor_slices((x[1200:], y[1200:])).batch(200)
    small, report = quantize(model, data=data, metric=gx.metrics.SparseCategoricalAccuracy())
    assert report.before is not None
    assert report.after is not None
    assert report.before > 0.88
    assert abs(report.after - report.before) < 0.01
    assert report.bytes_before == 4 * (64 * 64 + 64 + 64 * 10 + 10)
    assert report.bytes_after == 64 * 64 + 4 * 64 + 4 * 64 + 64 * 10 + 4 * 10 + 4 * 10
    assert all(0 < weight.error < 0.02 for weight in report.weights)
    assert [weight.name for weight in report.weights] == ["dense/kernel", "dense_1/kernel"]
    assert "2 weights in 8 bits: 19,240 bytes to 5,328 (28%)" in str(report)
    assert f"{report.before:.4f} before" in str(report)

    compiled = gx.function(small.__call__)
    np.testing.assert_allclose(compiled(x[:5]).numpy(), small(x[:5]).numpy(), rtol=1e-5, atol=1e-5)
    assert "i8[64,64]" in str(compiled.graph(x[:5])), "the program reads integers"
    np.testing.assert_allclose(small(x[:5]).numpy(), model(x[:5]).numpy(), atol=0.3)
    assert set(small.state_dict()) == {
        f"{name}/{part}" for name in ("dense", "dense_1") for part in ("kernel/values", "kernel/scale", "bias")
    }
    small.load_state_dict(small.state_dict())
    alone = quantize(model, data=(x[1200:], y[1200:]), metric=gx.metrics.SparseCategoricalAccuracy())[1]
    assert alone.after == pytest.approx(report.after)


def test_each_channel_has_its_own_scale_and_rounds_to_the_nearest_step() -> None:
    layer = Dense(3, in_features=4, use_bias=False)
    kernel = np.array([[127, 0, 1000], [-127, 0, 4], [3.4, 0, -500], [0.6, 0, 0]], np.float32)
    layer.kernel.assign(kernel)  # pyright: ignore[reportOptionalMemberAccess]
    small, report = quantize(layer)
    np.testing.assert_array_equal(small.kernel.values.numpy(), [[127, 0, 127], [-127, 0, 1], [3, 0, -64], [1, 0, 0]])
    np.testing.assert_allclose(small.kernel.scale.numpy(), [1, 1, 1000 / 127])
    assert np.all(np.abs(small.kernel.dequantized().numpy() - kernel) <= small.kernel.scale.numpy() / 1.999)
    assert report.weights[0].bytes_after == 12 + 12
    np.testing.assert_array_equal(layer.kernel.numpy(), kernel)  # pyright: ignore[reportOptionalMemberAccess]


def test_convolutions_embeddings_layers_of_users_and_shared_weights() -> None:
    class Own(gx.layers.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.weight = gx.Variable(np.eye(3, dtype=np.float32) / 3)
            self.same = self.weight

        def call(self, x: Any) -> Any:
            return x @ self.weight + gx.matmul(x, self.same)

    x = np.random.default_rng(0).normal(size=(2, 5, 5, 1)).astype(np.float32)
    for model, value in (
        (Sequential([Conv2D(4, 3), Flatten()]), x),
        (Embedding(7, 3), np.array([[0, 6], [2, 2]])),
        (Own(), x[0, :, :3, 0]),
    ):
        expected = model(value).numpy()
        small, report = quantize(model)
        np.testing.assert_allclose(small(value).numpy(), expected, atol=0.02)
        np.testing.assert_array_equal(model(value).numpy(), expected)
        assert len(report.weights) == 1


def test_what_cannot_be_quantized_is_refused() -> None:
    model = Dense(2, in_features=2)
    for kind, message, arguments in (
        (gx.errors.InvalidTypeError, "expected a layer or a model of layers, got 3", {"model": 3}),
        (gx.errors.UnimplementedError, "8 bits wide, not 4", {"model": model, "bits": 4}),
        (gx.errors.FailedPreconditionError, "'dense' has no floating Variables .* call it once", {"model": Dense(2)}),
        (gx.errors.InvalidArgumentError, "give both data and metric", {"model": model, "data": []}),
        (
            gx.errors.InvalidArgumentError,
            "data has no batches",
            {"model": model, "data": [], "metric": gx.metrics.Accuracy()},
        ),
    ):
        with pytest.raises(kind, match=message):
            quantize(**arguments)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_weights_that_are_not_finite_are_refused_by_name(bad: float) -> None:
    model = Sequential([Dense(2, in_features=2), Dense(2, in_features=2, name="last")])
    kernel: Any = model.layers[1].kernel  # pyright: ignore[reportAttributeAccessIssue]
    kernel.assign([[1.0, bad], [0.0, 2.0]])
    with pytest.raises(gx.errors.FailedPreconditionError, match="1 of 4 numbers of 'last/kernel' are NaN, infinite"):
        quantize(model)


def test_complex_weights_stay_as_they_are() -> None:
    class Rotated(gx.layers.Layer):
        def __init__(self) -> None:
            super().__init__()
            self.turn = gx.Variable(np.array([[1j, 2], [3, 4j]], np.complex64))
            self.kernel = gx.Variable(np.ones((2, 2), np.float32))

    small, report = quantize(Rotated())
    assert [weight.name for weight in report.weights] == ["kernel"]
    np.testing.assert_array_equal(small.turn.numpy(), [[1j, 2], [3, 4j]])
