"""Graphs whose device scopes nest, for test_setter.py; with TensorFlow, ``python nestings.py`` writes nestings.json.

Each line is a graph: the arguments of ``replica_device_setter``, the scopes around and inside it, and what is made
there. The file has the devices of these things, in their order, as TensorFlow 2.21 gave them.
"""

from __future__ import annotations

import itertools
import json
from contextlib import ExitStack
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_suffix(".json")

SETTERS: list[dict[str, Any]] = [
    {"ps_tasks": 2},
    {"ps_tasks": 3, "ps_device": "/job:ps/cpu:0", "worker_device": "/job:worker/task:1"},
    {"ps_tasks": 2, "worker_device": "/job:worker/task:1/gpu:2"},
    {"ps_tasks": 2, "worker_device": ""},
    {"ps_tasks": 2, "ps_device": ""},
    {"ps_tasks": 2, "ps_device": "/cpu:0"},
    {"ps_tasks": 2, "ps_device": "/job:params", "worker_device": "/job:params"},
    {"ps_tasks": 2, "merge_devices": False},
    {"ps_tasks": 0},
    {"cluster": {"ps": ["a:1", "b:1", "c:1"], "worker": ["d:1"]}},
    {"cluster": {"ps": {0: "a:1", 5: "b:1"}, "worker": ["d:1"]}},
    {"cluster": {"worker": ["d:1"]}},
    {"ps_tasks": 2, "ps_ops": ["Placeholder"]},
    {"ps_tasks": 2, "ps_ops": []},
]
OUTER: list[str | None] = [None, "/job:outer/task:7/gpu:1", "/task:9"]
INNER = [
    (),
    ("/gpu:1",),
    ("/job:ps/task:1",),
    ("/job:ps",),
    ("/job:other",),
    ("/task:1", "/cpu:0"),
    ("/cpu:0", "/task:1"),
]


def graphs() -> list[tuple[int, str | None]]:
    """The setters, each with the scope around it."""
    return list(itertools.product(range(len(SETTERS)), OUTER))


def devices(tf: Any, setter: int, outer: str | None) -> dict[str, str]:
    """The devices of what is made in all inner scopes of one setter."""
    given = dict(SETTERS[setter])
    made: dict[str, Any] = {}
    with tf.Graph().as_default(), ExitStack() as around:
        if outer is not None:
            around.enter_context(tf.device(outer))
        around.enter_context(tf.device(tf.train.replica_device_setter(**given)))
        for place, scopes in enumerate(INNER):
            with ExitStack() as stack:
                for scope in scopes:
                    stack.enter_context(tf.device(scope))
                variable = made[f"variable {place}"] = tf.Variable(1.0, name=f"v{place}")
                made[f"placeholder {place}"] = tf.placeholder(tf.float32, [], name=f"p{place}").op
                made[f"sum {place}"] = (made[f"placeholder {place}"].outputs[0] + variable).op
                made[f"again {place}"] = tf.Variable(2.0, name=f"w{place}")
        # These come last: TensorFlow asks the strategy in vain for them.
        for place in [place for place in range(len(INNER)) if made[f"sum {place}"].device]:
            with tf.colocate_with(made[f"sum {place}"]):
                made[f"beside {place}"] = tf.Variable(3.0, name=f"u{place}")
        return {name: thing.device for name, thing in made.items()}


if __name__ == "__main__":
    import tensorflow.compat.v1 as tensorflow

    tensorflow.disable_v2_behavior()
    rows = [[one, two, [*devices(tensorflow, one, two).values()]] for one, two in graphs()]
    FILE.write_text("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n", encoding="utf-8")
