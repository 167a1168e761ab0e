"""Names of the nodes of a graph built by hand: unique, in scopes, and TensorFlow's where it has one."""

from __future__ import annotations

import re
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any, Final

from graphc.compiler.core import NodeToPlace
from graphc.compiler.ir import GraphBuilder, Node, OpDef, Value, applied_name
from graphc.graphs.refusals import user_error

# Ops that TensorFlow names after the op itself, not after the function that makes them.
_NAMES: Final = {
    "constant": "Const", "matmul": "MatMul", "placeholder": "Placeholder", "read_variable": "read",
    "assign_variable": "Assign", "multiply": "mul", "divide": "truediv", "subtract": "sub", "concat": "concat",
    "astype": "Cast", "negative": "Neg", "abs": "Abs", "floor_divide": "floordiv", "remainder": "mod", "less": "Less",
    "less_equal": "LessEqual", "greater": "Greater", "greater_equal": "GreaterEqual", "get_item": "strided_slice",
    "bitwise_and": "and", "bitwise_or": "or", "bitwise_xor": "xor", "bitwise_invert": "LogicalNot",
}  # fmt: skip
_VALID = re.compile(r"[A-Za-z0-9.][A-Za-z0-9_.\\/>-]*", re.ASCII)
_VALID_INSIDE = re.compile(r"[A-Za-z0-9_.\\/>-]+", re.ASCII)


class NamingBuilder(GraphBuilder):
    """A builder that names nodes in the current scope."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.scope = ""

    def append(self, op: OpDef, inputs: Sequence[Value], *args: Any, name: str = "", **options: Any) -> Node:
        """Appends a node; see :meth:`GraphBuilder.append`."""
        kind = str(args[0]["op"]) if op.name == "on_strings" else applied_name(op, args[0] if args else {})
        wish = name or _NAMES.get(kind) or kind.rpartition(".")[2]
        return super().append(op, inputs, *args, name=self.scope + wish, **options)

    def next_name(self, wish: str) -> str:
        """Returns the name that the next node would get for a requested name."""
        return super().next_name(self.scope + (_NAMES.get(wish) or wish))

    def unique(self, wish: str) -> str:
        """Reserves a name in the current scope, and returns it."""
        return self._names(self.scope + wish)

    def rename(self, node: Node, name: str) -> None:
        """Renames a node that nothing else knows by name yet; the new name must be free or its scope's."""
        object.__setattr__(node, "name", name)

    @contextmanager
    def naming(self, name: str | None) -> Generator[str]:
        """Names what is made inside under its own scope.

        Args:
          name: the scope's name; a name that ends with a slash reopens that scope, and None or empty is the outermost
            scope.

        Yields:
          The scope: a path that ends with a slash, or empty.
        """
        before = self.scope
        if not name:
            self.scope = ""
        elif name.endswith("/"):
            self.scope = check_name(name, inside=True)
        else:
            self.scope = self.unique(check_name(name, inside=bool(before))) + "/"
        try:
            yield self.scope
        finally:
            self.scope = before


def check_name(name: str, *, inside: bool = False) -> str:
    """Checks a user's name, and returns it."""
    if not (_VALID_INSIDE if inside else _VALID).fullmatch(name):
        raise user_error(
            f"{name!r} is no name of an operation or scope; use letters, digits and _ . / - >, and begin with a "
            "letter or digit"
        )
    return name


def op_type(node: Node) -> str:
    """Returns TensorFlow's name for a node's op, such as ``MatMul``."""
    return NodeToPlace(applied_name(node.op, node.attrs), node.name, (), node.attrs, node.location).type


# The standard names of collections.


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
