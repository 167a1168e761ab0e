"""Ops of which an input type is open: what is known of their outputs, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphc as gx
from graphc.compiler.base.errors import GraphcError, InvalidArgumentError, OutOfRangeError
from graphc.compiler.core import trace_scope
from graphc.compiler.ir import OPEN, OPS, Attrs, Node, ProbeError, TensorType, compatible, infer_open, verify
from graphc.compiler.tracing import Trace
from tests.compiler.ops.calls import EXAMPLES, called
from tests.compiler.ops.support import trace
from tests.draws import examples

F32 = np.dtype("float32")
UNRANKED = TensorType((), F32, ranked=False)


def f32(*shape: int) -> TensorType:
    return TensorType(shape, F32)


def inferred(name: str, *types: TensorType, **attrs: Any) -> str:
    return ", ".join(map(str, infer_open(OPS[name], types, Attrs(attrs))))


@pytest.mark.parametrize(
    ("name", "types", "attrs", "result"),
    [
        ("add", (f32(OPEN, 10), f32(32, 10)), {}, "f32[32,10]"),
        ("add", (f32(OPEN, 10), f32(10)), {}, "f32[?,10]"),
        ("add", (f32(OPEN, 10), f32(OPEN, 10)), {}, "f32[?,10]"),
        ("add", (UNRANKED, f32(32, 10)), {}, "f32[*]"),
        ("sin", (UNRANKED,), {}, "f32[*]"),
        ("sum", (UNRANKED,), {}, "f32[]"),
        ("matmul", (f32(OPEN, OPEN), f32(3, 4)), {}, "f32[?,4]"),
        ("mean", (f32(OPEN, 10),), {"axis": 0}, "f32[10]"),
        ("reshape", (f32(OPEN, 784),), {"shape": (-1, 28, 28)}, "f32[?,28,28]"),
        ("reshape", (f32(OPEN, 10),), {"shape": (20,)}, "f32[20]"),
        ("reshape", (f32(OPEN, 3),), {"shape": (-1, 4)}, "f32[?,4]"),
        ("reshape", (f32(OPEN, OPEN),), {"shape": (6,)}, "f32[6]"),
        ("concat", (f32(OPEN, 3), f32(OPEN, 3)), {"axis": 0}, "f32[?,3]"),
        ("concat", (f32(OPEN, 3), f32(2, 3)), {"axis": 1}, "f32[2,6]"),
        ("split", (f32(OPEN, 3),), {"indices_or_sections": 2}, "f32[?,3], f32[?,3]"),
        ("squeeze", (f32(OPEN, 3),), {}, "f32[*]"),
        ("convolve", (f32(OPEN), f32(OPEN)), {"mode": "valid"}, "f32[?]"),
        ("outer", (UNRANKED, UNRANKED), {}, "f32[?,?]"),
        ("get_item", (f32(OPEN, 3),), {"index": ((None, 1, None),)}, "f32[?,3]"),
        ("get_item", (f32(OPEN, 3),), {"index": (-1,)}, "f32[3]"),
        ("nn.conv2d", (f32(OPEN, 28, 28, 1), f32(5, 5, 1, 32)), {}, "f32[?,28,28,32]"),
    ],
)
def test_sizes_are_known_as_far_as_they_are_the_same_in_every_run(
    name: str, types: tuple[TensorType, ...], attrs: dict[str, Any], result: str
) -> None:
    assert inferred(name, *types, **attrs) == result


def nodes(name: str) -> list[Node]:
    """The nodes of the graphs of an op's examples, those that have axes to open."""
    found: list[Node] = []
    for case in EXAMPLES[name]:
        try:
            graph = trace(*called(name, case))
        except GraphcError:  # it needs values
            continue
        found += [node for node in graph.nodes if any(value.type.shape for value in node.inputs)]
    return found


NAMES = sorted(set(EXAMPLES) - {"poly"})  # the polynomial without roots is a scalar


