"""The replicas op, a graph that runs on several devices at once, and the collectives that its replicas call.

A collective is valid only in the body of a replicas op: its attributes name the axis of the replicas and their number.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, TypeAlias

import jax as _jax
import numpy as np
from jax import lax as _lax
from jax.sharding import Mesh, PartitionSpec

from graphc.compiler.base.errors import UnimplementedError
from graphc.compiler.core import GROUP_AXIS, SymbolicTensor, Tensor, Variable, apply, apply_all
from graphc.compiler.devices import find_common
from graphc.compiler.ir import OPS, Attrs, Graph, OpDef, TensorType, define_op
from graphc.compiler.ops.control_flow_types import INDEX
from graphc.compiler.ops.derivatives.modes import repeated
from graphc.compiler.ops.generator import is_random_state, split_state
from graphc.compiler.ops.host import ORDER, STATUS
from graphc.compiler.tracing import CallState, Region, Trace

jax: Any = _jax  # its functions are only partly annotated
lax: Any = _lax

Types: TypeAlias = Sequence[TensorType]

REPLICA_AXIS = "replica"
COPY_AXIS = GROUP_AXIS


def replica_spec(axis: int | None, name: str) -> PartitionSpec:
    """Returns the partition of an array whose ``axis`` is split over the replicas; None for a replicated array."""
    return PartitionSpec() if axis is None else PartitionSpec(*[None] * axis, name)


@lru_cache(maxsize=256)
def replica_mesh(devices: tuple[str, ...], groups: int, name: str) -> Mesh:
    """Returns the mesh of so many groups of devices, given by their common names; each group is one replica."""
    grid = np.array([find_common(device) for device in devices])
    if groups == len(devices):
        return Mesh(grid, (name,))
    return Mesh(grid.reshape(groups, -1), (name, COPY_AXIS))


def _replicas(
    *values: Any, devices: tuple[str, ...], groups: int, axis: str, in_axes: Sequence[int | None],
    differs: Sequence[bool], body: Callable[..., Any],
) -> tuple[Any, ...]:  # fmt: skip
    def replica(*parts: Any) -> tuple[Any, ...]:
        results: list[Any] = [jax.numpy.asarray(result) for result in body(*parts)]
        return tuple(
            [
                lax.expand_dims(result, (0,)) if different else result
                for result, different in zip(results, differs, strict=True)
            ]
        )

    return jax.shard_map(
        replica,
        mesh=replica_mesh(devices, groups, axis),
        in_specs=tuple(replica_spec(mapped_axis, axis) for mapped_axis in in_axes),
        out_specs=tuple(replica_spec(0 if different else None, axis) for different in differs),
        # Gradients are those of jax.pmap: separate for each replica; the caller averages or sums them.
        check_vma=False,
    )(*values)


def _stacked_types(types: Types, attrs: Attrs, regions: Sequence[Graph]) -> tuple[TensorType, ...]:
    del types
    return tuple(
        replace(output.type, shape=(attrs["groups"], *output.type.shape)) if different else output.type
        for output, different in zip(regions[0].outputs, attrs["differs"], strict=True)
    )


def _part_types(types: Types, attrs: Attrs, regions: Sequence[Graph]) -> list[list[tuple[TensorType, int | None]]]:
    del regions
    entries: list[tuple[TensorType, int | None]] = []
    for index, (type, axis) in enumerate(zip(types, attrs["in_axes"], strict=True)):
        if axis is None:
            entries.append((type, index))
        else:
            shape = list(type.shape)
            shape[axis] //= attrs["groups"]
            entries.append((replace(type, shape=tuple(shape)), None))
    return [entries]


REPLICAS = define_op(
    "replicas",
    impl=_replicas,
    infer=_stacked_types,
    params=("*values",),
    regions=("body",),
    entries=_part_types,
    doc="Runs a graph on several devices at once, each on its part of the arrays; results that differ are stacked.",
)


def _collective(name: str, run: Callable[..., Any], doc: str, *, differentiable: bool = True) -> OpDef:
    """Returns the row of a collective: ``run(values, axis_name, **attrs)`` returns a tuple."""

    def impl(*values: Any, axis_name: str, size: int, rehearsed: bool = False, **attrs: Any) -> tuple[Any, ...]:
        if not rehearsed:
            return tuple(run(values, axis_name, **attrs))

        def replica(_: Any) -> tuple[Any, ...]:
            return tuple(run(values, axis_name, **attrs))

        # All replicas have the same values: only the types of a rehearsal's results matter.
        everywhere: Any = jax.vmap(replica, axis_name=axis_name)(np.arange(size))
        return tuple(result[0] for result in everywhere)

    def infer(types: Types, attrs: Attrs, regions: Sequence[Graph]) -> tuple[TensorType, ...]:
        del regions
        operands = [jax.ShapeDtypeStruct(type.shape, type.dtype, weak_type=type.weak) for type in types]
        rest = {key: value for key, value in attrs.items() if key not in ("axis_name", "size", "rehearsed")}

        def program(*values: Any) -> tuple[Any, ...]:
            return tuple(run(values, attrs["axis_name"], **rest))

        traced = jax.make_jaxpr(program, axis_env=[(attrs["axis_name"], attrs["size"])])(*operands)
        return tuple(TensorType(aval.shape, aval.dtype, aval.weak_type) for aval in traced.out_avals)

    op = OpDef(name, impl=impl, infer=infer, params=("*values",), differentiable=differentiable, doc=doc)
    return OPS.add(name, op)


def _each(run: Callable[..., Any]) -> Callable[..., tuple[Any, ...]]:
    def run_each(values: Sequence[Any], axis_name: str, **attrs: Any) -> tuple[Any, ...]:
        return tuple([run(value, axis_name, **attrs) for value in values])

    return run_each


def _index(values: Sequence[Any], axis_name: str) -> tuple[Any, ...]:
    del values
    return (lax.axis_index(axis_name),)


def _fold_in(key: Any, axis_name: str) -> Any:
    return jax.random.key_data(jax.random.fold_in(jax.random.wrap_key_data(key), lax.axis_index(axis_name)))


SAME_ON_ALL = frozenset({
    _collective("psum", lax.psum, "The sum over the replicas.").name,
    _collective("pmean", lax.pmean, "The mean over the replicas.").name,
    _collective("pmax", _each(lax.pmax), "The maximum over the replicas.").name,
    _collective("pmin", _each(lax.pmin), "The minimum over the replicas.").name,
    _collective("all_gather", _each(lax.all_gather), "The values of all replicas, along an axis.").name,
})  # fmt: skip
"""The collectives whose results are the same on all replicas."""

COLLECTIVES = SAME_ON_ALL | {
    _collective("all_to_all", _each(lax.all_to_all), "Parts of an axis, exchanged between all replicas.").name,
    _collective("ppermute", _each(lax.ppermute), "The value of another replica.").name,
}
"""All ops that synchronize the replicas."""

AXIS_INDEX = _collective("axis_index", _index, "The index of this replica, from 0.", differentiable=False)
FOLD_IN_AXIS = _collective(
    "fold_in_axis", _each(_fold_in), "Key data for random numbers that differ between replicas.", differentiable=False
)


# The vmap op: a graph applied to each row of arrays, all at once.

Axes = Sequence[int | None]


def _vmap(*values: Any, in_axes: Axes, out_axes: Axes, size: int, body: Callable[..., Any]) -> tuple[Any, ...]:
    with repeated():
        return jax.vmap(body, in_axes=tuple(in_axes), out_axes=tuple(out_axes), axis_size=size)(*values)


def _types(types: Sequence[TensorType], attrs: Attrs, regions: Sequence[Graph]) -> tuple[TensorType, ...]:
    del types
    results: list[TensorType] = []
    for output, axis in zip(regions[0].outputs, attrs["out_axes"], strict=True):
        shape = list(output.type.shape)
        if axis is not None and output.type.ranked:
            shape.insert(axis, attrs["size"])
        results.append(replace(output.type, shape=tuple(shape)))
    return tuple(results)


def _entries(
    types: Sequence[TensorType], attrs: Attrs, regions: Sequence[Graph]
) -> list[list[tuple[TensorType, int | None]]]:
    del regions
    entries: list[tuple[TensorType, int | None]] = []
    for index, (type, axis) in enumerate(zip(types, attrs["in_axes"], strict=True)):
        if axis is None:
            entries.append((type, index))
        else:
            entries.append((replace(type, shape=type.shape[:axis] + type.shape[axis + 1 :]), None))
    return [entries]


VMAP = define_op(
    "vmap",
    impl=_vmap,
    infer=_types,
    params=("*values",),
    regions=("body",),
    entries=_entries,
    doc="Applies a graph to each row of arrays.",
)


class MappedRegion(Region):
    """The trace of a function of a row, which must have no effects other than its results."""

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
    """Appends a vmap to the trace that encloses the region."""
    # If the body fails for some rows, the call fails as for the first of them. Each row draws its own random numbers:
    # the state of the generator is split.
    # out_axes: for each result, the axis of the rows; None for a result that is the same for all rows.
    around = body.parent
    written = body.written()
    drawn = [variable for variable in written if isinstance(variable, Variable)]
    call_states: list[CallState] = [state for state in written if isinstance(state, CallState)]
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
    results = [*outputs, *(body.state(state).current for state in call_states)]
    graph = body.close([*arguments, *entries, *shared], results)
    attrs = Attrs(in_axes=axes, out_axes=(*out_axes, *[0] * len(call_states)), size=size)
    produced = apply_all(VMAP, (*mapped, *invariant), attrs, (graph,))
    _leave(around, call_states, produced[len(outputs) :])
    return produced[: len(outputs)]


def _leave(around: Any, states: Sequence[CallState], rows: Sequence[Tensor]) -> None:
    """Sets the states of the call to their values in the first failed row."""
    status = next((row for state, row in zip(states, rows, strict=True) if state.name == STATUS.name), None)
    if status is None:
        return
    failed = apply(OPS["argmax"], (apply(OPS["not_equal"], (status, np.int32(0))),), Attrs(axis=None))
    first = apply(OPS["astype"], (failed,), Attrs(dtype=INDEX.dtype))
    for state, row in zip(states, rows, strict=True):
        around.assign(state, row[first])
