"""Times of devices come from the ops in a profile, each moment counted once."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from graphc.compiler.runtime.costs.times import times_of


def plane(name: str, *ops: tuple[str, float, float, dict[str, Any]]) -> Any:
    events = [
        SimpleNamespace(start_ns=start * 1e9, duration_ns=(end - start) * 1e9, stats=[("hlo_op", op), *facts.items()])
        for op, start, end, facts in ops
    ]
    line = SimpleNamespace(events=[SimpleNamespace(start_ns=0, duration_ns=1e12, stats=[]), *events])
    return SimpleNamespace(name=name, lines=[line])


def test_a_device_computes_communicates_or_waits_for_the_last() -> None:
    first, second = {"device_ordinal": 0, "run_id": 7}, {"device_ordinal": 1, "run_id": 7}
    host = plane(
        "/host:CPU",
        ("while.1", 0, 10, first),  # what is inside counts
        ("dot.1", 0, 2, first),
        ("fusion", 1, 3, first),  # beside it
        ("psum.3", 2, 6, first),  # for a second it hides behind the fusion
        ("psum.3", 8, 10, first),  # again, in the next iteration
        ("dot.1", 0, 5, second),
        ("psum.3", 5, 6, second),
        ("psum.3", 7, 10, second),
    )
    found = times_of([host], {"psum.3"}, {"while.1"})
    assert [vars(found[device]) for device in (0, 1)] == [
        pytest.approx({"compute": 3, "waiting": 2, "communication": 1 + 2}),
        pytest.approx({"compute": 5, "waiting": 1, "communication": 1 + 2}),
    ]


def test_devices_with_planes_of_their_own_are_told_by_these() -> None:
    found = times_of([plane("/device:GPU:3", ("loop_fusion", 0, 1, {})), plane("/host:metadata")], set(), set())
    assert {device: time.compute for device, time in found.items()} == {3: pytest.approx(1)}
