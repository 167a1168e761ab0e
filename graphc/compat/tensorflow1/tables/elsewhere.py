"""Names that TensorFlow 1 has and graphc has otherwise or not at all, and what to use instead."""

from graphc.compat.tensorflow2 import ELSEWHERE as ELSEWHERE_OF_2

__all__ = ["ELSEWHERE"]

_HERE_NOW = {
    "Graph", "Operation", "Session", "assign", "compat", "global_variables_initializer", "gradients",
    "init_scope", "io", "losses", "name_scope", "placeholder", "reset_default_graph", "strings", "summary",
    "timestamp", "train",
}  # fmt: skip

_LAYERS = "use tf.get_variable and tf.matmul, gx.layers, or a flax or equinox model with gx.call_jax"

_HOOK = "derive a hook from tf.train.SessionRunHook, and {}"
_VARLEN = "use tf.VarLenFeature, and to_dense() of what it gives"
_ACCUMULATOR = "use tf.ConditionalAccumulator with the whole gradient: tf.convert_to_tensor(indexed_slices)"
_MONITORED = (
    "use tf.train.MonitoredTrainingSession(checkpoint_dir=...), which initializes, restores, saves and summarizes; "
    "session.run_step_fn gives the Session itself"
)

ELSEWHERE: dict[str, str] = {
    **{name: text for name, text in ELSEWHERE_OF_2.items() if name.partition(".")[0] not in _HERE_NOW},
    "SparseConditionalAccumulator": _ACCUMULATOR,
    "ConditionalAccumulatorBase": _ACCUMULATOR,
    **dict.fromkeys(("FixedLenSequenceFeature", "io.FixedLenSequenceFeature"), _VARLEN),
    "IdentityReader": "dequeue the names: queue.dequeue()",
    **dict.fromkeys(
        ("PriorityQueue", "io.PriorityQueue", "queue.PriorityQueue"),
        "order the elements before they are enqueued in a tf.FIFOQueue, or keep a heapq in Python",
    ),
    **dict.fromkeys(("SparseFeature", "io.SparseFeature"), "read indices and values as two tf.VarLenFeature"),
    "contrib": "TensorFlow itself has removed it; look for the function of the same name in tf, tf.nn or tf.train (for "
    "training.GreedyLoadBalancingStrategy write a function of an op, for ps_strategy=)",
    "enable_eager_execution": "use graphc.compat.v2, where everything is eager",
    "errors.raise_exception_on_not_ok_status": "it is of TensorFlow's C interface; call the function itself",
    "estimator": "write the training loop with a tf.Session",
    "graph_util": "g.as_graph_def() and gx.parse_graph keep graphs as texts",
    "hessians": "take tf.gradients of each element of tf.gradients(y, x)[0]",
    "image": "use array functions, or jax.image in gx.call_jax",
    "layers": _LAYERS,
    **dict.fromkeys(
        ("initializers.uniform_unit_scaling", "uniform_unit_scaling_initializer"),
        "use tf.variance_scaling_initializer(distribution='uniform')",
    ),
    "initializers.identity": "use tf.constant_initializer(numpy.eye(n))",
    **{
        f"losses.{name}": "write the formula for each element, and pass it to tf.losses.compute_weighted_loss"
        for name in ("cosine_distance", "hinge_loss", "huber_loss", "log_loss")
    },
    "make_template": "call the function in tf.variable_scope(name, reuse=tf.AUTO_REUSE)",
    "nn.rnn_cell": _LAYERS,
    "nn.static_rnn": "write the loop in Python, or with tf.scan",
    "nn.dynamic_rnn": "use tf.scan or tf.while_loop",
    "saved_model": "use tf.train.Saver for Variables; gx.save writes compiled functions",
    "setdiff1d": "use tf.boolean_mask with a mask of the elements to keep",
    **dict.fromkeys(("summary.image", "summary.text"), "write files with Python, in tf.py_func"),
    "sparse.SparseConditionalAccumulator": _ACCUMULATOR,
    "summary.FileWriterCache": "tf.summary.FileWriter(logdir) makes a writer; keep it",
    "train.CheckpointSaverListener": "derive a hook from tf.train.SessionRunHook, and save with a tf.train.Saver in it",
    "train.FeedFnHook": _HOOK.format("return tf.train.SessionRunArgs(None, feeds) from its before_run"),
    "train.FinalOpsHook": _HOOK.format("run the operations in its end(session)"),
    "train.GlobalStepWaiterHook": _HOOK.format("wait for the global step in its before_run"),
    "train.LooperThread": "loop in a threading.Thread: while not coord.wait_for_stop(seconds)",
    "train.ProfilerHook": "give session.run a tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE) and a tf.RunMetadata",
    "train.SecondOrStepTimer": "count steps or look at time.monotonic() in the hook",
    "train.SequenceExample": "write one tf.train.Example for each step",
    "train.SessionCreator": "an object with the method create_session() is one",
    "train.SessionManager": _MONITORED,
    "train.SingularMonitoredSession": _MONITORED,
    "train.Supervisor": _MONITORED,
    **{
        f"train.maybe_{name}": f"use tf.train.{name}, with enqueue_many=True, of tf.boolean_mask(rows, keep_input)"
        for name in ("batch", "batch_join", "shuffle_batch", "shuffle_batch_join")
    },
    "train.cosine_decay_restarts": "give tf.train.cosine_decay the step since the last restart: step % decay_steps",
    "train.inverse_time_decay": "write rate / (1 + decay_rate * step / decay_steps)",
    "train.natural_exp_decay": "write rate * tf.exp(-decay_rate * step / decay_steps)",
    "train.linear_cosine_decay": "multiply tf.train.cosine_decay by tf.train.polynomial_decay",
    "train.noisy_linear_cosine_decay": "multiply tf.train.cosine_decay by tf.train.polynomial_decay",
    "train.get_checkpoint_mtimes": "use os.path.getmtime of the file",
    "train.remove_checkpoint": "use os.remove of the file",
    "train.import_meta_graph": "build the graph by the same code, then call saver.restore",
}
"""The replacement for each name that graphc does not have."""
