"""Lifting: state that a function creates in its first call is created for real while the function is traced.

The trace continues with the new state, so its program is that of the first call (TensorFlow lifts the creation of
variables out of functions likewise). The state must be what eager code would have made at that point. It is therefore
made eagerly and must be independent of the program so far: making it may not read a Variable that the program has
assigned, nor assign one that the program has read or assigned (as random draws do).
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from graphc.compiler.base import Location, user_frame, user_location
from graphc.compiler.core import Assignments, SymbolicTensor, Tensor, apply_all, making_scope
from graphc.compiler.ir import CONSTANT, Value

if TYPE_CHECKING:
    from graphc.compiler.core import Variable
    from graphc.compiler.tracing.aliases import AliasSet
    from graphc.compiler.tracing.reads import ReadGuard, Reads
    from graphc.compiler.tracing.trace import Trace


class CreationInTrace(BaseException):
    """Signals that a trace makes state that cannot be lifted, so that the call runs eagerly instead."""

    guards: Sequence[ReadGuard] = ()


class Lifting:
    """The state that is created while a function is traced for its first call."""

    def __init__(self, tells: Callable[[CodeType], bool]) -> None:
        self.assignments = Assignments()  # the Variables that were created or assigned, with the values to restore
        # The names of the Variables that were created, in order, with the user's line of each.
        self.created: list[tuple[str, Location | None]] = []
        # False if a Variable is created where a tensor decides, so that the call may create none.
        self.is_certain = True
        # Returns True for code that reports its writes to the trace, so that they can be undone. Other code may not
        # create state.
        self._tells = tells
        self._outside: FrameType | None = user_frame()

    @property
    def is_used(self) -> bool:
        """True if something was made."""
        return not self.assignments.is_empty

    def created_text(self, start: int = 0) -> str:
        """Returns the name and line of a created Variable, with the number of later ones; empty if there is none."""
        created = self.created[start:]
        if not created:
            return ""
        (name, location), others = created[0], len(created) - 1
        more = f" and {others:,} other{'s' * (others > 1)}" if others else ""
        return f"the Variable {name!r}{more}" + ("" if location is None else f" ({location.short})")

    @contextmanager
    def making(self, trace: Trace, reads: Iterable[Variable]) -> Generator[None]:
        """Opens a scope that runs code eagerly to create state; see :meth:`graphc.compiler.tracing.Trace.making`."""
        frame = user_frame()
        tells = frame is self._outside or (frame is not None and self._tells(frame.f_code))
        # The code runs in every call if no tensor decides, and nothing may fail before it.
        self.is_certain = trace.parent is None and not (trace.check is not None and trace.check.raises)
        if not tells or not self.is_certain:
            raise CreationInTrace
        seen, assignments, location = _Reads(reads), Assignments(), user_location()
        try:
            with making_scope(assignments, seen):
                yield
            _check_apart(trace, seen, assignments)
        except BaseException as error:
            assignments.undo()
            assignments.undo_built()
            if isinstance(error, Exception):
                raise CreationInTrace from None  # raised again if the tensors of the trace are not to blame
            raise
        self.assignments.add(assignments)
        variables = sorted(
            assignments.made(), key=lambda variable: not variable.trainable
        )  # a weight, not the state of draws
        self.created += [(variable.name, location) for variable in variables]

    def undo(self) -> None:
        """Deletes the created state and restores assigned Variables, so that the call can be run from its start."""
        self.assignments.undo()
        self.assignments.undo_built()

    @contextmanager
    def finishing(self) -> Generator[None]:
        """Opens a scope for the traced program's run: success keeps the created state, failure changes no Variable."""
        self._outside = None
        self.assignments.built.clear()
        try:
            yield
        except BaseException:
            self.assignments.undo()
            raise


class _Reads:
    """A tape that notes which Variables are read."""

    def __init__(self, variables: Iterable[Variable]) -> None:
        self.names = {variable.name for variable in variables}

    def forward(self, op: Any, inputs: Sequence[Any], attrs: Any, regions: Sequence[Any]) -> None:
        """Replaces no kernel."""

    def record(
        self, op: Any, inputs: Sequence[Any], attrs: Any, regions: Sequence[Any], outputs: Sequence[Any],
        forward: Any = None,
    ) -> None:  # fmt: skip
        """Ignores operations."""

    def call(self, graph: Any, variables: Sequence[Any], tensors: Sequence[Any]) -> None:
        """Leaves calls of compiled functions to dispatch, which reads the Variables one by one."""

    def record_read(self, variable: Any, tensor: Any) -> None:
        del tensor
        self.names.add(variable.name)

    def note_elsewhere(self, inputs: Sequence[Any], results: Sequence[Any]) -> None:
        """Ignores other threads."""

    @property
    def is_idle(self) -> bool:
        """False: every read of a Variable must be recorded."""
        return False

    def follows(self, value: Any) -> bool:
        """Notes a Variable whose value is shown; returns False, since it follows no value."""
        if (name := getattr(value, "name", None)) is not None:
            self.names.add(name)
        return False


