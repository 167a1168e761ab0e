"""Python in graphs: functions that a run calls, prints, and assertions, with TensorFlow 1's arguments."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from graphc.compiler.base import File, files, nest
from graphc.compiler.base.errors import InvalidArgumentError, InvalidTypeError
from graphc.compiler.core import STRING, apply, apply_all, bytes_array, is_text
from graphc.compiler.ir import OPEN, OPS, Attrs, Effect, Graph, OpDef, TensorType, define_op, part_of_world, writes
from graphc.compiler.ir import Graph as GraphIR
from graphc.compiler.ops import HostFunction, host_error, host_function
from graphc.graphs.refusals import user_error
from graphc.graphs.session.graphs.control_flow import convert_to_tensor, group
from graphc.graphs.session.graphs.graph import default_graph, graph_of
from graphc.graphs.session.graphs.placeholders import graph_dtype
from graphc.graphs.session.graphs.tensor import GraphTensor, Operation


def _result_types(types: Sequence[TensorType], attrs: Attrs, regions: Sequence[Graph]) -> tuple[TensorType, ...]:
    del types, regions
    return attrs["results"]


def _own(attrs: Mapping[str, Any]) -> tuple[Effect, ...]:
    return (writes(part_of_world(attrs["function"])),)


def _call(*arrays: Any, function: str, results: Sequence[TensorType]) -> tuple[Any, ...]:
    status, *outputs = host_function(function).run(*arrays)
    if status:
        raise host_error(int(status))[0]
    return tuple(outputs)


_PY_FUNC = define_op(
        "py_func", _call, _result_types, ("*values",), effects=_own, differentiable=False, host=True,
        doc="Calls a Python function.",
    )  # fmt: skip


def py_func(func: Callable[..., Any], inp: Any, Tout: Any, stateful: bool = True, name: str | None = None) -> Any:  # noqa: N803
    """Adds a call of a Python function, which gets NumPy arrays, and ``bytes`` for scalar strings.

    Args:
      func: a function of an array for each of ``inp``; returns an array for each of ``Tout``, or a list of them.
      inp: the input tensors.
      Tout: the dtype of the result, or a list of dtypes. The shapes are open; see :meth:`GraphTensor.set_shape`.
      stateful: ignored: the function runs once in each run that needs it.
      name: the name of the operation.

    Returns:
      A tensor, or a list of tensors if ``Tout`` is a list; an operation if that is empty.

    Raises:
      InvalidTypeError: ``func`` is not a function.

    Example:
      >>> import graphc as gx
      >>> with gx.Graph().as_default() as graph:
      ...     x = gx.placeholder("float32", shape=())
      ...     text = gx.py_func(lambda value: f"{value:.2f}", [x], gx.string)
      >>> with gx.Session(graph=graph) as session:
      ...     session.run(text, {x: 0.125})
      b'0.12'
    """
    del stateful
    if not callable(func):
        raise user_error(f"py_func: expected a function, got {func!r:.60}", InvalidTypeError)
    several = isinstance(Tout, list | tuple)
    dtypes = [graph_dtype(dtype) for dtype in (Tout if several else [Tout])]  # pyright: ignore
    types = tuple(TensorType((), dtype, ranked=False) for dtype in dtypes)
    graph = graph_of(inp)
    host = HostFunction(_checked(func, types), f"py_func.{getattr(func, '__name__', 'function')}", ())
    graph.functions.append(host)
    with graph.making(name):
        outputs = apply_all(_PY_FUNC, list(inp), Attrs(function=host.name, results=types))
        if not types:
            return graph.named(Operation(graph, graph.trace.builder.nodes[-1]), name)
        graph.named(outputs, name)
    return outputs if several else outputs[0]


def _checked(func: Callable[..., Any], types: Sequence[TensorType]) -> Callable[..., Sequence[Any]]:
    """Wraps a function so that its results have the declared dtypes."""

    def run(*arrays: Any) -> Sequence[Any]:
        result: Any = func(*[array[()] if array.dtype == STRING and not array.shape else array for array in arrays])
        values = nest.as_tuple(result) if types else ()
        if len(types) == 1 and len(values) != 1:  # a list is the values of the one array
            values = (result,)
        if len(values) != len(types):
            raise InvalidArgumentError(f"py_func: the function gave {len(values)} values, {len(types)} are declared")
        return [_of_dtype(value, type.dtype) for value, type in zip(values, types, strict=True)]

    return run


def _of_dtype(value: Any, dtype: np.dtype[Any]) -> Any:
    if dtype == STRING:
        if not is_text(value):
            raise InvalidTypeError(f"py_func: the function gave {value!r:.60}, strings are declared")
        return bytes_array(value)
    array = np.asarray(value)
    is_number = not hasattr(value, "dtype")
    if array.dtype != dtype and not (is_number and np.can_cast(array.dtype, dtype, "same_kind")):
        raise InvalidTypeError(
            f"py_func: the function gave {array.dtype.name}, {dtype.name} is declared; convert it there, or declare it"
        )
    return array.astype(dtype)


_seen: dict[str, int] = {}
_printing = threading.Lock()


def _print(value: Any, *data: Any, message: str, first_n: int, summarize: int, function: str) -> Any:
    with _printing:
        count = _seen[function] = _seen.get(function, 0) + 1
        if first_n < 0 or count <= first_n:
            print(message + "".join(_shown(item, summarize) for item in data), file=sys.stderr)
    return value


def _shown(array: Any, summarize: int) -> str:
    """Formats an array like TensorFlow: rows in brackets, the first values, and dots for the others."""
    values = np.asarray(array)
    limit = values.size if summarize < 0 else summarize
    if values.ndim < 2:
        text = " ".join([_value(item) for item in np.ravel(values)[:limit]])
    else:
        text = _rows(values, limit)[0]
    return f"[{text}{'...' if values.size > limit else ''}]"


def _rows(values: np.ndarray[Any, Any], limit: int) -> tuple[str, int]:
    """Formats rows in brackets with at most ``limit`` values; returns the text and the number of values left."""
    texts: list[str] = []
    for row in values:
        if limit <= 0:
            break
        if row.ndim == 1:
            cut = "..." if row.size > limit else ""
            texts.append(f"[{' '.join([_value(item) for item in row[:limit]])}{cut}]")
            limit -= min(row.size, limit)
        else:
            text, limit = _rows(row, limit)
            texts.append(f"[{text}]")
    return "".join(texts), limit


def _value(item: Any) -> str:
    """Formats a value with the digits that distinguish it from others."""
    if isinstance(item, bytes):
        return item.decode("utf-8", "replace")
    number: np.ndarray[Any, Any] = np.asarray(item)
    if number.dtype == np.bool_:
        return str(int(number))
    if number.dtype.kind not in "fV" and number.dtype.name != "bfloat16":
        return str(item)
    few, all_digits = (15, 17) if number.dtype == np.float64 else (6, 9)
    wide = float(item)
    text = f"{wide:.{few}g}"
    same = float(text) == wide if few == 15 else np.float32(text) == np.float32(wide)
    return text if same or wide != wide else f"{wide:.{all_digits}g}"


_PRINT = define_op(
        "print", _print, lambda types, attrs, regions: (types[0],), ("value", "*data"), effects=_own,
        differentiable=False, host=True, doc="Returns its first input, and prints the others to standard error.",
    )  # fmt: skip


def Print(  # noqa: N802
    input_: Any, data: Sequence[Any], message: str | None = None, first_n: int | None = None,
    summarize: int | None = None, name: str | None = None,
) -> Any:  # fmt: skip
    """Returns a tensor that prints others to standard error whenever a run computes it.

    Args:
      input_: the tensor that it equals.
      data: the tensors to print.
      message: printed first.
      first_n: the number of times to print; None for every time.
      summarize: the number of values to print of each tensor; 3 if None, all if negative.
      name: the name of the operation.
    """
    graph = graph_of([input_, *data])
    with graph.making(name):
        attrs = Attrs(
            message=message or "", first_n=-1 if first_n is None else first_n,
            summarize=3 if summarize is None else summarize, function=f"print/{id(graph)}/{graph.version}",
        )  # fmt: skip
        (tensor,) = apply_all(_PRINT, [convert_to_tensor(item) for item in (input_, *data)], attrs)
        return graph.named(tensor, name)


def print_op(*inputs: Any, name: str | None = None) -> Operation:
    """Adds an operation that prints values to standard error, like TensorFlow 2's ``print`` in a graph.

    Args:
      *inputs: tensors and strings.
      name: the name of the operation.
    """
    tensors = [convert_to_tensor(item) for item in inputs]
    return group(Print(tensors[0], tensors, summarize=-1), name=name)


def _assert(condition: Any, *data: Any, summarize: int) -> tuple[()]:
    if not np.all(condition):
        shown = " ".join([_shown(item, summarize) for item in data])
        raise InvalidArgumentError(f"assertion failed: {shown}")
    return ()


_ASSERT = define_op(
        "assert", _assert, lambda types, attrs, regions: (), ("condition", "*data"),
        effects=lambda attrs: (writes(part_of_world("assert")),), differentiable=False, host=True,
        doc="Fails the run if its condition is false.",
    )  # fmt: skip


def Assert(condition: Any, data: Sequence[Any], summarize: int | None = None, name: str | None = None) -> Operation:  # noqa: N802
    """Adds an operation that fails the run with an InvalidArgumentError if a condition is false.

    Args:
      condition: a boolean tensor, all of which must be true.
      data: the tensors that the error shows.
      summarize: the number of values to print of each; 3 if None.
      name: the name of the operation.
    """
    graph = graph_of([condition, *data])
    with graph.making(name):
        inputs = [convert_to_tensor(item) for item in (condition, *data)]
        apply_all(_ASSERT, inputs, Attrs(summarize=3 if summarize is None else summarize))
        return graph.named(Operation(graph, graph.trace.builder.nodes[-1]), name)


# Graph operations that read, write and find files.


def _op(name: str, impl: Callable[..., Any], types: tuple[TensorType, ...], params: tuple[str, ...], doc: str) -> OpDef:
    def infer(inputs: Sequence[TensorType], attrs: Attrs, regions: Sequence[GraphIR]) -> tuple[TensorType, ...]:
        del inputs, attrs, regions
        return types

    def effects(attrs: Any) -> tuple[Effect, ...]:
        del attrs
        return (writes(part_of_world("files")),)  # later operations read what is written

    op = OpDef(name, impl, infer, params, effects=effects, differentiable=False, takes_open=True, host=True, doc=doc)
    return OPS.add(name, op)


def _read(name: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return np.array(File(os.fsdecode(name.item()), "rb").read(), STRING)


def _write(name: np.ndarray[Any, Any], contents: np.ndarray[Any, Any]) -> tuple[()]:
    path = files.as_path(name.item())
    files.make_directories(str(path.parent))
    with File(str(path), "wb") as file:
        file.write(contents.item())
        file.flush()
    return ()


def _matching(pattern: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    paths = sorted(files.glob([one.decode() for one in np.ravel(pattern)]))
    return bytes_array(paths) if paths else np.empty(0, STRING)


_TEXT = TensorType((), STRING)
_READ = _op("read_file", _read, (_TEXT,), ("filename",), "The bytes of a file.")
_WRITE = _op("write_file", _write, (), ("filename", "contents"), "Writes a file.")
_MATCHING = _op("matching_files", _matching, (TensorType((OPEN,), STRING),), ("pattern",), "Names of files, sorted.")
_TIME = _op(
    "timestamp", lambda: np.float64(time.time()), (TensorType((), np.dtype(np.float64)),), (), "Seconds since 1970."
)


def read_file(filename: Any, name: str | None = None) -> GraphTensor:
    """Makes an operation that returns the bytes of a file, as a string."""
    return _made("ReadFile", name, _READ, filename)


def write_file(filename: Any, contents: Any, name: str | None = None) -> Operation:
    """Makes an operation that writes a string to a file, and creates its folders."""
    graph = default_graph()
    with graph.making(name or "WriteFile"):
        apply_all(_WRITE, (convert_to_tensor(filename), convert_to_tensor(contents)))
        return graph.named(Operation(graph, graph.trace.builder.nodes[-1]), name or "WriteFile")


def matching_files(pattern: Any, name: str | None = None) -> GraphTensor:
    """Makes an operation that returns the sorted names of the files that match one or more patterns."""
    return _made("MatchingFiles", name, _MATCHING, pattern)


def timestamp(name: str | None = None) -> GraphTensor:
    """Makes an operation that returns the seconds since 1970, as float64."""
    return _made("Timestamp", name, _TIME)


def _made(kind: str, name: str | None, op: OpDef, *inputs: Any) -> GraphTensor:
    graph = default_graph()
    with graph.making(name or kind):
        return graph.named(apply(op, [convert_to_tensor(item) for item in inputs]), name or kind)
