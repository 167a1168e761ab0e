"""Trains an MLP on real data in several processes, which resume from the last checkpoint if one of them dies.

    graphc launch --processes 2 --restarts 1 examples/several_processes.py

Run alone, with ``python examples/several_processes.py``, it trains the same weights.
"""

import os
import sys

import numpy as np
from sklearn.datasets import load_digits

import graphc as gx

gx.distribute.initialize()  # first: it joins the other processes, if there are any
rank, count = gx.distribute.process_index(), gx.distribute.process_count()
STEPS, ROWS = 120, 128

digits = load_digits()
x, y = (digits.data / 16).astype(np.float32), digits.target.astype(np.int32)
train, test = np.arange(1500), np.arange(1500, 1797)

parallel = gx.distribute.DataParallel()  # the devices of all processes
gx.random.seed(0)  # the same weights everywhere
with parallel.scope():
    model = gx.layers.Sequential([gx.layers.Dense(64, activation="relu"), gx.layers.Dense(10)])
    model(x[:1])
    optimizer = gx.optim.Adam(0.01)
    optimizer.build(model.trainable_variables)


@gx.function
def step(x, y):
    with gx.GradientTape() as tape:
        loss = gx.losses.sparse_softmax_cross_entropy(y, model(x))
    weights = model.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights, strict=True))
    return loss


@gx.function
def right(x, y):
    return gx.mean(gx.astype(gx.argmax(model(x), axis=1) == y, "float32"))


def batch(number):
    """Returns the batch of a step, of which this process reads its part."""
    chosen = np.random.default_rng(number).permutation(train)[:ROWS]
    mine = chosen[rank * ROWS // count : (rank + 1) * ROWS // count]
    return parallel.from_local((x[mine], y[mine]))


if __name__ == "__main__":
    folder = sys.argv[1] if len(sys.argv) > 1 else "digits-checkpoints"
    dies_at = int(sys.argv[2]) if len(sys.argv) > 2 else None  # to see a restart
    with gx.train.Checkpoint(folder, keep=2, model=model, optimizer=optimizer) as checkpoint:
        first = 0 if checkpoint.latest is None else checkpoint.restore()
        for number in range(first, STEPS):
            if number == dies_at and rank == count - 1 and first == 0:
                os.abort()
            loss = step(*batch(number))
            if (number + 1) % 20 == 0:
                checkpoint.save(number + 1)
    if first < STEPS:
        print(f"steps {first} to {STEPS} on {count} processes: loss {loss.item():.3f}")
    print(f"accuracy on {len(test)} other digits: {right(*parallel.shard((x[test], y[test]))).item():.3f}")
