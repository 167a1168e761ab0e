"""Asynchronous successive halving as a state machine: who goes on, in any order of reports."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

import graphc as gx
from graphc.training.distribute import Halving


def steps_of(losses: list[float], order: random.Random, most: int, first: int, factor: int) -> list[int]:
    """How far trials get whose losses shrink with the steps, any of which may make the next step."""
    halving, steps = Halving(first, factor), [0] * len(losses)
    running = list(range(len(losses)))
    while running:
        trial = order.choice(running)
        steps[trial] += 1
        if steps[trial] == most or not halving.goes_on(trial, steps[trial], losses[trial] / steps[trial]):
            running.remove(trial)
    return steps


@given(st.lists(st.floats(0, 1), min_size=1, max_size=40, unique=True), st.randoms(use_true_random=False))
def test_the_best_trial_is_never_stopped(losses: list[float], order: random.Random) -> None:
    steps = steps_of(losses, order, 27, 1, 3)
    assert steps[losses.index(min(losses))] == 27
    assert {step for step in steps if step != 27} <= {1, 3, 9}, "trials are stopped only where they are compared"


def test_a_part_of_the_trials_goes_on_from_each_comparison() -> None:
    order = random.Random(0)
    losses = [order.random() for _ in range(900)]
    steps = steps_of(losses, order, 27, 1, 3)
    counts = [sum(step > rung for step in steps) for rung in (1, 3, 9)]
    for count, expected in zip(counts, (300, 100, 33), strict=True):
        assert expected * 0.9 <= count <= expected * 1.7  # early ones go on more easily
    assert sum(steps) < 0.15 * 27 * 900


def test_not_a_number_is_hopeless_and_ties_go_on() -> None:
    halving = Halving(2, 2)
    assert halving.goes_on(0, 1, math.nan), "it is not compared yet"
    assert not halving.goes_on(0, 2, math.nan)
    assert halving.goes_on(1, 2, 1.0)
    assert halving.goes_on(2, 2, 1.0)
    assert halving.goes_on(2, 3, 9.0)


@pytest.mark.parametrize("options", [{"first": 0}, {"factor": 1}, {"first": 1.5}])
def test_numbers_that_cannot_be_are_refused(options: dict[str, int]) -> None:
    with pytest.raises(gx.errors.InvalidArgumentError, match=r"Halving: (first|factor) must be an int from \d"):
        Halving(**options)
