"""Programs as users write them, with the types that editors and type checkers see.

``make check`` checks them, in the mode that editors start with.
"""

# pyright: basic, reportUnnecessaryTypeIgnoreComment=true

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, assert_type

import numpy as np

import graphc as gx


@gx.function
def scaled(x: gx.Tensor, factor: float = 2.0) -> gx.Tensor:
    return x * factor


@gx.function(unroll=True, name="statistics")
def statistics(x: gx.Tensor) -> tuple[gx.Tensor, dict[str, gx.Tensor]]:
    return gx.mean(x), {"std": gx.std(x)}


class Model:
    def __init__(self) -> None:
        self.w = gx.Variable([[1.0], [2.0]], name="w")
        self.layer = gx.layers.Dense(1)

    @gx.function
    def predict(self, x: gx.Tensor, *, training: bool = False) -> gx.Tensor:
        return self.layer(x, training=training) + x @ self.w

    def loss(self, x: gx.Tensor) -> gx.Tensor:
        return gx.mean(self.predict(x) ** 2)


def compiled_functions() -> None:
    x = gx.asarray([1.0, 2.0])
    assert_type(scaled(x), gx.Tensor)
    assert_type(scaled(x, factor=3.0), gx.Tensor)
    assert_type(statistics(x), tuple[gx.Tensor, dict[str, gx.Tensor]])
    graph = scaled.graph(x)
    assert_type(graph, gx.ir.Graph)
    assert_type(scaled.num_traces, int)
    assert_type(scaled.python_function(x), Any)


def methods() -> None:
    model, x = Model(), gx.asarray([[1.0, 2.0]])
    assert_type(model.predict(x), gx.Tensor)
    assert_type(model.predict(x, training=True), gx.Tensor)
    assert_type(Model.predict(model, x), gx.Tensor)
    assert_type(model.predict.num_traces, int)


if TYPE_CHECKING:  # what they are to refuse
    scaled("text")  # pyright: ignore[reportArgumentType]
    scaled()  # pyright: ignore[reportCallIssue]
    scaled(gx.ones(2), scale=3.0)  # pyright: ignore[reportCallIssue]
    statistics(gx.ones(2)).numpy()  # pyright: ignore[reportAttributeAccessIssue]
    Model().predict(gx.ones(2), train=True)  # pyright: ignore[reportCallIssue]
    gx.sum(gx.ones(2), keepdim=True)  # pyright: ignore[reportCallIssue]


def gradients() -> None:
    def loss(w: gx.Tensor, x: gx.Tensor) -> gx.Tensor:
        return gx.sum(w * x)

    w, x = gx.asarray([1.0]), gx.asarray([2.0])
    value, gradient = gx.value_and_grad(loss)(w, x)
    assert_type(value, gx.Tensor)
    assert_type(gradient, Any)
    assert_type(gx.grad(loss)(w, x=x), Any)
    gx.grad(lambda x: x**2)(2.0)

    @gx.custom_gradient
    def clipped(x: gx.Tensor) -> tuple[gx.Tensor, Callable[[gx.Tensor], gx.Tensor]]:
        return x, lambda upstream: gx.clip(upstream, -1.0, 1.0)

    assert_type(clipped(x), gx.Tensor)
    assert_type(gx.remat(loss)(w, x), gx.Tensor)
    with gx.GradientTape() as tape:
        tape.watch(w)
        y = loss(w, x)
    assert_type(tape, gx.GradientTape)
    assert_type(tape.gradient(y, w), Any)


def operators() -> None:
    x = gx.asarray([[1.0, 2.0], [3.0, 4.0]])
    for y in (x + 1, 2.0 * x, x @ x, x / 3, -x, abs(x), x**2, x > 1, x == x, x[0], x[:, None], x.T):
        assert_type(y, gx.Tensor)
    assert_type(x.shape, tuple[int, ...])
    assert_type(x.dtype, np.dtype[Any])
    assert_type(x.ndim, int)
    assert_type(x.numpy(), np.ndarray[Any, Any])
    assert_type(float(x[0, 0]), float)
    assert_type(bool(x[0, 0] > 1), bool)
    for row in x:
        assert_type(row, gx.Tensor)


def functions_of_the_table() -> None:
    x = gx.asarray([[1.0, 2.0], [3.0, 4.0]])
    assert_type(gx.sum(x, axis=0, keepdims=True), gx.Tensor)
    assert_type(gx.nn.softmax(x), gx.Tensor)
    assert_type(gx.linalg.qr(x).Q, gx.Tensor)
    assert_type(gx.unique_values(x, size=3), gx.Tensor)
    assert_type(gx.fft.fft(x), gx.Tensor)
    assert_type(gx.special.erf(x), gx.Tensor)
    assert_type(gx.lax.rsqrt(x), gx.Tensor)
    assert_type(gx.random.normal((2, 3)), gx.Tensor)
    assert_type(gx.split(x, 2), tuple[gx.Tensor, ...])


def variables() -> None:
    v = gx.Variable(1.0, name="v")
    assert_type(v + 1, gx.Tensor)
    assert_type(v * v, gx.Tensor)
    assert_type(v.value(), gx.Tensor)
    assert_type(v.assign(2.0), gx.Variable)
    assert_type(v.assign_add(1.0), gx.Variable)
    assert_type(v.name, str)
    assert_type(v.trainable, bool)


def layers_and_training() -> None:
    x = gx.asarray([[1.0, 2.0]])
    model = gx.layers.Sequential([gx.layers.Dense(4, "relu"), gx.layers.Dropout(0.5), gx.layers.Dense(1)])
    assert_type(model(x), gx.Tensor)
    assert_type(gx.layers.Dense(3)(x, training=True), gx.Tensor)
    assert_type(gx.layers.LayerNormalization()(np.ones((2, 3), np.float32)), gx.Tensor)
    assert_type(model.trainable_variables, list[gx.Variable])
    assert_type(gx.losses.mean_squared_error(x, x), gx.Tensor)
    optimizer = gx.optim.Adam(0.1)
    optimizer.apply([x[0]], [gx.Variable([1.0, 2.0])])


def datasets() -> None:
    dataset = gx.data.Dataset.range(6).shuffle(6).batch(2).map(lambda x: x + 1).prefetch(1)
    assert_type(dataset, gx.data.Dataset)
    for batch in dataset:
        assert_type(batch, Any)


def serving() -> None:
    with gx.serve.Replicas(scaled, max_batch=1, devices=["cpu:0"]) as replicas:
        answer = replicas.submit(np.ones((1, 2), np.float32))
        assert_type(answer, gx.serve.Answer)


PROGRAMS = (
    compiled_functions, methods, gradients, operators, functions_of_the_table, variables, layers_and_training, datasets,
    serving,
)  # fmt: skip
