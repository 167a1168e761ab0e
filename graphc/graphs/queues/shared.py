"""SharedObject: the common base of queues and accumulators, and the lookup of their state by ops."""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Generic, NoReturn, Protocol, Self, TypeVar

import numpy as np

from graphc.compiler.base import with_article
from graphc.compiler.base.errors import FailedPreconditionError, InvalidArgumentError, InvalidTypeError, NotFoundError
from graphc.compiler.core import STRING, Resources, apply, busy, current_resources, resources_scope
from graphc.compiler.ir import (
    OPS,
    Attrs,
    Effect,
    Infer,
    OpDef,
    TensorType,
    define_op,
    gives,
    part_of_world,
    reads,
    writes,
)
from graphc.compiler.tracing import current_trace, graph_by_hand, is_tracing, refuse_in_trace
from graphc.graphs.refusals import user_error

__all__ = [
    "EAGER", "PROCESS", "SESSION", "Alike", "Fillers", "GraphByHand", "Make", "SharedObject", "claim", "emit", "expect",
    "graph_here", "handle_of", "handle_op", "op_on", "shared_state",
]  # fmt: skip

# Operations of queues in graphs built by hand, and in compiled functions.


class GraphByHand(Protocol):
    """The interface of a graph built by hand that queues need; its class is in a layer above."""

    @property
    def current_container(self) -> str:
        """The current container."""
        ...

    def making(self, name: str | None) -> AbstractContextManager[None]:
        """Makes ops inside the scope under one name."""
        ...

    def named(self, result: Any, name: str | None) -> Any:
        """Gives the result itself the name."""
        ...

    def name_scope(self, name: str | None) -> AbstractContextManager[str]:
        """Adds a prefix to the names of ops made inside, and yields it."""
        ...

    def operation_of(self, node: Any) -> Any:
        """Returns the operation of a node."""
        ...


def graph_here() -> GraphByHand | None:
    """Returns the graph that is being built by hand here; None if there is none."""
    trace: Any = graph_by_hand()
    return None if trace is None else trace.graph


def emit(graph: GraphByHand | None, op: OpDef, inputs: Sequence[Any], attrs: Attrs, name: str) -> Any:
    """Applies an op, under its own name in a graph.

    Returns:
      The op's results; in a graph, an op without results returns its operation.
    """
    if graph is None:
        return apply(op, inputs, attrs)
    with graph.making(name):
        result = apply(op, inputs, attrs)
        if result is None:
            result = graph.operation_of(current_trace().builder.nodes[-1])
        return graph.named(result, name)


PROCESS = "process"
"""The home of objects made in eager code: every run finds the same state there."""

SESSION = "session"
"""The home of objects in a graph: each Session has its own state."""

_claimed: weakref.WeakValueDictionary[str, Any] = weakref.WeakValueDictionary()
_numbers = itertools.count()


class Alike(Protocol):
    """A state that exists once under a name."""

    @property
    def label(self) -> str:
        """Its kind and name, for messages."""
        ...

    def difference(self, attrs: Mapping[str, Any]) -> str:
        """Describes the first difference from an op's attributes; empty if there is none."""
        ...


T = TypeVar("T", bound=Alike)
Make = Callable[[str, Mapping[str, Any]], T]
"""A function that makes a state from its name for messages and its attributes."""


def handle_of(attrs: Mapping[str, Any]) -> str:
    """Returns the name that identifies a queue to its runners."""
    return f"{attrs['home']}/{attrs['container']}/{attrs['name']}"


def claim(make: Make[T], kind: type[T], spec: Mapping[str, Any], name: str, shared_name: str | None) -> tuple[T, Attrs]:
    """Makes a state in eager code, which lives as long as it is referenced, or finds the one with the shared name.

    Returns:
      The state, and the attributes by which ops find it.
    """

    def made() -> tuple[T, Attrs]:
        attrs = Attrs({**spec, "container": "", "name": f"{name}_{next(_numbers)}", "home": PROCESS})
        state = make(shared_name or name, attrs)
        _claimed[attrs["name"]] = state
        return state, attrs

    if not shared_name:
        return made()
    shared = current_resources().get_or_make("", f"{kind.__name__} {shared_name}", made, tuple)
    try:
        _check(shared[0], spec)
    except InvalidArgumentError as error:
        raise error.here() from None
    return shared


