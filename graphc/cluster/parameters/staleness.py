"""Policies for stale gradients: gradients that a worker computed from values that have been updated since.

A gradient has staleness ``s`` if ``s`` updates were applied between its worker's pull and its push.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from graphc.compiler.base import hint_missing
from graphc.compiler.base.errors import InvalidTypeError
from graphc.graphs.refusals import user_error


@dataclass(frozen=True)
class Moment:
    """The facts about a gradient that a server passes to a policy.

    Attributes:
      staleness: the number of updates applied since its worker pulled.
    """

    staleness: int


class Policy:
    """Decides the weight of a stale gradient; the base class applies all gradients unchanged.

    To write your own, subclass it as a frozen dataclass.
    """

    def weights(self, moment: Moment) -> float | None:
        """Returns the factor of the gradient; None to drop it.

        Args:
          moment: the facts about the gradient.
        """
        del moment
        return 1.0

    def workers(self, version: int) -> int | None:
        """Returns the number of workers that may compute at once; None for all.

        Args:
          version: the number of updates applied.
        """
        del version
        return None


@dataclass(frozen=True)
class _Drop(Policy):
    most: int

    def weights(self, moment: Moment) -> float | None:
        return 1.0 if moment.staleness <= self.most else None


@dataclass(frozen=True)
class _Scale(Policy):
    power: float

    def weights(self, moment: Moment) -> float:
        return float(max(1, moment.staleness) ** -self.power)


@dataclass(frozen=True)
class _WarmUp(Policy):
    updates: int
    then: Policy

    def weights(self, moment: Moment) -> float | None:
        return self.then.weights(moment)

    def workers(self, version: int) -> int | None:
        return 1 if version < self.updates else self.then.workers(version)


def drop(most: int) -> Policy:
    """Drops gradients that are staler than ``most`` updates, which bounds the staleness of updates.

    Args:
      most: an int from 0.

    Raises:
      InvalidArgumentError: ``most`` is not an int of at least 0.

    Example:
      >>> from graphc.cluster.parameters import Moment, drop
      >>> drop(2).weights(Moment(2)), drop(2).weights(Moment(3))
      (1.0, None)
    """
    return _Drop(_count("staleness drop(most)", most))


def scale(power: float = 1.0) -> Policy:
    """Divides a gradient by its staleness (Zhang et al. 2015, Staleness-aware Async-SGD).

    Args:
      power: the exponent of the staleness that divides a gradient; one that is at most one update old is not scaled.

    Raises:
      InvalidArgumentError: ``power`` is not a positive number.

    Example:
      >>> from graphc.cluster.parameters import Moment, scale
      >>> [scale().weights(Moment(staleness)) for staleness in (0, 1, 4)]
      [1.0, 1.0, 0.25]
    """
    if isinstance(power, bool) or not isinstance(power, int | float) or not power > 0:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise user_error(f"staleness scale(power): expected a positive number, got {power!r:.60}")
    return _Scale(float(power))


def warm_up(updates: int, then: Policy | None = None) -> Policy:
    """Lets one worker compute at a time for the first updates, and then all.

    Stale gradients do the most harm at the start, when gradients are large.

    Args:
      updates: the number of updates.
      then: the policy throughout; all gradients count as they are if None.

    Raises:
      InvalidArgumentError: ``updates`` is not an int of at least 0.
      InvalidTypeError: ``then`` is not a policy.

    Example:
      >>> from graphc.cluster.parameters import drop, warm_up
      >>> policy = warm_up(100, drop(8))
      >>> policy.workers(99), policy.workers(100)
      (1, None)
    """
    return _WarmUp(_count("staleness warm_up(updates)", updates), checked("staleness warm_up(then)", then))


def checked(use: str, policy: Any) -> Policy:
    """Returns a user's policy; None stands for the one that applies everything."""
    if policy is None:
        return Policy()
    if not isinstance(policy, Policy):
        raise user_error(
            f"{use}: expected a staleness policy, such as drop(8), scale() or warm_up(100, drop(8)) of "
            f"gx.distribute.staleness, got {policy!r:.60}",
            InvalidTypeError,
        )
    return policy


def _count(use: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise user_error(f"{use}: expected an int of at least 0, got {value!r:.60}")
    return value


hint_missing(globals(), "gx.distribute.staleness")
