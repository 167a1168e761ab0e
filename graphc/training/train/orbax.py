"""Variables as orbax checkpoints, the format that most JAX libraries read and write."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import jax
import numpy as np

from graphc.compiler.base import at, user_location
from graphc.compiler.base.errors import FileMissingError, InvalidArgumentError, InvalidTypeError, NotFoundError
from graphc.compiler.base.files import PathLike, as_path, file_errors
from graphc.compiler.core import Variable, array_of
from graphc.training.train.parts import parts_of
from graphc.training.train.restoring import faults, refuse_trace

__all__ = ["from_orbax", "to_orbax"]

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
