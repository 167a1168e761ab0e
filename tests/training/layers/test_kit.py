"""The layers beyond Dense and Dropout: figures of Keras 3.15, training, mixed precision, replicas, bad input."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphc as gx
from graphc.compiler.base.errors import InvalidArgumentError, InvalidTypeError

layers = gx.layers


def wave(*shape: int, k: float = 1.0) -> Any:
    return np.sin(np.arange(np.prod(shape)) * k + 0.3).reshape(shape).astype("float32")


def figure(output: Any) -> tuple[tuple[int, ...], float]:
    """The shape, and one number in which each element of the output counts otherwise."""
    values = np.asarray(output.numpy(), "float64")
    return values.shape, float((values * np.cos(np.arange(values.size)).reshape(values.shape)).sum())


Case = tuple[Callable[[], gx.layers.Layer], Any, tuple[int, ...], float]
RECORDED: dict[str, Case] = {
    "conv": (lambda: layers.Conv1D(4, 3, strides=2, padding="same"), wave(2, 9, 3), (2, 5, 4), 1.0687884771),
    "dilated": (
        lambda: layers.Conv1D(4, 3, dilation_rate=2, activation="tanh"), wave(2, 9, 3), (2, 5, 4), 0.53546502433,
    ),
    "conv 2": (
        lambda: layers.Conv2D(4, (3, 2), strides=(2, 1), padding="same", use_bias=False), wave(2, 7, 6, 3),
        (2, 4, 6, 4), 3.60080926740,
    ),
    "groups": (lambda: layers.Conv2D(4, 3, groups=2), wave(2, 7, 6, 2), (2, 5, 4, 4), 5.0506173920),
    "max": (lambda: layers.MaxPooling1D(3, 2, padding="same"), wave(2, 8, 3), (2, 4, 3), -0.394152106),
    "mean": (lambda: layers.AveragePooling1D(3, 2, padding="same"), wave(2, 8, 3), (2, 4, 3), -0.408368702),
    "max 2": (lambda: layers.MaxPooling2D((2, 3)), wave(2, 7, 6, 3), (2, 3, 2, 3), -0.183220400),
    "mean 2": (lambda: layers.AveragePooling2D(2, padding="same"), wave(2, 7, 5, 3), (2, 4, 3, 3), 0.390401959),
    "global max": (lambda: layers.GlobalMaxPooling1D(), wave(2, 8, 3), (2, 3), -0.463407569),
    "global mean": (lambda: layers.GlobalAveragePooling1D(), wave(2, 8, 3), (2, 3), 0.0549751956),
    "global max 2": (lambda: layers.GlobalMaxPooling2D(keepdims=True), wave(2, 7, 6, 3), (2, 1, 1, 3), -0.2379774217),
    "global mean 2": (lambda: layers.GlobalAveragePooling2D(), wave(2, 7, 6, 3), (2, 3), -0.0020219817),
    "layer norm": (lambda: layers.LayerNormalization(), wave(2, 7, 6), (2, 7, 6), 20.9056558136),
    "layer norm 2": (
        lambda: layers.LayerNormalization(axis=(1, 2), epsilon=1e-5), wave(2, 7, 6), (2, 7, 6), 0.3017995100,
    ),
    "embedding": (lambda: layers.Embedding(5, 3), np.array([[1, 4], [0, 2]]), (2, 2, 3), 0.0),
}  # fmt: skip


@pytest.mark.parametrize("name", RECORDED)
def test_the_figures_are_those_of_keras(name: str) -> None:
    make, x, shape, wanted = RECORDED[name]
    layer = make()
    layer(x)
    for variable in layer.variables:
        variable.assign(wave(*variable.shape, k=0.7))
    if name == "embedding":
        wanted = float((wave(5, 3, k=0.7)[x].ravel() * np.cos(np.arange(12))).sum())
    found = figure(layer(x))
    assert found[0] == shape
    assert found[1] == pytest.approx(wanted, rel=1e-4, abs=2e-6)
    compiled = gx.function(layer)(gx.asarray(x))
    np.testing.assert_allclose(compiled.numpy(), layer(x).numpy(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("compiled", [False, True])
def test_batch_normalization_is_that_of_keras_in_training_and_after(compiled: bool) -> None:
    x, layer = wave(6, 4, 3), layers.BatchNormalization(momentum=0.9)
    layer.build(x.shape)
    assert layer.gamma is not None
    assert layer.beta is not None
    layer.gamma.assign(wave(3))
    layer.beta.assign(wave(3, k=2.0))
    run: Any = gx.function(layer) if compiled else layer
    assert figure(run(x, training=True)) == ((6, 4, 3), pytest.approx(11.20844640717786, rel=1e-5))
    run(x[:4] * 2, training=True)
    assert layer.moving_mean is not None
    assert layer.moving_variance is not None
    np.testing.assert_allclose(
        [layer.moving_mean.numpy(), layer.moving_variance.numpy()],
        [[0.00910559, 0.01455748, 0.00662529], [1.04814255, 0.99583495, 1.10905755]],
        rtol=1e-5,
    )
    assert figure(run(x)) == ((6, 4, 3), pytest.approx(8.213379752811717, rel=1e-5))
    other = layers.BatchNormalization(axis=1, center=False, scale=False)
    assert figure(other(x, training=True))[1] == pytest.approx(19.740306841672933, rel=1e-5)
    assert [name.rpartition("/")[2] for name in other.named_variables()] == ["moving_mean", "moving_variance"]


@pytest.mark.drawn(2)
@pytest.mark.parametrize("view", ["replica", "global"])
def test_fifty_steps_on_four_devices_normalise_by_the_whole_batch(view: str) -> None:
    x, y = wave(8, 5), wave(8, 1, k=3.0)

    def trained(parallel: gx.distribute.DataParallel) -> dict[str, Any]:
        gx.random.seed(1)
        with parallel.scope():
            parts = [layers.Dense(4, "tanh"), layers.BatchNormalization(), layers.Dense(1)]
            # Replicas draw numbers of their own; the global view draws those of one device.
            model = layers.Sequential(parts if view == "replica" else [*parts[:2], layers.Dropout(0.2), parts[2]])
            model(x)
            optimizer = gx.optim.Adam(0.02, global_clipnorm=0.5)
            optimizer.build(model.trainable_variables)
            mean = gx.metrics.Mean()

        def step(x: Any, y: Any) -> Any:
            loss = lambda: gx.losses.mean_squared_error(y, model(x, training=True))  # noqa: E731
            optimizer.minimize(loss, model)
            mean.update(x)

        run = parallel.function(step) if view == "replica" else gx.function(step)
        with parallel.scope():
            for number in range(50):
                rows = 6 if number % 3 == 2 else 8  # 6 rows do not divide by 4 devices
                batch = (x[:rows], y[:rows])
                run(*(parallel.shard(batch) if view == "global" else map(gx.asarray, batch)))
        return {**model.state_dict(), "mean": mean.result().numpy()}

    one = trained(gx.distribute.DataParallel(gx.devices()[:1]))
    several = trained(gx.distribute.DataParallel(gx.devices()[:4]))
    for name, values in one.items():
        np.testing.assert_allclose(several[name], values, rtol=2e-3, atol=2e-4, err_msg=name)


def test_a_frozen_layer_is_not_trained_and_thaws_as_it_was() -> None:
    frozen = layers.Sequential([layers.Dense(3), layers.BatchNormalization()])
    frozen.trainable = False  # before it has Variables
    model = layers.Sequential([frozen, layers.Dense(1)])
    x = gx.asarray(wave(8, 4))

    def make_step() -> Any:
        optimizer = gx.optim.SGD(0.1)

        @gx.function
        def step(x: Any) -> Any:
            with gx.GradientTape() as tape:
                loss = gx.sum(model(x, training=True) ** 2)
            weights = model.trainable_variables
            optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights, strict=True))
            return loss

        return step

    step = make_step()
    step(x)
    before = frozen.state_dict()
    assert len(frozen.variables) == 6
    assert frozen.trainable_variables == []
    assert len(model.trainable_variables) == 2
    step(x)
    assert all((array == before[name]).all() for name, array in frozen.state_dict().items())
    frozen.trainable = True
    assert [variable.trainable for variable in frozen.variables] == [True] * 4 + [False] * 2
    make_step()(x)
    assert not (frozen.state_dict()["dense/kernel"] == before["dense/kernel"]).all()
    with pytest.raises(InvalidTypeError, match=r"(?s)layer 'sequential': trainable must be True or.*test_kit.py"):
        model.trainable = 1  # pyright: ignore[reportAttributeAccessIssue]


def test_mixed_precision_computes_in_half_and_keeps_parameters_whole() -> None:
    seen: list[str] = []

    class Scale(layers.Layer):
        def build(self, input_shape: Any) -> None:
            self.factor = gx.Variable(gx.ones(input_shape[-1]))

        def call(self, x: Any) -> Any:
            seen.append((x * self.cast(self.factor)).dtype.name)
            return x * self.cast(self.factor)

    with layers.mixed_precision("bfloat16"):
        with layers.mixed_precision(None):
            plain = layers.Dense(1)
        parts = [layers.Dense(8, "tanh"), layers.BatchNormalization(), Scale(), layers.LayerNormalization(), plain]
        model = layers.Sequential(parts)
    x, y = gx.asarray(wave(8, 4)), wave(8, 1)
    with gx.GradientTape() as tape:
        loss = gx.losses.mean_squared_error(y, model(x, training=True))
    gradients = tape.gradient(loss, model.trainable_variables)
    assert seen == ["bfloat16"]
    assert {variable.dtype.name for variable in model.variables} == {"float32"}
    assert {gradient.dtype.name for gradient in gradients} == {"float32"}
    assert (loss.dtype.name, plain.compute_dtype, model.compute_dtype.name) == ("float32", None, "bfloat16")
    assert layers.Dense(1).compute_dtype is None
    whole = layers.Sequential([layers.Dense(8, "tanh"), layers.BatchNormalization(), layers.LayerNormalization()])
    half = layers.Sequential(model.layers[:2] + model.layers[3:4])
    whole(x)
    whole.load_state_dict(half.state_dict())
    np.testing.assert_allclose(half(x).numpy().astype("float32"), whole(x).numpy(), atol=0.05)
    with pytest.raises(InvalidArgumentError, match=r"(?s)mixed_precision: the dtype must be.*'int8'.*test_kit.py"):
        layers.mixed_precision("int8").__enter__()


def test_shapes_activations_and_numbers_of_categories() -> None:
    x = gx.asarray(wave(2, 6))
    assert layers.Flatten()(layers.Reshape((2, -1))(x)).tolist() == x.tolist()
    assert layers.Activation(gx.tanh)(x).tolist() == gx.tanh(x).tolist()
    assert np.isnan(layers.Embedding(3, 2)([-1, 3]).numpy()).all()


def test_a_summary_lists_layers_shapes_and_parameters(capsys: pytest.CaptureFixture[str]) -> None:
    frozen = layers.Dense(4, name="frozen")
    frozen.trainable = False
    model = layers.Sequential([layers.Flatten(), frozen, gx.nn.relu, layers.Dense(1000)])
    assert repr(layers.Sequential([layers.Dense(1), layers.Dense(1)])).endswith(": Dense 'dense', Dense 'dense_1'>")
    model.summary()
    printed = capsys.readouterr().out
    assert "not built" in printed
    assert "output" not in printed  # which only a call tells
    model.summary((2, 3))
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "Sequential 'sequential'"
    cells = [[cell.strip() for cell in line.split("│")[1:-1]] for line in lines if "│" in line]
    assert cells == [
        ["flatten", "Flatten", "(batch, 6)", "0"],
        ["frozen", "Dense", "(batch, 4)", "28"],
        ["dense", "Dense", "(batch, 1000)", "5,000"],
    ]
    assert lines[-1] == "5,028 parameters, 5,000 of them trained"


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda: layers.Conv2D(0, 3), InvalidArgumentError, "Conv2D: filters must be an int of at least 1, got 0"),
        (lambda: layers.Conv2D(2, (3,)), InvalidArgumentError, "Conv2D: kernel_size must be an int, or one for each"),
        (lambda: layers.Conv1D(2, 3, padding="causal"), InvalidArgumentError, "Conv1D: padding must be 'valid' or"),
        (lambda: layers.Conv1D(2, 3)(wave(2, 3)), InvalidArgumentError, r"layer 'conv1d' takes .*\(batch, width, cha"),
        (lambda: layers.Conv2D(2, 3, groups=2)(wave(1, 4, 4, 3)), InvalidArgumentError, "in 2 groups of as many"),
        (lambda: layers.MaxPooling2D()(wave(2, 3)), InvalidArgumentError, r"'maxpooling2d' takes .*got shape \(2, 3\)"),
        (lambda: layers.BatchNormalization(momentum=2), InvalidArgumentError, "momentum must be from 0 to 1, got 2"),
        (lambda: layers.BatchNormalization(axis=3)(wave(2, 3)), InvalidArgumentError, "takes a batch with channels"),
        (lambda: layers.LayerNormalization(axis=3)(wave(2, 3)), InvalidArgumentError, "normalises over the axes"),
        (lambda: layers.Embedding(3, 2)(wave(3)), InvalidTypeError, "layer 'embedding' takes integers"),
        (lambda: layers.Activation("rely"), InvalidArgumentError, "Activation: there is no activation 'rely'"),
        (lambda: layers.Flatten()(1.0), InvalidArgumentError, "layer 'flatten' takes a batch, got a scalar"),
    ],
)
def test_bad_input_is_refused_with_the_users_line(call: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=f"(?s){message}.*test_kit.py"):
        call()


def test_another_number_of_channels_than_the_first_is_refused() -> None:
    layer = layers.BatchNormalization()
    layer(wave(2, 3))
    with pytest.raises(InvalidArgumentError, match=r"takes 3 channels along axis -1, got shape \(2, 4\)"):
        layer(wave(2, 4))
