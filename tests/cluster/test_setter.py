"""Where replica_device_setter puts things: as TensorFlow does, over a table of nested scopes."""

from __future__ import annotations

import json
from typing import Any

import pytest

import graphc.compat.v1 as tf
from graphc.cluster import replica_device_setter
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
