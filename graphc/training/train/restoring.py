"""The target of a restore: it is compared with the checkpoint first, and then each part is read where it is needed."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from importlib import import_module
from typing import Any, cast

import jax
import numpy as np

from graphc.compiler.base import at, user_location
from graphc.compiler.base.errors import FileMissingError, InvalidArgumentError, InvalidTypeError, NotFoundError
from graphc.compiler.base.files import PathLike, as_path, file_errors
from graphc.compiler.core import Variable, array_of
from graphc.compiler.devices import Device
from graphc.compiler.tracing import refuse_in_trace
from graphc.training.train.parts import parts_of
from graphc.training.train.saved import NO_VARIABLE, Region, Saved

__all__ = ["Target", "faults", "from_orbax", "part_of", "refuse_trace", "to_orbax"]

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


# Variables as orbax checkpoints, the format that most JAX libraries read and write.

_trees: Any = jax.tree_util  # only partly annotated


def to_orbax(folder: PathLike, **parts: Any) -> None:
    """Writes Variables as an orbax checkpoint (``pip install 'graphc[checkpoint]'``), and waits until it is complete.

    The checkpoint is a nested dict: ``model/dense/kernel`` is ``tree["model"]["dense"]["kernel"]``.

    Args:
      folder: the folder of the checkpoint, which is made.
      **parts: Variables, layers, optimizers, generators, and lists, tuples and dicts of these, by name.

    Raises:
      InvalidTypeError: a part has other state than Variables.
      AlreadyExistsError: the folder exists.
      NotFoundError: orbax is not installed.
    """
    refuse_trace("to_orbax")
    tree: dict[str, Any] = {}
    for name, variable in _variables(parts).items():
        *outer, last = name.split("/")
        inside = tree
        for key in outer:
            inside = inside.setdefault(key, {})
        inside[last] = array_of(variable)
    path = as_path(folder).absolute()
    if path.exists():
        with file_errors(path):
            raise FileExistsError(17, "a folder or file of that name exists; orbax writes a new one")
    with _orbax().StandardCheckpointer() as checkpointer:
        checkpointer.save(path, tree)


def from_orbax(folder: PathLike, **parts: Any) -> None:
    """Assigns Variables their values from an orbax checkpoint; each stays on its devices.

    Args:
      folder: the folder of the checkpoint.
      **parts: see :func:`to_orbax`; the names are those of the tree's leaves, with slashes.

    Raises:
      FileMissingError: the folder does not exist.
      InvalidArgumentError: the checkpoint has other names, shapes or dtypes; the message lists them.
      InvalidTypeError: a part has other state than Variables.
      NotFoundError: orbax is not installed.
    """
    refuse_trace("from_orbax")
    variables = _variables(parts)
    path = as_path(folder).absolute()
    if not path.is_dir():
        raise at(FileMissingError(f"from_orbax: {path}: there is no such folder"), user_location())
    with _orbax().StandardCheckpointer() as checkpointer:
        tree = checkpointer.metadata(path).item_metadata.tree
        leaves, structure = _trees.tree_flatten_with_path(tree)
        names = [_trees.keystr(keys, simple=True, separator="/") for keys, _ in leaves]
        kinds = {name: f"{leaf.dtype}{list(leaf.shape)}" for name, (_, leaf) in zip(names, leaves, strict=True)}
        if text := faults(kinds, variables, (), parts):
            error = InvalidArgumentError(f"from_orbax: the checkpoint in {path} does not fit: {text}")
            raise at(error, user_location())
        arrays = [array_of(variables[name]) for name in names]
        wanted = [jax.ShapeDtypeStruct(array.shape, array.dtype, sharding=array.sharding) for array in arrays]
        found = jax.tree.leaves(checkpointer.restore(path, jax.tree.unflatten(structure, wanted)))
    for name, array, value in zip(names, arrays, found, strict=True):
        variables[name].assign(value if array.committed else np.asarray(value))


def _variables(parts: Mapping[str, Any]) -> dict[str, Variable]:
    variables: dict[str, Variable] = {}
    for name, part in parts.items():
        some, states = parts_of(name, part)
        if states:
            error = InvalidTypeError(
                f"{', '.join(states)} has a state that is not a Variable, which orbax cannot store; omit it, or "
                "save it with gx.train.Checkpoint"
            )
            raise at(error, user_location())
        variables |= some
    return variables


def _orbax() -> Any:
    try:
        return import_module("orbax.checkpoint")
    except ImportError as error:
        text = f"orbax is not installed ({error}): pip install 'graphc[checkpoint]'"
        raise at(NotFoundError(text), user_location()) from error
