"""SyncReplicasOptimizer: workers with their own graphs make each update together."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from graphc.compiler.base.errors import FailedPreconditionError, InvalidArgumentError
from graphc.compiler.core import FUNCTIONS
from graphc.graphs.queues import ConditionalAccumulator, FIFOQueue
from graphc.graphs.refusals import refusal
from graphc.graphs.session import (
    Graph,
    GraphKeys,
    GraphVariable,
    Optimizer,
    QueueRunner,
    global_variables,
    group,
    no_op,
    report_uninitialized_variables,
)
from graphc.graphs.session.monitored import SessionRunHook, missing_values
from graphc.library.composites import IndexedSlices


class SyncReplicasOptimizer(Optimizer):
    """Makes the workers of between-graph replication compute each update together; wraps another optimizer.

    Each worker adds its gradients to accumulators, one for each Variable, and waits for a token. Once
    ``replicas_to_aggregate`` gradients have arrived, the chief takes their mean, updates the Variables and the global
    step, and hands out tokens, which are the new global step. Gradients of an earlier step are dropped. So with more
    replicas than are aggregated, the slowest ones do not delay the others: they are spare replicas. TensorFlow's
    ``tf.train.SyncReplicasOptimizer``.

    Args:
      opt: the optimizer that makes the updates.
      replicas_to_aggregate: the number of gradients in an update.
      total_num_replicas: the number of workers; ``replicas_to_aggregate`` if None.
      variable_averages: an ``ExponentialMovingAverage`` to update after each step, or None.
      variables_to_average: the Variables to average; all trainable Variables if None.
      use_locking: ignored: each update is one step.
      name: the scope of the operations.

    Example:
      >>> import graphc as gx
      >>> from graphc.cluster import SyncReplicasOptimizer
      >>> from graphc.graphs.session import GradientDescentOptimizer, get_or_create_global_step
      >>> from graphc.graphs.session.monitored import MonitoredSession
      >>> with gx.Graph().as_default():
      ...     w = gx.Variable(8.0, name="w")
      ...     optimizer = SyncReplicasOptimizer(GradientDescentOptimizer(0.25), replicas_to_aggregate=1)
      ...     train = optimizer.minimize(w * w, get_or_create_global_step())
      ...     hook = optimizer.make_session_run_hook(is_chief=True, num_tokens=0)
      ...     with MonitoredSession(hooks=[hook]) as session:
      ...         steps = [int(session.run(train)) for _ in range(3)]
      ...         print(steps, session.run(w))
      [1, 2, 3] 1.0
    """

    def __init__(
        self, opt: Optimizer, replicas_to_aggregate: int, total_num_replicas: int | None = None,
        variable_averages: Any = None, variables_to_average: Sequence[Any] | None = None, use_locking: bool = False,
        name: str = "sync_replicas",
    ) -> None:  # fmt: skip
        super().__init__(use_locking, name)
        if replicas_to_aggregate < 1 or (total_num_replicas is not None and total_num_replicas < 1):
            numbers = f"replicas_to_aggregate={replicas_to_aggregate}, total_num_replicas={total_num_replicas}"
            raise refusal("SyncReplicasOptimizer", f"expected at least one replica, got {numbers}")
        self._opt = opt
        self._wanted = replicas_to_aggregate
        self._replicas = total_num_replicas or replicas_to_aggregate
        self._averages, self._averaged = variable_averages, variables_to_average
        self._runner: QueueRunner | None = None

    def compute_gradients(self, *args: Any, **kwargs: Any) -> list[tuple[Any, Any]]:
        """Makes the gradients of this worker's loss; see :meth:`Optimizer.compute_gradients`."""
        return self._opt.compute_gradients(*args, **kwargs)

    def apply_gradients(
        self, grads_and_vars: Iterable[tuple[Any, Any]], global_step: Any = None, name: str | None = None
    ) -> Any:
        """Makes an operation that adds this worker's gradients, and waits until the next step may begin.

        Args:
          grads_and_vars: pairs of a gradient and a Variable; a Variable without gradient (None) is not updated.
          global_step: the Variable that counts the updates.
          name: ignored.

        Returns:
          The step that begins, as a tensor.

        Raises:
          InvalidArgumentError: there is no Variable, or no global step.
        """
        del name
        pairs = [(gradient, self._checked(variable)) for gradient, variable in grads_and_vars]
        if not pairs:
            raise refusal("SyncReplicasOptimizer", "No variables provided.")
        if not isinstance(global_step, GraphVariable):
            raise refusal(
                "SyncReplicasOptimizer",
                "Global step is required to check staleness: pass tf.train.get_or_create_global_step()",
            )
        graph = global_step.graph
        with graph.as_default():
            self._global_step = global_step
            self._make_local_step(graph)
            with graph.name_scope(self._name):
                return self._synchronized(graph, pairs)

    def _make_local_step(self, graph: Graph) -> None:
        """Makes the worker's Variable that holds the step of its gradients."""
        with graph.colocate_with(no_op()):  # at the worker, although it is a Variable
            self._local_step = GraphVariable(
                0, trainable=False, collections=[GraphKeys.LOCAL_VARIABLES], dtype=self._global_step.type.dtype,
                name="sync_rep_local_step",
            )  # fmt: skip
        self.local_step_init_op = self._local_step.assign(self._global_step.value(), read_value=False)
        self.ready_for_local_init_op = report_uninitialized_variables(global_variables())

    def _synchronized(self, graph: Graph, pairs: Sequence[tuple[Any, GraphVariable]]) -> Any:
        """Makes the operations of the workers, and those that the chief repeats; returns the former."""
        step, here = self._global_step, self._global_step.device
        added: list[Any] = []
        means: list[tuple[Any, GraphVariable]] = []
        begun: list[Any] = [self.local_step_init_op]
        for gradient, variable in pairs:
            mean = None
            if gradient is not None:
                with graph.device(variable.device):
                    gradients, apply, take = _accumulator(gradient, variable)
                    added.append(apply(gradient, self._local_step.value()))
                    mean = take(self._wanted)
                    begun.append(gradients.set_global_step(step.value()))
            means.append((mean, variable))
        with graph.device(here), graph.name_scope(None):
            update = self._opt.apply_gradients(means, step)
            self._tokens = FIFOQueue(-1, [step.type.dtype], [[]], name="sync_token_q", shared_name="sync_token_q")
            with graph.control_dependencies(added):
                token = self._tokens.dequeue()
            with graph.control_dependencies([update]):
                done: Any = self._hand_out(max(self._replicas, self._wanted))
            if self._averages is not None:
                with graph.control_dependencies([done]):
                    done = self._averages.apply(self._averaged)
            self._runner = QueueRunner(self._tokens, [done])
            self.chief_init_op = group(*begun)
            return self._local_step.assign(token)

    def _hand_out(self, tokens: int) -> Any:
        """Returns an operation that puts the global step into the token queue ``tokens`` times."""
        return self._tokens.enqueue_many([FUNCTIONS["broadcast_to"](self._global_step.value(), (tokens,))])

    def get_chief_queue_runner(self) -> QueueRunner:
        """Returns the queue runner of the chief, which takes gradients, updates, and hands out tokens.

        Raises:
          InvalidArgumentError: apply_gradients was not called yet.
        """
        if self._runner is None:
            raise _too_early("get_chief_queue_runner")
        return self._runner

    def get_init_tokens_op(self, num_tokens: int = -1) -> Any:
        """Returns an operation that the chief runs once, at the start, to hand out the first tokens.

        Args:
          num_tokens: the number of tokens; -1 for the number of gradients in an update. With fewer replicas than that
            they are needed, since each replica makes several gradients for an update.

        Raises:
          InvalidArgumentError: apply_gradients was not called yet.
          InvalidArgumentError: there are too few tokens for the first update.
        """
        if self._runner is None:
            raise _too_early("get_init_tokens_op")
        needed = self._wanted - self._replicas
        number = self._wanted if num_tokens == -1 else num_tokens
        if number < needed:
            raise refusal(
                "SyncReplicasOptimizer", f"Too few tokens to finish the first step: {number} given, {needed} needed"
            )
        graph = self._global_step.graph
        with graph.as_default(), graph.device(self._global_step.device), graph.name_scope(None):
            return self._hand_out(number) if number > 0 else no_op("no_init_tokens")

    def make_session_run_hook(self, is_chief: bool, num_tokens: int = -1) -> SessionRunHook:
        """Returns the hook of a monitored Session that does all this at the start.

        Args:
          is_chief: whether this worker is the chief, who takes the gradients.
          num_tokens: see :meth:`get_init_tokens_op`.
        """
        return _Hook(self, is_chief, num_tokens)

    def get_slot(self, var: Any, name: str) -> Any:
        """Returns a slot of the wrapped optimizer for a Variable; see :meth:`Optimizer.get_slot`."""
        return self._opt.get_slot(var, name)

    def get_slot_names(self) -> list[str]:
        """Returns the slot names of the wrapped optimizer."""
        return self._opt.get_slot_names()

    def variables(self) -> list[Any]:
        """Returns the Variables of the wrapped optimizer."""
        return self._opt.variables()


