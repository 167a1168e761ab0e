"""Batched runs of an operation: a QueueRunner's repeated work on a reader's records, in one run.

A run that reads a record, parses it, computes and enqueues costs mostly the overhead of a run. So a thread of a
QueueRunner asks the reader for as many records of one file as the queue has room for, up to a limit, parses all of
them, computes under ``jax.vmap``, and enqueues the rows together. This is only done if nothing but time can tell the
difference: without Variables, random numbers or other effects. If a record cannot be parsed, the records are run one by
one, so that those before it are enqueued and its own run fails.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

from graphc.compiler.base import nest
from graphc.compiler.base.errors import GraphcError
from graphc.compiler.core import STRING, dtype_rules
from graphc.compiler.ir import CONSTANT, OPS, Node, Value
from graphc.graphs.session.graphs.tensor import Operation
from graphc.graphs.session.plans.local import needed_nodes
from graphc.graphs.session.plans.steps import of_operation
from graphc.graphs.session.session import Session

_MOST = 64
"""Maximum number of records to read at once; larger batches gain little."""
_LEAST = 4


@dataclass(frozen=True)
class _Form:
    """An operation that can run for many records at once."""

    read: Node
    decode: Sequence[Node]  # nodes that parse strings; all take the record
    compute: Sequence[Node]
    enqueue: Node


def repeated(session: Session, operation: Any) -> Callable[[], None] | None:
    """Returns a function that does several runs of an operation at once.

    Returns:
      None if the operation must run once per record.
    """
    form = _form_of(operation)
    if form is None or session.has_timeout or not session.is_local:
        return None
    capacity = form.enqueue.attrs["capacity"]
    most = _MOST if capacity < 0 else min(_MOST, capacity)
    if most < _LEAST:
        return None
    program = _Repeated(session, operation, form, most)
    return program if program.is_faithful else None


def _form_of(operation: Any) -> _Form | None:
    if not isinstance(operation, Operation) or operation.node.op is not OPS["queue.enqueue"]:
        return None
    graph, enqueue = operation.graph, operation.node
    nodes = needed_nodes(graph.trace.builder.nodes, (enqueue,), ())
    reads = [node for node in nodes if node.op is OPS["reader.read"]]
    if len(reads) != 1 or any(node.control_inputs or node.regions for node in nodes):
        return None
    (read,) = reads
    rest = [node for node in nodes if node not in (read, enqueue) and node.op is not CONSTANT]
    decode = [node for node in rest if _decodes(node, read)]
    compute = [node for node in rest if node not in decode]
    strings = {value for node in (read, *decode) for value in node.outputs if value.type.dtype == STRING}
    if not all(_computes(node, strings) for node in compute):
        return None
    return _Form(read, decode, compute, enqueue)


def _decodes(node: Node, read: Node) -> bool:
    """Returns True if a node parses the record, with constants for its other inputs."""
    if node.op.name not in ("strings.decode_csv", "strings.decode_raw"):
        return False
    first, *others = node.inputs
    return first is read.outputs[1] and all(_is_constant(value) for value in others)


def _computes(node: Node, strings: set[Value]) -> bool:
    """Returns True if a node only computes numbers on the default device."""
    if node.op.host or node.device or node.op.effects(node.attrs) or node.op.opaque:
        return False
    return not any(value in strings for value in node.inputs) and not any(
        value.type.dtype == STRING or value.type.is_open for value in (*node.inputs, *node.outputs)
    )


def _is_constant(value: Value) -> bool:
    return value.node is not None and value.node.op is CONSTANT


def _constant(value: Value) -> Any:
    """Returns a constant: an array, or a Python number if its dtype is weak."""
    assert value.node is not None
    array: np.ndarray[Any, Any] = value.node.attrs["value"].array
    return array.item() if value.type.weak and not array.shape else array


class _Program:
    """A program that computes many records at once. Operations that compute the same share one compiled program."""

    def __init__(self, nodes: Sequence[Node], structure: Sequence[Value], wanted: Sequence[Value]) -> None:
        self._nodes, self._given, self._wanted = nodes, structure, wanted
        self._many: Any = jax.jit(jax.vmap(self.row))
        self._lock: threading.Lock | None = threading.Lock()
        shapes = [jax.ShapeDtypeStruct(value.type.shape, value.type.dtype) for value in structure]
        try:
            outputs: Any = jax.eval_shape(self.row, shapes)
        except Exception:
            outputs = None
        types = [(value.type.shape, value.type.dtype) for value in wanted]
        self.is_faithful = outputs is not None and [(array.shape, array.dtype) for array in outputs] == types
        """True if the program returns values of the graph's types."""

    def row(self, record: Sequence[Any]) -> list[Any]:
        values: dict[Value, Any] = dict(zip(self._given, record, strict=True))
        for node in self._nodes:
            inputs = [_constant(value) if _is_constant(value) else values[value] for value in node.inputs]
            values.update(zip(node.outputs, nest.as_tuple(node.op.impl(*inputs, **node.attrs)), strict=True))
        return [values[value] for value in self._wanted]

    def __call__(self, inputs: Sequence[Any]) -> Sequence[Any]:
        """Computes many records, along the first axis; one thread compiles the program while others wait."""
        lock = self._lock
        if lock is None:
            return self._many(inputs)
        with lock:
            outputs = self._many(inputs)
            self._lock = None
        return outputs


