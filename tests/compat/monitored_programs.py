"""Programs of TensorFlow 1 that train in monitored Sessions; what they return is what test_monitored.py compares.

``python monitored_programs.py``, by a Python that has TensorFlow, writes what it returns to monitored_results.json.
"""

from __future__ import annotations

import glob
import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("monitored_results.json")
PROGRAMS: dict[str, Callable[[Any, str], Any]] = {}


def program(function: Callable[[Any, str], Any]) -> Callable[[Any, str], Any]:
    PROGRAMS[function.__name__] = function
    return function


def line(tf: Any) -> tuple[Any, Any, Any]:
    """A model that one weight trains: its weight, its loss and its training step."""
    x = tf.constant([1.0, 2.0, 3.0])
    w = tf.Variable(0.0, name="w")
    loss = tf.reduce_mean(tf.square(w * x - 2.0 * x), name="loss")
    step = tf.train.get_or_create_global_step()
    return w, loss, tf.train.GradientDescentOptimizer(0.05).minimize(loss, step)


def recorder(tf: Any, seen: list[Any]) -> Any:
    class Recorder(tf.train.SessionRunHook):  # type: ignore[misc]
        def begin(self) -> None:
            seen.append(["begin", tf.get_default_graph().finalized])

        def after_create_session(self, session: Any, coord: Any) -> None:
            seen.append(["after_create_session", tf.get_default_graph().finalized, coord.should_stop()])

        def before_run(self, run_context: Any) -> Any:
            args = run_context.original_args
            seen.append(["before_run", args.feed_dict is None, run_context.stop_requested])
            return tf.train.SessionRunArgs({"two": [tf.constant_two], "three": tf.constant_two})

        def after_run(self, run_context: Any, run_values: Any) -> None:
            found = run_values.results
            seen.append(["after_run", sorted(found), float(found["three"]), float(found["two"][0])])

        def end(self, session: Any) -> None:
            seen.append(["end", int(session.run(tf.train.get_global_step()))])

    return Recorder()


def kind(tf: Any, act: Callable[[], Any]) -> str:
    """The nearest class of error that both libraries have, of what something raises."""
    names = ("DeadlineExceededError", "OutOfRangeError", "AbortedError", "FailedPreconditionError")
    try:
        act()
    except tf.train.NanLossDuringTrainingError:
        return "NaN"
    except tuple(getattr(tf.errors, name) for name in names) as error:
        builtin = [plain.__name__ for plain in (RuntimeError, ValueError) if isinstance(error, plain)]
        found = [name for name in names if isinstance(error, getattr(tf.errors, name))]
        return builtin[0] if builtin and found[0] == "FailedPreconditionError" else found[0]
    except Exception as error:
        plain = (ZeroDivisionError, RuntimeError, TypeError, ValueError)
        return next((one.__name__ for one in plain if isinstance(error, one)), "another")
    return "nothing"


@program
def hooks_are_called_in_order(tf: Any, folder: str) -> Any:
    seen: list[Any] = []
    _w, loss, train = line(tf)
    tf.constant_two = tf.constant(2.0)
    hooks = [recorder(tf, seen), tf.train.StopAtStepHook(last_step=2)]
    with tf.train.MonitoredSession(hooks=hooks) as sess:
        while not sess.should_stop():
            seen.append(round(float(sess.run([loss, train])[0]), 4))
        seen.append(kind(tf, lambda: sess.run(loss)))
    seen.append([tf.get_default_graph().finalized, sess.should_stop(), kind(tf, lambda: sess.run(loss)) != "nothing"])
    return seen


def checkpoints(folder: str) -> list[str]:
    names = {os.path.basename(path).split(".")[1] for path in glob.glob(os.path.join(folder, "model.ckpt-*"))}
    return sorted(names)


@program
def a_training_goes_on_where_it_ended(tf: Any, folder: str) -> Any:
    seen: list[Any] = []
    for last in (3, 7):
        with tf.Graph().as_default():
            _w, loss, train = line(tf)
            with tf.train.MonitoredTrainingSession(
                checkpoint_dir=folder, hooks=[tf.train.StopAtStepHook(last_step=last)], save_checkpoint_steps=2,
                save_summaries_steps=0, log_step_count_steps=0, save_graph_def=False,
            ) as sess:  # fmt: skip
                while not sess.should_stop():
                    seen.append(round(float(sess.run([loss, train])[0]), 4))
        seen += [checkpoints(folder), os.path.basename(tf.train.latest_checkpoint(folder))]
    return seen


