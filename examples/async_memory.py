"""Dispatches training steps without waiting, and keeps their memory flat with gx.config.max_in_flight.

The experiment of "Dive into Deep Learning", section on asynchronous computation: a 512-2048-512-1 network learns from
100 batches of 1024 rows (pass other numbers of batches and rows), and the program prints its resident memory.
Then it evaluates several batches concurrently, and awaits them.
"""

import asyncio
import pathlib
import sys
import time

import graphc as gx

GIVEN = [int(number) for number in sys.argv[1:]] if __name__ == "__main__" else []
BATCHES, ROWS = (*GIVEN, *(100, 1024)[len(GIVEN) :])

gx.random.seed(0)
network = gx.layers.Sequential(
    [gx.layers.Dense(2048, activation="relu"), gx.layers.Dense(512, activation="relu"), gx.layers.Dense(1)]
)
optimizer = gx.optim.SGD(0.05)


def batch():
    return gx.random.normal((ROWS, 512)), gx.ones((ROWS, 1))


@gx.function
def step(x, y):
    with gx.GradientTape() as tape:
        loss = gx.losses.mean_squared_error(y, network(x))
    weights = network.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights, strict=True))
    return loss


@gx.function
def evaluate(x, y):
    return gx.losses.mean_squared_error(y, network(x))


def resident_megabytes():
    """Returns the resident memory of this process in megabytes; on Linux, from the number of 4 KiB pages."""
    statm = pathlib.Path("/proc/self/statm")
    if statm.exists():
        return int(statm.read_text().split()[1]) * 4096 / 1e6
    import resource  # elsewhere only the peak is known: in bytes on macOS

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3)


def train(in_flight):
    with gx.config.scope(max_in_flight=in_flight):
        gx.wait_all()
        before, start, found = resident_megabytes(), time.perf_counter(), []
        for number in range(1, BATCHES + 1):
            loss = step(*batch())
            if number % (BATCHES // 4) == 0:
                found.append(f"{resident_megabytes() - before:+.0f}")
        dispatched = time.perf_counter() - start
        loss.wait()
    print(f"{BATCHES} batches, at most {in_flight} steps in flight: extra MB after each quarter: {' '.join(found)}")
    print(f"dispatched in {dispatched:.1f} s, computed in {time.perf_counter() - start:.1f} s, loss {loss.item():.4f}")


async def losses():
    """Waits for several results at once, without blocking asyncio's event loop, for at most two minutes."""
    with gx.deadline(120.0):
        return await asyncio.gather(*[gx.submit(evaluate, *batch(), priority=number) for number in range(3)])


def example_args():
    return batch()


if __name__ == "__main__":
    step(*batch()).wait()  # traced and compiled
    train(in_flight=2)
    print("evaluated:", " ".join(f"{loss.item():.4f}" for loss in asyncio.run(losses())))
