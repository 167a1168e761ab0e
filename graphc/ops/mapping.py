"""The vmap op: a graph for each row of arrays, all at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import jax as _jax
import numpy as np

from graphc.base.errors import UnimplementedError
from graphc.core import SymbolicTensor, Tensor, Variable, apply, apply_all
from graphc.ir import OPS, Attrs, Graph, OpDef, TensorType
from graphc.ops.control_flow import INDEX
from graphc.ops.generator import is_random_state, split_state
from graphc.ops.host import ORDER, STATUS
from graphc.tracing import CallState, Region, Trace

jax: Any = _jax  # its functions are only partly annotated

__all__ = ["VMAP", "MappedRegion", "emit_vmap"]

Axes = Sequence[int | None]


def _vmap(*values: Any, in_axes: Axes, out_axes: Axes, size: int, body: Callable[..., Any]) -> tuple[Any, ...]:
    return jax.vmap(body, in_axes=tuple(in_axes), out_axes=tuple(out_axes), axis_size=size)(*values)


def _types(types: Sequence[TensorType], attrs: Attrs, regions: Sequence[Graph]) -> tuple[TensorType, ...]:
    del types
    found: list[TensorType] = []
    for output, axis in zip(regions[0].outputs, attrs["out_axes"], strict=True):
        shape = list(output.type.shape)
        if axis is not None and output.type.ranked:
            shape.insert(axis, attrs["size"])
        found.append(replace(output.type, shape=tuple(shape)))
    return tuple(found)


def _entries(
    types: Sequence[TensorType], attrs: Attrs, regions: Sequence[Graph]
) -> list[list[tuple[TensorType, int | None]]]:
    del regions
    found: list[tuple[TensorType, int | None]] = []
    for place, (type, axis) in enumerate(zip(types, attrs["in_axes"], strict=True)):
        if axis is None:
            found.append((type, place))
        else:
            found.append((replace(type, shape=type.shape[:axis] + type.shape[axis + 1 :]), None))
    return [found]


VMAP = OPS.add(
    "vmap",
    OpDef(
        "vmap",
        impl=_vmap,
        infer=_types,
        params=("*values",),
        regions=("body",),
        entries=_entries,
        doc="A graph for each row of arrays.",
    ),
)


class MappedRegion(Region):
    """The trace of what is done for each row: it must leave nothing behind but its results.

    Args:
      parent: the trace around it.
      name: what it is, for messages: "the function 'f' that gx.vmap maps".
    """

    def __init__(self, parent: Trace, name: str) -> None:
        super().__init__(parent, name)
        self._what = name

    def assign(self, variable: Variable | CallState, value: Any) -> None:
        """As of any region, but for Variables, of which there is one for all rows, and calls of the host."""
        if isinstance(variable, Variable) and not is_random_state(variable):
            raise self.refuse(
                UnimplementedError(
                    f"{self._what} assigns the Variable {variable.name!r}, of which there is one for all rows; return "
                    "the new value, and assign what becomes of all rows outside"
                )
            )
        if variable is ORDER:
            raise self.refuse(
                UnimplementedError(
                    f"{self._what} prints or calls gx.pyfunc in order, but rows have none; return the values, and do "
                    "it outside, or call gx.pyfunc with ordered=False, which is done for each row"
                )
            )
        super().assign(variable, value)


def emit_vmap(
    body: MappedRegion, arguments: Sequence[SymbolicTensor], outputs: Sequence[SymbolicTensor],
    values: Sequence[Tensor], in_axes: Sequence[int], out_axes: Axes, size: int,
) -> list[Tensor]:  # fmt: skip
    """Appends a vmap to the trace around the region.

    If the body fails for some rows the call fails as it does for the first of them. Each row draws random numbers of
    its own: the state of the generator is split.

    Args:
      body: the traced body, still open.
      arguments: its inputs that stand for rows of ``values``.
      outputs: what it returns.
      values: the arrays.
      in_axes: which axis of each holds the rows.
      out_axes: which axis of each result holds them; None for a result that is the same for all.
      size: how many rows.

    Returns:
      The results.
    """
    around = body.parent
    written = body.written()
    drawn = [variable for variable in written if isinstance(variable, Variable)]
    kept: list[CallState] = [state for state in written if isinstance(state, CallState)]
    mapped, invariant = list(values), list[Tensor]()
    entries: list[SymbolicTensor] = []
    for variable in drawn:
        new, states = split_state(variable.value(), size)
        around.assign(variable, new)
        mapped.append(states)
        entries.append(body.state(variable).entry)
    shared: list[SymbolicTensor] = []
    for outer, inner in body.captures.values():
        invariant.append(outer)
        shared.append(inner)
    for state in list(body.states.values()):
        if not any(state.variable is variable for variable in drawn):
            invariant.append(state.variable.value())
            shared.append(state.entry)
    axes = (*in_axes, *[0] * len(drawn), *[None] * len(invariant))
    results = [*outputs, *(body.state(state).current for state in kept)]
    graph = body.close([*arguments, *entries, *shared], results)
    attrs = Attrs(in_axes=axes, out_axes=(*out_axes, *[0] * len(kept)), size=size)
    found = apply_all(VMAP, (*mapped, *invariant), attrs, (graph,))
    _leave(around, kept, found[len(outputs) :])
    return found[: len(outputs)]


def _leave(around: Any, states: Sequence[CallState], rows: Sequence[Tensor]) -> None:
    """Gives the states of the call the values that they have in the first row that has failed."""
    status = next((row for state, row in zip(states, rows, strict=True) if state.name == STATUS.name), None)
    if status is None:
        return
    failed = apply(OPS["argmax"], (apply(OPS["not_equal"], (status, np.int32(0))),), Attrs(axis=None))
    first = apply(OPS["astype"], (failed,), Attrs(dtype=INDEX.dtype))
    for state, row in zip(states, rows, strict=True):
        around.assign(state, row[first])
