"""Kernels: which are shared, how many are kept, and how long."""

from __future__ import annotations

import gc
import sys
import weakref
from typing import Any

import numpy as np
import pytest

import graphc as gx
from graphc.compiler.core import kernel
from graphc.compiler.ir import OPS, Attrs, Graph


def test_equal_attributes_share_a_kernel() -> None:
    op = OPS["astype"]
    assert kernel(op, Attrs(dtype=np.dtype("int32"))) is kernel(op, Attrs(dtype=np.dtype("int32")))
    assert kernel(op, Attrs(dtype=np.dtype("int32"))) is not kernel(op, Attrs(dtype=np.dtype("int16")))


def test_the_oldest_kernels_of_an_op_are_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    op = OPS["get_item"]
    monkeypatch.setattr(sys.modules["graphc.compiler.core.fast_path"], "_KERNELS_KEPT", 4)
    op.caches.clear()  # of what other tests have used
    x = gx.asarray(np.arange(9.0, dtype=np.float32))
    assert [x[:stop].shape for stop in range(9)] == [(stop,) for stop in range(9)]
    assert len(op.caches) == 4
    kept = list(op.caches)
    assert x[:8].shape == (8,)
    assert list(op.caches) == kept
    assert x[:0].shape == (0,)
    assert list(op.caches)[:3] == kept[1:]


def graph_of_a_function_under_a_tape() -> weakref.ref[Graph]:
    """The graph of a compiled function that ran, with its gradient, and is gone."""
    function = gx.function(lambda x: gx.sin(x) if x > 0 else x * 2)
    x = gx.asarray(1.0)
    with gx.GradientTape() as tape:
        tape.watch(x)
        y = function(x)
    tape.gradient(y, x)
    return weakref.ref(function.graph(x))


def test_kernels_with_bodies_go_with_their_graphs() -> None:
    before = {name: len(OPS[name].caches) for name in ("call", "vjp")}
    graphs = [graph_of_a_function_under_a_tape() for _ in range(3)]
    gc.collect()
    assert [graph() for graph in graphs] == [None] * 3
    assert {name: len(OPS[name].caches) for name in before} == before


def test_a_graph_shares_its_kernels_between_calls() -> None:
    function = gx.function(lambda x: x * 3)
    x = gx.asarray(2.0)
    graph: Any = function.graph(x)
    kept: list[int] = []
    for _ in range(3):
        with gx.GradientTape() as tape:
            tape.watch(x)
            y = function(x)
        assert tape.gradient(y, x).item() == 3
        kept.append(len(graph.caches))
    assert kept == [kept[0]] * 3
