"""``gx.config.check_numerics``: the first op that makes a NaN or an infinity is named.

An op is to blame where it gives a NaN and no input of it holds one, or an infinity and all its inputs are finite. So a
mask of ``-inf`` may pass through, and what it does to a row that is masked altogether is found.

Eager ops are looked at when they have run. In a trace each op is followed by a node that counts, and a failure of the
call that it sets off: which is why it works in loops and branches as exceptions do, and leaves Variables alone.
"""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jax.core import Tracer

from graphc.compiler.autograph.constructs.branches.logic import require
from graphc.compiler.autograph.constructs.exceptions.failure import RegionFailure, failures
from graphc.compiler.autograph.constructs.exceptions.origins import user_calls
from graphc.compiler.autograph.values.deferred import Deferred, Frozen, Opaque
from graphc.compiler.base import Location
from graphc.compiler.base.errors import InvalidTypeError, NumericsError
from graphc.compiler.core import Tensor, Variable, apply, examined_line, kernel, operand, trace_scope, unexamined
from graphc.compiler.ir import CONSTANT, OPS, Attrs, Graph, OpDef
from graphc.compiler.ops import (
    BAD_VALUES,
    CALL,
    COND,
    HOST_CALLS,
    READ_VARIABLE,
    REPLICAS,
    SCAN,
    SWITCH,
    VMAP,
    WHILE,
    MappedRegion,
)
from graphc.compiler.tracing import CallState, Region, Trace, context

_NOT_TO_BLAME = frozenset((COND, CONSTANT, READ_VARIABLE, SCAN, SWITCH, WHILE))
"""Ops whose results others computed; those are checked themselves."""

_AROUND = frozenset((CALL, REPLICAS, VMAP))
"""Likewise, if their ops are."""

_REPORT = CallState("graphc.numerics", np.zeros(4, np.int32))
"""Of the op to blame: which output, how many NaN and infinities are in it, and how often its loop has run."""

_runs: weakref.WeakKeyDictionary[Region, CallState] = weakref.WeakKeyDictionary()
_numbers = itertools.count(1)


@dataclass(frozen=True, eq=False)
class _Blame(Deferred):
    """The error for an op, with the report of it."""

    kind: Any  # the class of the error; others ask for it
    what: Any  # the op, its inputs, the types of the outputs that are looked at, and where it stands
    report: Any

    def make(self) -> NumericsError:
        """Returns the error."""
        output, nans, infinities, runs = np.asarray(self.report).tolist()
        name, inputs, types, location = self.what
        bad = " and ".join(f"{count} {kind}" for count, kind in ((nans, "NaN"), (infinities, "infinite")) if count)
        of = f" of inputs ({', '.join(inputs)})" if inputs else ""
        index, type = types[output]
        without = "that are finite" if not nans else "in which there is no NaN"
        later = f", in iteration {runs} of its loop" if runs else ""
        return NumericsError(
            f"{name} made {bad} of the {type.size} elements of its output {index}, {type},{of} {without}{later} "
            "(gx.config.check_numerics)"
        ).at(location)


def check_numerics(tensor: Any, message: str = "") -> Any:
    """Returns the tensor; raises an error if it holds a NaN or an infinity (TensorFlow's ``check_numerics``).

    In a compiled function the error is raised by the call, as by a ``raise`` statement under a condition.

    Args:
      tensor: of floating or complex numbers.
      message: put before what is said.

    Raises:
      NumericsError: an element is NaN or infinite.
      InvalidTypeError: the tensor is of another dtype.

    Example:
      >>> import graphc as gx
      >>> gx.check_numerics(gx.asarray([1.0, 2.0]), "the loss").tolist()
      [1.0, 2.0]
    """
    operand_value = tensor.value() if isinstance(tensor, Variable) else tensor
    checked: Any = operand_value if isinstance(operand_value, Tensor) else Tensor(operand(operand_value))
    prefix = f"{message}: " if message else ""
    if not checked.type.is_inexact:
        raise InvalidTypeError(
            f"{prefix}gx.check_numerics: expected floating or complex numbers, got {checked.type}"
        ).here()
    error = NumericsError(f"{prefix}the tensor of type {checked.type} holds NaN or infinite values").here()
    with unexamined():
        bad, _ = apply(BAD_VALUES, (checked,), Attrs(num_given=0))
        fine = apply(OPS["logical_not"], (bad,))
    if context.trace is not None:
        require(fine, lambda: error)
    elif not fine:
        raise error
    return checked


