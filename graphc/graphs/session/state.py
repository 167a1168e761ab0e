"""The state that a Session keeps between runs: the values of Variables, other resources, and ops that ask for them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import numpy as np

from graphc.compiler.base.errors import FailedPreconditionError, InvalidArgumentError, OutOfRangeError
from graphc.compiler.core import STRING, Resources, Variable, array_of, current_resources, held, type_of, variable_lock
from graphc.compiler.ir import OPEN, OPS, Attrs, Effect, Node, OpDef, TensorType, reads, writes
from graphc.compiler.ir import Graph as GraphIR
from graphc.graphs.session.graphs.graph import Graph
from graphc.graphs.session.graphs.trace import OUTSIDE, RANDOM, first_state


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
        return uninitialized_error(parts_of(resource)[1]).at(node.location)


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


# Ops of the host that ask a Session about its Variables: which have a value, and what a counter is at.


def _find(variable: str) -> Variable | None:
    return current_resources().find(*parts_of(variable), Variable)


def _initialized_value(initial: Any, *, variable: str, type: TensorType) -> Any:
    del type
    holder = _find(variable)
    return initial if holder is None else np.asarray(array_of(holder))


def _is_initialized(*, variable: str) -> Any:
    return np.asarray(_find(variable) is not None)


def _missing(variables: Sequence[str]) -> list[str]:
    return [parts_of(variable)[1] for variable in variables if _find(variable) is None]


def _names_of_uninitialized(*, variables: Sequence[str]) -> Any:
    names = [name.encode() for name in _missing(variables)]
    array = np.empty(len(names), object)
    array[:] = names
    return array


def _assert_initialized(*, variables: Sequence[str]) -> None:
    missing = _missing(variables)
    if missing:
        raise uninitialized_error(", ".join(missing))


def _count_up_to(*, variable: str, type: TensorType, limit: int) -> Any:
    holder, name = _find(variable), parts_of(variable)[1]
    if holder is None:
        raise uninitialized_error(name)
    check_type(variable, holder, type)
    while True:
        before = array_of(holder)
        value = np.asarray(before)
        if int(value) >= limit:
            raise OutOfRangeError(f"Reached limit of {limit}: the Variable {name!r} is {int(value)}")
        following = jax.device_put(np.asarray(value + 1, type.dtype), before.sharding)
        with variable_lock:
            if held(holder) is before:
                holder.raw = following
                return value


def _add(
    name: str, impl: Callable[..., Any], types: Callable[[Attrs], tuple[TensorType, ...]], params: tuple[str, ...] = (),
    doc: str = "", effect: Callable[[str], Effect] | None = None,
) -> OpDef:  # fmt: skip
    def infer(inputs: Sequence[TensorType], attrs: Attrs, regions: Sequence[GraphIR]) -> tuple[TensorType, ...]:
        del inputs, regions
        return types(attrs)

    def effects(attrs: Mapping[str, Any]) -> tuple[Effect, ...]:
        return () if effect is None else (effect(attrs["variable"]),)

    op = OpDef(
        name, impl, infer, params, effects=effects, differentiable=False, takes_open=True, host=True, doc=doc
    )  # fmt: skip
    return OPS.add(name, op)


INITIALIZED_VALUE = _add(
    "initialized_value", _initialized_value, lambda attrs: (attrs["type"],), ("initial",),
    "The value of a variable where it has one in the Session, else its initial value.", reads,
)  # fmt: skip
IS_INITIALIZED = _add(
    "is_variable_initialized", _is_initialized, lambda attrs: (TensorType((), np.dtype(np.bool_)),),
    doc="Whether a variable has a value in the Session.", effect=reads,
)  # fmt: skip
NAMES_OF_UNINITIALIZED = _add(
    "report_uninitialized_variables", _names_of_uninitialized, lambda attrs: (TensorType((OPEN,), STRING),),
    doc="The names of the variables that have no value in the Session.",
)  # fmt: skip
ASSERT_INITIALIZED = _add(
    "assert_variables_initialized", _assert_initialized, lambda attrs: (),
    doc="Fails if a variable has no value in the Session.",
)  # fmt: skip
COUNT_UP_TO = _add(
    "count_up_to", _count_up_to, lambda attrs: (attrs["type"],),
    doc="The value of a counter, which goes up by one; fails at its limit.", effect=writes,
)  # fmt: skip
