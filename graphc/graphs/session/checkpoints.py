"""Checkpoint files (safetensors), and a folder's list of checkpoints, in TensorFlow's format.

A checkpoint ``model-100`` is one file, ``model-100.safetensors``. The file ``checkpoint`` next to it names the latest
checkpoint and the others that are kept, in TensorFlow's text format.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from graphc.compiler.base.errors import DataLossError, FileMissingError, NotFoundError
from graphc.compiler.base.files import file_errors
from graphc.graphs.refusals import user_error
from graphc.library import formats

__all__ = [
    "CheckpointReader", "CheckpointState", "checkpoint_exists", "file_of", "get_checkpoint_state", "latest_checkpoint",
    "list_variables", "load_checkpoint", "load_variable", "remove_checkpoint", "update_checkpoint_state",
    "write_arrays",
]  # fmt: skip

_SUFFIX = ".safetensors"
_PLAIN = {
    "bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "bfloat16", "float32",
    "float64",
}  # fmt: skip
"""The dtypes of the format; other arrays are stored as bytes, with their dtype and shape in the metadata."""


def file_of(prefix: str) -> Path:
    """Returns the file of a checkpoint.

    Args:
      prefix: the checkpoint's name, as ``Saver.save`` returns it; the file's own name is taken too.
    """
    return Path(prefix if str(prefix).endswith(_SUFFIX) else f"{prefix}{_SUFFIX}")


def write_arrays(prefix: str, arrays: Mapping[str, np.ndarray[Any, Any]]) -> None:
    """Writes a checkpoint: under a temporary name first, so that no reader sees an incomplete file.

    Args:
      prefix: the checkpoint's name.
      arrays: the values by name.
    """
    stored, notes = dict[str, np.ndarray[Any, Any]](), {"format": "graphc"}
    for name, array in arrays.items():
        plain = array.dtype.name in _PLAIN
        stored[name] = np.asarray(array, order="C") if plain else np.frombuffer(array.tobytes(), np.uint8)
        if not plain:
            notes[f"dtype of {name}"] = array.dtype.name
            notes[f"shape of {name}"] = " ".join(map(str, array.shape))
    path = file_of(prefix)
    with file_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_name(f"{path.name}.tmp")
        formats.write_arrays(unfinished, stored, notes)
        unfinished.replace(path)


class CheckpointReader:
    """Reads a checkpoint.

    Args:
      prefix: the checkpoint's name.

    Raises:
      NotFoundError: the checkpoint does not exist.
      DataLossError: the file is broken.
    """

    def __init__(self, prefix: str) -> None:
        self.prefix = str(prefix)
        path = file_of(self.prefix)
        if not path.is_file():
            raise user_error(f"there is no checkpoint {self.prefix!r}: {path} does not exist", FileMissingError)
        with self._opened() as file:
            self._notes: dict[str, str] = file.metadata() or {}
            self._names: list[str] = sorted(file.keys())

    @contextmanager
    def _opened(self) -> Generator[Any]:
        from safetensors import SafetensorError, safe_open

        path = file_of(self.prefix)
        opened: Any = safe_open
        try:
            with file_errors(path), opened(path, "np") as file:
                yield file
        except SafetensorError as error:
            raise user_error(f"the checkpoint {path} cannot be read: {error}", DataLossError) from error

    def has_tensor(self, name: str) -> bool:
        """Returns True if the checkpoint has a value of that name."""
        return name in self._names

    def get_tensor(self, name: str) -> np.ndarray[Any, Any]:
        """Returns a value.

        Raises:
          NotFoundError: the checkpoint has none of that name.
        """
        if not self.has_tensor(name):
            raise user_error(
                f"Key {name} not found in checkpoint {self.prefix!r}; it has {', '.join(self._names)}", NotFoundError
            )
        with self._opened() as file:
            array: np.ndarray[Any, Any] = file.get_tensor(name)
        return self._as_noted(name, array)

    def _as_noted(self, name: str, array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        dtype = self._notes.get(f"dtype of {name}")
        if dtype is None:
            return array
        shape = [int(size) for size in self._notes[f"shape of {name}"].split()]
        return np.frombuffer(array.tobytes(), np.dtype(dtype)).reshape(shape)

    def get_variable_to_shape_map(self) -> dict[str, list[int]]:
        """Returns the shape of each value by name."""
        return {name: list(self.get_tensor(name).shape) for name in self._names}

    def get_variable_to_dtype_map(self) -> dict[str, np.dtype[Any]]:
        """Returns the dtype of each value by name."""
        return {name: self.get_tensor(name).dtype for name in self._names}


def checkpoint_exists(checkpoint_prefix: str) -> bool:
    """Returns True if the checkpoint exists."""
    return file_of(checkpoint_prefix).is_file()


def remove_checkpoint(prefix: str) -> None:
    """Removes a checkpoint, if it exists."""
    with file_errors(prefix):
        file_of(prefix).unlink(missing_ok=True)


@dataclass
class CheckpointState:
    """The contents of a folder's ``checkpoint`` file.

    Attributes:
      model_checkpoint_path: the latest checkpoint.
      all_model_checkpoint_paths: the checkpoints that are kept, oldest first.
    """

    model_checkpoint_path: str = ""
    all_model_checkpoint_paths: list[str] = field(default_factory=list[str])


def update_checkpoint_state(
    save_dir: str, model_checkpoint_path: str, all_model_checkpoint_paths: Sequence[str] | None = None,
    latest_filename: str | None = None,
) -> None:  # fmt: skip
    """Writes the file that names the checkpoints of a folder.

    Args:
      save_dir: the folder.
      model_checkpoint_path: the latest checkpoint.
      all_model_checkpoint_paths: the checkpoints that are kept, oldest first.
      latest_filename: the file's name; ``checkpoint`` if None.
    """
    paths = [*(all_model_checkpoint_paths or ())]
    if model_checkpoint_path not in paths:
        paths.append(model_checkpoint_path)
    folder = Path(save_dir)
    lines = [f"model_checkpoint_path: {_quoted(folder, model_checkpoint_path)}"]
    lines += [f"all_model_checkpoint_paths: {_quoted(folder, path)}" for path in paths]
    file = folder / (latest_filename or "checkpoint")
    with file_errors(file):
        unfinished = file.with_name(f"{file.name}.tmp")
        unfinished.write_text("\n".join(lines) + "\n", encoding="utf-8")
        unfinished.replace(file)


def _quoted(folder: Path, path: str) -> str:
    """Formats a path for the file: relative if it is below the folder, so that the folder may move."""
    location = Path(path)
    if location.parent == folder:
        location = Path(location.name)
    text = str(location).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{text}"'


def get_checkpoint_state(checkpoint_dir: str, latest_filename: str | None = None) -> CheckpointState | None:
    """Reads the file that names the checkpoints of a folder.

    Args:
      checkpoint_dir: the folder.
      latest_filename: the file's name; ``checkpoint`` if None.

    Returns:
      The file's contents; None if there is no file.
    """
    folder = Path(checkpoint_dir)
    file = folder / (latest_filename or "checkpoint")
    if not file.is_file():
        return None
    state = CheckpointState()
    for key, text in re.findall(r'^(\w+): "(.*)"$', file.read_text(encoding="utf-8"), re.MULTILINE):
        path = re.sub(r"\\(.)", r"\1", text)
        whole = path if Path(path).is_absolute() else str(folder / path)
        if key == "model_checkpoint_path":
            state.model_checkpoint_path = whole
        elif key == "all_model_checkpoint_paths":
            state.all_model_checkpoint_paths.append(whole)
    return state


def latest_checkpoint(checkpoint_dir: str, latest_filename: str | None = None) -> str | None:
    """Returns the latest checkpoint of a folder; None if there is none.

    Args:
      checkpoint_dir: the folder.
      latest_filename: the name of the file that says so; ``checkpoint`` if None.
    """
    state = get_checkpoint_state(checkpoint_dir, latest_filename)
    path = None if state is None else state.model_checkpoint_path
    return path if path and checkpoint_exists(path) else None


def load_checkpoint(ckpt_dir_or_file: str) -> CheckpointReader:
    """Returns a reader of a checkpoint, or of the latest one of a folder.

    Raises:
      NotFoundError: there is no checkpoint.
    """
    prefix = str(ckpt_dir_or_file)
    if Path(prefix).is_dir():
        latest = latest_checkpoint(prefix)
        if latest is None:
            raise user_error(f"the folder {prefix!r} has no checkpoint", FileMissingError)
        prefix = latest
    return CheckpointReader(prefix)


def list_variables(ckpt_dir_or_file: str) -> list[tuple[str, list[int]]]:
    """Returns the name and shape of each value of a checkpoint."""
    return sorted(load_checkpoint(ckpt_dir_or_file).get_variable_to_shape_map().items())


def load_variable(ckpt_dir_or_file: str, name: str) -> np.ndarray[Any, Any]:
    """Returns a value of a checkpoint.

    Args:
      ckpt_dir_or_file: the checkpoint, or a folder.
      name: the name of the value; ``w:0`` stands for ``w``.
    """
    return load_checkpoint(ckpt_dir_or_file).get_tensor(name.removesuffix(":0"))
