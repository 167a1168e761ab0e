"""Unroll factor: the number of iterations in one step of an XLA loop, which XLA can fuse.

A loop of cheap arithmetic on large arrays spends its time on memory traffic, once for each iteration. If a step of
XLA's loop covers four iterations, they are fused into one pass. Measured on two CPU cores, relative to one iteration
per step: four take 0.43 to 0.60 of the time for arrays of 250,000 and of 4,000,000 floats. Arrays that fit into a cache
gain nothing or lose (up to 5.8 times the time for 100 floats), and so does anything more expensive than a
multiplication, which XLA recomputes for each later fused iteration (``tanh`` takes 2.2 times the time). The rule is
therefore narrow, and applies only to the CPU, where it was measured.
"""

from __future__ import annotations

from collections.abc import Iterable

import jax

from graphc.compiler.ir import Node, TensorType

__all__ = ["FUSED", "iterations_per_step"]

FUSED = 4
"""Number of iterations in a step, for a cheap body on large arrays."""

_LARGE = 200_000
_MOST_NODES = 12
_CHEAP = frozenset(
    (
        *("abs", "add", "astype", "constant", "equal", "greater", "greater_equal", "identity", "less", "less_equal"),
        *("logical_and", "logical_not", "logical_or", "maximum", "minimum", "multiply", "negative", "not_equal"),
        *("positive", "square", "stop_gradient", "subtract", "where"),
    )
)


def iterations_per_step(nodes: Iterable[Node], carried: Iterable[TensorType], length: int) -> int:
    """Returns the number of iterations in one step of a loop: 1, or :data:`FUSED` by the rule above.

    Args:
      nodes: the nodes of the body.
      carried: the types of the carried values.
      length: the number of iterations.
    """
    body = list(nodes)
    computing = [node for node in body if node.op.name not in ("constant", "identity", "stop_gradient")]
    cheap = len(computing) <= _MOST_NODES and all(node.op.name in _CHEAP for node in body)
    large = any(type.size >= _LARGE for type in carried)
    return FUSED if cheap and large and length >= 2 * FUSED and jax.default_backend() == "cpu" else 1
