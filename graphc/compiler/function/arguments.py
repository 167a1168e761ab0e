"""The arguments of a call: the tensors, and a key for all the rest."""

from __future__ import annotations

import enum
import inspect
import operator
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from graphc.compiler.base import has_mark, nest, with_article
from graphc.compiler.base.errors import GraphcError, InvalidArgumentError, InvalidTypeError
from graphc.compiler.core import (
    SCALARS,
    StringTensor,
    SymbolicTensor,
    Tensor,
    Variable,
    as_dtype,
    as_strings,
    canonical_array,
    is_string_dtype,
    string,
    type_of,
)
from graphc.compiler.ir import OPEN, TensorType
from graphc.compiler.ops import asarray
from graphc.compiler.tracing import attributes_of, contents_of, is_array

# Descriptions of arguments: each leaf with the expression that reaches it, for reasons and reports.

_MAX_DESCRIBED = 1_000
_LEAVES = (
    bool, int, float, complex, str, bytes, type, types.FunctionType, types.ModuleType, enum.Enum, np.dtype, range,
    slice, StringTensor, Variable,
)  # fmt: skip


def describe(values: dict[str, Any]) -> list[tuple[str, str]]:
    """Describes each leaf of the arguments, by its path, for retrace reasons."""
    described: list[tuple[str, str]] = []
    seen: set[int] = set()

    def walk(path: str, value: Any) -> None:
        if len(described) >= _MAX_DESCRIBED:
            return
        parts = [] if _is_leaf(value) or id(value) in seen else list(_parts(value))
        if not parts:
            described.append((path, _description(value)))
            return
        seen.add(id(value))
        for name, part in parts:
            walk(path + name, part)

    for name, value in values.items():
        walk(name, value)
    return described


def _is_leaf(value: Any) -> bool:
    return value is None or is_array(value) or isinstance(value, _LEAVES)


def _description(value: Any) -> str:
    if is_array(value):
        with suppress(GraphcError):  # an attribute may be an array of strings or dates, which no tensor can hold
            return str(value.type if isinstance(value, Tensor) else type_of(canonical_array(value)))
    if isinstance(value, Variable):
        return f"a Variable {value.type}"
    text = repr(value)
    return text if len(text) < 80 else with_article(type(value).__name__)


def _parts(value: Any) -> Iterator[tuple[str, Any]]:
    """Yields the parts of an object, each with the expression that reaches it from the object."""
    if isinstance(value, partial):
        function = cast("partial[Any]", value)
        yield from ((".func", function.func), (".args", function.args), (".keywords", function.keywords))
    elif isinstance(value, types.MethodType):
        yield from (("", value.__func__), (".__self__", value.__self__))
        return
    yield from _held(value)


def _held(value: Any) -> Iterator[tuple[str, Any]]:
    if not has_mark(value, "__graphc_opaque__"):
        yield from ((f".{name}", part) for name, part in attributes_of(value))
    if not isinstance(value, set | frozenset):
        yield from ((f"[{key!r}]", item) for key, item in contents_of(value))


# The check of array arguments.


def checked_array(value: Any) -> Any:
    """Returns the array of a tensor argument, as JAX accepts it."""
    if isinstance(value, SymbolicTensor):
        raise value.trace.leaked(value)
    if isinstance(value, Tracer):
        raise InvalidArgumentError(
            f"a compiled function got a JAX tracer, {value!r:.80}, but it updates Variables and chooses devices "
            "outside JAX's control; pass jax.jit, jax.grad and jax.vmap a pure function, gx.to_jax(f), or use "
            "gx.grad and gx.vmap"
        ).here()
    array = value.raw if isinstance(value, Tensor) else value
    if isinstance(array, np.matrix):
        raise InvalidTypeError(
            "a compiled function got an np.matrix, whose operators are not those of tensors: its * is a matrix "
            "product; pass np.asarray(m)"
        ).here()
    if isinstance(array, np.ndarray | np.generic):
        return canonical_array(array)
    type_of(array)  # raises for arrays that no tensor can hold
    return array


