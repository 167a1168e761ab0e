"""The base class of TensorFlow 1's optimizers: graph operations that update Variables from their gradients."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, cast

from graphc.compiler.base import nest, user_location
from graphc.compiler.base.errors import InvalidTypeError, UnimplementedError
from graphc.compiler.core import FUNCTIONS, SymbolicTensor, Variable, apply_all
from graphc.compiler.gradients import GradientTape
from graphc.compiler.ir import OPS, Attrs, Node, Value
from graphc.compiler.ops import READ_VARIABLE
from graphc.graphs.refusals import user_error
from graphc.graphs.session.graphs.control_flow import convert_to_tensor, group
from graphc.graphs.session.graphs.graph import Graph, graph_of
from graphc.graphs.session.graphs.naming import GraphKeys
from graphc.graphs.session.graphs.tensor import GraphTensor, Operation
from graphc.graphs.session.plans.shape_changing import has_host_ops
from graphc.graphs.session.variables.scopes import scoped_name
from graphc.graphs.session.variables.variable import GraphVariable

# Gradients of an existing graph, computed by nodes that are added to it.


def gradients(
    ys: Any, xs: Any, grad_ys: Any = None, name: str = "gradients", colocate_gradients_with_ops: bool = False,
    gate_gradients: bool = False, aggregation_method: Any = None, stop_gradients: Any = None,
    unconnected_gradients: str = "none",
) -> list[Any]:  # fmt: skip
    """Adds nodes that compute the gradients of the sum of ``ys`` with respect to each of ``xs``.

    Args:
      ys: a tensor or a list of them.
      xs: tensors and Variables of the graph.
      grad_ys: the initial gradients, a tensor or None for each of ``ys``; ones if None.
      name: the scope of the nodes.
      colocate_gradients_with_ops: ignored: the gradient of an op runs where the op does.
      gate_gradients: ignored: a run computes all values at once.
      aggregation_method: ignored: gradients are summed.
      stop_gradients: tensors through which no gradient flows.
      unconnected_gradients: ``"none"`` or ``"zero"``: the gradient where nothing depends on a tensor.

    Returns:
      A tensor for each of ``xs``, or None where nothing in ``ys`` depends on it.

    Raises:
      InvalidTypeError: an argument is neither a tensor nor a Variable of a graph.
      InvalidArgumentError: an argument belongs to another graph.

    Example:
      >>> import graphc as gx
      >>> with gx.Graph().as_default() as graph:
      ...     x = gx.placeholder("float32", shape=())
      ...     (slope,) = graph.gradients(x * x, [x])
      >>> with gx.Session(graph=graph) as session:
      ...     float(session.run(slope, {x: 3.0}))
      6.0
    """
    del colocate_gradients_with_ops, gate_gradients, aggregation_method
    targets, sources, stopped = _listed(ys, "ys"), _listed(xs, "xs"), _listed(stop_gradients, "stop_gradients")
    graph = graph_of(targets)
    upstream = None if grad_ys is None else list(nest.as_tuple(grad_ys))
    with graph.entered(), graph.name_scope(name):
        targets = [target.value() if isinstance(target, Variable) else target for target in targets]
        items: list[Any] = [*targets, *sources, *stopped]
        for item in items:
            if item.graph is not graph:
                raise user_error(f"gradients: {item.name!r} is of another graph than ys")
        tape = _noted(graph, targets, sources, {item.raw for item in stopped if isinstance(item, GraphTensor)})
        computed: Any = tape.gradient(targets, sources, upstream, unconnected_gradients)  # pyright: ignore[reportArgumentType]
        return list(computed)


def _listed(values: Any, name: str) -> list[Any]:
    if values is None:
        return []
    items = list(nest.as_tuple(values))
    for item in items:
        if not isinstance(item, GraphTensor | GraphVariable):
            raise InvalidTypeError(f"gradients: {name} are tensors and Variables of a graph, got {item!r:.60}").here()
    return items


def _noted(graph: Graph, targets: Sequence[Any], sources: Sequence[Any], stopped: set[Value]) -> GradientTape:
    """Returns a tape that has recorded the nodes from the sources to the targets."""
    tape = GradientTape(persistent=True, watch_accessed_variables=False)
    inexact = [source for source in sources if source.type.is_inexact]
    tape.watch(inexact)
    variables = {source.resource: source for source in sources if isinstance(source, GraphVariable)}
    nodes = graph.trace.builder.nodes[:]
    behind = _behind([target.raw for target in targets])
    tape.saw_pins = any(node.device for node in behind)
    for node in nodes:
        if node not in behind or any(output in stopped for output in node.outputs):
            continue
        if node.op is READ_VARIABLE and node.attrs["variable"] in variables:
            tape.record_read(variables[node.attrs["variable"]], graph.tensor_of(node.outputs[0]))
        elif node.op.differentiable and node.outputs and not node.op.host:
            inputs, outputs = list(map(graph.tensor_of, node.inputs)), map(graph.tensor_of, node.outputs)
            if has_host_ops(node):
                _check_apart(node, any(map(tape.follows, inputs)))
            else:
                tape.record(node.op, inputs, node.attrs, node.regions, list(outputs))
    return tape


def _check_apart(node: Node, depends: bool) -> None:
    """Raises an error for gradients through a loop or branch that runs step by step on the host."""
    if depends:
        raise UnimplementedError(
            f"gradients: {node.name!r} is a loop or branch with operations of the host, such as those of queues, "
            "through which no gradient flows; take what it needs from the queue before it, with dequeue_many"
        ).at(node.location or user_location())


def _behind(values: Iterable[Value]) -> set[Node]:
    """Returns the nodes that compute these values."""
    nodes: set[Node] = set()
    waiting = [value.node for value in values if value.node is not None]
    while waiting:
        node = waiting.pop()
        if node not in nodes:
            nodes.add(node)
            waiting += [value.node for value in node.inputs if value.node is not None]
    return nodes


class Optimizer:
    """Makes operations that update Variables; the base class of all optimizers.

    One op, and so one program, updates all Variables of a device. The optimizer's state for each Variable, its slots,
    are Variables themselves, which :func:`global_variables_initializer` initializes.

    Args:
      use_locking: ignored: each update is one step.
      name: the name of the operations and slots.

    Raises:
      InvalidArgumentError: the name is empty.
    """

    GATE_NONE = 0
    GATE_OP = 1
    GATE_GRAPH = 2

    slots: Mapping[str, float] = {}
    """The names of the slots, in the order of the update's arguments, and what their elements begin with."""
    powers: Mapping[str, Any] = {}
    """The numbers whose powers the update takes too, by the names of the Variables that hold them."""

    def __init__(self, use_locking: bool = False, name: str = "") -> None:
        if not name:
            raise user_error("Must specify the optimizer name")
        self._use_locking = use_locking
        self._name = name
        self._slots: dict[str, dict[GraphVariable, GraphVariable]] = {}
        self._others: dict[tuple[Graph, str], GraphVariable] = {}

    # Defined by each optimizer

    def rule(self) -> str:
        """The name of the update rule."""
        raise NotImplementedError

    def numbers(self, graph: Graph) -> Sequence[Any]:
        """Returns the numeric parameters of the update, in order: tensors, numbers or functions that return one."""
        raise NotImplementedError

    # Updating

    def minimize(
        self, loss: Any, global_step: Any = None, var_list: Any = None, gate_gradients: int = GATE_OP,
        aggregation_method: Any = None, colocate_gradients_with_ops: bool = False, name: str | None = None,
        grad_loss: Any = None,
    ) -> Operation:  # fmt: skip
        """Makes an operation that updates Variables to minimize a loss.

        Args:
          loss: a tensor of the graph.
          global_step: a Variable that each update adds one to.
          var_list: the Variables to update; all trainable Variables of the graph if None.
          gate_gradients: ignored: a run computes all gradients at once.
          aggregation_method: ignored.
          colocate_gradients_with_ops: ignored.
          name: the name of the operation.
          grad_loss: the gradient of the loss; ones if None.

        Raises:
          InvalidArgumentError: the loss depends on none of the Variables.
          InvalidTypeError: the loss is no tensor of a graph, or something that is updated is no Variable.

        Example:
          >>> import graphc as gx
          >>> from graphc.graphs.session import GradientDescentOptimizer
          >>> with gx.Graph().as_default() as graph:
          ...     w = gx.Variable([3.0, 4.0])
          ...     step = GradientDescentOptimizer(0.25).minimize(gx.sum(w * w))
          >>> with gx.Session(graph=graph) as session:
          ...     session.run(w.initializer)
          ...     session.run(step)
          ...     session.run(w).tolist()
          [1.5, 2.0]
        """
        pairs = self.compute_gradients(
            loss, var_list, gate_gradients, aggregation_method, colocate_gradients_with_ops, grad_loss
        )
        if all(gradient is None for gradient, _ in pairs):
            names = [variable.name for _, variable in pairs]
            raise user_error(
                "No gradients provided for any variable, check your graph for ops that do not support gradients, "
                f"between variables {names} and loss {loss!r}"
            )
        return self.apply_gradients(pairs, global_step, name)

    def compute_gradients(
        self, loss: Any, var_list: Any = None, gate_gradients: int = GATE_OP, aggregation_method: Any = None,
        colocate_gradients_with_ops: bool = False, grad_loss: Any = None,
    ) -> list[tuple[Any, Any]]:  # fmt: skip
        """Returns pairs of a gradient (None if the loss does not depend on it) and a Variable.

        Args:
          loss: a tensor of the graph.
          var_list: the Variables; all trainable ones of the graph if None.
          gate_gradients: ignored.
          aggregation_method: ignored.
          colocate_gradients_with_ops: ignored.
          grad_loss: the gradient of the loss; ones if None.

        Raises:
          InvalidArgumentError: there are no Variables.
          InvalidTypeError: the loss is no tensor of a graph, or something is no Variable of it.
        """
        del gate_gradients, aggregation_method, colocate_gradients_with_ops
        if not isinstance(loss, GraphTensor | GraphVariable):
            remedy = "; call minimize outside of the branch or loop" if isinstance(loss, SymbolicTensor) else ""
            raise user_error(
                f"{self._name}: the loss must be a tensor of a graph, got {type(loss).__name__} {loss!r:.60}{remedy}",
                InvalidTypeError,
            )
        selected = loss.graph.get_collection(GraphKeys.TRAINABLE_VARIABLES) if var_list is None else var_list
        variables = [self._checked(variable) for variable in _optimizer_listed(selected)]
        if not variables:
            raise user_error(f"{self._name}: No variables to optimize.")
        computed = gradients(loss, [*variables], grad_ys=grad_loss)
        return list(zip(computed, variables, strict=True))

    def apply_gradients(
        self, grads_and_vars: Iterable[tuple[Any, Any]], global_step: Any = None, name: str | None = None
    ) -> Operation:
        """Makes an operation that updates Variables with given gradients.

        Args:
          grads_and_vars: pairs of a gradient and a Variable; a Variable without gradient (None) is not updated.
          global_step: a Variable that each update adds one to.
          name: the name of the operation.

        Raises:
          InvalidArgumentError: there is no gradient, or one has another shape.
          InvalidTypeError: a target of the update is not a Variable of floats.
        """
        pairs = [(gradient, self._checked(variable)) for gradient, variable in grads_and_vars]
        if not pairs:
            raise user_error(f"{self._name}: No variables provided.")
        used = [(gradient, variable) for gradient, variable in pairs if gradient is not None]
        for _, variable in used:
            if not variable.type.is_inexact:
                raise user_error(
                    f"{self._name}: {variable!r} is no Variable of floats, and cannot be optimized", InvalidTypeError
                )
        if not used:
            names = [variable.name for _, variable in pairs]
            raise user_error(f"{self._name}: No gradients provided for any variable: {names}.")
        graph = used[0][1].graph
        with graph.as_default():
            self._prepare(graph, [variable for _, variable in used])
            done = self._applied(graph, used, global_step, name or self._name)
        if done not in graph.get_collection(GraphKeys.TRAIN_OP):
            graph.add_to_collection(GraphKeys.TRAIN_OP, done)
        return done

    def _prepare(self, graph: Graph, variables: Sequence[GraphVariable]) -> None:
        with graph.colocate_with(min(variables, key=lambda variable: variable.name)):
            self._powers(graph)
        for variable in variables:
            for slot, first in self.slots.items():
                by_variable = self._slots.setdefault(slot, {})
                if variable not in by_variable:
                    by_variable[variable] = slot_variable(variable, self._name, first)

    def _applied(self, graph: Graph, used: Sequence[Any], global_step: Any, name: str) -> Operation:
        with graph.name_scope(name) as scope:
            by_place: dict[str, list[Any]] = {}
            for gradient, variable in used:
                by_place.setdefault(variable.pin, []).append((gradient, variable))
            powers = self._powers(graph)
            numbers = [*[_number(value) for value in self.numbers(graph)], *map(_number, powers)]
            updates = [operation for pairs in by_place.values() for operation in self._updated(graph, numbers, pairs)]
            with graph.control_dependencies(updates):
                for power, factor in zip(powers, self.powers.values(), strict=True):
                    with graph.colocate_with(power):
                        updates.append(power.assign(power * _number(factor), read_value=False))
        label = scope.removesuffix("/")
        if global_step is None:
            done = group(*updates)
        else:
            with graph.control_dependencies(updates):
                done = global_step.assign_add(1, read_value=False)
        graph.trace.builder.rename(done.node, label)
        return done

    def _updated(self, graph: Graph, numbers: Sequence[Any], pairs: Sequence[Any]) -> list[Operation]:
        """Returns the assignments of the new values of Variables on one device."""
        targets: list[GraphVariable] = []
        inputs: list[Any] = [*numbers]
        for gradient, variable in pairs:
            slots = [self._slots[slot][variable] for slot in self.slots]
            targets += [variable, *slots]
            inputs += [variable.value(), _gradient(gradient, variable), *[slot.value() for slot in slots]]
        with graph.colocate_with(pairs[0][1]):
            results = apply_all(OPS["train.update"], inputs, Attrs(rule=self.rule()))
            assigned: list[Operation] = []
            for target, result in zip(targets, results, strict=True):
                value: Any = result if target.constraint is None else target.constraint(result)
                assigned.append(Operation(graph, graph.trace.append_assignment(target, value)))
        return assigned

    def _checked(self, variable: Any) -> GraphVariable:
        if not isinstance(variable, GraphVariable):
            raise user_error(
                f"{self._name}: optimizers update Variables of a graph, got {type(variable).__name__} "
                f"{variable!r:.60}; put the gradient first in each pair",
                InvalidTypeError,
            )
        return variable

    # State

    def _powers(self, graph: Graph) -> list[Any]:
        """Returns the Variables that hold the powers, one for a graph; makes them if necessary."""
        for name, factor in self.powers.items():
            if (graph, name) not in self._others:
                self._others[graph, name] = GraphVariable(_called(factor), trainable=False, name=name)
        return [self._others[graph, name] for name in self.powers]

    def get_slot(self, var: Any, name: str) -> Any:
        """Returns the slot of a Variable with a name; None if there is none.

        Args:
          var: the Variable.
          name: a name from :meth:`get_slot_names`.
        """
        return self._slots.get(name, {}).get(var)

    def get_slot_names(self) -> list[str]:
        """Returns the names of the slots of each Variable."""
        return sorted(self._slots)

    def variables(self) -> list[Any]:
        """Returns the Variables that hold the optimizer's state, by name."""
        slots = [slot for by_variable in self._slots.values() for slot in by_variable.values()]
        return sorted([*slots, *self._others.values()], key=lambda variable: variable.name)

    def get_name(self) -> str:
        """Returns the name."""
        return self._name