@given(st.data())
@settings(max_examples=examples(150))
def test_what_is_said_of_open_types_holds_for_all_sizes_that_fit(data: st.DataObject) -> None:
    found = nodes(data.draw(st.sampled_from(NAMES)))
    if not found:
        return
    node = data.draw(st.sampled_from(found))
    types = [value.type for value in node.inputs]
    opened = [opened_type(data, type) for type in types]
    try:
        said = infer_open(node.op, opened, node.attrs)
    except ProbeError as error:
        assert "the number of results depends on a size" in str(error)  # noqa: PT017
        return
    sizes = st.sampled_from([1, 2, 3, 4, 5])
    same = data.draw(sizes)
    other = [
        replace(type, shape=tuple([data.draw(st.just(same) | sizes) if size == OPEN else size for size in type.shape]))
        for type in opened
    ]
    for given_types in (types, other):
        try:
            outputs = node.op.infer(given_types, node.attrs, node.regions)
        except Exception:
            assert given_types is other
            continue
        assert len(said) == len(outputs)
        assert all(map(compatible, said, outputs)), (list(map(str, said)), list(map(str, outputs)))


def opened_type(data: st.DataObject, type: TensorType) -> TensorType:
    return replace(type, shape=tuple([data.draw(st.sampled_from([size, OPEN])) for size in type.shape]))


def open_trace(*types: TensorType) -> tuple[Trace, list[Any]]:
    recording = Trace("f")
    return recording, [recording.argument(type, f"x{index}") for index, type in enumerate(types)]


def refused(function: Any, *types: TensorType) -> str:
    recording, arguments = open_trace(*types)
    with trace_scope(recording), pytest.raises(InvalidArgumentError) as caught:
        function(*arguments)
    assert f'at File "{__file__}", line ' in str(caught.value)
    return str(caught.value).partition("\n")[0]


def test_what_cannot_fit_is_refused_with_both_shapes_and_the_line() -> None:
    message = refused(gx.add, f32(OPEN, 3), f32(OPEN, 4))
    assert "add(x1: f32[?,3], x2: f32[?,4]): add got incompatible shapes for broadcasting: (?, 3), (?, 4)" in message
    message = refused(gx.matmul, f32(OPEN, 3), f32(4, OPEN))
    assert "matmul(x1: f32[?,3], x2: f32[4,?]): x1 has 3 columns and x2 has 4 rows" in message
    assert "1031" not in refused(partial(gx.reshape, shape=(3,)), f32(OPEN, 2))


def test_a_number_of_results_that_only_a_run_knows_is_refused() -> None:
    assert "the number of results depends on a size" in refused(gx.unstack, f32(OPEN, 3))


def test_the_shape_of_an_open_tensor_has_none_in_it() -> None:
    _, (x, y) = open_trace(f32(OPEN, 3), UNRANKED)
    assert x.shape == (None, 3)
    assert x.ndim == 2
    with pytest.raises(InvalidArgumentError, match="the number of axes of this tensor"):
        _ = y.shape


def test_indexing_checks_what_is_known() -> None:
    recording, (x,) = open_trace(f32(OPEN, 3))
    with trace_scope(recording):
        assert [str(part.type) for part in (x[-1], x[:5], x[5:, 0], x[..., None])] == [
            "f32[3]", "f32[?,3]", "f32[?]", "f32[?,3,1]",
        ]  # fmt: skip
        with pytest.raises(OutOfRangeError, match="index 3 is out of range for axis 1 of size 3"):
            _ = x[0, 3]


def test_graphs_with_open_types_are_verified_by_the_same_inference() -> None:
    recording, (x,) = open_trace(f32(OPEN, 784))
    with trace_scope(recording):
        output = gx.nn.relu(gx.matmul(x, gx.ones((784, 10)))).mean(axis=0)
    graph = recording.finish([recording.lift(output)])
    assert str(output.type) == "f32[10]"
    verify(graph)