@dataclass(frozen=True)
class TensorSpec:
    """The type that an argument must have (TensorFlow's TensorSpec).

    Python numbers, and nested lists of them, become a tensor of the dtype if it can hold them: an int may be passed for
    a float, but not a float for an int. Calls with different numbers therefore share a trace.

    Args:
      shape: the size of each axis; None for any size, or in place of the whole shape for any number of axes. Each shape
        passed has its own trace, since XLA compiles programs for fixed shapes; retraces that differ only in the open
        sizes are reported, but cause no warning.
      dtype: the dtype. Strings (``gx.string``) are Python values: each content has its own trace.
      name: the name shown to users.

    Example:
      >>> TensorSpec((None, 3), "float32").accepts(TensorType((2, 3), np.dtype("float32")))
      True
    """

    shape: Sequence[int | None] | None
    dtype: Any = np.float32
    name: str = ""

    def __post_init__(self) -> None:
        if self.shape is not None:
            object.__setattr__(self, "shape", tuple(self.shape))

    @property
    def type(self) -> TensorType:
        """The tensor type that the spec describes, with open sizes for any size."""
        dtype = np.dtype(object) if self.of_strings else as_dtype(self.dtype)
        sizes = [OPEN if size is None else size for size in self.shape or ()]
        return TensorType(tuple(sizes), dtype, ranked=self.shape is not None)

    def accepts(self, type: TensorType) -> bool:
        """Returns True if a tensor of this type fits the spec."""
        return not self.of_strings and self.has_shape(type.shape) and as_dtype(self.dtype) == type.dtype

    def has_shape(self, shape: Sequence[int]) -> bool:
        """Returns True if a tensor of this shape fits the spec, whatever its dtype."""
        if self.shape is None:
            return True
        return len(self.shape) == len(shape) and all(
            wanted in (None, size) for wanted, size in zip(self.shape, shape, strict=True)
        )

    @property
    def of_strings(self) -> bool:
        """True if the spec requires a tensor of strings."""
        return is_string_dtype(self.dtype)

    def __str__(self) -> str:
        dtype: Any = string if self.of_strings else as_dtype(self.dtype)
        sizes = "*" if self.shape is None else ",".join("?" if size is None else str(size) for size in self.shape)
        return f"{dtype.name}[{sizes}]"


@dataclass
class Arguments:
    """The arguments of one call."""

    values: dict[str, Any]
    arrays: list[Any]  # the arrays of the tensors, in the order of :func:`graphc.compiler.base.nest.flatten`
    types: tuple[Any, ...]  # the types of the arrays, as JAX has them
    given: dict[str, Any]  # the bound arguments before ``input_signature`` turned Python numbers into tensors
    found: tuple[Any, ...] | None = None  # the trace's further operands, found among the arguments and outside

    def described(self) -> list[tuple[str, str]]:
        """Describes each leaf of the arguments and their attributes, by its path."""
        return describe(self.values)


