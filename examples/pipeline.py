"""Puts layers on several devices: a recurrent network with a device for each layer, and a pipelined MLP."""

import os

os.environ.setdefault("GRAPHC_CPU_DEVICES", "4")  # read when graphc is imported

import sys

import numpy as np
from sklearn.datasets import load_digits

import graphc as gx

LAYERS, STEPS, UNITS = 3, 6, 64

gx.random.seed(0)
cells = []
for number in range(LAYERS):
    with gx.device(f"cpu:{number + 1}"):
        cells.append(
            (gx.Variable(gx.random.normal((UNITS, UNITS)) / 8), gx.Variable(gx.random.normal((UNITS, UNITS)) / 8))
        )


@gx.function
def recurrent(sequence):
    """Runs all layers at once, each on another time step: layer k at time t needs only k at t - 1 and k - 1 at t."""
    states = [gx.zeros((1, UNITS)) for _ in cells]
    for x in gx.unstack(sequence):
        for number, (inner, outer) in enumerate(cells):
            with gx.device(f"cpu:{number + 1}"):
                x = states[number] = gx.tanh(x @ outer + states[number] @ inner)
    return states[-1]


def example_args():
    return (gx.ones((STEPS, 1, UNITS)),)


def show_recurrent():
    (sequence,) = example_args()
    alone = recurrent.python_function(sequence)
    together = recurrent(sequence)
    steps = [step for step in gx.explain(recurrent, sequence).steps if step.startswith("segment")]
    difference = gx.max(gx.abs(alone - together)).item()
    print(f"{len(steps)} steps on {LAYERS} devices; eager and compiled differ by {difference:.1e}")


def stages():
    gx.random.seed(1)
    return [gx.layers.Dense(128, "relu"), gx.layers.Dense(64, "relu"), gx.layers.Dense(10)]


def loss_of(logits, labels):
    return gx.losses.SparseCategoricalCrossentropy(from_logits=True)(labels, logits)


def train_in_stages(images, labels, epochs):
    pipeline = gx.distribute.Pipeline(stages(), microbatches=8)
    optimizer = gx.optim.Adam(1e-3)

    @gx.function
    def step(x, y):
        loss, pairs = pipeline.value_and_grad(loss_of, x, y)
        optimizer.apply_gradients(pairs)
        return loss

    losses = [step(x, y) for _ in range(epochs) for x, y in batches(images, labels)]
    with gx.profile() as timeline:
        step(images[:256], labels[:256]).wait()
    return [loss.item() for loss in losses], pipeline, timeline


def train_on_one_device(images, labels, epochs):
    model, optimizer = gx.layers.Sequential(stages()), gx.optim.Adam(1e-3)

    @gx.function
    def step(x, y):
        return optimizer.minimize(lambda: loss_of(model(x), y), model)

    model(images[:1])
    return [step(x, y).item() for _ in range(epochs) for x, y in batches(images, labels)]


def batches(images, labels, size=256):
    for start in range(0, len(images), size):
        yield images[start : start + size], labels[start : start + size]


def main(epochs=2):
    show_recurrent()
    digits = load_digits()
    images, labels = (digits.data / 16).astype(np.float32), digits.target.astype(np.int32)
    piped, pipeline, timeline = train_in_stages(images, labels, epochs)
    single = train_on_one_device(images, labels, epochs)
    print(f"loss of the last step: {piped[-1]:.5f} in stages, {single[-1]:.5f} on one device")
    print(f"devices idle: {pipeline.bubble:.0%} predicted for stages of equal cost", end=", ")
    print(f"{pipeline.measured_bubble(timeline):.0%} measured on {', '.join(pipeline.devices)}")
    return max(abs(a - b) for a, b in zip(piped, single, strict=True))


if __name__ == "__main__":
    sys.exit(main() > 1e-3)
