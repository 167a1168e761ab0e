"""Rows: what networks compute, and random numbers."""

from graphc.compat.alias import rows

ROWS = rows(r"""
# Activations, convolutions, pooling, normalisation, losses.
nn.relu(features, name=None) => gx.nn.relu(features) e.g. [0.5, -2.0]
nn.relu6(features, name=None) => gx.nn.relu6(features) e.g. [0.5, -2.0, 9.0]
nn.leaky_relu(features, alpha=0.2, name=None) => gx.nn.leaky_relu(features, alpha) e.g. [0.5, -2.0]
nn.elu(features, name=None) => gx.nn.elu(features) e.g. [0.5, -2.0]
nn.selu(features, name=None) => gx.nn.selu(features) e.g. [0.5, -2.0]
nn.gelu(features, approximate=False, name=None) => gx.nn.gelu(features, approximate) e.g. [0.5, -2.0]
nn.silu nn.swish(features, beta=1.0) => gx.arrays.silu(features, beta) e.g. [0.5, -2.0], 2.0
nn.crelu(features, axis=-1, name=None) => gx.arrays.crelu(features, axis) e.g. [0.5, -2.0]
nn.softmax math.softmax(logits, axis=None, name=None)
    => gx.nn.softmax(logits, -1 if axis is None else axis) e.g. [[1.0, 2.0], [3.0, 5.0]]
nn.log_softmax math.log_softmax(logits, axis=None, name=None)
    => gx.nn.log_softmax(logits, -1 if axis is None else axis) e.g. [[1.0, 2.0], [3.0, 5.0]]
nn.bias_add(value, bias, data_format=None, name=None)
    => gx.arrays.bias_add(value, bias, data_format) e.g. [[1.0, 2.0], [3.0, 5.0]], [1.0, -1.0]
nn.conv1d(input, filters, stride, padding, data_format="NWC", dilations=None, name=None)
    => gx.arrays.convolution(...) e.g. [[[1.0], [2.0], [3.0], [4.0]]], [[[1.0]], [[-1.0]]], 2, "SAME"
nn.conv2d(input, filters, strides, padding, data_format="NHWC", dilations=None, name=None)
    => gx.arrays.convolution(...)
    e.g. tf.constant([[[[1.0], [2.0]], [[3.0], [4.0]]]]), [[[[1.0]], [[2.0]]]], [1, 1, 1, 1], "SAME"
nn.conv3d(input, filters, strides, padding, data_format="NDHWC", dilations=None, name=None)
    => gx.arrays.convolution(...)
    e.g. tf.constant([[[[[1.0], [2.0]], [[3.0], [4.0]]]]]), [[[[[1.0]], [[2.0]]]]], [1, 1, 1, 1, 1], "SAME"
nn.convolution(input, filters, strides=None, padding="VALID", data_format=None, dilations=None, name=None)
    => gx.arrays.convolution(...) e.g. [[[1.0], [2.0], [3.0], [4.0]]], [[[1.0]], [[-1.0]]]
nn.atrous_conv2d(value, filters, rate, padding, name=None)
    => gx.arrays.convolution(value, filters, 1, padding, None, rate)
    e.g. [[[[1.0], [2.0], [3.0], [4.0]]]], [[[[1.0]], [[2.0]]]], 2, "VALID"
nn.conv1d_transpose(input, filters, output_shape, strides, padding="SAME", data_format="NWC", dilations=None, name=None)
    => gx.arrays.convolution_transpose(...) e.g. [[[1.0], [2.0]]], [[[1.0]], [[2.0]], [[3.0]]], [1, 4, 1], 2
nn.conv2d_transpose(input, filters, output_shape, strides, padding="SAME", data_format="NHWC", dilations=None,
        name=None)
    => gx.arrays.convolution_transpose(...) e.g. [[[[1.0], [2.0]]]], [[[[1.0]], [[2.0]], [[3.0]]]], [1, 2, 4, 1], 2
nn.conv3d_transpose(input, filters, output_shape, strides, padding="SAME", data_format="NDHWC", dilations=None,
        name=None)
    => gx.arrays.convolution_transpose(...)
    e.g. [[[[[1.0], [2.0]]]]], [[[[[1.0]], [[2.0]], [[3.0]]]]], [1, 1, 1, 4, 1], [1, 1, 1, 2, 1]
nn.depthwise_conv2d(input, filter, strides, padding, data_format=None, dilations=None, name=None)
    => gx.arrays.depthwise_convolution(...)
    e.g. [[[[1.0, 2.0], [3.0, 4.0]]]], [[[[1.0], [2.0]], [[3.0], [4.0]]]], [1, 1, 1, 1], "SAME"
nn.separable_conv2d(input, depthwise_filter, pointwise_filter, strides, padding, data_format=None, dilations=None,
        name=None)
    => gx.arrays.separable_convolution(...)
    e.g. [[[[1.0, 2.0], [3.0, 4.0]]]], [[[[1.0], [2.0]], [[3.0], [4.0]]]], [[[[1.0], [-1.0]]]], [1, 1, 1, 1], "SAME"
nn.max_pool(input, ksize, strides, padding, data_format=None, name=None)
    => gx.arrays.pool("max", ...) e.g. tf.constant([[[[1.0], [2.0]], [[3.0], [4.0]]]]), 2, 1, "SAME"
nn.max_pool1d(input, ksize, strides, padding, data_format="NWC", name=None)
    => gx.arrays.pool("max", ...) e.g. [[[1.0], [2.0], [3.0], [4.0]]], 2, 2, "VALID"
nn.max_pool2d(input, ksize, strides, padding, data_format="NHWC", name=None)
    => gx.arrays.pool("max", ...) e.g. [[[[1.0], [2.0]], [[3.0], [4.0]]]], [1, 2, 2, 1], [1, 1, 1, 1], "VALID"
nn.max_pool3d(input, ksize, strides, padding, data_format="NDHWC", name=None)
    => gx.arrays.pool("max", ...) e.g. [[[[[1.0], [2.0]], [[3.0], [4.0]]]]], [1, 1, 2, 2, 1], [1, 1, 1, 1, 1], "VALID"
nn.avg_pool(input, ksize, strides, padding, data_format=None, name=None)
    => gx.arrays.pool("avg", ...) e.g. tf.constant([[[[1.0], [2.0]], [[3.0], [4.0]]]]), 2, 1, "SAME"
nn.avg_pool1d(input, ksize, strides, padding, data_format="NWC", name=None)
    => gx.arrays.pool("avg", ...) e.g. [[[1.0], [2.0], [3.0], [4.0]]], 2, 2, "VALID"
nn.avg_pool2d(input, ksize, strides, padding, data_format="NHWC", name=None)
    => gx.arrays.pool("avg", ...) e.g. [[[[1.0], [2.0]], [[3.0], [4.0]]]], 2, 1, "SAME"
nn.avg_pool3d(input, ksize, strides, padding, data_format="NDHWC", name=None)
    => gx.arrays.pool("avg", ...) e.g. [[[[[1.0], [2.0]], [[3.0], [4.0]]]]], [1, 1, 2, 2, 1], [1, 1, 1, 1, 1], "VALID"
nn.batch_normalization(x, mean, variance, offset, scale, variance_epsilon, name=None)
    => gx.nn.batch_norm(x, mean, variance, scale, offset, variance_epsilon)
    e.g. tf.constant([[1.0, 2.0]]), tf.constant([0.5, 1.0]), tf.constant([2.0, 4.0]), [0.1, 0.2], [3.0, 4.0], 0.001
nn.moments(x, axes, shift=None, keepdims=False, name=None)
    => gx.nn.moments(x, gx.arrays.as_axes(axes), keepdims) e.g. tf.constant([[1.0, 2.0], [3.0, 5.0]]), axes=[0]
nn.weighted_moments(x, axes, frequency_weights, keepdims=False, name=None)
    => gx.arrays.weighted_moments(...) e.g. [[1.0, 2.0], [3.0, 5.0]], [0], [[1.0, 2.0], [3.0, 1.0]]
nn.sufficient_statistics(x, axes, shift=None, keepdims=False, name=None)
    => gx.arrays.sufficient_statistics(...) e.g. [[1.0, 2.0], [3.0, 5.0]], [0]
nn.local_response_normalization nn.lrn(input, depth_radius=5, bias=1, alpha=1, beta=0.5, name=None)
    => gx.arrays.local_response_normalization(...) e.g. [[[[1.0, 2.0, 3.0]]]], depth_radius=1
nn.dropout(x, rate, noise_shape=None, seed=None, name=None)
    => gx.arrays.dropout(x, rate, noise_shape) e.g. [1.0, 2.0], rate=0.0
nn.embedding_lookup(params, ids, max_norm=None, name=None)
    => gx.arrays.embedding_lookup(params, ids, max_norm)
    e.g. tf.constant([[3.0, 4.0], [6.0, 8.0]]), [1, 0], max_norm=5.0
nn.l2_loss(t, name=None) => gx.divide(gx.sum(gx.square(t)), 2) e.g. [3.0, 4.0]
nn.sigmoid_cross_entropy_with_logits(labels=None, logits=None, name=None)
    => gx.arrays.sigmoid_cross_entropy(labels, logits) e.g. labels=[1.0, 0.0], logits=[0.5, 2.0]
nn.softmax_cross_entropy_with_logits(labels, logits, axis=-1, name=None)
    => gx.arrays.softmax_cross_entropy(labels, logits, axis) e.g. labels=[[0.2, 0.8]], logits=[[0.5, 2.0]]
nn.sparse_softmax_cross_entropy_with_logits(labels, logits, name=None)
    => gx.arrays.sparse_softmax_cross_entropy(labels, logits) e.g. labels=[1, 0], logits=[[0.5, 2.0], [1.0, 3.0]]
nn.weighted_cross_entropy_with_logits(labels, logits, pos_weight, name=None)
    => gx.arrays.sigmoid_cross_entropy(labels, logits, pos_weight)
    e.g. labels=[1.0, 0.0], logits=[0.5, 2.0], pos_weight=1.5
nn.log_poisson_loss(targets, log_input, compute_full_loss=False, name=None)
    => gx.arrays.log_poisson_loss(targets, log_input, compute_full_loss)
    e.g. [2.0, 0.5], [0.5, 0.1], compute_full_loss=True
nn.space_to_depth(input, block_size, data_format="NHWC", name=None)
    => gx.arrays.space_to_depth(input, block_size, data_format) e.g. [[[[1.0], [2.0]], [[3.0], [4.0]]]], 2
nn.depth_to_space(input, block_size, data_format="NHWC", name=None)
    => gx.arrays.depth_to_space(input, block_size, data_format) e.g. [[[[1.0, 2.0, 3.0, 4.0]]]], 2
nn.pool(input, window_shape, pooling_type, strides=None, padding="VALID", data_format=None, dilations=None, name=None)
    => gx.arrays.pool(pooling_type, input, window_shape, 1 if strides is None else strides, padding, data_format)
    e.g. [[[[1.0], [2.0]], [[3.0], [4.0]]]], [2, 2], "MAX"
# Random numbers. They are graphc's: the same seed does not give TensorFlow's numbers.
random.set_seed(seed) => gx.random.seed(seed) e.g. 7
random.normal(shape, mean=0.0, stddev=1.0, dtype=float32, seed=None, name=None)
    => gx.random.normal(tuple(shape), dtype, loc=mean, scale=stddev) e.g. [2, 3], 1.0, 0.1
random.uniform(shape, minval=0, maxval=None, dtype=float32, seed=None, name=None)
    => gx.arrays.uniform(shape, minval, maxval, dtype) e.g. [2, 3], maxval=10, dtype=tf.int32
random.truncated_normal(shape, mean=0.0, stddev=1.0, dtype=float32, seed=None, name=None)
    => gx.arrays.truncated_normal(shape, mean, stddev, dtype) e.g. [2, 3]
random.gamma(shape, alpha, beta=None, dtype=float32, seed=None, name=None)
    => gx.arrays.gamma(shape, alpha, beta, dtype) e.g. [2], [0.5, 1.5]
random.poisson(shape, lam, dtype=float32, seed=None, name=None)
    => gx.arrays.poisson(shape, lam, dtype) e.g. [2], [0.5, 1.5]
random.categorical(logits, num_samples, dtype=None, seed=None, name=None)
    => gx.arrays.categorical(logits, num_samples, dtype) e.g. [[0.5, 0.5], [0.1, 2.0]], 3
random.shuffle(value, seed=None, name=None) => gx.random.permutation(gx.asarray(value)) e.g. [1.0, 2.0, 3.0]
random.stateless_normal(shape, seed, mean=0.0, stddev=1.0, dtype=float32, name=None, alg="auto_select")
    => gx.arrays.stateless(seed).normal(tuple(shape), dtype, loc=mean, scale=stddev) e.g. [2, 3], seed=[1, 2]
random.stateless_uniform(shape, seed, minval=0, maxval=None, dtype=float32, name=None, alg="auto_select")
    => gx.arrays.uniform(shape, minval, maxval, dtype, gx.arrays.stateless(seed)) e.g. [2, 3], seed=[1, 2]
random.stateless_truncated_normal(shape, seed, mean=0.0, stddev=1.0, dtype=float32, name=None, alg="auto_select")
    => gx.arrays.truncated_normal(shape, mean, stddev, dtype, gx.arrays.stateless(seed)) e.g. [2, 3], seed=[1, 2]
random.stateless_gamma(shape, seed, alpha, beta=None, dtype=float32, name=None)
    => gx.arrays.gamma(shape, alpha, beta, dtype, gx.arrays.stateless(seed), each=False) e.g. [2, 2], [1, 2], [0.5, 1.5]
random.stateless_poisson(shape, seed, lam, dtype=int32, name=None)
    => gx.arrays.poisson(shape, lam, dtype, gx.arrays.stateless(seed), each=False) e.g. [2, 2], [1, 2], [0.5, 1.5]
random.stateless_binomial(shape, seed, counts, probs, output_dtype=int32, name=None)
    => gx.arrays.binomial(shape, counts, probs, output_dtype, gx.arrays.stateless(seed))
    e.g. [2], [1, 2], [5.0, 9.0], [0.5, 0.2]
random.stateless_categorical(logits, num_samples, seed, dtype=int64, name=None)
    => gx.arrays.categorical(logits, num_samples, dtype, gx.arrays.stateless(seed))
    e.g. [[0.5, 0.5], [0.1, 2.0]], 3, [1, 2]
""")
