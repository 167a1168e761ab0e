"""The lowering: from a graph to a single function that JAX traces.

It is the graph's interpreter, run on JAX tracers, with five additions:

* variables: their values are inputs, and those of written variables are outputs too;
* gradients: an op and its vjps in one graph are evaluated together, so that the forward pass is computed once, and so
are gradients of gradients of loops (see ``second_order.py``);
* locations: each op is called from a frame that carries the user's file and line, which JAX puts into HLO metadata;
* names: the node's name becomes part of the HLO op name;
* control edges: an optimization barrier makes a node wait for the nodes that the user listed. Edges between nodes with
conflicting effects need none: those effects are data dependencies.
"""

from __future__ import annotations

import builtins
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache, partial
from types import CodeType, EllipsisType, FunctionType
from typing import Any, NoReturn, cast

import jax
import jax.numpy as jnp
import numpy as np

from graphc.compiler.base import Location, config, nest
from graphc.compiler.base.errors import GraphcError, InternalError
from graphc.compiler.core import translate_error, type_of
from graphc.compiler.ir import OPS, Attrs, EffectKind, Graph, Interpreter, Node, OpDef, Value, conflicts, is_world
from graphc.compiler.lowering.replicas import Split, gathering
from graphc.compiler.lowering.second_order import (
    Key,
    forward_key,
    key_of,
    num_primals,
    true_positions,
    twice_differentiated,
)
from graphc.compiler.ops import READ_VARIABLE, TOGETHER, linearize, linearize_op, primitive

# Stack frames at the user's lines, for readers of the stack: JAX's metadata and tracebacks.

_CALL = "return target(*args)"

# C code that imports a module, as NumPy does when it first needs one, looks for the importer in the calling frame.
_GLOBALS = {"__builtins__": builtins}


@lru_cache(maxsize=4096)
def _frame_at(location: Location) -> Callable[..., Any]:
    """Returns a function whose only frame is at the user's line, which JAX takes for the source of an op."""
    return FunctionType(_code_at(location, "target, *args", _CALL), dict(_GLOBALS))


@lru_cache(maxsize=4096)
def _code_at(location: Location, parameters: str, body: str) -> CodeType:
    code = compile(f"def f({parameters}): {body}", "<frame>", "exec", dont_inherit=True)
    inner = next(constant for constant in code.co_consts if hasattr(constant, "co_code"))
    file, name = _writable(location.file), _writable(location.function)
    return inner.replace(
        co_filename=file, co_firstlineno=location.line, co_name=name, co_qualname=name, co_linetable=_no_columns(inner)
    )


def _no_columns(code: CodeType) -> bytes:
    """Returns a table that maps all instructions to the first line, without columns: tracebacks show no carets."""
    # Each entry has kind 13, covers up to eight instructions, and advances by no line (CPython's ``locations.md``).
    units = len(code.co_code) // 2
    return b"".join(bytes((0x80 | 13 << 3 | min(8, units - start) - 1, 0)) for start in range(0, units, 8))


def _writable(text: str) -> str:
    """Returns a text that XLA accepts: Python's paths may contain bytes that are not UTF-8."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def call_at(location: Location | None, target: Callable[..., Any], *args: Any) -> Any:
    """Calls ``target(*args)`` from a frame at a line of the user's code."""
    if location is None:
        return target(*args)
    tracer = sys.gettrace()
    if tracer is None:
        return _frame_at(location)(target, *args)

    # A debugger would stop in this frame at a breakpoint that it already reached when the line itself ran.
    def seen(*args: Any) -> Any:
        sys.settrace(tracer)
        try:
            return target(*args)
        finally:
            sys.settrace(None)

    sys.settrace(None)
    try:
        return _frame_at(location)(seen, *args)
    finally:
        sys.settrace(tracer)


def raise_at(locations: Sequence[Location], error: BaseException) -> NoReturn:
    """Raises an exception whose traceback ends with lines of the user's code: calls, outermost first, and the raise."""
    if not locations:
        raise error
    *calls, last = locations
    # No parameters: pytest would show them as arguments of the user's function.
    frame = FunctionType(_code_at(last, "", "raise error"), {**_GLOBALS, "error": error})
    for location in reversed(calls):
        frame = FunctionType(_code_at(location, "", "return call()"), {**_GLOBALS, "call": frame})
    raise frame()


Plan = dict[Key, tuple[tuple[int, ...], tuple[bool, ...]]]


@dataclass(frozen=True)
class LoweredGraph:
    """A graph as a function from ``variables`` and inputs, flat, to outputs and the new values of ``written``."""

    function: Callable[..., tuple[Any, ...]]
    variables: tuple[str, ...]  # those read or written, in the order of the inputs: written ones first
    written: tuple[str, ...]


