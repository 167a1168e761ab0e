"""Rows: axes taken together, positions of extremes, segments."""

from graphc.compat.alias import alias

ROWS = (
    alias(
        "reduce_all math.reduce_all(input_tensor, axis=None, keepdims=False, name=None)",
        "gx.all(input_tensor, axis, keepdims=keepdims)",
        "[[True, False], [True, True]], axis=0",
    ),
    alias(
        "reduce_any math.reduce_any(input_tensor, axis=None, keepdims=False, name=None)",
        "gx.any(input_tensor, axis, keepdims=keepdims)",
        "[[True, False], [False, False]], axis=1",
    ),
    alias(
        "reduce_logsumexp math.reduce_logsumexp(input_tensor, axis=None, keepdims=False, name=None)",
        "gx.nn.logsumexp(input_tensor, axis, keepdims=keepdims)",
        "[[1.0, 2.0], [3.0, 4.0]], axis=1",
    ),
    alias(
        "reduce_max math.reduce_max(input_tensor, axis=None, keepdims=False, name=None)",
        "gx.max(input_tensor, axis, keepdims=keepdims)",
        "[[1.0, 2.0], [3.0, 4.0]], axis=0",
    ),
    alias(
        "reduce_mean math.reduce_mean(input_tensor, axis=None, keepdims=False, name=None)",
        "gx.arrays.mean(input_tensor, axis, keepdims)",
        "[[1.0, 2.0], [3.0, 4.0]], axis=0",
    ),
    alias(
        "reduce_min math.reduce_min(input_tensor, axis=None, keepdims=False, name=None)",
        "gx.min(input_tensor, axis, keepdims=keepdims)",
        "[[1.0, 2.0], [3.0, 4.0]], axis=0",
    ),
    alias(
        "reduce_prod math.reduce_prod(input_tensor, axis=None, keepdims=False, name=None)",
        "gx.prod(x := gx.asarray(input_tensor), axis, gx.arrays.kept_dtype(x), keepdims=keepdims)",
        "[[1.0, 2.0], [3.0, 4.0]], axis=0",
    ),
    alias(
        "reduce_sum math.reduce_sum(input_tensor, axis=None, keepdims=False, name=None)",
        "gx.sum(x := gx.asarray(input_tensor), axis, gx.arrays.kept_dtype(x), keepdims=keepdims)",
        "[[1.0, 2.0], [3.0, 4.0]], axis=0",
    ),
    alias(
        "math.reduce_euclidean_norm(input_tensor, axis=None, keepdims=False, name=None)",
        'gx.arrays.norm(input_tensor, "euclidean", axis, keepdims)',
        "[[3.0, 4.0], [6.0, 8.0]], axis=1",
    ),
    alias(
        "math.reduce_std(input_tensor, axis=None, keepdims=False, name=None)",
        "gx.std(input_tensor, axis, keepdims=keepdims)",
        "[[1.0, 2.0], [3.0, 5.0]], axis=0",
    ),
    alias(
        "math.reduce_variance(input_tensor, axis=None, keepdims=False, name=None)",
        "gx.var(input_tensor, axis, keepdims=keepdims)",
        "[[1.0, 2.0], [3.0, 5.0]], axis=0",
    ),
    alias(
        "math.count_nonzero(input, axis=None, keepdims=None, dtype=int64, name=None)",
        "gx.astype(gx.count_nonzero(input, axis, keepdims=bool(keepdims)), dtype)",
        "[[1.0, 0.0], [3.0, 5.0]], axis=0",
    ),
    alias(
        "math.zero_fraction nn.zero_fraction(value, name=None)",
        'gx.mean(gx.astype(gx.equal(value, 0), "float32"))',
        "[[1.0, 0.0], [3.0, 5.0]]",
    ),
    alias(
        "math.confusion_matrix(labels, predictions, num_classes=None, weights=None, dtype=int32, name=None)",
        "gx.arrays.confusion_matrix(...)",
        "[1, 2, 1], [1, 2, 0], num_classes=3",
    ),
    alias(
        "math.in_top_k nn.in_top_k(targets, predictions, k, name=None)",
        "gx.arrays.in_top_k(targets, predictions, k)",
        "[1, 0], [[0.1, 0.8, 0.3], [0.2, 0.3, 0.4]], 2",
    ),
    alias(
        "math.top_k nn.top_k(input, k=1, sorted=True, index_type=int32, name=None)",
        "gx.arrays.top_k(input, k, index_type)",
        "[[1.0, 4.0, 3.0], [7.0, 2.0, 5.0]], k=2",
    ),
    alias(
        "argmax math.argmax(input, axis=None, output_type=int64, name=None)",
        "gx.astype(gx.argmax(input, 0 if axis is None else axis), output_type)",
        "[[1.0, 5.0], [3.0, 2.0]], axis=1",
    ),
    alias(
        "argmin math.argmin(input, axis=None, output_type=int64, name=None)",
        "gx.astype(gx.argmin(input, 0 if axis is None else axis), output_type)",
        "[[1.0, 5.0], [3.0, 2.0]]",
    ),
    alias(
        "histogram_fixed_width(values, value_range, nbins=100, dtype=int32, name=None)",
        "gx.arrays.histogram_fixed_width(...)",
        "[-1.0, 0.2, 1.5, 2.5, 9.0], [0.0, 5.0], nbins=5",
    ),
    alias(
        "histogram_fixed_width_bins(values, value_range, nbins=100, dtype=int32, name=None)",
        "gx.arrays.histogram_fixed_width_bins(...)",
        "[-1.0, 0.2, 1.5, 2.5, 9.0], [0.0, 5.0], nbins=5",
    ),
    alias(
        "math.segment_max(data, segment_ids, name=None)",
        "gx.arrays.segment_max(data, segment_ids, empty=0)",
        "[[1.0, 2.0], [5.0, 4.0], [3.0, 3.0]], [0, 0, 2]",
    ),
    alias(
        "math.segment_mean(data, segment_ids, name=None)",
        "gx.arrays.segment_mean(data, segment_ids)",
        "[[1.0, 2.0], [5.0, 4.0], [3.0, 3.0]], [0, 0, 2]",
    ),
    alias(
        "math.segment_min(data, segment_ids, name=None)",
        "gx.arrays.segment_min(data, segment_ids, empty=0)",
        "[[1.0, 2.0], [5.0, 4.0], [3.0, 3.0]], [0, 0, 2]",
    ),
    alias(
        "math.segment_prod(data, segment_ids, name=None)",
        "gx.arrays.segment_prod(data, segment_ids)",
        "[[1.0, 2.0], [5.0, 4.0], [3.0, 3.0]], [0, 0, 2]",
    ),
    alias(
        "math.segment_sum(data, segment_ids, name=None)",
        "gx.arrays.segment_sum(data, segment_ids)",
        "[[1.0, 2.0], [5.0, 4.0], [3.0, 3.0]], [0, 0, 2]",
    ),
    alias(
        "math.unsorted_segment_max(data, segment_ids, num_segments, name=None)",
        "gx.arrays.segment_max(data, segment_ids, num_segments)",
        "[[1.0, 2.0], [5.0, 4.0], [3.0, 3.0]], [2, -1, 0], 3",
    ),
    alias(
        "math.unsorted_segment_mean(data, segment_ids, num_segments, name=None)",
        "gx.arrays.segment_mean(data, segment_ids, num_segments)",
        "[[1.0, 2.0], [5.0, 4.0], [3.0, 3.0]], [2, 2, 0], 3",
    ),
    alias(
        "math.unsorted_segment_min(data, segment_ids, num_segments, name=None)",
        "gx.arrays.segment_min(data, segment_ids, num_segments)",
        "[[1.0, 2.0], [5.0, 4.0], [3.0, 3.0]], [2, -1, 0], 3",
    ),
    alias(
        "math.unsorted_segment_prod(data, segment_ids, num_segments, name=None)",
        "gx.arrays.segment_prod(data, segment_ids, num_segments)",
        "[[1.0, 2.0], [5.0, 4.0], [3.0, 3.0]], [2, -1, 0], 3",
    ),
    alias(
        "math.unsorted_segment_sqrt_n(data, segment_ids, num_segments, name=None)",
        "gx.arrays.segment_sqrt_n(data, segment_ids, num_segments)",
        "[[1.0, 2.0], [5.0, 4.0], [3.0, 3.0]], [2, 2, 0], 3",
    ),
    alias(
        "math.unsorted_segment_sum(data, segment_ids, num_segments, name=None)",
        "gx.arrays.segment_sum(data, segment_ids, num_segments)",
        "[[1.0, 2.0], [5.0, 4.0], [3.0, 3.0]], [2, 2, 0], 3",
    ),
    alias(
        "keras.backend.sum(x, axis=None, keepdims=False)",
        "gx.sum(x := gx.asarray(x), axis, gx.arrays.kept_dtype(x), keepdims=keepdims)",
        "[[1.0, 2.0], [3.0, 4.0]], axis=0",
    ),
    alias(
        "keras.backend.mean(x, axis=None, keepdims=False)",
        "gx.mean(x, axis, keepdims=keepdims)",
        "tf.constant([[1.0, 2.0], [3.0, 4.0]]), axis=0",
    ),
    alias(
        "keras.backend.max(x, axis=None, keepdims=False)",
        "gx.max(x, axis, keepdims=keepdims)",
        "[[1.0, 2.0], [3.0, 4.0]], axis=0",
    ),
    alias(
        "keras.backend.min(x, axis=None, keepdims=False)",
        "gx.min(x, axis, keepdims=keepdims)",
        "[[1.0, 2.0], [3.0, 4.0]], axis=0",
    ),
    alias(
        "keras.backend.dot(x, y)",
        "gx.dot(x, y)",
        "tf.constant([[1.0, 2.0], [3.0, 4.0]]), tf.constant([[1.0, 1.0], [0.0, 1.0]])",
    ),
)