def _accumulator(gradient: Any, variable: GraphVariable) -> tuple[Any, Callable[..., Any], Callable[..., Any]]:
    """Returns the accumulator for a Variable's gradients, and its operations to add and take; rows stay rows."""
    type, name = variable.type, f"{variable.name}/grad_accum"
    if not isinstance(gradient, IndexedSlices):
        whole = ConditionalAccumulator(type.dtype, None if type.is_open else type.shape, name)
        return whole, whole.apply_grad, whole.take_grad
    if type.is_open:
        raise refusal(
            "SyncReplicasOptimizer", f"gradients of rows of {variable.name!r} need a Variable of a known shape"
        )
    # The mean of a row is over the gradients that have it. So the last column counts those, in the same accumulator:
    # another one could miss a gradient that arrives in between.
    count, row, width = type.shape[0], type.shape[1:], math.prod(type.shape[1:])
    sums = ConditionalAccumulator(type.dtype, (count, width + 1), name, reduction_type="SUM")

    def add(rows: IndexedSlices, step: Any) -> Any:
        flat = FUNCTIONS["reshape"](rows.values, (-1, width))
        total = FUNCTIONS["zeros"]((count, width), dtype=type.dtype).at[rows.indices].add(flat)
        there = FUNCTIONS["zeros"]((count, 1), dtype=type.dtype).at[rows.indices].set(1)
        return sums.apply_grad(FUNCTIONS["concat"]([total, there], axis=1), step)

    def take(wanted: int) -> IndexedSlices:
        total = sums.take_grad(wanted)
        indices = FUNCTIONS["nonzero"](total[:, width])[0]
        chosen = FUNCTIONS["take"](total, indices, axis=0)
        mean = chosen[:, :width] / chosen[:, width:]
        return IndexedSlices(FUNCTIONS["reshape"](mean, (-1, *row)), indices, type.shape)

    return sums, add, take


