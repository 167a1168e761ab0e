"""The target of a restore: it is compared with the checkpoint first, and then each part is read where it is needed."""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, TypeAlias, cast

import jax
import numpy as np

from graphc.compiler.base.errors import (
    DataLossError,
    FileMissingError,
    InvalidArgumentError,
    InvalidTypeError,
    NotFoundError,
)
from graphc.compiler.base.files import PathLike, as_path, file_errors
from graphc.compiler.core import Variable, array_of
from graphc.compiler.devices import Device
from graphc.compiler.tracing import refuse_in_trace
from graphc.library.formats import ArrayFile, checksum
from graphc.training.train.parts import decoded, parts_of
from graphc.training.train.storage import FILES, FORMAT, STATE, state_name

# A checkpoint for reading: any part of any array, however it was split when it was written.

NO_VARIABLE = "no Variable"

_MALFORMED = (ValueError, KeyError, TypeError, IndexError, AttributeError, StopIteration, RecursionError)
"""The errors of reading a manifest whose checksum is right, and which no save has written."""

Region: TypeAlias = tuple[tuple[int, int], ...]
"""The start and end of a part of an array, on each axis."""


class MappedCheckpoint:
    """A checkpoint, whose files are mapped into memory, so that only the requested data is read.

    Args:
      manifest: the checkpoint's manifest.

    Attributes:
      step: the step that it was saved at.
      arrays: the manifest's entry for each array, by name.
      states: the states of other objects, by name, for each process that wrote.

    Raises:
      DataLossError: the manifest is damaged.
    """

    def __init__(self, manifest: Path) -> None:
        self._manifest, self._folder = manifest, manifest.parent
        with file_errors(manifest):
            text = manifest.read_bytes()
        try:
            document: Mapping[str, Any] = json.loads(text)
            content = document["manifest"]
            if zlib.crc32(json.dumps(content).encode()) != document["crc32"]:
                raise ValueError("its checksum is wrong")
            if content["format"] != FORMAT:
                raise ValueError(f"it is of the format {content['format']!r}, this graphc reads {FORMAT!r}")
            _check(content)
        except _MALFORMED as error:
            raise _damaged(manifest, f"the manifest cannot be read: {error}") from error
        self.step: int = content["step"]
        self.arrays: Mapping[str, Mapping[str, Any]] = content["arrays"]
        self.states: Sequence[Mapping[str, Any]] = content["states"]
        self._sizes: Mapping[str, int] = content["files"]
        self._files: dict[str, ArrayFile] = {}
        self._checked: set[tuple[str, str]] = set()

    @property
    def kinds(self) -> dict[str, str]:
        """The type of each Variable, by name, and :data:`NO_VARIABLE` for anything else."""
        types = {name: f"{array['dtype']}{array['shape']}" for name, array in self.arrays.items()}
        variables = {name: kind for name, kind in types.items() if not name.startswith(STATE)}
        return {**variables, **dict.fromkeys(self.states[0], NO_VARIABLE)}

    def facts_of(self, process: int, names: Iterable[str]) -> Any:
        """Returns a fingerprint that shows whether some objects have the same states as in another process."""
        prefix = state_name(process, "")
        checksums = {
            name.removeprefix(prefix): [piece["crc32"] for piece in array["pieces"]]
            for name, array in self.arrays.items()
            if name.startswith(prefix)
        }
        return [
            (self.states[process].get(name), [digest for key, digest in checksums.items() if key.startswith(name)])
            for name in names
        ]

    def verify(self, name: str, regions: Iterable[Region] | None = None) -> None:
        """Verifies the checksums of the parts that hold some regions of an array.

        Args:
          name: the name of the array.
          regions: the regions; the whole array if None.

        Raises:
          DataLossError: a file is damaged or missing; the message names it.
        """
        for region in regions or [self.whole(name)]:
            for piece in self._overlapping(name, region):
                self._verify_piece(name, piece)

    def _verify_piece(self, name: str, piece: Mapping[str, Any]) -> None:
        key = piece["file"], piece["key"]
        if key not in self._checked:
            if checksum(self._view(name, piece)) != piece["crc32"]:
                raise _damaged(self._folder / key[0], f"the checksum of {key[1]} is wrong")
            self._checked.add(key)

    def state(self, process: int, name: str) -> Any:
        """Returns the state of an object, after verifying the checksums of its arrays.

        Raises:
          DataLossError: a file is damaged or missing, or the state is none that :func:`encoded` makes.
        """
        try:
            return decoded(self.states[process][name], lambda array: self.verified(state_name(process, array)))
        except _MALFORMED as error:
            raise _damaged(self._manifest, f"the state of {name} cannot be read: {error!r:.100}") from error

    def verified(self, name: str) -> np.ndarray[Any, Any]:
        """Returns an array after verifying its checksum."""
        self.verify(name)
        return self.read(name)

    def whole(self, name: str) -> Region:
        """Returns the region of a whole array."""
        return tuple((0, size) for size in self.arrays[name]["shape"])

    def read(self, name: str, region: Region | None = None) -> np.ndarray[Any, Any]:
        """Returns a region of an array: a view of the mapped file if one part holds all of it, else a copy.

        Args:
          name: the name of the array.
          region: the region; the whole array if None.

        Raises:
          DataLossError: no file has a part of it.
        """
        region = self.whole(name) if region is None else region
        shape = tuple(stop - start for start, stop in region)
        result: np.ndarray[Any, Any] | None = None
        count = 0
        for piece in self._overlapping(name, region):
            spans = [(max(a, c), min(b, d)) for (a, b), c, d in zip(region, piece["start"], piece["stop"], strict=True)]
            part = np.asarray(self._view(name, piece)[_slices(spans, piece["start"])])
            if part.shape == shape:
                return part
            result = np.empty(shape, part.dtype) if result is None else result
            result[_slices(spans, [start for start, _ in region])] = part
            count += part.size
        if count != math.prod(shape):
            raise _damaged(self._folder, f"no file has all of {name}{list(region)}")
        return np.empty(shape, np.dtype(self.arrays[name]["dtype"])) if result is None else result

    def _overlapping(self, name: str, region: Region) -> list[Mapping[str, Any]]:
        return [
            piece
            for piece in self.arrays[name]["pieces"]
            if all(max(a, c) < min(b, d) for (a, b), c, d in zip(region, piece["start"], piece["stop"], strict=True))
        ]

    def _view(self, name: str, piece: Mapping[str, Any]) -> np.ndarray[Any, Any]:
        """Returns a part as a view of its file."""
        shape = [stop - start for start, stop in zip(piece["start"], piece["stop"], strict=True)]
        dtype = np.dtype(self.arrays[name]["dtype"])
        return self._file(piece["file"]).array(piece["key"], dtype, shape)

    def _file(self, name: str) -> ArrayFile:
        if name not in self._files:
            path = self._folder / name
            with file_errors(path):
                if not path.is_file():
                    raise _damaged(path, "it is missing")
                if (size := path.stat().st_size) != self._sizes[name]:
                    raise _damaged(path, f"it has {size:,} bytes, but was written with {self._sizes[name]:,}")
            self._files[name] = ArrayFile(path, _damaged)
        return self._files[name]


