"""Sparse and ragged tensors and rows: their functions, and as arguments, results and what loops carry."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphc as gx
from graphc.compiler.base.errors import ConcretizationError, InvalidArgumentError, InvalidTypeError, OutOfRangeError

SPARSE = gx.SparseTensor([[0, 1], [1, 2]], [5.0, 7.0], (2, 3))
DENSE = np.asarray([[0, 5, 0], [0, 0, 7]], np.float32)
RAGGED = gx.RaggedTensor.constant([[1, 2], [], [3]])


def functions_of_sparse(s: Any) -> dict[str, Any]:
    return {
        "dense": s.to_dense(),
        "nines": s.to_dense(9.0),
        "sum": [s.sum(), s.sum(0), s.sum(1, keepdims=True)],
        "product": s.matmul(np.arange(6, dtype=np.float32).reshape(3, 2)),
        "adjoint": s.matmul(np.ones((2, 2), np.float32), adjoint_a=True),
        "turned": s.transpose(),
        "negative": s.map_values(gx.multiply, -1.0),
    }


def test_sparse_tensors_eagerly_and_compiled() -> None:
    for run in (functions_of_sparse, gx.function(functions_of_sparse)):
        found = run(SPARSE)
        assert found["dense"].tolist() == DENSE.tolist()
        assert found["nines"].tolist() == np.where(DENSE, DENSE, 9).tolist()
        sums = [found["sum"][0].item(), found["sum"][1].tolist(), found["sum"][2].tolist()]
        assert sums == [12.0, [0, 5, 7], [[5], [7]]]
        assert found["product"].tolist() == (DENSE @ np.arange(6).reshape(3, 2)).tolist()
        assert found["adjoint"].tolist() == (DENSE.T @ np.ones((2, 2))).tolist()
        assert found["turned"].to_dense().tolist() == DENSE.T.tolist()
        assert found["negative"].to_dense().tolist() == (-DENSE).tolist()
    assert gx.SparseTensor.from_dense(DENSE).indices.tolist() == [[0, 1], [1, 2]]
    mixed = gx.SparseTensor([[1, 0], [0, 2], [0, 1]], [1, 2, 3], (2, 3)).reorder()
    assert (mixed.indices.tolist(), mixed.values.tolist()) == ([[0, 1], [0, 2], [1, 0]], [3, 2, 1])
    assert (SPARSE.shape, SPARSE.get_shape().rank, SPARSE.dense_shape.tolist()) == ([2, 3], 2, [2, 3])
    assert repr(gx.SparseTensor([[0]], [1], (2,))) == "SparseTensor(indices=[[0]], values=[1], dense_shape=[2])"


def test_loops_carry_composites_and_gradients_flow() -> None:
    @gx.function
    def f(s: Any, n: Any) -> Any:
        for _ in range(n):
            if s.sum() > 4:
                s = s.with_values(s.values * 0.5)
        return s

    assert f(SPARSE, gx.asarray(5)).values.tolist() == [1.25, 1.75]

    def slope(values: Any) -> Any:
        with gx.GradientTape() as tape:
            tape.watch(values)
            y = gx.sum(gx.SparseTensor(SPARSE.indices, values, (2, 3)).to_dense() ** 2)
        return tape.gradient(y, values)

    for run in (slope, gx.function(slope)):
        assert run(gx.asarray([1.0, 2.0])).tolist() == [2.0, 4.0]


def functions_of_ragged(r: Any) -> dict[str, Any]:
    return {
        "dense": r.to_tensor(shape=[None, 3]),
        "filled": r.to_tensor(-1, [None, 2]),
        "lengths": r.row_lengths(),
        "ids": r.value_rowids(),
        "squares": r.map_flat_values(gx.square),
        "starts": (r.row_starts(), r.row_limits()),
    }


def test_ragged_tensors_eagerly_and_compiled() -> None:
    for run in (functions_of_ragged, gx.function(functions_of_ragged)):
        found = run(RAGGED)
        assert found["dense"].tolist() == [[1, 2, 0], [0, 0, 0], [3, 0, 0]]
        assert found["filled"].tolist() == [[1, 2], [-1, -1], [3, -1]]
        assert (found["lengths"].tolist(), found["ids"].tolist()) == ([2, 0, 1], [0, 0, 2])
        assert found["squares"].to_list() == [[1, 4], [], [9]]
        assert [part.tolist() for part in found["starts"]] == [[0, 2, 2], [2, 2, 3]]
    assert (RAGGED.shape, RAGGED.nrows(), len(RAGGED), RAGGED.bounding_shape()) == ([3, None], 3, 3, (3, 2))
    assert [row.tolist() for row in RAGGED] == RAGGED.to_list()
    assert [row.tolist() for row in RAGGED.numpy()] == RAGGED.to_list()
    assert repr(RAGGED) == "<RaggedTensor [[1, 2], [], [3]]>"


def test_ragged_tensors_are_made_in_many_ways() -> None:
    ragged = gx.RaggedTensor
    rows = [[1, 2], [], [3]]
    assert ragged.from_row_splits([1, 2, 3], [0, 2, 2, 3]).to_list() == rows
    assert ragged.from_row_lengths([1, 2, 3], [2, 0, 1]).to_list() == rows
    assert ragged.from_value_rowids([1, 2, 3], [0, 0, 2]).to_list() == rows
    assert ragged.from_value_rowids([1, 2, 3], [0, 0, 2], nrows=4).to_list() == [*rows, []]
    padded = [[1, 2, 0], [0, 0, 0], [3, 0, 0]]
    assert ragged.from_tensor(padded, padding=0).to_list() == rows
    assert ragged.from_tensor(padded, lengths=[2, 0, 1]).to_list() == rows
    deep = ragged.constant([[[1, 2], [3]], [], [[4]]])
    assert (deep.ragged_rank, deep.shape, deep.flat_values.tolist()) == (2, [3, None, None], [1, 2, 3, 4])
    assert deep.to_tensor().tolist() == [[[1, 2], [3, 0]], [[0, 0], [0, 0]], [[4, 0], [0, 0]]]
    assert (deep[0].to_list(), deep[-1].to_list(), deep.bounding_shape()) == ([[1, 2], [3]], [[4]], (3, 2, 2))


def test_rows_stand_for_their_tensor() -> None:
    rows = gx.IndexedSlices([[1.0, 2.0], [10.0, 20.0]], [2, 2], (3, 2))
    assert gx.sum(rows, 0).tolist() == [11.0, 22.0]
    negative = gx.function(lambda rows: -rows)(rows)
    assert negative.to_dense().tolist() == [[0, 0], [0, 0], [-11, -22]]
    assert (rows.shape, gx.IndexedSlices([[1.0]], [0]).shape) == ([3, 2], [None, 1])
    assert rows.dense_shape is not None


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (
            lambda: gx.SparseTensor([[0]], [1.0, 2.0], (3,)),
            InvalidArgumentError,
            r"do not fit; expected \[n, 1\] and \[n\]",
        ),
        (
            lambda: SPARSE.matmul([[1.0]]),
            InvalidArgumentError,
            r"matmul: a SparseTensor of shape \(2, 3\) and a tensor",
        ),
        (
            lambda: gx.function(gx.SparseTensor.from_dense)(gx.ones(2)),
            ConcretizationError,
            "from_dense: .* values that a compiled function does not know .* make the SparseTensor of indices",
        ),
        (lambda: gx.function(lambda r: r.to_tensor())(RAGGED), ConcretizationError, r"pass shape=\[None, columns\]"),
        (
            lambda: gx.RaggedTensor.from_row_splits([1], [0, 2]),
            InvalidArgumentError,
            r"ascend from 0 to the 1 values, got \[0, 2\]",
        ),
        (lambda: gx.RaggedTensor.constant([1]), InvalidArgumentError, r"expected a list of lists, got \[1\]"),
        (lambda: gx.add(SPARSE, 1.0), InvalidTypeError, r"a SparseTensor is no tensor here; x\.to_dense\(\) is one"),
        (lambda: gx.sum(RAGGED), InvalidTypeError, r"a RaggedTensor is no tensor here; x\.to_tensor\(\) is one"),
        (lambda: RAGGED[3], OutOfRangeError, "row 3 of a RaggedTensor of 3 rows"),
        (lambda: gx.asarray(gx.IndexedSlices([[1.0]], [1])), InvalidArgumentError, "give them a dense_shape"),
    ],
)
def test_what_does_not_fit_is_refused(call: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=f"(?s){message}.*test_composites"):
        call()
