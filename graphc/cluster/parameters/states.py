"""Location of an optimizer's state among the servers: the slices of their arrays that belong to each Variable."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np

from graphc.cluster.parameters.layout import Layout
from graphc.cluster.parameters.rules import RuleText
from graphc.training.optim import Optimizer

__all__ = ["Slot", "collected", "slots_of"]


class Slot(NamedTuple):
    """A slice of a leaf of a server's state that belongs to one of the optimizer's Variables.

    Attributes:
      name: the Variable's name in ``named_variables``.
      leaf: the position of the leaf.
      offset: the slice's start in the leaf; None for the whole leaf.
      start: the slice's start in the Variable.
      size: the slice's length.
    """

    name: str
    leaf: int
    offset: int | None = None
    start: int = 0
    size: int = 0


def slots_of(optimizer: Optimizer, layout: Layout, server: int, rule: RuleText) -> list[Slot]:
    """Returns where a server has the state of an optimizer; the state of tables stays on the servers.

    Args:
      optimizer: the optimizer, with its state built.
      layout: the layout of the servers' values.
      server: the index of the server.
      rule: the description of the optimizer that the server received.
    """
    index = {variable.name: place for place, variable in enumerate(optimizer.targets)}
    buffers = [layout.servers[server][place] for place in rule.buffers]
    found: list[Slot] = []
    if rule.by_element:
        names = optimizer.state_names([jax.ShapeDtypeStruct((buffer.size,), buffer.dtype) for buffer in buffers])
        for leaf, (name, owner) in enumerate(zip(names, rule.owners, strict=True)):
            pieces = () if owner is None else buffers[owner].pieces
            kind = name.rpartition("/")[0]
            found += [Slot(name, leaf)] if owner is None else []
            found += [
                Slot(f"{kind}/{index[piece.name]}", leaf, piece.offset, piece.row * piece.width, piece.size)
                for piece in pieces
                if piece.name in index
            ]
        return found
    order = [piece.name for buffer in buffers for piece in buffer.pieces if piece.name in index]
    types = [jax.ShapeDtypeStruct(layout.shapes[name], layout.variables[name].dtype) for name in order]
    for leaf, name in enumerate(optimizer.state_names(types)):
        kind, _, place = name.rpartition("/")
        found.append(Slot(f"{kind}/{index[order[int(place)]]}" if kind and place.isdecimal() else name, leaf))
    return found


def collected(
    old: Mapping[str, Any], slots: Sequence[Sequence[Slot]], states: Sequence[Sequence[Any]]
) -> dict[str, Any]:
    """Returns the state of an optimizer by name, from the leaves of each server's state.

    Args:
      old: arrays by name, which stay where no server has other numbers.
      slots: the slots of each server.
      states: the leaves of each server.
    """
    new = {name: np.array(array) for name, array in old.items()}
    for some, leaves in zip(slots, states, strict=True):
        for slot in some:
            leaf, array = np.asarray(leaves[slot.leaf]), new[slot.name]
            if slot.offset is None:
                new[slot.name] = leaf.reshape(array.shape)
            else:
                array.reshape(-1)[slot.start : slot.start + slot.size] = leaf[slot.offset : slot.offset + slot.size]
    return new