@program
def num_steps_count_from_the_beginning(tf: Any, folder: str) -> Any:
    _w, _loss, train = line(tf)
    step = tf.train.get_global_step()
    scaffold = tf.train.Scaffold(init_fn=lambda scaffold, sess: step.load(10, sess))
    creator = tf.train.ChiefSessionCreator(scaffold)
    with tf.train.MonitoredSession(creator, [tf.train.StopAtStepHook(num_steps=3)]) as sess:
        runs = 0
        while not sess.should_stop():
            sess.run(train)
            runs += 1
        return [runs, int(sess.run_step_fn(lambda step_context: step_context.session.run(step)))]


@program
def summaries_are_written_in_time(tf: Any, folder: str) -> Any:
    written: list[Any] = []

    class Writer:
        def add_summary(self, summary: Any, step: Any) -> None:
            written.append(["summary", int(step)])

        def add_session_log(self, log: Any, step: Any) -> None:
            written.append([int(log.status), int(step)])

        def flush(self) -> None:
            written.append("flush")

    w, loss, train = line(tf)
    tf.summary.scalar("w", w)
    both = [tf.summary.merge_all(), tf.summary.scalar("loss", loss)]
    for hook in (
        tf.train.SummarySaverHook(save_steps=2, summary_writer=Writer(), summary_op=both),
        tf.train.SummarySaverHook(
            save_secs=1000, summary_writer=Writer(), scaffold=tf.train.Scaffold(summary_op=both[0])
        ),
    ):
        with tf.train.MonitoredSession(hooks=[hook]) as sess:
            for _ in range(5):
                sess.run(train)
    return written


@program
def values_are_logged(tf: Any, folder: str) -> Any:
    lines: list[str] = []
    _, _loss, train = line(tf)
    three = tf.constant(3.0)

    def formatted(values: Any) -> str:
        lines.append(", ".join(f"{name}: {float(value):.3f}" for name, value in sorted(values.items())))
        return "line"

    hooks = [
        tf.train.LoggingTensorHook({"a": "loss", "b": three}, every_n_iter=2, formatter=formatted),
        tf.train.LoggingTensorHook(["loss:0"], at_end=True, formatter=formatted),
    ]
    with tf.train.MonitoredSession(hooks=hooks) as sess:
        for _ in range(4):
            sess.run(train)
    refused = [
        lambda: tf.train.LoggingTensorHook(["loss:0"]),
        lambda: tf.train.LoggingTensorHook(["loss:0"], every_n_iter=0),
        lambda: tf.train.LoggingTensorHook(["loss:0"], every_n_iter=1, every_n_secs=1),
        lambda: tf.train.StopAtStepHook(),
        lambda: tf.train.StopAtStepHook(1, 2),
        lambda: tf.train.SummarySaverHook(save_steps=1),
        lambda: tf.train.CheckpointSaverHook(folder, save_steps=1, saver=1, scaffold=1),
    ]
    return lines + [kind(tf, act) for act in refused]


@program
def feeds_and_nan(tf: Any, folder: str) -> Any:
    seen: list[Any] = []
    x = tf.placeholder(tf.float32, [], name="x")
    y = tf.log(x)
    numbers = iter([1.0, -1.0, -1.0, -1.0])

    class Feeds(tf.train.SessionRunHook):  # type: ignore[misc]
        def before_run(self, run_context: Any) -> Any:
            return tf.train.SessionRunArgs(None, {x: next(numbers)})

    feed = Feeds()
    with tf.train.MonitoredSession(hooks=[feed, tf.train.NanTensorHook(y, fail_on_nan_loss=False)]) as sess:
        while not sess.should_stop():
            seen.append(str(float(sess.run(y))))

    def diverges() -> None:
        with tf.train.MonitoredSession(hooks=[feed, tf.train.NanTensorHook(y)]) as sess:
            sess.run(y)

    def twice() -> None:
        with tf.train.MonitoredSession(hooks=[feed]) as sess:
            sess.run(y, {x: 2.0})

    def fails() -> None:
        with tf.train.MonitoredSession() as sess:
            _ = 1 / 0 if sess else None

    return [*seen, kind(tf, diverges), kind(tf, fails), kind(tf, twice) in ("RuntimeError", "ValueError")]


