"""Training between graphs where each worker is a process of its own, and one of them is killed; tasks are on Ray."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

import graphc.compat.v1 as tf
from tests.cluster.tensorflow1.conftest import CLUSTER

pytestmark = [pytest.mark.multiprocess, pytest.mark.usefixtures("warm_python"), pytest.mark.timeout(300)]

_WORKER = """
import sys
import numpy as np
import graphc.compat.v1 as tf

cluster, index, last, folder = eval(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
x = np.linspace(-1.0, 1.0, 32, dtype=np.float32)
with tf.device(tf.train.replica_device_setter(cluster=cluster, worker_device=f"/job:worker/task:{index}")):
    w = tf.Variable(0.0, name="w")
    step = tf.train.get_or_create_global_step()
    loss = tf.reduce_mean(tf.square(w * x - 3.0 * x))
    optimizer = tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(0.5), 2, 3)
    train = optimizer.minimize(loss, step)
hooks = [optimizer.make_session_run_hook(index == 0)]
with tf.train.MonitoredTrainingSession(
    f"grpc://{cluster['worker'][index]}", is_chief=index == 0, hooks=hooks, checkpoint_dir=folder,
    save_summaries_steps=0, log_step_count_steps=0,
) as session:
    while session.run(train) < last:
        print("step", flush=True)
    print("done", session.run_step_fn(lambda step_context: float(step_context.session.run(w))), flush=True)
    sys.stdin.readline()
"""


def _worker(stack: ExitStack, index: int, last: int, folder: Path) -> Any:
    """Starts a worker, which is killed at the end of the stack."""
    command = [sys.executable, "-c", _WORKER, repr(CLUSTER), str(index), str(last), str(folder)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    process = stack.enter_context(
        subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True)
    )
    stack.callback(process.kill)
    return process


def test_a_worker_that_is_killed_is_not_waited_for(ray_here: str, tmp_path: Path) -> None:
    with ExitStack() as stack:
        for job, tasks in CLUSTER.items():
            for index in range(len(tasks)):
                stack.callback(tf.train.Server(CLUSTER, job_name=job, task_index=index).stop)
        workers = [_worker(stack, index, 20, tmp_path) for index in (0, 1)]
        spare = _worker(stack, 2, 10**9, tmp_path)
        assert spare.stdout.readline() == "step\n"
        spare.kill()
        lines = [iter(worker.stdout.readline, "") for worker in workers]
        ends = [next(line for line in said if line != "step\n").split() for said in lines]
        assert [end[0] for end in ends] == ["done", "done"]
        assert [float(end[1]) for end in ends] == pytest.approx([3.0, 3.0], abs=0.05)
        for worker in workers:
            worker.communicate("\n", timeout=60)
        assert [worker.returncode for worker in workers] == [0, 0]
        assert tf.train.load_variable(str(tmp_path), "global_step") >= 20
