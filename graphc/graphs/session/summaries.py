"""Summaries: operations whose results a FileWriter writes for TensorBoard."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np

from graphc.compiler.base.errors import FailedPreconditionError, InvalidTypeError
from graphc.compiler.core import STRING, apply
from graphc.compiler.ir import OPS, Attrs, Node, OpDef, TensorType
from graphc.compiler.ir import Graph as GraphIR
from graphc.graphs.refusals import user_error
from graphc.graphs.session.graphs.control_flow import convert_to_tensor
from graphc.graphs.session.graphs.graph import Graph, default_graph
from graphc.graphs.session.graphs.naming import GraphKeys
from graphc.graphs.session.graphs.tensor import GraphTensor
from graphc.library.formats import histogram_message, merged, message, scalar_message, shape_message, tensorboard

__all__ = ["FileWriter", "graph_message", "histogram", "merge", "merge_all", "scalar"]


def _one_string(types: Sequence[TensorType], attrs: Attrs, regions: Sequence[GraphIR]) -> tuple[TensorType, ...]:
    del types, attrs, regions
    return (TensorType((), STRING),)


def _host_op(kind: str, function: Callable[..., bytes], params: tuple[str, ...], doc: str) -> OpDef:
    def implementation(*arrays: np.ndarray[Any, Any], **attrs: Any) -> np.ndarray[Any, Any]:
        return np.array(function(*arrays, **attrs), STRING)

    name = f"summary.{kind}"
    op = OpDef(name, implementation, _one_string, params, differentiable=False, takes_open=True, host=True, doc=doc)
    return OPS.add(name, op)


_SCALAR = _host_op("scalar", scalar_message, ("value",), "The summary of a number.")
_HISTOGRAM = _host_op("histogram", histogram_message, ("values",), "The summary of a distribution of values.")
_MERGE = _host_op("merge", merged, ("*summaries",), "One summary of several.")


def scalar(name: str, tensor: Any, collections: Sequence[str] | None = None, family: str | None = None) -> GraphTensor:
    """Makes an operation that returns the summary of a number.

    Args:
      name: the name of the operation; its full name is the tag in TensorBoard.
      tensor: the number.
      collections: the collections of the graph to add it to; ``GraphKeys.SUMMARIES`` if None.
      family: a prefix of the tag; TensorBoard groups the summaries of a family.

    Returns:
      A tensor of a string: the serialized message.

    Example:
      >>> from graphc.graphs.session import Graph, placeholder, summaries
      >>> with Graph().as_default():
      ...     loss = summaries.scalar("loss", placeholder("float32", (), name="x") * 2.0)
      >>> loss.name, loss.dtype
      ('loss:0', dtype('O'))
    """
    return _made(_SCALAR, name, tensor, collections, family)


def histogram(
    name: str, values: Any, collections: Sequence[str] | None = None, family: str | None = None
) -> GraphTensor:
    """Makes an operation that returns the summary of a distribution of values; see :func:`scalar`."""
    return _made(_HISTOGRAM, name, values, collections, family)


def _made(
    op: OpDef, name: str, tensor: Any, collections: Sequence[str] | None, family: str | None, **attrs: Any
) -> GraphTensor:
    graph = default_graph()
    with graph.making(f"{family}/{name}" if family else name):
        path = graph.trace.builder.scope.rstrip("/")
        tag = f"{family}/{path}" if family else path
        summary: Any = graph.named(apply(op, (convert_to_tensor(tensor),), Attrs(tag=tag, **attrs)), name)
    graph.add_to_collections([GraphKeys.SUMMARIES] if collections is None else collections, summary)
    return summary


def merge(inputs: Sequence[Any], collections: Sequence[str] | None = None, name: str | None = None) -> GraphTensor:
    """Makes an operation that merges several summaries into one.

    Args:
      inputs: the tensors of their messages.
      collections: the collections of the graph to add it to; none if None.
      name: the name of the operation.

    Raises:
      InvalidArgumentError: there are none.
    """
    if not inputs:
        raise user_error("summary.merge: there are no summaries to merge")
    graph = default_graph()
    with graph.making(name or "Merge/MergeSummary"):
        summary: Any = graph.named(apply(_MERGE, tuple(inputs)), name or "Merge/MergeSummary")
    graph.add_to_collections(collections or [], summary)
    return summary


def merge_all(
    key: str = GraphKeys.SUMMARIES, scope: str | None = None, name: str | None = None, graph: Graph | None = None
) -> GraphTensor | None:
    """Makes an operation that merges all summaries in a collection of the graph; returns None if it is empty.

    Args:
      key: the collection.
      scope: a regular expression that their names begin with.
      name: the name of the operation.
      graph: the default graph if None.
    """
    summaries = (graph or default_graph()).get_collection(key, scope)
    return merge(summaries, name=name) if summaries else None


# FileWriter: event files that TensorBoard reads, with summaries and the graph.


class FileWriter:
    """Writes event files into a folder, for ``tensorboard --logdir FOLDER``; a separate thread writes.

    Args:
      logdir: the folder; it is made.
      graph: the graph to show, or None.
      max_queue: the maximum number of events that wait to be written.
      flush_secs: seconds between flushes to the operating system.
      graph_def: ignored; pass the graph.
      filename_suffix: the end of the file's name.
      session: ignored: this process writes the file.

    Raises:
      NotFoundError: TensorBoard is not installed.

    Example:
      >>> import tempfile
      >>> from graphc.graphs.session import FileWriter
      >>> from graphc.library.formats import message
      >>> with FileWriter(tempfile.mkdtemp()) as writer:
      ...     summary = message("Summary")
      ...     writer.add_summary(summary(value=[summary.Value(tag="loss", simple_value=0.5)]), global_step=3)
    """

    def __init__(
        self, logdir: str, graph: Graph | None = None, max_queue: int = 10, flush_secs: int = 120,
        graph_def: Any = None, filename_suffix: str | None = None, session: Any = None,
    ) -> None:  # fmt: skip
        del graph_def, session
        self._logdir = str(logdir)
        self._settings = (max_queue, flush_secs, filename_suffix or "")
        self._writer: Any = None
        self.reopen()
        if graph is not None:
            self.add_graph(graph)

    def get_logdir(self) -> str:
        """Returns the folder."""
        return self._logdir

    def add_summary(self, summary: Any, global_step: Any = None) -> None:
        """Writes a summary.

        Args:
          summary: the result of a summary operation, or TensorBoard's message.
          global_step: the step that it is of.

        Raises:
          InvalidTypeError: it is not a summary.
        """
        kind = message("Summary")
        content: Any = summary.item() if hasattr(summary, "item") else summary
        if isinstance(content, bytes):
            content = kind.FromString(content)
        if not isinstance(content, kind):
            raise InvalidTypeError(
                f"add_summary: expected what session.run gives of a summary, got {content!r:.60}"
            ).here()
        self._add(global_step, summary=content)

    def add_graph(self, graph: Graph, global_step: Any = None, graph_def: Any = None) -> None:
        """Writes a graph.

        Args:
          graph: the graph.
          global_step: the step that it is of.
          graph_def: ignored.

        Raises:
          InvalidTypeError: it is not a graph.
        """
        del graph_def
        if not isinstance(graph, Graph):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise user_error(f"add_graph: expected a graph such as session.graph, got {graph!r:.60}", InvalidTypeError)
        self._add(global_step, graph_def=graph_message(graph).SerializeToString())

    def add_session_log(self, session_log: Any, global_step: Any = None) -> None:
        """Writes a message about the start or end of a program."""
        self._add(global_step, session_log=session_log)

    def add_event(self, event: Any) -> None:
        """Writes an event message of TensorBoard.

        Raises:
          FailedPreconditionError: the writer is closed.
        """
        if self._writer is None:
            raise user_error(
                f"the FileWriter of {self._logdir!r} is closed; call reopen() before it writes again",
                FailedPreconditionError,
            )
        self._writer.add_event(event)

    def _add(self, global_step: Any, **content: Any) -> None:
        event = message("Event")(wall_time=time.time(), **content)
        if global_step is not None:
            event.step = int(global_step)
        self.add_event(event)

    def flush(self) -> None:
        """Waits until all events are in the file."""
        if self._writer is not None:
            self._writer.flush()

    def close(self) -> None:
        """Writes pending events, and closes the file; a second call does nothing."""
        if self._writer is not None:
            self._writer.close()
            self._writer = None

    def reopen(self) -> None:
        """Opens a new file in the folder, if the writer is closed."""
        if self._writer is None:
            writers = tensorboard("summary.writer.event_file_writer")
            self._writer = writers.EventFileWriter(self._logdir, *self._settings)

    def __enter__(self) -> Self:
        self.reopen()
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def graph_message(graph: Graph) -> Any:
    """Converts a graph to TensorBoard's message: names, ops, inputs, devices, and known shapes."""
    nodes = [_node_message(graph, node) for node in graph.ir.nodes]
    return message("GraphDef")(node=nodes)


def _node_message(graph: Graph, node: Node) -> Any:
    inputs = [
        f"{value.node.name}:{value.index}" if value.index else value.node.name for value in node.inputs if value.node
    ]
    inputs += [f"^{other.name}" for other in node.control_inputs]
    definition = message("NodeDef")(name=node.name, op=graph.op_type(node), input=inputs, device=node.device or "")
    if node.outputs:
        definition.attr["_output_shapes"].list.shape.extend([shape_message(value.type) for value in node.outputs])
    return definition
