"""Compiles a loop into one program. Run it, or compare it: graphc compare examples/loop.py:step"""

import graphc as gx


@gx.function
def step(x, times):
    y = x
    for _ in range(times):
        y = 0.5 * (y + x / y)
    return y


def example_args():
    """Returns the arguments that `graphc compare` and `graphc graph` pass to the functions of this file."""
    return gx.linspace(1.0, 2.0, 1000), 20


if __name__ == "__main__":
    x, times = example_args()
    roots = step(x, times)
    print("the square root of 2, by Newton's method:", roots[-1].item())
    print("largest error:", gx.max(gx.abs(roots * roots - x)).item())
    print(step.graph(x, times))
