"""``tf.saved_model`` and ``tf.train.Checkpoint`` over graphc's files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from graphc import saving
from graphc.compiler.base.files import PathLike, as_path
from graphc.training.train import Checkpoint as Folder

_DEFAULT = "serving_default"


def save(obj: Any, export_dir: PathLike, signatures: Any = None, options: Any = None) -> None:
    """Saves the compiled methods of an object (TensorFlow's ``saved_model.save``), in graphc's format.

    Args:
      obj: an object whose ``@tf.function`` methods have an ``input_signature``.
      export_dir: the folder.
      signatures: a function, a concrete function, or a dict of these by name, which are saved besides.
      options: TensorFlow's options; ignored.
    """
    del options
    methods: dict[str, Any] = {}
    for name in dir(cast("type[Any]", type(obj))):
        method = getattr(obj, name, None) if not name.startswith("_") or name == "__call__" else None
        if getattr(method, "input_signature", None) is not None:
            methods[name] = method
    if signatures is not None:
        by_name = cast("Mapping[str, Any]", signatures) if isinstance(signatures, Mapping) else {_DEFAULT: signatures}
        methods.update(by_name)
    saving.save(methods or obj, export_dir)


class _Loaded(saving.Saved):
    """A loaded object, with its functions by name as TensorFlow's signatures."""

    @property
    def signatures(self) -> Any:
        return dict(self.functions)


def load(export_dir: PathLike, tags: Any = None, options: Any = None) -> Any:
    """Loads what :func:`save` has written (TensorFlow's ``saved_model.load``).

    Args:
      export_dir: the folder.
      tags: TensorFlow's tags; ignored.
      options: the same.

    Returns:
      An object with the functions as attributes, and ``signatures`` by name.
    """
    del tags, options
    loaded = saving.load(export_dir)
    return _Loaded(str(as_path(export_dir)), loaded.functions, loaded.named_variables())


def contains_saved_model(export_dir: PathLike) -> bool:
    """Returns True for a folder that :func:`save` has written."""
    return (as_path(export_dir) / "manifest.json").is_file()


class _Status:
    """The status object that TensorFlow's ``restore`` returns: graphc restores everything or raises an error."""

    def assert_consumed(self) -> _Status:
        return self

    assert_existing_objects_matched = expect_partial = assert_nontrivial_match = assert_consumed


class Checkpoint:
    """Variables that are saved and restored (TensorFlow's ``train.Checkpoint``), as :class:`graphc.train.Checkpoint`.

    Args:
      root: an object whose Variables are saved, besides those by name.
      **parts: the objects to save, by name.
    """

    def __init__(self, root: Any = None, **parts: Any) -> None:
        self._parts = {**({} if root is None else {"root": root}), **parts}
        self._folders: dict[Path, Folder] = {}
        for name, part in parts.items():
            setattr(self, name, part)

    def _folder(self, path: Path) -> Folder:
        return self._folders.setdefault(path, Folder(path, keep=None, **self._parts))

    def save(self, file_prefix: PathLike) -> str:
        """Saves the Variables in the folder of ``file_prefix``; returns the path of what was written."""
        path = as_path(file_prefix).parent
        folder = self._folder(path)
        folder.save(wait=True)
        return str(path / f"step-{folder.latest}")

    write = save

    def restore(self, save_path: PathLike | None) -> _Status:
        """Gives the Variables the values of a checkpoint; nothing for None, as where there is none yet."""
        if save_path is not None:
            path = as_path(save_path)
            self._folder(path.parent).restore(path)
        return _Status()

    read = restore


class CheckpointManager:
    """Keeps some of the checkpoints of a folder (TensorFlow's ``train.CheckpointManager``).

    Args:
      checkpoint: the checkpoint.
      directory: the folder.
      max_to_keep: the number of checkpoints to keep; None for all.
    """

    def __init__(self, checkpoint: Checkpoint, directory: PathLike, max_to_keep: int | None) -> None:
        self.checkpoint = checkpoint
        self._path = as_path(directory)
        self._folder = Folder(self._path, keep=max_to_keep, **checkpoint._parts)  # pyright: ignore[reportPrivateUsage]

    @property
    def checkpoints(self) -> list[str]:
        """The paths of the checkpoints, the latest last."""
        return [str(self._path / f"step-{step}") for step in self._folder.steps]

    @property
    def latest_checkpoint(self) -> str | None:
        """The path of the latest; None for none."""
        return latest_checkpoint(self._path)

    def save(self, checkpoint_number: int | None = None) -> str:
        """Saves the Variables; returns the path of what was written."""
        self._folder.save(checkpoint_number, wait=True)
        return str(self._path / f"step-{self._folder.latest}")

    def restore_or_initialize(self) -> str | None:
        """Restores the latest checkpoint, if there is one; returns its path."""
        latest = self.latest_checkpoint
        self.checkpoint.restore(latest)
        return latest


def latest_checkpoint(checkpoint_dir: PathLike) -> str | None:
    """Returns the path of the latest checkpoint of a folder (TensorFlow's name); None if there is none."""
    path = as_path(checkpoint_dir)
    steps = sorted(path.glob("step-*/manifest-*.json"), key=lambda manifest: int(manifest.name.split("-")[1]))
    return str(steps[-1].parent) if steps else None
