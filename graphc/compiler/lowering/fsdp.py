"""Fully sharded parameters, split over the devices of the batch: each op that uses one gathers it temporarily.

This is FSDP (Rajbhandari and others, ZeRO, 2020). The backward pass gathers a parameter again, so that a device never
holds more than its part of all parameters and one whole parameter.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import jax
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

__all__ = ["BATCH_AXES", "Split", "gathering", "splits"]

BATCH_AXES: dict[Mesh, str] = {}
"""The axis of each mesh along which batches are split, registered by ``distribute``."""


@dataclass(frozen=True, slots=True)
class Split:
    """The layouts of a parameter.

    Attributes:
      kept: the layout while it is not used.
      used: the layout while it is used.
    """

    kept: NamedSharding
    used: NamedSharding


def splits(names: Sequence[str], layouts: Sequence[Any]) -> dict[str, Split]:
    """Returns, by name, the layouts of the Variables that are split over the devices of the batch."""
    found: dict[str, Split] = {}
    for name, layout in zip(names, layouts, strict=True):
        if isinstance(layout, NamedSharding) and layout.mesh in BATCH_AXES:
            spec = P(*[_without(part, BATCH_AXES[layout.mesh]) for part in layout.spec])
            if spec != layout.spec:
                found[name] = Split(layout, NamedSharding(layout.mesh, spec))
    return found


def _without(part: Any, axis: str) -> Any:
    """Returns the partition of one array axis without one axis of the mesh."""
    given = cast("tuple[Any, ...]", part) if isinstance(part, tuple) else (part,)
    names = [name for name in given if name not in (axis, None)]
    return tuple(names) if len(names) > 1 else names[0] if names else None


def gathering(function: Callable[..., Any], places: Mapping[int, Split]) -> Callable[..., Any]:
    """Returns the function with some inputs gathered first, and gathered again in its derivative."""

    def gathered(*inputs: Any) -> Any:
        given = [_gathered(value, places[place]) if place in places else value for place, value in enumerate(inputs)]
        return function(*given)

    return cast("Any", jax.checkpoint)(gathered)


def _gathered(value: Any, split: Split) -> Any:
    lay_out = cast("Any", jax.lax.with_sharding_constraint)
    return lay_out(lay_out(value, split.kept), split.used)  # both, so that its gradient is split in the same way
