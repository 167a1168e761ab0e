"""Rows: losses with weights, which a collection of the graph notes."""

from graphc.compat.alias import alias

OPERATIONS = (
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
"""Rows that make operations."""

ROWS = (
    alias(
        'losses.add_loss(loss, loss_collection="losses")',
        "weighted.add_loss(loss, loss_collection)",
        "tf.constant(1.0)",
    ),
    alias('losses.get_losses(scope=None, loss_collection="losses")', "weighted.get_losses(scope, loss_collection)", ""),
    alias("losses.get_regularization_losses(scope=None)", "weighted.get_regularization_losses(scope)", ""),
)
"""Rows that make none."""
