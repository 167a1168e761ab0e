"""Jobs of several processes: the same weights as one process, and an end with a reason for all that goes wrong.

Each job starts Python and JAX anew in each process, so one program shows many things.
"""

from __future__ import annotations

import io
import json
import re
import runpy
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

from graphc.training.distribute import launch

pytestmark = [pytest.mark.multiprocess, pytest.mark.timeout(120)]

TRAINING = """
import json
import numpy as np
import graphc as gx

gx.distribute.initialize(check_every=3)
rank, count = gx.distribute.process_index(), gx.distribute.process_count()
parallel = gx.distribute.DataParallel()
generator = np.random.default_rng(0)
x = generator.normal(size=(44, 4)).astype(np.float32)
y = (x @ np.asarray([1.0, -2.0, 3.0, 0.5], np.float32))[:, None]
found = {}


gx.random.seed(0)
with parallel.scope():
    weights = [gx.Variable(np.full((4, 1), 0.5, np.float32), name="w"), gx.Variable(np.zeros(1, np.float32), name="b")]
optimizer = gx.optim.Adam(0.02)


def step(x, y, scale):
    with gx.GradientTape() as tape:
        kept = x * (gx.random.uniform(x.shape) < 0.5) if scale == 3 else x
        loss = gx.mean((gx.tanh(kept) @ weights[0] + weights[1] - y) ** 2) * scale
    optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
    return loss


def own_rows(*batch):
    rows = slice(rank * 16 // count, (rank + 1) * 16 // count)
    return parallel.from_local(tuple(array[rows] for array in batch))


replicas = parallel.function(step)
for number in range(6):  # each gives the whole batch, or its rows
    loss = replicas(*(own_rows(x[:16], y[:16]) if number % 2 else (x[:16], y[:16])), 2.0)
found["replicas"] = [float(parallel.reduce("mean", loss)), *[weight.numpy().tolist() for weight in weights]]

whole = gx.function(step)
for start, end in ((0, 16), (16, 32), (32, 43)):  # the last has 11 rows, which no number of devices divides
    rows = x[start:end], y[start:end]
    loss = whole(*(own_rows(*rows) if start == 16 else parallel.shard(rows)), 3.0)
found["global"] = [float(loss), *[weight.numpy().tolist() for weight in weights]]
"""

AND_MORE = """
import sys
import jax
from jax import lax

step = parallel.function(lambda x: (gx.distribute.all_sum(gx.sum(x)), gx.sum(x), gx.distribute.replica_index()))
total, part, index = step(x)
found["total"] = [total.item(), part.numpy().sum().item(), index.numpy().tolist(), len(part.values)]
found["repr"] = repr(part).startswith(f"PerReplica(of {count}, here [")
found["devices"] = list(parallel.devices)
found["elements"] = list(gx.distribute.synchronized(range(3 + rank)))

numbers = gx.data.Dataset.range(20).batch(8, drop_remainder=True).prefetch(2, to=parallel)
ragged = gx.data.Dataset.range(20).batch(8).prefetch(2, to=parallel)  # the last batch has 4 rows
squares = gx.function(lambda batch: gx.sum(batch * batch))
found["read"] = [[squares(batch).item() for batch in data] for data in (numbers, ragged)]
found["shared"] = ["shard_batches" in str(data) for data in (numbers, ragged)]

split = gx.distribute.Sharding({"data": count}, {"split": "data"})
with split.scope():
    variable = gx.Variable(np.arange(8.0, dtype=np.float32), name="split")
double = gx.function(lambda rows: variable.assign_add(rows * 2 - gx.mean(variable)))
double(split.shard(np.arange(8.0, dtype=np.float32)))
found["split"] = [variable.numpy().tolist(), [shard.data.size for shard in variable.raw.addressable_shards]]
found["gathered"] = [parallel.gather(parallel.run(lambda x: gx.sum(x, axis=1), x)).numpy().shape, repr(split.shard(x))]
mesh = parallel.mesh
values = parallel.from_local(np.arange(2.0 * count, dtype=np.float32) + rank).raw
sliced = jax.jit(jax.shard_map(
    lambda v: lax.dynamic_slice_in_dim(lax.psum(v, "replica"), 2 * lax.axis_index("replica"), 2),
    mesh=mesh, in_specs=jax.sharding.PartitionSpec("replica"), out_specs=jax.sharding.PartitionSpec("replica"),
    check_vma=False,
))(values)
found["sum and slice"] = sliced.addressable_shards[0].data.tolist()
report = parallel.report(parallel.function(lambda x: gx.distribute.all_sum(x * 2)), x, steps=2)
found["report"] = [[each.device, each.arguments] for each in report.devices]
found["times"] = [[rank.rank, rank.waited > 0, rank.devices[0].communication > 0] for rank in report.ranks]
with gx.profile(sys.argv[0].replace("train.py", "trace.json")) as timeline:
    step(x)
found["busy"] = [event.track for event in timeline.events if event.kind == "program"]
found["barriers"] = [event.name for event in timeline.events if event.kind == "wait" and "ranks" in event.name]
for _ in range(60):  # programs that nobody waits for: on CPUs one is in flight
    step(x)
if rank == 0:
    print(json.dumps(found))
"""


