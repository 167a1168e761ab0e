"""Names of classes, dtypes, numbers and errors, which stand for graphc's own objects, and of what is elsewhere."""

from typing import Any

from graphc.compat.spaces import ERRORS
from graphc.compiler.core import Tensor, TensorShape, Variable, name_scope, string
from graphc.compiler.function import TensorSpec
from graphc.compiler.gradients import ForwardAccumulator, GradientTape
from graphc.compiler.ir import DeviceSpec
from graphc.compiler.ops import functions as dtypes
from graphc.library.composites import IndexedSlices, RaggedTensor, SparseTensor, TensorArray
from graphc.training import layers, losses, metrics, optim

__all__ = ["CLASSES", "CONSTANTS", "DTYPES", "ELSEWHERE", "ERRORS"]

_LAYERS = (
    "Activation", "AveragePooling1D", "AveragePooling2D", "BatchNormalization", "Bidirectional", "Conv1D", "Conv2D",
    "Dense", "Dropout", "Embedding", "Flatten", "GRU", "GlobalAveragePooling1D", "GlobalAveragePooling2D",
    "GlobalMaxPooling1D", "GlobalMaxPooling2D", "LSTM", "Layer", "LayerNormalization", "MaxPooling1D",
    "MaxPooling2D", "MultiHeadAttention", "Reshape",
)  # fmt: skip
_LOSSES = (
    "BinaryCrossentropy", "CategoricalCrossentropy", "Hinge", "Huber", "Loss", "MeanAbsoluteError",
    "MeanSquaredError", "SparseCategoricalCrossentropy",
)  # fmt: skip
_METRICS = (
    "AUC", "Accuracy", "BinaryAccuracy", "CategoricalAccuracy", "Mean", "Metric", "Precision", "Recall",
    "SparseCategoricalAccuracy",
)  # fmt: skip
_OPTIMIZERS = ("Adam", "AdamW", "RMSprop", "SGD")

CLASSES: dict[str, Any] = {
    "DeviceSpec": DeviceSpec,
    "GradientTape": GradientTape,
    "DType": dtypes.DTypeName,
    "IndexedSlices": IndexedSlices,
    "Module": layers.Module,
    "RaggedTensor": RaggedTensor,
    "SparseTensor": SparseTensor,
    "Tensor": Tensor,
    "TensorArray": TensorArray,
    "TensorShape": TensorShape,
    "TensorSpec": TensorSpec,
    "Variable": Variable,
    "autodiff.ForwardAccumulator": ForwardAccumulator,
    "autodiff.GradientTape": GradientTape,
    "dtypes.DType": dtypes.DTypeName,
    "keras.Model": layers.Layer,
    "keras.Sequential": layers.Sequential,
    **{f"keras.layers.{name}": getattr(layers, name) for name in _LAYERS},
    **{f"keras.losses.{name}": getattr(losses, name) for name in _LOSSES},
    **{f"keras.metrics.{name}": getattr(metrics, name) for name in _METRICS},
    **{f"keras.optimizers.{name}": getattr(optim, name) for name in _OPTIMIZERS},
    "name_scope": name_scope,
    "recompute_grad": layers.remat,
    "sparse.SparseTensor": SparseTensor,
}
"""Objects by name, each with graphc's own signature."""

_DTYPES: dict[str, Any] = {
    "bfloat16": dtypes.bfloat16, "bool": dtypes.bool_, "complex64": dtypes.complex64, "complex128": dtypes.complex128,
    "double": dtypes.float64, "float16": dtypes.float16, "float32": dtypes.float32, "float64": dtypes.float64,
    "half": dtypes.float16, "string": string, "int8": dtypes.int8, "int16": dtypes.int16, "int32": dtypes.int32,
    "int64": dtypes.int64, "uint8": dtypes.uint8, "uint16": dtypes.uint16, "uint32": dtypes.uint32,
    "uint64": dtypes.uint64,
}  # fmt: skip
DTYPES: dict[str, Any] = {**_DTYPES, **{f"dtypes.{name}": dtype for name, dtype in _DTYPES.items()}}
"""The dtypes by name, at the top and in ``dtypes``."""

CONSTANTS: dict[str, Any] = {"newaxis": None}
"""Values by name."""

_SESSIONS = "it is of TensorFlow 1, whose programs import graphc.compat.v1; call a @tf.function"
_RAGGED = "tensors have one size along each axis; pad, and use tf.sequence_mask"
_SPARSE = "tensors are dense; use tf.scatter_nd and tf.gather_nd"
_KERAS = (
    "of Keras there are Sequential and the common layers, losses, metrics and optimizers; bring a flax or equinox "
    "model with gx.layers.from_flax or gx.layers.from_equinox"
)

_LOGICAL = "set gx.config.gpu_memory_fraction; GRAPHC_CPU_DEVICES says how many CPUs there are"

