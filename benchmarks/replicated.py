"""What the replica view costs on four simulated devices, and accumulation on one; a process of its own."""

from __future__ import annotations

import json
import os
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

os.environ["GRAPHC_CPU_DEVICES"] = "4"

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.sharding import Mesh, PartitionSpec

import graphc as gx

_RNG = np.random.default_rng(0)


def _layers(weights: list[Any], x: Any, relu: Callable[[Any], Any]) -> Any:
    for kernel in weights:
        x = relu(x @ kernel)
    return x


def by_hand(weights: list[Any]) -> Callable[[Any], Any]:
    """Makes the step in JAX, on four devices; it takes and gives what a user of it would keep."""
    mesh = Mesh(np.array(jax.devices()[:4]), ("data",))
    optimizer = optax.adam(1e-3)

    def loss_of(kernels: list[Any], x: Any) -> Any:
        return jnp.mean((_layers(kernels, x, jax.nn.relu) - 1.0) ** 2)

    def step(kernels: list[Any], state: Any, x: Any) -> Any:
        loss, gradients = jax.value_and_grad(loss_of)(kernels, x)
        loss, gradients = jax.lax.pmean((loss, gradients), "data")
        changes, state = optimizer.update(gradients, state, kernels)
        return loss, optax.apply_updates(kernels, changes), state

    whole, rows = PartitionSpec(), PartitionSpec("data")
    specs = {"in_specs": (whole, whole, rows), "out_specs": (whole, whole, whole)}
    compiled = jax.jit(jax.shard_map(step, mesh=mesh, check_vma=False, **specs), donate_argnums=(0, 1))
    held: list[Any] = [[jnp.array(weight) for weight in weights]]
    held.append(optimizer.init(held[0]))

    def run(x: Any) -> Any:
        loss, *held[:] = compiled(*held, x)
        jax.block_until_ready(held)
        return loss

    return run


def by_graphc(weights: list[Any]) -> Callable[[Any], Any]:
    """Makes the same in graphc."""
    parallel = gx.distribute.DataParallel()
    with parallel.scope():
        kernels = [gx.Variable(weight) for weight in weights]
        optimizer = gx.optim.Adam(1e-3)
        optimizer.build(kernels)

    @parallel.function
    def step(x: Any) -> Any:
        with gx.GradientTape() as tape:
            loss = gx.mean((_layers(kernels, x, gx.nn.relu) - 1.0) ** 2)
        optimizer.apply(tape.gradient(loss, kernels), kernels)
        return gx.distribute.all_mean(loss)

    return lambda x: step(x).wait().raw


def accumulated(weights: list[Any], parts: int) -> Any:
    """Makes a step on one device, in so many micro-batches."""
    kernels = [gx.Variable(weight) for weight in weights]
    optimizer = gx.optim.Adam(1e-3)
    optimizer.build(kernels)

    def losses(x: Any) -> Any:
        return gx.mean((_layers(kernels, x, gx.nn.relu) - 1.0) ** 2, axis=1)

    @gx.function
    def step(x: Any) -> Any:
        loss, gradients = gx.distribute.mean_gradients(losses, kernels, x, accumulate=parts)
        optimizer.apply(gradients, kernels)
        return loss

    return step


def in_turns(steps: list[Callable[[Any], Any]], x: Any, rounds: int) -> dict[str, float]:
    """Times steps that should give the same, each waited for; the first is measured against the second."""
    times: list[list[float]] = [[], []]
    for place in range(rounds + 3):
        found: list[Any] = []
        for step, taken in zip(steps, times, strict=True):
            start = time.perf_counter()
            found.append(jax.block_until_ready(step(x)))
            if place >= 3:
                taken.append(time.perf_counter() - start)
        np.testing.assert_allclose(*found, rtol=1e-3)
    return dict(zip(("measured", "baseline"), map(statistics.median, times), strict=True))


def main(what: str, rounds: int, size: int, rows: int) -> dict[str, float]:
    """Measures a step over replicas, or accumulation."""
    weights = [_RNG.normal(size=(size, size)).astype(np.float32) / size**0.5 for _ in range(3)]
    x = _RNG.normal(size=(rows, size)).astype(np.float32)
    if what == "steps":
        return in_turns([by_graphc(weights), by_hand(weights)], x, rounds)
    four, one = accumulated(weights, 4), accumulated(weights, 1)
    if what == "accumulate":
        return in_turns([lambda x: four(x).raw, lambda x: one(x).raw], x, rounds)
    needed = [step.lower(x).compile().memory_analysis().temp_size_in_bytes for step in (four, one)]
    return dict(zip(("measured", "baseline"), needed, strict=True))


if __name__ == "__main__":
    quick = sys.argv[2] == "quick"
    wide = (256, 8192) if sys.argv[1] != "steps" else (512, 512)
    print(json.dumps(main(sys.argv[1], 3, 32, 64) if quick else main(sys.argv[1], 60, *wide)))
