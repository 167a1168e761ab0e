"""What an open tape costs, and the way back, against the operations themselves."""

from __future__ import annotations

from typing import Any

import numpy as np

import graphc as gx
from benchmarks.harness import Contender, Duel, Row, Sample, batch

__all__ = ["ROWS"]

_OPERATIONS = 20


def _chain(x: gx.Tensor, w: gx.Tensor) -> gx.Tensor:
    """A chain of 20 operations."""
    for _ in range(_OPERATIONS // 4):
        x = x * w
        x = x + w
        x = gx.tanh(x)
        x = x * 0.5
    return x


def _taped(x: gx.Tensor, w: gx.Tensor) -> tuple[gx.GradientTape, gx.Tensor]:
    with gx.GradientTape() as tape:
        tape.watch(x)
        y = _chain(x, w)
    return tape, y


def _tensors() -> tuple[gx.Tensor, gx.Tensor]:
    x, w = np.random.default_rng(0).normal(size=(2, 4, 4)).astype(np.float32)
    return gx.asarray(x), gx.asarray(w)


def _open(quick: bool) -> Duel:
    calls = 1 if quick else 2
    given = _tensors()
    return Duel(
        Contender("tape open", batch(lambda x, w: _taped(x, w)[1], given, calls), calls * _OPERATIONS),
        Contender("without", batch(_chain, given, calls), calls * _OPERATIONS),
        lambda: [(_taped(*given)[1], _chain(*given))],
    )


def _backward(quick: bool) -> Duel:
    calls = 1 if quick else 2
    x, w = _tensors()

    def fresh() -> Sample:
        taped = [_taped(x, w) for _ in range(calls)]

        def sample() -> None:
            for gradient in [tape.gradient(y, x) for tape, y in taped]:
                gradient.wait()

        return sample

    def differences() -> list[tuple[Any, Any]]:
        """The gradient's inner product with a direction, and the central difference along it."""
        tape, y = _taped(x, w)
        step = 1e-2 * gx.sign(w)
        found = gx.sum(tape.gradient(y, x) * step)
        return [(found, gx.sum(_chain(x + step / 2, w)) - gx.sum(_chain(x - step / 2, w)))]

    return Duel(
        Contender("gradient()", fresh, calls * _OPERATIONS),
        Contender("forward, tape open", batch(lambda x, w: _taped(x, w)[1], (x, w), calls), calls * _OPERATIONS),
        differences,
    )


ROWS = (
    Row("tape-open", "20 operations with an open tape, per operation", 2.2, _open),
    Row("tape-backward", "gradient of a chain of 20 operations, per operation", 1.5, _backward),
)
