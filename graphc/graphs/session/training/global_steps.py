"""The global step, a Variable of a graph that counts updates, and learning rates that depend on it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from graphc.compiler.base import config
from graphc.compiler.base.errors import InvalidTypeError, UnimplementedError
from graphc.compiler.core import FUNCTIONS
from graphc.graphs.refusals import user_error
from graphc.graphs.session.graphs.control_flow import convert_to_tensor, group
from graphc.graphs.session.graphs.graph import Graph, default_graph, graph_of
from graphc.graphs.session.graphs.naming import GraphKeys
from graphc.graphs.session.graphs.tensor import GraphTensor, Operation
from graphc.graphs.session.training.optimizer import slot_variable
from graphc.graphs.session.variables.initializers import moving_average_variables, trainable_variables
from graphc.graphs.session.variables.scopes import scoped_name
from graphc.graphs.session.variables.variable import GraphVariable


def get_global_step(graph: Graph | None = None) -> Any:
    """Returns the global step of a graph; None if there is none.

    Args:
      graph: the graph; the default one if None.

    Raises:
      InvalidArgumentError: there are several.
      InvalidTypeError: it is not a scalar integer.
    """
    graph = graph or default_graph()
    steps = graph.get_collection(GraphKeys.GLOBAL_STEP)
    if len(steps) > 1:
        raise user_error("Multiple tensors in global_step collection.")
    if not steps:
        variables = graph.get_collection(GraphKeys.GLOBAL_VARIABLES)
        steps = [variable for variable in variables if variable.name == "global_step:0"]
    if not steps:
        return None
    assert_global_step(steps[0])
    return steps[0]


def create_global_step(graph: Graph | None = None) -> Any:
    """Makes the global step of a graph: an integer Variable that starts at 0.

    Args:
      graph: the graph; the default one if None.

    Raises:
      InvalidArgumentError: there already is one.
    """
    graph = graph or default_graph()
    if get_global_step(graph) is not None:
        raise user_error('"global_step" already exists.')
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
    step = get_global_step(graph)
    return create_global_step(graph) if step is None else step


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
        raise InvalidTypeError(f"expected a scalar integer for the global step, got {global_step_tensor!r:.80}").here()


# Learning rates. In each, ``first`` is the initial rate and ``step`` the step, as a tensor of the rate's dtype.


def _rate(what: str, name: str | None, start: Any, global_step: Any, formula: Callable[[Any, Any], Any]) -> GraphTensor:
    if global_step is None:
        raise user_error(f"{what}: global_step is required")
    graph = graph_of([global_step, start]) if not hasattr(global_step, "graph") else global_step.graph
    graph = graph or default_graph()
    with graph.making(name or what):
        first = convert_to_tensor(start)
        rate = formula(first, _like(global_step, first))
        return graph.named(rate, name or what)


def _like(value: Any, other: Any) -> Any:
    return FUNCTIONS["astype"](convert_to_tensor(value), other.raw.type.dtype)


def exponential_decay(
    learning_rate: Any, global_step: Any, decay_steps: Any, decay_rate: Any, staircase: bool = False,
    name: str | None = None,
) -> GraphTensor:  # fmt: skip
    """Makes ``learning_rate * decay_rate ** (step / decay_steps)``.

    Args:
      learning_rate: the first rate, a number or a tensor; likewise the other numbers.
      global_step: the step, a tensor or Variable.
      decay_steps: the number of steps in which the rate is multiplied by ``decay_rate``.
      decay_rate: the factor.
      staircase: whether to round the exponent down.
      name: the name of the operation.

    Raises:
      InvalidArgumentError: there is no step.
    """

    def formula(first: Any, step: Any) -> Any:
        exponent = FUNCTIONS["floor"](step / decay_steps) if staircase else step / decay_steps
        return first * FUNCTIONS["pow"](_like(decay_rate, first), exponent)

    return _rate("ExponentialDecay", name, learning_rate, global_step, formula)


def polynomial_decay(
    learning_rate: Any, global_step: Any, decay_steps: Any, end_learning_rate: Any = 0.0001, power: Any = 1.0,
    cycle: bool = False, name: str | None = None,
) -> GraphTensor:  # fmt: skip
    """Makes a rate that decays to ``end_learning_rate`` by a power of the remaining steps.

    Args:
      learning_rate: see :func:`exponential_decay`; likewise ``global_step`` and ``name``.
      global_step: the step.
      decay_steps: the number of steps after which the rate stays constant.
      end_learning_rate: the last rate.
      power: 1 for a straight line.
      cycle: whether to double, triple and so on the number of steps when they are done.
      name: the name of the operation.
    """

    def formula(first: Any, step: Any) -> Any:
        steps: Any = _like(decay_steps, first)
        if cycle:
            steps = steps * FUNCTIONS["maximum"](1.0, FUNCTIONS["ceil"](step / steps))
        else:
            step = FUNCTIONS["minimum"](step, steps)
        return (first - end_learning_rate) * FUNCTIONS["pow"](1.0 - step / steps, power) + end_learning_rate

    return _rate("PolynomialDecay", name, learning_rate, global_step, formula)


def piecewise_constant(x: Any, boundaries: Sequence[Any], values: Sequence[Any], name: str | None = None) -> Any:
    """Makes a tensor that is ``values[0]`` up to the first boundary, then ``values[1]``, and so on.

    Args:
      x: the step, a scalar tensor or Variable.
      boundaries: ascending numbers.
      values: the values, one more than there are boundaries.
      name: the name of the operation.

    Raises:
      InvalidArgumentError: the number of values is wrong.
    """
    if len(values) != len(boundaries) + 1:
        raise user_error(
            f"piecewise_constant: {len(values)} values given for {len(boundaries)} boundaries; give one value more"
        )

    def formula(first: Any, step: Any) -> Any:
        del step  # of the rate's dtype, in which a large step would be rounded
        rate, position = convert_to_tensor(values[-1]), convert_to_tensor(x)
        for boundary, value in zip(reversed(boundaries), reversed(values[:-1]), strict=True):
            rate = FUNCTIONS["where"](position <= boundary, _like(value, first), rate)
        return rate

    return _rate("PiecewiseConstant", name, values[0], x, formula)


def cosine_decay(
    learning_rate: Any, global_step: Any, decay_steps: Any, alpha: float = 0.0, name: str | None = None
) -> GraphTensor:
    """Makes a rate that decays along half a cosine wave (Loshchilov and Hutter 2016).

    Args:
      learning_rate: see :func:`exponential_decay`; likewise ``global_step`` and ``name``.
      global_step: the step.
      decay_steps: the length of half the wave.
      alpha: the last rate as a part of the first.
      name: the name of the operation.
    """

    def formula(first: Any, step: Any) -> Any:
        done = FUNCTIONS["minimum"](step, _like(decay_steps, first)) / decay_steps
        half_wave = 0.5 * (1.0 + FUNCTIONS["cos"](done * np.pi))
        return first * ((1.0 - alpha) * half_wave + alpha)

    return _rate("CosineDecay", name, learning_rate, global_step, formula)


# Moving averages of Variables and tensors.


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
            raise UnimplementedError(problem).here()
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
                decay = convert_to_tensor(self._decay)
                if self._num_updates is not None:
                    count = FUNCTIONS["astype"](convert_to_tensor(self._num_updates), decay.raw.type.dtype)
                    decay = FUNCTIONS["minimum"](decay, (1.0 + count) / (10.0 + count))
                weight: Any = 1.0 - decay
                updates: list[Operation] = []
                for item in items:
                    average = self._averages[id(item)]
                    with graph.colocate_with(average):
                        value = convert_to_tensor(item)
                        own_weight = FUNCTIONS["astype"](weight, value.raw.type.dtype)
                        change = (average.value() - value) * own_weight
                        updates.append(average.assign_sub(change, read_value=False))
            done = group(*updates)
            graph.trace.builder.rename(done.node, scope.removesuffix("/"))
            return done

    def _check(self, item: Any) -> None:
        if not isinstance(item, GraphVariable | GraphTensor) or not item.type.is_inexact:
            raise InvalidTypeError(f"{self._name}: expected Variables and tensors of floats, got {item!r:.80}").here()
        if id(item) in self._averages:
            raise user_error(f"{self._name}: Moving average already computed for: {item.name}")

    def _keep(self, item: Any) -> None:
        graph = item.graph
        if isinstance(item, GraphVariable):
            average = slot_variable(item, self._name, item.initialized_value())
            graph.add_to_collection(GraphKeys.MOVING_AVERAGE_VARIABLES, item)
        else:
            with graph.name_scope(None), graph.control_dependencies(None):
                zeros = FUNCTIONS["zeros"](item.shape, dtype=item.dtype)
                average = GraphVariable(zeros, trainable=False, name=scoped_name(f"{item.op.name}/{self._name}"))
        self._averages[id(item)], self._of[id(item)] = average, item

    def average(self, var: Any) -> Any:
        """Returns the Variable that holds the average of a Variable or tensor; None if there is none."""
        return self._averages.get(id(var))

    def average_name(self, var: Any) -> str:
        """Returns the name of the average of a Variable or tensor, whether it exists or not."""
        average = self._averages.get(id(var))
        return f"{var.op.name}/{self._name}" if average is None else average.op.name

    def variables_to_restore(self, moving_avg_variables: Sequence[Any] | None = None) -> dict[str, Any]:
        """Returns Variables by the names of the checkpoint values to restore them from: their averages, if any.

        Args:
          moving_avg_variables: the Variables to restore from averages; those of the collections if None.
        """
        if moving_avg_variables is None:
            moving_avg_variables = [*trainable_variables(), *moving_average_variables()]
        restored = {self.average_name(variable): variable for variable in dict.fromkeys(moving_avg_variables)}
        averaged = set(moving_avg_variables)
        graph = graph_of(moving_avg_variables)
        for variable in graph.get_collection(GraphKeys.GLOBAL_VARIABLES):
            if variable not in averaged and variable.op.name not in restored:
                restored[variable.op.name] = variable
        return restored