def shared_state(make: Make[T], kind: type[T], attrs: Mapping[str, Any]) -> T:
    """Returns the state for an op's attributes; makes it at the first use."""
    name = attrs["name"]
    if attrs["home"] == PROCESS:
        state = _claimed.get(name)
        if state is None:
            problem = (
                "was made in eager code and no longer exists; keep a reference to the object while a graph uses it"
            )
            raise NotFoundError(f"{attrs['kind']} {name!r} {problem}")
        return state
    state = current_resources().get_or_make(attrs["container"], name, lambda: make(name, attrs), kind)
    _check(state, attrs)
    return state


def _check(state: Alike, attrs: Mapping[str, Any]) -> None:
    difference = state.difference(attrs)
    if difference:
        raise InvalidArgumentError(f"{state.label}: another object with that shared name has {difference}")


S = TypeVar("S", bound=Alike)

Act = Callable[[S, Sequence[Any], Mapping[str, Any]], Any]
"""What an op does: a function of the state, the inputs and the attributes; None for an op without results."""


def op_on(
    noun: str, find: Callable[[Mapping[str, Any]], S], name: str, act: Act[S], infer: Infer, doc: str, *params: str,
    effects: Callable[[Mapping[str, Any]], tuple[Effect, ...]] | None = None,
) -> OpDef:  # fmt: skip
    """Adds an op of the host that acts on the state that its attributes name.

    Args:
      effects: what else than the state it touches, with the state; None for the state alone.
    """

    def impl(*values: Any, **attrs: Any) -> Any:
        result = act(find(attrs), values, attrs)
        return () if result is None else result

    def touches(attrs: Mapping[str, Any]) -> tuple[Effect, ...]:
        return (writes(part_of_world(f"{noun}/{handle_of(attrs)}")),)

    full = f"{noun}.{name}"
    op = OpDef(full, impl, infer, params, effects=effects or touches, differentiable=False, host=True, doc=doc)
    return OPS.add(full, op)


def handle_op(noun: str) -> OpDef:
    """Adds the op that stands for an object in a graph; its result is the handle."""

    def impl(**attrs: Any) -> Any:
        return np.asarray(handle_of(attrs).encode(), object)

    def stands_for(attrs: Mapping[str, Any]) -> tuple[Effect, ...]:
        return (reads(part_of_world(f"{noun}/{handle_of(attrs)}")),)

    infer, full = gives(TensorType((), STRING)), f"{noun}.handle"
    doc = f"{with_article(noun).capitalize()}."
    return define_op(full, impl, infer, effects=stands_for, differentiable=False, host=True, doc=doc)