@program
def the_end_of_the_input_ends_the_training(tf: Any, folder: str) -> Any:
    seen: list[Any] = []
    queue = tf.FIFOQueue(10, tf.int32, shapes=[[]])
    step = tf.train.get_or_create_global_step()
    numbers = tf.train.limit_epochs(tf.constant([5, 6, 7]), num_epochs=1)
    tf.train.add_queue_runner(tf.train.QueueRunner(queue, [queue.enqueue_many([numbers])]))
    number = queue.dequeue()
    with tf.control_dependencies([number]):
        train = tf.assign_add(step, 1)
    ended = tf.train.StopAtStepHook(last_step=100)
    with tf.train.MonitoredSession(hooks=[ended]) as sess:
        while not sess.should_stop():
            seen.append([int(value) for value in sess.run([number, train])])
        seen.append("never")
    seen.append(sess.should_stop())

    def stops(step_context: Any) -> None:
        step_context.request_stop()

    with tf.Graph().as_default():
        v = tf.Variable(3.0)
        with tf.train.MonitoredSession() as sess:
            seen.append(float(sess.run_step_fn(lambda step_context: step_context.run_with_hooks(v))))
            seen.append(float(sess.run_step_fn(lambda step_context: step_context.session.run(v))))
            seen.append(kind(tf, lambda: sess.run_step_fn(lambda other: None)))
            sess.run_step_fn(stops)
            seen.append("never")
    return seen


@program
def a_lost_session_is_replaced(tf: Any, folder: str) -> Any:
    seen: list[Any] = []
    _w, loss, train = line(tf)
    tf.constant_two = tf.constant(2.0)
    errors = iter([None, None, tf.errors.AbortedError, None, tf.errors.UnavailableError, None])

    class Fails(tf.train.SessionRunHook):  # type: ignore[misc]
        def after_run(self, run_context: Any, run_values: Any) -> None:
            error = next(errors, None)
            if error is not None:
                raise error(None, None, "lost")

    hooks = [
        recorder(tf, seen),
        tf.train.CheckpointSaverHook(folder, save_steps=2, saver=tf.train.Saver(), save_graph_def=False),
        Fails(), tf.train.StopAtStepHook(last_step=6),
    ]  # fmt: skip
    creator = tf.train.ChiefSessionCreator(scaffold=tf.train.Scaffold(), checkpoint_dir=folder)
    with tf.train.MonitoredSession(session_creator=creator, hooks=hooks) as sess:
        while not sess.should_stop():
            seen.append(round(float(sess.run([loss, train])[0]), 4))
    return [*seen, checkpoints(folder)]


@program
def scaffolds_make_what_is_missing(tf: Any, folder: str) -> Any:
    x = tf.placeholder(tf.float32, [], name="x")
    v = tf.Variable(x * 2.0, name="v")
    local = tf.Variable(1.0, collections=[tf.GraphKeys.LOCAL_VARIABLES], name="local")
    first = tf.train.Scaffold(init_feed_dict={x: 4.0})
    seen: list[Any] = [first.init_op is None, first.saver is None]
    second = first.finalize()
    graph = tf.get_default_graph()
    keys = [
        tf.GraphKeys.INIT_OP,
        tf.GraphKeys.READY_OP,
        tf.GraphKeys.LOCAL_INIT_OP,
        tf.GraphKeys.SAVERS,
        tf.GraphKeys.SUMMARY_OP,
    ]
    seen += [len(graph.get_collection(key)) for key in keys] + [graph.finalized, second.summary_op is None]
    with tf.Session() as sess:
        seen.append(sorted(name.decode() for name in sess.run(second.ready_op)))
        sess.run(second.init_op, second.init_feed_dict)
        seen.append(sorted(name.decode() for name in sess.run(second.ready_op)))
        seen.append(len(sess.run(second.ready_for_local_init_op)))
        sess.run(second.local_init_op)
        seen += [len(sess.run(second.ready_op)), float(sess.run(v)), float(sess.run(local))]
    with tf.Graph().as_default() as other:
        other.add_to_collection(tf.GraphKeys.INIT_OP, tf.no_op())
        other.add_to_collection(tf.GraphKeys.INIT_OP, tf.no_op())
        seen.append(kind(tf, lambda: tf.train.Scaffold().finalize()))
    return seen