def start(folder: Path, program: str, processes: int = 2, **options: float) -> tuple[int, str, str]:
    """Launches a program; returns the exit code, what rank 0 printed, and what went to standard error."""
    file = folder / "train.py"
    file.write_text(program, encoding="utf-8")
    out, err = io.StringIO(), io.StringIO()
    code = launch([str(file)], processes, out=out, err=err, **options)  # pyright: ignore[reportArgumentType]
    lines = [line[4:] for line in out.getvalue().splitlines() if line.startswith("[0] ")]
    return code, "\n".join(lines), err.getvalue()


@pytest.mark.parametrize("processes", [2, pytest.param(4, marks=pytest.mark.slow)])
def test_several_processes_train_as_one(tmp_path: Path, processes: int) -> None:
    code, out, err = start(tmp_path, TRAINING + AND_MORE, processes)
    assert code == 0, err
    found = json.loads(out.splitlines()[-1])
    alone = tmp_path / "alone.py"
    alone.write_text(TRAINING.replace("DataParallel()", "DataParallel(['cpu:0'])"), encoding="utf-8")
    expected: dict[str, Any] = runpy.run_path(str(alone))["found"]
    for name, values in expected.items():
        for value, other in zip(found[name], values, strict=True):
            np.testing.assert_allclose(value, other, rtol=2e-4, atol=2e-5, err_msg=name)
    total = found["total"]
    np.testing.assert_allclose(total[:2], [total[1]] * 2, rtol=1e-5)
    assert total[2:] == [list(range(processes)), 1]
    assert found["repr"]
    assert found["devices"] == [f"/task:{rank}/device:CPU:0" for rank in range(processes)]
    assert found["split"] == [[3 * number - 3.5 for number in range(8)], [8 // processes]]
    shown = "<Tensor f32[44,4], split over processes; call numpy() on all of them to gather it>"
    assert found["gathered"] == [[44], shown]
    assert found["elements"] == [0, 1, 2]
    assert found["read"] == [[140, 1100], [140, 1100, 1230]]
    assert found["shared"] == [True, False]
    assert found["report"] == [[device, 44 * 4 * 4 // processes] for device in found["devices"]]
    assert found["times"] == [[rank, True, True] for rank in range(processes)]
    assert found["busy"] == ["/device:CPU:0"], "of the others their own timelines tell"
    assert len(found["barriers"]) == 1
    assert re.fullmatch(r"other ranks, before step \d+ \('lambda'\)", found["barriers"][0])
    assert {path.name for path in tmp_path.glob("trace*")} == {f"trace.rank{rank}.json" for rank in range(processes)}
    assert found["sum and slice"] == [sum(range(processes)), processes + sum(range(processes))]


@pytest.mark.gpu
def test_a_process_for_each_gpu_trains_as_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run by ``make test-gpu TESTS=tests/training/distribute/processes`` on a machine with several GPUs."""
    gpus = len(jax.devices("gpu"))
    if gpus < 2:
        pytest.skip("there is one GPU, and NCCL takes each but once")
    monkeypatch.setenv("XLA_PYTHON_CLIENT_MEM_FRACTION", ".1")  # this process has most of the first one
    code, out, err = start(tmp_path, TRAINING + AND_MORE, gpus)
    assert code == 0, err
    assert json.loads(out.splitlines()[-1])["devices"] == [f"/task:{rank}/device:GPU:0" for rank in range(gpus)]


FAILING = """
import os, signal, sys, time
import numpy as np
import graphc as gx

scenario = sys.argv[1]
gx.distribute.initialize(check_every=2)
rank = gx.distribute.process_index()
parallel = gx.distribute.DataParallel()
with parallel.scope():
    w = gx.Variable(np.full(4, 1.0 + (scenario == "variables" and rank), np.float32), name="w")
if scenario == "options" and rank == 1:
    import jax

    jax.config.update("jax_default_matmul_precision", "float32")
rate = 0.5 if scenario == "graph" and rank else 0.25
calls = []


def hinder(x):
    calls.append(1)
    if len(calls) == 3 and rank == 1 and scenario in ("SIGKILL", "SIGSTOP"):
        os.kill(os.getpid(), signal.Signals[scenario])
    return x


@parallel.function
def step(x):
    y = gx.pyfunc(hinder, gx.TensorSpec(x.shape, x.dtype), x) if scenario.startswith("SIG") else x
    w.assign_add(gx.distribute.all_mean(gx.mean(y, axis=0)) * rate)


@gx.function(timeout=1.5)
def total(rows):
    return gx.sum(rows)


x = np.ones((2, 4), np.float32)
if scenario == "rows":
    gx.function(total.python_function)(parallel.shard({"x": x + rank})["x"])
for number in range(8):
    if number == 2 and rank == 1:
        if scenario == "slow":
            time.sleep(100)  # it is here
        if scenario == "data":
            x = x + 1
        if scenario == "error":
            raise ValueError("no such file")
        if scenario == "end":
            break
    if number == 2 and scenario == "slow":
        total(parallel.shard(x))
    step(x)
print("done", w.numpy())
"""


def line(program: str, part: str) -> int:
    """The number of the line that starts with a text."""
    return next(number for number, text in enumerate(program.splitlines(), 1) if text.strip().startswith(part))


HERE = rf"train.py:{line(FAILING, 'step(x)')}"
LATE = rf"train.py:{line(FAILING, 'total(parallel')}"
SLEEPS = rf"train.py:{line(FAILING, 'time.sleep')}"


SCENARIOS = {
    "slow": rf"rank 1 has not entered step 3 \('total'\) at {LATE} within 1.5 s; it was last at {SLEEPS}",
    "graph": rf"the graph .* on rank 1 differs from rank 0, before step 1 \('step'\) at {HERE}: \w+ there, \w+ here",
    "options": r"the options on rank 1 differs from rank 0, .*: jax .*precision float32.* there, jax .*None.* here",
    "variables": rf"the value of Variable 'w' .* on rank 1 differs from rank 0, before step 1 \('step'\) at {HERE}",
    "data": r"argument x \(each rank gives the whole batch, .* on rank 1 differs from rank 0, before step 3",
    "rows": r"argument rows \(each rank gives the whole batch, .* on rank 1 differs from rank 0, before step 1",
    "end": rf"step 3 \('step'\) at {HERE} is entered by rank 0, but rank 1 has come to the end of its program",
    "error": r"rank 1 ended with exit code 1; the last that it said:(.|\n)*ValueError: no such file",
    "SIGKILL": r"graphc launch: rank 1 was killed by signal 9 \(SIGKILL\)",
    "SIGSTOP": r"rank 1 \(.*\) has given no sign of life for .* s: it is stopped, or its machine is gone; it was last",
}
QUICK = {"slow", "graph", "SIGKILL", "SIGSTOP"}


@pytest.mark.usefixtures("warm_python")
@pytest.mark.parametrize(
    "scenario", [pytest.param(name, marks=() if name in QUICK else pytest.mark.slow) for name in SCENARIOS]
)
def test_what_goes_wrong_on_one_rank_ends_all_with_its_name(
    tmp_path: Path, scenario: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("graphc.training.distribute.processes.launcher._GRACE", 2.0)
    # On a busy machine a rank that compiles may be silent for seconds.
    patience = 5 if scenario == "SIGSTOP" else 20
    code, out, err = start(tmp_path, FAILING.replace("sys.argv[1]", repr(scenario)), timeout=patience)
    assert code != 0
    assert re.search(SCENARIOS[scenario], err), err
    assert "done" not in out
