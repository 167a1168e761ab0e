"""Trains an MLP on real data with parameter servers, while one worker is slow and another one dies.

    python examples/parameter_server.py [ray]

Asynchronous updates apply each gradient as it arrives; synchronous ones use the first three of five workers, so two
are spare. Either way, each step counts once, and the ledger shows the fate of the slow worker's gradients.
"""

import sys
import time

import numpy as np
from sklearn.datasets import load_digits

import graphc as gx

STEPS, ROWS, WORKERS = 400, 64, 5
PROTOCOL = sys.argv[1] if len(sys.argv) > 1 else "threads"

digits = load_digits()
x, y = (digits.data / 16).astype(np.float32), digits.target.astype(np.int32)
train, test = np.arange(1500), np.arange(1500, 1797)


def batches(index, count):
    """Yields the batches of a worker: its part of the data, in its own order."""
    rng = np.random.default_rng(index)
    mine = train[index::count]
    while True:
        rows = rng.permutation(mine)[:ROWS]
        if index == WORKERS - 1:
            time.sleep(0.05)  # this one is slow
        yield x[rows], y[rows]


def trained(**options):
    """Trains one model; returns its accuracy on other digits, and the report."""
    names = {"ps": ["localhost:ps0", "localhost:ps1"], "worker": [f"localhost:worker{i}" for i in range(WORKERS)]}
    cluster = gx.ClusterSpec(names)
    tasks = {(job, i): gx.Server(cluster, job, i, protocol=PROTOCOL) for job in names for i in range(len(names[job]))}
    gx.random.seed(0)
    with gx.distribute.ParameterServer(cluster=cluster, **options) as server:
        with server.scope():
            model = gx.layers.Sequential([gx.layers.Dense(64, activation="relu"), gx.layers.Dense(10)])
            model(x[:1])
        optimizer = gx.optim.SGD(0.1)

        def step(batch):
            images, labels = batch
            with gx.GradientTape() as tape:
                loss = gx.losses.sparse_softmax_cross_entropy(labels, model(images))
            weights = model.trainable_variables
            optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights, strict=True))
            return loss

        def right(images, labels):  # evaluates, without an update, while training continues
            return gx.mean(gx.astype(gx.argmax(model(images), axis=1) == labels, "float32"))

        data = server.dataset(batches)
        scheduled = [server.schedule(step, args=(data,)) for _ in range(STEPS)]
        scheduled[STEPS // 4].result()
        tasks["worker", 0].stop()  # and this one dies
        server.join()
        accuracy = server.run(right, x[test], y[test]).item()
        report = server.report()
    for task in tasks.values():
        task.stop()
    return accuracy, report


if __name__ == "__main__":
    for name, options in {
        "asynchronous": {"staleness": gx.distribute.staleness.scale()},
        "synchronous, 2 of 5 spare": {"updates": "sync", "spares": 2},
    }.items():
        accuracy, report = trained(**options)
        first = report.servers[0]
        fates = ", ".join(f"{first.count(fate)} {fate}" for fate in ("applied", "late", "lost"))
        print(f"{name}: accuracy {accuracy:.3f}, {first.version} updates; of {STEPS} steps {fates}")
        gone = [worker.worker for worker in report.workers if not worker.alive]
        print(f"  slow: {', '.join(report.slow) or 'none'}; gone: {', '.join(gone) or 'none'}")
        if name == "asynchronous":
            print(report)
