"""A search with Ray Tune: trials in separate processes, on the machines of a Ray cluster."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from typing import Any, cast

from graphc.compiler.base import at, interruption, user_location
from graphc.compiler.base.errors import NotFoundError
from graphc.training.distribute.search.halving import Halving
from graphc.training.distribute.search.result import Trial
from graphc.training.distribute.search.space import Config

__all__ = ["run_on_ray"]

_NUMBER, _IS_LAST = "graphc_trial", "graphc_is_last"


def run_on_ray(
    train: Callable[[Config], Any],
    configs: Sequence[Config],
    metric: str,
    mode: str,
    stop: Halving | None,
    max_steps: int | None,
) -> list[Trial]:
    """Runs trials on the Ray cluster that this process is connected to, or on one that Ray starts here.

    Configurations and the stopping rule are the same as without Ray; Ray Tune decides where and when trials run, one
    per processor, or one per GPU if the cluster has any.

    Raises:
      NotFoundError: Ray Tune is not installed.
    """
    try:
        from ray import tune as module
        from ray.tune.schedulers import ASHAScheduler as scheduler  # noqa: N813  pyright: ignore[reportUnknownVariableType]
    except ImportError as error:
        text = f"search: backend='ray' needs Ray Tune ({str(error).splitlines()[0]}): pip install 'ray[tune]'"
        raise at(NotFoundError(text), user_location()) from None
    import ray

    tune, make_scheduler, cluster = cast("Any", module), cast("Any", scheduler), cast("Any", ray)
    if not cluster.is_initialized():
        cluster.init(include_dashboard=False)
    gpus = min(1, cluster.cluster_resources().get("GPU", 0))
    asha = None if stop is None else make_scheduler(
        max_t=max_steps or 10**9, grace_period=stop.first, reduction_factor=stop.factor
    )  # fmt: skip
    current = interruption()
    tuner = tune.Tuner(
        tune.with_resources(_trainable(train, list(configs), metric, max_steps, tune.report), {"cpu": 1, "gpu": gpus}),
        param_space={_NUMBER: tune.grid_search(list(range(len(configs))))},
        tune_config=tune.TuneConfig(
            metric=metric, mode=mode, scheduler=asha, time_budget_s=None if current is None else current.remaining()
        ),
        run_config=tune.RunConfig(verbose=0),
    )
    found = {result.config[_NUMBER]: result for result in tuner.fit() if result.config}
    return [_trial(number, config, metric, found.get(number)) for number, config in enumerate(configs)]


def _trainable(
    train: Callable[[Config], Any], configs: list[Config], metric: str, max_steps: int | None, report: Any
) -> Any:
    """Returns the function that Ray Tune runs in each trial's process.

    A step is reported when the next one arrives, with a flag for the last step: so a finished trial can be told from a
    stopped one.
    """

    def trial(config: Mapping[str, Any]) -> None:
        number: int = config[_NUMBER]
        before: dict[str, Any] | None = None
        for place, reported in enumerate(_steps(train(dict(configs[number])))):
            if before is not None:
                report({**before, _IS_LAST: False})
            numbers: dict[str, Any] = cast("Any", reported if isinstance(reported, Mapping) else {metric: reported})
            before = {name: float(value) for name, value in numbers.items()}
            if place + 1 == max_steps:
                break
        if before is not None:
            report({**before, _IS_LAST: True})

    return trial


def _steps(made: Any) -> Iterator[Any]:
    if isinstance(made, Generator):
        yield from cast("Generator[Any, None, Any]", made)
    else:
        yield made


def _trial(number: int, config: Config, metric: str, result: Any) -> Trial:
    """Returns the outcome of a configuration, from Ray Tune's result."""
    trial = Trial(number, config)
    if result is None:
        return trial
    frame, last = result.metrics_dataframe, cast("dict[str, Any]", result.metrics or {})
    if frame is not None and metric in frame:
        trial.values = [float(value) for value in frame[metric]]
        own = [name for name in frame.columns if name not in _OF_RAY and "/" not in name]
        trial.metrics = {name: float(frame[name].iloc[-1]) for name in own if name != _IS_LAST}
    trial.seconds = float(last.get("time_total_s", 0.0))
    trial.device = str(last.get("node_ip", ""))
    trial.status = "done" if last.get(_IS_LAST) else "stopped"
    if result.error is not None:
        lines = [line for line in str(result.error).splitlines() if line.strip()]
        trial.status, trial.error = "failed", lines[-1] if lines else type(result.error).__name__
    return trial


_OF_RAY = frozenset(
    [
        "timestamp",
        "checkpoint_dir_name",
        "should_checkpoint",
        "done",
        "training_iteration",
        "trial_id",
        "date",
        "time_this_iter_s",
        "time_total_s",
        "pid",
        "hostname",
        "node_ip",
        "time_since_restore",
        "iterations_since_restore",
    ]
)
