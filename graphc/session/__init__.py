"""Layer 7: graphs that are built by hand, and the Sessions that run parts of them."""

from graphc.session import by_value, checkpoints, summaries
from graphc.session.control import (
    case,
    cond,
    constant,
    convert_to_tensor,
    group,
    no_op,
    tuple,
    while_loop,
    with_dependencies,
)
from graphc.session.event_files import FileWriter, graph_message
from graphc.session.event_protos import message
from graphc.session.fetching import Fetches
from graphc.session.gradients import gradients, hessians
from graphc.session.graph import Graph, default_graph, graph_of, reset_default_graph, stacks
from graphc.session.host_functions import Assert, Print, print_op, py_func
from graphc.session.keys import GraphKeys
from graphc.session.options import ConfigProto, GPUOptions, RunMetadata, RunOptions
from graphc.session.placeholders import graph_dtype, graph_type, placeholder, placeholder_with_default
from graphc.session.runners import QueueRunner, add_queue_runner, start_queue_runners
from graphc.session.saver import Saver
from graphc.session.session import InteractiveSession, Session
from graphc.session.shapes import sizes_of
from graphc.session.tensor import GraphTensor, Operation
from graphc.session.variables import GraphVariable

__all__ = [
    "Assert",
    "ConfigProto",
    "Fetches",
    "FileWriter",
    "GPUOptions",
    "Graph",
    "GraphKeys",
    "GraphTensor",
    "GraphVariable",
    "InteractiveSession",
    "Operation",
    "Print",
    "QueueRunner",
    "RunMetadata",
    "RunOptions",
    "Saver",
    "Session",
    "add_queue_runner",
    "by_value",
    "case",
    "checkpoints",
    "cond",
    "constant",
    "convert_to_tensor",
    "default_graph",
    "gradients",
    "graph_dtype",
    "graph_message",
    "graph_of",
    "graph_type",
    "group",
    "hessians",
    "message",
    "no_op",
    "placeholder",
    "placeholder_with_default",
    "print_op",
    "py_func",
    "reset_default_graph",
    "sizes_of",
    "stacks",
    "start_queue_runners",
    "summaries",
    "tuple",
    "while_loop",
    "with_dependencies",
]
