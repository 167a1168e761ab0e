"""Rows: what networks compute, and losses."""

from graphc.compat.alias import rows

OPERATIONS = rows(r"""
# Activations, convolutions, pooling, normalisation and losses with older arguments.
nn.softmax math.softmax(logits, axis=None, name=None, dim=None)
    => v2.nn.softmax(logits, either("axis", axis, "dim", dim)) e.g. [[1.0, 2.0], [3.0, 5.0]], dim=0
nn.log_softmax math.log_softmax(logits, axis=None, name=None, dim=None)
    => v2.nn.log_softmax(logits, either("axis", axis, "dim", dim)) e.g. [[1.0, 2.0], [3.0, 5.0]]
nn.crelu(features, name=None, axis=-1) => v2.nn.crelu(features, axis) e.g. [0.5, -2.0]
nn.conv1d(value=None, filters=None, stride=None, padding=None, use_cudnn_on_gpu=None, data_format=None, name=None,
        input=None, dilations=None)
    => v2.nn.conv1d(needed("tf.nn.conv1d()", "input", input, "value", value), filters, stride, padding, "NWC" if
        data_format is None else data_format, dilations)
    e.g. [[[1.0], [2.0], [3.0], [4.0]]], [[[1.0]], [[-1.0]]], 2, "SAME"
nn.conv2d(input, filter=None, strides=None, padding=None, use_cudnn_on_gpu=True, data_format="NHWC", dilations=[1, 1, 1,
        1], name=None, filters=None)
    => v2.nn.conv2d(input, needed("tf.nn.conv2d()", "filters", filters, "filter", filter), strides, padding,
        data_format, dilations)
    e.g. tf.constant([[[[1.0], [2.0]], [[3.0], [4.0]]]]), [[[[1.0]], [[2.0]]]], [1, 1, 1, 1], "SAME"
nn.conv3d(input, filter=None, strides=None, padding=None, data_format="NDHWC", dilations=[1, 1, 1, 1, 1], name=None,
        filters=None)
    => v2.nn.conv3d(input, needed("tf.nn.conv3d()", "filters", filters, "filter", filter), strides, padding,
        data_format, dilations)
    e.g. [[[[[1.0], [2.0]], [[3.0], [4.0]]]]], [[[[[1.0]], [[2.0]]]]], [1, 1, 1, 1, 1], "SAME"
nn.convolution(input, filter, padding, strides=None, dilation_rate=None, name=None, data_format=None, filters=None,
        dilations=None)
    => v2.nn.convolution(input, either("filters", filters, "filter", filter), strides, padding, data_format,
        either("dilations", dilations, "dilation_rate", dilation_rate))
    e.g. [[[1.0], [2.0], [3.0], [4.0]]], [[[1.0]], [[-1.0]]], "VALID"
nn.conv2d_transpose(value=None, filter=None, output_shape=None, strides=None, padding="SAME", data_format="NHWC",
        name=None, input=None, filters=None, dilations=None)
    => v2.nn.conv2d_transpose(needed("tf.nn.conv2d_transpose()", "input", input, "value", value),
        needed("tf.nn.conv2d_transpose()", "filters", filters, "filter", filter), output_shape, strides, padding,
        data_format, dilations) e.g. [[[[1.0], [2.0]]]], [[[[1.0]], [[2.0]], [[3.0]]]], [1, 2, 4, 1], 2
nn.conv3d_transpose(value, filter=None, output_shape=None, strides=None, padding="SAME", data_format="NDHWC", name=None,
        input=None, filters=None, dilations=None)
    => v2.nn.conv3d_transpose(either("input", input, "value", value), needed("tf.nn.conv3d_transpose()", "filters",
        filters, "filter", filter), output_shape, strides, padding, data_format, dilations)
    e.g. [[[[[1.0], [2.0]]]]], [[[[[1.0]], [[2.0]], [[3.0]]]]], [1, 1, 1, 4, 1], [1, 1, 1, 2, 1]
nn.depthwise_conv2d(input, filter, strides, padding, rate=None, name=None, data_format=None, dilations=None)
    => v2.nn.depthwise_conv2d(input, filter, strides, padding, data_format, either("dilations", dilations, "rate",
        rate)) e.g. [[[[1.0, 2.0], [3.0, 4.0]]]], [[[[1.0], [2.0]], [[3.0], [4.0]]]], [1, 1, 1, 1], "SAME"
nn.depthwise_conv2d_native(input, filter, strides, padding, data_format="NHWC", dilations=[1, 1, 1, 1], name=None)
    => v2.nn.depthwise_conv2d(...)
    e.g. [[[[1.0, 2.0], [3.0, 4.0]]]], [[[[1.0], [2.0]], [[3.0], [4.0]]]], [1, 1, 1, 1], "SAME"
nn.separable_conv2d(input, depthwise_filter, pointwise_filter, strides, padding, rate=None, name=None, data_format=None,
        dilations=None)
    => v2.nn.separable_conv2d(input, depthwise_filter, pointwise_filter, strides, padding, data_format,
        either("dilations", dilations, "rate", rate))
    e.g. [[[[1.0, 2.0], [3.0, 4.0]]]], [[[[1.0], [2.0]], [[3.0], [4.0]]]], [[[[1.0], [-1.0]]]], [1, 1, 1, 1], "SAME"
nn.max_pool(value, ksize, strides, padding, data_format="NHWC", name=None, input=None)
    => v2.nn.max_pool(either("input", input, "value", value), ksize, strides, padding, data_format)
    e.g. [[[[1.0], [2.0]], [[3.0], [4.0]]]], [1, 2, 2, 1], [1, 1, 1, 1], "SAME"
nn.avg_pool nn.avg_pool2d(value, ksize, strides, padding, data_format="NHWC", name=None, input=None)
    => v2.nn.avg_pool2d(either("input", input, "value", value), ksize, strides, padding, data_format)
    e.g. [[[[1.0], [2.0]], [[3.0], [4.0]]]], [1, 2, 2, 1], [1, 2, 2, 1], "VALID"
nn.max_pool_v2(input, ksize, strides, padding, data_format=None, name=None)
    => v2.nn.max_pool(...) e.g. tf.constant([[[[1.0], [2.0]], [[3.0], [4.0]]]]), 2, 1, "SAME"
nn.avg_pool_v2(input, ksize, strides, padding, data_format=None, name=None)
    => v2.nn.avg_pool(...) e.g. tf.constant([[[[1.0], [2.0]], [[3.0], [4.0]]]]), 2, 1, "SAME"
nn.pool(input, window_shape, pooling_type, padding, dilation_rate=None, strides=None, name=None, data_format=None,
        dilations=None)
    => v2.nn.pool(input, window_shape, pooling_type, strides, padding, data_format, either("dilations", dilations,
        "dilation_rate", dilation_rate)) e.g. [[[[1.0], [2.0]], [[3.0], [4.0]]]], [2, 2], "MAX", "VALID"
nn.moments(x, axes, shift=None, name=None, keep_dims=None, keepdims=None)
    => v2.nn.moments(x, axes, shift, flag("keepdims", keepdims, "keep_dims", keep_dims))
    e.g. tf.constant([[1.0, 2.0], [3.0, 5.0]]), [0], keep_dims=True
nn.weighted_moments(x, axes, frequency_weights, name=None, keep_dims=None, keepdims=None)
    => v2.nn.weighted_moments(x, axes, frequency_weights, flag("keepdims", keepdims, "keep_dims", keep_dims))
    e.g. [[1.0, 2.0], [3.0, 5.0]], [0], [[1.0, 2.0], [3.0, 1.0]]
nn.sufficient_statistics(x, axes, shift=None, keep_dims=None, name=None, keepdims=None)
    => v2.nn.sufficient_statistics(x, axes, shift, flag("keepdims", keepdims, "keep_dims", keep_dims))
    e.g. tf.constant([[1.0, 2.0], [3.0, 5.0]]), [0], keep_dims=True
nn.dropout(x, keep_prob=None, noise_shape=None, seed=None, name=None, rate=None)
    => v2.nn.dropout(x, drop_rate(rate, keep_prob), noise_shape, seed) e.g. [1.0, 2.0], keep_prob=1.0
nn.embedding_lookup(params, ids, partition_strategy="mod", name=None, validate_indices=True, max_norm=None)
    => v2.nn.embedding_lookup(params, ids, max_norm) e.g. tf.constant([[3.0, 4.0], [6.0, 8.0]]), [1, 0], max_norm=5.0
nn.softmax_cross_entropy_with_logits(labels=None, logits=None, dim=-1, name=None, axis=None)
    => v2.nn.softmax_cross_entropy_with_logits(labels, logits, dim if axis is None else axis)
    e.g. labels=[[0.2, 0.8]], logits=[[0.5, 2.0]]
nn.softmax_cross_entropy_with_logits_v2(labels, logits, axis=None, name=None, dim=None)
    => v2.nn.softmax_cross_entropy_with_logits(labels, logits, -1 if axis is None and dim is None else either("axis",
        axis, "dim", dim)) e.g. labels=[[0.2, 0.8]], logits=[[0.5, 2.0]]
nn.sparse_softmax_cross_entropy_with_logits(labels=None, logits=None, name=None)
    => v2.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)
    e.g. labels=[1, 0], logits=[[0.5, 2.0], [1.0, 3.0]]
nn.weighted_cross_entropy_with_logits(labels=None, logits=None, pos_weight=None, name=None, targets=None)
    => v2.nn.weighted_cross_entropy_with_logits(needed("tf.nn.weighted_cross_entropy_with_logits()", "labels", labels,
        "targets", targets), logits, pos_weight) e.g. targets=[1.0, 0.0], logits=[0.5, 2.0], pos_weight=1.5
nn.space_to_depth space_to_depth(input, block_size, name=None, data_format="NHWC")
    => v2.nn.space_to_depth(input, block_size, data_format) e.g. [[[[1.0], [2.0]], [[3.0], [4.0]]]], 2
nn.depth_to_space depth_to_space(input, block_size, name=None, data_format="NHWC")
    => v2.nn.depth_to_space(input, block_size, data_format) e.g. [[[[1.0, 2.0, 3.0, 4.0]]]], 2
nn.xw_plus_b(x, weights, biases, name=None)
    => v2.nn.bias_add(v2.matmul(x, weights), biases) e.g. [[1.0, 2.0]], [[1.0, -1.0], [0.5, 2.0]], [0.1, 0.2]
nn.relu_layer(x, weights, biases, name=None)
    => v2.nn.relu(v2.nn.bias_add(v2.matmul(x, weights), biases))
    e.g. [[1.0, 2.0]], [[1.0, -1.0], [-0.5, -2.0]], [0.1, 0.2]
# Losses with weights, which a collection of the graph notes.
losses.absolute_difference(labels, predictions, weights=1.0, scope=None, loss_collection="losses",
        reduction="weighted_sum_by_nonzero_weights")
    => weighted.compute_weighted_loss(weighted.absolute_difference(labels, predictions), weights, loss_collection,
        reduction) e.g. [[1.0, 0.0], [0.0, 1.0]], [[0.5, 0.2], [0.1, 0.9]], weights=[[2.0], [0.0]]
losses.mean_squared_error(labels, predictions, weights=1.0, scope=None, loss_collection="losses",
        reduction="weighted_sum_by_nonzero_weights")
    => weighted.compute_weighted_loss(weighted.mean_squared_error(labels, predictions), weights, loss_collection,
        reduction) e.g. [[1.0, 0.0], [0.0, 1.0]], [[0.5, 0.2], [0.1, 0.9]]
losses.sigmoid_cross_entropy(multi_class_labels, logits, weights=1.0, label_smoothing=0, scope=None,
        loss_collection="losses", reduction="weighted_sum_by_nonzero_weights")
    => weighted.compute_weighted_loss(weighted.sigmoid_cross_entropy(multi_class_labels, logits, label_smoothing),
        weights, loss_collection, reduction)
    e.g. [[1.0, 0.0], [0.0, 1.0]], [[0.5, 0.2], [0.1, 0.9]], label_smoothing=0.1
losses.softmax_cross_entropy(onehot_labels, logits, weights=1.0, label_smoothing=0, scope=None,
        loss_collection="losses", reduction="weighted_sum_by_nonzero_weights")
    => weighted.compute_weighted_loss(weighted.softmax_cross_entropy(onehot_labels, logits, label_smoothing), weights,
        loss_collection, reduction) e.g. [[1.0, 0.0], [0.0, 1.0]], [[0.5, 0.2], [0.1, 0.9]], label_smoothing=0.1
losses.sparse_softmax_cross_entropy(labels, logits, weights=1.0, scope=None, loss_collection="losses",
        reduction="weighted_sum_by_nonzero_weights")
    => weighted.compute_weighted_loss(weighted.sparse_softmax_cross_entropy(labels, logits), weights, loss_collection,
        reduction) e.g. [1, 0], [[0.5, 0.2], [0.1, 0.9]], weights=[1.0, 3.0]
losses.compute_weighted_loss(losses, weights=1.0, scope=None, loss_collection="losses",
        reduction="weighted_sum_by_nonzero_weights")
    => weighted.compute_weighted_loss(losses, weights, loss_collection, reduction)
    e.g. [1.0, 2.0, 4.0], [1.0, 0.0, 2.0], reduction="weighted_sum_over_batch_size"
losses.get_total_loss(add_regularization_losses=True, name="total_loss", scope=None)
    => weighted.get_total_loss(add_regularization_losses, scope)
losses.get_regularization_loss(scope=None, name="total_regularization_loss") => weighted.get_regularization_loss(scope)
""")

OTHERS = rows(r"""
# Losses with weights, which a collection of the graph notes.
losses.add_loss(loss, loss_collection="losses") => weighted.add_loss(loss, loss_collection) e.g. tf.constant(1.0)
losses.get_losses(scope=None, loss_collection="losses") => weighted.get_losses(scope, loss_collection)
losses.get_regularization_losses(scope=None) => weighted.get_regularization_losses(scope)
""")
