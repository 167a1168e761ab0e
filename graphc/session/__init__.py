"""Layer 7: graphs that are built by hand, and the Sessions that run parts of them."""

from graphc.session.fetching import Fetches
from graphc.session.graph import Graph, default_graph, graph_of, reset_default_graph, stacks
from graphc.session.keys import GraphKeys
from graphc.session.options import ConfigProto, GPUOptions, RunMetadata, RunOptions
from graphc.session.placeholders import graph_dtype, graph_type, placeholder, placeholder_with_default
from graphc.session.session import InteractiveSession, Session
from graphc.session.shapes import sizes_of
from graphc.session.tensor import GraphTensor, Operation
from graphc.session.variables import GraphVariable

__all__ = [
    "ConfigProto",
    "Fetches",
    "GPUOptions",
    "Graph",
    "GraphKeys",
    "GraphTensor",
    "GraphVariable",
    "InteractiveSession",
    "Operation",
    "RunMetadata",
    "RunOptions",
    "Session",
    "default_graph",
    "graph_dtype",
    "graph_of",
    "graph_type",
    "placeholder",
    "placeholder_with_default",
    "reset_default_graph",
    "sizes_of",
    "stacks",
]
