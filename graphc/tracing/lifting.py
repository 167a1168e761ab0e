"""Lifting: state that a function makes in its first call is made for real while the function is traced.

The trace goes on with it, so that its program is that of the first call (TensorFlow lifts the creation of variables out
of functions likewise). The state must be what eager code would have made at that point. So it is made eagerly, and must
have nothing to do with what the program does before: it reads no Variable that the program has assigned by then, and
assigns none, as draws of random numbers do, that the program has touched.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any

import jax

from graphc.base import user_frame
from graphc.core import Assignments, SymbolicTensor, Tensor, apply_all, making_scope
from graphc.ir import CONSTANT, Value

if TYPE_CHECKING:
    from graphc.core import Variable
    from graphc.tracing.trace import Trace

__all__ = ["CreationInTrace", "Lifting", "known_value"]


class CreationInTrace(BaseException):
    """State is made while a function is traced, and cannot be lifted: the call is run eagerly instead."""


class Lifting:
    """What is made for real while a function is traced for its first call.

    Args:
      tells: whether code tells the trace what it writes, so that it can be taken back. Other code makes nothing.

    Attributes:
      assignments: the Variables that were made or assigned, with the values to go back to.
    """

    def __init__(self, tells: Callable[[CodeType], bool]) -> None:
        self.assignments = Assignments()
        self._tells = tells
        self._outside: FrameType | None = user_frame()

    @property
    def is_used(self) -> bool:
        """True if something was made."""
        return not self.assignments.is_empty

    @contextmanager
    def making(self, trace: Trace, reads: Iterable[Variable]) -> Generator[None]:
        """A scope inside which code runs eagerly to make state; see :meth:`graphc.tracing.Trace.making`."""
        frame = user_frame()
        tells = frame is self._outside or (frame is not None and self._tells(frame.f_code))
        if not tells or not _is_certain(trace):
            raise CreationInTrace
        seen, found = _Reads(reads), Assignments()
        try:
            with making_scope(found, seen):
                yield
            _check_apart(trace, seen, found)
        except BaseException as error:
            found.undo()
            found.undo_built()
            if isinstance(error, Exception):
                raise CreationInTrace from None  # where tensors of the trace are not to blame it is raised again
            raise
        self.assignments.add(found)

    def undo(self) -> None:
        """Takes back all that was made, so that the call can be run from its start."""
        self.assignments.undo()
        self.assignments.undo_built()

    @contextmanager
    def finishing(self) -> Generator[None]:
        """A scope inside which the traced program runs: what was made stays; if it fails no Variable is changed."""
        self._outside = None
        self.assignments.built.clear()
        try:
            yield
        except BaseException:
            self.assignments.undo()
            raise


class _Reads:
    """Notes which Variables are read, as a tape is told of them."""

    def __init__(self, variables: Iterable[Variable]) -> None:
        self.names = {variable.name for variable in variables}

    def forward(self, op: Any, inputs: Sequence[Any], attrs: Any, regions: Sequence[Any]) -> None:
        """Replaces no kernel."""

    def record(
        self, op: Any, inputs: Sequence[Any], attrs: Any, regions: Sequence[Any], outputs: Sequence[Any],
        forward: Any = None,
    ) -> None:  # fmt: skip
        """Passes over operations."""

    def record_read(self, variable: Any, tensor: Any) -> None:
        """Notes a Variable that is read."""
        del tensor
        self.names.add(variable.name)

    @property
    def is_idle(self) -> bool:
        """Is False: it wants to know of each Variable."""
        return False

    def follows(self, value: Any) -> bool:
        """Notes a Variable whose value is shown; follows nothing."""
        if (name := getattr(value, "name", None)) is not None:
            self.names.add(name)
        return False


def known_value(value: Any, trace: Trace) -> Any:
    """Returns what a tensor of the trace is in every call, computed as eager code does; other values as they are.

    Raises:
      CreationInTrace: it depends on arguments or Variables.
    """
    return _known(value.raw, trace, {}) if isinstance(value, SymbolicTensor) else value


def _known(value: Value, trace: Trace, found: dict[Value, Any]) -> Any:
    if value in found:
        return found[value]
    node = value.node
    if node is None:
        outer = next((outer for outer, inner in trace.captures.values() if inner.raw is value), None)
        if outer is None:
            raise CreationInTrace
        found[value] = outer
    elif node.op is CONSTANT:
        literal = node.attrs["value"].array
        found[value] = literal.item() if node.attrs.get("weak") else Tensor(jax.numpy.asarray(literal))
    elif node.effects or node.regions or node.device or node.control_inputs:
        raise CreationInTrace
    else:
        inputs = [_known(one, trace, found) for one in node.inputs]
        found.update(zip(node.outputs, apply_all(node.op, inputs, node.attrs), strict=True))
    return found[value]


def _is_certain(trace: Trace) -> bool:
    """Returns True if the code that is traced now runs in each call: no tensor decides, and nothing may fail before."""
    may_fail = trace.gradient_mask is not None or (trace.check is not None and trace.check.raises)
    return trace.parent is None and not may_fail


def _check_apart(trace: Trace, seen: _Reads, found: Assignments) -> None:
    """Raises if what was made depends on what the program does before, or the other way round."""
    assigned = found.assigned()
    touched = any(id(one) in trace.captures or getattr(one, "name", None) in trace.variables for one in assigned)
    if touched or not seen.names.isdisjoint(trace.assigned_names()):
        raise CreationInTrace
