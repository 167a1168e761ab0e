"""Files and folders: TensorFlow's manners, and graphc's errors."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from graphc.compiler.base import File, errors, files


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "f2.txt").write_bytes(b"hallo\nzwei\r\n\xc3\xa9nd")
    (tmp_path / "a" / "f1.txt").write_bytes(b"x")
    (tmp_path / "a" / ".hidden").write_bytes(b"")
    return tmp_path


def test_folders_are_made_listed_walked_and_removed(place: Path) -> None:
    top = place / "a"
    files.make_directories(top / "c" / "d")
    files.make_directories(top / "c" / "d")
    files.make_directory(str(top / "b"))
    assert files.list_directory(str(top)) == [".hidden", "b", "c", "f1.txt", "f2.txt"]
    assert files.glob(str(top / "f?.txt")) == [str(top / "f1.txt"), str(top / "f2.txt")]
    assert files.glob([str(top / "f2*"), str(top / ".h*"), str(top / "none*")]) == [
        str(top / "f2.txt"),
        str(top / ".hidden"),
    ]
    found = [(str(top), ["b", "c"], [".hidden", "f1.txt", "f2.txt"]), (str(top / "b"), [], [])]
    assert list(files.walk(top))[:2] == found
    assert list(files.walk(top, in_order=False))[-1] == found[0]
    assert list(files.walk(place / "none")) == []
    files.remove_tree(top)
    assert not files.exists(top)


def test_files_are_copied_renamed_and_described(place: Path) -> None:
    one, two, three = (str(place / "a" / name) for name in ("f1.txt", "f2.txt", "f3.txt"))
    files.copy(one, three)
    files.copy(two, f"file://{three}", overwrite=True)
    assert files.stat(three).length == 16
    assert files.stat(three).mtime_nsec > 0
    assert files.stat(place).is_directory
    files.rename(three, one, overwrite=True)
    assert (files.exists(three), files.stat(one).length) == (False, 16)
    files.remove(one)
    assert (files.exists(one), files.exists(""), files.is_directory(place), files.is_directory(two)) == (
        False, False, True, False,
    )  # fmt: skip


def test_a_read_only_file_system_permits_nothing() -> None:
    with pytest.raises(errors.PermissionDeniedError, match="here: Read-only file system"), files.file_errors("here"):
        raise OSError(errno.EROFS, "Read-only file system")


@pytest.mark.parametrize(
    ("call", "error", "builtin", "message"),
    [
        (lambda p: files.remove(p / "no"), errors.NotFoundError, FileNotFoundError, "no: No such file or directory"),
        (lambda p: files.remove_tree(p / "no"), errors.NotFoundError, FileNotFoundError, "no: No such file"),
        (lambda p: files.stat(p / "no"), errors.NotFoundError, FileNotFoundError, "no: No such file"),
        (lambda p: files.list_directory(p / "no"), errors.NotFoundError, FileNotFoundError, "there is no such folder"),
        (lambda p: files.list_directory(p / "a/f1.txt"), errors.NotFoundError, OSError, "there is no such folder"),
        (lambda p: files.make_directory(p / "x/y"), errors.NotFoundError, FileNotFoundError, "x/y: No such file"),
        (lambda p: files.make_directory(p / "a/f1.txt"), errors.AlreadyExistsError, FileExistsError, "File exists"),
        (lambda p: files.copy(p / "no", p / "q"), errors.NotFoundError, FileNotFoundError, "no: No such file"),
        (lambda p: files.copy(p / "a/f1.txt", p / "a/f2.txt"), errors.AlreadyExistsError, FileExistsError,
         r"f2\.txt exists already; overwrite=True replaces it"),
        (lambda p: files.rename(p / "a/f1.txt", p / "a/f2.txt"), errors.AlreadyExistsError, FileExistsError,
         "overwrite=True replaces it"),
        (lambda p: files.remove(p / "a"), errors.FailedPreconditionError, OSError, "a is a folder; remove_tree"),
        (lambda p: File(p / "a").read(), errors.FailedPreconditionError, OSError, "a: Is a directory"),
        (lambda p: File(p / "no").read(), errors.NotFoundError, FileNotFoundError, "no: No such file"),
        (lambda p: File(p / "w", "w").read(), errors.PermissionDeniedError, PermissionError, "mode 'w', not for read"),
        (lambda p: File(p / "w").write("x"), errors.PermissionDeniedError, PermissionError, "mode 'r', not for writ"),
        (lambda p: File(p / "w", "z"), errors.InvalidArgumentError, ValueError, "a file must be 'r', 'w'.* got 'z'"),
        (lambda p: File(p / "a/f1.txt").seek(0, 5), errors.InvalidArgumentError, ValueError, "must be 0 .* got 5"),
        (lambda _: files.exists("gs://bucket/x"), errors.UnimplementedError, NotImplementedError,
         "gs://bucket/x: graphc reads and writes only local files"),
    ],
)  # fmt: skip
def test_what_fails_says_so(place: Path, call: object, error: type, builtin: type, message: str) -> None:
    with pytest.raises(error, match=message) as caught:
        call(place)  # type: ignore[operator]
    assert isinstance(caught.value, builtin)
    assert "test_files.py" in str(caught.value)


def test_a_file_is_read_by_bytes_and_lines(place: Path) -> None:
    path = place / "a" / "f2.txt"
    with File(str(path)) as file:
        assert (file.read(3), file.tell(), file.readline(), file.readline()) == ("hal", 3, "lo\n", "zwei\n")
        assert (file.readlines(), file.read(), file.size(), file.seekable()) == (["énd"], "", 16, True)
        file.seek(-2, 2)
        assert (file.read(), file.name, file.mode) == ("nd", str(path), "r")
        file.seek(0)
        assert list(file) == ["hallo\n", "zwei\n", "énd"]
        with pytest.raises(StopIteration):
            next(file)
    assert File(path, "rb").read() == b"hallo\nzwei\r\n\xc3\xa9nd"
    assert next(File(path)) == "hallo\n"


def test_a_file_is_made_when_it_is_first_written(place: Path) -> None:
    path = place / "new"
    with File(path, "w") as file:
        assert not path.exists()
        file.write("ä")
        file.write(b"b")
        file.flush()
        assert path.read_bytes() == b"\xc3\xa4b"
    with File(path, "a+") as file:
        file.write("c")
        file.seek(0)
        assert file.read() == "äbc"
    assert "mode 'a+'" in repr(file)