class Binder:
    """Binds and encodes a function's arguments."""

    def __init__(self, function: Callable[..., Any], input_signature: Sequence[Any] | None) -> None:
        self._function = function
        self._holder = _innermost(function)  # of the defaults
        self._look_at_function()
        # The spec of each argument, in order: nested structures of TensorSpec; Python values may follow. None for no
        # check.
        self.input_signature = None if input_signature is None else tuple(input_signature)
        self.is_method = False
        """True if the first argument is the instance of a method, which ``input_signature`` does not cover."""
        self._function_name = getattr(function, "__name__", "function")

    def _look_at_function(self) -> None:
        """Reads the function's current parameters: its defaults may be reassigned."""
        self._defaults = _defaults_of(self._holder)
        try:
            self.signature = inspect.signature(self._function)
        except (TypeError, ValueError):
            name = getattr(self._function, "__name__", repr(self._function))
            text = f"gx.function: Python does not know the signature of {name}; wrap it, as in `lambda x: {name}(x)`"
            raise InvalidArgumentError(text).here() from None
        parameters = list(self.signature.parameters.values())
        self._simple = (
            tuple(parameter.name for parameter in parameters)
            if all(parameter.kind is parameter.POSITIONAL_OR_KEYWORD for parameter in parameters)
            else None
        )

    def bind(self, args: Sequence[Any], kwargs: dict[str, Any]) -> Arguments:
        """Returns the arguments by name, with defaults filled in, and their key."""
        defaults = _defaults_of(self._holder)
        if len(defaults) != len(self._defaults) or not all(map(operator.is_, defaults, self._defaults)):
            self._look_at_function()
        if self._simple is not None and not kwargs and len(args) == len(self._simple):
            values = dict(zip(self._simple, args, strict=True))
        else:
            bound = self.bound(args, kwargs)
            bound.apply_defaults()
            values = bound.arguments
        original = values
        if self.input_signature is not None:
            values = self._converted(values)
        arrays: list[Any] = []
        for name, value in values.items():
            try:
                if type(value) is Tensor:
                    arrays.append(checked_array(value))
                    continue
                arrays += [checked_array(leaf) for leaf in nest.flatten(value)[0] if is_array(leaf)]
            except InvalidArgumentError as error:
                error.args = (f"{self._function_name}: argument {name!r}: {error.args[0]}",)
                raise error.here() from None
        arguments = Arguments(
            values,
            arrays,
            tuple([array.aval if isinstance(array, jax.Array) else jax.typeof(array) for array in arrays]),
            original,
        )
        if self.input_signature is not None:
            self._check(arguments)
        return arguments

    def bound(self, args: Sequence[Any], kwargs: Mapping[str, Any], *, partial: bool = False) -> inspect.BoundArguments:
        """Returns the arguments of a call by name, as Python's ``inspect`` does."""
        try:
            bind = self.signature.bind_partial if partial else self.signature.bind
            return bind(*args, **kwargs)
        except TypeError as error:
            raise InvalidTypeError(f"{self._function_name}: {error}; it takes {self.signature}").here() from None

    def convert(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Returns the arguments, with Python numbers as tensors if ``input_signature`` has tensors there."""
        # Code that runs the Python function itself calls it with these, to compute the same as the program.
        if self.input_signature is None:
            return args, kwargs
        bound = self.bound(args, kwargs)
        bound.arguments = self._converted(bound.arguments)
        return bound.args, bound.kwargs

    def _converted(self, values: dict[str, Any]) -> dict[str, Any]:
        assert self.input_signature is not None
        converted = values
        for name, spec in zip(self._specified(values), self.input_signature, strict=False):
            try:
                fitted = _fitted(values[name], spec)
                if fitted is not values[name]:
                    converted = {**converted, name: fitted}
            except (TypeError, ValueError, OverflowError) as error:
                raise InvalidTypeError(f"{self._function_name}: argument {name!r}: {error}").here() from None
        return converted

    @property
    def open_arguments(self) -> frozenset[str]:
        """The expressions of the arguments whose shapes ``input_signature`` leaves fully or partly open."""
        names = list(self.signature.parameters)[1 if self.is_method else 0 :]
        return frozenset(path for name, spec in zip(names, self.input_signature or (), strict=False)
                         for path in _open_paths(name, spec))  # fmt: skip

    def _specified(self, values: dict[str, Any]) -> list[str]:
        """Returns the names of the arguments that ``input_signature`` covers."""
        return list(values)[1 if self.is_method else 0 :]

    def _check(self, arguments: Arguments) -> None:
        assert self.input_signature is not None
        names = self._specified(arguments.values)
        count = len(self.input_signature)
        beyond = [name for name in names[count:] if any(map(is_array, nest.flatten(arguments.values[name])[0]))]
        if len(names) < count or beyond:
            surplus = f"; the tensor {beyond[0]!r} is not covered" if beyond else ""
            raise InvalidArgumentError(
                f"{self._function_name}: got {len(names)} arguments, but input_signature has {count}{surplus}; write "
                "one TensorSpec for each tensor argument"
            ).here()
        for name, spec in zip(names, self.input_signature, strict=False):
            leaves, structure = nest.flatten(arguments.values[name])
            specs, wanted = nest.flatten(_as_leaves(spec))
            if structure != wanted:
                raise InvalidArgumentError(
                    f"{self._function_name}: argument {name!r} has the structure {structure}, but input_signature "
                    f"requires {wanted}; pass it in that structure"
                ).here()
            for leaf, box in zip(leaves, specs, strict=True):
                self._check_leaf(name, leaf, box.spec)

    def _check_leaf(self, name: str, leaf: Any, spec: TensorSpec) -> None:
        if isinstance(leaf, StringTensor) and spec.of_strings:
            if not spec.has_shape(leaf.shape):
                raise self._unfit(name, leaf.type, spec).here()
            return
        if not isinstance(leaf, Tensor | jax.Array | np.ndarray | np.generic):
            error: InvalidArgumentError = InvalidTypeError(
                f"{self._function_name}: argument {name!r} must be a tensor ({spec}), got {leaf!r:.60}"
            )
            raise error.here()
        type = leaf.type if isinstance(leaf, Tensor) else type_of(leaf)
        if not spec.accepts(type):
            raise self._unfit(name, type, spec).here()

    def _unfit(self, name: str, type: Any, spec: TensorSpec) -> InvalidArgumentError:
        return InvalidArgumentError(
            f"{self._function_name}: argument {name!r} is {type}, but input_signature requires {spec}"
        )

    def rebuild(
        self,
        arguments: Arguments,
        tensors: Sequence[Any],
        note: Callable[[Any, Any], None] = lambda copies, original: None,
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Returns the call's arguments with their tensors replaced by ``tensors``."""
        # A container without tensors is returned as is, and one that occurs several times is rebuilt once.
        # note: called with each new container and the container that it replaces.
        supply = iter(tensors)
        copies: dict[int, Any] = {}

        def rebuilt(value: Any) -> Any:
            if is_array(value):
                return next(supply)
            parts = nest.children(value)
            if parts is None:
                return value
            items = [rebuilt(part) for part in parts[1]]  # even if it was seen: each occurrence has tensors of its own
            if id(value) in copies or all(map(operator.is_, items, parts[1])):
                return copies.get(id(value), value)
            container = nest.rebuilt(value, items)
            if not isinstance(value, tuple):
                copies[id(value)] = container
                note(container, value)
            return container

        bound = self.signature.bind_partial()
        bound.arguments.update({name: rebuilt(value) for name, value in arguments.values.items()})
        return bound.args, bound.kwargs


def _innermost(function: Any) -> Any:
    """Returns the function whose signature a wrapper shows, such as ``f`` of ``gx.grad(f)``."""
    try:
        return inspect.unwrap(function)
    except ValueError:  # it wraps itself
        return function


def _defaults_of(function: Any) -> list[Any]:
    """Returns the objects that determine a function's defaults."""
    by_name: dict[str, Any] = getattr(function, "__kwdefaults__", None) or {}
    return [getattr(function, "__defaults__", None), *by_name.values()]


def _fitted(value: Any, spec: Any) -> Any:
    """Returns an argument with Python numbers, and nested lists of them, as tensors where its spec is a TensorSpec."""
    specs, wanted = nest.flatten(_as_leaves(spec))
    parts: list[Any] = []
    if not _take_apart(value, wanted, parts):
        return value  # the check that follows reports the error
    fitted = [_fitted_leaf(part, box.spec) for part, box in zip(parts, specs, strict=True)]
    changed = any(new is not old for new, old in zip(fitted, parts, strict=True))
    return nest.unflatten(wanted, fitted) if changed else value


def _fitted_leaf(part: Any, spec: TensorSpec) -> Any:
    if spec.of_strings:
        strings = as_strings(part)
        return part if strings is None else strings
    return _number_tensor(part, spec) if _is_numbers(part) else part


def _take_apart(value: Any, structure: nest.Structure, parts: list[Any]) -> bool:
    """Appends the leaves of a value by a structure; returns False if the value has another structure."""
    if structure == nest.LEAF:
        parts.append(value)
        return True
    inner = nest.children(value)
    if inner is None or type(value) is not structure.kind or inner[0] != structure.keys:
        return False
    return all(_take_apart(item, child, parts) for item, child in zip(inner[1], structure.children, strict=True))


def _is_numbers(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return all(map(_is_numbers, cast("Sequence[Any]", value)))
    return type(value) in SCALARS


_KINDS = (np.bool_, np.integer, np.floating, np.complexfloating)


def _number_tensor(value: Any, spec: TensorSpec) -> Tensor:
    number, dtype = np.asarray(value), as_dtype(spec.dtype)
    source, target = _rank(number.dtype), _rank(dtype)
    # A wider kind of number holds the narrower ones; booleans are not numbers.
    if number.size and source != target and not 1 <= source < target:
        raise TypeError(f"{value!r:.60} cannot be a tensor of {dtype.name}, which input_signature requires ({spec})")
    return asarray(np.asarray(value, dtype))


def _rank(dtype: np.dtype[Any]) -> int:
    """Returns the rank of a kind of number; ints too large for any dtype are objects to NumPy."""
    return next((rank for rank, kind in enumerate(_KINDS) if jnp.issubdtype(dtype, kind)), 1)


def _open_paths(path: str, spec: Any) -> Iterator[str]:
    if isinstance(spec, TensorSpec):
        if spec.type.is_open:
            yield path
    elif isinstance(spec, list | tuple | dict):
        for key, part in contents_of(spec):
            yield from _open_paths(f"{path}[{key!r}]", part)


class _Leaf:
    """Marks a TensorSpec, which is a dataclass, as a leaf for nest."""

    __slots__ = ("spec",)

    def __init__(self, spec: TensorSpec) -> None:
        self.spec = spec


def _as_leaves(spec: Any) -> Any:
    if isinstance(spec, TensorSpec):
        return _Leaf(spec)
    parts = nest.children(spec)
    if parts is None:
        return spec
    return nest.rebuilt(spec, [_as_leaves(item) for item in parts[1]])


def spec_leaves(value: Any) -> list[Any]:
    """Returns the leaves of a structure, with TensorSpecs as leaves."""
    return [leaf.spec if isinstance(leaf, _Leaf) else leaf for leaf in nest.flatten(_as_leaves(value))[0]]
