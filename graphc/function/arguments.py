"""The arguments of a call: tensors apart, and a key for all the rest.

The key holds the types of tensors, the nesting, Python values, and for objects (``self`` of a method) their class and
what their attributes hold. Two objects of one class with equal attributes have one key, so that a method is traced once
for the class; their variables are told apart at each call, by their place among the attributes.
"""

from __future__ import annotations

import enum
import inspect
import types
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import jax
import numpy as np

from graphc.base import at, nest, user_location
from graphc.base.errors import InvalidArgumentError, InvalidTypeError
from graphc.core import SymbolicTensor, Tensor, Variable, as_dtype, canonical_array, type_of
from graphc.ir import TensorType

__all__ = ["Arguments", "Binder", "TensorSpec"]

_MAX_ATTRIBUTES = 2000


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


class _Identity:
    """An object as part of a key: equal to itself only; does not keep it alive if it can be helped."""

    __slots__ = ("_hash", "_reference")

    def __init__(self, value: Any) -> None:
        self._hash = id(value)
        try:
            self._reference: Callable[[], Any] = weakref.ref(value)
        except TypeError:
            self._reference = lambda: value

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _Identity) or self._hash != other._hash:
            return False
        mine = self._reference()
        return mine is not None and mine is other._reference()

    def __repr__(self) -> str:
        return f"{self._reference()!r:.60}"


@dataclass
class Arguments:
    """What a call was given.

    Attributes:
      values: the bound arguments by name.
      key: what a trace is cached by.
      arrays: the arrays of the tensors, in the order of :func:`graphc.base.nest.flatten`.
      variables: the variables among the arguments and their attributes.
      described: for each part of the key that is a leaf, its path and what it is, for the reasons of retraces.
    """

    values: dict[str, Any]
    key: tuple[Any, ...] = ()
    arrays: list[Any] = field(default_factory=list[Any])
    variables: list[Variable] = field(default_factory=list[Variable])

    def described(self) -> list[tuple[str, str]]:
        """Each leaf's path and what it is."""
        leaves = [leaf for name, value in self.values.items() for leaf in nest.flatten_with_paths(value, name)]
        return [(path, _describe(value)) for path, value in leaves]


def _describe(value: Any) -> str:
    if isinstance(value, Tensor | jax.Array | np.ndarray | np.generic):
        return str(value.type if isinstance(value, Tensor) else type_of(canonical_array(value)))
    return repr(value) if len(repr(value)) < 80 else f"a {type(value).__name__}"


class Binder:
    """Binds and encodes the arguments of one function.

    Args:
      function: the user's function.
      input_signature: what each positional argument must be: nested structures of TensorSpec; None for no check.
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
        self._function_name = getattr(function, "__name__", "function")

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
        arguments = Arguments(values)
        encoder = _Encoder(arguments)
        for value in values.values():
            encoder.encode(value)
        arguments.key = tuple(encoder.tokens)
        if self.input_signature is not None:
            self._check(arguments)
        return arguments

    def _check(self, arguments: Arguments) -> None:
        assert self.input_signature is not None
        names = list(arguments.values)
        offset = 1 if names and names[0] == "self" else 0
        given = names[offset:]
        if len(given) != len(self.input_signature):
            error = InvalidArgumentError(
                f"{self._function_name}: {len(given)} arguments given, input_signature has {len(self.input_signature)}"
            )
            raise at(error, user_location())
        for name, spec in zip(given, self.input_signature, strict=True):
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


def is_array(value: Any) -> bool:
    """Whether an argument is a tensor input of the graph."""
    return isinstance(value, Tensor | jax.Array | np.ndarray | np.generic)


_PLAIN = (bool, int, float, complex, str, bytes)


class _Encoder:
    """Turns arguments into tokens of a key, and collects tensors and variables."""

    def __init__(self, arguments: Arguments) -> None:
        self.arguments = arguments
        self.tokens: list[Any] = []
        self._seen: dict[int, int] = {}

    def encode(self, value: Any) -> None:
        """Appends the tokens of an argument."""
        kind = cast("type[Any]", type(value))
        if kind is Tensor:
            array = value.raw
            self.arguments.arrays.append(array)
            self.tokens.append(array.aval)
        elif kind in _PLAIN or value is None:
            self._plain(value)
        elif is_array(value):
            self._array(value)
        else:
            parts = nest.children(value)
            if parts is None:
                self._object(value)
                return
            keys, items = parts
            self.tokens.append((kind, keys))
            for item in items:
                self.encode(item)

    def _plain(self, value: Any) -> None:
        kind = cast("type[Any]", type(value))
        self.tokens.append((kind, value.hex() if kind is float else repr(value) if kind is complex else value))

    def _array(self, value: Any) -> None:
        if isinstance(value, SymbolicTensor):
            raise value.trace.leaked(value)
        array = value.raw if isinstance(value, Tensor) else value
        if isinstance(array, np.ndarray | np.generic):
            array = canonical_array(array)
        self.arguments.arrays.append(array)
        self.tokens.append(jax.typeof(array))

    def _object(self, value: Any) -> None:
        """An argument that is neither tensor, number nor container: what a trace may depend on in it."""
        if isinstance(value, Variable):
            self._variable(value)
        elif isinstance(value, type | types.FunctionType | types.ModuleType | enum.Enum | np.dtype | range | slice):
            self.tokens.append(repr(cast("Any", value)) if isinstance(value, slice) else _hashable(value))
        elif id(value) in self._seen:
            self.tokens.append(("seen", self._seen[id(value)]))
        elif hasattr(value, "__dict__") and len(self.tokens) < _MAX_ATTRIBUTES:
            self._seen[id(value)] = len(self._seen)
            self.tokens.append(type(value))
            for name, attribute in cast("dict[str, Any]", vars(value)).items():
                self.tokens.append(name)
                self._attribute(attribute)
        else:
            self.tokens.append(_Identity(value))

    def _variable(self, value: Variable) -> None:
        known = self._seen.setdefault(id(value), len(self._seen))
        self.tokens.append(("variable", value.type, known))
        self.arguments.variables.append(value)

    def _attribute(self, value: Any) -> None:
        """Attributes are seen by the function as they are, so their tensors count by identity."""
        kind = cast("type[Any]", type(value))
        if kind in _PLAIN or value is None:
            self._plain(value)
        elif isinstance(value, Tensor | jax.Array | np.ndarray):
            self.tokens.append(_Identity(value))
        elif kind in (list, tuple, dict):
            if id(value) in self._seen:
                self.tokens.append(("seen", self._seen[id(value)]))
                return
            self._seen[id(value)] = len(self._seen)
            self.tokens.append((kind, len(value), tuple(map(repr, value)) if kind is dict else ()))
            for item in value.values() if kind is dict else value:
                self._attribute(item)
        else:
            self._object(value)


def _hashable(value: Any) -> Any:
    try:
        hash(value)
    except TypeError:
        return _Identity(value)
    return value