def _check(content: Mapping[str, Any]) -> None:
    """Raises one of several errors if a manifest is none that a save writes."""
    states: Sequence[Any] = content["states"]
    if not states or not all(isinstance(state, dict) for state in states) or not _counts(content["step"]):
        raise ValueError("it has no states, or no step")
    if not _counts(*content["files"].values()) or not all(map(FILES.fullmatch, content["files"])):
        raise ValueError("its files have other names or sizes")
    for name, array in content["arrays"].items():
        if np.dtype(array["dtype"]).hasobject or not _counts(*array["shape"]):
            raise ValueError(f"there is no array of {array['dtype']}{array['shape']}")
        elements = 0
        for piece in array["pieces"]:
            spans = [*zip(piece["start"], piece["stop"], array["shape"], strict=True)]
            is_part = all(_counts(*span) and span[0] <= span[1] <= span[2] for span in spans)
            if not is_part or piece["file"] not in content["files"] or type(piece["key"]) is not str:
                raise ValueError(f"{name} has no part {piece['key']!r:.60}")
            elements += math.prod(stop - start for start, stop, _ in spans)
        if elements != math.prod(array["shape"]):
            raise ValueError(f"no file has all of {name}")


def _counts(*values: Any) -> bool:
    return all(type(value) is int and value >= 0 for value in values)


