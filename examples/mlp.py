"""Trains a small network on the sine: layers, an optimizer, and one compiled program for each step."""

import graphc as gx

gx.random.seed(0)
network = gx.layers.Sequential([gx.layers.Dense(32, activation="tanh"), gx.layers.Dense(1)])
optimizer = gx.optim.Adam(1e-2)


@gx.function
def step(x, y):
    with gx.GradientTape() as tape:
        loss = gx.losses.mean_squared_error(y, network(x))
    weights = network.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights, strict=True))
    return loss


def example_args():
    x = gx.linspace(-3.0, 3.0, 256).reshape(-1, 1)
    return x, gx.sin(x)


if __name__ == "__main__":
    x, y = example_args()
    for number in range(1001):
        loss = step(x, y)
        if number % 250 == 0:
            print(f"step {number}: loss {loss.item():.5f}")
    print(*step.trace_report(), sep="\n")
