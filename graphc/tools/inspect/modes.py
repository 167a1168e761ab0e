"""The modes of a function that are compared: eager, compiled, and the user's baselines."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any, cast

import jax
import jax.numpy as jnp
import numpy as np

from graphc.compiler.base import nest
from graphc.compiler.base.errors import InvalidArgumentError, VariableCreationError
from graphc.compiler.core import Tensor, Variable, canonical_array, count_launches, type_of, wait_all
from graphc.compiler.function import Arguments, BoundFunction, Function, TracedFunction, function, functions_run_eagerly
from graphc.compiler.lowering import Executable
from graphc.compiler.runtime.costs import Memory, memory_of
from graphc.tools.inspect.explain import lower_and_compile
from graphc.tools.inspect.report import CompileCost
from graphc.tools.inspect.timing import wait_for


@dataclass(frozen=True)
class ComparedCall:
    """A function and the arguments to compare it with; arrays among them are tensors."""

    function: Function
    args: tuple[Any, ...]
    kwargs: dict[str, Any]

    @classmethod
    def of(cls, fn: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> ComparedCall:
        """Takes what a user gave: a compiled or plain function or method, arguments of any kind."""
        if isinstance(fn, BoundFunction):
            fn, args = fn.__func__, (fn.__self__, *args)
        if not callable(fn):
            raise InvalidArgumentError(
                f"gx.compare: expected a function, got {fn!r:.60}; its arguments come after it"
            ).here()
        compiled_function = fn.compared if isinstance(fn, Function) else function(fn)
        tensors = tuple(_convert(_tensor, value) for value in args)
        return cls(
            compiled_function.clone(), tensors, {name: _convert(_tensor, value) for name, value in kwargs.items()}
        )

    def tensors(self) -> list[tuple[str, Tensor]]:
        """Returns the tensors among the arguments, each with the expression that reaches it."""
        bound = inspect.signature(self.function.python_function).bind(*self.args, **self.kwargs).arguments
        leaves = [pair for name, value in bound.items() for pair in nest.flatten_with_paths(value, name)]
        return [(path, leaf) for path, leaf in leaves if isinstance(leaf, Tensor)]


def _tensor(leaf: Any) -> Any:
    """Returns an array as a tensor: in eager code, NumPy and JAX must not do what graphc is to do."""
    if isinstance(leaf, np.ndarray | np.generic):
        leaf = jnp.asarray(canonical_array(leaf))
    return Tensor(leaf) if isinstance(leaf, jax.Array) else leaf


def _own_array(leaf: Any) -> Any:
    """Returns a tensor as an array of its own, which may be donated."""
    return jnp.array(leaf.raw, copy=True) if isinstance(leaf, Tensor) else leaf


def _convert(leaf_function: Callable[[Any], Any], value: Any) -> Any:
    """An argument with its leaves converted; where nothing changes the very object, which the function may know."""
    leaves, structure = nest.flatten(value)
    converted = [leaf_function(leaf) for leaf in leaves]
    changed = any(new is not leaf for new, leaf in zip(converted, leaves, strict=True))
    return nest.unflatten(structure, converted) if changed else value


class State:
    """The values of variables and arguments at one time, so that every mode starts from the same."""

    def __init__(self, variables: Sequence[Variable], arguments: Sequence[tuple[str, Tensor]] = ()) -> None:
        self.variables = list({id(variable): variable for variable in variables}.values())
        self._values = [jnp.array(variable.raw, copy=True) for variable in self.variables]
        self._arguments = {f"the argument {path} after the call": (tensor, tensor.raw) for path, tensor in arguments}

    def restore(self) -> None:
        """Gives the variables their values back, in new buffers, which compiled programs may take over."""
        for variable, value in zip(self.variables, self._values, strict=True):
            variable.raw = jnp.array(value, copy=True)
        for tensor, array in self._arguments.values():
            tensor.raw = array

    def current(self) -> dict[str, np.ndarray[Any, Any]]:
        """Returns the values that the variables have now, and the arguments to whose items values were assigned."""
        values = {f"Variable {variable.name!r}": variable.numpy() for variable in self.variables}
        changed = {title: pair[0] for title, pair in self._arguments.items() if pair[0].raw is not pair[1]}
        return {**values, **{title: tensor.numpy() for title, tensor in changed.items()}}

    def before(self, title: str) -> np.ndarray[Any, Any]:
        """Returns the values that an argument had at first, by its title in :meth:`current`."""
        return np.asarray(self._arguments[title][1])


@dataclass(frozen=True)
class Outcome:
    """The outcome of a mode's first call."""

    result: Any
    state: dict[str, np.ndarray[Any, Any]]  # of the variables and the changed arguments, after the call
    seconds: float
    launches: int


