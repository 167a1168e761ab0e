"""Sessions: runs of parts of a graph, by fetch and feed."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self, cast

import numpy as np

from graphc.compiler.base import CancellationToken, deadline, nest
from graphc.compiler.base.errors import CancelledError, FailedPreconditionError, GraphcError, UnimplementedError
from graphc.compiler.core import Resources, resources_scope, trace_scope
from graphc.compiler.devices import device_name, devices
from graphc.compiler.ir import Node, TensorType, Value
from graphc.compiler.runtime import Execution, Plan, observer, profile
from graphc.graphs.refusals import user_error
from graphc.graphs.session.fetching import Fetches, feed_targets, feed_value
from graphc.graphs.session.graphs.graph import Graph, default_graph, stacks
from graphc.graphs.session.graphs.tensor import GraphTensor
from graphc.graphs.session.options import ConfigProto, RunMetadata, RunOptions
from graphc.graphs.session.plans.local import (
    SessionDevice,
    SessionTarget,
    Single,
    local_plan,
    needed_nodes,
    placing,
    targets,
)
from graphc.graphs.session.plans.steps import StateSegment, reason_of
from graphc.graphs.session.state import SessionState

_PLANS_KEPT = 256
"""Maximum number of plans that a Session keeps, one for each kind of run."""
_COMPILED_KEPT = 1000
"""Maximum number of lines in the log of compilations."""


@dataclass(frozen=True)
class _Prepared:
    """A kind of run."""

    fetches: Fetches
    fed: Mapping[Value, int]  # the values that are given, each with its place in ``feed_dict``
    plan: Plan
    single: Single | None
    known: Any  # the objects that the key identifies by id, to keep them alive


class Session:
    """Runs parts of a graph: the fetches, and what they need.

    A Session has its own values of the graph's Variables, its own queues and readers, and its own random numbers. Runs
    from several threads overlap; each read and each assignment of a Variable is atomic.

    Args:
      target: empty for this process; otherwise a task of a cluster, such as ``server.target``: the graph is split over
        the tasks of the cluster, which keep Variables and queues beyond the Session.
      graph: the graph to run; the default graph if None.
      config: the options.

    Raises:
      NotFoundError: the target does not exist.

    Example:
      >>> import graphc as gx
      >>> with gx.Graph().as_default():
      ...     x = gx.placeholder("float32", shape=(None,))
      ...     w = gx.Variable(2.0, name="w")
      ...     y = gx.sum(x * w)
      ...     with gx.Session() as session:
      ...         session.run(w.initializer)
      ...         print(session.run({"y": y, "w": w}, feed_dict={x: [1.0, 2.0]}))
      {'y': np.float32(6.0), 'w': np.float32(2.0)}
    """

    def __init__(self, target: str = "", graph: Graph | None = None, config: ConfigProto | None = None) -> None:
        self._graph = graph or default_graph()
        self._config = config or ConfigProto()
        self._state = SessionState(self._graph)
        self._token = CancellationToken()
        self._closed = False
        self._prepared: dict[Any, _Prepared] = {}
        self._lock = threading.RLock()
        self._compiled: list[str] = []
        self._num_compiled = 0
        self._entered: list[ExitStack] = []
        self._target: SessionTarget | None = None
        if target:
            try:
                self._target = targets().connect(target, self._graph, self._config, self._add_compiled)
            except GraphcError as error:
                raise error.here() from None

    @property
    def graph(self) -> Graph:
        """The graph that it runs."""
        return self._graph

    @property
    def resources(self) -> Resources:
        """The state that it keeps between runs, by container and name."""
        return self._state.resources

    @property
    def state(self) -> SessionState:
        """The values of the graph's Variables."""
        return self._state

    @property
    def compile_log(self) -> Sequence[str]:
        """The reason for each compilation, one line per program."""
        return tuple(self._compiled)

    def run(
        self, fetches: Any, feed_dict: Mapping[Any, Any] | None = None, options: RunOptions | None = None,
        run_metadata: RunMetadata | None = None,
    ) -> Any:  # fmt: skip
        """Runs what the fetches need, each operation once.

        Args:
          fetches: tensors, operations, Variables, or their names, in any nested structure.
          feed_dict: values for any tensors of the graph; operations behind a fed tensor do not run.
          options: the options of this run.
          run_metadata: receives the timeline, if ``options.trace_level`` asks for it.

        Returns:
          NumPy arrays (scalars for tensors without axes, ``bytes`` for strings) in the structure of the fetches; None
          in place of an operation.

        Raises:
          FailedPreconditionError: a Variable is read that has no value, or the Session is closed.
          InvalidArgumentError: a feed of another shape, a placeholder that is not fed, a fetch of another graph.
          InvalidTypeError: a feed of another dtype, a fetch that is no tensor.
          DeadlineExceededError: the run took too long.
          CancelledError: the Session was closed meanwhile.
        """
        feeds = list(feed_dict.items()) if feed_dict else ()
        prepared = self._prepare(fetches, feeds)
        arrays = [feed_value(value, feeds[index][1]) for value, index in prepared.fed.items()]
        return self._run(prepared, arrays, options, run_metadata)

    def make_callable(
        self, fetches: Any, feed_list: Sequence[Any] | None = None, accept_options: bool = False
    ) -> Callable[..., Any]:
        """Returns a function that runs the fetches with the values of ``feed_list`` as its arguments.

        Args:
          fetches: see :meth:`run`.
          feed_list: the tensors that the function takes values for.
          accept_options: whether the function also takes ``options`` and ``run_metadata``.
        """
        feeds = [(key, None) for key in feed_list or ()]
        prepared = self._prepare(fetches, feeds)
        fed, count = tuple(prepared.fed.items()), len(feeds)

        def call(*values: Any, options: RunOptions | None = None, run_metadata: RunMetadata | None = None) -> Any:
            if len(values) != count:
                raise user_error(f"the callable takes {count} values for its feed_list, {len(values)} were given")
            self._check_open()
            arrays = [feed_value(value, values[index]) for value, index in fed]
            return self._run(prepared, arrays, options, run_metadata)

        def plain(*values: Any) -> Any:
            if len(values) != count or self._closed:
                return call(*values)  # which raises the error
            return self._run(prepared, [feed_value(value, values[index]) for value, index in fed], None, None)

        return call if accept_options else plain

    def partial_run(self, *args: Any, **kwargs: Any) -> Any:
        """Refuses TensorFlow's runs in several parts, and says what to write instead."""
        del args, kwargs
        problem = "session.partial_run: run the first part, and feed its results to the next: session.run(b, {a: x})"
        raise UnimplementedError(problem).here()

    partial_run_setup = partial_run

    # Execution of a run

    def _prepare(self, fetches: Any, feeds: Sequence[tuple[Any, Any]]) -> _Prepared:
        self._check_open()
        keys = tuple([id(key) if not isinstance(key, str) else key for key, _ in feeds])
        key = (_key(fetches), keys)
        prepared = self._prepared.get(key)
        if prepared is None:
            with self._lock:
                prepared = self._made(fetches, feeds)
                while len(self._prepared) >= _PLANS_KEPT:
                    del self._prepared[next(iter(self._prepared))]
                self._prepared[key] = prepared
        return prepared

    def _made(self, fetches: Any, feeds: Sequence[tuple[Any, Any]]) -> _Prepared:
        graph = self._graph
        wanted = Fetches.of(graph, fetches)
        fed = {value: index for index, (key, _) in enumerate(feeds) for value in feed_targets(graph, key)}
        nodes = needed_nodes(graph.trace.builder.nodes, (*wanted.values, *wanted.nodes), set(fed), graph.trace.carried)
        plan = self.plan(nodes, tuple(fed), wanted.values)
        return _Prepared(wanted, fed, plan, Single.of(plan), (fetches, [key for key, _ in feeds]))

    def plan(self, nodes: Sequence[Node], fed: Sequence[Value], fetched: Sequence[Value]) -> Plan:
        """Makes the plan of a run.

        Args:
          nodes: the nodes to run, in the order of the graph.
          fed: the values that are given.
          fetched: the values that are wanted.

        Raises:
          InvalidArgumentError: a loop or branch is pinned to several devices.
        """
        if self._target is not None:
            return self._target.plan(nodes, fed, fetched)
        with placing(soft=self._config.allow_soft_placement, log=self._config.log_device_placement):
            return local_plan(self._graph, nodes, fed, fetched, self._state, self._note_compiled)[0]

    def _run(
        self, prepared: _Prepared, arrays: list[Any], options: RunOptions | None, metadata: RunMetadata | None
    ) -> Any:
        if options is None and metadata is None and not self._config.operation_timeout_in_ms:
            return prepared.fetches.result(self._executed(prepared, arrays))
        limit = (options.timeout_in_ms if options is not None else 0) or self._config.operation_timeout_in_ms
        traced = metadata is not None and options is not None and options.trace_level != RunOptions.NO_TRACE
        before = self._num_compiled
        if not (limit or traced):
            results = self._executed(prepared, arrays)
        else:
            with trace_scope(None), ExitStack() as stack:
                timeline = stack.enter_context(profile()) if traced else None
                if limit:
                    stack.enter_context(deadline(limit / 1000))
                results = self._executed(prepared, arrays)
            if metadata is not None:
                metadata.timeline = timeline
        if metadata is not None:
            metadata.compiled = self._compiled[len(self._compiled) - (self._num_compiled - before) :]
        return prepared.fetches.result(results)

    def _executed(self, prepared: _Prepared, arrays: list[Any]) -> Sequence[Any]:
        single = prepared.single
        if single is not None and observer() is None:
            return single.run(arrays)
        return self.execute(prepared.plan, arrays)

    def execute(self, plan: Plan, arrays: Sequence[Any]) -> Sequence[Any]:
        """Runs a plan with the fed values; returns the fetched ones."""
        if not plan.steps:
            slots = {**dict(enumerate(arrays)), **dict(plan.constants)}
            return [slots[slot] for slot in plan.outputs]
        target = self._target
        execution = Execution("session.run", observer()) if target is None else target.execution(observer())
        if not plan.blocks:
            return execution.run(plan, arrays)
        try:
            with trace_scope(None), self._token:
                return execution.run(plan, arrays)
        except CancelledError as error:
            if self._closed:
                raise CancelledError(f"the Session was closed while this run was waiting: {error}") from error
            raise

    @property
    def is_local(self) -> bool:
        """True if its runs stay in this process."""
        return self._target is None

    @property
    def has_timeout(self) -> bool:
        """True if each run has a time limit, whatever its options say."""
        return bool(self._config.operation_timeout_in_ms)

    @contextmanager
    def working(self) -> Generator[None]:
        """Makes host ops use the Session's resources, and cancels their waits once it is closed.

        Raises:
          FailedPreconditionError: the Session is closed.
          CancelledError: the Session was closed in the meantime.
        """
        self._check_open()
        with trace_scope(None), self._token, resources_scope(self.resources):
            yield

    def _note_compiled(
        self, segment: StateSegment, types: Sequence[TensorType], values: Mapping[int, np.ndarray[Any, Any]]
    ) -> None:
        self._add_compiled(reason_of(segment, types, values))

    def _add_compiled(self, line: str) -> None:
        self._compiled.append(line)
        self._num_compiled += 1
        del self._compiled[:-_COMPILED_KEPT]

    # Devices and closing

    def list_devices(self) -> list[SessionDevice]:
        """Returns the names of its devices; for a cluster, those of all its tasks."""
        if self._target is not None:
            return [*map(SessionDevice, self._target.list_devices())]
        return [SessionDevice(device_name(device)) for device in devices()]

    def close(self) -> None:
        """Ends the Session: waiting runs are cancelled, and its values are dropped. A second call does nothing.

        Resources that a cluster keeps stay there.
        """
        self._closed, before = True, self._closed
        self._token.cancel("the Session was closed")
        if self._target is not None and not before:
            self._target.close()
        self._state.resources.clear()
        self._prepared.clear()

    @staticmethod
    def reset(target: str = "", containers: Sequence[str] | None = None, config: ConfigProto | None = None) -> None:
        """Drops the resources of all tasks of a cluster in containers, and ends the Sessions of the target.

        Args:
          target: a task of the cluster.
          containers: their names; all containers if None.
          config: the options; its ``device_filters`` select the tasks; all if it has none.

        Raises:
          InvalidArgumentError: the target is empty: the containers of a local Session end when it is closed.
          NotFoundError: the target does not exist.
          UnavailableError: a task of the cluster did not answer; the others were reset.
        """
        if not target:
            raise user_error(
                "Session.reset: pass the target of a cluster; the containers of a local Session end when it is closed"
            )
        try:
            targets().reset(target, containers or (), config.device_filters if config else ())
        except GraphcError as error:
            raise error.here() from None

    def _check_open(self) -> None:
        if self._closed:
            raise user_error("Attempted to use a closed Session.", FailedPreconditionError)

    @contextmanager
    def as_default(self) -> Any:
        """Makes this the Session that ``tensor.eval()`` and ``operation.run()`` use, inside the scope."""
        stacks.sessions.append(self)
        try:
            yield self
        finally:
            stacks.sessions.remove(self)

    def __enter__(self) -> Self:
        stack = ExitStack()
        stack.enter_context(self._graph.as_default())
        stack.enter_context(self.as_default())
        self._entered.append(stack)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._entered.pop().__exit__(kind, error, traceback)
        if not self._entered:
            self.close()


class InteractiveSession(Session):
    """A Session that is the default from its creation, for consoles and notebooks."""

    def __init__(self, target: str = "", graph: Graph | None = None, config: ConfigProto | None = None) -> None:
        super().__init__(target, graph, config)
        stacks.sessions.append(self)

    def close(self) -> None:
        """Ends the Session; see :meth:`Session.close`."""
        if self in stacks.sessions:
            stacks.sessions.remove(self)
        super().close()


def _key(fetches: Any) -> Any:
    """Returns a key for the fetches, from the identities of their items."""
    kind = cast("type[Any]", type(fetches))
    if kind in (list, tuple):
        return (kind, *map(_key, fetches))
    if kind is GraphTensor or kind is str:
        return fetches if kind is str else id(fetches)
    parts = nest.children(fetches)
    return id(fetches) if parts is None else (kind, *parts[0], *map(_key, parts[1]))
