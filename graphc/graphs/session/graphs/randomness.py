"""Random numbers in graphs: each op draws its own, from the seeds of the graph and of the op, anew in each Session."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["OUTSIDE", "RANDOM", "first_state", "is_outside", "is_random_state"]

OUTSIDE = "python://"
"""Prefix of the resource of a Variable that was made in eager code and is used in a graph."""

RANDOM = "random://"
"""Prefix of the resource of a random op's state; its number and its seed follow."""


def is_random_state(resource: str) -> bool:
    """Returns True for the state of a random op, of which each Session has its own."""
    return resource.startswith(RANDOM)


def is_outside(resource: str) -> bool:
    """Returns True for a Variable of eager code."""
    return resource.startswith(OUTSIDE)


def first_state(graph_seed: int | None, resource: str) -> np.ndarray[Any, Any]:
    """Returns the initial state of a random op in a Session: ``uint32[2]``.

    Args:
      graph_seed: the seed of the graph; None for none.
      resource: the op's resource. Without a seed of the op or the graph, it starts differently in each Session.
    """
    number, _, op_seed = resource.removeprefix(RANDOM).partition("/")
    if op_seed == "None" and graph_seed is None:
        return np.random.SeedSequence().generate_state(2)
    entropy = [_word(graph_seed or 0), _word(int(number) if op_seed == "None" else int(op_seed))]
    return np.random.SeedSequence(entropy).generate_state(2)


def _word(seed: int) -> int:
    return seed % 2**64