def lower(graph: Graph, splits: Mapping[str, Split] | None = None) -> LoweredGraph:
    """Turns a graph into a function that JAX can trace; it gathers the variables in ``splits`` where they are used."""
    effects = [effect for node in graph.nodes for effect in node.op.effects(node.attrs)]
    effects = [effect for effect in effects if not is_world(effect.resource)]
    written = tuple(dict.fromkeys(effect.resource for effect in effects if effect.kind is EffectKind.WRITE))
    touched = tuple(dict.fromkeys(effect.resource for effect in effects))
    variables = (*written, *(name for name in touched if name not in written))

    def function(*arrays: Any) -> tuple[Any, ...]:
        state = dict(zip(variables, arrays, strict=False))
        outputs = Lowering(graph, state, splits).run(*arrays[len(variables) :])
        return (*[jnp.asarray(output) for output in outputs], *(state[name] for name in written))

    function.__name__ = function.__qualname__ = graph.name
    return LoweredGraph(function, variables, written)


class Lowering(Interpreter):
    """Evaluates a graph on JAX values, including tracers; updates ``state``, the values of the variables by name."""

    def __init__(
        self, graph: Graph, state: dict[str, Any] | None = None, splits: Mapping[str, Split] | None = None
    ) -> None:
        super().__init__(graph)
        self._split = _split_values(graph, splits) if splits else {}
        self._state = {} if state is None else state
        self._plan = _pullback_plan(graph)
        self._twice, self._again = twice_differentiated(graph, self._plan) if self._plan else ({}, {})
        self._pullbacks: dict[Key, Callable[..., Any]] = {}
        self._waits = waits(graph)
        self._awaited: dict[Node, Sequence[Any] | None] = {
            control: None for controls in self._waits.values() for control in controls
        }

    def run_node(self, node: Node, inputs: list[Any]) -> Sequence[Any]:
        """Evaluates a node after the nodes that it waits for."""
        if not self._waits:
            return self._run(node, inputs)
        controls = self._waits.get(node, ())
        indices = [index for index, value in enumerate(inputs) if isinstance(value, jax.Array)] if controls else []
        if indices:
            inputs = self._after(inputs, indices, controls)
        results = self._run(node, inputs)
        if controls and not (indices and self._looks(node, inputs)):  # its result is known statically
            results = self._after(results, range(len(results)), controls)
        if node in self._awaited:
            # An assignment has no outputs: it is complete when the new value is computed.
            self._awaited[node] = [*results] or [*inputs]
        return results

    def _looks(self, node: Node, inputs: Sequence[Any]) -> bool:
        """Returns True if a node uses the values of its inputs, not only their shapes as ``ones_like`` does."""
        if node.regions or node.op.name in _SPECIAL:
            return True
        program: Any = jax.make_jaxpr(self._callable(node))(*inputs).jaxpr
        used = {id(read) for equation in program.eqns for read in equation.invars}
        return any(id(value) in used or any(value is out for out in program.outvars) for value in program.invars)

    def _after(self, values: Sequence[Any], indices: Sequence[int], controls: Sequence[Node]) -> list[Any]:
        """Returns the values, with those at some positions made to wait for other nodes' results."""
        result = [*values]
        before = {id(value): value for control in controls for value in self._awaited[control] or ()}
        waiting = jax.lax.optimization_barrier([[result[index] for index in indices], [*before.values()]])
        for index, value in zip(indices, waiting[0], strict=True):
            result[index] = value
        return result

    def _run(self, node: Node, inputs: list[Any]) -> Sequence[Any]:
        special = _SPECIAL.get(node.op.name)
        results = self._evaluate(node, inputs) if special is None else special(self, node, inputs)
        if config.verify:
            _check_types(node, results)
        return results

    def _evaluate(self, node: Node, inputs: list[Any]) -> Sequence[Any]:
        key = key_of(node) if self._plan else ()
        wanted = self._plan.get(key)
        try:
            with jax.named_scope(node.name):
                if wanted is None:
                    direct = None if node.attrs or self._split else primitive(node.op.name, inputs)
                    result = call_at(node.location, direct or self._callable(node), *inputs)
                elif key in self._twice:
                    result = call_at(node.location, self._twice[key].forward, self._callable(node), inputs)
                elif _is_known(node) and not self._gathered(node):
                    linearized = call_at(node.location, linearize_op, node.op, node.attrs, inputs, *wanted)
                    result, self._pullbacks[key] = linearized
                else:
                    linearized = call_at(node.location, linearize, self._callable(node), inputs, *wanted)
                    result, self._pullbacks[key] = linearized
        except (TypeError, ValueError, NotImplementedError) as error:
            if isinstance(error, GraphcError):
                raise
            # The types were checked when the node was made: errors of JAX now depend on constants.
            types = [value.type for value in node.inputs]
            raise translate_error(error, node.op, types, node.attrs, node.location) from error
        return nest.as_tuple(result)

    def _callable(self, node: Node) -> Callable[..., Any]:
        bodies: Mapping[str, Any] = {}
        if node.regions:
            bodies = node.op.region_keywords([self.region(graph) for graph in node.regions])
        function = partial(node.op.impl, **node.attrs, **bodies) if node.attrs or bodies else node.op.impl
        gathered = self._gathered(node)
        return gathering(function, gathered) if gathered else function

    def _gathered(self, node: Node) -> dict[int, Split]:
        """Returns the inputs that the node gathers, by position."""
        # An update of parameters has no gradient and works on its part; in loops and branches XLA decides.
        if not self._split or node.regions or not node.op.differentiable or node.op.name in _ELEMENTWISE:
            return {}
        return {index: self._split[value] for index, value in enumerate(node.inputs) if value in self._split}

    def _constant(self, node: Node, inputs: list[Any]) -> Sequence[Any]:
        del inputs
        array = node.attrs["value"].array
        return (array.item() if node.attrs.get("weak") else array,)

    def _read(self, node: Node, inputs: list[Any]) -> Sequence[Any]:
        del inputs
        return (self._state[node.attrs["variable"]],)

    def _assign(self, node: Node, inputs: list[Any]) -> Sequence[Any]:
        # As in eager code, no gradient flows from later reads to the assigned value.
        self._state[node.attrs["variable"]] = jax.lax.stop_gradient(inputs[0])
        return ()

    def _vjp(self, node: Node, inputs: list[Any]) -> Sequence[Any]:
        key = forward_key(node)
        upstream = inputs[num_primals(node) :]
        if (again := self._again.get(node)) is not None:
            with jax.named_scope(node.name):
                return call_at(node.location, again.pull_again, node, upstream)
        twice = self._twice.get(key)
        pullback = self._pullbacks.get(key) if twice is None else partial(twice.pull, node)
        if pullback is None:
            return self._evaluate(node, inputs)
        planned_wrt, planned = self._plan[key]
        cotangents = self._cotangents(node, upstream, planned)
        with jax.named_scope(node.name):
            gradients = call_at(node.location, pullback, cotangents)
        return [gradients[planned_wrt.index(position)] for position in node.attrs["wrt"]]

    def _cotangents(self, node: Node, inputs: Sequence[Any], planned: Sequence[bool]) -> list[Any]:
        """Returns the cotangents of all planned outputs: those that a vjp is given, and zeros."""
        by_position = dict(zip(true_positions(node.attrs["cotangents"]), inputs, strict=True))
        outputs = self._forward_types(node)
        return [
            jnp.asarray(by_position[position], outputs[position].dtype)
            if position in by_position
            else jnp.zeros(outputs[position].shape, outputs[position].dtype)
            for position in true_positions(planned)
        ]

    def _forward_types(self, node: Node) -> Sequence[Any]:
        primals = [value.type for value in node.inputs[: num_primals(node)]]
        attrs = type(node.attrs)(dict(node.attrs["attrs"]))
        return OPS[node.attrs["op"]].infer(primals, attrs, node.regions)


