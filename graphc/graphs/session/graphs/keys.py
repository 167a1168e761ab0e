"""The standard names of collections."""

from __future__ import annotations

from typing import Final

__all__ = ["GraphKeys"]


class GraphKeys:
    """TensorFlow's names of the collections of a graph."""

    GLOBAL_VARIABLES: Final = "variables"
    LOCAL_VARIABLES: Final = "local_variables"
    METRIC_VARIABLES: Final = "metric_variables"
    MODEL_VARIABLES: Final = "model_variables"
    TRAINABLE_VARIABLES: Final = "trainable_variables"
    SUMMARIES: Final = "summaries"
    QUEUE_RUNNERS: Final = "queue_runners"
    TABLE_INITIALIZERS: Final = "table_initializer"
    ASSET_FILEPATHS: Final = "asset_filepaths"
    MOVING_AVERAGE_VARIABLES: Final = "moving_average_variables"
    REGULARIZATION_LOSSES: Final = "regularization_losses"
    CONCATENATED_VARIABLES: Final = "concatenated_variables"
    SAVERS: Final = "savers"
    WEIGHTS: Final = "weights"
    BIASES: Final = "biases"
    ACTIVATIONS: Final = "activations"
    UPDATE_OPS: Final = "update_ops"
    LOSSES: Final = "losses"
    SAVEABLE_OBJECTS: Final = "saveable_objects"
    RESOURCES: Final = "resources"
    LOCAL_RESOURCES: Final = "local_resources"
    TRAINABLE_RESOURCE_VARIABLES: Final = "trainable_resource_variables"
    INIT_OP: Final = "init_op"
    LOCAL_INIT_OP: Final = "local_init_op"
    READY_OP: Final = "ready_op"
    READY_FOR_LOCAL_INIT_OP: Final = "ready_for_local_init_op"
    SUMMARY_OP: Final = "summary_op"
    GLOBAL_STEP: Final = "global_step"
    EVAL_STEP: Final = "eval_step"
    TRAIN_OP: Final = "train_op"
    COND_CONTEXT: Final = "cond_context"
    WHILE_CONTEXT: Final = "while_context"