@dataclass(frozen=True)
class RunMode:
    """One way to run the function."""

    name: str
    call: Callable[[], Any]
    state: State
    scope: Callable[[], AbstractContextManager[Any]] = nullcontext
    memory: Memory | None = None
    is_graphc: bool = True  # all its programs pass graphc's one door, so that they can be counted

    def first_call(self) -> Outcome:
        """Calls it once from the remembered state."""
        self.state.restore()
        with self.scope(), count_launches() as counter:
            start = time.perf_counter()
            result = self.call()
            wait_for(result, self.state.variables)
            seconds = time.perf_counter() - start
        return Outcome(result, self.state.current(), seconds, counter.count)

    def sample(self, calls: int) -> float:
        """Seconds of one call from the remembered state on, the mean of so many, each of them waited for."""
        call, variables = self.call, self.state.variables
        self.state.restore()
        # What others left behind must not run in this one's time.
        wait_all()
        with self.scope():
            start = time.perf_counter()
            for _ in range(calls):
                wait_for(call(), variables)
            return (time.perf_counter() - start) / calls


@dataclass(frozen=True)
class Compiled:
    """A call, traced, lowered and compiled."""

    traced: TracedFunction
    cost: CompileCost  # for a function of several programs only the trace
    memory: Memory | None
    multiplies: bool  # whether it holds matrix products or convolutions


def compile_call(call: ComparedCall) -> Compiled:
    """Traces, lowers and compiles a function for its arguments, each step timed by itself."""
    try:
        traced = call.function.trace(*call.args, **call.kwargs)
    except VariableCreationError:
        # It makes its Variables in its first call. That call is none of those compared, so it must change nothing else.
        call.function.make_variables(*call.args, **call.kwargs)
        traced = call.function.trace(*call.args, **call.kwargs)
    arguments = call.function.bind(*call.args, **call.kwargs)
    if traced.plan is not None:  # each of its programs is compiled when it runs for the first time
        return Compiled(traced, CompileCost(traced.seconds, 0.0, 0.0), None, _multiplies(_as_one(traced, arguments)))
    lowered, executable, cost = lower_and_compile(traced, arguments)
    return Compiled(traced, cost, memory_of(executable), _multiplies(lowered))


def _as_one(traced: TracedFunction, arguments: Arguments) -> Any:
    """Returns what a function of several programs would be as a single one, to look at."""
    arrays = [variable.raw for variable in traced.bound_variables(arguments)]
    types = [type_of(array) for array in [*arrays, *arguments.arrays, *traced.captures(arguments)]]
    shapes = [jax.ShapeDtypeStruct(type.shape, type.dtype, weak_type=type.weak) for type in types]
    return Executable(traced.graph).jitted.lower(*shapes)


def _multiplies(lowered: Any) -> bool:
    text = lowered.as_text()
    return "stablehlo.dot_general" in text or "stablehlo.convolution" in text


def eager_mode(call: ComparedCall, state: State) -> RunMode:
    """Returns the function as plain Python, line by line, and every compiled function that it calls likewise."""
    python_function = call.function.python_function

    @contextmanager
    def scope() -> Generator[None]:
        with functions_run_eagerly(), call.function.pinned():
            yield

    return RunMode("eager", lambda: python_function(*call.args, **call.kwargs), state, scope)


def compiled_mode(call: ComparedCall, compiled: Compiled, state: State) -> RunMode:
    """Returns the function as one compiled program."""
    return RunMode("compiled", lambda: call.function(*call.args, **call.kwargs), state, memory=compiled.memory)


def baseline_mode(name: str, fn: Callable[..., Any], call: ComparedCall, state: State) -> RunMode:
    """Returns a function of the user's that should do the same."""
    # A compiled function gets the tensors; any other gets each as a ``jax.Array`` of its own.
    if isinstance(fn, Function | BoundFunction):
        compiled = cast("Any", fn)
        return RunMode(name, lambda: compiled(*call.args, **call.kwargs), state)
    args = tuple(_convert(_own_array, value) for value in call.args)
    kwargs = {name: _convert(_own_array, value) for name, value in call.kwargs.items()}

    def run() -> Any:
        result = fn(*args, **kwargs)
        if any(isinstance(leaf, jax.Array) and leaf.is_deleted() for leaf in nest.flatten((args, kwargs))[0]):
            raise InvalidArgumentError(
                f"the baseline {name!r} donates its arguments, so that it cannot be called with them again; let it "
                "copy them first, or keep what it updates to itself"
            ).here()
        return result

    lower: Any = getattr(fn, "lower", None)
    memory = None if lower is None else memory_of(lower(*args, **kwargs).compile())
    return RunMode(name, run, state, memory=memory, is_graphc=False)


def baseline_variables(fn: Any, call: ComparedCall) -> list[Variable]:
    """Returns the variables that a baseline touches, where that can be known."""
    if not isinstance(fn, Function | BoundFunction):
        return []
    return list(fn.trace(*call.args, **call.kwargs).variables.values())
