"""Initial values: the lists of a graph's Variables, the operations that initialize them, and what has no value yet."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from typing import Any

from graphc.compiler.core import FUNCTIONS, apply
from graphc.compiler.ir import Attrs
from graphc.graphs.session.graphs.control_flow import group
from graphc.graphs.session.graphs.graph import default_graph
from graphc.graphs.session.graphs.naming import GraphKeys
from graphc.graphs.session.graphs.tensor import GraphTensor, Operation
from graphc.graphs.session.variables.assigning import variable_of
from graphc.graphs.session.variables.ops import ASSERT_INITIALIZED, NAMES_OF_UNINITIALIZED
from graphc.graphs.session.variables.variable import GraphVariable

__all__ = [
    "all_variables",
    "assert_variables_initialized",
    "global_variables",
    "global_variables_initializer",
    "initialize_all_variables",
    "initialize_local_variables",
    "initialize_variables",
    "is_variable_initialized",
    "local_variables",
    "local_variables_initializer",
    "model_variables",
    "moving_average_variables",
    "report_uninitialized_variables",
    "trainable_variables",
    "variables_initializer",
]


def global_variables(scope: str | None = None) -> list[Any]:
    """Returns the Variables of the default graph that are global, which is where they go if nothing else is said.

    Args:
      scope: a regular expression that their names begin with; None for all.
    """
    return default_graph().get_collection(GraphKeys.GLOBAL_VARIABLES, scope)


def local_variables(scope: str | None = None) -> list[Any]:
    """Returns the Variables of the default graph that are local to a process; see :func:`global_variables`."""
    return default_graph().get_collection(GraphKeys.LOCAL_VARIABLES, scope)


def trainable_variables(scope: str | None = None) -> list[Any]:
    """Returns the Variables of the default graph that optimizers change; see :func:`global_variables`."""
    return default_graph().get_collection(GraphKeys.TRAINABLE_VARIABLES, scope)


def model_variables(scope: str | None = None) -> list[Any]:
    """Returns the Variables of the default graph that belong to a model; see :func:`global_variables`."""
    return default_graph().get_collection(GraphKeys.MODEL_VARIABLES, scope)


def moving_average_variables(scope: str | None = None) -> list[Any]:
    """Returns the Variables of which moving averages are kept; see :func:`global_variables`."""
    return default_graph().get_collection(GraphKeys.MOVING_AVERAGE_VARIABLES, scope)


all_variables = global_variables


def variables_initializer(var_list: Iterable[Any], name: str = "init") -> Operation:
    """Makes an operation that gives Variables their initial values, in the order in which they were made.

    An initial value that reads another Variable of the list sees its initial value.

    Args:
      var_list: the Variables.
      name: the name of the operation.

    Raises:
      InvalidTypeError: something is no Variable of a graph.
    """
    variables = [variable_of("variables_initializer", variable) for variable in var_list]
    graph = variables[0].graph if variables else default_graph()
    with graph.as_default():
        return group(*[variable.initializer for variable in variables], name=name)


def global_variables_initializer() -> Operation:
    """Makes an operation that gives all global Variables of the default graph their initial values.

    Example:
      >>> import graphc as gx
      >>> with gx.Graph().as_default() as graph:
      ...     a = gx.Variable(2.0, name="a")
      ...     b = gx.Variable(a.initialized_value() * 3.0, name="b")
      ...     init = gx.global_variables_initializer()
      >>> with gx.Session(graph=graph) as session:
      ...     session.run(init)
      ...     float(session.run(b))
      6.0
    """
    return variables_initializer(global_variables())


def local_variables_initializer() -> Operation:
    """Makes an operation that gives all local Variables of the default graph their initial values."""
    return variables_initializer(local_variables(), "init_local")


initialize_variables = variables_initializer
initialize_all_variables = global_variables_initializer
initialize_local_variables = local_variables_initializer


def is_variable_initialized(variable: Any) -> GraphTensor:
    """Makes a tensor that says whether a Variable has a value in the Session.

    Args:
      variable: the Variable.
    """
    return variable_of("is_variable_initialized", variable).is_initialized()


def report_uninitialized_variables(
    var_list: Iterable[Any] | None = None, name: str = "report_uninitialized_variables"
) -> GraphTensor:
    """Makes a tensor of the names of the Variables that have no value in the Session: strings, an open number of them.

    Args:
      var_list: the Variables; all global and local ones of the default graph if None.
      name: the name of the operation.

    Example:
      >>> import graphc as gx
      >>> from graphc.graphs.session import report_uninitialized_variables
      >>> with gx.Graph().as_default() as graph:
      ...     a, b = gx.Variable(1, name="a"), gx.Variable(2, name="b")
      ...     missing = report_uninitialized_variables()
      >>> with gx.Session(graph=graph) as session:
      ...     session.run(a.initializer)
      ...     print(session.run(missing))
      [b'b']
    """
    variables = _given("report_uninitialized_variables", var_list)
    graph = variables[0].graph if variables else default_graph()
    with graph.making(name):
        names: list[Any] = []
        for place in _by_place(variables):
            with graph.colocate_with(place[0]) if place else nullcontext():
                names.append(apply(NAMES_OF_UNINITIALIZED, (), Attrs(variables=_resources(place))))
        return graph.named(names[0] if len(names) == 1 else FUNCTIONS["concat"](names), name)


def assert_variables_initialized(var_list: Iterable[Any] | None = None) -> Operation | None:
    """Makes an operation that fails if a Variable has no value in the Session.

    Args:
      var_list: the Variables; all global and local ones of the default graph if None.

    Returns:
      The operation, which raises FailedPreconditionError; None if there are no Variables.
    """
    variables = _given("assert_variables_initialized", var_list)
    if not variables:
        return None
    graph = variables[0].graph
    checks: list[Operation] = []
    for place in _by_place(variables):
        with graph.entered(), graph.colocate_with(place[0]):
            graph.trace.apply(ASSERT_INITIALIZED, (), Attrs(variables=_resources(place)))
            checks.append(graph.operation_of(graph.trace.builder.nodes[-1]))
    return checks[0] if len(checks) == 1 else group(*checks)


def _by_place(variables: Sequence[GraphVariable]) -> list[list[GraphVariable]]:
    """Returns Variables by where they are kept, which is asked there; one list if there are none."""
    local = set(map(id, variables[0].graph.get_collection(GraphKeys.LOCAL_VARIABLES))) if variables else ()
    found: dict[Any, list[GraphVariable]] = {}
    for variable in variables:
        found.setdefault((variable.pin, not variable.pin and id(variable) in local), []).append(variable)
    return list(found.values()) or [[]]


def _given(what: str, var_list: Iterable[Any] | None) -> list[GraphVariable]:
    if var_list is None:
        var_list = [*global_variables(), *local_variables()]
    return [variable_of(what, variable) for variable in var_list]


def _resources(variables: Sequence[GraphVariable]) -> tuple[str, ...]:
    return tuple([variable.resource for variable in variables])
