"""``to_jax``: a user's function as a pure JAX function."""

from __future__ import annotations

import functools
import inspect
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import jax as _jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jax.experimental import checkify

from graphc.compiler.base import collection_paused, nest
from graphc.compiler.base.errors import (
    InvalidArgumentError,
    InvalidTypeError,
    NotFoundError,
    UnimplementedError,
    VariableCreationError,
)
from graphc.compiler.core import SymbolicTensor, Tensor, Variable, trace_scope, type_of, unexamined
from graphc.compiler.function.arguments import Arguments
from graphc.compiler.function.concrete import BoundFunction
from graphc.compiler.function.function import Function
from graphc.compiler.function.results import WriteBack
from graphc.compiler.function.traced import TracedFunction
from graphc.compiler.lowering import lower

jax: Any = _jax  # its functions are only partly annotated

Arrays = dict[str, Any]


class PureFunction:
    """A pure function of JAX arrays, made by :func:`to_jax`."""

    __graphc_opaque__ = True  # compared by identity as an argument or attribute

    def __init__(self, fn: Callable[..., Any], errors: Literal["refuse", "checkify"]) -> None:
        bound = isinstance(fn, BoundFunction)
        function: Any = fn.__func__ if bound else fn
        self._function: Function = (
            function if isinstance(function, Function) else Function(function, on_retrace="ignore")
        )
        self._instance = (fn.__self__,) if bound else ()
        self._errors = errors
        self._programs: weakref.WeakKeyDictionary[TracedFunction, Callable[..., Any]] = weakref.WeakKeyDictionary()
        self._known: weakref.WeakValueDictionary[str, Variable] = weakref.WeakValueDictionary()
        self.__name__ = self.__qualname__ = self._function.name
        self.__doc__ = fn.__doc__
        with_variables = inspect.Parameter("variables", inspect.Parameter.POSITIONAL_ONLY)
        own = [*inspect.signature(self._function.python_function).parameters.values()][len(self._instance) :]
        if "variables" not in [parameter.name for parameter in own]:
            self.__signature__ = inspect.Signature([with_variables, *own])

    def __repr__(self) -> str:
        return f"<pure function {self.__name__}>"

    @property
    def variables(self) -> dict[str, Variable]:
        """The Variables that :meth:`init` and calls have found so far, by name."""
        return dict(self._known)

    def init(self, *args: Any, **kwargs: Any) -> Arrays:
        """Returns the Variables that the function reads or writes for these arguments.

        Variables that the function makes in its first call are created.

        Args:
          *args: example arguments; for tensors only the types matter.

        Returns:
          Copies of the Variables' current values, by name.
        """
        with trace_scope(None), unexamined():
            traced, arguments = self._traced(args, kwargs, creates=True)
        return {variable.name: jnp.array(variable.raw, copy=True) for variable in self._uses(traced, arguments)}

    def captured(self, *args: Any) -> tuple[TracedFunction, list[Any]]:
        """Returns the trace for these arguments, and the arrays that it reads other than these and Variables."""
        with trace_scope(None), unexamined():
            traced, arguments = self._traced(args, {})
            return traced, traced.captures(arguments)

    def still_captured(self, traced: TracedFunction, *args: Any) -> list[Any] | None:
        """Returns the current values of the captured arrays; None if such a call would be traced anew."""
        with trace_scope(None), unexamined():
            arguments = self._function.bind(*self._instance, *map(self._tensors, args))
            return traced.captures(arguments) if traced.fits(arguments) else None

    def compute(self, variables: Mapping[str, Any], captured: Sequence[Any], *args: Any) -> tuple[Any, Arrays]:
        """Computes a call's results with other arrays in place of those from :meth:`captured`."""
        return self._computed(variables, args, {}, captured)

    def __call__(self, variables: Mapping[str, Any], /, *args: Any, **kwargs: Any) -> tuple[Any, Arrays]:
        """Computes the result and the new values of the Variables; see :func:`to_jax`."""
        if not isinstance(variables, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidTypeError(
                f"{self.__name__}: the first argument must be the Variables, the dict returned by .init(*args), got "
                f"{variables!r:.60}"
            ).here()
        return self._computed(variables, args, kwargs)

    def _computed(
        self, variables: Mapping[str, Any], args: tuple[Any, ...], kwargs: dict[str, Any],
        captured: Sequence[Any] | None = None,
    ) -> tuple[Any, Arrays]:  # fmt: skip
        with trace_scope(None), unexamined(), collection_paused():
            traced, arguments = self._traced(args, kwargs)
            used = traced.bound_variables(arguments)
            values = [self._value(variables, variable) for variable in used]
            others = traced.captures(arguments) if captured is None else captured
            results = self._program(traced)(*values, *arguments.arrays, *others)
            written = results[len(traced.graph.outputs) :]
            new = {**variables, **{variable.name: array for variable, array in zip(used, written, strict=False)}}
            return self._packed(traced, arguments, results, new), new

    def assign(self, variables: Mapping[str, Any]) -> None:
        """Assigns these values to the Variables, for use after a loop in JAX.

        Raises:
          NotFoundError: the function has no Variable of that name.
          InvalidArgumentError, InvalidTypeError: a value does not fit its Variable.
        """
        for name, value in variables.items():
            variable = self._known.get(name)
            if variable is None:
                raise NotFoundError(
                    f"{self.__name__}: it has no Variable {name!r}; it has {sorted(self._known)}"
                ).here()
            variable.assign(jnp.array(value, copy=True))  # JAX's array may be donated to a program

    def partition(self, variables: Mapping[str, Any]) -> tuple[Arrays, Arrays]:
        """Splits the Variables into trainable ones, to differentiate, and others (counters, the random state).

        Example:
          >>> import jax
          >>> import graphc as gx
          >>> w, steps = gx.Variable(3.0, name="w"), gx.Variable(0, name="steps", trainable=False)
          >>> def loss(x):
          ...     steps.assign_add(1)
          ...     return (w * x) ** 2
          >>> pure = gx.to_jax(loss)
          >>> weights, others = pure.partition(pure.init(2.0))
          >>> gradients, variables = jax.grad(lambda weights: pure({**weights, **others}, 2.0), has_aux=True)(weights)
          >>> float(gradients[w.name]), int(variables[steps.name])
          (24.0, 1)
        """
        trains = {name for name, variable in self._known.items() if variable.trainable and variable.type.is_inexact}
        return (
            {name: value for name, value in variables.items() if name in trains},
            {name: value for name, value in variables.items() if name not in trains},
        )

    def stateless(self, *args: Any, **kwargs: Any) -> Any:
        """Returns the result of a function that has no Variables."""
        with trace_scope(None), unexamined(), collection_paused():
            traced, arguments = self._traced(args, kwargs)
            used = self._uses(traced, arguments)
            if used:
                raise InvalidArgumentError(
                    f"{self.__name__} uses the Variable {used[0].name!r}, but a JAX function of only its arguments "
                    "would not see it change; omit stateless=True and pass the Variables as the first argument"
                ).here()
            results = self._program(traced)(*arguments.arrays, *traced.captures(arguments))
            return self._packed(traced, arguments, results, {})

    def _traced(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], *, creates: bool = False
    ) -> tuple[TracedFunction, Arguments]:
        args, kwargs = tuple(map(self._tensors, args)), {name: self._tensors(value) for name, value in kwargs.items()}
        args = (*self._instance, *args)
        try:
            traced = self._function.trace(*args, **kwargs)
        except VariableCreationError as error:
            if not creates:
                raise VariableCreationError(
                    f"{self.__name__} makes Variables in its first call; call .init(...) of gx.to_jax({self.__name__}) "
                    "first, with concrete arguments"
                ).here() from error
            if any(
                isinstance(leaf.raw, Tracer) for leaf in nest.flatten((args, kwargs))[0] if isinstance(leaf, Tensor)
            ):
                raise
            self._function.make_variables(*args, **kwargs)
            traced = self._function.trace(*args, **kwargs)
        arguments = self._function.bind(*args, **kwargs)
        traced.check(arguments)
        self._check(traced)
        self._known.update({variable.name: variable for variable in self._uses(traced, arguments)})
        return traced, arguments

    def _tensors(self, value: Any) -> Any:
        """Returns an argument with assignable tensors in place of NumPy arrays; JAX arrays stay as they are."""
        leaves, structure = nest.flatten(value)
        if any(isinstance(leaf, SymbolicTensor) for leaf in leaves):
            raise InvalidArgumentError(
                f"{self.__name__}: a JAX function got a tensor of a compiled function, which has no array yet; "
                f"call the graphc function itself there, or gx.call_jax(pure, variables, ...)"
            ).here()
        if not any(isinstance(leaf, jax.Array | np.ndarray | np.generic) for leaf in leaves):
            return value
        return nest.unflatten(
            structure,
            [
                Tensor(jnp.asarray(leaf)) if isinstance(leaf, jax.Array | np.ndarray | np.generic) else leaf
                for leaf in leaves
            ],
        )

    def _check(self, traced: TracedFunction) -> None:
        """Raises if a trace does more than a pure function can do."""
        name = self.__name__
        if traced.host_calls:
            what, location = traced.host_calls[0]
            raise UnimplementedError(
                f"gx.to_jax: {name} runs Python code at each call ({what}), which a pure function cannot; remove it, "
                "or call jax.debug.print or jax.pure_callback with gx.call_jax"
            ).at(location)
        if self._errors == "refuse":
            for what, location in traced.raises.values():
                raise UnimplementedError(
                    f"gx.to_jax: {name} raises {what} depending on tensors, but a JAX function cannot raise; check "
                    "outside it, or pass errors='checkify' and call jax.experimental.checkify.checkify(pure)"
                ).at(location)
        others = [after.what for after, _ in traced.after_call[traced.can_fail :] if not isinstance(after, WriteBack)]
        if others or traced.grows:
            what = "; ".join(others) or "it returns a list whose length depends on the values of tensors"
            raise UnimplementedError(
                f"gx.to_jax: {name} does more than compute ({what}); return tensors instead"
            ).here()
        if traced.devices:
            raise UnimplementedError(
                f"gx.to_jax: {name} pins ops to {', '.join(traced.devices)}, but a JAX function runs where its "
                "caller decides; remove the pin"
            ).here()

    def _uses(self, traced: TracedFunction, arguments: Arguments) -> list[Variable]:
        returned = [leaf for leaf in traced.result_leaves(arguments) if isinstance(leaf, Variable)]
        return list({variable.name: variable for variable in (*traced.bound_variables(arguments), *returned)}.values())

    def _value(self, variables: Mapping[str, Any], variable: Variable) -> Any:
        name = variable.name
        if name not in variables:
            raise NotFoundError(
                f"{self.__name__} uses the Variable {name!r}, which is missing in {sorted(variables)}; get "
                "all of them from .init(*args)"
            ).here()
        array, wanted = variables[name], variable.type
        actual = type_of(jnp.asarray(array.raw if isinstance(array, Tensor) else array))
        if (actual.shape, actual.dtype) != (wanted.shape, wanted.dtype) and not (
            actual.weak and actual.shape == wanted.shape
        ):
            raise InvalidArgumentError(
                f"{self.__name__}: the Variable {name!r} is {wanted}, but got {actual}; under jax.vmap, "
                "in_axes must name the Variables with an extra axis"
            ).here()
        return jnp.asarray(array, wanted.dtype)

    def _program(self, traced: TracedFunction) -> Callable[..., Any]:
        program = self._programs.get(traced)
        if program is None:
            # Not the compiled program: JAX may differentiate it, which needs its branches.
            run = lower(traced.executable.graph).function
            # JAX accepts checks only where checkify sees them: not inside a program that is already compiled.
            program = self._checked(run, traced) if traced.raises else jax.jit(run)
            self._programs[traced] = program
        return program

    def _checked(self, run: Callable[..., Any], traced: TracedFunction) -> Callable[..., Any]:
        raises, index, name = traced.raises, traced.after_call[0][1].start, self.__name__

        def checked(*arrays: Any) -> Any:
            results = run(*arrays)
            for status, (what, location) in raises.items():
                text = f"{what} raised by {name}" + (f" at {location}" if location is not None else "")
                checkify.check(results[index] != status, text.replace("{", "{{").replace("}", "}}"))
            return results

        return checked

    def _packed(self, traced: TracedFunction, arguments: Arguments, results: Sequence[Any], new: Arrays) -> Any:
        def array(leaf: Any) -> Any:
            if isinstance(leaf, Variable):
                return self._value(new, leaf)
            return leaf.array if isinstance(leaf, _Output) else leaf.raw if isinstance(leaf, Tensor) else leaf

        packed = traced.packer(arguments)(map(_Output, results[: traced.num_results]))
        leaves, structure = nest.flatten(packed)
        changed = any(isinstance(leaf, _Output | Variable | Tensor) for leaf in leaves)
        return nest.unflatten(structure, map(array, leaves)) if changed else packed


