"""Builds a graph by hand: five threads read CSV files into a shuffling queue, and a model trains from it."""

import random
import tempfile
from pathlib import Path

import graphc as gx

folder = Path(tempfile.mkdtemp())
random.seed(0)
for part in range(5):
    rows = [(random.random(), random.random()) for _ in range(400)]
    lines = [f"{x1:.4f},{x2:.4f},{3 * x1 - 2 * x2 + 1:.4f}" for x1, x2 in rows]
    (folder / f"part{part}.csv").write_text("\n".join(["x1,x2,target", *lines]) + "\n")

graph = gx.Graph()
with graph.as_default():
    filenames = gx.queues.FIFOQueue(10, [gx.string], shapes=[[]])
    filename = gx.placeholder(gx.string, shape=())
    add_file, no_more_files = filenames.enqueue([filename]), filenames.close()

    instances = gx.queues.RandomShuffleQueue(1000, min_after_dequeue=200, dtypes=["float32"] * 2, shapes=[[2], []])

    def read_instance():
        """Makes a reader, and the operation that moves its next line into the queue."""
        _, line = gx.queues.TextLineReader(skip_header_lines=1).read(filenames)
        x1, x2, target = gx.strings.decode_csv(line, [[0.0], [0.0], [0.0]])
        return instances.enqueue([gx.stack([x1, x2]), target])

    runner = gx.QueueRunner(instances, [read_instance() for _ in range(5)])
    features, targets = instances.dequeue_up_to(20)

    weights = gx.Variable([[0.0], [0.0]], name="weights")
    bias = gx.Variable([0.0], name="bias")
    loss = gx.mean(gx.square(features @ weights + bias - targets[:, None]))
    slopes = graph.gradients(loss, [weights, bias])
    updates = [v.assign_sub(0.5 * slope) for v, slope in zip([weights, bias], slopes, strict=True)]

with gx.Session(graph=graph) as session:
    session.run([weights.initializer, bias.initializer])
    for path in sorted(folder.glob("*.csv")):
        session.run(add_file, {filename: str(path)})
    session.run(no_more_files)
    coord = gx.Coordinator()
    threads = runner.create_threads(session, coord=coord, start=True)
    steps = 0
    try:
        while not coord.should_stop():
            value, *_ = session.run([loss, *updates], options=gx.RunOptions(timeout_in_ms=60_000))
            steps += 1
    except gx.errors.OutOfRangeError:
        print(f"all rows were read: {steps} steps of up to 20 rows, the last loss is below 0.001: {value < 0.001}")
    coord.request_stop()
    coord.join(threads)
    found = [round(float(value), 1) for array in session.run([weights, bias]) for value in array.ravel()]
    print("weights and bias:", found)
