"""What runs of a Session cost, next to calls of a compiled function that does the same."""

from __future__ import annotations

import functools
import importlib.util
import statistics
import time
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

import graphc as gx
from benchmarks.harness import Contender, Duel, Reading, Row

__all__ = ["ROWS"]

_TWO_TASKS_SECONDS = 300e-6
"""What a run over two tasks may take."""


def _batch(work: Callable[[], Any], calls: int) -> Callable[[], Callable[[], None]]:
    def sample() -> None:
        for _ in range(calls):
            work()

    return lambda: sample


def _one_feed(quick: bool) -> Duel:
    """A small fetch and one feed, from NumPy to NumPy on both sides."""
    calls = 10 if quick else 200
    with gx.Graph().as_default() as graph:
        x = gx.placeholder("float32", shape=(4,))
        y = x * 2.0 + 1.0
    session = gx.Session(graph=graph)

    @gx.function
    def compiled(x: Any) -> Any:
        return x * 2.0 + 1.0

    array = np.ones(4, np.float32)
    return Duel(
        Contender("session.run", _batch(lambda: session.run(y, {x: array}), calls), calls),
        Contender("a compiled function", _batch(lambda: compiled(array).numpy(), calls), calls),
        lambda: [(session.run(y, {x: array}), compiled(array))],
    )


def _callable(quick: bool) -> Duel:
    """The same by ``make_callable``, against JAX."""
    calls = 10 if quick else 200
    with gx.Graph().as_default() as graph:
        x = gx.placeholder("float32", shape=(4,))
        y = x * 2.0 + 1.0
    call, jitted = gx.Session(graph=graph).make_callable(y, [x]), jax.jit(lambda x: x * 2.0 + 1.0)
    array = np.ones(4, np.float32)
    return Duel(
        Contender("make_callable", _batch(lambda: call(array), calls), calls),
        Contender("jax.jit", _batch(lambda: np.asarray(jitted(array)), calls), calls),
        lambda: [(call(array), np.asarray(jitted(array)))],
    )


def _callable_of_variable(quick: bool) -> Duel:
    """An update of a Variable and a fetch, against a program of JAX that donates its state."""
    calls = 10 if quick else 200
    with gx.Graph().as_default() as graph:
        x = gx.placeholder("float32", shape=(4,))
        v = gx.Variable(np.ones(4, np.float32))
        y: Any = v.assign_add(x) * 2.0
    session = gx.Session(graph=graph)
    session.run(v.initializer)  # pyright: ignore[reportAttributeAccessIssue]
    call = session.make_callable([y], [x])

    @functools.partial(jax.jit, donate_argnums=0)
    def step(state: Any, x: Any) -> Any:
        return state + x, (state + x) * 2.0

    state = [jax.device_put(np.ones(4, np.float32))]
    array = np.ones(4, np.float32)

    def stepped() -> Any:
        state[0], found = step(state[0], array)
        return np.asarray(found)

    return Duel(
        Contender("make_callable", _batch(lambda: call(array), calls), calls),
        Contender("jax.jit", _batch(stepped, calls), calls),
        lambda: [(call(array)[0], stepped())],
    )


def _training_step(quick: bool) -> Duel:
    """A step of gradient descent on Variables, by a graph and by a compiled function."""
    calls = 5 if quick else 50
    rng = np.random.default_rng(0)
    inputs, targets = rng.normal(size=(64, 32)).astype(np.float32), rng.normal(size=(64, 1)).astype(np.float32)
    with gx.Graph().as_default() as graph:
        x, t = gx.placeholder("float32", shape=(None, 32)), gx.placeholder("float32", shape=(None, 1))
        w = gx.Variable(np.zeros((32, 1), np.float32))
        loss = gx.mean(gx.square(x @ w - t))
        (slope,) = graph.gradients(loss, [w])
        update: Any = w.assign_sub(0.1 * slope)
    session = gx.Session(graph=graph)
    session.run(w.initializer)  # pyright: ignore[reportAttributeAccessIssue]
    v = gx.Variable(np.zeros((32, 1), np.float32))

    @gx.function
    def compiled(x: gx.Tensor, t: gx.Tensor) -> gx.Tensor:
        with gx.GradientTape() as tape:
            loss = gx.mean(gx.square(x @ v - t))
        v.assign_sub(0.1 * tape.gradient(loss, v))
        return loss

    feeds = {x: inputs, t: targets}
    return Duel(
        Contender("session.run", _batch(lambda: session.run([update, loss], feeds), calls), calls),
        Contender("a compiled function", _batch(lambda: compiled(inputs, targets).numpy(), calls), calls),
        lambda: [(session.run([update, loss], feeds)[1], compiled(inputs, targets))],
    )


