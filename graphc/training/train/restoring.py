"""The target of a restore: it is compared with the checkpoint first, and then each part is read where it is needed."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, cast

import jax
import numpy as np

from graphc.compiler.core import Variable, array_of
from graphc.compiler.devices import Device
from graphc.compiler.tracing import refuse_in_trace
from graphc.training.train.saved import NO_VARIABLE, Region, Saved

__all__ = ["Target", "faults", "part_of", "refuse_trace"]

_MOST_LISTED = 20


def part_of(name: str) -> str:
    """Returns the name of the checkpoint's part that a name belongs to."""
    return name.partition("/")[0]


def refuse_trace(call: str) -> None:
    """Raises an error if a function is being traced, in which a call would save or restore only once."""
    refuse_in_trace(
        f"{call} is called in a compiled function, where it would run only while the function is traced; call it "
        "between the steps"
    )


def faults(
    kinds: Mapping[str, str], variables: Mapping[str, Variable], states: Collection[str], parts: Collection[str]
) -> str:
    """Describes where a checkpoint and its target differ; empty if they match.

    Args:
      kinds: the contents of the checkpoint, by name: a type, or :data:`NO_VARIABLE`.
      variables: the Variables to restore, by name.
      states: the names of the other objects to restore.
      parts: the parts to restore.
    """
    there = {name: kind for name, kind in kinds.items() if part_of(name) in parts}
    here = {name: f"{variable.dtype.name}{list(variable.shape)}" for name, variable in variables.items()}
    here.update(dict.fromkeys(states, NO_VARIABLE))
    lists = {
        "missing in the checkpoint": [name for name in here if name not in there],
        "additional in the checkpoint": [name for name in there if name not in here],
        "different": [
            f"{name} ({there[name]} in the checkpoint, {kind} here)"
            for name, kind in here.items()
            if name in there and there[name] != kind
        ],
    }
    found = "; ".join(f"{what}: {_listed(names)}" for what, names in lists.items() if names)
    unbuilt = [part for part in parts if found and all(part_of(name) != part for name in here)]
    if unbuilt:
        return f"{found}; {' and '.join(unbuilt)} has no Variables yet: build it before, or call it once"
    return f"{found}; only= restores some of the parts" if lists["additional in the checkpoint"] else found


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _MOST_LISTED
    return ", ".join(names[:_MOST_LISTED]) + (f" and {more} more" if more > 0 else "")


class Target:
    """A Variable that is restored in place: each device reads only its own part.

    Args:
      variable: the Variable.
      saved: the checkpoint.
      name: the name of the array there.
    """

    def __init__(self, variable: Variable, saved: Saved, name: str) -> None:
        self._variable, self._saved, self._name = variable, saved, name
        self._array = array_of(variable)

    def verify(self) -> None:
        """Verifies the checksums of the parts that this process's devices need.

        Raises:
          DataLossError: a file is damaged.
        """
        sharding: Any = self._array.sharding
        places = sharding.addressable_devices_indices_map(self._array.shape)
        self._saved.verify(self._name, [self._region(index) for index in places.values()])

    def assign(self) -> None:
        """Reads the value."""
        if self._array.committed:
            value: Any = jax.make_array_from_callback(self._array.shape, self._array.sharding, self._part)
        else:  # it is on the default device, and stays free to move
            value = self._saved.read(self._name)
        self._variable.assign(value)

    def _part(self, index: Any) -> np.ndarray[Any, Any]:
        found = self._saved.read(self._name, self._region(index))
        # On a CPU, an array may share the memory that it is made from, which is a file here.
        devices = cast("set[Device]", self._array.sharding.device_set)
        return np.array(found) if any(device.platform == "cpu" for device in devices) else found

    def _region(self, index: Any) -> Region:
        shape = self._array.shape
        spans = [span.indices(size) for span, size in zip(index or (slice(None),) * len(shape), shape, strict=True)]
        return tuple((start, stop) for start, stop, _ in spans)
