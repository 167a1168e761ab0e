"""A workload: a program as a user writes it in graphc, and what an expert writes in JAX for the same."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import graphc as gx

__all__ = ["Draw", "Side", "Workload", "expert_side", "graphc_side"]


class Draw:
    """Draws the arguments of a workload; the same ones each time."""

    def __init__(self, name: str) -> None:
        self._rng = np.random.default_rng(zlib.crc32(name.encode()))

    def normal(self, *shape: int, scale: float = 1.0) -> np.ndarray:
        return (self._rng.normal(size=shape) * scale).astype(np.float32)

    def uniform(self, *shape: int, low: float = 0.0, high: float = 1.0) -> np.ndarray:
        return self._rng.uniform(low, high, size=shape).astype(np.float32)

    def integers(self, high: int, *shape: int, low: int = 0) -> np.ndarray:
        return self._rng.integers(low, high, size=shape).astype(np.int32)

    def permutation(self, size: int) -> np.ndarray:
        return self._rng.permutation(size).astype(np.int32)


@dataclass(frozen=True)
class Workload:
    """A row of the suite.

    Attributes:
      ours: the program in graphc. Where ``state`` is not 0, it takes the state and returns the step, a function of the
        other arguments.
      expert: the same in JAX. Where ``state`` is not 0, it takes the state's arrays first, which are donated, and
        returns their new values in a tuple, and the step's result.
      arguments: draws NumPy arrays and Python numbers, for a size; the numbers are static on both sides.
      size: of the arguments when it is measured.
      tiny: of the arguments when only the results are compared.
      gradient: the places of the arguments whose gradients belong to the results of both sides; the programs return a
        scalar then.
      state: how many of the first arguments are state that the step updates.
      eager: whether both sides run without a compiler.
      tolerance: how far the results may differ, relative and absolute.
    """

    ours: Callable[..., Any]
    expert: Callable[..., Any]
    arguments: Callable[[Draw, int], Sequence[Any]]
    size: int
    tiny: int
    gradient: tuple[int, ...] = ()
    state: int = 0
    eager: bool = False
    tolerance: float = 2e-3

    @property
    def name(self) -> str:
        """Returns the name of the program."""
        return self.ours.__name__

    def draw(self, size: int) -> list[Any]:
        """Draws the arguments."""
        return list(self.arguments(Draw(self.name), size))


@dataclass(frozen=True)
class Side:
    """A side that is ready to run.

    Attributes:
      function: what was made, for what looks into it: a function of graphc's or of ``jax.jit``.
      call: calls it with the arguments, and returns the results.
      arguments: of ``function``, at the first call.
    """

    function: Callable[..., Any]
    call: Callable[[], Any]
    arguments: list[Any]


def graphc_side(workload: Workload, given: Sequence[Any]) -> Side:
    """Returns graphc's side, new, so that the next call traces and compiles.

    Args:
      workload: the row.
      given: its arguments, from :meth:`Workload.draw`.
    """
    values = [gx.asarray(value) if isinstance(value, np.ndarray) else value for value in given]
    function = workload.ours
    if workload.state:
        function, values = function(*values[: workload.state]), values[workload.state :]
    if workload.gradient:
        function = gx.value_and_grad(function, argnums=workload.gradient)
    if not workload.eager:
        function = gx.function(function)
    return Side(function, lambda: function(*values), values)


def expert_side(workload: Workload, given: Sequence[Any]) -> Side:
    """Returns the expert's side, new; see :func:`graphc_side`."""
    values = [jnp.array(value) if isinstance(value, np.ndarray) else value for value in given]
    if workload.eager:
        return Side(workload.expert, lambda: workload.expert(*values), values)
    function = jax.value_and_grad(workload.expert, workload.gradient) if workload.gradient else workload.expert
    static = [place for place, value in enumerate(values) if isinstance(value, int | float | str)]
    compiled = jax.jit(function, static_argnums=static, donate_argnums=range(workload.state))
    if not workload.state:
        return Side(compiled, lambda: compiled(*values), values)
    state, others = tuple(values[: workload.state]), values[workload.state :]

    def call() -> Any:
        nonlocal state
        state, result = compiled(*state, *others)
        return result

    return Side(compiled, call, values)
