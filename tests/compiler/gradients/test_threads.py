"""Gradients of what other threads compute while a tape is open."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import jax.numpy as jnp
import pytest

import graphc as gx
from graphc import Tensor
from graphc.compiler.base.errors import GradientWarning, LeakedTensorError, UnimplementedError
from tests.compiler.gradients.agreement import f


@pytest.fixture(name="pool")
def _pool() -> Generator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(1) as pool:
        yield pool


@gx.custom_gradient
def doubled_gradient(x: Tensor) -> Any:
    return x * x, lambda upstream: 4.0 * x * upstream


@gx.function
def compiled_square(x: Tensor) -> Tensor:
    return x * x


def assigned(x: Tensor) -> Tensor:
    y = gx.zeros((2,)) + x
    y[0] = x * x
    return y[0]


def branched(x: Tensor) -> Tensor:
    return gx.cond(x > 0.0, lambda: x * x, lambda: x)


WORK: dict[str, tuple[Callable[[Tensor], Any], float]] = {
    "an operator": (lambda x: x * x, 6.0),
    "a function": (lambda x: gx.square(x), 6.0),
    "several outputs": (lambda x: gx.sum(gx.stack(gx.modf(x * x)[:1])), 6.0),
    "a compiled function": (compiled_square, 6.0),
    "a new compiled function": (lambda x: gx.function(lambda: x * x)(), 6.0),
    "a custom gradient": (doubled_gradient, 12.0),
    "JAX": (lambda x: gx.call_jax(jnp.square, x), 6.0),
    "an item assignment": (assigned, 6.0),
    "a branch": (branched, 6.0),
    "an inner gradient": (gx.grad(lambda x: x**3 / 3.0), 6.0),
    "a device scope": (lambda x: _on_cpu(x), 6.0),
}


def _on_cpu(x: Tensor) -> Tensor:
    with gx.device("cpu:0"):
        return x * x


@pytest.mark.parametrize("kind", WORK)
def test_gradients_flow_through_another_thread(kind: str, pool: ThreadPoolExecutor) -> None:
    work, expected = WORK[kind]
    found = gx.grad(lambda x: pool.submit(work, x).result() * 1.0)(f(3.0))
    assert found.item() == expected


def test_a_watched_tensor_may_be_the_result_of_another_thread(pool: ThreadPoolExecutor) -> None:
    x = f(3.0)
    with gx.GradientTape() as tape:
        tape.watch(x)
        y = pool.submit(lambda: x * x).result()
    assert tape.gradient(y, x).item() == 6.0


def test_each_of_two_threads_has_its_tape_and_shares_a_tensor() -> None:
    both_open, found = threading.Barrier(2), {}

    def differentiate(factor: float) -> None:
        x = f(3.0)
        with gx.GradientTape() as tape:
            tape.watch(x)
            both_open.wait(10)
            y = x * x * factor
            both_open.wait(10)
        found[factor] = tape.gradient(y, x).item()

    threads = [threading.Thread(target=differentiate, args=(factor,)) for factor in (1.0, 2.0)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert found == {1.0: 6.0, 2.0: 12.0}


def test_a_thread_beside_the_tape_records_nothing(pool: ThreadPoolExecutor) -> None:
    x = f(3.0)
    with gx.GradientTape() as tape:
        tape.watch(x)
        other = pool.submit(lambda: f(2.0) * 3.0).result()
        y = x * other
    assert tape.gradient(y, [x, other])[0].item() == 6.0
    assert tape._records == []  # pyright: ignore[reportPrivateUsage]


READS: dict[str, Callable[[gx.Variable], Any]] = {
    "eager": lambda v: v * v,
    "compiled": gx.function(lambda v: v * v),
    "compiled closure": lambda v: gx.function(lambda: v * v)(),
}


@pytest.mark.parametrize("kind", READS)
@pytest.mark.parametrize("later", [lambda y: y, lambda y: y * 2.0], ids=["target", "input"])
def test_a_variable_that_another_thread_reads_is_told(
    kind: str, later: Callable[[Tensor], Tensor], pool: ThreadPoolExecutor
) -> None:
    v = gx.Variable(3.0, name="weight")
    told = pytest.warns(GradientWarning, match=r"to the Variable 'weight.*' .*, line \d+, .*w = variable.value\(\)")
    with told, gx.GradientTape() as tape:
        y = later(pool.submit(READS[kind], v).result())
        assert tape.gradient(y, v) is None


def test_a_variable_of_another_threads_own_business_is_not_told(pool: ThreadPoolExecutor) -> None:
    v, x = gx.Variable(3.0), f(2.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with gx.GradientTape() as tape:
            pool.submit(lambda: v * v).result()
            w, stopped = v.value(), gx.stop_gradient(pool.submit(lambda: v * 2.0).result())
            y = pool.submit(lambda: w * w).result() * x * stopped
        assert tape.gradient(y, v).item() == 72.0


def test_no_gradient_is_lost_in_numpy_or_jax(pool: ThreadPoolExecutor) -> None:
    lost = gx.grad(lambda x: gx.asarray(pool.submit(jnp.concatenate, [x[None], x[None]]).result())[0])
    with pytest.raises(UnimplementedError, match="loses the gradient"):
        lost(f(3.0))
    shown = gx.grad(lambda x: x * pool.submit(x.numpy).result().reshape(1)[0:1])
    with pytest.raises(UnimplementedError, match="loses the gradient"):
        shown(f(3.0))


def test_a_compiled_function_is_traced_in_one_thread(pool: ThreadPoolExecutor) -> None:
    @gx.function
    def step(x: Tensor) -> Any:
        return pool.submit(lambda: x * x).result()

    with pytest.raises(LeakedTensorError, match="is used in another thread than the one that traces 'step'"):
        step(f(3.0))


def test_a_call_under_a_tape_that_follows_nothing_is_seen_by_the_tape_of_another_thread(
    pool: ThreadPoolExecutor,
) -> None:
    variable = gx.Variable([1.0, 2.0])
    double = gx.function(lambda x: x * 2.0)
    double(gx.ones(2))
    double(gx.ones(2))
    found: list[gx.Tensor] = []

    def work() -> None:
        value = variable.value()
        with gx.GradientTape():
            found.append(double(value))

    with gx.GradientTape() as tape:
        variable.value()
        pool.submit(work).result(60)
        with pytest.warns(GradientWarning, match="another thread"):
            gradient = tape.gradient(found[0], variable)
    assert gradient is None
