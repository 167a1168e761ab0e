"""Shows what runs in parallel, and what waits: devices, Python calls, and the timeline that records them.

It writes the trace to a temporary folder, or to a path that you pass: python examples/parallel.py trace.json
"""

import os

os.environ.setdefault("GRAPHC_CPU_DEVICES", "4")  # read when graphc is imported

import pathlib
import sys
import tempfile
import threading

import graphc as gx
from graphc.cli import main

NUMBER = gx.TensorSpec((), "float32")


def chain(x):
    for _ in range(20):
        x = x @ x / x.shape[0]
    return x


@gx.function
def two_devices(x):
    with gx.device("cpu:1"):
        a = chain(x)
    with gx.device("cpu:2"):
        b = chain(x + 1)
    return a, b


@gx.function
def one_device(x):
    return chain(x), chain(x + 1)


both = threading.Barrier(2, timeout=60)


def meet(value):
    both.wait()  # until the other call has begun: one after the other, they would never end
    return value * 2


@gx.function
def two_calls(x):
    """Makes two calls that depend neither on each other nor on the order of the program."""
    return gx.pyfunc(meet, NUMBER, x, ordered=False) + gx.pyfunc(meet, NUMBER, x + 1, ordered=False)


@gx.function
def in_order(x):
    """Prints in program order, wherever the values are computed."""
    with gx.device("cpu:1"):
        first = gx.sum(gx.sin(x))
    gx.print("first:", first)
    with gx.device("cpu:2"), gx.control_dependencies([first]):
        second = gx.sum(gx.cos(x))  # does not use `first`, but waits for it
    gx.print("second:", second)
    return second


def show(timeline, function, kind):
    """Prints which steps of a function overlap."""
    events = [event for event in timeline.events if event.function == function.name and event.kind == kind]
    events.sort(key=lambda event: event.track)
    for number, one in enumerate(events):
        for other in events[number + 1 :]:
            if one.overlaps(other):
                print(f"  {one.name} on {one.track} overlaps {other.name} on {other.track}")


def run(trace):
    x = gx.ones((512, 512))
    small = gx.asarray(1.0)
    expected = one_device(x)
    two_devices(x), two_calls(small)  # compiles them

    with gx.profile(trace) as timeline:
        found = two_devices(x)
        total = two_calls(small)
    same = [gx.allclose(a.numpy(), b.numpy()).item() for a, b in zip(found, expected, strict=True)]
    print("two chains, each on a device of its own; the same values as on one:", all(same))
    show(timeline, two_devices, "segment")
    print("two calls of Python that wait for each other; their sum:", total.item())
    show(timeline, two_calls, "host call")

    in_order(gx.zeros(3))
    node = next(line for line in str(in_order.graph(gx.zeros(3))).splitlines() if "cos" in line)
    print("in the graph:", node.split(" loc")[0].strip())

    main(["timeline", str(trace), "--html", str(trace.with_suffix(".html"))])
    print("written:", *sorted(path.name for path in trace.parent.glob(f"{trace.stem}.*")))


if __name__ == "__main__":
    if len(sys.argv) > 1:
        run(pathlib.Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as folder:
            run(pathlib.Path(folder) / "trace.json")
