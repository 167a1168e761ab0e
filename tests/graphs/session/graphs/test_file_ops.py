"""Operations that read, write and find files."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest

from graphc.compiler.base.errors import NotFoundError
from graphc.compiler.core import string
from graphc.graphs.session import Graph, Session, host_functions, placeholder


def test_files_are_written_found_and_read_when_a_run_needs_it(tmp_path: Path) -> None:
    with Graph().as_default() as graph:
        name, text = placeholder(string, ()), placeholder(string, ())
        write = host_functions.write_file(name, text)
        with graph.control_dependencies([write]):
            again = host_functions.read_file(name, name="again")
        found = host_functions.matching_files([str(tmp_path / "deep" / "*.txt"), str(tmp_path / "none*")])
        path = tmp_path / "deep" / "a.txt"
        with Session() as session:
            assert not path.exists()
            session.run(write, {name: str(path), text: "one\n"})
            assert path.read_bytes() == b"one\n"
            assert session.run(again, {name: str(path), text: b"\xfftwo"}) == b"\xfftwo"
            assert path.read_bytes() == b"\xfftwo"
            assert session.run(found).tolist() == [str(path).encode()]
            path.unlink()
            assert session.run(found).shape == (0,)
    assert (again.name, write.name, found.shape) == ("again:0", "WriteFile", (None,))


def test_a_missing_file_fails_the_run(tmp_path: Path) -> None:
    with Graph().as_default(), Session() as session:
        contents = host_functions.read_file(str(tmp_path / "none"))
        with pytest.raises(NotFoundError, match="none: No such file or directory") as caught:
            session.run(contents)
        assert isinstance(caught.value, FileNotFoundError)


def test_each_run_has_its_own_time() -> None:
    with Graph().as_default(), Session() as session:
        now = host_functions.timestamp()
        first, second = session.run(now), session.run(now)
    assert time.time() - 60 < first <= second <= time.time()
    assert first.dtype == np.float64
