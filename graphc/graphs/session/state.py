"""The state that a Session keeps between runs: the values of Variables, and other resources."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from graphc.compiler.base import at
from graphc.compiler.base.errors import FailedPreconditionError, InvalidArgumentError
from graphc.compiler.core import Resources, Variable, array_of, type_of
from graphc.compiler.ir import OPEN, Node, TensorType
from graphc.graphs.session.graphs.graph import Graph
from graphc.graphs.session.graphs.trace import OUTSIDE, RANDOM, first_state

__all__ = ["SessionState", "check_type", "dummy", "parts_of", "uninitialized_error"]


class SessionState:
    """The state of a Session.

    Args:
      own: the container of what belongs to the Session alone: the states of random ops.
    """

    def __init__(self, graph: Graph, resources: Resources | None = None, own: str = "") -> None:
        self.graph = graph
        self._own = own
        self.resources = resources or Resources(graph)
        self._lock = threading.Lock()

    def find(self, resource: str) -> Variable | None:
        """Returns the holder of a Variable's value; None if the Variable is not initialized."""
        if resource.startswith(OUTSIDE):
            return self.graph.trace.outside[resource]
        container, name = self._place(resource)
        variable = self.resources.find(container, name, Variable)
        if variable is None and resource.startswith(RANDOM):
            with self._lock:
                variable = self.resources.find(container, name, Variable)
                if variable is None:
                    variable = self.put(resource, jax.numpy.asarray(first_state(self.graph.seed, resource)))
        return variable

    def put(self, resource: str, array: jax.Array) -> Variable:
        """Sets the first value of a Variable."""
        container, name = self._place(resource)
        holder = _holding(name, array)
        variable = self.resources.get_or_make(container, name, lambda: holder, Variable)
        if variable is not holder:
            variable.raw = array
        return variable

    def forget(self, resources: Sequence[str]) -> None:
        """Drops the values of Variables."""
        for resource in resources:
            container, name = self._place(resource)
            self.resources.drop(container, name, Variable)

    def _place(self, resource: str) -> tuple[str, str]:
        return (self._own, resource) if resource.startswith(RANDOM) else parts_of(resource)

    def uninitialized(self, resource: str, node: Node) -> FailedPreconditionError:
        """Makes the error for a read of an uninitialized Variable."""
        return at(uninitialized_error(parts_of(resource)[1]), node.location)


def uninitialized_error(names: str) -> FailedPreconditionError:
    """Makes the error for a use of uninitialized Variables."""
    return FailedPreconditionError(
        f"Attempting to use uninitialized value {names}: no initializer has given it a value; run "
        "gx.global_variables_initializer() or the variable's own initializer first"
    )


def check_type(resource: str, variable: Variable, declared: TensorType) -> None:
    """Checks that the holder of a Variable's value, which another graph may have made, has the declared type."""
    there = type_of(array_of(variable))
    fits = not declared.ranked or (
        len(declared.shape) == len(there.shape)
        and all(size in (OPEN, actual) for size, actual in zip(declared.shape, there.shape, strict=True))
    )
    if there.dtype != declared.dtype or not fits:
        container, name = parts_of(resource)
        where = f" in the container {container!r}" if container else ""
        raise InvalidArgumentError(
            f"the Variable {name!r}{where} is {there}, as another graph made it, but this graph declares {declared}: "
            "give one of them another name, separate them with `with graph.container(...)`, or drop what the "
            "cluster keeps with gx.Session.reset(target)"
        )


def parts_of(resource: str) -> tuple[str, str]:
    """Returns the container and the name of a resource."""
    container, separator, name = resource.partition("//")
    return (container, name) if separator and not resource.startswith(RANDOM) else ("", resource)


def _holding(name: str, array: jax.Array) -> Any:
    """Returns an eager Variable for a value, under a name that may exist in other Sessions."""
    variable = object.__new__(Variable)
    variable.name, variable.trainable = name, False
    variable._array, variable._type = array, type_of(array)  # pyright: ignore[reportPrivateUsage]
    return variable


def dummy(node: Node) -> np.ndarray[Any, Any]:
    """Returns zeros for a value that a program takes but does not read, from the node that assigns it."""
    type = node.inputs[0].type
    return np.zeros(type.shape, type.dtype)
