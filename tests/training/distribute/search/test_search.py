"""``search``: trials on several devices, in grids and draws; errors, early stops, and going on from a file."""

from __future__ import annotations

import json
import math
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphc as gx
from graphc.training.distribute import Halving, integers, log_uniform, search, uniform


def falling(config: dict[str, Any]) -> Iterator[float]:
    for step in range(9):
        yield config["level"] / (step + 1)


def test_networks_are_trained_one_on_each_device_at_the_same_time() -> None:
    together = threading.Barrier(2)
    x = np.linspace(-1, 1, 32, dtype=np.float32)[:, None]

    def train(config: dict[str, Any]) -> Any:
        together.wait(60)  # only two trials that run at once get past this
        layers = [gx.layers.Dense(8, "tanh"), gx.layers.Dropout(0.1), gx.layers.Dense(1)]
        model, optimizer = gx.layers.Sequential(layers), gx.optim.SGD(config["rate"])

        @gx.function
        def step(x: Any) -> Any:
            with gx.GradientTape() as tape:
                loss = gx.mean((model(x, training=True) - 2 * x) ** 2)
            weights = model.trainable_variables
            optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights, strict=True))
            return loss

        for _ in range(10):
            yield {"loss": step(x), "accuracy": 0.5}
        return {weight.device for weight in model.trainable_variables}

    found = search(train, {"rate": [0.1, 1e-9]}, devices=["cpu:1", "cpu:2"])
    assert [trial.status for trial in found.trials] == ["done"] * 2
    assert {trial.device for trial in found.trials} == {"/device:CPU:1", "/device:CPU:2"}
    for trial in found.trials:
        assert trial.result == {trial.device}
    assert found.best.config["rate"] == 0.1
    assert found.best.metrics["accuracy"] == 0.5
    assert found.steps == 20


def test_a_grid_has_all_combinations_and_draws_come_from_the_seed() -> None:
    grid = search(lambda config: config["a"] * config["b"], {"a": [1, 2], "b": (3, 4), "c": "same"}, mode="max")
    assert [(trial.config["a"], trial.config["b"], trial.value) for trial in grid.trials] == [
        (1, 3, 3.0), (1, 4, 4.0), (2, 3, 6.0), (2, 4, 8.0),
    ]  # fmt: skip
    assert grid.best.config == {"a": 2, "b": 4, "c": "same"}
    space = {
        "rate": log_uniform(1e-4, 1e-1),
        "drop": uniform(0, 0.5),
        "layers": integers(1, 3),
        "kind": ["a", "b"],
        "own": lambda rng: float(rng.normal()),
    }
    one, same, other = (search(lambda config: 0.0, space, trials=200, seed=seed) for seed in (1, 1, 2))
    drawn = [trial.config for trial in one.trials]
    assert drawn == [trial.config for trial in same.trials] != [trial.config for trial in other.trials]
    assert all(1e-4 <= config["rate"] <= 1e-1 and 0 <= config["drop"] <= 0.5 for config in drawn)
    assert {config["layers"] for config in drawn} == {1, 2, 3}
    assert {config["kind"] for config in drawn} == {"a", "b"}
    assert 0.3 < np.mean([config["rate"] < math.sqrt(1e-5) for config in drawn]) < 0.7


def test_hopeless_trials_are_stopped_and_closed() -> None:
    closed: list[float] = []

    def train(config: dict[str, Any]) -> Iterator[float]:
        try:
            yield from falling(config)
        finally:
            closed.append(config["level"])

    found = search(train, {"level": [1.0, *range(2, 10)]}, stop=Halving(), devices=["cpu:0"])
    assert sorted(closed) == list(range(1, 10))
    assert [trial.status for trial in found.trials] == ["done"] + 8 * ["stopped"]
    assert [len(trial.values) for trial in found.trials] == [9] + 8 * [1]
    least = search(train, {"level": list(range(1, 10))}, stop=Halving(), devices=["cpu:0"], mode="max", max_steps=4)
    assert [len(trial.values) for trial in least.trials] == 9 * [4], "each is the best so far"
    assert least.best.config == {"level": 9}


def test_the_error_of_a_trial_ends_that_trial_alone(tmp_path: Path) -> None:
    def train(config: dict[str, Any]) -> Iterator[Any]:
        yield 1.0
        if config["level"] == 2:
            raise ValueError("too deep")
        yield {"other": 1.0} if config["level"] == 3 else "text" if config["level"] == 4 else 0.5

    found = search(train, {"level": [1, 2, 3, 4]}, devices=["cpu:0", "cpu:0"])
    assert [trial.status for trial in found.trials] == ["done", "failed", "failed", "failed"]
    assert found.trials[1].error == "ValueError: too deep"
    assert "reported ['other'], but is judged by 'loss'" in found.trials[2].error
    assert "must yield its metric, a number or a dict of numbers, got 'text'" in found.trials[3].error
    assert found.best.number == 0
    text = str(found)
    assert "4 trials, 5 steps: 1 done, 0 stopped, 3 failed" in text
    assert "failed: ValueError: too deep" in text
    assert json.loads(json.dumps(found.to_dict()))["trials"][0]["values"] == [1.0, 0.5]
    found.plot(tmp_path / "trials.png")
    assert (tmp_path / "trials.png").stat().st_size > 1000