def _two_tasks(quick: bool) -> Reading:
    """Two operations at two tasks of this process, and beside them two programs of JAX that do the same."""
    calls = 10 if quick else 2000
    cluster = gx.ClusterSpec({"ps": ["bench:1"], "worker": ["bench:2"]})
    servers = [gx.Server(cluster, job, 0, "threads") for job in cluster.jobs]
    with gx.Graph().as_default() as graph:
        x = gx.placeholder("float32", shape=(4,))
        with gx.device("/job:ps"):
            doubled = x * 2.0
        with gx.device("/job:worker"):
            y = doubled + 1.0
    session = gx.Session(servers[1].target, graph=graph)
    first, second = jax.jit(lambda x: x * 2.0), jax.jit(lambda x: x + 1.0)
    array = np.ones(4, np.float32)

    def read() -> tuple[float, float, str]:
        ours = _median(lambda: session.run(y, {x: array}), calls)
        theirs = _median(lambda: np.asarray(second(first(array))), calls)
        for server in servers:
            server.stop()
        return ours * 1e6, _TWO_TASKS_SECONDS * 1e6, f"two calls of JAX {theirs * 1e6:.0f} µs"

    return Reading(("a run", "at most"), "µs", read)


def _two_processes(quick: bool) -> Reading:
    """The same at two tasks in processes of their own, and beside it calls of a Ray actor."""
    calls = 5 if quick else 1000
    cluster = gx.ClusterSpec({"ps": ["bench:3"], "worker": ["bench:4"]})
    servers = [gx.Server(cluster, job, 0, "threads" if quick else "ray") for job in cluster.jobs]
    with gx.Graph().as_default() as graph:
        x = gx.placeholder("float32", shape=(4,))
        with gx.device("/job:ps"):
            doubled = x * 2.0
        with gx.device("/job:worker"):
            y = doubled + 1.0
    session = gx.Session(servers[1].target, graph=graph)
    array = np.ones(4, np.float32)
    actor: Any = None
    if not quick:
        import ray as module

        ray: Any = module
        actor = ray.remote(_Echo).remote()

    def read() -> tuple[float, float, str]:
        run = _median(lambda: session.run(y, {x: array}), calls)
        call = run if quick else _median(lambda: ray.get(actor.echo.remote(array)), calls)
        for server in servers:
            server.stop()
        return run * 1e6, 3 * call * 1e6, f"one call of a Ray actor {call * 1e6:.0f} µs"

    return Reading(("a run", "at most"), "µs", read)


class _Echo:
    """A Ray actor that does nothing."""

    def echo(self, array: Any) -> Any:
        return array


def _median(work: Callable[[], Any], calls: int) -> float:
    work()
    times: list[float] = []
    for _ in range(calls):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


ROWS = (
    Row("session-run", "session.run of a small fetch, one feed", 3.0, _one_feed),
    Row("session-callable", "session.make_callable of a small fetch, one feed", 1.8, _callable),
    Row("session-callable-variable", "session.make_callable of an update of a Variable", 2.7, _callable_of_variable),
    Row("session-step", "session.run of a training step", 2.0, _training_step),
    Row("session-tasks", "session.run over two tasks of this process, one edge", 1.0, _two_tasks, rounds=1),
    *(
        [
            Row(
                "session-processes",
                "session.run over two tasks on Ray, against 3 actor calls",
                1.0,
                _two_processes,
                rounds=1,
            )
        ]
        if importlib.util.find_spec("ray") is not None
        else []
    ),
)
