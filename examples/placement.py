"""Places operations with pins, with functions that decide, and with the measurements of gx.placement.auto."""

import os

os.environ.setdefault("GRAPHC_CPU_DEVICES", "4")  # read when graphc is imported

import itertools
import logging
import sys

import graphc as gx


@gx.function
def pinned(x):
    """Pins two products in compiled code; unpinned operations run on the default device."""
    with gx.device("cpu:1"):
        a = gx.sin(x) @ x
        with gx.device("/device:*:2"):  # the inner pin wins; the outer one decides what it leaves open
            b = gx.cos(x) @ x
    return a, b, gx.sum(x)


turns = itertools.cycle(["cpu:1", "cpu:2", "cpu:3"])


def spread(node):
    """Puts Variables on the first CPU, products in turn on the others, and leaves the rest open."""
    if node.op == "variable":
        return "cpu:0"
    return next(turns) if node.op == "matmul" else None


with gx.device(spread):
    weights = [gx.Variable(gx.eye(256) * 0.5, name=f"w{number}") for number in range(3)]


@gx.function
def layers(x):
    with gx.device(spread):
        return [x @ weight for weight in weights]


@gx.function
def branches(x):
    """Computes two chains that are independent up to their ends, and an operation that stays at its pin."""
    a = b = x
    for _ in range(4):
        a = gx.tanh(a @ x)
        b = gx.sin(b @ x)
    with gx.device("cpu:1"):
        first = gx.exp(a)
    return gx.sum(first + b)


def example_args():
    return (gx.ones((256, 256)) / 256,)


def show_log():
    """Prints the records that gx.config.log_device_placement sends to the logger graphc.tools.placement."""
    handler = logging.StreamHandler(sys.stdout)
    handler.setFormatter(logging.Formatter("  %(message)s"))
    logger = logging.getLogger("graphc.tools.placement")
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)


if __name__ == "__main__":
    (x,) = example_args()
    print("pinned:", *(result.device for result in pinned(x)))
    print("Variables:", *(weight.device for weight in weights))
    print("products:", *(product.device for product in layers(x)))

    show_log()
    with gx.config.scope(log_device_placement=True):
        print("what runs where:")
        gx.function(pinned.python_function)(x)

    proposal = gx.placement.auto(branches, x, devices=["cpu:0", "cpu:2"])
    print(proposal)
    print("the same value:", gx.allclose(proposal.function(x).numpy(), branches(x).numpy()).item())
