"""Graphs in the forms that other tools read: Graphviz, TensorBoard, Model Explorer, JAX."""

from graphc.tools.inspect.exports.dot import to_dot
from graphc.tools.inspect.exports.model_explorer import to_model_explorer
from graphc.tools.inspect.exports.programs import to_jaxpr, to_stablehlo
from graphc.tools.inspect.exports.tensorboard import write_tensorboard

__all__ = ["to_dot", "to_jaxpr", "to_model_explorer", "to_stablehlo", "write_tensorboard"]