class SharedObject(Generic[S]):
    """An object with a state that threads share.

    An object made in eager code is the same object in eager code, compiled functions and Sessions. One made in a graph
    has its own state in each Session, and its methods add operations to the graph.
    """

    __graphc_opaque__ = True  # the state is not part of a trace, and the rest never changes

    _state: S | None
    _attrs: Attrs
    _graph: GraphByHand | None
    _name: str
    _label: str
    _ref: Any

    def _make(
        self, make: Make[S], kind: type[S], spec: Attrs, names: Sequence[str | None], handle: OpDef | None
    ) -> None:
        """Makes the object in eager code, or in the graph that is being built.

        Args:
          names: the shared name, the name, and the one to take if neither is given.
          handle: the op that stands for it in a graph; None if no node does.
        """
        self._make_state, self._state_kind = make, kind
        self._graph, self._state = None, None
        shared_name, explicit, default = names
        wanted = explicit or default or spec["kind"]
        if (graph := graph_here()) is not None:
            self._graph = graph
            with graph.name_scope(wanted) as scope:
                self._name = scope.rstrip("/")
                where = {"container": graph.current_container, "name": shared_name or self._name, "home": SESSION}
                self._attrs = Attrs({**spec, **where})
                self._ref = handle_of(self._attrs)
                if handle is not None:
                    self._ref = graph.named(apply(handle, (), self._attrs), wanted)
        else:
            problem = "would be made once, when the function is traced; make it outside, and use it inside"
            refuse_in_trace(f"{with_article(spec['kind'])} made in a compiled function {problem}")
            self._name = explicit or shared_name or wanted
            self._state, self._attrs = claim(make, kind, spec, self._name, shared_name)
            self._ref = handle_of(self._attrs)
        self._label = f"{spec['kind']} {self._name!r}"

    @property
    def name(self) -> str:
        """Its name; in a graph, its operation's name."""
        return self._name

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Returns the object itself, because threads share it."""
        return self

    def __reduce__(self) -> NoReturn:
        problem = "is shared by the threads of one process and cannot be pickled; make one in each process"
        raise user_error(f"{self._label} {problem}", InvalidTypeError)

    def _eager(self) -> S | None:
        """Returns the state if this call runs at once; None where it becomes part of a graph."""
        if self._state is not None and (not busy or not is_tracing()):
            return self._state
        return None

    def _state_in(self, resources: Resources | None) -> S:
        """Returns the state in the resources of a Session; in the current resources if they are None."""
        if self._state is not None:
            return self._state
        with resources_scope(current_resources() if resources is None else resources):
            return shared_state(self._make_state, self._state_kind, self._attrs)

    def _emit(self, op: OpDef, inputs: Sequence[Any], suffix: str, name: str | None, **attrs: Any) -> Any:
        """Adds an operation to the graph, or calls the op in the compiled function that is being traced."""
        here = graph_here()
        if self._graph is not None and here is None:
            problem = "is part of a graph built by hand, so a compiled function cannot use it; make it in eager code"
            refuse_in_trace(f"{self._label} {problem}", InvalidArgumentError)
        graph = self._graph or here
        return emit(graph, op, inputs, Attrs({**self._attrs, **attrs}), name or f"{self._name}_{suffix}")


# The producers of a queue, known so that a wait that nothing can end raises an error.


class _EagerCode:
    """Stands for the graph of queues that belong to no graph."""


EAGER = _EagerCode()

_expected: weakref.WeakKeyDictionary[object, dict[str, weakref.WeakSet[Any]]] = weakref.WeakKeyDictionary()


def expect(graph: object | None, handle: str, runner: object) -> None:
    """Records that a runner is to fill a queue, in every Session in which it is started.

    Args:
      runner: the runner; its ``remedy`` may say how to start it. Only a weak reference is kept.
    """
    runners = _expected.setdefault(EAGER if graph is None else graph, {})
    runners.setdefault(handle, weakref.WeakSet()).add(runner)


class Fillers:
    """The known producers of one queue.

    Args:
      graph: the queue's graph; :data:`EAGER` for a queue of eager code, None if unknown.

    Attributes:
      failure: the exception that ended a runner, if any; it becomes the cause of the consumers' error.
      patience: seconds after which a waiting op checks whether anything can end its wait.
    """

    __slots__ = ("_graph", "_handle", "_started", "failure", "is_fed", "patience")

    def __init__(self, graph: object | None, handle: str) -> None:
        self._graph = None if graph is None else weakref.ref(graph)
        self._handle = handle
        self._started = False
        self.is_fed = False
        self.failure: BaseException | None = None
        self.patience = 5.0

    def start(self) -> None:
        """Records that a runner of the queue, or another producer, has started."""
        self._started = True

    def fail(self, error: BaseException) -> None:
        """Records the exception that ended a runner; the first one counts."""
        if self.failure is None:
            self.failure = error

    @property
    def _expected(self) -> list[Any]:
        graph = None if self._graph is None else self._graph()
        return [] if graph is None else list(_expected.get(graph, {}).get(self._handle, ()))

    @property
    def is_missing(self) -> bool:
        """True if runners should fill the queue, but none was started, and nothing else has filled it."""
        return not (self._started or self.is_fed) and bool(self._expected)

    def complaint(self, label: str, waited_for: str) -> FailedPreconditionError:
        """Returns the error of a dequeue that would wait forever."""
        runner = next(iter(self._expected), None)
        remedy = getattr(runner, "remedy", None) or "call gx.start_queue_runners(sess, coord) before the first dequeue"
        return FailedPreconditionError(
            f"nothing fills {label}: its QueueRunner was never started, so {waited_for} cannot come; {remedy}"
        )
