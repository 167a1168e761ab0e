"""The vmap op: a graph applied to each row of arrays, all at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import jax as _jax
import numpy as np

from graphc.compiler.base.errors import UnimplementedError
from graphc.compiler.core import SymbolicTensor, Tensor, Variable, apply, apply_all
from graphc.compiler.ir import OPS, Attrs, Graph, OpDef, TensorType
from graphc.compiler.ops.control_flow import INDEX
from graphc.compiler.ops.derivatives.modes import repeated
from graphc.compiler.ops.generator import is_random_state, split_state
from graphc.compiler.ops.host import ORDER, STATUS
from graphc.compiler.tracing import CallState, Region, Trace

jax: Any = _jax  # its functions are only partly annotated

__all__ = ["VMAP", "MappedRegion", "emit_vmap"]

Axes = Sequence[int | None]


def _vmap(*values: Any, in_axes: Axes, out_axes: Axes, size: int, body: Callable[..., Any]) -> tuple[Any, ...]:
    with repeated():
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
        doc="Applies a graph to each row of arrays.",
    ),
)


class MappedRegion(Region):
    """The trace of a function of a row, which must have no effects other than its results.

    Args:
      name: a description for messages: "the function 'f' that gx.vmap maps".
    """

    def __init__(self, parent: Trace, name: str) -> None:
        super().__init__(parent, name)
        self._what = name

    def assign(self, variable: Variable | CallState, value: Any) -> None:
        """Assigns a state as in any region, but refuses Variables, which all rows share, and ordered host calls."""
        if isinstance(variable, Variable) and not is_random_state(variable):
            raise self.refuse(
                UnimplementedError(
                    f"{self._what} assigns the Variable {variable.name!r}, which all rows share; return "
                    "the new value, and assign the combined result outside"
                )
            )
        if variable is ORDER:
            raise self.refuse(
                UnimplementedError(
                    f"{self._what} prints or calls gx.pyfunc in order, but rows have no order; return the values, and "
                    "do it outside, or call gx.pyfunc with ordered=False, which runs for each row"
                )
            )
        super().assign(variable, value)


def emit_vmap(
    body: MappedRegion, arguments: Sequence[SymbolicTensor], outputs: Sequence[SymbolicTensor],
    values: Sequence[Tensor], in_axes: Sequence[int], out_axes: Axes, size: int,
) -> list[Tensor]:  # fmt: skip
    """Appends a vmap to the trace that encloses the region.

    If the body fails for some rows, the call fails as for the first of them. Each row draws its own random numbers: the
    state of the generator is split.

    Args:
      arguments: its inputs for the rows of ``values``.
      in_axes: for each array, the axis of the rows.
      out_axes: for each result, the axis of the rows; None for a result that is the same for all rows.

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
    """Sets the states of the call to their values in the first failed row."""
    status = next((row for state, row in zip(states, rows, strict=True) if state.name == STATUS.name), None)
    if status is None:
        return
    failed = apply(OPS["argmax"], (apply(OPS["not_equal"], (status, np.int32(0))),), Attrs(axis=None))
    first = apply(OPS["astype"], (failed,), Attrs(dtype=INDEX.dtype))
    for state, row in zip(states, rows, strict=True):
        around.assign(state, row[first])
