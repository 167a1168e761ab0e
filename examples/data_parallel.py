"""Runs one step on all devices, each with its part of the batch. Without GPUs, it simulates eight devices."""

import os

os.environ.setdefault("GRAPHC_CPU_DEVICES", "8")  # read when graphc is imported

import graphc as gx

parallel = gx.distribute.DataParallel()
with parallel.scope():
    w = gx.Variable(gx.zeros((3,)), name="w")
optimizer = gx.optim.SGD(0.1)


@parallel.function
def step(features, target):
    with gx.GradientTape() as tape:
        loss = gx.mean((features @ w - target) ** 2)
    optimizer.apply_gradients([(tape.gradient(loss, w), w)])  # averages the gradients over the devices
    return loss


if __name__ == "__main__":
    gx.random.seed(0)
    features = gx.random.normal((64, 3))
    target = features @ gx.asarray([1.0, 2.0, 3.0])
    for _ in range(100):
        losses = step(features, target)
    print("devices:", parallel.num_replicas)
    print("loss:", f"{parallel.reduce('mean', losses).item():.2e}")
    print("weights:", [round(weight, 3) for weight in w.numpy().tolist()])