class _Hook(SessionRunHook):
    """Initializes the steps and the tokens, and starts the chief's queue runner."""

    def __init__(self, optimizer: SyncReplicasOptimizer, is_chief: bool, num_tokens: int) -> None:
        self._optimizer, self._is_chief, self._num_tokens = optimizer, is_chief, num_tokens

    def begin(self) -> None:
        optimizer = self._optimizer
        runner = optimizer.get_chief_queue_runner()
        self._runner = runner if self._is_chief else None
        self._init = optimizer.chief_init_op if self._is_chief else optimizer.local_step_init_op
        self._first_tokens = optimizer.get_init_tokens_op(self._num_tokens) if self._is_chief else None

    def after_create_session(self, session: Any, coord: Any) -> None:
        problem = missing_values(session, self._optimizer.ready_for_local_init_op)
        if problem:
            raise FailedPreconditionError(
                f"SyncReplicasOptimizer: the model is not ready for its steps: {problem}"
            ).here()
        session.run(self._init)
        if self._runner is not None:
            session.run(self._first_tokens)
            self._runner.create_threads(session, coord=coord, daemon=True, start=True)


def _too_early(method: str) -> InvalidArgumentError:
    return refusal("SyncReplicasOptimizer", f"call minimize() or apply_gradients() before {method}()")
