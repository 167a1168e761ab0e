"""Simulates spare replicas against stragglers: the first 8 of 8 + b gradients make a step.

Parameter servers with synchronous updates wait for the slowest replica. With b spare ones, they use the first 8
gradients of a version and discard the late ones (Chen et al. 2016, Revisiting Distributed Synchronous SGD). Server and
schedule are those of a real training; only the time of a gradient is random: about a second, and in one of 20 cases a
delay of 3 seconds on average on top. The paper divides 100 machines; here each spare replica is one more machine, and
the replica seconds count it.
"""

import random
import statistics

import numpy as np
from matplotlib.figure import Figure
from rich.console import Console
from rich.table import Table

from graphc.cluster.parameters import Body, Keeper, Push, Schedule, Shard, SimulatedTraining

N, SPARES, STEPS = 8, range(5), 300


def seconds(chance):
    """Draws the time that a replica takes for a gradient, in seconds."""
    delay = chance.expovariate(1 / 3) if chance.random() < 0.05 else 0.0
    return chance.lognormvariate(0.0, 0.1) + delay


def train(spares):
    """Returns the seconds of each step, and the share of gradients that were too late."""
    chance = random.Random(spares)
    replicas = [f"/job:worker/task:{number}" for number in range(N + spares)]
    schedule = Schedule.of(replicas, servers=1, round=N)
    for _ in range(STEPS * len(replicas)):
        schedule.submit("a gradient")

    def push(number, worker, versions):
        return [Push("client", number, worker, rows=32, version=versions[0], added={0: Body(np.ones(1))})]

    server = Keeper(Shard([np.zeros(1)], round=N))
    training = SimulatedTraining(schedule, [lambda: server], lambda worker, number: seconds(chance), push)
    training.run()
    shard = training.servers[0].shard
    assert shard.values[0] == shard.ledger.count("applied")  # each gradient counts once, or not at all
    times = np.diff([0.0, *training.updates[:STEPS]])
    return times, shard.ledger.count("late") / len(list(shard.ledger))


def draw(spares, means):
    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    axes.bar(spares, means, color="tab:blue", width=0.6)
    axes.set(xlabel=f"spare replicas, beside {N}", ylabel="seconds of a step (bars)", title="Steps and stragglers")
    cost = axes.twinx()
    cost.plot(spares, [(N + b) * mean for b, mean in zip(spares, means, strict=True)], "o-", color="tab:red")
    cost.set(ylabel="replica seconds of a step (line)", ylim=(0, 20))
    figure.savefig("stragglers.png")


if __name__ == "__main__":
    results = [train(spares) for spares in SPARES]
    means = [statistics.mean(times) for times, _ in results]
    table = Table("spares", "mean step", "9 of 10 steps within", "replica seconds", "late gradients")
    for spares, mean, (times, late) in zip(SPARES, means, results, strict=True):
        row = (f"{mean:.2f} s", f"{np.quantile(times, 0.9):.2f} s", f"{(N + spares) * mean:.1f}", f"{late:.0%}")
        table.add_row(str(spares), *row)
    Console(width=100).print(table)
    draw(list(SPARES), means)
    cheapest = min(SPARES, key=lambda spares: (N + spares) * means[spares])
    print(f"a step takes the least replica seconds with {cheapest} spares; drawn: stragglers.png")