class _Output:
    """An array of a result. It remains an array where the user's function returns a number."""

    __slots__ = ("array",)

    def __init__(self, array: Any) -> None:
        self.array = array

    def item(self) -> _Output:
        """Returns the array itself."""
        return self


def to_jax(fn: Callable[..., Any], *, stateless: bool = False, errors: Literal["refuse", "checkify"] = "refuse") -> Any:
    """Returns a graphc function as a pure JAX function, for ``jax.jit``, ``jax.vmap``, ``jax.grad`` and optax.

    The function is traced as by :func:`graphc.function`, once for each combination of its arguments' types, and JAX
    traces its graph. The Variables that it reads and writes, including the state of :mod:`graphc.random`, become an
    argument and a result: the Variables themselves do not change.

    Args:
      fn: a Python function, method or ``gx.function``. It may assign items of its arguments, which are copies. Tensors
        that it uses from outside are constants to JAX, like arrays that a JAX function closes over.
      stateless: whether the function has no Variables, so that the pure one takes its arguments and returns its result,
        and nothing else, as most JAX functions do.
      errors: the treatment of exceptions that depend on tensors: ``"refuse"`` refuses such a function; ``"checkify"``
        turns each into a ``jax.experimental.checkify.check``, which JAX in turn refuses unless the caller applies
        ``checkify.checkify``.

    Returns:
      ``pure(variables, *args, **kwargs)``, which always returns ``(result, variables)``, so that it can be scanned and
      composed whether or not there are Variables. ``variables`` is a dict of JAX arrays by the names of the Variables;
      other items pass through. ``result`` has JAX arrays for tensors. ``pure.init(*args)`` returns this dict with the
      current values, ``pure.partition(variables)`` splits it into the trainable Variables and the rest, and
      ``pure.assign(variables)`` assigns the values to the Variables. With ``stateless``: ``pure(*args, **kwargs)``,
      which returns ``result``.

      Derivatives are those of a tape: none flow through an assignment to a Variable, so that the new variables have
      zero derivatives; return what you want to differentiate.

    Raises:
      InvalidArgumentError: ``fn`` is not a function, or ``errors`` is invalid.
      NotFoundError: when called: a Variable is missing.
      UnimplementedError: when called: the function prints, raises (see ``errors``), or is pinned to a device.

    Example:
      >>> import jax, jax.numpy as jnp
      >>> import graphc as gx
      >>> count = gx.Variable(0, name="count")
      >>> def collatz(n):
      ...     count.assign_add(1)
      ...     steps = 0
      ...     while n != 1:
      ...         n = n // 2 if n % 2 == 0 else 3 * n + 1
      ...         steps += 1
      ...     return steps
      >>> pure = gx.to_jax(collatz)
      >>> variables = pure.init(jnp.int32(1))
      >>> steps, variables = jax.vmap(pure, in_axes=(None, 0), out_axes=(0, None))(variables, jnp.arange(1, 5))
      >>> steps.tolist(), int(variables[count.name])
      ([0, 1, 7, 2], 1)
    """
    if errors not in ("refuse", "checkify"):
        raise InvalidArgumentError(f"gx.to_jax: errors must be 'refuse' or 'checkify', got {errors!r}").here()
    if not callable(fn):
        raise InvalidArgumentError(f"gx.to_jax: expected a function, got {fn!r:.60}").here()
    pure = PureFunction(fn, errors)
    if not stateless:
        return pure
    return functools.wraps(fn)(lambda *args, **kwargs: pure.stateless(*args, **kwargs))
