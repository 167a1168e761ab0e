"""Pipeline: the stages of a model, each on its own device, process micro-batches in turn."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Literal, cast

from graphc.compiler.autograph import call
from graphc.compiler.base import nest
from graphc.compiler.base.errors import InvalidArgumentError
from graphc.compiler.core import FUNCTIONS, Tensor, Variable, context, device
from graphc.compiler.devices import device_name, devices, find_device
from graphc.compiler.gradients import GradientTape
from graphc.compiler.ops import asarray
from graphc.compiler.runtime import Timeline
from graphc.training.layers import Layer

Schedule = Literal["gpipe", "1f1b"]


class Pipeline:
    """Runs each stage of a model on its own device, with several micro-batches in progress at once.

    A batch is cut into micro-batches. While the second stage processes one, the first stage processes the next. The
    loss and the gradients match those of the whole batch on one device, up to rounding.

    Args:
      stages: the stages, in order: layers, or functions of one tensor (or nested structure of tensors).
        Their Variables are made at the first call, or before it under ``gx.device(pipeline.devices[number])``.
      microbatches: the number of parts that a batch is cut into along its first axis, at most one for each row;
        their sizes differ by one at most.
      schedule: ``"1f1b"`` runs a micro-batch backward as soon as it can, so a stage holds the values of as many
        micro-batches as there are stages from it to the last; ``"gpipe"`` runs all forward first, and holds all.
      devices: a device for each stage; the first ones of the default platform when None.

    Raises:
      InvalidArgumentError: there is no stage, the numbers of stages and devices differ, ``microbatches`` is not a
        positive number, or the schedule does not exist.
      NotFoundError: a device does not exist.

    Source: GPipe (Huang et al., 2019); PipeDream's one-forward-one-backward schedule (Narayanan et al., 2019).

    Example:
      >>> import graphc as gx
      >>> stages = [gx.layers.Dense(8, "relu"), gx.layers.Dense(1)]
      >>> pipeline = gx.distribute.Pipeline(stages, microbatches=4, devices=["cpu:0", "cpu:0"])
      >>> optimizer = gx.optim.SGD(0.1)
      >>> @gx.function
      ... def step(x, y):
      ...     loss, pairs = pipeline.value_and_grad(lambda out, y: gx.mean((out - y) ** 2), x, y)
      ...     optimizer.apply_gradients(pairs)
      ...     return loss
      >>> step(gx.ones((8, 3)), gx.zeros((8, 1))).shape
      ()
      >>> pipeline.bubble
      0.2
    """

    def __init__(
        self,
        stages: Sequence[Callable[..., Any]],
        *,
        microbatches: int,
        schedule: Schedule = "1f1b",
        devices: Sequence[Any] | None = None,
    ) -> None:
        self.stages = tuple(stages)
        self.microbatches = _checked_count(microbatches)
        if schedule not in ("gpipe", "1f1b"):
            raise _error(f"Pipeline: the schedule must be 'gpipe' or '1f1b', got {schedule!r}")
        self.schedule: Schedule = schedule
        self.devices = _checked_devices(len(self.stages), devices)

    @property
    def bubble(self) -> float:
        """The share of idle time of stages with equal cost: (s - 1) / (m + s - 1)."""
        idle = len(self.stages) - 1
        return idle / (self.microbatches + idle)

    def measured_bubble(self, timeline: Timeline) -> float:
        """Measures the share of idle time of the stages' devices.

        Args:
          timeline: a timeline of steps of the pipeline, from ``with gx.profile() as timeline``.

        Returns:
          The share, from 0 (all devices always busy) to 1.

        Raises:
          InvalidArgumentError: nothing ran on the devices.
        """
        names = dict.fromkeys(self.devices)
        runs = [event for event in timeline.events if event.track in names and event.kind in ("segment", "program")]
        if not runs:
            raise _error(f"measured_bubble: nothing ran on {', '.join(names)} in this timeline")
        span = max(event.end for event in runs) - min(event.start for event in runs)
        return 1 - sum(event.end - event.start for event in runs) / (span * len(names))

    def __call__(self, x: Any) -> Any:
        """Computes the results of the last stage.

        Args:
          x: a batch: a tensor, or a nested structure of them with equally many rows.

        Returns:
          The results for all rows.
        """
        outputs = [_Pass(self, x, rows).result() for rows in self._parts(x)]
        with device(self.devices[-1]):
            return nest.map_structure(lambda *parts: FUNCTIONS["concat"](parts, axis=0), *outputs)

    def value_and_grad(
        self, loss: Callable[..., Any], x: Any, *targets: Any, training: bool = True
    ) -> tuple[Tensor, list[Any]]:
        """Computes a loss and its gradients with respect to the stages' Variables.

        Args:
          loss: a function from the last stage's results and the targets of one micro-batch to their mean loss.
          x: a batch, as for a call.
          targets: the loss's other arguments, cut like the batch.
          training: the training mode of stages that are layers: with it dropout drops, and batch normalization takes
            the statistics of a micro-batch and follows them.

        Returns:
          The mean loss over all rows, and pairs of a gradient and its Variable, for an optimizer.

        Raises:
          InvalidArgumentError: there are no rows, the arguments' numbers of rows differ, or the loss is not a scalar.
        """
        passes = [_Pass(self, x, rows, targets, loss, training) for rows in self._parts((x, targets))]
        total: list[Tensor] = []
        gradients: dict[int, tuple[Tensor, Variable]] = {}
        for stage, number, forward in _order(self.schedule, len(self.stages), len(passes)):
            with device(self.devices[stage]):
                if forward:
                    passes[number].forward(stage)
                    continue
                for gradient, variable in passes[number].backward(stage):
                    previous = gradients.get(id(variable))
                    gradients[id(variable)] = (gradient if previous is None else previous[0] + gradient, variable)
                if stage == len(self.stages) - 1:
                    total = [total[0] + passes[number].loss if total else passes[number].loss]
        return total[0], list(gradients.values())

    def _parts(self, values: Any) -> list[_Rows]:
        """Returns the rows of each micro-batch."""
        counts = {_length(leaf) for leaf in nest.flatten(values)[0]}
        rows = min(counts, default=0)
        if len(counts) != 1 or rows == 0:
            listed = ", ".join(map(str, sorted(counts))) or "no tensor"
            raise _error(
                f"Pipeline: all tensors must have the same number of rows along their first axis, got {listed}"
            )
        count = min(self.microbatches, rows)
        edges = [number * rows // count for number in range(count + 1)]
        return [_Rows(start, stop, rows) for start, stop in pairwise(edges)]


@dataclass(frozen=True, slots=True)
class _Rows:
    """The rows of a batch that are a micro-batch."""

    start: int
    stop: int
    all: int

    @property
    def weight(self) -> float:
        """The share of these rows in the batch."""
        return (self.stop - self.start) / self.all

    def of(self, values: Any) -> Any:
        """Cuts these rows out of the tensors of a nested structure."""
        return nest.map_structure(self._cut, values)

    def _cut(self, leaf: Any) -> Tensor:
        return asarray(leaf)[self.start : self.stop]


@dataclass
class _Pass:
    """A micro-batch on its way through the stages."""

    pipeline: Pipeline
    value: Any  # the input of the next stage; before the first one the whole batch, which is cut where it is needed
    rows: _Rows
    targets: Sequence[Any] = ()
    loss_function: Callable[..., Any] | None = None
    training: bool = False
    loss: Any = None
    _tapes: dict[int, tuple[GradientTape, Any, Any]] = field(default_factory=dict[int, tuple[GradientTape, Any, Any]])
    _cotangents: Any = None

    def result(self) -> Any:
        """Computes the result of the last stage, without gradients."""
        for number in range(len(self.pipeline.stages)):
            with device(self.pipeline.devices[number]):
                self.value = self._run(number, self.rows.of(self.value) if number == 0 else self.value)
        return self.value

    def _run(self, number: int, inputs: Any) -> Any:
        stage = self.pipeline.stages[number]
        options = {"training": self.training} if isinstance(stage, Layer) else {}
        return call(stage)(inputs, **options)

    def forward(self, number: int) -> None:
        """Runs a stage, and the loss after the last one."""
        inputs = self.rows.of(self.value) if number == 0 else self.value
        with GradientTape() as tape:
            tape.watch([leaf for leaf in nest.flatten(inputs)[0] if leaf.type.is_inexact])
            outputs = self._run(number, inputs)
            if number == len(self.pipeline.stages) - 1 and self.loss_function is not None:
                loss = asarray(call(self.loss_function)(outputs, *self.rows.of(self.targets)))
                if loss.shape != ():
                    raise _error(
                        f"Pipeline: the loss of a micro-batch must be one number, its rows' mean; got {loss.type}"
                    )
                outputs = self.loss = loss * self.rows.weight
        self._tapes[number] = tape, inputs, outputs
        self.value = outputs

    def backward(self, number: int) -> Iterator[tuple[Tensor, Variable]]:
        """Runs a stage backward, and yields the gradients of its Variables."""
        tape, inputs, outputs = self._tapes.pop(number)
        variables = [variable for variable in tape.watched_variables() if variable.trainable]
        sources, structure = nest.flatten(inputs if number else [])
        source_gradients, gradients = tape.gradient(outputs, (sources, variables), self._cotangents)
        pairs = zip(
            source_gradients, sources, strict=True
        )  # variables that the outputs do not depend on must not get earlier gradients
        cotangents = [FUNCTIONS["zeros_like"](source) if value is None else value for value, source in pairs]
        self._cotangents = nest.unflatten(structure, cotangents)
        for gradient, variable in zip(gradients, variables, strict=True):
            _check_place(variable, number, self.pipeline.devices[number])
            if gradient is not None:
                yield gradient, variable


def _check_place(variable: Variable, number: int, stage_device: str) -> None:
    if context.replica is None and variable.device != stage_device:
        raise _error(
            f"Pipeline: Variable {variable.name!r} of stage {number} is on {variable.device} and would be moved to "
            f"{stage_device} in each step: make it under gx.device({stage_device!r}), or let the stage make it in "
            "its first call"
        )


def _order(schedule: Schedule, stages: int, microbatches: int) -> Iterator[tuple[int, int, bool]]:
    """Yields the steps in order: the stage, the micro-batch, and True for forward."""
    # Each stage runs its own steps in the order of the schedule; in each round, all stages whose next step is ready run
    # it.
    todo = [list(_steps(schedule, stages - stage, microbatches)) for stage in range(stages)]
    done: set[tuple[int, int, bool]] = set()
    while any(todo):
        ready = [(stage, *steps[0]) for stage, steps in enumerate(todo) if steps]
        ready = [step for step in ready if _before(step, stages) <= done]
        for stage, _, _ in ready:
            del todo[stage][0]
        done.update(ready)
        yield from ready


def _before(step: tuple[int, int, bool], stages: int) -> set[tuple[int, int, bool]]:
    stage, number, forward = step
    if forward:
        return {(stage - 1, number, True)} if stage else set()
    return {(stage + 1, number, False)} if stage < stages - 1 else {(stage, number, True)}


def _steps(schedule: Schedule, behind: int, microbatches: int) -> Iterator[tuple[int, bool]]:
    """Yields the steps of one stage; ``behind`` is the number of stages from it to the last."""
    ahead = microbatches if schedule == "gpipe" else min(behind, microbatches)
    yield from ((number, True) for number in range(ahead))
    for number in range(microbatches):
        yield number, False
        if ahead + number < microbatches:
            yield ahead + number, True


def _length(leaf: Any) -> int:
    shape: tuple[int, ...] = getattr(leaf, "shape", ())
    return shape[0] if shape else 0


def _checked_count(count: Any) -> int:
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise _error(f"Pipeline: microbatches must be a number of at least 1, got {count!r}")
    return count


def _checked_devices(count: int, requested: Sequence[Any] | None) -> tuple[str, ...]:
    platform = devices()[0].platform
    chosen = [one for one in devices() if one.platform == platform][:count] if requested is None else requested
    if not count or len(chosen) != count:
        raise _error(f"Pipeline: {count} stages need the same number of devices, at least one; there are {len(chosen)}")
    return tuple(device_name(find_device(cast("Any", one))) for one in chosen)


def _error(text: str) -> InvalidArgumentError:
    return InvalidArgumentError(text).here()
