"""Names of classes, dtypes and constants, of what is imported when it is first used, and of what is elsewhere."""

import logging
from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from typing import Any

from graphc.compat.spaces import CODES, ERRORS, imported
from graphc.compat.tensorflow2 import CLASSES as CLASSES_OF_2
from graphc.compat.tensorflow2 import DTYPES
from graphc.compat.tensorflow2 import ELSEWHERE as ELSEWHERE_OF_2
from graphc.compat.tensorflow2 import LATER as LATER_OF_2
from graphc.compiler.base import File, flags
from graphc.compiler.core import Dimension
from graphc.graphs import queues, session

__all__ = ["CLASSES", "DTYPES", "ELSEWHERE", "ERRORS", "LATER", "VALUES"]

_OF_2 = (
    "DType", "DeviceSpec", "GradientTape", "IndexedSlices", "Module", "RaggedTensor", "SparseTensor", "TensorArray",
    "TensorShape", "TensorSpec", "dtypes.DType", "sparse.SparseTensor",
)  # fmt: skip

_INITIALIZERS: dict[str, Any] = {
    "constant": session.constant_initializer, "glorot_normal": session.glorot_normal_initializer,
    "glorot_uniform": session.glorot_uniform_initializer, "ones": session.ones_initializer,
    "orthogonal": session.orthogonal_initializer, "random_normal": session.random_normal_initializer,
    "random_uniform": session.random_uniform_initializer, "truncated_normal": session.truncated_normal_initializer,
    "variance_scaling": session.variance_scaling_initializer, "zeros": session.zeros_initializer,
}  # fmt: skip

_OF_QUEUES = (
    "FixedLenFeature", "QueueBase", "ReaderBase", "VarLenFeature", "io.FixedLenFeature", "io.QueueBase",
    "io.TFRecordOptions", "io.TFRecordWriter", "io.VarLenFeature", "python_io.TFRecordOptions",
    "python_io.TFRecordWriter", "queue.QueueBase", "train.Coordinator",
)  # fmt: skip

_OF_SESSION = (
    "ConfigProto", "GPUOptions", "Graph", "GraphKeys", "InteractiveSession", "Operation", "RunMetadata", "RunOptions",
    "Session", "VariableScope", "summary.FileWriter", "train.AdadeltaOptimizer", "train.AdagradOptimizer",
    "train.AdamOptimizer", "train.ExponentialMovingAverage", "train.FtrlOptimizer", "train.GradientDescentOptimizer",
    "train.MomentumOptimizer", "train.Optimizer", "train.QueueRunner", "train.RMSPropOptimizer", "train.Saver",
    "train.queue_runner.QueueRunner",
)  # fmt: skip

CLASSES: dict[str, Any] = {
    **{name: CLASSES_OF_2[name] for name in _OF_2},
    **{name: getattr(queues, name.rpartition(".")[2]) for name in _OF_QUEUES},
    **{name: getattr(session, name.rpartition(".")[2]) for name in _OF_SESSION},
    **{f"{name}_initializer": kind for name, kind in _INITIALIZERS.items()},
    **{f"initializers.{name}": kind for name, kind in _INITIALIZERS.items()},
    **dict.fromkeys(("gfile.FastGFile", "gfile.GFile", "gfile.Open", "io.gfile.GFile"), File),
    "Dimension": Dimension,
    "OpError": ERRORS["errors.OpError"],
    "Tensor": session.GraphTensor,
    "Variable": session.GraphVariable,
    "losses.Reduction": session.weighted.Reduction,
}
"""Objects by name, each with graphc's own signature."""

VALUES: dict[str, Any] = {
    **CODES,
    "AUTO_REUSE": session.AUTO_REUSE,
    "VERSION": "2.21.0",
    "__version__": "2.21.0",
    "app.flags.FLAGS": flags.FLAGS,
    "flags.FLAGS": flags.FLAGS,
    "logging.DEBUG": logging.DEBUG,
    "logging.ERROR": logging.ERROR,
    "logging.FATAL": logging.FATAL,
    "logging.INFO": logging.INFO,
    "logging.WARN": logging.WARNING,
    "newaxis": None,
    "version.VERSION": "2.21.0",
}
"""Constants and single objects by name."""

