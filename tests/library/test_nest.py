"""gx.nest: structures as TensorFlow's tf.nest has them."""

from __future__ import annotations

from collections import OrderedDict, defaultdict, namedtuple
from typing import Any

import pytest

import graphc as gx
from graphc.compiler.base.errors import InvalidArgumentError, InvalidTypeError

Point = namedtuple("Point", "x y")
nest = gx.nest


@pytest.mark.parametrize(
    ("structure", "leaves"),  # as TensorFlow 2.21 has them
    [
        ({"b": 1, "a": (2, [3])}, [2, 3, 1]),
        (OrderedDict([("b", 1), ("a", 2)]), [2, 1]),
        (Point(1, [2, None]), [1, 2, None]),
        (None, [None]),
        ("ab", ["ab"]),
        ([[], {}], []),
        (defaultdict(int, a=1), [1]),
    ],
)
def test_structures_are_taken_apart_and_put_together(structure: Any, leaves: list[Any]) -> None:
    assert nest.flatten(structure) == leaves
    packed = nest.pack_sequence_as(structure, leaves)
    assert packed == structure
    assert type(packed) is type(structure)
    assert nest.is_nested(structure) is not (structure in (None, "ab"))
    nest.assert_same_structure(structure, nest.map_structure(lambda x: 0, structure))


def test_functions_of_leaves_are_compiled_as_other_code() -> None:
    @gx.function
    def f(tree: Any) -> Any:
        return nest.map_structure(lambda x, y: max(y, x), tree, {"a": (3.0,), "b": 4.0})

    found = f({"b": gx.asarray(1.0), "a": (gx.asarray(5.0),)})
    assert (found["a"][0].item(), found["b"].item()) == (5.0, 4.0)
    assert nest.map_structure(lambda x, y: x + y, [1, 2], (3, 4), check_types=False) == [4, 6]


def test_composites_are_leaves_unless_they_are_expanded() -> None:
    sparse = gx.SparseTensor([[0, 1]], [2.0], (1, 3))
    assert nest.flatten([sparse]) == [sparse]
    assert [leaf.tolist() for leaf in nest.flatten([sparse], expand_composites=True)] == [[[0, 1]], [2.0]]
    doubled = nest.map_structure(lambda x: x * 2, [sparse], expand_composites=True)[0]
    assert (doubled.indices.tolist(), doubled.values.tolist(), doubled.sizes) == ([[0, 2]], [4.0], (1, 3))


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda: nest.pack_sequence_as([1, 2], [5]), InvalidArgumentError, "the structure has 2 leaves, 1 are given"),
        (lambda: nest.pack_sequence_as([1], 5), InvalidTypeError, "the leaves must be in a list or a tuple, got int 5"),
        (lambda: nest.map_structure(3, [1]), InvalidTypeError, "func must be a function, got 3"),
        (lambda: nest.map_structure(abs), InvalidArgumentError, "give at least one structure"),
        (lambda: nest.map_structure(max, [1], [1, 2]), InvalidArgumentError, "one has 1 parts, the other 2"),
        (lambda: nest.assert_same_structure([1], (2,)), InvalidTypeError, "one is a list, the other a tuple"),
        (lambda: nest.assert_same_structure([1], 2), InvalidArgumentError, r"2 is a leaf, and \[1\] is none"),
        (lambda: nest.assert_same_structure({"a": 1}, {"b": 1}), InvalidArgumentError, "the key 'a', the other 'b'"),
        (lambda: nest.flatten({1: 2, "a": 3}), InvalidTypeError, r"must have an order, got \[1, 'a'\]"),
    ],
)
def test_what_differs_is_refused(call: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=f"(?s){message}.*test_nest"):
        call()