_SPECIAL: Mapping[str, Callable[[Lowering, Node, list[Any]], Sequence[Any]]] = {
    "constant": Lowering._constant,  # pyright: ignore[reportPrivateUsage]
    "read_variable": Lowering._read,  # pyright: ignore[reportPrivateUsage]
    "assign_variable": Lowering._assign,  # pyright: ignore[reportPrivateUsage]
    "vjp": Lowering._vjp,  # pyright: ignore[reportPrivateUsage]
}


def _split_values(graph: Graph, splits: Mapping[str, Split]) -> dict[Value, Split]:
    """Returns the values of a graph that are laid out like a split variable: reads of it, in any precision."""
    layouts: dict[Value, Split] = {}
    for node in graph.nodes:
        if node.op is READ_VARIABLE and node.attrs["variable"] in splits:
            layouts[node.outputs[0]] = splits[node.attrs["variable"]]
        elif node.op.name in _ELEMENTWISE and node.inputs[0] in layouts:
            layouts[node.outputs[0]] = layouts[node.inputs[0]]
    return layouts


_ELEMENTWISE = frozenset({"astype", "identity"})


def _is_known(node: Node) -> bool:
    """Returns True if a node depends only on its inputs and plain attributes: no bodies, effects or user code."""
    return not node.regions and not node.effects and all(map(_is_data, node.attrs.values()))


