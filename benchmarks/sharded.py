"""What several devices cost in the global view; a process of its own, which has eight simulated ones."""

from __future__ import annotations

import json
import os
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

os.environ["GRAPHC_CPU_DEVICES"] = "8"

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.sharding import Mesh, NamedSharding, PartitionSpec

import graphc as gx

_RNG = np.random.default_rng(0)


class Network:
    """Layers of one size without biases, and a step of their training with Adam."""

    def __init__(self, weights: list[Any]) -> None:
        self.kernels = [gx.Variable(weight, name=f"layer{place}/kernel") for place, weight in enumerate(weights)]
        self.optimizer = gx.optim.Adam(1e-3)

    @gx.function(on_retrace="ignore")
    def step(self, x: Any) -> Any:
        with gx.GradientTape() as tape:
            hidden = x
            for kernel in self.kernels:
                hidden = gx.nn.relu(hidden @ kernel)
            loss = gx.mean((hidden - 1.0) ** 2)
        self.optimizer.apply_gradients(zip(tape.gradient(loss, self.kernels), self.kernels, strict=True))
        return loss


def by_hand(weights: list[Any], x: Any, devices: int) -> tuple[Callable[..., Any], list[Any], Any, Any]:
    """The same in JAX: the step, and what it is given."""
    mesh = Mesh(np.array(jax.devices()[:devices]), ("data",))
    whole, rows = (NamedSharding(mesh, PartitionSpec(*spec)) for spec in ((), ("data",)))
    optimizer = optax.adam(1e-3)
    kernels = jax.device_put([jnp.array(weight) for weight in weights], whole)
    state = jax.device_put(optimizer.init(kernels), whole)

    def loss_of(kernels: list[Any], x: Any) -> Any:
        hidden = x
        for kernel in kernels:
            hidden = jax.nn.relu(hidden @ kernel)
        return jnp.mean((hidden - 1.0) ** 2)

    def step(kernels: list[Any], state: Any, x: Any) -> Any:
        loss, gradients = jax.value_and_grad(loss_of)(kernels, x)
        changes, state = optimizer.update(gradients, state, kernels)
        return loss, optax.apply_updates(kernels, changes), state

    compiled = jax.jit(step, donate_argnums=(0, 1), out_shardings=(None, whole, whole))
    return compiled, kernels, state, jax.device_put(x, rows)


def steps(rounds: int, size: int, rows: int) -> dict[str, Any]:
    """Times a step on four devices; see :func:`in_turns`."""
    return in_turns(gx.distribute.DataParallel([f"cpu:{place}" for place in range(4)]), rounds, size, rows)


def in_turns(parallel: Any, rounds: int, size: int, rows: int) -> dict[str, Any]:
    """Times a step, which waits for its result, as simulated devices need, against JAX by hand."""
    weights = [_RNG.normal(size=(size, size)).astype(np.float32) / size**0.5 for _ in range(3)]
    x = _RNG.normal(size=(rows, size)).astype(np.float32)
    compiled, kernels, state, given = by_hand(weights, x, parallel.num_replicas)
    times: tuple[list[float], list[float]] = [], []
    with parallel.scope():
        network, batch = Network(weights), parallel.shard(x)
        for place in range(rounds + 3):
            start = time.perf_counter()
            ours = network.step(batch).wait()
            middle = time.perf_counter()
            theirs, kernels, state = compiled(kernels, state, given)
            theirs.block_until_ready()
            jax.block_until_ready(kernels)
            end = time.perf_counter()
            np.testing.assert_allclose(ours.numpy(), theirs, rtol=1e-3)
            if place >= 3:
                times[0].append(middle - start)
                times[1].append(end - middle)
    return {"measured": statistics.median(times[0]), "baseline": statistics.median(times[1])}


def memory(layers: int, size: int, rows: int) -> dict[str, Any]:
    """Reads what a device needs of a step over parameters that are split over eight, against one device."""
    weights = [_RNG.normal(size=(size, size)).astype(np.float32) / size**0.5 for _ in range(layers)]
    x = _RNG.normal(size=(rows, size)).astype(np.float32)
    needed: list[int] = []
    held = 0
    for rules, devices in (((), 1), ({"kernel": "data"}, 8)):
        sharding = gx.distribute.Sharding({"data": devices}, rules)
        with sharding.scope():
            network, batch = Network(weights), sharding.shard(x)
            network.step(batch).wait()
            found = gx.explain(network.step, batch).memory
            assert found is not None
            needed.append(found.total)
            state = [*network.kernels, *network.optimizer.variables]
            held = sum(shard.data.nbytes for each in state for shard in each.raw.addressable_shards) // devices
    return {"needed": needed[1], "one": needed[0], "layer": size * size * 4, "held": held}


def calls(rounds: int) -> dict[str, float]:
    """Times calls on one device, once there are arrays on several; batches of 100 in turns."""
    a, b = (gx.asarray(_RNG.normal(size=(4, 4)).astype(np.float32)) for _ in range(2))
    spread = gx.distribute.Sharding({"data": 8}).shard(np.ones((8, 4), np.float32))
    compiled, jitted = gx.function(lambda x, y: x + y, on_retrace="ignore"), jax.jit(lambda x, y: x + y)
    compiled(spread, spread).wait()
    x, y = a.raw, b.raw
    pairs: list[Callable[[], Any]] = [lambda: compiled(a, b), lambda: jitted(x, y)]
    times: list[list[float]] = [[], []]
    for place in range(rounds + 1):
        for number in (0, 1) if place % 2 else (1, 0):
            start = time.perf_counter()
            for _ in range(100):
                result = pairs[number]()
            jax.block_until_ready(result)
            times[number].append((time.perf_counter() - start) / 100)
    return {"measured": statistics.median(times[0][1:]), "baseline": statistics.median(times[1][1:])}


if __name__ == "__main__":
    quick = sys.argv[2] == "quick"
    if sys.argv[1] == "steps":
        found = steps(3, 32, 32) if quick else steps(100, 512, 512)
    elif sys.argv[1] == "calls":
        found = calls(2 if quick else 100)
    else:
        found = memory(2, 32, 16) if quick else memory(8, 512, 64)
    print(json.dumps(found))
