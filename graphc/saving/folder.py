"""A folder of saved functions: writes are atomic, and reads detect damage.

    manifest.json                       what there is, and a checksum of each file; renamed last
    9f31c2aa-predict-0.graph            the graph of each signature, as text
    9f31c2aa-variables.safetensors      the Variables
    9f31c2aa-constants.safetensors      large constants, and tensors that the functions found outside
    9f31c2aa-3d5e.jax                   functions of JAX, as jax.export wrote them
    9f31c2aa-lock                       while the save goes on; the system unlocks it when its process ends

A save that is killed leaves the previous contents, or a folder without a manifest, and files that the next save
removes. Of two saves at once, the contents are those of one.
"""

from __future__ import annotations

import json
import re
import secrets
import zlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

import numpy as np

from graphc.compiler.base.errors import (
    DataLossError,
    FailedPreconditionError,
    FileStateError,
    GraphcError,
    NotFoundError,
)
from graphc.compiler.base.files import file_errors
from graphc.compiler.ir import OPS, OpDef, dtype_from_short, short_dtype
from graphc.library.formats import ArrayFile, Mark, checksum, is_in_progress, sync, write_arrays

FORMAT = "graphc saved functions"
MANIFEST = "manifest.json"
_OURS = re.compile(r"[0-9a-f]{8}-[^/]*|\.tmp[A-Za-z0-9]{6}")  # the latter are what a killed graphc 0.2 left
_LONGEST_MANIFEST = 1 << 28
_UNSAFE = re.compile(r"[^A-Za-z0-9_.-]")

Arrays = Mapping[str, np.ndarray[Any, Any]]


def damaged(path: Path, why: str) -> DataLossError:
    """Makes the error for a file that differs from what was saved."""
    return DataLossError(f"{path} is damaged: {why}; copy the folder again, or save the functions anew").here()


def _checksum_of(path: Path) -> int:
    """Returns the CRC-32 of a file, which is mapped into memory."""
    return checksum(np.memmap(path, np.uint8, "r")) if path.stat().st_size else 0


class FolderWriter:
    """Writes one folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._token = secrets.token_hex(4)
        self._files: dict[str, dict[str, int]] = {}
        self._is_new = not folder.exists()
        with file_errors(folder):
            self._mark = Mark(self._path("lock"))
            names = [path.name for path in folder.iterdir()]
        strange = next((name for name in names if name != MANIFEST and not _OURS.fullmatch(name)), None)
        if strange is not None:
            self.abandon()
            raise FileStateError(
                f"gx.save: {folder} holds {strange!r}, so it is not a folder of saved functions; choose one that "
                "is new or empty"
            ).here()

    def text(self, name: str, content: str) -> str:
        """Writes a text; returns the name of its file."""
        return self.blob(name, content.encode("utf-8"))

    def blob(self, name: str, content: bytes) -> str:
        """Writes bytes; returns the name of their file."""
        path = self._path(name)
        with file_errors(path):
            path.write_bytes(content)
            sync(path)
        self._files[path.name] = {"bytes": len(content), "crc32": zlib.crc32(content)}
        return path.name

    def arrays(self, name: str, arrays: Arrays) -> dict[str, Any]:
        """Writes arrays; returns their entry for the manifest."""
        path = self._path(name)
        with file_errors(path):
            write_arrays(path, arrays, {"format": FORMAT})
            self._files[path.name] = {"bytes": path.stat().st_size, "crc32": _checksum_of(path)}
        about = {key: {"dtype": short_dtype(array.dtype), "shape": list(array.shape)} for key, array in arrays.items()}
        return {"file": path.name, "arrays": about}

    def _path(self, name: str) -> Path:
        return self._folder / f"{self._token}-{_UNSAFE.sub('_', name)}"

    def finish(self, content: Mapping[str, Any]) -> None:
        """Writes the manifest, which completes the folder, and then removes the previous files."""
        text = json.dumps({"format": FORMAT, **content, "files": self._files})
        unfinished = self._path("manifest.unfinished")
        with file_errors(self._folder):
            unfinished.write_text(f'{{"crc32": {zlib.crc32(text.encode())}, "manifest": {text}}}\n', encoding="utf-8")
            sync(unfinished)
            unfinished.replace(self._folder / MANIFEST)
            sync(self._folder)
        with suppress(OSError):
            self._remove_leftovers()
        self._mark.release()

    def _remove_leftovers(self) -> None:
        """Removes the files of earlier saves, and of those whose process was killed."""
        files = [path.name for path in self._folder.iterdir() if _OURS.fullmatch(path.name)]
        in_progress = {
            token for token in {name[:8] for name in files} if is_in_progress(self._folder / f"{token}-lock")
        }
        named = self._named()  # read after that, by when what has ended has written its manifest
        for name in files:
            if name not in named and name[:8] not in in_progress:
                (self._folder / name).unlink(missing_ok=True)

    def abandon(self) -> None:
        """Removes the files that were written in vain."""
        with suppress(OSError):
            for path in self._folder.glob(f"{self._token}-*"):
                path.unlink()
        self._mark.release()
        with suppress(OSError):
            if self._is_new:
                self._folder.rmdir()

    def _named(self) -> set[str]:
        """Returns the files of the current manifest, which may be another save's."""
        try:
            content: Any = json.loads((self._folder / MANIFEST).read_text(encoding="utf-8"))
            return {name for name in content["manifest"]["files"] if _OURS.fullmatch(name)}
        except (OSError, ValueError, KeyError, TypeError):
            return set()


