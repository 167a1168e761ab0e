"""Rows: what networks compute, and losses."""

from graphc.compat.alias import alias

_FILTERS = '"filters", filters, "filter", filter'

_KEEP = 'flag("keepdims", keepdims, "keep_dims", keep_dims)'


OPERATIONS = (
    # Activations, convolutions, pooling, normalisation and losses with older arguments.
    alias(
        "nn.softmax math.softmax(logits, axis=None, name=None, dim=None)",
        'v2.nn.softmax(logits, either("axis", axis, "dim", dim))',
        "[[1.0, 2.0], [3.0, 5.0]], dim=0",
    ),
    alias(
        "nn.log_softmax math.log_softmax(logits, axis=None, name=None, dim=None)",
        'v2.nn.log_softmax(logits, either("axis", axis, "dim", dim))',
        "[[1.0, 2.0], [3.0, 5.0]]",
    ),
    alias("nn.crelu(features, name=None, axis=-1)", "v2.nn.crelu(features, axis)", "[0.5, -2.0]"),
    alias(
        "nn.conv1d(value=None, filters=None, stride=None, padding=None, use_cudnn_on_gpu=None, data_format=None, "
        "name=None, input=None, dilations=None)",
        'v2.nn.conv1d(needed("tf.nn.conv1d()", "input", input, "value", value), filters, stride, padding, '
        '"NWC" if data_format is None else data_format, dilations)',
        '[[[1.0], [2.0], [3.0], [4.0]]], [[[1.0]], [[-1.0]]], 2, "SAME"',
    ),
    alias(
        'nn.conv2d(input, filter=None, strides=None, padding=None, use_cudnn_on_gpu=True, data_format="NHWC", '
        "dilations=[1, 1, 1, 1], name=None, filters=None)",
        f'v2.nn.conv2d(input, needed("tf.nn.conv2d()", {_FILTERS}), strides, padding, data_format, dilations)',
        'tf.constant([[[[1.0], [2.0]], [[3.0], [4.0]]]]), [[[[1.0]], [[2.0]]]], [1, 1, 1, 1], "SAME"',
    ),
    alias(
        'nn.conv3d(input, filter=None, strides=None, padding=None, data_format="NDHWC", dilations=[1, 1, 1, 1, '
        "1], name=None, filters=None)",
        f'v2.nn.conv3d(input, needed("tf.nn.conv3d()", {_FILTERS}), strides, padding, data_format, dilations)',
        '[[[[[1.0], [2.0]], [[3.0], [4.0]]]]], [[[[[1.0]], [[2.0]]]]], [1, 1, 1, 1, 1], "SAME"',
    ),
    alias(
        "nn.convolution(input, filter, padding, strides=None, dilation_rate=None, name=None, data_format=None, "
        "filters=None, dilations=None)",
        f"v2.nn.convolution(input, either({_FILTERS}), strides, padding, data_format, "
        'either("dilations", dilations, "dilation_rate", dilation_rate))',
        '[[[1.0], [2.0], [3.0], [4.0]]], [[[1.0]], [[-1.0]]], "VALID"',
    ),
    alias(
        'nn.conv2d_transpose(value=None, filter=None, output_shape=None, strides=None, padding="SAME", '
        'data_format="NHWC", name=None, input=None, filters=None, dilations=None)',
        'v2.nn.conv2d_transpose(needed("tf.nn.conv2d_transpose()", "input", input, "value", value), '
        f'needed("tf.nn.conv2d_transpose()", {_FILTERS}), output_shape, strides, padding, data_format, dilations)',
        "[[[[1.0], [2.0]]]], [[[[1.0]], [[2.0]], [[3.0]]]], [1, 2, 4, 1], 2",
    ),
    alias(
        'nn.conv3d_transpose(value, filter=None, output_shape=None, strides=None, padding="SAME", '
        'data_format="NDHWC", name=None, input=None, filters=None, dilations=None)',
        'v2.nn.conv3d_transpose(either("input", input, "value", value), '
        f'needed("tf.nn.conv3d_transpose()", {_FILTERS}), output_shape, strides, padding, data_format, dilations)',
        "[[[[[1.0], [2.0]]]]], [[[[[1.0]], [[2.0]], [[3.0]]]]], [1, 1, 1, 4, 1], [1, 1, 1, 2, 1]",
    ),
    alias(
        "nn.depthwise_conv2d(input, filter, strides, padding, rate=None, name=None, data_format=None, dilations=None)",
        "v2.nn.depthwise_conv2d(input, filter, strides, padding, data_format, "
        'either("dilations", dilations, "rate", rate))',
        '[[[[1.0, 2.0], [3.0, 4.0]]]], [[[[1.0], [2.0]], [[3.0], [4.0]]]], [1, 1, 1, 1], "SAME"',
    ),
    alias(
        'nn.depthwise_conv2d_native(input, filter, strides, padding, data_format="NHWC", dilations=[1, 1, 1, 1], '
        "name=None)",
        "v2.nn.depthwise_conv2d(...)",
        '[[[[1.0, 2.0], [3.0, 4.0]]]], [[[[1.0], [2.0]], [[3.0], [4.0]]]], [1, 1, 1, 1], "SAME"',
    ),
    alias(
        "nn.separable_conv2d(input, depthwise_filter, pointwise_filter, strides, padding, rate=None, name=None, "
        "data_format=None, dilations=None)",
        "v2.nn.separable_conv2d(input, depthwise_filter, pointwise_filter, strides, padding, data_format, "
        'either("dilations", dilations, "rate", rate))',
        '[[[[1.0, 2.0], [3.0, 4.0]]]], [[[[1.0], [2.0]], [[3.0], [4.0]]]], [[[[1.0], [-1.0]]]], [1, 1, 1, 1], "SAME"',
    ),
    alias(
        'nn.max_pool(value, ksize, strides, padding, data_format="NHWC", name=None, input=None)',
        'v2.nn.max_pool(either("input", input, "value", value), ksize, strides, padding, data_format)',
        '[[[[1.0], [2.0]], [[3.0], [4.0]]]], [1, 2, 2, 1], [1, 1, 1, 1], "SAME"',
    ),
    alias(
        'nn.avg_pool nn.avg_pool2d(value, ksize, strides, padding, data_format="NHWC", name=None, input=None)',
        'v2.nn.avg_pool2d(either("input", input, "value", value), ksize, strides, padding, data_format)',
        '[[[[1.0], [2.0]], [[3.0], [4.0]]]], [1, 2, 2, 1], [1, 2, 2, 1], "VALID"',
    ),
    alias(
        "nn.max_pool_v2(input, ksize, strides, padding, data_format=None, name=None)",
        "v2.nn.max_pool(...)",
        'tf.constant([[[[1.0], [2.0]], [[3.0], [4.0]]]]), 2, 1, "SAME"',
    ),
    alias(
        "nn.avg_pool_v2(input, ksize, strides, padding, data_format=None, name=None)",
        "v2.nn.avg_pool(...)",
        'tf.constant([[[[1.0], [2.0]], [[3.0], [4.0]]]]), 2, 1, "SAME"',
    ),
    alias(
        "nn.pool(input, window_shape, pooling_type, padding, dilation_rate=None, strides=None, name=None, "
        "data_format=None, dilations=None)",
        "v2.nn.pool(input, window_shape, pooling_type, strides, padding, data_format, "
        'either("dilations", dilations, "dilation_rate", dilation_rate))',
        '[[[[1.0], [2.0]], [[3.0], [4.0]]]], [2, 2], "MAX", "VALID"',
    ),
    alias(
        "nn.moments(x, axes, shift=None, name=None, keep_dims=None, keepdims=None)",
        f"v2.nn.moments(x, axes, shift, {_KEEP})",
        "tf.constant([[1.0, 2.0], [3.0, 5.0]]), [0], keep_dims=True",
    ),
    alias(
        "nn.weighted_moments(x, axes, frequency_weights, name=None, keep_dims=None, keepdims=None)",
        f"v2.nn.weighted_moments(x, axes, frequency_weights, {_KEEP})",
        "[[1.0, 2.0], [3.0, 5.0]], [0], [[1.0, 2.0], [3.0, 1.0]]",
    ),
    alias(
        "nn.sufficient_statistics(x, axes, shift=None, keep_dims=None, name=None, keepdims=None)",
        f"v2.nn.sufficient_statistics(x, axes, shift, {_KEEP})",
        "tf.constant([[1.0, 2.0], [3.0, 5.0]]), [0], keep_dims=True",
    ),
    alias(
        "nn.dropout(x, keep_prob=None, noise_shape=None, seed=None, name=None, rate=None)",
        "v2.nn.dropout(x, drop_rate(rate, keep_prob), noise_shape, seed)",
        "[1.0, 2.0], keep_prob=1.0",
    ),
    alias(
        'nn.embedding_lookup(params, ids, partition_strategy="mod", name=None, validate_indices=True, max_norm=None)',
        "v2.nn.embedding_lookup(params, ids, max_norm)",
        "tf.constant([[3.0, 4.0], [6.0, 8.0]]), [1, 0], max_norm=5.0",
    ),
    alias(
        "nn.softmax_cross_entropy_with_logits(labels=None, logits=None, dim=-1, name=None, axis=None)",
        "v2.nn.softmax_cross_entropy_with_logits(labels, logits, dim if axis is None else axis)",
        "labels=[[0.2, 0.8]], logits=[[0.5, 2.0]]",
    ),
    alias(
        "nn.softmax_cross_entropy_with_logits_v2(labels, logits, axis=None, name=None, dim=None)",
        "v2.nn.softmax_cross_entropy_with_logits(labels, logits, "
        '-1 if axis is None and dim is None else either("axis", axis, "dim", dim))',
        "labels=[[0.2, 0.8]], logits=[[0.5, 2.0]]",
    ),
    alias(
        "nn.sparse_softmax_cross_entropy_with_logits(labels=None, logits=None, name=None)",
        "v2.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)",
        "labels=[1, 0], logits=[[0.5, 2.0], [1.0, 3.0]]",
    ),
    alias(
        "nn.weighted_cross_entropy_with_logits(labels=None, logits=None, pos_weight=None, name=None, targets=None)",
        'v2.nn.weighted_cross_entropy_with_logits(needed("tf.nn.weighted_cross_entropy_with_logits()", "labels", '
        'labels, "targets", targets), logits, pos_weight)',
        "targets=[1.0, 0.0], logits=[0.5, 2.0], pos_weight=1.5",
    ),
    alias(
        'nn.space_to_depth space_to_depth(input, block_size, name=None, data_format="NHWC")',
        "v2.nn.space_to_depth(input, block_size, data_format)",
        "[[[[1.0], [2.0]], [[3.0], [4.0]]]], 2",
    ),
    alias(
        'nn.depth_to_space depth_to_space(input, block_size, name=None, data_format="NHWC")',
        "v2.nn.depth_to_space(input, block_size, data_format)",
        "[[[[1.0, 2.0, 3.0, 4.0]]]], 2",
    ),
    alias(
        "nn.xw_plus_b(x, weights, biases, name=None)",
        "v2.nn.bias_add(v2.matmul(x, weights), biases)",
        "[[1.0, 2.0]], [[1.0, -1.0], [0.5, 2.0]], [0.1, 0.2]",
    ),
    alias(
        "nn.relu_layer(x, weights, biases, name=None)",
        "v2.nn.relu(v2.nn.bias_add(v2.matmul(x, weights), biases))",
        "[[1.0, 2.0]], [[1.0, -1.0], [-0.5, -2.0]], [0.1, 0.2]",
    ),
    # Losses with weights, which a collection of the graph notes.
    alias(
        'losses.absolute_difference(labels, predictions, weights=1.0, scope=None, loss_collection="losses", '
        'reduction="weighted_sum_by_nonzero_weights")',
        "weighted.compute_weighted_loss(weighted.absolute_difference(labels, predictions), weights, "
        "loss_collection, reduction)",
        "[[1.0, 0.0], [0.0, 1.0]], [[0.5, 0.2], [0.1, 0.9]], weights=[[2.0], [0.0]]",
    ),
    alias(
        'losses.mean_squared_error(labels, predictions, weights=1.0, scope=None, loss_collection="losses", '
        'reduction="weighted_sum_by_nonzero_weights")',
        "weighted.compute_weighted_loss(weighted.mean_squared_error(labels, predictions), weights, "
        "loss_collection, reduction)",
        "[[1.0, 0.0], [0.0, 1.0]], [[0.5, 0.2], [0.1, 0.9]]",
    ),
    alias(
        "losses.sigmoid_cross_entropy(multi_class_labels, logits, weights=1.0, label_smoothing=0, scope=None, "
        'loss_collection="losses", reduction="weighted_sum_by_nonzero_weights")',
        "weighted.compute_weighted_loss(weighted.sigmoid_cross_entropy(multi_class_labels, logits, "
        "label_smoothing), weights, loss_collection, reduction)",
        "[[1.0, 0.0], [0.0, 1.0]], [[0.5, 0.2], [0.1, 0.9]], label_smoothing=0.1",
    ),
    alias(
        "losses.softmax_cross_entropy(onehot_labels, logits, weights=1.0, label_smoothing=0, scope=None, "
        'loss_collection="losses", reduction="weighted_sum_by_nonzero_weights")',
        "weighted.compute_weighted_loss(weighted.softmax_cross_entropy(onehot_labels, logits, "
        "label_smoothing), weights, loss_collection, reduction)",
        "[[1.0, 0.0], [0.0, 1.0]], [[0.5, 0.2], [0.1, 0.9]], label_smoothing=0.1",
    ),
    alias(
        'losses.sparse_softmax_cross_entropy(labels, logits, weights=1.0, scope=None, loss_collection="losses", '
        'reduction="weighted_sum_by_nonzero_weights")',
        "weighted.compute_weighted_loss(weighted.sparse_softmax_cross_entropy(labels, logits), weights, "
        "loss_collection, reduction)",
        "[1, 0], [[0.5, 0.2], [0.1, 0.9]], weights=[1.0, 3.0]",
    ),
    alias(
        'losses.compute_weighted_loss(losses, weights=1.0, scope=None, loss_collection="losses", '
        'reduction="weighted_sum_by_nonzero_weights")',
        "weighted.compute_weighted_loss(losses, weights, loss_collection, reduction)",
        '[1.0, 2.0, 4.0], [1.0, 0.0, 2.0], reduction="weighted_sum_over_batch_size"',
    ),
    alias(
        'losses.get_total_loss(add_regularization_losses=True, name="total_loss", scope=None)',
        "weighted.get_total_loss(add_regularization_losses, scope)",
        "",
    ),
    alias(
        'losses.get_regularization_loss(scope=None, name="total_regularization_loss")',
        "weighted.get_regularization_loss(scope)",
        "",
    ),
)

OTHERS = (
    # Losses with weights, which a collection of the graph notes.
    alias(
        'losses.add_loss(loss, loss_collection="losses")',
        "weighted.add_loss(loss, loss_collection)",
        "tf.constant(1.0)",
    ),
    alias('losses.get_losses(scope=None, loss_collection="losses")', "weighted.get_losses(scope, loss_collection)", ""),
    alias("losses.get_regularization_losses(scope=None)", "weighted.get_regularization_losses(scope)", ""),
)
