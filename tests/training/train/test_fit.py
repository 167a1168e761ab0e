"""fit: the same numbers as a loop by hand, and what happens at the ends of epochs."""

from __future__ import annotations

import csv
import math
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphc as gx

fit = gx.train.fit


class Program:
    """A network, its optimizer and its step, always the same."""

    def __init__(self) -> None:
        gx.random.seed(1)
        layers = [gx.layers.Dense(4, "tanh", in_features=3), gx.layers.Dropout(0.2), gx.layers.Dense(1, in_features=4)]
        self.model, self.optimizer = gx.layers.Sequential(layers), gx.optim.Adam(1e-2)
        self.optimizer.build(self.model.trainable_variables)
        self.step = gx.function(self.plain)

    def plain(self, x: Any, y: Any) -> Any:
        def loss() -> Any:
            return gx.mean((self.model(x, training=True) - y) ** 2)

        return self.optimizer.minimize(loss, self.model)

    def error(self, x: Any, y: Any) -> Any:
        return {"error": gx.mean(gx.abs(self.model(x) - y))}

    @property
    def weights(self) -> list[Any]:
        return [variable.numpy().tolist() for variable in (*self.model.variables, *self.optimizer.variables)]


def test_fit_does_what_a_loop_does_with_epochs_as_programs_or_not(capsys: Any) -> None:
    x = np.random.default_rng(0).random((27, 3), dtype=np.float32)

    def dataset() -> Any:
        return gx.data.Dataset.from_tensor_slices((x, x.sum(1, keepdims=True))).shuffle(27, seed=5).batch(8)

    by_hand, by_steps, by_epochs = Program(), Program(), Program()
    gx.random.seed(2)
    losses, data = [], dataset()
    for _ in range(4):
        found = [(len(x), by_hand.step(x, y).item()) for x, y in data]
        losses.append(sum(rows * loss for rows, loss in found) / 27)
    gx.random.seed(2)
    stepped = fit(by_steps.step, iter(dataset().repeat()), 4, steps=4, progress=False)
    assert stepped.how == ("a program for each step: the batches come from islice, and not from a gx.data.Dataset")
    assert len(stepped) == 4
    gx.random.seed(2)
    compiled = fit(by_epochs.step, dataset(), 4)
    assert compiled.how == "a program for each epoch, from the second on"
    np.testing.assert_allclose(compiled["loss"], losses, rtol=1e-5)
    for some, other in zip(by_epochs.weights, by_hand.weights, strict=True):
        np.testing.assert_allclose(some, other, rtol=1e-4, atol=1e-6)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(f"epoch 1/4  loss {losses[0]:.4g}  ")
    assert lines[1] == compiled.how
    assert lines[4].startswith("epoch 4/4  loss ")


def test_a_change_that_a_callback_makes_is_seen_by_epochs_as_programs() -> None:
    class Task:
        weight = 1.0

        def step(self, x: Any) -> Any:
            return gx.sum(x) * self.weight * factor

    class Anneal(gx.train.Callback):
        def epoch_end(self, *args: Any, **kwargs: Any) -> None:
            nonlocal factor
            task.weight, factor = task.weight + 1.0, factor + 1.0

    task, factor = Task(), 1.0
    dataset = gx.data.Dataset.from_tensor_slices(np.ones(2, np.float32)).batch(2)
    history = fit(gx.function(task.step), dataset, 4, callbacks=[Anneal()], progress=False)
    assert history.how == "a program for each epoch, from the second on"
    assert history["loss"] == [2.0, 8.0, 18.0, 32.0]


def test_why_epochs_are_no_programs_is_told() -> None:
    v, seen = gx.Variable(0.0), list[Any]()
    data = gx.data.Dataset.from_tensor_slices(np.array([[1.0], [2.0]], "float32"))

    class Watch(gx.train.Callback):
        def step_end(self, step: int, numbers: Any) -> None:
            seen.append((step, numbers["loss"].item()))

    step = gx.function(lambda x: v.assign_add(gx.sum(x)).value())
    cases: list[tuple[Any, Any, list[Any], str]] = [
        (lambda x: x[0], data, [], "the step is not a gx.function"),
        (step, [gx.asarray([1.0])], [], "the batches come from list, and not from a gx.data.Dataset"),
        (step, data, [Watch()], "a callback looks at each step"),
        (step, data.filter(lambda x: x[0] > 1.0), [], "the host feeds it the elements of the dataset, since "),
    ]
    for some, dataset, callbacks, reason in cases:
        history = fit(some, dataset, 2, callbacks=callbacks, progress=False)
        assert history.how.startswith(f"a program for each step: {reason}")
    assert seen[:3] == [(1, 3.0), (2, 5.0), (1, 6.0)]


