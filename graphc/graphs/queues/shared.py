"""SharedObject: the common base of queues and accumulators, and the lookup of their state by ops."""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, NoReturn, Protocol, Self, TypeVar

from graphc.compiler.base import at, user_location, with_article
from graphc.compiler.base.errors import InvalidArgumentError, InvalidTypeError, NotFoundError
from graphc.compiler.core import Resources, apply, busy, current_resources, resources_scope
from graphc.compiler.ir import Attrs, OpDef
from graphc.compiler.tracing import is_tracing, refuse_in_trace
from graphc.graphs.queues.building import GraphByHand, emit, graph_here

__all__ = ["PROCESS", "SESSION", "Alike", "Make", "SharedObject", "claim", "found", "handle_of"]


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

    Raises:
      InvalidArgumentError: a different object has that shared name.
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
        raise at(error, user_location()) from None
    return shared


def found(make: Make[T], kind: type[T], attrs: Mapping[str, Any]) -> T:
    """Returns the state for an op's attributes; makes it at the first use.

    Raises:
      NotFoundError: the state was made in eager code, and no longer exists.
      InvalidArgumentError: a different object has that name.
    """
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

    def _make(self, make: Make[S], kind: type[S], spec: Attrs, names: Sequence[str | None], handle: OpDef) -> None:
        """Makes the object in eager code, or in the graph that is being built.

        Args:
          make: a function that makes the state.
          kind: the class of the state.
          spec: the required properties of the state, as attributes of ops; its ``kind`` is the object's.
          names: the shared name, the name, and the one to take if neither is given.
          handle: the op that stands for it in a graph.
        """
        self._make_state, self._state_kind = make, kind
        self._graph, self._state = None, None
        shared_name, given, default = names
        wanted = given or default or spec["kind"]
        if (graph := graph_here()) is not None:
            self._graph = graph
            with graph.name_scope(wanted) as scope:
                self._name = scope.rstrip("/")
                where = {"container": graph.current_container, "name": shared_name or self._name, "home": SESSION}
                self._attrs = Attrs({**spec, **where})
                self._ref = graph.named(apply(handle, (), self._attrs), wanted)
        else:
            problem = "would be made once, when the function is traced; make it outside, and use it inside"
            refuse_in_trace(f"{with_article(spec['kind'])} made in a compiled function {problem}")
            self._name = given or shared_name or wanted
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
        raise at(InvalidTypeError(f"{self._label} {problem}"), user_location())

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
            return found(self._make_state, self._state_kind, self._attrs)

    def _emit(self, op: OpDef, inputs: Sequence[Any], suffix: str, name: str | None, **attrs: Any) -> Any:
        """Adds an operation to the graph, or calls the op in the compiled function that is being traced."""
        here = graph_here()
        if self._graph is not None and here is None:
            problem = "is part of a graph built by hand, so a compiled function cannot use it; make it in eager code"
            refuse_in_trace(f"{self._label} {problem}", InvalidArgumentError)
        graph = self._graph or here
        return emit(graph, op, inputs, Attrs({**self._attrs, **attrs}), name or f"{self._name}_{suffix}")
