"""Rows: axes taken together, positions of extremes."""

from graphc.compat.alias import Alias, alias

_AXIS = 'either("axis", axis, "reduction_indices", reduction_indices)'
_KEEP = 'flag("keepdims", keepdims, "keep_dims", keep_dims)'


def _reduction(name: str, example: str) -> Alias:
    return alias(
        f"{name} math.{name}("
        "input_tensor, axis=None, keepdims=None, name=None, reduction_indices=None, keep_dims=None)",
        f"v2.{name}(input_tensor, {_AXIS}, {_KEEP})",
        example,
    )


ROWS = (
    _reduction("reduce_all", "[[True, False], [True, True]], reduction_indices=[0]"),
    _reduction("reduce_any", "[[True, False], [False, False]], axis=1, keep_dims=True"),
    _reduction("reduce_logsumexp", "[[1.0, 2.0], [3.0, 4.0]], reduction_indices=1"),
    _reduction("reduce_max", "[[1.0, 2.0], [3.0, 4.0]], 0, True"),
    _reduction("reduce_mean", "[[1.0, 2.0], [3.0, 4.0]], reduction_indices=[1], keep_dims=True"),
    _reduction("reduce_min", "[[1.0, 2.0], [3.0, 4.0]], axis=0"),
    _reduction("reduce_prod", "[[1.0, 2.0], [3.0, 4.0]], axis=[0, 1]"),
    _reduction("reduce_sum", "[[1.0, 2.0], [3.0, 4.0]], axis=0, keep_dims=True"),
    alias(
        "count_nonzero math.count_nonzero(input_tensor=None, axis=None, keepdims=None, dtype=int64, name=None, "
        "reduction_indices=None, keep_dims=None, input=None)",
        'v2.math.count_nonzero(needed("tf.count_nonzero()", "input", input, "input_tensor", input_tensor), '
        f"{_AXIS}, {_KEEP}, dtype)",
        "[[1.0, 0.0], [3.0, 5.0]], reduction_indices=0",
    ),
    alias(
        "argmax math.argmax(input, axis=None, name=None, dimension=None, output_type=int64)",
        'v2.argmax(input, either("axis", axis, "dimension", dimension), output_type)',
        "[[1.0, 5.0], [3.0, 2.0]], dimension=1",
    ),
    alias(
        "argmin math.argmin(input, axis=None, name=None, dimension=None, output_type=int64)",
        'v2.argmin(input, either("axis", axis, "dimension", dimension), output_type)',
        "[[1.0, 5.0], [3.0, 2.0]], 1",
    ),
    alias(
        "arg_max(input, dimension, output_type=int64, name=None)",
        "v2.argmax(input, dimension, output_type)",
        "[[1.0, 5.0], [3.0, 2.0]], 0",
    ),
    alias(
        "arg_min(input, dimension, output_type=int64, name=None)",
        "v2.argmin(input, dimension, output_type)",
        "[[1.0, 5.0], [3.0, 2.0]], 0, tf.int32",
    ),
    alias(
        "confusion_matrix math.confusion_matrix(labels, predictions, num_classes=None, dtype=int32, name=None, "
        "weights=None)",
        "v2.math.confusion_matrix(labels, predictions, num_classes, weights, dtype)",
        "[1, 2, 1], [1, 2, 0], 3, tf.float32, weights=[1.0, 0.5, 2.0]",
    ),
    alias(
        "math.in_top_k nn.in_top_k(predictions, targets, k, name=None)",
        "v2.math.in_top_k(targets, predictions, k)",
        "[[0.1, 0.8, 0.3], [0.2, 0.3, 0.4]], [1, 0], 2",
    ),
)
