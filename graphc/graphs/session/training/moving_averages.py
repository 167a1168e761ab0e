"""Moving averages of Variables and tensors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from graphc.compiler.base import at, user_location
from graphc.compiler.base.errors import InvalidArgumentError, InvalidTypeError, UnimplementedError
from graphc.compiler.core import FUNCTIONS
from graphc.graphs.session.graphs.control_flow import convert_to_tensor, group
from graphc.graphs.session.graphs.graph import default_graph, graph_of
from graphc.graphs.session.graphs.naming import GraphKeys
from graphc.graphs.session.graphs.tensor import GraphTensor, Operation
from graphc.graphs.session.training.optimizer import slot_variable
from graphc.graphs.session.variables.initializing import moving_average_variables, trainable_variables
from graphc.graphs.session.variables.scopes import scoped_name
from graphc.graphs.session.variables.variable import GraphVariable

__all__ = ["ExponentialMovingAverage"]


class ExponentialMovingAverage:
    """Keeps exponential moving averages of Variables and tensors.

    Each run of the operation from :meth:`apply` sets ``average = decay * average + (1 - decay) * value``.

    Args:
      decay: a number or a tensor.
      num_updates: the number of updates, a Variable or tensor: the decay is lower at first, at most
        ``(1 + num_updates) / (10 + num_updates)``.
      zero_debias: refused.
      name: the name of the averages.

    Example:
      >>> import graphc as gx
      >>> from graphc.graphs.session import ExponentialMovingAverage
      >>> with gx.Graph().as_default() as graph:
      ...     v = gx.Variable(0.0, name="v")
      ...     averages = ExponentialMovingAverage(0.5)
      ...     update = averages.apply([v])
      ...     init = gx.global_variables_initializer()
      >>> with gx.Session(graph=graph) as session:
      ...     session.run(init)
      ...     _ = session.run(v.assign(8.0))
      ...     session.run(update)
      ...     float(session.run(averages.average(v)))
      4.0
    """

    def __init__(
        self, decay: Any, num_updates: Any = None, zero_debias: bool = False, name: str = "ExponentialMovingAverage"
    ) -> None:
        if zero_debias:
            problem = f"{name}: zero_debias is not there; divide the average by 1 - decay ** updates where you use it"
            raise at(UnimplementedError(problem), user_location())
        self._decay, self._num_updates, self._name = decay, num_updates, name
        self._averages: dict[int, GraphVariable] = {}
        self._of: dict[int, Any] = {}

    @property
    def name(self) -> str:
        """The name."""
        return self._name

    def apply(self, var_list: Iterable[Any] | None = None) -> Operation:
        """Makes the averages, and returns the operation that updates them.

        Args:
          var_list: Variables and tensors of floats; all trainable Variables if None.

        Raises:
          InvalidTypeError: an item is neither, or has no float dtype.
          InvalidArgumentError: an average is kept of it already.
        """
        items: list[Any] = list(trainable_variables() if var_list is None else var_list)
        for item in items:
            self._check(item)
        graph = items[0].graph if items else default_graph()
        with graph.as_default():
            for item in items:
                self._keep(item)
            with graph.name_scope(self._name) as scope:
                weight = 1.0 - self._current_decay()
                updates: list[Operation] = []
                for item in items:
                    with graph.colocate_with(self._averages[id(item)]):
                        updates.append(self._updated(item, weight))
            done = group(*updates)
            graph.trace.builder.rename(done.node, scope.removesuffix("/"))
            return done

    def _check(self, item: Any) -> None:
        if not isinstance(item, GraphVariable | GraphTensor) or not item.type.is_inexact:
            error = InvalidTypeError(f"{self._name}: expected Variables and tensors of floats, got {item!r:.80}")
            raise at(error, user_location())
        if id(item) in self._averages:
            raise at(
                InvalidArgumentError(f"{self._name}: Moving average already computed for: {item.name}"), user_location()
            )

    def _keep(self, item: Any) -> None:
        variable = isinstance(item, GraphVariable)
        if variable:
            average = slot_variable(item, self._name, item.initialized_value())
            item.graph.add_to_collection(GraphKeys.MOVING_AVERAGE_VARIABLES, item)
        else:
            average = _zeros_for(item, f"{item.op.name}/{self._name}")
        self._averages[id(item)], self._of[id(item)] = average, item

    def _current_decay(self) -> Any:
        decay = convert_to_tensor(self._decay)
        if self._num_updates is None:
            return decay
        count = FUNCTIONS["astype"](convert_to_tensor(self._num_updates), decay.raw.type.dtype)
        return FUNCTIONS["minimum"](decay, (1.0 + count) / (10.0 + count))

    def _updated(self, item: Any, weight: Any) -> Operation:
        average = self._averages[id(item)]
        value = convert_to_tensor(item)
        weight = FUNCTIONS["astype"](weight, value.raw.type.dtype)
        return average.assign_sub((average.value() - value) * weight, read_value=False)

    def average(self, var: Any) -> Any:
        """Returns the Variable that holds the average of a Variable or tensor; None if there is none."""
        return self._averages.get(id(var))

    def average_name(self, var: Any) -> str:
        """Returns the name of the average of a Variable or tensor, whether it exists or not."""
        found = self._averages.get(id(var))
        return f"{var.op.name}/{self._name}" if found is None else found.op.name

    def variables_to_restore(self, moving_avg_variables: Sequence[Any] | None = None) -> dict[str, Any]:
        """Returns Variables by the names of the checkpoint values to restore them from: their averages, if any.

        Args:
          moving_avg_variables: the Variables to restore from averages; those of the collections if None.
        """
        if moving_avg_variables is None:
            moving_avg_variables = [*trainable_variables(), *moving_average_variables()]
        found = {self.average_name(variable): variable for variable in dict.fromkeys(moving_avg_variables)}
        averaged = set(moving_avg_variables)
        graph = graph_of(moving_avg_variables)
        for variable in graph.get_collection(GraphKeys.GLOBAL_VARIABLES):
            if variable not in averaged and variable.op.name not in found:
                found[variable.op.name] = variable
        return found


def _zeros_for(tensor: GraphTensor, name: str) -> GraphVariable:
    graph = tensor.graph
    with graph.name_scope(None), graph.control_dependencies(None):
        value = FUNCTIONS["zeros"](tensor.shape, dtype=tensor.dtype)
        return GraphVariable(value, trainable=False, name=scoped_name(name))
