"""One trace of a function: its graph, its program, and how results are put together."""

from __future__ import annotations

import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, cast

import jax

from graphc.autograph import NoSourceError, convert_call
from graphc.base import at, nest, user_location
from graphc.base.errors import UnimplementedError
from graphc.core import (
    NO_ATTRS,
    LoopReport,
    SymbolicTensor,
    Tensor,
    Trace,
    Variable,
    apply_all,
    canonical_device,
    context,
    device_scope,
    find_device,
    to_device,
    trace_scope,
    type_of,
    variable_lock,
)
from graphc.function.arguments import Arguments, Binder
from graphc.function.escapes import ArgumentWatch, check_stores
from graphc.function.keys import is_array
from graphc.ir import Attrs, Graph, TensorType
from graphc.ir.passes import DEFAULT, run_passes
from graphc.lowering import Executable
from graphc.ops import ASSIGN_VARIABLE, CALL, READ_VARIABLE

__all__ = ["TraceOptions", "TracedFunction", "converted", "trace_function"]


@dataclass(frozen=True)
class TraceOptions:
    """How a function is traced.

    Attributes:
      name: the name of the graph.
      autograph: whether Python control flow on tensors is converted.
      unroll: whether loops over a ``range`` are unrolled; None leaves it to each loop.
      device: the device that every op is pinned to; empty for none.
    """

    name: str
    autograph: bool = True
    unroll: bool | None = None
    device: str = ""


class TracedFunction:
    """A function, traced for arguments of certain types and values.

    Attributes:
      graph: the graph, after the passes.
      variables: the variables that it reads or writes, by name; those that came with the arguments of the traced call
        are not kept alive.
      loops: what became of each loop of the user's code.
      seconds: how long tracing took.
    """

    def __init__(
        self, graph: Graph, trace: Trace, structure: nest.Structure, leaves: Sequence[Any], binder: Binder,
        arguments: Arguments, seconds: float,
    ) -> None:  # fmt: skip
        self.graph = graph
        self.variables = weakref.WeakValueDictionary(trace.variables)
        self.loops: list[LoopReport] = trace.loops
        self.seconds = seconds
        self.executable = Executable(graph)
        self.captures = [outer.raw for outer, _ in trace.captures.values()]
        self._captured_tensors = [outer for outer, _ in trace.captures.values()]
        self._structure = structure
        self._reread = _read_after_assignment(graph)
        self.num_arguments = len(arguments.arrays)
        self.device = _single_device(graph)
        # What comes with the arguments is told by its place there, since the next call may come with another.
        places: dict[int, _Place] = {}
        for place, value in enumerate(arguments.passed):
            if not (isinstance(value, Variable) and binder.own(value)):
                places[id(value)] = _Place(place)
        used = [trace.variables[name] for name in self.executable.variables]
        self._sources = [places.get(id(variable), variable) for variable in used]
        binder.add_own([source for source in self._sources if isinstance(source, Variable)])
        self._leaves = [_OUTPUT if isinstance(leaf, SymbolicTensor) else places.get(id(leaf), leaf) for leaf in leaves]
        self._returns_passed = any(isinstance(leaf, _Place) for leaf in self._leaves)
        self._pack = _packer(structure, self._leaves)
        self.depends_on_arguments = self._returns_passed or any(isinstance(source, _Place) for source in self._sources)

    def __call__(self, arguments: Arguments) -> Any:
        """Runs the program on the tensors and variables of a call."""
        arrays = [*arguments.arrays, *self.captures]
        variables = self.bound_variables(arguments)
        if self.device:
            self._check_places(variables)
            device = find_device(self.device)
            arrays = [to_device(array, device) for array in arrays]
        return self.packer(arguments)(map(Tensor, self.executable(arrays, variables)))

    def packer(self, arguments: Arguments) -> Callable[[Iterator[Any]], Any]:
        """The function that makes the outputs of the program what the user's function returns."""
        if not self._returns_passed:
            return self._pack
        passed = arguments.passed
        return _packer(
            self._structure, [passed[leaf.index] if isinstance(leaf, _Place) else leaf for leaf in self._leaves]
        )

    def bound_variables(self, arguments: Arguments) -> list[Variable]:
        """The variables to work on: those of the call's arguments in place of those of the traced call's."""
        if not self.depends_on_arguments:
            return cast("list[Variable]", self._sources)
        passed = arguments.passed
        return [passed[source.index] if isinstance(source, _Place) else source for source in self._sources]

    def _check_places(self, variables: Sequence[Variable]) -> None:
        for variable in variables:
            if variable.device != self.device:
                error = UnimplementedError(
                    f"the function is pinned to {self.device}, but Variable {variable.name!r} is on {variable.device}; "
                    f"make the variable under `with gx.device({self.device!r}):`"
                )
                raise at(error, user_location())

    def call_recorded(self, arguments: Arguments) -> Any:
        """Runs the graph as one op, so that open tapes can differentiate it; variables are not donated."""
        variables = self.bound_variables(arguments)
        tensors = [Tensor(jax.numpy.asarray(array)) for array in arguments.arrays]
        tensors = _original_tensors(arguments, tensors)
        if self.device:
            self._check_places(variables)
        count = len(self.graph.outputs)
        with variable_lock, device_scope(self.device or context.device):
            values = [variable.value() for variable in variables]
            # As for loops: what is read of a variable after it was assigned is not the variable that a tape watches.
            assigned = tuple(
                variable.name
                for name, variable in zip(self.executable.variables, variables, strict=True)
                if name in self._reread
            )
            attrs = Attrs(assigned=assigned) if assigned else NO_ATTRS
            results = apply_all(CALL, (*values, *tensors, *self._captured_tensors), attrs, (self.graph,))
            for variable, value in zip(variables, results[count:], strict=False):
                variable.raw = value.raw
        return self.packer(arguments)(iter(results[:count]))

    def lower(self, arguments: Arguments) -> Any:
        """JAX's lowered program (``jax.stages.Lowered``)."""
        return self.executable.lower([*arguments.arrays, *self.captures], self.bound_variables(arguments))