def slot_variable(variable: GraphVariable, name: str, first: Any) -> GraphVariable:
    """Makes a Variable that holds state for another one: with its shape and dtype, on its device.

    It is named after the other one, in the current variable scope.

    Args:
      first: the number that all elements begin with, or a tensor of its shape.
    """
    graph, type = variable.graph, variable.type
    with graph.name_scope(None), graph.control_dependencies(None), graph.device(variable.pin or None):
        if isinstance(first, GraphTensor):
            value: Any = first
        elif type.is_open:
            value = FUNCTIONS["full_like"](variable.initialized_value(), first)
        else:
            value = lambda: FUNCTIONS["full"](type.shape, first, dtype=type.dtype)  # noqa: E731
        return GraphVariable(
            value, trainable=False, name=scoped_name(f"{variable.op.name}/{name}"), validate_shape=not type.is_open
        )


def _gradient(gradient: Any, variable: GraphVariable) -> Any:
    tensor = convert_to_tensor(gradient)
    actual = tensor.raw.type
    if actual.dtype.kind not in "fV" and actual.dtype.name != "bfloat16":
        raise user_error(f"the gradient of {variable!r} is {actual}: expected floats", InvalidTypeError)
    if not actual.is_open and not variable.type.is_open and actual.shape != variable.type.shape:
        raise user_error(f"the gradient of {variable!r} has shape {list(actual.shape)}")
    return tensor if actual.dtype == variable.type.dtype else FUNCTIONS["astype"](tensor, variable.type.dtype)


def _called(value: Any) -> Any:
    return cast("Callable[[], Any]", value)() if callable(value) else value


def _number(value: Any) -> GraphTensor:
    """Converts a number, a tensor, or the result of a function to a tensor of the graph."""
    return convert_to_tensor(_called(value))


def _optimizer_listed(variables: Any) -> list[Any]:
    if isinstance(variables, GraphVariable | GraphTensor) or not isinstance(variables, Iterable):
        return [variables]
    return list(cast("Iterable[Any]", variables))
