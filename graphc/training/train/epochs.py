"""Epochs: the arguments and results of a step, and an epoch as one program."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from graphc.compiler.autograph import LoopVariables, do_not_convert, run_for
from graphc.compiler.base import nest
from graphc.compiler.base.errors import GraphcError
from graphc.compiler.function import Function, function
from graphc.compiler.ops import asarray
from graphc.compiler.ops.functions import mean
from graphc.training.data import Dataset
from graphc.training.train.callbacks import Callback

__all__ = ["arguments_of", "compiled_epoch", "numbers_of", "rows_of", "skip_passes"]


def arguments_of(batch: Any) -> tuple[Any, ...]:
    """Returns the arguments of a step for a batch."""
    return tuple(cast("Sequence[Any]", batch)) if isinstance(batch, tuple | list) else (batch,)


def rows_of(batch: Any) -> int:
    """Returns the number of rows in a batch; 1 if nothing in it has axes."""
    shapes = [getattr(leaf, "shape", ()) for leaf in nest.flatten(batch)[0]]
    return next((shape[0] for shape in shapes if shape), 1)


def numbers_of(result: Any) -> dict[str, Any]:
    """Returns the numbers in a step's result, by name."""
    if isinstance(result, Mapping):
        return dict(cast("Mapping[str, Any]", result))
    return {} if result is None else {"loss": result}


def compiled_epoch(
    step: Callable[..., Any], dataset: Any, callbacks: Sequence[Callback], names: Sequence[str]
) -> tuple[Callable[[], tuple[int, Mapping[str, float]]] | None, str]:
    """Makes a program that runs an epoch, if possible.

    Args:
      step: the function to call for a batch.
      dataset: the batches of an epoch.
      callbacks: the callbacks to call at the ends of steps and epochs.
      names: the names of the numbers that a step returns.

    Returns:
      A function that runs the program and returns the number of rows and the means over them, or None; and the reason.
    """
    why, program = _why_not(step, dataset, callbacks), None
    if not why:
        returned: dict[str, None] = {}
        program = _program(step, dataset, names, returned)
        try:
            loops = [loop.reason for loop in program.trace().loops if loop.kind == "dataset"]
            why = next((reason for reason in loops if not reason.endswith("part of the program")), "")
            if not why and returned.keys() != {*names}:  # a history that another step has begun
                why = f"the step returns {', '.join(returned)}, and the history has {', '.join(names)}"
        except GraphcError as error:
            why = error.message.partition("\n")[0]
    if program is None or why:
        return None, f"a program for each step: {why}"

    def run() -> tuple[int, Mapping[str, float]]:
        rows, *sums = (value.item() for value in program())
        return int(rows), {name: value / rows for name, value in zip(names, sums, strict=True)}

    return run, "a program for each epoch, from the second on"


def _why_not(step: Any, dataset: Any, callbacks: Sequence[Callback]) -> str:
    if not isinstance(step, Function):
        return "the step is not a gx.function"
    if not isinstance(dataset, Dataset):
        return f"the batches come from {type(dataset).__name__}, and not from a gx.data.Dataset"
    if any(type(callback).step_end is not Callback.step_end for callback in callbacks):
        return "a callback looks at each step"
    return ""


def skip_passes(dataset: Any, count: int) -> None:
    """Makes a dataset that reshuffles in each pass continue as after ``count`` passes."""
    if isinstance(dataset, Dataset):
        for _ in range(count):
            iter(dataset).close()


def _program(step: Callable[..., Any], dataset: Dataset, names: Sequence[str], returned: dict[str, None]) -> Any:
    """Returns a function that runs an epoch and returns the number of rows, and the sums of the steps' results.

    Once it is traced, ``returned`` has the names of all results.
    """

    def epoch() -> Any:
        sums: tuple[Any, ...] = tuple(asarray(0.0) for _ in range(1 + len(names)))

        def body(batch: Any) -> None:
            nonlocal sums
            numbers, rows = numbers_of(step(*arguments_of(batch))), rows_of(batch)
            _note(returned, numbers)
            more = [1.0, *(mean(numbers.get(name, 0.0)) for name in names)]
            sums = tuple(total + rows * number for total, number in zip(sums, more, strict=True))

        def put(values: tuple[Any, ...]) -> None:
            nonlocal sums
            sums = values

        run_for(dataset, None, body, LoopVariables(lambda: sums, put, ["the rows", *names]))
        return sums

    return function(epoch)


@do_not_convert
def _note(returned: dict[str, None], numbers: Mapping[str, Any]) -> None:
    """Records the names of a step's results, once, while it is traced."""
    returned.update(dict.fromkeys(numbers))