ELSEWHERE: dict[str, str] = {
    "Graph": "f.graph(x) gives the graph of a @tf.function, gx.parse_graph reads one",
    "Operation": "a graph's nodes are in f.graph(x).nodes",
    "RaggedTensorSpec": _RAGGED,
    "Session": _SESSIONS,
    "SparseTensorSpec": _SPARSE,
    "UnconnectedGradients": "a gradient that does not exist is None",
    "assign": "call v.assign(value)",
    "autograph.to_code": "use gx.to_source(f)",
    "batch_to_space": "use tf.reshape and tf.transpose",
    "bitcast": "use gx.call_jax(jax.lax.bitcast_convert_type, x, dtype)",
    "compat": "use the names of TensorFlow 2",
    "config.LogicalDeviceConfiguration": _LOGICAL,
    "config.set_logical_device_configuration": _LOGICAL,
    "distribute": "use gx.distribute.DataParallel",
    "dynamic_stitch": "use tf.scatter_nd, whose shape is known",
    "edit_distance": "write it in Python: tensors of strings are on the host",
    "estimator": "write the training loop",
    "feature_column": "compute the features with array functions",
    "global_variables_initializer": _SESSIONS,
    "gradients": "use tf.GradientTape or gx.grad",
    "hessians": "use gx.hessian",
    "image": "use array functions, or jax.image in gx.call_jax",
    "init_scope": "make tensors and variables before the function is called",
    "initializers": "layers take initializers by name or as functions of shape and dtype",
    "io": "besides decode_csv there is nothing: read files with Python, NumPy or PyArrow",
    "io.FixedLenSequenceFeature": "use tf.io.VarLenFeature, and to_dense() of what it gives",
    "io.SparseFeature": "read indices and values as two tf.io.VarLenFeature",
    "keras": _KERAS,
    "keras.losses": "use gx.losses.mean_squared_error and its neighbours, or derive from tf.keras.losses.Loss",
    "keras.metrics": "use gx.metrics.Mean and its neighbours, or derive from tf.keras.metrics.Metric",
    "keras.models": _KERAS,
    "layers": "use tf.keras.layers or gx.layers",
    "linalg.LinearOperator": "use the matrix itself",
    "linalg.expm": "use gx.call_jax(jax.scipy.linalg.expm, x)",
    "linalg.logm": "use tf.linalg.eigh and functions of its eigenvalues",
    "linalg.lu": "use gx.call_jax(jax.scipy.linalg.lu, x)",
    "linalg.lu_solve": "use tf.linalg.solve",
    "linalg.sqrtm": "use gx.call_jax(jax.scipy.linalg.sqrtm, x)",
    "lookup": "use a dict, or gx.strings.Vocabulary",
    "losses": "use gx.losses.mean_squared_error and its neighbours",
    "math.bincount": "use gx.bincount(x, length=n), whose shape is known",
    "math.cumulative_logsumexp": "use tf.math.reduce_logsumexp, or tf.scan with gx.logaddexp",
    "metrics": "use tf.keras.metrics or gx.metrics",
    "nn.ctc_loss": "use optax.ctc_loss in gx.call_jax",
    "nn.fractional_max_pool": "use tf.nn.max_pool2d",
    "nn.max_pool_with_argmax": "use tf.nn.max_pool2d",
    "nn.nce_loss": "use tf.nn.softmax_cross_entropy_with_logits",
    "nn.sampled_softmax_loss": "use tf.nn.softmax_cross_entropy_with_logits",
    "optimizers": "use tf.keras.optimizers or gx.optim",
    "placeholder": _SESSIONS,
    "random.Generator": "use gx.random.Generator(seed), with graphc's arguments",
    "raw_ops": "use the function of the same meaning in tf, tf.math or tf.nn",
    "reduce_std": "it is tf.math.reduce_std",
    "reduce_variance": "it is tf.math.reduce_variance",
    "reset_default_graph": _SESSIONS,
    "saved_model": "use tf.saved_model.save and load, which write graphc's format, or gx.save and gx.load",
    "sets": "use gx.unique, gx.intersect1d, gx.union1d and gx.setdiff1d",
    "space_to_batch": "use tf.reshape and tf.transpose",
    "queue.PriorityQueue": "order the elements before they are enqueued in a tf.queue.FIFOQueue, or keep a heapq",
    "ragged": "of ragged tensors there are ragged.constant, ragged.map_flat_values and the methods of tf.RaggedTensor",
    "sparse": "of sparse tensors there are to_dense, from_dense, reorder, transpose, sparse_dense_matmul, reduce_sum "
    "and map_values; use tf.scatter_nd and tf.gather_nd",
    "strided_slice": "write x[begin:end:stride]",
    "strings": "use a function of gx.strings, or Python's own on x.tolist()",
    "strings.bytes_split": "use list(x.item().encode())",
    **dict.fromkeys(
        ("string_to_hash_bucket_fast", "strings.to_hash_bucket", "strings.to_hash_bucket_fast"),
        "use gx.strings.lookup with a vocabulary, or zlib.crc32(word.encode()) % num_buckets for each word",
    ),
    "strings.to_hash_bucket_strong": "use hashlib, or gx.strings.lookup with a vocabulary",
    "summary": "write logs with Python, outside of compiled functions or with tf.py_function",
    "tensor_shape": "use tf.TensorShape",
    "timestamp": "use time.time()",
    "tpu": "devices are tf.device('tpu:0')",
    "train": "use tf.keras.optimizers or gx.optim, and tf.train.Checkpoint or gx.train.Checkpoint",
    "variable_creator_scope": "make the variables with what they need",
    "xla": "every @tf.function is compiled by XLA",
}
"""The replacement for each name that graphc does not have."""
