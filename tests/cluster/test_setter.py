"""Where replica_device_setter puts things: as TensorFlow does, over a table of nested scopes."""

from __future__ import annotations

import json
from typing import Any

import pytest

import graphc as gx
import graphc.compat.v1 as tf
from graphc.cluster import GreedyLoadBalancingStrategy, byte_size_load_fn, replica_device_setter
from graphc.compiler.base.errors import InvalidArgumentError, InvalidTypeError
from tests.cluster.nestings import FILE, SETTERS, devices

ROWS: list[tuple[int, str | None, list[str]]] = json.loads(FILE.read_text(encoding="utf-8"))


@pytest.mark.parametrize("setter", range(len(SETTERS)))
def test_each_thing_is_where_tensorflow_puts_it(setter: int) -> None:
    rows = [row for row in ROWS if row[0] == setter]
    assert len(rows) == 3
    for _, outer, expected in rows:
        found = devices(tf, setter, outer)
        assert found == dict(zip(found, expected, strict=True)), (SETTERS[setter], outer)


def test_the_greedy_strategy_balances_bytes() -> None:
    strategy = GreedyLoadBalancingStrategy(2, byte_size_load_fn)
    with gx.Graph().as_default(), gx.device(replica_device_setter(ps_tasks=2, ps_strategy=strategy)):
        sizes = [("float32", [100]), ("float64", [30]), ("float32", [20, 2]), ("int8", [7]), ("float32", [])]
        found = [tf.Variable(tf.zeros(shape, dtype), name="v").device[-1] for dtype, shape in sizes]
        # 400 bytes; then 120 (float64 is float32 here), 160 more, 7 more, 4 more on the other server
        assert found == ["0", "1", "1", "1", "1"]
        with pytest.raises(InvalidArgumentError, match=r"'open' has no fixed shape; use a load_fn"):
            tf.Variable(tf.placeholder("float32", [None]), name="open", validate_shape=False)


@pytest.mark.parametrize(
    ("wrong", "kind", "message"),
    [
        ({"cluster": 3}, InvalidTypeError, "expected a dict from names of jobs"),
        ({"ps_tasks": 1, "ps_strategy": 3}, InvalidTypeError, "ps_strategy must be callable, got 3"),
        ({"ps_tasks": 1, "ps_device": "/ps:1"}, InvalidArgumentError, "has the part 'ps:1'"),
    ],
)
def test_what_is_wrong_is_refused(wrong: dict[str, Any], kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        replica_device_setter(**wrong)


def test_a_strategy_needs_a_server() -> None:
    with pytest.raises(InvalidArgumentError, match="at least one parameter server"):
        GreedyLoadBalancingStrategy(0, byte_size_load_fn)
