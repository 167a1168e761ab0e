"""ConcreteFunction: a compiled function for arguments of fixed types (TensorFlow's ``get_concrete_function``)."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, cast

import numpy as np

from graphc.compiler.base import nest
from graphc.compiler.base.errors import InvalidArgumentError, InvalidTypeError
from graphc.compiler.core import StringTensor, Tensor, Variable, as_dtype, context, string
from graphc.compiler.function.arguments import TensorSpec, spec_leaves
from graphc.compiler.function.guards import MISS, Signals
from graphc.compiler.ir import Graph
from graphc.compiler.tracing import BoundMethod, is_array

if TYPE_CHECKING:
    from graphc.compiler.function.function import Function
    from graphc.compiler.function.trace_cache import TraceReport
    from graphc.compiler.function.traced import TracedFunction

ConcreteEntries: TypeAlias = dict[Signals, dict[Any, Callable[..., Any]]]
"""The entries of a concrete function by signals, and then by trace and kinds of arguments."""

_OPEN_SIZES = (2, 3)
"""Two sizes tried for each open size: the parts in which the two traces differ depend on it."""


class ConcreteFunction:
    """A compiled function for arguments of fixed types, with known result types; calls check the arguments.

    XLA compiles programs for fixed shapes. If a size is open (None), each size passed has its own program, and the
    described results are those that two such programs have in common.

    Args:
      args: the positional arguments, with a TensorSpec or an example for each tensor.
      instance: the instance of a method, in a tuple; empty for a function.

    Attributes:
      structured_input_signature: the positional and keyword arguments, with TensorSpecs for tensors.

    Raises:
      InvalidArgumentError: the arguments do not fit the function.

    Example:
      >>> import graphc as gx
      >>> @gx.function
      ... def f(x, scale=2):
      ...     return {"y": x * scale}
      >>> concrete = f.get_concrete_function(gx.TensorSpec((None, 3), "float32"))
      >>> concrete.structured_outputs
      {'y': TensorSpec(shape=(None, 3), dtype=dtype('float32'), name='')}
      >>> concrete(gx.ones((1, 3)))["y"].tolist()
      [[2.0, 2.0, 2.0]]
    """

    def __init__(
        self, function: Function, args: Sequence[Any], kwargs: Mapping[str, Any], instance: tuple[Any, ...] = ()
    ) -> None:
        if not args and not kwargs and (signature := function.input_signature) is not None:
            args = signature
        self._function = function
        self._instance = instance
        bound = function.bound_arguments((*instance, *args), kwargs)
        bound.apply_defaults()
        self._wanted = dict(list(bound.arguments.items())[len(instance) :])
        for name, value in self._wanted.items():
            self._wanted[name] = bound.arguments[name] = _as_specs(value, name)
        self.structured_input_signature = (bound.args[len(instance) :], bound.kwargs)
        kinds = {
            name: {type(leaf) is TensorSpec for leaf in spec_leaves(value)} for name, value in self._wanted.items()
        }
        self._fixed = {name: self._wanted[name] for name, flags in kinds.items() if True not in flags}
        self._may_be_short = all(len(flags) < 2 for flags in kinds.values())  # tensors are not mixed with other values
        self._entries: ConcreteEntries = {}
        self._traces = [self._trace(size) for size in (_OPEN_SIZES if self._is_open() else _OPEN_SIZES[:1])]

    @property
    def name(self) -> str:
        """The function's name."""
        return self._function.name

    @property
    def function(self) -> Function:
        """The compiled function that this one specializes."""
        return self._function

    @property
    def graph(self) -> Graph:
        """The graph; one of several if a size is open."""
        return self._traces[0].graph

    @property
    def inputs(self) -> list[TensorSpec]:
        """The tensors among the arguments, in order."""
        return [leaf for leaf in spec_leaves(self.structured_input_signature) if isinstance(leaf, TensorSpec)]

    @property
    def outputs(self) -> list[TensorSpec]:
        """The tensors among the results, in order."""
        return [leaf for leaf in spec_leaves(self.structured_outputs) if isinstance(leaf, TensorSpec)]

    @property
    def variables(self) -> list[Variable]:
        """The Variables that the function reads or writes."""
        return list(self._traces[0].variables.values())

    @property
    def trainable_variables(self) -> list[Variable]:
        """The trainable ones among these Variables."""
        return [variable for variable in self.variables if variable.trainable]

    @cached_property
    def structured_outputs(self) -> Any:
        """The function's result, with TensorSpecs for tensors."""
        traced = self._traces[0]
        types = zip(*(trace.graph.outputs[: traced.num_results] for trace in self._traces), strict=True)
        specs = [_common([value.type for value in row]) for row in types]
        return traced.pack(iter(cast("Iterator[Any]", specs)))

    def _is_open(self) -> bool:
        return any(spec.shape is None or None in spec.shape for spec in self.inputs)

    def _trace(self, size: int) -> TracedFunction:
        def example(value: Any) -> Any:
            if isinstance(value, TensorSpec):
                return _example(value, size)
            parts = nest.children(value)
            return value if parts is None else nest.rebuilt(value, [example(part) for part in parts[1]])

        args, kwargs = self.structured_input_signature
        return self._function.trace(
            *self._instance, *map(example, args), **{name: example(value) for name, value in kwargs.items()}
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the function.

        Args:
          *args: the arguments, as in :attr:`structured_input_signature`; those that are not tensors may be omitted.

        Raises:
          InvalidArgumentError: a tensor has another type, or an argument that is not a tensor another value.
        """
        signals = self._function.signals
        if (not signals.busy or context.eager) and not signals.slow_path_reasons:  # as Function
            for entry in [*self._entries.get(signals, {}).values()]:
                result = entry(None, *self._instance, *args, **kwargs)
                if result is not MISS:
                    return result
        bound = self._function.bound_arguments((*self._instance, *args), kwargs, partial=True)
        for name, wanted in self._wanted.items():
            if name in bound.arguments:
                bound.arguments[name] = self._checked(name, bound.arguments[name], wanted)
            elif any(isinstance(leaf, TensorSpec) for leaf in spec_leaves(wanted)):
                raise self._error(f"the argument {name!r} is missing; expected {wanted}")
            else:
                bound.arguments[name] = wanted
        result = self._function(*bound.args, **bound.kwargs)
        if self._may_be_short:
            self._function.add_concrete(self._entries, bound.args, bound.kwargs, self._fixed)
        return result

    def _checked(self, name: str, actual: Any, wanted: Any) -> Any:
        if isinstance(wanted, TensorSpec):
            value = (
                actual if is_array(actual) or isinstance(actual, StringTensor | Variable) else _tensor(actual, wanted)
            )
            shape, dtype = tuple(value.shape), value.dtype
            if not wanted.has_shape(shape) or dtype != (string if wanted.of_strings else as_dtype(wanted.dtype)):
                raise self._error(
                    f"the argument {name!r} is {getattr(dtype, 'name', dtype)}{[*shape]}, expected {wanted}"
                )
            return value
        parts, others = nest.children(actual), nest.children(wanted)
        if parts is None or others is None or parts[0] != others[0]:
            if parts is not None or others is not None or actual != wanted:
                raise self._error(
                    f"the argument {name!r} is {actual!r:.60}, but the function was specialized for {wanted!r:.60}"
                )
            return actual
        pairs = zip(parts[0], parts[1], others[1], strict=True)
        return nest.rebuilt(actual, [self._checked(f"{name}[{key!r}]", one, other) for key, one, other in pairs])

    def _error(self, message: str) -> InvalidArgumentError:
        return InvalidArgumentError(f"{self.name}: {message}").here()

    def __repr__(self) -> str:
        args, kwargs = self.structured_input_signature
        texts = [_text(value) for value in args] + [f"{name}={_text(value)}" for name, value in kwargs.items()]
        return f"<concrete function {self.name}({', '.join(texts)}) -> {_text(self.structured_outputs)}>"


def _text(value: Any) -> str:
    if isinstance(value, TensorSpec):
        return str(value)
    parts = nest.children(value)
    if parts is None or value is None:
        return repr(value)
    if isinstance(value, list | tuple | dict):
        return str(nest.rebuilt(value, [_Bare(_text(part)) for part in parts[1]]))
    fields = ", ".join(f"{name}={_text(part)}" for name, part in zip(*parts, strict=True))
    return f"{type(value).__name__}({fields})"


class _Bare(str):
    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def _as_specs(value: Any, name: str) -> Any:
    """Returns an argument with TensorSpecs for its tensors."""
    if isinstance(value, TensorSpec):
        return value if value.name else TensorSpec(value.shape, value.dtype, name)
    if isinstance(value, StringTensor):
        return TensorSpec(value.shape, string, name)
    if is_array(value) or isinstance(value, Tensor):
        return TensorSpec(tuple(value.shape), as_dtype(value.dtype), name)
    parts = nest.children(value)
    if parts is None:
        return value
    return nest.rebuilt(value, [_as_specs(part, name) for part in parts[1]])


def _example(spec: TensorSpec, size: int) -> Any:
    """Returns a tensor that fits a specification."""
    sizes = [None] * (size - 1) if spec.shape is None else spec.shape  # for any number of axes: one and two
    shape = tuple(size if one is None else one for one in sizes)
    if spec.of_strings:
        raise InvalidTypeError(
            f"get_concrete_function: strings ({spec}) are constants of a trace; pass the tensor of strings itself"
        ).here()
    return np.zeros(shape, as_dtype(spec.dtype))


def _tensor(value: Any, spec: TensorSpec) -> Any:
    return np.asarray(value, None if spec.of_strings else as_dtype(spec.dtype))


def _common(types: Sequence[Any]) -> TensorSpec:
    """Returns the most specific TensorSpec that all types fit."""
    first = types[0]
    if any(len(type.shape) != len(first.shape) for type in types):
        return TensorSpec(None, first.dtype)
    sizes = [size if all(type.shape[axis] == size for type in types) else None for axis, size in enumerate(first.shape)]
    return TensorSpec(tuple(sizes), first.dtype)


# A compiled method with its instance.

# The type parameters of compiled functions, which show type checkers and editors the Python function's signature.

if TYPE_CHECKING:
    from typing_extensions import ParamSpec, TypeVar

    P = ParamSpec("P", default=...)
    R = TypeVar("R", default=Any)
else:  # type parameters have defaults since Python 3.13
    from typing import ParamSpec, TypeVar

    P = ParamSpec("P")
    R = TypeVar("R")


_TAKE_ARGUMENTS = frozenset(("compare", "explain", "graph", "lower", "make_variables", "trace"))


class BoundFunction(BoundMethod, Generic[P, R]):
    """A compiled method with its instance, made anew at each access."""

    __slots__ = ("_function", "_instance")

    _function: Function
    _instance: Any

    @property
    def __func__(self) -> Function:
        """The compiled function, as for Python methods."""
        return self._function

    @property
    def __self__(self) -> Any:
        """The instance, as for Python methods."""
        return self._instance

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Calls the compiled method."""
        function = self._function
        signals = function.signals
        if (
            not signals.busy or context.eager
        ) and not signals.slow_path_reasons:  # as in Function; a shared method would cost a tenth of a call
            entry = function._entry  # pyright: ignore[reportPrivateUsage]
            result = entry(None, self._instance, *args, **kwargs) if kwargs else entry(None, self._instance, *args)
            if result is not MISS:
                return result
        return function(self._instance, *args, **kwargs)

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> ConcreteFunction:
        """Returns the method for arguments of given types; see :meth:`Function.get_concrete_function`."""
        return ConcreteFunction(self._function, args, kwargs, (self._instance,))

    if TYPE_CHECKING:  # found by __getattr__; listed for editors
        name: str
        num_traces: int

        def python_function(self, *args: P.args, **kwargs: P.kwargs) -> R:
            """Runs the method as Python, uncompiled."""
            ...

        def graph(self, *args: Any, **kwargs: Any) -> Graph:
            """Returns the graph that is traced for these arguments; see :meth:`Function.graph`."""
            ...

        def trace(self, *args: Any, **kwargs: Any) -> TracedFunction:
            """Traces the method for these arguments; see :meth:`Function.trace`."""
            ...

        def lower(self, *args: Any, **kwargs: Any) -> Any:
            """Returns the lowered program; see :meth:`Function.lower`."""
            ...

        def compare(self, *args: Any, **kwargs: Any) -> Any:
            """Compares eager and compiled results and times; see :func:`graphc.compare`."""
            ...

        def explain(self, *args: Any, **kwargs: Any) -> Any:
            """Explains the compiled program; see :func:`graphc.explain`."""
            ...

        def trace_report(self) -> list[TraceReport]:
            """Returns a report for each trace, with its reason."""
            ...

        def clear_cache(self) -> None:
            """Drops all traces."""
            ...

    def __reduce__(self) -> Any:
        return bound, (self._function, self._instance)

    def __deepcopy__(self, memo: dict[int, Any]) -> BoundFunction:
        return bound(self._function, copy.deepcopy(self._instance, memo))

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self._function, name)
        if name in _TAKE_ARGUMENTS:
            return functools.partial(attribute, self._instance)
        if name in ("python_function", "__wrapped__"):  # the latter is where inspect.signature looks
            return attribute.__get__(self._instance)
        return attribute


def bound(function: Function, instance: Any, new: Any = object.__new__) -> BoundFunction:
    """Returns a compiled method with its instance; called at each access, and so skips ``__init__``."""
    method = new(BoundFunction)
    method._function, method._instance = function, instance
    return method
