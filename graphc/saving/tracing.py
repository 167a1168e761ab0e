"""A function as a graph that can be saved: traced for its signature, with all that the graph works on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from graphc.compiler.base import Location, user_location
from graphc.compiler.base.errors import (
    ConcretizationError,
    GraphcError,
    InvalidArgumentError,
    InvalidTypeError,
    UnimplementedError,
    VariableCreationError,
)
from graphc.compiler.core import Tensor, Variable
from graphc.compiler.function import BoundFunction, Function, TracedFunction, definition
from graphc.compiler.ir import Graph, TensorType, Value
from graphc.compiler.ir.passes import DCE
from graphc.saving.opening import checked_case, opened, opened_tree
from graphc.saving.signature import (
    LOST,
    Signature,
    Sizes,
    Tree,
    encoded,
    equal_sizes,
    examples,
    is_same,
    raised,
    samples,
    sized,
    spec_leaf,
    symbols_of,
    with_symbols,
)

_TRIED = (12, 15, 16, 24, 35, 64, 100, 210, 1009, 4099)
"""Sizes for which a function is traced besides: a step that is taken for many rows, or for multiples, would show."""
_SMALL = range(10, -1, -1)
"""Those that a function may treat in a way of their own; what is below the first of them is refused after loading."""


@dataclass(frozen=True)
class Traced:
    """A function for one signature."""

    graph: Graph  # with its results, and the status of the call if it can raise
    rows: Mapping[Value, Sequence[TensorType]]  # for each of its values with open sizes, its types in the traces
    sizes: Sequence[Sizes]
    arguments: Mapping[str, Tree]
    least: Mapping[str, int]
    captured: Sequence[Tensor]  # what it works on besides its arguments
    variables: Mapping[str, Variable]
    result: Tree
    raises: Mapping[str, Tree]


def as_function(target: Any) -> tuple[Function, tuple[Any, ...]]:
    """Returns a compiled function of its own for what is to be saved, and the instance of a method."""
    function = target.__func__ if isinstance(target, BoundFunction) else target
    instance = (target.__self__,) if isinstance(target, BoundFunction) else ()
    if isinstance(function, Function):
        return function.clone(on_retrace="ignore"), instance
    return Function(function, on_retrace="ignore"), instance


def traced_for(name: str, function: Function, instance: tuple[Any, ...], signature: Signature) -> Traced:
    """Traces a function for a signature."""
    bound = function.bound_arguments((*instance, *signature.args), signature.kwargs)
    bound.apply_defaults()
    values = dict(list(bound.arguments.items())[len(instance) :])
    tracer = _Tracer(name, function, instance, bound)
    first: Exception | None = None
    for tied in ("none", "rows", "all"):
        boxed = with_symbols(values, tied)
        symbols = symbols_of(boxed)
        if not symbols:
            return tracer.closed(boxed)
        if first is not None and len(symbols) == len(symbols_of(with_symbols(values, "none"))):
            continue  # there is nothing to tie
        try:
            return tracer.open(boxed, symbols)
        except (InvalidArgumentError, ConcretizationError, TypeError, ValueError) as error:
            first = first or error
    assert first is not None
    text = str(first).partition("\n")[0]
    raise InvalidArgumentError(
        f"gx.save: {name} cannot be saved with open sizes ({signature!r}): {text}; give fixed sizes, in several "
        "signatures if need be, or compute with gx.shape(x) and tensors"
    ).at(getattr(first, "location", None) or tracer.location or user_location()) from first


@dataclass(frozen=True)
class _Case:
    """A function, traced for some sizes, or open for all; see :class:`Traced`."""

    sizes: Sizes
    graph: Graph
    captured: Sequence[Tensor]
    variables: Mapping[str, Variable]
    result: Tree
    raises: Mapping[str, Any]


class _Tracer:
    def __init__(self, name: str, function: Function, instance: tuple[Any, ...], bound: Any) -> None:
        self._name = name
        self._function = function
        self._instance = instance
        self._bound = bound
        self.location = definition(function.python_function)

    def closed(self, boxed: Mapping[str, Any]) -> Traced:
        """Returns the function for fixed sizes."""
        case = self._case(boxed, {})
        return self._described(boxed, case)

    def open(self, boxed: Mapping[str, Any], symbols: Sequence[str]) -> Traced:
        """Returns the function for any sizes."""
        first: InvalidArgumentError | None = None
        for sizes in samples(symbols):
            cases = [self._case(boxed, one) for one in sizes]
            try:
                graph, rows = opened([case.graph for case in cases], sizes)
                whole = replace(cases[0], graph=graph, result=opened_tree([case.result for case in cases], sizes))
                for case in cases:
                    _check_case(whole, case)
            except InvalidArgumentError as error:
                first = first or error
                continue
            cases += self._proofs(boxed, symbols, whole)
            few = list(self._few(boxed, symbols, whole))
            whole = replace(whole, raises=_open_raises([*cases, *few]))
            return self._described(boxed, whole, rows, sizes, dict.fromkeys(symbols, _SMALL.start + 1 - len(few)))
        assert first is not None
        raise first

    def _proofs(self, boxed: Mapping[str, Any], symbols: Sequence[str], whole: _Case) -> Iterator[_Case]:
        """Yields traces for further sizes, which the open function is the same as."""
        # The samples' sizes ascend: what compares two of them, as min and max do, shows where they descend.
        count = len(symbols)
        spread = [12 + 997 * index // max(1, count - 1) for index in range(count)]
        turns = [row[start:] + row[:start] for row in (spread[::-1], spread) for start in range(count) if count > 1]
        apart = [dict(zip(symbols, row, strict=True)) for row in turns]
        for sizes in [*apart, *(equal_sizes(symbols, size) for size in _TRIED)]:
            what = " and ".join(f"size {size}" for size in dict.fromkeys(sizes.values()))
            try:
                case = self._case(boxed, sizes)
            except UnimplementedError as error:
                raise InvalidArgumentError(f"for {what}: {error}") from error
            _check_case(whole, case, what)
            yield case

    def _few(self, boxed: Mapping[str, Any], symbols: Sequence[str], whole: _Case) -> Iterator[_Case]:
        """Yields traces for small sizes, as far down as the open function is the same."""
        for size in _SMALL:
            try:
                case = self._case(boxed, equal_sizes(symbols, size))
                _check_case(whole, case)
            except Exception:
                return
            yield case

    def _case(self, boxed: Mapping[str, Any], sizes: Sizes) -> _Case:
        """Traces the function for some sizes."""
        self._bound.arguments.update(examples(dict(boxed), sizes))
        args, kwargs = self._bound.args, self._bound.kwargs
        try:
            traced = self._function.trace(*args, **kwargs)
        except VariableCreationError:
            self._function.make_variables(*args, **kwargs)
            traced = self._function.trace(*args, **kwargs)
        arguments, variables = self._function.bind(*args, **kwargs), dict(traced.variables)
        raises: Tree = raised(cast("Any", traced.after_call[0][0]).exceptions) if traced.can_fail else {}
        return _Case(
            sizes, self._graph(traced), traced.captured(arguments), variables,
            self._result(traced, arguments, variables), raises,
        )  # fmt: skip

    def _graph(self, traced: TracedFunction) -> Graph:
        """Returns the graph of the results and the status, as the function was traced."""
        self._check(traced)
        graph = traced.notes.unoptimized
        outputs = graph.outputs[: traced.num_results + traced.can_fail]
        return DCE()(Graph(graph.inputs, graph.nodes, outputs, graph.name))

    def _check(self, traced: TracedFunction) -> None:
        if traced.host_calls:
            what, location = traced.host_calls[0]
            raise self._refusal(
                f"it calls Python when it runs ({what}), and a file holds no Python; do that around the call", location
            )
        if traced.ends_in_python:
            raise self._refusal("it always raises an exception for these arguments", None)
        if traced.grows:
            raise self._refusal(
                "it returns lists whose length, or texts whose letters, are known when it has run; return tensors", None
            )
        if traced.write_back is not None:
            raise self._refusal("it assigns items of its arguments; return them instead", None)
        for after, _ in traced.after_call[traced.can_fail :]:
            raise self._refusal(f"{after.what}; do that around the call", None)

    def _refusal(self, why: str, location: Location | None) -> GraphcError:
        return UnimplementedError(f"gx.save: {self._name} cannot be saved: {why}").at(
            location or self.location or user_location()
        )

    def _result(self, traced: TracedFunction, arguments: Any, variables: Mapping[str, Variable]) -> Tree:
        """Returns the structure of the result as JSON."""
        names = {id(variable): name for name, variable in variables.items()}
        markers = iter([_Marker(index) for index in range(traced.num_results)])

        def leaf(value: Any) -> Tree | None:
            if isinstance(value, _Marker):
                return {value.sort: value.place}
            if isinstance(value, Tensor):
                why = "it returns a list or dict from outside that holds tensors; return a copy (list(x), dict(x))"
                raise self._refusal(why, None)
            kind = cast("type[Any]", type(value))
            if issubclass(kind, dict) and kind is not dict:
                raise InvalidTypeError(f"{kind.__name__}, which would come back as a dict (write dict(x))")
            return {"variable": names[id(value)]} if id(value) in names and isinstance(value, Variable) else None

        try:
            return encoded(traced.packer(arguments)(markers), leaf)
        except InvalidTypeError as error:
            why = f"it returns {error.args[0]}; return tensors, numbers, texts, and structures of these"
            raise self._refusal(why, None) from None

    def _described(
        self, boxed: Mapping[str, Any], case: _Case, rows: Mapping[Value, Sequence[TensorType]] = {},
        sizes: Sequence[Sizes] = (), least: Mapping[str, int] = {},
    ) -> Traced:  # fmt: skip
        arguments = {name: _argument(value) for name, value in boxed.items()}
        return Traced(
            case.graph, rows, sizes, arguments, least, case.captured, case.variables, case.result, case.raises
        )


def _check_case(whole: _Case, case: _Case, what: str = "the sizes of a trace") -> None:
    """Raises an InvalidArgumentError if the open function is not that of a trace."""
    checked_case(whole.graph, case.graph, what)
    same = all(one.raw is other.raw for one, other in zip(whole.captured, case.captured, strict=True))
    if not same or any(case.variables.get(name) is not variable for name, variable in whole.variables.items()):
        raise InvalidArgumentError(f"it uses other tensors or Variables from outside for {what}")
    if not is_same(sized(whole.result, case.sizes), case.result):
        raise InvalidArgumentError(f"a Python value that it returns depends on the size: for {what} it is another")


def _open_raises(cases: Sequence[_Case]) -> Mapping[str, Tree]:
    """Returns the exceptions for all sizes; texts that depend on these in a way that is not understood are left out."""
    first = cases[0].raises
    exceptions: dict[str, Tree] = {}
    for status, one in first.items():
        rows = [case.raises.get(status, {}) for case in cases]
        if any(row.get("class") != one["class"] for row in rows):
            raise InvalidArgumentError("it raises other exceptions for other sizes")
        try:
            args = opened_tree([row["args"] for row in rows[:3]], [case.sizes for case in cases[:3]])
            fits = all(is_same(sized(args, case.sizes), row["args"]) for case, row in zip(cases, rows, strict=True))
        except InvalidArgumentError:
            fits, args = False, None
        exceptions[status] = {**one, "args": args if fits else {"tuple": [LOST.format("a size that is open")]}}
    return exceptions


class _Marker:
    """Stands for an output of the graph in a result."""

    def __init__(self, index: int, sort: str = "tensor") -> None:
        self.place = index
        self.sort = sort

    def item(self) -> _Marker:
        """As the number that it is."""
        return _Marker(self.place, "number")


def _argument(value: Any) -> Tree:
    """Returns an argument as JSON; what has none may only be left out after loading."""
    try:
        return encoded(value, spec_leaf)
    except InvalidTypeError as error:
        return {"object": str(error.args[0])}