class FolderReader:
    """Reads one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.manifest = folder / MANIFEST
        if not self.manifest.is_file():
            raise NotFoundError(f"gx.load: {folder} has no {MANIFEST}; give the folder that gx.save wrote").here()
        with file_errors(self.manifest):
            if self.manifest.stat().st_size > _LONGEST_MANIFEST:
                raise damaged(self.manifest, "it is too long")
            text = self.manifest.read_bytes()
        try:
            document: Any = json.loads(text)
            content = document["manifest"]
            if zlib.crc32(json.dumps(content).encode()) != document["crc32"]:
                raise ValueError("its checksum is wrong")
            if content["format"] != FORMAT:
                raise ValueError(f"it says {content['format']!r:.40} where {FORMAT!r} is expected")
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise damaged(self.manifest, f"it cannot be read: {error}") from None
        self.content: Mapping[str, Any] = content

    def blob(self, name: str) -> bytes:
        """Returns the bytes of a file."""
        path, about = self._file(name)
        with file_errors(path):
            data = path.read_bytes()
        if zlib.crc32(data) != about.get("crc32"):
            raise damaged(path, "its checksum is wrong")
        return data

    def text(self, name: str) -> str:
        """Returns the text of a file."""
        try:
            return self.blob(name).decode("utf-8")
        except UnicodeDecodeError as error:
            raise damaged(self.folder / name, f"it is no text: {error}") from None

    def arrays(self, about: Mapping[str, Any]) -> Arrays:
        """Returns the arrays of a file, mapped into memory."""
        path, entry = self._file(about["file"])
        with file_errors(path):
            if _checksum_of(path) != entry.get("crc32"):
                raise damaged(path, "its checksum is wrong")
        file = ArrayFile(path, damaged)
        loaded: dict[str, np.ndarray[Any, Any]] = {}
        for name, one in cast("Mapping[str, Any]", about["arrays"]).items():
            try:
                dtype, shape = dtype_from_short(one["dtype"]), [int(size) for size in one["shape"]]
                if dtype.kind == "O":
                    raise TypeError("it would hold Python objects")
                array = file.array(name, dtype, shape)
            except GraphcError:
                raise
            except (TypeError, ValueError, KeyError, OverflowError) as error:
                raise damaged(path, f"{name!r:.60}: {error}") from None
            loaded[name] = array
        return loaded

    def _file(self, name: str) -> tuple[Path, Mapping[str, Any]]:
        files = self.content["files"]
        if name not in files or not _OURS.fullmatch(name):
            raise damaged(self.manifest, f"it names the file {name!r:.60}, of which it says nothing")
        path = self.folder / name
        with file_errors(path):
            if not path.is_file():
                raise damaged(path, "it is not there")
            if (size := path.stat().st_size) != files[name]["bytes"]:
                raise damaged(path, f"it has {size:,} bytes, but was written with {files[name]['bytes']:,}")
        return path, files[name]


# Versions: of the format, and of each op. What is newer than this graphc is refused. No op, and not the format, has
# had a second version yet: the first that has brings what makes an old graph a new one.

VERSION = 1


def check_version(version: Any, what: str, newest: int, saved_by: Any) -> None:
    """Refuses what is newer than this graphc."""
    if type(version) is not int or version < 1:
        raise ValueError(f"the version of {what} is {version!r:.40}")
    if version > newest:
        raise FailedPreconditionError(
            f"{what} is of version {version}, saved by graphc {saved_by!s:.40}; this graphc reads up to version "
            f"{newest}: install a newer one (pip install -U graphc)"
        )


def known_ops(versions: Mapping[str, Any], saved_by: Any, allowed: Callable[[OpDef], bool]) -> dict[str, OpDef]:
    """Returns the ops that a graph may have, by its names for them; ``versions`` are those when it was saved."""
    ops: dict[str, OpDef] = {}
    for name, version in versions.items():
        if name not in OPS:
            raise FailedPreconditionError(
                f"there is no op {name!r:.60} here; it was saved by graphc {saved_by!s:.40}: install that version or a "
                "newer one"
            )
        check_version(version, f"the op {name!r}", OPS[name].version, saved_by)
        if not allowed(OPS[name]):
            raise ValueError(f"the op {name!r} is not one that a file may have")
        ops[name] = OPS[name]
    return ops
