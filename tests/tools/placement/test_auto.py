"""``gx.placement.auto`` on functions of a user's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphc as gx

X = gx.asarray(np.linspace(-1, 1, 64 * 64, dtype="f").reshape(64, 64))
PLACES = ["cpu:0", "cpu:2"]


def branches(x: Any) -> Any:
    """Two chains that meet, the second begun by an op that the user has pinned."""
    a = gx.tanh(x @ x) @ x
    with gx.device("cpu:1"):
        b = gx.exp(-x)
    c = b @ x @ x
    return gx.sum(a + c), c


def test_the_proposal_computes_the_same_and_keeps_pins() -> None:
    proposal = gx.placement.auto(branches, X, devices=PLACES, rounds=2)
    for found, expected in zip(proposal.function(X), branches(X), strict=True):
        np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-4)
    pinned = [unit for unit in proposal.units if unit.pinned]
    assert [unit.device for unit in pinned] == ["/device:CPU:1"]
    assert {unit.device for unit in proposal.units} <= {"/device:CPU:0", "/device:CPU:1", "/device:CPU:2"}
    assert sum(unit.ops for unit in proposal.units) == len(proposal.devices)
    assert set(proposal.function.trace(X).devices) == {unit.device for unit in proposal.units}
    assert proposal.alone.measured is not None
    assert proposal.alone.predicted > 0
    text = str(proposal)
    assert "/device:CPU:1 (pinned)" in text
    assert text.splitlines()[0] == repr(proposal).removeprefix("<Proposal: ").removesuffix(">")  # in one line
    assert "one device: predicted" in text


def test_a_chain_stays_on_one_device() -> None:
    def chain(x: Any) -> Any:
        for _ in range(3):
            x = gx.tanh(x) @ x
        return x

    proposal = gx.placement.auto(chain, X, devices=PLACES, rounds=2)
    assert proposal.one_device == "/device:CPU:0"
    assert proposal.transfers == 0
    assert proposal.function.trace(X).plan is None
    assert "chain: one device, /device:CPU:0" in str(proposal)


def test_room_decides_where_there_is_little() -> None:
    def wide(x: Any) -> Any:
        parts = [gx.sin(x * number) @ x for number in range(4)]
        return gx.sum(parts[0] * parts[1]) + gx.sum(parts[2] * parts[3])

    room = {"cpu:0": 4 * X.size * 3.5, "cpu:2": 1e9}
    proposal = gx.placement.auto(wide, X, devices=PLACES, memory=room, measure=False)
    assert proposal.peaks["/device:CPU:0"] <= room["cpu:0"]
    assert "/device:CPU:2" in {unit.device for unit in proposal.units}
    with pytest.raises(gx.errors.InvalidArgumentError, match=r"no placement fits into memory.* and has 100"):
        gx.placement.auto(wide, X, devices=["cpu:0"], memory={"cpu:0": 100}, measure=False)


def test_variables_stay_where_they_are_and_keep_their_values() -> None:
    with gx.device("cpu:2"):
        weight = gx.Variable(np.eye(64, dtype="f"))

    @gx.function
    def step(x: Any) -> Any:
        y = x @ weight
        weight.assign_sub(y * 0.1)
        return gx.sum(y)

    proposal = gx.placement.auto(step, X, devices=["cpu:0"], rounds=2)
    assert np.array_equal(weight.numpy(), np.eye(64))
    assert proposal.function(X).item() == pytest.approx(float(X.numpy().sum()), abs=1e-3)
    assert weight.device == "/device:CPU:2"
    np.testing.assert_allclose(weight.numpy(), np.eye(64) - 0.1 * X.numpy(), rtol=1e-5)


def test_what_calls_the_host_is_not_run() -> None:
    seen: list[float] = []

    def told(x: Any) -> Any:
        return gx.pyfunc(lambda value: seen.append(1.0) or value, gx.TensorSpec((64, 64), "float32"), x @ x)

    proposal = gx.placement.auto(told, X, devices=PLACES)
    assert seen == []
    assert proposal.spread.measured is proposal.alone.measured is None
    assert "not measured" in str(proposal)


def test_a_loop_is_placed_as_a_whole() -> None:
    def looped(x: Any) -> Any:
        y = x
        for _ in range(50):
            y = gx.tanh(y @ x)
        return y

    proposal = gx.placement.auto(looped, X, devices=["cpu:2"], rounds=1)
    assert proposal.function(X).device == "/device:CPU:2"
    assert proposal.function.trace(X).plan is None


def test_what_cannot_be_placed_is_refused() -> None:
    with pytest.raises(gx.errors.InvalidArgumentError, match=r"gx\.placement\.auto: expected a function, got 3"):
        gx.placement.auto(3)  # pyright: ignore[reportArgumentType]
    for devices in ([], ["cpu:0", "/cpu:0"]):
        with pytest.raises(gx.errors.InvalidArgumentError, match="expected one or more different devices"):
            gx.placement.auto(branches, X, devices=devices)
    for memory in (3, {"cpu:0": "much"}, {"cpu:0": -1}):
        with pytest.raises(
            gx.errors.InvalidTypeError, match="memory must be a dict with the number of bytes for each device"
        ):
            gx.placement.auto(branches, X, memory=memory)  # pyright: ignore[reportArgumentType]

    def spanning(x: Any) -> Any:
        for _ in range(50):
            with gx.device("cpu:1"):
                x = gx.sin(x)
            with gx.device("cpu:2"):
                x = x * 2
        return x

    with pytest.raises(gx.errors.UnimplementedError, match="the body of 'scan' is pinned to several devices"):
        gx.placement.auto(spanning, X)
    with pytest.raises(gx.errors.InvalidArgumentError, match=r"placement must be None or a result of gx"):
        gx.function(branches, placement="cpu:0")  # pyright: ignore[reportArgumentType,reportCallIssue]
