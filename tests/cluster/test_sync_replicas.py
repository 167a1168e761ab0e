"""What SyncReplicasOptimizer refuses; test_monitored.py of compat has its numbers, test_clusters.py its clusters."""

from __future__ import annotations

from typing import Any

import pytest

import graphc as gx
from graphc.cluster import SyncReplicasOptimizer
from graphc.compiler.base.errors import FailedPreconditionError, InvalidArgumentError
from graphc.graphs.session import GradientDescentOptimizer, get_or_create_global_step


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda sync, w: SyncReplicasOptimizer(sync, 0), "at least one replica, got replicas_to_aggregate=0"),
        (lambda sync, w: sync.get_chief_queue_runner(), r"call minimize\(\) or apply_gradients\(\) before get_chief"),
        (lambda sync, w: sync.get_init_tokens_op(), r"before get_init_tokens_op\(\)"),
        (
            lambda sync, w: sync.minimize(w * w),
            "Global step is required to check staleness: pass tf.train.get_or_create",
        ),
        (lambda sync, w: sync.apply_gradients([], get_or_create_global_step()), "No variables provided"),
        (
            lambda sync, w: (sync.minimize(w * w, get_or_create_global_step()), sync.get_init_tokens_op(1)),
            "Too few tokens to finish the first step: 1 given, 2 needed",
        ),
    ],
)
def test_what_is_refused(act: Any, message: str) -> None:
    with gx.Graph().as_default():
        w = gx.Variable(1.0)
        with pytest.raises(InvalidArgumentError, match=message):
            act(SyncReplicasOptimizer(GradientDescentOptimizer(0.1), 3, 1), w)


def test_the_hook_says_which_variables_have_no_value() -> None:
    with gx.Graph().as_default():
        w = gx.Variable(1.0, name="w")
        optimizer = SyncReplicasOptimizer(GradientDescentOptimizer(0.1), 1)
        optimizer.minimize(w * w, get_or_create_global_step())
        hook = optimizer.make_session_run_hook(is_chief=False)
        hook.begin()
        with gx.Session() as session, pytest.raises(FailedPreconditionError, match="not initialized: w, global_step"):
            hook.after_create_session(session, None)
