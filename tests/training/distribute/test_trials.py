"""free_device: a device for each of several trainings that run at a time."""

from __future__ import annotations

import threading

import optuna
import pytest

import graphc as gx

CPUS = ["cpu:2", "cpu:3"]


def test_trials_of_a_search_run_on_devices_of_their_own() -> None:
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    together = threading.Barrier(2)  # of two trials at a time
    seen: list[tuple[str, str]] = []

    def objective(trial: optuna.Trial) -> float:
        rate = trial.suggest_float("rate", 1e-2, 0.4, log=True)
        with gx.distribute.free_device(CPUS) as name:
            together.wait(60)
            x = gx.Variable(5.0)
            for _ in range(9):
                x.assign_sub(rate * 2 * x)
            seen.append((name, x.device))
            together.wait(60)
            return float(x * x)

    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0))
    study.optimize(objective, n_trials=4, n_jobs=2)
    assert sorted(seen) == sorted([("/device:CPU:2",) * 2, ("/device:CPU:3",) * 2] * 2)
    assert study.best_value == min(trial.value for trial in study.trials if trial.value is not None)


def test_a_block_waits_for_a_device_and_gives_it_back() -> None:
    twice = ["cpu:0", "cpu:0"]
    with (
        gx.distribute.free_device(twice),
        gx.distribute.free_device(twice),
        pytest.raises(gx.errors.DeadlineExceededError, match="one of 1 devices to be free"),
        gx.deadline(0.01),
        gx.distribute.free_device(twice),
    ):
        pass
    with pytest.raises(KeyError), gx.distribute.free_device(["cpu:0"]):
        raise KeyError
    with gx.distribute.free_device(["cpu:0"]) as name:
        assert name == "/device:CPU:0"


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(gx.errors.InvalidArgumentError, match="devices is empty"), gx.distribute.free_device([]):
        pass

    @gx.function
    def inside(x: gx.Tensor) -> gx.Tensor:
        with gx.distribute.free_device():
            return x + 1

    with pytest.raises(gx.errors.InvalidArgumentError, match="outside of compiled functions"):
        inside(gx.ones(2))
    with pytest.raises(AttributeError, match=r"gx\.distribute has no 'search': use Optuna with gx\.distribute\."):
        gx.distribute.search  # pyright: ignore[reportAttributeAccessIssue]  # noqa: B018
