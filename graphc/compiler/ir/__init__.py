"""The graph, without JAX: types, ops, nodes, text, checks, an interpreter and passes."""

from typing import TYPE_CHECKING

from graphc.compiler.base import imported_names, lazy_names
from graphc.compiler.ir import passes
from graphc.compiler.ir.device import DeviceSpec
from graphc.compiler.ir.graph import Graph, GraphBuilder, Node, Value
from graphc.compiler.ir.interpreter import Interpreter, Rewriter, map_regions
from graphc.compiler.ir.opdef import (
    CONSTANT,
    LATE,
    LATE_CONSTANT,
    LATE_MARK,
    OPS,
    WORLD,
    Effect,
    EffectKind,
    Infer,
    OpDef,
    applied_attrs,
    applied_name,
    conflicts,
    constant_attrs,
    define_op,
    gives,
    infer_types,
    is_world,
    late_attrs,
    late_inputs,
    late_op,
    part_of_world,
    pure,
    reads,
    static_ints,
    writes,
)
from graphc.compiler.ir.open_inference import (
    ProbeError,
    compatible,
    compatible_shapes,
    infer_open,
    ints_in,
    merge,
    probe,
    widen,
)
from graphc.compiler.ir.printer import Store, has_text, print_graph, print_node, print_value
from graphc.compiler.ir.shape_ops import RANK_OF, SHAPE_FACTS, SHAPE_OF, SIZE_OF, is_shape_value, known_ints, shape_fact
from graphc.compiler.ir.types import OPEN, Attrs, Literal, TensorType, dtype_from_short, short_dtype, typed_key
from graphc.compiler.ir.verifier import verify

if TYPE_CHECKING:
    from graphc.compiler.ir.comparing import aligned, difference
    from graphc.compiler.ir.parser import parse_graph

__all__ = [
    "CONSTANT", "LATE", "LATE_CONSTANT", "LATE_MARK", "OPEN", "OPS", "RANK_OF", "SHAPE_FACTS", "SHAPE_OF", "SIZE_OF",
    "WORLD", "Attrs", "DeviceSpec", "Effect", "EffectKind", "Graph", "GraphBuilder", "Infer", "Interpreter", "Literal",
    "Node", "OpDef", "ProbeError", "Rewriter", "Store", "TensorType", "Value", "aligned", "applied_attrs",
    "applied_name", "compatible", "compatible_shapes", "conflicts", "constant_attrs", "define_op", "difference",
    "dtype_from_short", "gives", "has_text", "infer_open", "infer_types", "ints_in", "is_shape_value", "is_world",
    "known_ints", "late_attrs", "late_inputs", "late_op", "map_regions", "merge", "parse_graph", "part_of_world",
    "passes", "print_graph", "print_node", "print_value", "probe", "pure", "reads", "shape_fact", "short_dtype",
    "static_ints", "typed_key", "verify", "widen", "writes",
]  # fmt: skip

# A program that only defines functions neither reads nor compares graphs.
lazy_names(
    globals(),
    imported_names({"graphc.compiler.ir.comparing": "aligned difference", "graphc.compiler.ir.parser": "parse_graph"}),
)
