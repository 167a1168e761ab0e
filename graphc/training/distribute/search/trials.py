"""``search``: trains a network per device, over a grid or random samples, and stops unpromising ones."""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any, cast

from graphc.compiler.base import Pool, at, user_location, wait_until
from graphc.compiler.base.errors import InvalidArgumentError, InvalidTypeError
from graphc.compiler.base.files import PathLike
from graphc.compiler.core import device, thread_settings
from graphc.compiler.devices import Device, device_name, find_device, local_devices
from graphc.compiler.tracing import refuse_in_trace
from graphc.training.distribute.search.halving import Halving
from graphc.training.distribute.search.journal import Journal
from graphc.training.distribute.search.result import SearchResult, Trial
from graphc.training.distribute.search.space import Config, configurations

__all__ = ["search"]

TrialFunction = Callable[[Config], Any]


def search(
    train: TrialFunction,
    space: Mapping[str, Any],
    *,
    trials: int | None = None,
    seed: int = 0,
    metric: str = "loss",
    mode: str = "min",
    stop: Halving | None = None,
    max_steps: int | None = None,
    devices: Sequence[Any] | None = None,
    file: PathLike | None = None,
    backend: str = "threads",
) -> SearchResult:
    """Trains a network for each of many configurations, one on each device at a time, and finds the best.

    Each trial runs in its own thread with its device in scope, so its Variables and ops are there. An exception ends
    only its own trial. Trials share the generator of ``gx.random``, so if several run at a time, their draws depend on
    timing; if that matters, give each trial its own ``gx.random.Generator``.

    Args:
      train: a function of a configuration, a dict with the names of the space. A generator function yields its metric
        after each step, a number or a dict of numbers, and may be stopped there; what it returns is the trial's result.
        Another function returns its metric at the end.
      space: for each name, a list to choose from, :func:`uniform`, :func:`log_uniform`, :func:`integers`, or a function
        of a ``np.random.Generator``; any other value is the same in all trials.
      trials: the number of samples; None for all combinations of the lists.
      seed: the seed of the draws.
      metric: the name of the number that ranks trials, where they report a dict.
      mode: ``"min"`` if lower is better, ``"max"`` if higher is.
      stop: a rule that stops unpromising trials, such as ``Halving()``; None to run all to the end.
      max_steps: the number of steps after which a trial ends, if it has not returned before.
      devices: names or ``jax.Device`` objects; those of this process when None. One that is named twice runs two
        trials at a time.
      file: a file that records trials when they end. A search with the same file, space, trials and seed goes on with
        what is missing, and tries again what failed.
      backend: ``"threads"`` of this process, or ``"ray"`` for Ray Tune, where it is installed: each trial in a process
        of its own, on the Ray cluster that this process is connected to. Ray places trials and keeps their files, so
        ``devices`` and ``file`` are not for it, and what trials return stays there.

    Returns:
      The trials, with ``best``, a table (``print``) and ``plot()``.

    Raises:
      InvalidArgumentError: an option has a value that it cannot have.
      InvalidTypeError: ``train`` is not a function, or the space is not a dict.
      FailedPreconditionError: the file is of another search.
      NotFoundError: the backend is Ray, and Ray Tune is not installed.
      DeadlineExceededError: the deadline in force passed; trials end with the step that they are at.

    Example:
      >>> import graphc as gx
      >>> def train(config):
      ...     x = gx.Variable(5.0)
      ...     for _ in range(9):
      ...         x.assign_sub(config["rate"] * 2 * x)  # the gradient of x squared
      ...         yield float(x * x)
      >>> found = gx.distribute.search(train, {"rate": [0.01, 0.1, 0.4, 1.1]}, stop=gx.distribute.Halving())
      >>> found.best.config
      {'rate': 0.4}
    """
    _check(train, trials, mode, max_steps, stop)
    if backend != "threads":
        _check_backend(backend, devices, file)
        from graphc.training.distribute.search.on_ray import run_on_ray

        ended = run_on_ray(train, configurations(space, trials, seed), metric, mode, stop, max_steps)
        return SearchResult(tuple(ended), metric, mode)
    places = local_devices() if devices is None else [find_device(device) for device in devices]
    if not places:
        raise at(InvalidArgumentError("search: devices is empty; None stands for all"), user_location())
    configs = configurations(space, trials, seed)
    journal = None if file is None else Journal(file, configs)
    found = _Search(train, configs, metric, mode, stop, max_steps, journal)
    found.run(places)
    return SearchResult(tuple(found.trials), metric, mode)