def _slices(spans: Iterable[tuple[int, int]], origin: Iterable[int]) -> tuple[slice, ...]:
    return tuple(slice(start - first, stop - first) for (start, stop), first in zip(spans, origin, strict=True))


def _damaged(path: Path, why: str) -> DataLossError:
    return DataLossError(f"{path} is damaged: {why}; restore an earlier checkpoint: checkpoint.steps lists them").here()


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
    """Describes where a checkpoint and its target differ; empty if they match."""
    # ``kinds`` has the contents of the checkpoint by name: a type, or :data:`NO_VARIABLE`.
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
    differences = "; ".join(f"{what}: {_listed(names)}" for what, names in lists.items() if names)
    unbuilt = [part for part in parts if differences and all(part_of(name) != part for name in here)]
    if unbuilt:
        return f"{differences}; {' and '.join(unbuilt)} has no Variables yet: build it before, or call it once"
    return f"{differences}; only= restores some of the parts" if lists["additional in the checkpoint"] else differences


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _MOST_LISTED
    return ", ".join(names[:_MOST_LISTED]) + (f" and {more} more" if more > 0 else "")


class RestoredVariable:
    """A Variable that is restored in place: each device reads only its own part."""

    def __init__(self, variable: Variable, saved: MappedCheckpoint, name: str) -> None:
        self._variable, self._saved, self._name = variable, saved, name
        self._array = array_of(variable)

    def verify(self) -> None:
        """Verifies the checksums of the parts that this process's devices need."""
        sharding: Any = self._array.sharding
        indices = sharding.addressable_devices_indices_map(self._array.shape)
        self._saved.verify(self._name, [self._region(index) for index in indices.values()])

    def assign(self) -> None:
        """Reads the value."""
        if self._array.committed:
            value: Any = jax.make_array_from_callback(self._array.shape, self._array.sharding, self._part)
        else:  # it is on the default device, and stays free to move
            value = self._saved.read(self._name)
        self._variable.assign(value)

    def _part(self, index: Any) -> np.ndarray[Any, Any]:
        region = self._saved.read(self._name, self._region(index))
        # On a CPU, an array may share the memory that it is made from, which is a file here.
        devices = cast("set[Device]", self._array.sharding.device_set)
        return np.array(region) if any(device.platform == "cpu" for device in devices) else region

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
        raise FileMissingError(f"from_orbax: {path}: there is no such folder").here()
    with _orbax().StandardCheckpointer() as checkpointer:
        tree = checkpointer.metadata(path).item_metadata.tree
        leaves, structure = _trees.tree_flatten_with_path(tree)
        names = [_trees.keystr(keys, simple=True, separator="/") for keys, _ in leaves]
        kinds = {name: f"{leaf.dtype}{list(leaf.shape)}" for name, (_, leaf) in zip(names, leaves, strict=True)}
        if text := faults(kinds, variables, (), parts):
            raise InvalidArgumentError(f"from_orbax: the checkpoint in {path} does not fit: {text}").here()
        arrays = [array_of(variables[name]) for name in names]
        wanted = [jax.ShapeDtypeStruct(array.shape, array.dtype, sharding=array.sharding) for array in arrays]
        restored = jax.tree.leaves(checkpointer.restore(path, jax.tree.unflatten(structure, wanted)))
    for name, array, value in zip(names, arrays, restored, strict=True):
        variables[name].assign(value if array.committed else np.asarray(value))


def _variables(parts: Mapping[str, Any]) -> dict[str, Variable]:
    variables: dict[str, Variable] = {}
    for name, part in parts.items():
        some, states = parts_of(name, part)
        if states:
            raise InvalidTypeError(
                f"{', '.join(states)} has a state that is not a Variable, which orbax cannot store; omit it, or "
                "save it with gx.train.Checkpoint"
            ).here()
        variables |= some
    return variables


def _orbax() -> Any:
    try:
        return import_module("orbax.checkpoint")
    except ImportError as error:
        text = f"orbax is not installed ({error}): pip install 'graphc[checkpoint]'"
        raise NotFoundError(text).here() from error
