"""What a data-parallel step prints, calls on the host and raises: each replica does, and the call raises the first."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphc as gx
from graphc import Tensor
from graphc.compiler.base.errors import InvalidArgumentError, InvalidTypeError
from graphc.training.distribute import DataParallel, PerReplica, all_mean, replica_index

SCALAR = gx.TensorSpec(())


@pytest.fixture(scope="module")
def parallel() -> DataParallel:
    return DataParallel(["cpu:0", "cpu:1", "cpu:2", "cpu:3"])


def weight(parallel: DataParallel) -> gx.Variable:
    with parallel.scope():
        return gx.Variable(1.0)


def test_the_exception_of_the_user_and_the_variables_as_they_were(parallel: DataParallel) -> None:
    w = weight(parallel)

    @parallel.function
    def step(x: Tensor) -> Tensor:
        w.assign_add(all_mean(gx.mean(x)))
        low = gx.min(x)
        if low < 0:
            raise ValueError(f"{low} is less than none")
        return w * x

    step(np.arange(8, dtype=np.float32))
    assert w.numpy() == 4.5
    with gx.deadline(60), pytest.raises(ValueError, match=r"^-3.0 is less than none"):
        step(np.asarray([1, 2, 3, 4, 5, -3, 7, 8], np.float32))
    with pytest.raises(ValueError, match=r"^-3.0 is less than none") as caught:
        step(np.asarray([1, 2, 3, 4, 5, -3, 7, 8], np.float32))
    assert caught.traceback[-1].name == "step"
    assert w.numpy() == 4.5


@pytest.mark.parametrize("ordered", [True, False])
def test_python_runs_on_each_replica(parallel: DataParallel, ordered: bool) -> None:
    log: list[float] = []
    w = weight(parallel)

    def note(x: Tensor) -> float:
        log.append(x.item())
        return x.item() * 2

    @parallel.function
    def step(x: Tensor) -> Any:
        total = gx.sum(x)
        for _ in range(3):
            total = gx.pyfunc(note, SCALAR, total, ordered=ordered)
        w.assign(all_mean(total))
        return total

    found = step(np.arange(8, dtype=np.float32))
    assert isinstance(found, PerReplica)
    assert found.stack().tolist() == [8.0, 40.0, 72.0, 104.0]
    assert sorted(log) == sorted(start * scale for start in (1.0, 5.0, 9.0, 13.0) for scale in (1.0, 2.0, 4.0))
    for start in (1.0, 5.0, 9.0, 13.0):
        own = [value for value in log if value in (start, start * 2, start * 4)]
        assert own == sorted(own), "each replica keeps its order"
    assert w.numpy() == 56.0


def test_its_exception_is_the_very_object(parallel: DataParallel) -> None:
    w = weight(parallel)
    errors = [KeyError(place) for place in range(4)]

    def fail(index: Tensor, x: Tensor) -> float:
        if x.item() > 5:
            raise errors[index.item()]
        return x.item()

    @parallel.function
    def step(x: Tensor) -> Tensor:
        w.assign_add(1.0)
        return gx.pyfunc(fail, SCALAR, replica_index(), gx.max(x)) + all_mean(gx.mean(x))

    step(np.ones(8, np.float32))
    with pytest.raises(KeyError) as caught:
        step(np.asarray([1, 2, 3, 4, 9, 6, 7, 1], np.float32))
    assert caught.value in errors[2:]
    assert w.numpy() == 2.0


def test_prints(parallel: DataParallel, capfd: pytest.CaptureFixture[str]) -> None:
    @parallel.function
    def step(x: Tensor) -> Tensor:
        print("sum", gx.sum(x))
        return x

    step(np.arange(8, dtype=np.float32))
    assert sorted(capfd.readouterr().out.split("\n")) == ["", "sum 1.0", "sum 13.0", "sum 5.0", "sum 9.0"]


def test_what_it_returns_is_checked(parallel: DataParallel) -> None:
    @parallel.function
    def step(x: Tensor) -> Tensor:
        return gx.pyfunc(lambda v: v, "int32", gx.sum(x))

    with pytest.raises(InvalidTypeError, match="of the dtype float32, where i32"):
        step(np.arange(8, dtype=np.float32))


def test_a_collective_in_a_loop_that_a_replica_may_leave_is_refused(parallel: DataParallel) -> None:
    @parallel.function
    def step(x: Tensor) -> Tensor:
        total = gx.sum(x)
        n = gx.asarray(0)
        while n < 3:
            total = gx.pyfunc(lambda v: v, SCALAR, total)
            total = all_mean(total)
            n = n + 1
        return total

    with pytest.raises(InvalidArgumentError, match="pmean runs under a condition that differs between replicas"):
        step(np.arange(8, dtype=np.float32))


def test_a_python_value_that_differs_is_not_assigned(parallel: DataParallel) -> None:
    w = weight(parallel)

    @parallel.function
    def step(x: Tensor) -> Tensor:
        w.assign(gx.pyfunc(lambda: 1.0, SCALAR))
        return x

    with pytest.raises(InvalidArgumentError, match="is assigned a value that differs between replicas"):
        step(np.arange(8, dtype=np.float32))


def test_a_loop_with_prints_may_assign_what_is_the_same(parallel: DataParallel) -> None:
    w = weight(parallel)

    @parallel.function
    def step(x: Tensor) -> Tensor:
        n = gx.asarray(0)
        while n < 3:
            print(n)
            w.assign_add(1.0)
            n = n + 1
        return x

    step(np.arange(8, dtype=np.float32))
    assert w.numpy() == 4.0