def examine_op(
    op: OpDef, values: Sequence[Any], attrs: Attrs, regions: Sequence[Graph], outputs: Sequence[Tensor]
) -> None:
    """Looks at what an op gave."""
    if op in _NOT_TO_BLAME or (op in _AROUND and any(node.op is BAD_VALUES for node in regions[0].walk())):
        return
    indices = [index for index, output in enumerate(outputs) if output.type.is_inexact]
    if not indices:
        return
    types = [(index, outputs[index].type) for index in indices]
    results = [outputs[index] for index in indices]
    inputs = [value for value in values if _is_inexact(value)]
    if context.trace is None:
        if any(isinstance(output.raw, Tracer) for output in results):
            return  # in a function of JAX's
        counts = [_counts(output) for output in results]
        if not any(map(any, counts)):
            return
        before = [_counts(value) for value in inputs]
        nan, infinite = (any(count[kind] for count in before) for kind in (0, 1))
        for index, (nans, infinities) in enumerate(counts):
            if (nans and not nan) or (infinities and not (nan or infinite)):
                what = _name(op, attrs, regions, ""), _described(values), types, examined_line()
                raise _Blame(NumericsError, what, (index, nans, infinities, 0)).make()
        return
    node = results[0].raw.node
    what = _name(op, attrs, regions, "" if node is None else node.name), _described(values), types, examined_line()
    bad, report = apply(BAD_VALUES, (*inputs, *results), Attrs(num_given=len(inputs)))
    _blame(context.trace, what, bad, report)


def _counts(value: Any) -> tuple[int, int]:
    """Returns how many NaN and infinities there are."""
    raw = value.raw if isinstance(value, Tensor) else value
    _, report = kernel(BAD_VALUES, Attrs(num_given=0))(raw)
    _, nans, infinities = np.asarray(report).tolist()
    return nans, infinities


def _is_inexact(value: Any) -> bool:
    if isinstance(value, Tensor):
        return value.type.is_inexact
    return isinstance(value, float | complex) or np.asarray(value).dtype.kind in "fc"


def _name(op: OpDef, attrs: Attrs, regions: Sequence[Graph], node: str) -> str:
    """Returns what an op is called; a gradient after the op that it is of."""
    name, around = op.name, attrs
    gradient = ""
    while name == "vjp":  # the gradient of a gradient is a vjp of a vjp
        name, around, gradient = around["op"], dict(around["attrs"]), f"the gradient of {gradient}"
    if name == CALL.name:
        name = regions[0].name
    if op in HOST_CALLS:
        name = str(attrs["function"]).rpartition("_")[0]  # less the number that makes it unique
    return f"{gradient}{name}" + (f" (node {node!r})" if node else "")


def _described(values: Sequence[Any]) -> list[str]:
    return [str(value.type) if isinstance(value, Tensor) else repr(value)[:20] for value in values]


def _blame(trace: Trace, what: Any, bad: Any, report: Any) -> None:
    """Makes the call fail where a condition holds, unless it has failed before."""
    recorded = failures(trace)
    error = Frozen(_Blame(Opaque(NumericsError), Opaque(what), report))
    site = recorded.add_report(error, _places(what[-1]), _REPORT)
    fails = RegionFailure(recorded, site).says(bad)
    whole = apply(OPS["concat"], (report, _run_number(trace)), Attrs(axis=0))
    # `fails` holds for the first failure only, which keeps its report.
    _REPORT.assign(apply(OPS["where"], (fails, whole, _REPORT.value())))


def _places(location: Location | None) -> list[Location]:
    """Returns where the user's functions were called, and last the line of the op."""
    calls = user_calls()
    return calls if calls or location is None else [location]


def _run_number(trace: Trace) -> Any:
    """Returns how often the loop around has run, this run included, as an array of one; 0 outside of loops."""
    region: Trace | None = trace
    while isinstance(region, Region) and region.once is not None:  # branches run once: the loop around them counts
        region = region.parent
    if not isinstance(region, Region) or isinstance(region, MappedRegion):  # the rows of a map have no order to count
        return np.zeros(1, np.int32)
    state = _runs.get(region)
    if state is None:
        state = _runs[region] = CallState(f"graphc.runs.{next(_numbers)}", np.zeros(1, np.int32))
    counter = region.states.get(state.name)
    if counter is None or not counter.written:  # once in an iteration, however many of its ops ask
        with trace_scope(region):
            state.assign(apply(OPS["add"], (state.value(), np.int32(1))))
    return state.value()
