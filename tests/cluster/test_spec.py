"""Cluster specs: what they tell, as ``tf.train.ClusterSpec`` does, and what they refuse."""

from __future__ import annotations

from typing import Any

import pytest

import graphc as gx
from graphc.compiler.base.errors import InvalidArgumentError, InvalidTypeError

_JOBS: dict[str, Any] = {"worker": ["h:2222", "h:2223"], "ps": {1: "h:2221", 3: "h:2220"}}


def test_a_spec_tells_jobs_tasks_and_addresses() -> None:
    spec = gx.ClusterSpec(_JOBS)
    assert spec.jobs == ["ps", "worker"]
    assert (spec.num_tasks("ps"), spec.task_indices("ps"), spec.task_address("ps", 3)) == (2, [1, 3], "h:2220")
    assert spec.job_tasks("ps") == [None, "h:2221", None, "h:2220"]
    assert spec.as_dict() == _JOBS
    assert spec.find("h:2223") == ("worker", 1)
    assert not gx.ClusterSpec({})


def test_a_spec_is_made_of_another_one_or_of_its_plain_form() -> None:
    spec = gx.ClusterSpec(_JOBS)
    assert gx.ClusterSpec(spec) == spec == gx.ClusterSpec(spec.as_cluster_def())
    assert hash(gx.ClusterSpec(spec)) == hash(spec)
    assert [job.name for job in spec.as_cluster_def().job] == ["ps", "worker"]
    assert repr(gx.ClusterSpec({"a": ["x:1"]})) == "ClusterSpec({'a': ['x:1']})"


@pytest.mark.parametrize(
    ("cluster", "kind", "message"),
    [
        (3, InvalidTypeError, "expected a dict from names of jobs to addresses, .* got 3"),
        ({"ps": "h:1"}, InvalidTypeError, "job 'ps': expected a list of addresses, .* got 'h:1'"),
        ({"ps": [1]}, InvalidTypeError, "job 'ps': expected an address .* got 0: 1"),
        ({"ps": {-1: "h:1"}}, InvalidArgumentError, "job 'ps': a task has the index -1; count from 0"),
        ({"p s": ["h:1"]}, InvalidArgumentError, "'p s' is not a job name"),
        ({"a": ["h:1"], "b": ["h:1"]}, InvalidArgumentError, "two tasks have the address 'h:1'"),
    ],
)
def test_what_is_no_cluster_is_refused(cluster: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        gx.ClusterSpec(cluster)


def test_a_task_that_is_not_there_is_refused() -> None:
    spec = gx.ClusterSpec(_JOBS)
    with pytest.raises(InvalidArgumentError, match=r"No such job in cluster: 'chief'; it has ps, worker"):
        spec.num_tasks("chief")
    with pytest.raises(InvalidArgumentError, match=r"No task with index 2 in job 'worker'; it has \[0, 1\]"):
        spec.task_address("worker", 2)