_OF_ABSL = (
    "ArgumentParser", "ArgumentSerializer", "BaseListParser", "BooleanFlag", "BooleanParser", "CantOpenFlagFileError",
    "CsvListSerializer", "DEFINE", "DEFINE_alias", "DEFINE_enum", "DEFINE_enum_class", "DEFINE_flag", "DEFINE_list",
    "DEFINE_multi", "DEFINE_multi_enum", "DEFINE_multi_enum_class", "DEFINE_multi_float", "DEFINE_multi_integer",
    "DEFINE_multi_string", "DEFINE_spaceseplist", "DuplicateFlagError", "EnumClassFlag", "EnumClassListSerializer",
    "EnumClassParser", "EnumClassSerializer", "EnumFlag", "EnumParser", "Error", "Flag", "FlagHolder",
    "FlagNameConflictsWithMethodError", "FlagValues", "FloatParser", "IllegalFlagValueError", "IntegerParser",
    "ListParser", "ListSerializer", "MultiEnumClassFlag", "MultiFlag", "UnparsedFlagAccessError",
    "UnrecognizedFlagError", "ValidationError", "WhitespaceSeparatedListParser", "adopt_module_key_flags",
    "declare_key_flag", "disclaim_key_flags", "doc_to_help", "flag_dict_to_args", "get_help_width",
    "mark_bool_flags_as_mutual_exclusive", "mark_flag_as_required", "mark_flags_as_mutual_exclusive",
    "mark_flags_as_required", "multi_flags_validator", "override_value", "register_multi_flags_validator",
    "register_validator", "set_default", "text_wrap", "validator",
)  # fmt: skip


def _of_absl(name: str) -> Any:
    return getattr(flags.absl_flags(), name)


_EXAMPLES = ("BytesList", "Example", "Feature", "Features", "FloatList", "Int64List")


def _of_examples(name: str) -> Any:
    example: Any = queues.make_example({})
    descriptor: Any = example.DESCRIPTOR.file.message_types_by_name[name]
    return import_module("google.protobuf.message_factory").GetMessageClass(descriptor)


_MESSAGES = {
    **{name: name for name in ("AttrValue", "Event", "GraphDef", "HistogramProto", "LogMessage", "NodeDef")},
    **{name: name for name in ("SessionLog", "Summary", "SummaryMetadata")},
    **{f"summary.{name}": name for name in ("Event", "SessionLog", "Summary", "TaggedRunMetadata")},
}

_DATA = (
    "Dataset", "FixedLengthRecordDataset", "Iterator", "TFRecordDataset", "TextLineDataset", "get_output_shapes",
    "get_output_types", "make_initializable_iterator", "make_one_shot_iterator", "experimental.make_csv_dataset",
)  # fmt: skip
"""The dataset classes of TensorFlow 1, whose iterators are part of graphs."""

_CLUSTERS = (
    "ClusterDef", "ClusterSpec", "JobDef", "Server", "ServerDef", "SyncReplicasOptimizer", "replica_device_setter",
)  # fmt: skip

_MONITORED = (
    "CheckpointSaverHook", "ChiefSessionCreator", "LoggingTensorHook", "MonitoredSession", "MonitoredTrainingSession",
    "NanLossDuringTrainingError", "NanTensorHook", "Scaffold", "SessionRunArgs", "SessionRunContext", "SessionRunHook",
    "SessionRunValues", "StepCounterHook", "StopAtStepHook", "SummarySaverHook", "WorkerSessionCreator",
)  # fmt: skip


LATER: Mapping[str, Callable[[], Any]] = {
    **{f"{space}.{name}": partial(_of_absl, name) for space in ("flags", "app.flags") for name in _OF_ABSL},
    **{name: partial(session.message, kind) for name, kind in _MESSAGES.items()},
    # Queues of TensorFlow 1 are part of the default graph; the rows have them.
    **{name: later for name, later in LATER_OF_2.items() if not name.startswith(("queue.", "io."))},
    **{
        f"data.{name}": partial(imported, "graphc.compat.tensorflow1.datasets", name.rpartition(".")[2])
        for name in _DATA
    },
    **{f"train.{name}": partial(imported, "graphc.cluster", name) for name in _CLUSTERS},
    **{f"train.{name}": partial(imported, "graphc.graphs.session.monitored", name) for name in _MONITORED},
    "test.TestCase": partial(imported, "graphc.compat.testing", "GraphTestCase"),
    **{f"train.{name}": partial(_of_examples, name) for name in _EXAMPLES},
}
"""Objects of other libraries, by the name that they have here."""

_HERE_NOW = {
    "Graph", "Operation", "Session", "assign", "compat", "global_variables_initializer", "gradients",
    "init_scope", "io", "losses", "name_scope", "placeholder", "reset_default_graph", "strings", "summary",
    "timestamp", "train",
}  # fmt: skip

_LAYERS = "use tf.get_variable and tf.matmul, gx.layers, or a flax or equinox model with gx.call_jax"

_HOOK = "derive a hook from tf.train.SessionRunHook, and {}"
_VARLEN = "use tf.VarLenFeature, and to_dense() of what it gives"
_ACCUMULATOR = "use tf.ConditionalAccumulator with the whole gradient: tf.convert_to_tensor(indexed_slices)"
_IN_A_MONITORED_SESSION = (
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
    "train.SessionManager": _IN_A_MONITORED_SESSION,
    "train.SingularMonitoredSession": _IN_A_MONITORED_SESSION,
    "train.Supervisor": _IN_A_MONITORED_SESSION,
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
