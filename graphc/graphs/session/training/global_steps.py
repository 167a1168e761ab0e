"""The global step: the Variable of a graph that counts updates."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphc.compiler.base import at, config, user_location
from graphc.compiler.base.errors import InvalidArgumentError, InvalidTypeError
from graphc.graphs.session.graphs.graph import Graph, default_graph
from graphc.graphs.session.graphs.keys import GraphKeys
from graphc.graphs.session.variables.scopes import scoped_name
from graphc.graphs.session.variables.variable import GraphVariable

__all__ = [
    "assert_global_step",
    "create_global_step",
    "get_global_step",
    "get_or_create_global_step",
    "global_step",
]


def get_global_step(graph: Graph | None = None) -> Any:
    """Returns the global step of a graph; None if there is none.

    Args:
      graph: the graph; the default one if None.

    Raises:
      InvalidArgumentError: there are several.
      InvalidTypeError: it is not a scalar integer.
    """
    graph = graph or default_graph()
    found = graph.get_collection(GraphKeys.GLOBAL_STEP)
    if len(found) > 1:
        raise at(InvalidArgumentError("Multiple tensors in global_step collection."), user_location())
    if not found:
        variables = graph.get_collection(GraphKeys.GLOBAL_VARIABLES)
        found = [variable for variable in variables if variable.name == "global_step:0"]
    if not found:
        return None
    assert_global_step(found[0])
    return found[0]


def create_global_step(graph: Graph | None = None) -> Any:
    """Makes the global step of a graph: an integer Variable that starts at 0.

    Args:
      graph: the graph; the default one if None.

    Raises:
      InvalidArgumentError: there already is one.
    """
    graph = graph or default_graph()
    if get_global_step(graph) is not None:
        raise at(InvalidArgumentError('"global_step" already exists.'), user_location())
    dtype = np.int64 if config.enable_x64 else np.int32
    with graph.as_default(), graph.name_scope(None):
        return GraphVariable(
            np.zeros((), dtype),
            trainable=False,
            collections=[GraphKeys.GLOBAL_VARIABLES, GraphKeys.GLOBAL_STEP],
            name=scoped_name("global_step"),
        )


def get_or_create_global_step(graph: Graph | None = None) -> Any:
    """Returns the global step of a graph; makes it if there is none.

    Args:
      graph: the graph; the default one if None.

    Example:
      >>> import graphc as gx
      >>> from graphc.graphs.session import GradientDescentOptimizer, get_or_create_global_step, global_step
      >>> with gx.Graph().as_default() as graph:
      ...     w = gx.Variable(1.0)
      ...     train = GradientDescentOptimizer(0.1).minimize(w * w, get_or_create_global_step())
      ...     init = gx.global_variables_initializer()
      >>> with gx.Session(graph=graph) as session:
      ...     session.run(init)
      ...     session.run(train)
      ...     global_step(session, get_or_create_global_step())
      1
    """
    graph = graph or default_graph()
    found = get_global_step(graph)
    return create_global_step(graph) if found is None else found


def global_step(sess: Any, global_step_tensor: Any) -> int:
    """Returns the global step in a Session as an int.

    Args:
      sess: the Session.
      global_step_tensor: the Variable, or a tensor.
    """
    return int(sess.run(global_step_tensor))


def assert_global_step(global_step_tensor: Any) -> None:
    """Raises an error for a tensor that cannot be a global step.

    Raises:
      InvalidTypeError: it is not a scalar integer.
    """
    type = getattr(global_step_tensor, "type", None)
    if type is None or type.dtype.kind not in "iu" or (type.ranked and type.shape):
        error = InvalidTypeError(f"expected a scalar integer for the global step, got {global_step_tensor!r:.80}")
        raise at(error, user_location())
