"""The ops of readers in eager code and graphs. Each finds the state of its reader by its attributes."""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from graphc.compiler.base.errors import InvalidArgumentError, NotFoundError
from graphc.compiler.core import STRING, as_dtype, current_resources
from graphc.compiler.ir import OPEN, OPS, Attrs, Effect, Graph, Infer, OpDef, TensorType, gives, part_of_world, writes
from graphc.graphs.queues import ops as queue_ops
from graphc.graphs.queues.reader_state import ReaderState, Take
from graphc.graphs.queues.rows import single

__all__ = [
    "COMPLETED",
    "PRODUCED",
    "READ",
    "READ_UP_TO",
    "RESET",
    "claim_reader",
    "reader_attrs",
]

PROCESS = "process"
"""The home of readers made in eager code: every run finds the same state there."""

_claimed: weakref.WeakValueDictionary[str, ReaderState] = weakref.WeakValueDictionary()
_numbers = itertools.count()


def claim_reader(label: str, spec: tuple[Any, ...]) -> tuple[ReaderState, Attrs]:
    """Makes the state of a reader in eager code, which lives as long as it is referenced.

    Returns:
      The state, and the attributes by which ops find it.
    """
    attrs = reader_attrs(label, spec, home=PROCESS, name=f"{label}_{next(_numbers)}")
    state = ReaderState(label, spec)
    _claimed[attrs["reader"]] = state
    return state, attrs


def reader_attrs(label: str, spec: tuple[Any, ...], *, home: str, name: str, container: str = "") -> Attrs:
    """Returns the attributes that identify a reader to ops.

    Args:
      label: its kind and name, for messages.
      spec: the format and its settings.
      home: ``process``, or ``session`` for a state in each Session.
      name: the name in its container.
      container: the container of the resources.
    """
    return Attrs(label=label, format=spec, home=home, reader=name, container=container)


def _state(attrs: Mapping[str, Any]) -> ReaderState:
    name, spec, label = attrs["reader"], attrs["format"], attrs["label"]
    if attrs["home"] == PROCESS:
        found = _claimed.get(name)
        if found is None:
            raise NotFoundError(f"{label} was made in eager code and no longer exists; keep a reference to the reader")
        return found
    found = current_resources().get_or_make(attrs["container"], name, lambda: ReaderState(label, spec), ReaderState)
    if found.spec != spec:
        problem = f"another reader with that shared name has {found.spec}, this one has {spec}; they must be equal"
        raise InvalidArgumentError(f"{label}: {problem}")
    return found


def _names(attrs: Mapping[str, Any]) -> Take:
    """Returns a function that takes a name from the queue of a reader."""
    queue = queue_ops.state_of(dict(attrs["queue"]))
    return lambda: np.asarray(single(queue.take_row())[0]).item()


def _read(**attrs: Any) -> tuple[Any, ...]:
    return tuple(map(_text, _state(attrs).read(_names(attrs))))


def _read_up_to(*n: Any, count: int | None, **attrs: Any) -> tuple[Any, ...]:
    wanted = int(n[0]) if count is None else count
    if wanted < 0:
        raise InvalidArgumentError(f"{attrs['label']}.read_up_to: num_records is negative: {wanted}")
    records = _state(attrs).read_up_to(_names(attrs), wanted)
    return _texts([key for key, _ in records]), _texts([record for _, record in records])


def _produced(**attrs: Any) -> Any:
    return np.asarray(_state(attrs).produced, as_dtype("int64"))


def _completed(**attrs: Any) -> Any:
    return np.asarray(_state(attrs).completed, as_dtype("int64"))


def _reset(**attrs: Any) -> tuple[()]:
    _state(attrs).reset()
    return ()


def _text(value: bytes) -> np.ndarray[Any, Any]:
    array = np.empty((), object)
    array[()] = value
    return array


def _texts(values: Sequence[bytes]) -> np.ndarray[Any, Any]:
    array = np.empty(len(values), object)
    array[:] = values
    return array


def _counts(types: Sequence[TensorType], attrs: Attrs, regions: Sequence[Graph]) -> tuple[TensorType, ...]:
    return (TensorType((), as_dtype("int64")),)


def _touches(attrs: Mapping[str, Any]) -> tuple[Effect, ...]:
    own = writes(part_of_world(f"reader/{attrs['home']}/{attrs['container']}/{attrs['reader']}"))
    queue = attrs.get("queue")
    if queue is None:
        return (own,)
    return (own, writes(part_of_world(f"queue/{queue_ops.handle_of(dict(queue))}")))


def _op(name: str, impl: Callable[..., Any], infer: Infer, doc: str, params: tuple[str, ...] = ()) -> OpDef:
    name = f"reader.{name}"
    row = OpDef(name, impl, infer, params, effects=_touches, differentiable=False, host=True, doc=doc)
    return OPS.add(name, row)


_ONE, _MANY = TensorType((), STRING), TensorType((OPEN,), STRING)
READ = _op("read", _read, gives(_ONE, _ONE), "The next key and record of a reader.")
READ_UP_TO = _op("read_up_to", _read_up_to, gives(_MANY, _MANY), "Up to n keys and records of a reader.", ("*n",))
PRODUCED = _op("num_records_produced", _produced, _counts, "The number of records that a reader has returned.")
COMPLETED = _op(
    "num_work_units_completed", _completed, _counts, "The number of files that a reader has read to the end."
)
RESET = _op("reset", _reset, gives(), "Resets a reader.")