_programs: dict[Any, _Program] = {}
_programs_lock = threading.Lock()
_PROGRAMS_KEPT = 64


def _program(nodes: Sequence[Node], inputs: Sequence[Value], wanted: Sequence[Value]) -> _Program:
    """Returns the program of nodes that compute the same, shared by all graphs."""
    names: dict[Value, Any] = {value: ("given", index) for index, value in enumerate(inputs)}

    def named(value: Value) -> Any:
        assert value in names or value.node is not None
        return names.get(value) or ("constant", value.type, value.node and value.node.attrs)

    rows: list[Any] = []
    for index, node in enumerate(nodes):
        rows.append((node.op.name, node.attrs, tuple(map(named, node.inputs))))
        names.update({value: (index, number) for number, value in enumerate(node.outputs)})
    types = tuple(value.type for value in inputs)
    key = (types, tuple(rows), tuple(map(named, wanted)), dtype_rules())
    with _programs_lock:
        program = _programs.get(key)
        if program is None:
            while len(_programs) >= _PROGRAMS_KEPT:
                del _programs[next(iter(_programs))]
            program = _programs[key] = _Program(nodes, inputs, wanted)
        return program


class _Repeated:
    """Does several runs of an operation at once, in one Session."""

    def __init__(self, session: Session, operation: Operation, form: _Form, most: int) -> None:
        self._session = session
        self._operation = operation
        self._form = form
        self._most = most
        self._read_attrs = {**form.read.attrs, "count": most}
        self._enqueue_attrs = dict(form.enqueue.attrs)
        graph = operation.graph
        self._record = [graph.tensor_of(value) for value in form.read.outputs]
        self._alone: Callable[..., Any] | None = None
        computed = {value for node in form.compute for value in node.outputs}
        used = [value for node in form.compute for value in node.inputs]
        self._given = list(dict.fromkeys(value for value in used if value not in computed and not _is_constant(value)))
        self._computed = [value for value in dict.fromkeys(form.enqueue.inputs) if value in computed]
        self._program = _program(form.compute, self._given, self._computed)

    @property
    def is_faithful(self) -> bool:
        return self._program.is_faithful

    def __call__(self) -> None:
        form = self._form
        with self._session.working():
            keys, records = self._impl(form.read, OPS["reader.read_up_to"], (), self._read_attrs)
            try:
                columns = self._columns(keys, records)
            except Exception:
                columns = None  # the runs one by one raise it
            if columns is not None:
                return self._impl(form.enqueue, OPS["queue.enqueue_many"], columns, self._enqueue_attrs)
        return self._one_by_one(keys, records)

    def _impl(self, node: Node, op: Any, arrays: Sequence[Any], attrs: Mapping[str, Any]) -> Any:
        try:
            return op.impl(*arrays, **attrs)
        except GraphcError as error:
            raise of_operation(error, self._operation.graph.operation_of(node)) from error.__cause__

    def _columns(self, keys: Any, records: Any) -> list[Any]:
        count, form = len(records), self._form
        values: dict[Value, Any] = dict(zip(form.read.outputs, (keys, records), strict=True))
        for node in form.decode:
            constants = [_constant(value) for value in node.inputs[1:]]
            values.update(
                zip(node.outputs, nest.as_tuple(node.op.impl(records, *constants, **node.attrs)), strict=True)
            )
        if self._given:
            inputs = [_filled(np.asarray(values[value]), self._most) for value in self._given]
            outputs = self._program(inputs)
            values.update(
                (value, np.asarray(array)[:count]) for value, array in zip(self._computed, outputs, strict=True)
            )
        return [self._column(value, values, count) for value in form.enqueue.inputs]

    def _column(self, value: Value, values: Mapping[Value, Any], count: int) -> Any:
        if value in values:
            return values[value]
        alone = value in self._computed  # of constants only
        alike = self._program.row([])[self._computed.index(value)] if alone else _constant(value)
        return np.broadcast_to(np.asarray(alike), (count, *np.shape(alike)))

    def _one_by_one(self, keys: Any, records: Any) -> None:
        """Runs the operation for each record: those before a failing one are enqueued."""
        if self._alone is None:
            self._alone = self._session.make_callable(self._operation, self._record)
        for key, record in zip(keys, records, strict=True):
            self._alone(key, record)


def _filled(array: np.ndarray[Any, Any], count: int) -> np.ndarray[Any, Any]:
    """Pads an array to ``count`` rows by repeating the last one, because a program is compiled for one size."""
    missing = count - len(array)
    return np.concatenate([array, np.repeat(array[-1:], missing, axis=0)]) if missing else array
