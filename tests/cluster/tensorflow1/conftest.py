"""A cluster of five tasks, first in this process and then on Ray; each test finds it empty."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import graphc.compat.v1 as tf

CLUSTER = {"ps": ["127.0.0.1:2221", "127.0.0.1:2222"], "worker": ["127.0.0.1:2223", "127.0.0.1:2224", "127.0.0.1:2225"]}


@pytest.fixture(
    scope="module",
    # What Ray adds tests/cluster/carriers looks at.
    params=["threads", pytest.param("ray", marks=[pytest.mark.multiprocess, pytest.mark.drawn(2)])],
)
def started(request: pytest.FixtureRequest) -> Iterator[dict[str, Any]]:
    if request.param == "ray":
        request.getfixturevalue("ray_here")  # servers start on Ray from now on
    cluster_spec = tf.train.ClusterSpec(CLUSTER)
    found = {
        f"{job}{index}": tf.train.Server(cluster_spec, job_name=job, task_index=index)
        for job, tasks in CLUSTER.items()
        for index in range(len(tasks))
    }
    yield found
    for server in found.values():
        server.stop()


@pytest.fixture
def servers(started: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The tasks of the cluster, by name such as ``ps0``."""
    tf.reset_default_graph()
    definitions = {name: server.server_def for name, server in started.items()}
    yield started
    tf.reset_default_graph()
    for name, definition in definitions.items():
        try:
            tf.Session(started[name].target).close()
        except tf.errors.NotFoundError:
            started[name] = tf.train.Server(definition)
    tf.Session.reset(started["ps0"].target)