@program
def late_gradients_are_dropped(tf: Any, folder: str) -> Any:
    x = tf.placeholder(tf.float32, [], name="x")
    w, still = tf.Variable(4.0, name="w"), tf.Variable(1.0, name="still")
    step = tf.train.get_or_create_global_step()
    averages = tf.train.ExponentialMovingAverage(0.5)
    optimizer = tf.train.SyncReplicasOptimizer(
        tf.train.MomentumOptimizer(0.1, 0.9), replicas_to_aggregate=2, total_num_replicas=3, variable_averages=averages,
        variables_to_average=[w],
    )  # fmt: skip
    seen: list[Any] = [kind(tf, optimizer.get_chief_queue_runner), kind(tf, optimizer.get_init_tokens_op)]
    train = optimizer.minimize(w * w * x + 0.0 * x, global_step=step, var_list=[w, still])
    runner, tokens = optimizer.get_chief_queue_runner(), optimizer.get_init_tokens_op()
    queue = tf.FIFOQueue(-1, tf.int32 if step.dtype == tf.int32 else tf.int64, shapes=[[]], shared_name="sync_token_q")
    waiting = queue.size()
    init = tf.global_variables_initializer()
    local = [variable.op.name for variable in tf.local_variables()]
    seen += [len(runner.enqueue_ops), local, optimizer.get_slot_names(), optimizer.get_slot(w, "momentum").op.name]
    with tf.Session() as sess:
        sess.run(init)
        seen.append(len(sess.run(optimizer.ready_for_local_init_op)))
        sess.run(optimizer.chief_init_op)
        sess.run(tokens)
        # Two gradients of step 0 make an update; then one of step 0 comes late, and two of step 1 make the next one.
        for value in (1.0, 2.0, None, 5.0, 1.0, 0.5, None, 7.0, 1.0, 1.0, None):
            if value is None:
                sess.run(runner.enqueue_ops[0])
            else:
                seen.append(int(sess.run(train, {x: value})))
            found = sess.run([w, averages.average(w), step, waiting])
            seen.append([round(float(value), 5) for value in found])
    few = tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(0.1), 4, 1)
    few.minimize(w * w, global_step=step)
    seen += [kind(tf, lambda: few.get_init_tokens_op(2)), kind(tf, lambda: few.get_init_tokens_op(3))]
    seen += [kind(tf, lambda: few.minimize(w * w)), kind(tf, lambda: few.apply_gradients([], step))]
    return seen


@program
def a_worker_makes_several_gradients_for_an_update(tf: Any, folder: str) -> Any:
    seen: list[Any] = []
    for wanted, steps in ((1, 4), (3, 7)):
        with tf.Graph().as_default():
            w = tf.Variable(8.0, name="w")
            step = tf.train.get_or_create_global_step()
            optimizer = tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(0.25), wanted, 1)
            train = optimizer.minimize(w * w, global_step=step)
            hook = optimizer.make_session_run_hook(is_chief=True, num_tokens=wanted - 1)
            with tf.train.MonitoredTrainingSession(hooks=[hook], stop_grace_period_secs=1) as sess:
                seen += [int(sess.run(train)) for _ in range(steps)]
                seen.append(float(sess.run(w)))
    return seen


@program
def gradients_of_rows_stay_rows(tf: Any, folder: str) -> Any:
    w = tf.Variable([[1.0], [2.0], [3.0]], name="w")
    rows = tf.placeholder(tf.int64, [None])
    step = tf.train.get_or_create_global_step()
    gradient = tf.IndexedSlices(tf.ones_like(tf.cast(rows[:, None], tf.float32)), rows, (3, 1))
    optimizer = tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(0.5), 2)
    train = optimizer.apply_gradients([(gradient, w)], step)
    runner, tokens = optimizer.get_chief_queue_runner(), optimizer.get_init_tokens_op()
    init = tf.global_variables_initializer()
    with tf.Session() as sess:
        sess.run(init)
        sess.run([optimizer.chief_init_op, tokens])
        seen = [int(sess.run(train, {rows: given})) for given in ([0, 2], [2])]
        sess.run(runner.enqueue_ops[0])
        return [*seen, sess.run(w).tolist()]


def result(tf: Any, name: str) -> Any:
    with tempfile.TemporaryDirectory() as folder, tf.Graph().as_default():
        return json.loads(json.dumps(PROGRAMS[name](tf, folder)))


if __name__ == "__main__":
    import tensorflow.compat.v1 as tensorflow

    tensorflow.disable_v2_behavior()
    results = {name: result(tensorflow, name) for name in PROGRAMS}
    FILE.write_text(
        "{\n" + ",\n".join(f'"{n}": {json.dumps(r)}' for n, r in results.items()) + "\n}\n", encoding="utf-8"
    )