def test_validation_and_early_stopping() -> None:
    v = gx.Variable(10.0)

    def step(x: Any) -> None:
        v.assign_sub(4.0)

    def distance(x: Any) -> Any:
        return {"distance": gx.mean(gx.abs(v - x))}

    stop = gx.train.EarlyStopping("val_distance", 2, best=[v])
    validation = (distance, [gx.asarray([2.0, 2.0, 2.0]), gx.asarray([6.0])])
    history = fit(step, [0.0], 10, validation=validation, callbacks=[stop], progress=False)
    assert history["val_distance"] == [3.0, 1.0, 5.0, 9.0]  # |v - 2| of three rows, |v - 6| of one
    assert v.item() == 2.0
    assert history.why_stopped == "val_distance is not better than 1, of epoch 2"
    assert history.best("val_distance") == 2
    assert history.best("val_distance", "max") == 4
    rising = gx.train.EarlyStopping("loss", 1, mode="max", min_delta=0.5)
    numbers = iter([1.0, 2.0, 2.4, 9.0])
    history = fit(lambda x: next(numbers), [0.0], 4, callbacks=[rising], progress=False)
    assert history["loss"] == [1.0, 2.0, 2.4]
    with pytest.raises(gx.errors.InvalidArgumentError, match="mode must be 'min' or 'max', got 'least'"):
        gx.train.EarlyStopping(mode="least")  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("kind", ["program", "steps"])