_OUTPUT = object()


@dataclass(frozen=True, slots=True)
class _Place:
    """Stands for something that comes with the arguments of a call."""

    index: int


def _original_tensors(arguments: Arguments, tensors: Sequence[Tensor]) -> list[Tensor]:
    """The tensors of the call themselves, which tapes know, in place of equal ones."""
    leaves = [leaf for value in arguments.values.values() for leaf in nest.flatten(value)[0]]
    arrays = filter(is_array, leaves)
    return [leaf if isinstance(leaf, Tensor) else new for leaf, new in zip(arrays, tensors, strict=True)]


def _packer(structure: nest.Structure, leaves: Sequence[Any]) -> Callable[[Iterator[Any]], Any]:
    """The function that makes the tensors that a program returns what the user's function returns."""
    if structure == nest.LEAF and leaves[0] is _OUTPUT:
        return next
    if (
        structure.kind is tuple
        and all(leaf is _OUTPUT for leaf in leaves)
        and all(child == nest.LEAF for child in structure.children)
    ):
        return tuple

    def pack(supply: Iterator[Any]) -> Any:
        return nest.unflatten(structure, [next(supply) if leaf is _OUTPUT else leaf for leaf in leaves])

    return pack


def trace_function(
    function: Callable[..., Any], binder: Binder, arguments: Arguments, options: TraceOptions, *,
    may_create: bool, types: Sequence[TensorType] | None = None,
) -> TracedFunction:  # fmt: skip
    """Traces a function for the types of these arguments.

    Args:
      function: the user's function.
      binder: of that function.
      arguments: of the call.
      options: how to trace.
      may_create: whether making a Variable raises CreationInTrace, or is an error.
      types: the types of the tensors inside the function, where they differ from the arguments' (parts of a batch).

    Raises:
      CreationInTrace: it makes Variables, and ``may_create``.
      GraphcError: something cannot be compiled with Python's meaning.
    """
    start = time.perf_counter()
    trace = Trace(options.name, may_create=may_create, unroll=options.unroll)
    names = _argument_names(arguments)
    types = [type_of(array) for array in arguments.arrays] if types is None else types
    symbolic = [trace.argument(type, name) for type, name in zip(types, names, strict=True)]
    args, kwargs = binder.rebuild(arguments, symbolic)
    watch = ArgumentWatch(options.name, args, kwargs)
    with trace_scope(trace), device_scope(options.device or context.device):
        try:
            result = converted(function, options, trace)(*args, **kwargs)
        except RecursionError as error:
            raise at(_endless(options.name), user_location()) from error
        leaves, structure = nest.flatten(result)
        outputs = [_output(trace, leaf) for leaf in leaves]
        del result, leaves
    if trace.refusals:
        raise trace.refusals[0]
    check_stores(trace)
    watch.check()
    graph = trace.finish([output for output in outputs if isinstance(output, SymbolicTensor)])
    graph = run_passes(graph, DEFAULT)
    return TracedFunction(graph, trace, structure, outputs, binder, arguments, time.perf_counter() - start)


def _endless(name: str) -> UnimplementedError:
    return UnimplementedError(
        f"{name}: a function calls itself too deeply for Python while it is traced (a converted call takes several "
        "frames). A condition on tensors cannot end a recursion, since both branches are traced; write a loop"
    )


def converted(function: Callable[..., Any], options: TraceOptions, trace: Trace | None = None) -> Callable[..., Any]:
    """The function with its control flow converted, if the options ask for that and its source can be read."""
    if not options.autograph:
        return function
    try:
        return convert_call(function)
    except NoSourceError as error:
        if trace is not None:
            trace.unconverted = f"Python control flow is not converted here, because {error}"
        return function


def _argument_names(arguments: Arguments) -> list[str]:
    return [
        path
        for name, value in arguments.values.items()
        for path, leaf in nest.flatten_with_paths(value, name)
        if is_array(leaf)
    ]


def _output(trace: Trace, leaf: Any) -> Any:
    """A leaf of the result: tensors become outputs of the graph, Python values stay."""
    if isinstance(leaf, Tensor | jax.Array):
        return trace.lift(leaf)
    if hasattr(leaf, "__graphc_unbound__"):
        leaf.fail()
    return leaf


def _read_after_assignment(graph: Graph) -> frozenset[str]:
    """The variables that the graph reads after it assigned them, in loops and branches too."""
    assigned: set[str] = set()
    found: set[str] = set()
    for node in graph.walk():
        found.update(node.attrs.get("assigned", ()))
        if node.op is ASSIGN_VARIABLE:
            assigned.add(node.attrs["variable"])
        elif node.op is READ_VARIABLE and node.attrs["variable"] in assigned:
            found.add(node.attrs["variable"])
    return frozenset(found)


def _single_device(graph: Graph) -> str:
    """The device that the graph's nodes are pinned to; empty when none is.

    Raises:
      UnimplementedError: they are pinned to more than one.
    """
    pins: dict[str, Any] = {}
    for node in graph.walk():
        if node.device:
            pins.setdefault(node.device, node)
    if len(pins) > 1:
        places = "; ".join(f"{device}: {node.name} at {node.location}" for device, node in pins.items())
        raise UnimplementedError(
            f"the function pins ops to {len(pins)} devices, and one compiled function runs on one device: {places}\n"
            "split it into one function for each device"
        )
    return canonical_device(next(iter(pins))) if pins else ""
