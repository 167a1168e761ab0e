"""Saver and checkpoints: values saved by a Session are those of another, and what does not fit is said."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from graphc.compiler.base.errors import DataLossError, InvalidArgumentError, InvalidTypeError, NotFoundError
from graphc.graphs.session import Graph, GraphKeys, GraphVariable, Saver, Session, checkpoints


@pytest.fixture
def graph() -> Iterator[Graph]:
    with Graph().as_default() as made:
        yield made


def initialize(session: Session) -> None:
    session.run([variable.initializer for variable in session.graph.get_collection(GraphKeys.GLOBAL_VARIABLES)])


def test_values_come_back_in_another_session(graph: Graph, tmp_path: Path) -> None:
    w = GraphVariable(np.array([[1.5, 2.5]], "float32"), name="w")
    again = GraphVariable(w.initialized_value(), name="again")
    count = GraphVariable(np.array(3, "int32"), name="count")
    grown = count.assign_add(4)
    saver = Saver()
    with Session(graph=graph) as session:
        initialize(session)
        session.run(grown)
        path = saver.save(session, str(tmp_path / "deep" / "model"), global_step=count)
    assert path == str(tmp_path / "deep" / "model-7")
    graph.finalize()
    with Session(graph=graph) as session:
        saver.restore(session, path)
        values = session.run([w, again, count])
    assert [np.asarray(value).tolist() for value in values] == [[[1.5, 2.5]], [[1.5, 2.5]], 7]
    assert checkpoints.list_variables(str(tmp_path / "deep")) == [("again", [1, 2]), ("count", []), ("w", [1, 2])]
    assert checkpoints.load_variable(path, "count:0") == 7
    reader = checkpoints.load_checkpoint(path)
    assert (reader.has_tensor("w"), reader.has_tensor("v")) == (True, False)
    assert reader.get_variable_to_dtype_map()["w"] == np.float32


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint32", "float16", "complex64", ml_dtypes.bfloat16, "complex128"])
def test_every_dtype_is_kept(tmp_path: Path, dtype: Any) -> None:
    arrays = {"a": np.array([[1, 0, 1]], dtype), "scalar": np.array(1, dtype), "none": np.zeros((0, 2), dtype)}
    arrays["turned"] = np.arange(6).reshape(2, 3).astype(dtype).T
    checkpoints.write_arrays(str(tmp_path / "x"), arrays)
    reader = checkpoints.CheckpointReader(str(tmp_path / "x"))
    for name, array in arrays.items():
        found = reader.get_tensor(name)
        assert (found.dtype, found.shape) == (array.dtype, array.shape)
        np.testing.assert_array_equal(found, array)


def test_as_many_checkpoints_stay_as_are_wanted(graph: Graph, tmp_path: Path) -> None:
    GraphVariable(1.0, name="w")
    saver = Saver(max_to_keep=2, pad_step_number=True)
    prefix = str(tmp_path / "m")
    with Session(graph=graph) as session:
        initialize(session)
        for step in (1, 2, 3, 2):
            saver.save(session, prefix, global_step=step)
    kept = [f"{prefix}-00000003", f"{prefix}-00000002"]
    assert saver.last_checkpoints == kept
    state = checkpoints.get_checkpoint_state(str(tmp_path))
    assert state is not None
    assert (state.model_checkpoint_path, state.all_model_checkpoint_paths) == (kept[1], kept)
    assert checkpoints.latest_checkpoint(str(tmp_path)) == kept[1]
    assert not checkpoints.checkpoint_exists(f"{prefix}-00000001")
    moved = tmp_path.rename(tmp_path.with_name("moved"))
    assert checkpoints.latest_checkpoint(str(moved)) == str(moved / "m-00000002")
    later = Saver()
    later.recover_last_checkpoints([*kept, str(moved / "m-00000002")])
    assert later.last_checkpoints == [str(moved / "m-00000002")]
    checkpoints.remove_checkpoint(str(moved / "m-00000002"))
    assert checkpoints.latest_checkpoint(str(moved)) is None
    assert checkpoints.get_checkpoint_state(str(moved / "none")) is None


def test_variables_under_other_names_and_of_other_shapes(graph: Graph, tmp_path: Path) -> None:
    w = GraphVariable(np.arange(6, dtype="float32"), name="w")
    table = GraphVariable(np.zeros((2, 3), "float32"), name="table")
    with Session(graph=graph) as session:
        initialize(session)
        path = Saver({"old": w}, max_to_keep=None).save(session, str(tmp_path / "m"), write_state=False)
        assert not (tmp_path / "checkpoint").exists()
        Saver({"old": table}, reshape=True).restore(session, path)
        assert session.run(table).tolist() == [[0, 1, 2], [3, 4, 5]]
        with pytest.raises(InvalidArgumentError, match=r"'old' has \[6\], the Variable 'table:0' has \[2, 3\]"):
            Saver({"old": table}).restore(session, path)
        with pytest.raises(NotFoundError, match=r"Key w not found in checkpoint .*; it has old") as caught:
            Saver([w]).restore(session, path)
        assert "test_saver.py" in str(caught.value)


def test_what_cannot_be_saved_or_restored_says_so(graph: Graph, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="No variables to save: make the Variables before the Saver"):
        Saver()
    late = Saver(defer_build=True)
    w = GraphVariable(1.0, name="w")
    with pytest.raises(InvalidTypeError, match="expected Variables of a graph, got 'w' for ''"):
        Saver(["w"])
    with pytest.raises(InvalidArgumentError, match="two Variables have the name 'w'"):
        Saver([w, w])
    with Session(graph=graph) as session:
        for given in (None, str(tmp_path / "none")):
            with pytest.raises(ValueError, match="The passed save_path is not a valid checkpoint"):
                late.restore(session, given)  # type: ignore[arg-type]
        initialize(session)
        path = late.save(session, str(tmp_path / "m"))
    checkpoints.file_of(path).write_bytes(b"no such thing")
    with pytest.raises(DataLossError, match="cannot be read"):
        checkpoints.load_checkpoint(str(tmp_path))
    with pytest.raises(FileNotFoundError, match=r"the folder .* has no checkpoint"):
        checkpoints.load_checkpoint(str(tmp_path.parent))