def test_a_resumed_fit_goes_on_with_the_epoch_after_the_checkpoint(tmp_path: Path, kind: str) -> None:
    x = np.random.default_rng(0).random((20, 3), dtype=np.float32)

    def run(folder: Path, epochs: int) -> list[Any]:
        program, history = Program(), gx.train.History()
        rows = gx.data.Dataset.from_tensor_slices((x, x[:, :1]))
        data: Any = rows.shuffle(20, seed=3).batch(8)
        checkpoint = gx.train.Checkpoint(folder, model=program.model, optimizer=program.optimizer, history=history)
        if checkpoint.latest is not None:
            checkpoint.restore()
        step = program.step if kind == "program" else lambda x, y: program.step(x, y)
        fit(step, data, epochs, validation=(program.error, rows.batch(20)), history=history, progress=False,
            callbacks=[gx.train.Checkpoints(checkpoint), gx.train.CSVLog(tmp_path / "logs" / "log.csv")])  # fmt: skip
        assert history.how.startswith("a program for each epoch" if kind == "program" else "a program for each step")
        return [history.values, program.weights]

    expected = run(tmp_path / "whole", 4)
    run(tmp_path / "parts", 2)
    assert run(tmp_path / "parts", 4) == expected
    with (tmp_path / "logs" / "log.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["epoch"] for row in rows] == ["1", "2", "3", "4"]
    assert [float(row["val_error"]) for row in rows] == expected[0]["val_error"]
    lonely = gx.train.Checkpoint(tmp_path / "lonely", v=gx.Variable(0.0))
    with pytest.raises(gx.errors.InvalidArgumentError, match="the checkpoint does not have the history that fit cont"):
        fit(lambda x: x, [1.0], callbacks=[gx.train.Checkpoints(lonely)], progress=False)


def test_the_position_in_a_shuffled_dataset_is_part_of_it(tmp_path: Path) -> None:
    def run(folder: Path, epochs: int) -> list[float]:
        batches = iter(gx.data.Dataset.range(20).shuffle(20, seed=3).repeat().batch(8))
        history = gx.train.History()
        checkpoint = gx.train.Checkpoint(folder, batches=batches, history=history)
        if checkpoint.latest is not None:
            checkpoint.restore()
        saving = gx.train.Checkpoints(checkpoint)
        fit(gx.sum, batches, epochs, steps=3, history=history, callbacks=[saving], progress=False)
        return history["loss"]

    expected = run(tmp_path / "whole", 3)
    run(tmp_path / "parts", 1)  # ends within a pass over the data
    assert run(tmp_path / "parts", 3) == expected


def test_logs_for_tensorboard(tmp_path: Path) -> None:
    from tensorboard.backend.event_processing.event_file_loader import LegacyEventFileLoader

    numbers = iter([4.0, 2.0, 1.0])
    log = gx.train.TensorBoard(tmp_path)
    fit(lambda x: next(numbers), [0.0], 3, validation=(lambda x: 8.0, [0.0]), callbacks=[log], progress=False)
    (file,) = tmp_path.glob("events*")
    events = [event for event in LegacyEventFileLoader(str(file)).Load() if event.HasField("summary")]
    found = [(event.step, {value.tag: value.simple_value for value in event.summary.value}) for event in events]
    assert found == [(epoch, {"loss": 2.0 ** (3 - epoch), "val_loss": 8.0}) for epoch in (1, 2, 3)]


def test_a_history_keeps_the_place_of_what_is_missing() -> None:
    history = gx.train.History()
    assert repr(history) == "<History of 0 epochs>"
    history.append({"a": 1.0})
    history.append({"b": 2.0})
    assert math.isnan(history["b"][0])
    assert history.last() == {"b": 2.0}
    assert repr(history) == "<History of 2 epochs: b=2>"
    with pytest.raises(gx.errors.NotFoundError, match="no epoch reported 'c'; there is 'a', 'b'"):
        history["c"]


def test_of_several_processes_the_first_tells(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    for module in ("callbacks", "fit"):
        monkeypatch.setattr(sys.modules[f"graphc.training.train.{module}"], "process_index", lambda: 1)
    logs = [gx.train.CSVLog(tmp_path / "log.csv"), gx.train.TensorBoard(tmp_path)]
    assert fit(lambda x: x, [1.0], callbacks=logs)["loss"] == [1.0]
    assert list(tmp_path.iterdir()) == []
    assert capsys.readouterr().out == ""


def test_a_step_may_return_nothing(tmp_path: Path) -> None:
    seen = list[Any]()
    history = fit(seen.append, [1.0, 2.0], 2, progress=False, callbacks=[gx.train.CSVLog(tmp_path / "log.csv")])
    assert seen == [1.0, 2.0, 1.0, 2.0]
    assert (len(history), history.values) == (2, {})
    assert (tmp_path / "log.csv").read_text().split() == ["epoch", "1", "2"]
    found = [0.0]
    update = gx.function(lambda x: None)
    data = gx.data.Dataset.from_tensor_slices(np.ones(3, "float32")).batch(2)
    assert fit(update, data, 3, validation=(lambda x: 1.0, found), progress=False).values == {"val_loss": [1.0] * 3}


def test_what_is_no_number_and_an_empty_dataset_are_refused() -> None:
    with pytest.raises(gx.errors.InvalidTypeError, match="the step returns loss = 'text', which is no number"):
        fit(lambda x: "text", [0.0], progress=False)
    with pytest.raises(gx.errors.InvalidArgumentError, match="the dataset of the step has no batches"):
        fit(lambda x: 0.0, [], progress=False)
    with pytest.raises(gx.errors.InvalidArgumentError, match="the dataset of the validation has no batches"):
        fit(lambda x: 0.0, [0.0], validation=(lambda x: 0.0, []), progress=False)


def test_a_model_for_a_step_and_a_dataset_for_a_pair_are_refused() -> None:
    models: list[Any] = [gx.layers.Dense(1), None]
    for model in models:
        with pytest.raises(
            gx.errors.InvalidTypeError, match=r"fit takes a step function, .* got (Dense|NoneType);"
        ) as caught:
            fit(model, [0.0], progress=False)
        assert "fit(model, [0.0]" in str(caught.value)
    data: Any = gx.data.Dataset.range(2)
    pairs: list[Any] = [data, (data, data), (len,)]
    for validation in pairs:
        with pytest.raises(gx.errors.InvalidTypeError, match=r"validation is a pair \(function, batches\): .* got \w+"):
            fit(lambda x: 0.0, data, validation=validation, progress=False)


@pytest.mark.parametrize(
    ("option", "remedy"),
    [
        ("optimizer", r"write a step that calls optimizer.minimize\(loss, model\): gx.train.fit\(step, dataset\)"),
        ("validation_data", r"write validation=\(function, dataset\)"),
        ("foo", "see its docstring"),
    ],
)
def test_options_of_keras_are_told_what_to_write(option: str, remedy: str) -> None:
    given: dict[str, Any] = {option: 1}
    with pytest.raises(gx.errors.InvalidTypeError, match=f"fit: there is no option '{option}': {remedy}"):
        fit(lambda x: 0.0, [0.0], progress=False, **given)


def test_progress_in_a_notebook_without_widgets_does_not_warn(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.modules["graphc.training.train.fit"], "find_spec", lambda name: None)
    monkeypatch.setattr("rich.console._is_jupyter", lambda: True)
    fit(lambda x: 1.5, [0.0], 2)  # warnings are errors
    assert "epoch 2/2  loss 1.5" in capsys.readouterr().out


def test_the_replicas_of_a_step_are_averaged() -> None:
    parallel = gx.distribute.DataParallel(["cpu:0", "cpu:1"])
    step = parallel.function(lambda x: {"mean": gx.mean(x)})
    assert fit(step, [gx.asarray([1.0, 3.0, 5.0, 7.0])], progress=False)["mean"] == [4.0]


def test_a_step_may_return_other_numbers_than_the_history_has() -> None:
    w, optimizer = gx.Variable(0.0), gx.optim.SGD(0.1)
    optimizer.build([w])

    @gx.function
    def step(x: Any) -> Any:
        loss = optimizer.minimize(lambda: gx.mean((w - x) ** 2), [w])
        return {"loss": loss, "twice": 2 * loss}

    history = gx.train.History()
    history.append({"loss": 1.0, "gone": 2.0})
    data = gx.data.Dataset.from_tensor_slices(np.arange(8, dtype=np.float32)).batch(4)
    gx.train.fit(step, data, epochs=3, history=history, progress=False)
    assert history.how == "a program for each step: the step returns loss, twice, and the history has loss, gone"
    assert history["twice"][1:] == [2 * loss for loss in history["loss"][1:]]
    assert history.last().keys() == {"loss", "twice"}