def _is_data(value: Any) -> bool:
    if isinstance(value, tuple):
        return all(map(_is_data, cast("tuple[Any, ...]", value)))
    return value is None or isinstance(value, _DATA)


_DATA = (bool, int, float, complex, str, slice, Enum, EllipsisType, np.dtype)


def _check_types(node: Node, results: Sequence[Any]) -> None:
    """Checks the types of JAX's results against the graph, which later nodes rely on."""
    for output, result in zip(node.outputs, results, strict=True):
        actual = type_of(jnp.asarray(result))
        if (actual.shape, actual.dtype) != (output.type.shape, output.type.dtype):
            raise InternalError(f"{node!r} computes {actual}, its type is {output.type}")


def waits(graph: Graph) -> dict[Node, tuple[Node, ...]]:
    """Returns the graph's nodes, without those of regions, that wait for others only through control edges."""
    waiting: dict[Node, tuple[Node, ...]] = {}
    for node in graph.nodes:
        if node.control_inputs:
            effects = node.effects
            controls = [control for control in node.control_inputs if not conflicts(control.effects, effects)]
            if controls:
                waiting[node] = tuple(controls)
    return waiting


def compiler_options(graph: Graph, *, gathers: bool = False) -> dict[str, Any]:
    """Returns the XLA options that a graph requires; with ``gathers``, it gathers parameters where they are used."""
    # On the CPU, XLA removes optimization barriers before it merges equal values and schedules ops, although it can
    # compile them: for a graph with barriers, this option keeps them. Only XLA's compiler for small loops cannot handle
    # them (JAX 0.10 and 0.11: it aborts), so that such a graph's loops are compiled as large ones are.
    if jax.default_backend() != "cpu" or not (gathers or _has_barriers(graph)):
        return {}
    disabled = "cse_barrier_expander,small-while-loop-hoisting"
    if not gathers:
        return {"xla_disable_hlo_passes": disabled}
    # Combined, the gradients of all parameters would exist at once, whole; and so would all parameters if the program
    # gathered them as early as it can.
    return {
        "xla_disable_hlo_passes": f"{disabled},all-reduce-combiner,cpu-all-reduce-combiner",
        "xla_cpu_scheduler_type": "CPU_SCHEDULER_TYPE_MEMORY_OPTIMIZED",
    }


def _has_barriers(graph: Graph) -> bool:
    inside = (region for node in graph.nodes for region in node.regions)
    return any(node.op is TOGETHER for node in graph.nodes) or bool(waits(graph)) or any(map(_has_barriers, inside))


def evaluate(op: OpDef, arrays: Sequence[Any], attrs: Attrs) -> Sequence[Any]:
    """Computes an op on known values at once, for the shapes that depend on them."""
    with jax.ensure_compile_time_eval():
        return [np.asarray(value) for value in nest.as_tuple(op.impl(*arrays, **attrs))]


def _pullback_plan(graph: Graph) -> Plan:
    """Returns, for each op with vjps in the graph, the union of their inputs and outputs."""
    wanted: Plan = {}
    for node in graph.nodes:
        if node.op.name != "vjp":
            continue
        key = forward_key(node)
        wrt, cotangents = node.attrs["wrt"], node.attrs["cotangents"]
        if key in wanted:
            wrt = tuple(sorted({*wanted[key][0], *wrt}))
            cotangents = tuple(a or b for a, b in zip(wanted[key][1], cotangents, strict=True))
        wanted[key] = (wrt, cotangents)
    return wanted


def region_function(region: Graph) -> Callable[..., Any]:
    """Returns a region as a single-device function that JAX can trace."""
    return lower(region).function


# Dependencies of a jaxpr's results.

_CALLS = ("jit", "pjit")


def needed_inputs(jaxpr: Any, wanted: Sequence[int], *, differentiably: bool = False) -> set[int]:
    """Returns the ids of the jaxpr's variables and literals that some of its results depend on."""
    # With ``differentiably``, dependencies through integers and booleans, such as a comparison, do not count.
    needed = {id(jaxpr.outvars[position]) for position in wanted}
    for equation in reversed(jaxpr.eqns):
        results = [
            position
            for position, variable in enumerate(equation.outvars)
            if id(variable) in needed and not (differentiably and not _is_inexact(variable))
        ]
        if not results:
            continue
        read = equation.invars
        if equation.primitive.name in _CALLS:  # a part of a rule that is compiled separately
            inner = equation.params["jaxpr"].jaxpr
            inside = needed_inputs(inner, results, differentiably=differentiably)
            read = [outer for outer, variable in zip(read, inner.invars, strict=True) if id(variable) in inside]
        needed.update(map(id, read))
    return needed


def _is_inexact(variable: Any) -> bool:
    return jnp.issubdtype(variable.aval.dtype, jnp.inexact)
