"""Pipelines: stages on a device each, micro-batch after micro-batch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphc as gx
from graphc.compiler.runtime import Event, Timeline
from graphc.training.distribute import Pipeline
from graphc.training.distribute.pipeline import _order  # pyright: ignore[reportPrivateUsage]
from tests.draws import examples

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(10, 6)).astype(np.float32)  # 10 rows are 4 micro-batches of 2, 3, 2 and 3
Y = RANDOM.normal(size=(10, 1)).astype(np.float32)


def layers() -> list[Any]:
    gx.random.seed(0)
    return [gx.layers.Dense(8, "relu"), gx.layers.Dense(4, "tanh"), gx.layers.Dense(1)]


def error(out: Any, y: Any) -> Any:
    return gx.mean((out - y) ** 2)


def on_one_device() -> list[float]:
    stages, optimizer = layers(), gx.optim.Adam(0.01)

    @gx.function
    def step(x: Any, y: Any) -> Any:
        with gx.GradientTape() as tape:
            for stage in stages:
                x = stage(x)
            loss = error(x, y)
        variables = [variable for stage in stages for variable in stage.trainable_variables]
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
        return loss

    return [step(X, Y).item() for _ in range(3)]


@pytest.mark.drawn(2)
@pytest.mark.parametrize(
    ("schedule", "wrap"), [("gpipe", gx.function), ("1f1b", gx.function), ("1f1b", gx.do_not_convert)]
)
def test_a_pipeline_trains_as_one_device_does(
    schedule: Literal["gpipe", "1f1b"], wrap: Callable[[Any], Callable[..., Any]]
) -> None:
    pipeline, optimizer = Pipeline(layers(), microbatches=4, schedule=schedule), gx.optim.Adam(0.01)

    def step(x: Any, y: Any) -> Any:
        loss, pairs = pipeline.value_and_grad(error, x, y)
        optimizer.apply_gradients(pairs)
        return loss

    run = wrap(step)
    np.testing.assert_allclose([run(X, Y).item() for _ in range(3)], on_one_device(), rtol=1e-5)
    assert [variable.device[-1] for stage in pipeline.stages for variable in stage.variables] == list("001122")  # pyright: ignore[reportFunctionMemberAccess]
    out = pipeline(X)
    assert out.shape == (10, 1)
    np.testing.assert_allclose(out.numpy(), forward(pipeline.stages), rtol=1e-5)
    assert pipeline(X[:2]).shape == (2, 1)  # fewer rows than micro-batches


def forward(stages: Any) -> Any:
    x = gx.asarray(X)
    for number, stage in enumerate(stages):
        with gx.device(f"cpu:{number}"):
            x = stage(x)
    return x.numpy()


def test_stages_of_one_step_overlap() -> None:
    pipeline = Pipeline(layers(), microbatches=4)
    step = gx.function(lambda x, y: pipeline.value_and_grad(error, x, y)[0])  # pyright: ignore
    step(X, Y)
    segments = [text for text in gx.explain(step, X, Y).steps if text.startswith("segment")]
    first = [number for number, text in enumerate(segments) if text.endswith("CPU:0")]
    last = [number for number, text in enumerate(segments) if text.endswith("CPU:2")]
    assert min(last) < max(first)  # the last stage has begun before the first is done


@settings(max_examples=examples(40), deadline=None)
@given(st.sampled_from(["gpipe", "1f1b"]), st.integers(1, 5), st.integers(1, 6))
def test_each_step_is_done_once_and_after_what_it_needs(schedule: Any, stages: int, microbatches: int) -> None:
    done: list[tuple[int, int, bool]] = []
    most = [0] * stages
    for stage, number, is_forward in _order(schedule, stages, microbatches):
        if is_forward:
            assert stage == 0 or (stage - 1, number, True) in done
        else:
            assert (stage, number, True) in done
            assert stage == stages - 1 or (stage + 1, number, False) in done
        done.append((stage, number, is_forward))
        held = sum(1 if forward else -1 for where, _, forward in done if where == stage)
        most[stage] = max(most[stage], held)
    assert len(done) == len(set(done)) == 2 * stages * microbatches
    bound = [microbatches if schedule == "gpipe" else min(stages - stage, microbatches) for stage in range(stages)]
    assert most == bound


def test_the_bubble_is_predicted_and_measured() -> None:
    pipeline = Pipeline([gx.tanh, gx.tanh], microbatches=3)
    assert pipeline.bubble == 0.25
    timeline = Timeline()
    timeline.events = tuple(
        Event("step", "segment", f"/device:CPU:{stage}", stage + number, stage + number + 1)
        for stage in range(2)
        for number in range(3)
    )
    assert pipeline.measured_bubble(timeline) == 0.25
    with gx.profile() as found:
        gx.function(pipeline)(gx.ones((6, 2))).wait()
    assert 0 <= pipeline.measured_bubble(found) < 1
    with pytest.raises(gx.errors.InvalidArgumentError, match="nothing ran on /device:CPU:0, /device:CPU:1"):
        pipeline.measured_bubble(Timeline())


def test_stages_train_with_gradients_and_not_without() -> None:
    normalization = gx.layers.BatchNormalization()
    stages = [gx.layers.Sequential([gx.layers.Dropout(0.5), normalization]), gx.layers.Dense(1)]
    pipeline = Pipeline(stages, microbatches=2)
    step = gx.function(lambda x, y: pipeline.value_and_grad(error, x, y)[0])  # pyright: ignore
    first, second = (step(X, Y).item() for _ in range(2))
    assert first != second  # other units are dropped
    moved = normalization.moving_mean.numpy()
    assert np.abs(moved).max() > 0
    assert pipeline(X).tolist() == pipeline(X).tolist()
    pipeline.value_and_grad(error, X, Y, training=False)
    assert normalization.moving_mean.tolist() == moved.tolist()


def test_what_cannot_be_piped_is_refused() -> None:
    cases: list[tuple[Callable[[], Any], str]] = [
        (lambda: Pipeline([], microbatches=1), "0 stages need the same number of devices, at least one; there are 0"),
        (lambda: Pipeline([gx.tanh], microbatches=0), "microbatches must be a number of at least 1, got 0"),
        (lambda: Pipeline([gx.tanh], microbatches=1, devices=["cpu:0", "cpu:1"]), "1 stages need .* there are 2"),
        (lambda: Pipeline([gx.tanh], microbatches=1, schedule="zero"), "'gpipe' or '1f1b', got 'zero'"),  # pyright: ignore
        (
            lambda: Pipeline([gx.tanh], microbatches=3)(gx.ones(())),
            "the same number of rows along their first axis, got 0",
        ),
        (lambda: Pipeline([gx.tanh], microbatches=1).value_and_grad(error, X, Y[:4]), "equally many rows.*got 4, 10"),
    ]
    cases.append(
        (
            lambda: Pipeline([gx.tanh], microbatches=2).value_and_grad(lambda o, y: (o - y) ** 2, X, Y),  # pyright: ignore
            r"the loss of a micro-batch must be one number, its rows' mean; got f32\[5,6\]",
        )
    )
    for call, message in cases:
        with pytest.raises(gx.errors.InvalidArgumentError, match=message):
            call()
    stages = layers()
    for stage, size in zip(stages, (6, 8, 4), strict=True):
        stage(gx.ones((1, size)))  # makes its Variables on the default device
    with pytest.raises(gx.errors.InvalidArgumentError, match=r"of stage 2 is on /device:CPU:0 and would"):
        Pipeline(stages, microbatches=2).value_and_grad(error, X, Y)


def test_stages_pass_gradients_through_half_precision_and_past_what_is_not_used() -> None:
    x, y = np.ones((4, 2), np.float32), np.zeros((4, 3), np.float32)

    def first_gradient(last: Any) -> Any:
        with gx.layers.mixed_precision("bfloat16"):
            first = gx.layers.Dense(3, use_bias=False, kernel_initializer="ones")
        pipeline = Pipeline([first, last], microbatches=2)
        _, pairs = pipeline.value_and_grad(lambda out, y: gx.sum(gx.astype(out, "float32") - y), x, y)
        return {variable.name: gradient.tolist() for gradient, variable in pairs}[first.kernel.name]

    assert first_gradient(lambda h: h * 3) == [[6.0] * 3] * 2
    assert first_gradient(lambda h: gx.ones(h.shape)) == [[0.0] * 3] * 2
