"""The arguments of a call: tensors apart, and a key for all the rest."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import jax
import numpy as np

from graphc.base import at, nest, user_location
from graphc.base.errors import InvalidArgumentError, InvalidTypeError
from graphc.core import Tensor, Variable, as_dtype, type_of
from graphc.function.keys import Encoder, closure_variables, describe, is_array
from graphc.ir import TensorType

__all__ = ["Arguments", "Binder", "TensorSpec"]


@dataclass(frozen=True)
class TensorSpec:
    """What an argument must be (TensorFlow's TensorSpec).

    Args:
      shape: the size of each axis; None for any.
      dtype: the dtype.
      name: for people.

    Example:
      >>> TensorSpec((None, 3), "float32").accepts(TensorType((2, 3), np.dtype("float32")))
      True
    """

    shape: tuple[int | None, ...]
    dtype: Any = np.float32
    name: str = ""

    def accepts(self, type: TensorType) -> bool:
        """Whether a tensor of this type will do."""
        return (
            len(self.shape) == len(type.shape)
            and all(wanted in (None, given) for wanted, given in zip(self.shape, type.shape, strict=True))
            and as_dtype(self.dtype) == type.dtype
        )

    def __str__(self) -> str:
        return f"{as_dtype(self.dtype).name}[{','.join('?' if n is None else str(n) for n in self.shape)}]"


@dataclass
class Arguments:
    """What a call was given.

    Attributes:
      values: the bound arguments by name.
      key: what a trace is cached by.
      arrays: the arrays of the tensors, in the order of :func:`graphc.base.nest.flatten`.
      variables: the variables among the arguments and their attributes.
      objects: the other objects among them that have attributes or contents.
    """

    values: dict[str, Any]
    key: tuple[Any, ...] = ()
    arrays: list[Any] = field(default_factory=list[Any])
    variables: list[Variable] = field(default_factory=list[Variable])
    objects: list[Any] = field(default_factory=list[Any])

    @property
    def passed(self) -> list[Any]:
        """The variables and objects together; calls of one key agree in what stands at which place."""
        return [*self.variables, *self.objects]

    def described(self) -> list[tuple[str, str]]:
        """Each leaf of the arguments and their attributes, by its path, and what it is, for the reasons of retraces."""
        return describe(self.values)


class Binder:
    """Binds and encodes the arguments of one function.

    Args:
      function: the user's function.
      input_signature: what each argument must be, in order: nested structures of TensorSpec; Python values may follow.
        None for no check.
    """

    def __init__(self, function: Callable[..., Any], input_signature: Sequence[Any] | None) -> None:
        self.signature = inspect.signature(function)
        parameters = list(self.signature.parameters.values())
        self._simple = (
            tuple(parameter.name for parameter in parameters)
            if all(parameter.kind is parameter.POSITIONAL_OR_KEYWORD for parameter in parameters)
            else None
        )
        self.input_signature = None if input_signature is None else tuple(input_signature)
        # A bound method, a partial or a callable object has a state that a trace depends on as on an argument.
        plain = isinstance(function, types.FunctionType | types.BuiltinFunctionType | type)
        self._owner = None if plain else function
        self._function = function
        self._own: dict[int, Variable] | None = None
        self._function_name = getattr(function, "__name__", "function")

    @property
    def has_state(self) -> bool:
        """Whether a trace depends on more than the arguments."""
        return self._owner is not None

    def bind(self, args: Sequence[Any], kwargs: dict[str, Any]) -> Arguments:
        """The arguments by name, defaults filled in, with their key.

        Raises:
          TypeError: the function does not take such arguments.
          InvalidArgumentError: they do not fit ``input_signature``.
        """
        if self._simple is not None and not kwargs and len(args) == len(self._simple):
            values = dict(zip(self._simple, args, strict=True))
        else:
            bound = self.signature.bind(*args, **kwargs)
            bound.apply_defaults()
            values = bound.arguments
        encoder = Encoder()
        for name, value in values.items():
            try:
                encoder.encode(value)
            except InvalidArgumentError as error:
                error.args = (f"{self._function_name}: argument {name!r}: {error.args[0]}",)
                raise at(error, user_location()) from None
        if self._owner is not None:
            encoder.encode_state(self._owner)
        arguments = Arguments(values, tuple(encoder.tokens), encoder.arrays, encoder.variables, encoder.objects)
        if arguments.variables:
            arguments.key += self._aliases(arguments.variables)
        if self.input_signature is not None:
            self._check(arguments)
        return arguments

    def own(self, variable: Variable) -> bool:
        """Whether the function also reaches a variable by itself, so that it is no other's place in a trace."""
        if self._own is None:
            self._own = {id(found): found for found in closure_variables(self._function)}
        return id(variable) in self._own

    def add_own(self, variables: Sequence[Variable]) -> None:
        """Notes variables that a trace found the function to reach by itself."""
        self._own = {**(self._own or {}), **{id(variable): variable for variable in variables}}

    def _aliases(self, variables: Sequence[Variable]) -> tuple[Any, ...]:
        return tuple([id(variable) for variable in variables if self.own(variable)])

    def _check(self, arguments: Arguments) -> None:
        assert self.input_signature is not None
        names = list(arguments.values)
        offset = 1 if names and names[0] == "self" else 0
        given = names[offset:]
        count = len(self.input_signature)
        beyond = [name for name in given[count:] if any(map(is_array, nest.flatten(arguments.values[name])[0]))]
        if len(given) < count or beyond:
            surplus = f"; the tensor {beyond[0]!r} is not among them" if beyond else ""
            error = InvalidArgumentError(
                f"{self._function_name}: {len(given)} arguments given, input_signature has {count}{surplus}; give one "
                "TensorSpec for each tensor argument"
            )
            raise at(error, user_location())
        for name, spec in zip(given, self.input_signature, strict=False):
            leaves, structure = nest.flatten(arguments.values[name])
            specs, wanted = nest.flatten(_as_leaves(spec))
            if structure != wanted:
                error = InvalidArgumentError(
                    f"{self._function_name}: argument {name!r} has the structure {structure}, input_signature asks for "
                    f"{wanted}; pass it in that structure"
                )
                raise at(error, user_location())
            for leaf, box in zip(leaves, specs, strict=True):
                self._check_leaf(name, leaf, box.spec)

    def _check_leaf(self, name: str, leaf: Any, spec: TensorSpec) -> None:
        if not isinstance(leaf, Tensor | jax.Array | np.ndarray | np.generic):
            error: InvalidArgumentError = InvalidTypeError(
                f"{self._function_name}: argument {name!r} must be a tensor ({spec}), got {leaf!r:.60}"
            )
            raise at(error, user_location())
        type = leaf.type if isinstance(leaf, Tensor) else type_of(leaf)
        if not spec.accepts(type):
            error = InvalidArgumentError(
                f"{self._function_name}: argument {name!r} is {type}, input_signature asks for {spec}"
            )
            raise at(error, user_location())

    def rebuild(self, arguments: Arguments, tensors: Sequence[Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The call's arguments, with ``tensors`` in the place of the tensors."""
        supply = iter(tensors)

        def replace(leaf: Any) -> Any:
            return next(supply) if is_array(leaf) else leaf

        bound = self.signature.bind_partial()
        for name, value in arguments.values.items():
            leaves, structure = nest.flatten(value)
            if any(map(is_array, leaves)):  # otherwise the very object: the function may know it by identity
                value = nest.unflatten(structure, map(replace, leaves))
            bound.arguments[name] = value
        return bound.args, bound.kwargs


class _Leaf:
    """Keeps nest from looking into a TensorSpec, which is a dataclass."""

    __slots__ = ("spec",)

    def __init__(self, spec: TensorSpec) -> None:
        self.spec = spec


def _as_leaves(spec: Any) -> Any:
    if isinstance(spec, TensorSpec):
        return _Leaf(spec)
    parts = nest.children(spec)
    if parts is None:
        return spec
    keys, items = parts
    if isinstance(spec, dict):
        return {key: _as_leaves(item) for key, item in zip(keys, items, strict=True)}
    return type(spec)(_as_leaves(item) for item in items)