def test_without_a_number_there_is_no_best() -> None:
    def train(config: dict[str, Any]) -> float:
        raise RuntimeError("no data")

    with pytest.raises(
        gx.errors.FailedPreconditionError, match=r"none of the 2 trials .* raised RuntimeError: no data"
    ):
        search(train, {"a": [1, 2]}).best.value  # noqa: B018


def test_a_search_goes_on_from_its_file(tmp_path: Path) -> None:
    file, ran = tmp_path / "trials.jsonl", list[int]()

    def train(config: dict[str, Any]) -> Iterator[float]:
        ran.append(config["level"])
        if config["level"] == 3 and len(ran) <= 4:
            raise OSError("the disk is full")
        yield from falling(config)

    space = {"level": [1, 2, 3, 4]}
    first = search(train, space, stop=Halving(), devices=["cpu:0"], file=file)
    assert [trial.status for trial in first.trials] == ["done", "stopped", "failed", "stopped"]
    lines = file.read_text(encoding="utf-8").splitlines()
    file.write_text("\n".join(lines[:3]) + "\n" + lines[3][:20], encoding="utf-8")  # it ended while it wrote
    ran.clear()
    ran += [0] * 4
    second = search(train, space, stop=Halving(), devices=["cpu:0"], file=file)
    assert ran[4:] == [3, 4], "what failed is tried again, and what is not there"
    assert [trial.status for trial in second.trials] == ["done", "stopped", "stopped", "stopped"]
    assert second.trials[0].values == first.trials[0].values
    ran.clear()
    third = search(train, space, stop=Halving(), devices=["cpu:0"], file=file)
    assert not ran, "what was written after a line that was cut off is read"
    assert [trial.values for trial in third.trials] == [trial.values for trial in second.trials]
    with pytest.raises(
        gx.errors.FailedPreconditionError, match=r"line 1 of .*trials.jsonl is not a trial of this search"
    ):
        search(train, {"level": [5]}, file=file)
    with pytest.raises(gx.errors.InvalidTypeError, match="keeps configurations as JSON"):
        search(train, {"level": [object()]}, file=file)
    file.write_text("a note", encoding="utf-8")
    with pytest.raises(
        gx.errors.FailedPreconditionError, match=r"line 1 of .*trials.jsonl is not a trial of this search"
    ):
        search(train, space, file=file)
    assert file.read_text(encoding="utf-8") == "a note"


def test_a_deadline_ends_a_search() -> None:
    let_go = threading.Event()

    def train(config: dict[str, Any]) -> Iterator[float]:
        yield 1.0
        assert let_go.wait(60)
        yield 2.0

    late = pytest.raises(gx.errors.DeadlineExceededError, match=r"3 trials of a search, of which [012] run")
    with late, gx.deadline(0.2):
        search(train, {"a": [1, 2, 3]}, devices=["cpu:0", "cpu:1"])
    let_go.set()


@pytest.mark.parametrize(
    ("space", "options", "message"),
    [
        ({}, {}, "space must be a dict of what to choose"),
        ({"a": []}, {}, "nothing to choose for 'a'"),
        ({"a": uniform(0, 1)}, {}, "'a' is drawn from a distribution, so set the number of trials"),
        ({"a": [1]}, {"trials": 0}, "trials must be an int from 1"),
        ({"a": [1]}, {"mode": "least"}, "mode must be 'min' or 'max'"),
        ({"a": [1]}, {"stop": 3}, "stop must be a Halving"),
        ({"a": [1]}, {"devices": []}, "devices is empty"),
        ({"a": [1]}, {"backend": "dask"}, "backend must be 'threads' or 'ray', got 'dask'"),
        ({"a": [1]}, {"backend": "ray", "devices": ["cpu:0"]}, "devices= is for backend='threads'"),
    ],
)
def test_what_cannot_be_searched_is_refused(space: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(gx.errors.InvalidArgumentError, match=message):
        search(falling, space, **options)


def test_bounds_are_checked() -> None:
    for make, message in [
        (lambda: uniform(2, 1), "uniform: the bounds are not in order"),
        (lambda: log_uniform(0, 1), "must be above 0"),
        (lambda: integers(0.5, 2), "integers: the bounds must be ints"),
        (lambda: uniform("a", 2), "a bound must be a finite number"),
        (lambda: search(3, {"a": [1]}), "expected a function of a configuration"),
    ]:
        with pytest.raises(gx.errors.InvalidArgumentError, match=message):
            make()