class _Search:
    """Trials, and the threads that run them one after the other."""

    def __init__(
        self,
        train: TrialFunction,
        configs: Sequence[Config],
        metric: str,
        mode: str,
        stop: Halving | None,
        max_steps: int | None,
        journal: Journal | None,
    ) -> None:
        self.trials = [Trial(number, config) for number, config in enumerate(configs)]
        self._train, self._metric, self._sign = train, metric, -1.0 if mode == "max" else 1.0
        self._stop, self._most, self._journal = stop, max_steps or math.inf, journal
        self._changed = threading.Condition()
        self._abandoned = False
        for trial in [] if journal is None else journal.read():
            self.trials[trial.number] = trial
            for step, value in enumerate(trial.values):
                self._goes_on(trial, step + 1, value)
        self._waiting = deque(trial for trial in self.trials if trial.status == "waiting")

    def run(self, devices: Sequence[Device]) -> None:
        """Runs the waiting trials, one at a time on each device."""
        pool = Pool("graphc.search", lambda: len(devices))
        settings, ended, errors = thread_settings(), list[Device](), list[BaseException]()

        def work(place: Device) -> None:
            try:
                with settings(), device(place):
                    while (trial := self._next()) is not None:
                        self._run(trial, device_name(place))
            except BaseException as error:  # from the journal: a trial keeps its own errors
                errors.append(error)
            with self._changed:
                ended.append(place)
                self._changed.notify_all()

        for place in devices:
            pool.give(lambda place=place: work(place), name="a trial")
        try:
            with self._changed:
                wait_until(self._changed, lambda: len(ended) == len(devices), self._what)
        finally:
            self._abandoned = True
        if errors:
            raise errors[0]

    def _what(self) -> str:
        running = [trial for trial in self.trials if trial.status == "running"]
        return f"{len(self._waiting) + len(running)} trials of a search, of which {len(running)} run"

    def _next(self) -> Trial | None:
        with self._changed:
            return self._waiting.popleft() if self._waiting and not self._abandoned else None

    def _run(self, trial: Trial, place: str) -> None:
        trial.status, trial.device, start = "running", place, time.perf_counter()
        try:
            made = self._train(dict(trial.config))
            if isinstance(made, Generator):
                status = self._drive(trial, cast("Generator[Any, None, Any]", made))
            else:
                self._note(trial, made)
                status = "done"
        except Exception as error:
            status, trial.error = "failed", f"{type(error).__name__}: {error}"
        trial.seconds = time.perf_counter() - start
        trial.status = status
        if self._journal is not None and not self._abandoned:
            with self._changed:
                self._journal.write(trial)

    def _drive(self, trial: Trial, steps: Generator[Any, None, Any]) -> Any:
        """Runs a trial step by step, and returns how it ended."""
        while len(trial.values) < self._most:
            try:
                reported = next(steps)
            except StopIteration as ended:
                trial.result = ended.value
                return "done"
            self._note(trial, reported)
            if self._abandoned or not self._goes_on(trial, len(trial.values), trial.value):
                steps.close()
                return "stopped"
        steps.close()
        return "done"

    def _note(self, trial: Trial, reported: Any) -> None:
        numbers: dict[str, Any] = cast("Any", reported if isinstance(reported, Mapping) else {self._metric: reported})
        if self._metric not in numbers:
            raise InvalidArgumentError(
                f"search: the trial reported {sorted(numbers)}, but is judged by {self._metric!r}; select one of these "
                "with metric="
            )
        try:
            trial.metrics = {name: float(value) for name, value in numbers.items()}
        except (TypeError, ValueError):
            raise InvalidTypeError(
                f"search: a trial must yield its metric, a number or a dict of numbers, got {reported!r:.60}"
            ) from None
        trial.values.append(trial.metrics[self._metric])

    def _goes_on(self, trial: Trial, step: int, value: float) -> bool:
        if self._stop is None:
            return True
        with self._changed:
            return self._stop.goes_on(trial.number, step, self._sign * value)


def _check(train: Any, trials: Any, mode: Any, max_steps: Any, stop: Any) -> None:
    if not callable(train):
        raise at(
            InvalidTypeError(f"search: expected a function of a configuration, got {train!r:.60}"), user_location()
        )
    refuse_in_trace("search: call it outside of compiled functions", InvalidArgumentError)
    for name, value in (("trials", trials), ("max_steps", max_steps)):
        if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
            error = InvalidArgumentError(f"search: {name} must be an int from 1 or None, got {value!r:.60}")
            raise at(error, user_location())
    if mode not in ("min", "max"):
        raise at(InvalidArgumentError(f"search: mode must be 'min' or 'max', got {mode!r:.60}"), user_location())
    if not isinstance(stop, Halving | None):
        raise at(InvalidTypeError(f"search: stop must be a Halving or None, got {stop!r:.60}"), user_location())


def _check_backend(backend: Any, devices: Any, file: Any) -> None:
    if backend != "ray":
        error = InvalidArgumentError(f"search: backend must be 'threads' or 'ray', got {backend!r:.60}")
        raise at(error, user_location())
    for name, value in (("devices", devices), ("file", file)):
        if value is not None:
            error = InvalidArgumentError(
                f"search: {name}= is for backend='threads': Ray places the trials on its machines, and keeps their "
                "files in ~/ray_results"
            )
            raise at(error, user_location())