def known_value(value: Any, trace: Trace) -> Any:
    """Returns a tensor's value if it is the same in every call, computed eagerly; other values as they are."""
    return _known(value.raw, trace, {}) if isinstance(value, SymbolicTensor) else value


def _known(value: Value, trace: Trace, resolved: dict[Value, Any]) -> Any:
    if value in resolved:
        return resolved[value]
    node = value.node
    if node is None:
        outer = next((outer for outer, inner in trace.captures.values() if inner.raw is value), None)
        if outer is None:
            raise CreationInTrace
        resolved[value] = outer
    elif node.op is CONSTANT:
        literal = node.attrs["value"].array
        resolved[value] = literal.item() if node.attrs.get("weak") else Tensor(jax.numpy.asarray(literal))
    elif node.effects or node.regions or node.device or node.control_inputs:
        raise CreationInTrace
    else:
        inputs = [_known(one, trace, resolved) for one in node.inputs]
        resolved.update(zip(node.outputs, apply_all(node.op, inputs, node.attrs), strict=True))
    return resolved[value]


def _check_apart(trace: Trace, seen: _Reads, assignments: Assignments) -> None:
    """Raises if the created state depends on what the program did before, or the other way round."""
    assigned = assignments.assigned()
    touched = any(id(one) in trace.captures or getattr(one, "name", None) in trace.variables for one in assigned)
    if touched or not seen.names.isdisjoint(trace.assigned_names() or ()):
        raise CreationInTrace


# Memory of the caller's arrays: the traced tensors that in plain Python share it, and their changes in place.

_NOTHING: frozenset[int] = frozenset()


class SharedMemory:
    """The tensors of a trace that, for a call with NumPy arrays, would be these arrays or views of them."""

    # A tensor is not changed by ``x += 1``: the name is bound to a new one. A NumPy array is changed, for its views and
    # for the caller too. The trace serves both kinds of arguments; a call with arrays checks :attr:`changed`.

    def __init__(self, aliases: AliasSet) -> None:
        # The arguments that are changed in place, by position, with the operator and the line of the first change.
        self.changed: dict[int, tuple[str, Location | None]] = {}
        self._aliases = aliases
        self._given: dict[int, object] = {}
        self._places: weakref.WeakKeyDictionary[Value, frozenset[int]] = weakref.WeakKeyDictionary()

    def argument(self, position: int, tensor: SymbolicTensor, passed: object) -> None:
        """Notes that a tensor stands for the argument at a position, and what this call gives."""
        self._places[tensor.raw] = frozenset([position])
        self._given[position] = passed

    def given(self, position: int) -> object:
        """Returns what this call gives for the argument at a position."""
        return self._given.get(position)

    def view(self, tensor: SymbolicTensor, result: object) -> None:
        """Notes that a result has the memory of a tensor, if that is an array."""
        if isinstance(result, SymbolicTensor) and (positions := self._of(tensor)):
            self._places[result.raw] = positions | self._places.get(result.raw, _NOTHING)

    def separate(self, tensor: SymbolicTensor, reads: Reads) -> bool:
        """Notes that the program makes a tensor of an argument, with ``gx.asarray``."""
        # True if that is a copy, as of a NumPy array; the trace serves only calls that are alike in this.
        positions = self._of(tensor)
        copied = [isinstance(self._given[position], np.ndarray) for position in positions]
        for position, is_array in zip(positions, copied, strict=True):
            reads.array_or_tensor(reads.inputs[position], is_array=is_array)
        if any(copied) and not all(copied):  # one of several arguments, which depends on tensors
            self._places[tensor.raw] = _NOTHING
        return bool(copied) and all(copied)

    def change(self, tensor: SymbolicTensor, symbol: str) -> None:
        """Notes that a tensor is about to be changed by an in-place operator or, with ``""``, an item assignment."""
        for position in self._of(tensor):
            self.changed.setdefault(position, (symbol, user_location()))

    def of(self, values: Iterable[object]) -> frozenset[int]:
        """Returns the positions of the arguments whose memory some of these values may have."""
        return _NOTHING.union(*(self._of(value) for value in values if isinstance(value, SymbolicTensor)))

    def _of(self, tensor: SymbolicTensor) -> frozenset[int]:
        seen = {id(tensor)}
        positions = _NOTHING
        todo = [tensor]
        for link in todo:  # what a loop carries may stand for itself
            alias = self._aliases.get(link)
            if alias is not None and alias.memory is not None:
                positions |= alias.memory
                continue
            recorded = self._places.get(link.raw)
            positions |= recorded or _NOTHING
            for source in () if alias is None or recorded is not None else alias.sources or ():
                if isinstance(source, SymbolicTensor) and id(source) not in seen:
                    seen.add(id(source))
                    todo.append(source)
        return positions
