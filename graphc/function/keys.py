"""What a trace is cached by: the tokens of a call's arguments.

The key holds the types of tensors, the nesting, Python values, and for objects (``self`` of a method) their class and
what their attributes hold. Two objects of one class with equal attributes have one key, so that a method is traced once
for the class; their variables are told apart at each call, by their place among the attributes. NumPy arrays among the
attributes are constants of a trace, so they count by what they hold. To look through those of more than 1 MiB at each
call would take too long, so they count by identity: what is written to them in place is not seen.
"""

from __future__ import annotations

import enum
import types
import weakref
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache, partial
from typing import Any, cast

import jax
import numpy as np
from jax.core import Tracer

from graphc.base import at, is_internal_file, nest, user_location
from graphc.base.errors import InvalidArgumentError, InvalidTypeError
from graphc.core import StringTensor, SymbolicTensor, Tensor, Variable, canonical_array, type_of

__all__ = ["Encoder", "Identity", "closure_variables", "describe", "is_array"]

# An object graph as large as this belongs to no model; what lies behind is told apart by identity alone.
_MAX_TOKENS = 50_000
_MAX_DESCRIBED = 1_000
# At 1 MiB it takes about half a millisecond to hash the bytes of an array.
_MAX_ARRAY_BYTES = 1 << 20

_PLAIN = (bool, int, float, complex, str, bytes)
_ATOMS = (type, types.FunctionType, types.ModuleType, enum.Enum, np.dtype, range, slice)
_SEQUENCES = (list, tuple, deque)
_ARRAYS = (Tensor, jax.Array, np.ndarray)
_INPUTS = (*_ARRAYS, np.generic)


def is_array(value: Any) -> bool:
    """Whether an argument is a tensor input of the graph."""
    return isinstance(value, _INPUTS)


class Identity:
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
        if not isinstance(other, Identity) or self._hash != other._hash:
            return False
        mine = self._reference()
        return mine is not None and mine is other._reference()

    def __repr__(self) -> str:
        return f"{self._reference()!r:.60}"


class Encoder:
    """Turns arguments into tokens of a key, and collects what a program works on.

    Attributes:
      tokens: so far.
      arrays: the arrays of the tensors, in the order of :func:`graphc.base.nest.flatten`.
      variables: the variables among the arguments and their attributes.
      objects: the other objects among them that have attributes or contents.
    """

    def __init__(self) -> None:
        self.tokens: list[Any] = []
        self.arrays: list[Any] = []
        self.variables: list[Variable] = []
        self.objects: list[Any] = []
        self._seen: dict[int, int] = {}

    def encode(self, value: Any) -> None:
        """Appends the tokens of an argument; its tensors count by type."""
        kind = cast("type[Any]", type(value))
        if kind is Tensor:
            array = value.raw
            self.arrays.append(array)
            self.tokens.append(array.aval)
        elif kind in _PLAIN or value is None:
            self._plain(kind, value)
        elif is_array(value):
            self._array(value)
        else:
            parts = nest.children(value)
            if parts is None:
                self._object(value)
                return
            keys, items = parts
            self.tokens.append(_typed_keys(value) if issubclass(kind, dict) else (kind, keys))
            for item in items:
                self.encode(item)

    def encode_state(self, value: Any) -> None:
        """Appends the tokens of something that the function sees as it is, so that its tensors count by identity."""
        kind = cast("type[Any]", type(value))
        if kind in _PLAIN or value is None:
            self._plain(kind, value)
        elif kind is Variable or kind is np.ndarray or _is_simple(kind):
            self._object(value)
        elif isinstance(value, _ARRAYS):
            self.tokens.append(Identity(value))
        elif isinstance(value, np.generic):
            self.tokens.append((kind, value.dtype, value.tobytes()))
        else:
            self._object(value)

    def _plain(self, kind: type[Any], value: Any) -> None:
        self.tokens.append((kind, _exact(value)))

    def _array(self, value: Any) -> None:
        if isinstance(value, SymbolicTensor):
            raise value.trace.leaked(value)
        if isinstance(value, Tracer):
            error = InvalidArgumentError(
                f"a compiled function is given a JAX tracer, {value!r:.80}, but updates Variables and chooses devices "
                "where JAX does not see it; give jax.jit, jax.grad and jax.vmap a pure function, gx.to_jax(f), or use "
                "gx.grad and gx.vmap"
            )
            raise at(error, user_location())
        array = value.raw if isinstance(value, Tensor) else value
        if isinstance(array, np.ndarray | np.generic):
            array = canonical_array(array)
        else:
            type_of(array)  # refuses arrays that no tensor can hold
        self.arrays.append(array)
        self.tokens.append(jax.typeof(array))

    def _object(self, value: Any) -> None:
        """Something that is neither tensor nor number: what a trace may depend on in it."""
        if isinstance(value, Variable):
            known = self._seen.setdefault(id(value), len(self._seen))
            self.tokens.append(("variable", value.type, known))
            self.variables.append(value)
        elif isinstance(value, StringTensor):
            self.tokens.append(value.contents)
        elif isinstance(value, _ATOMS):
            self.tokens.append(repr(cast("Any", value)) if isinstance(value, slice) else _typed(value))
        elif id(value) in self._seen:
            self.tokens.append(("seen", self._seen[id(value)]))
        elif len(self.tokens) > _MAX_TOKENS:
            self.tokens.append(Identity(value))
        else:
            self._seen[id(value)] = len(self._seen)
            self.objects.append(value)
            self._contents(value)

    def _contents(self, value: Any) -> None:
        kind = cast("type[Any]", type(value))
        if _is_simple(kind):
            self.tokens.append((kind, len(value.__dict__)))
            for name, part in value.__dict__.items():
                self.tokens.append(name)
                self.encode_state(part)
            return
        if kind is np.ndarray and value.nbytes <= _MAX_ARRAY_BYTES and not value.dtype.hasobject:
            self.tokens.append((kind, value.dtype, value.shape, value.tobytes()))
            return
        parts = list(state(value))
        opaque = _is_opaque(kind)
        self.tokens.append((kind, len(parts), Identity(value) if opaque else None))
        if isinstance(value, _PLAIN):
            self._plain(kind, value)
        elif isinstance(value, set | frozenset):
            self.tokens.append(frozenset(map(_typed, cast("set[Any]", value))))
        elif isinstance(value, dict):
            self.tokens.append(_typed_keys(cast("dict[Any, Any]", value)))
        for name, part in parts:
            self.tokens.append(name)
            self.encode_state(part)


def _typed(value: Any) -> tuple[type[Any], Any]:
    """A value with its type, since 1, 1.0, True and members of an IntEnum are equal; of tuples, each item so."""
    kind = cast("type[Any]", type(value))
    if kind is tuple:
        return (kind, tuple(map(_typed, value)))
    return (kind, _exact(value) if kind in _PLAIN else _hashable(value))


def _typed_keys(value: dict[Any, Any]) -> tuple[Any, ...]:
    """The keys of a dict, each with its type unless all are texts, and what makes those that are missing."""
    texts = all(type(key) is str for key in value)
    keys = tuple(value) if texts else tuple(map(_typed, value))
    return (type(value), keys, _hashable(getattr(value, "default_factory", None)))


def state(value: Any) -> Iterator[tuple[str, Any]]:
    """The parts of an object that its behaviour may depend on, each with the expression that reaches it from it."""
    yield from _contained(value)
    kind = cast("type[Any]", type(value))
    if getattr(kind, "__graphc_opaque__", False) or _is_bound(value):
        return  # what else a bound method seems to have are the attributes of its function
    for name in _slots(kind):
        if hasattr(value, name):
            yield f".{name}", getattr(value, name)
    for name, part in getattr(value, "__dict__", {}).items():
        yield f".{name}", part


def _is_bound(value: Any) -> bool:
    return hasattr(value, "__func__") and hasattr(value, "__self__")


def _contained(value: Any) -> Iterator[tuple[str, Any]]:
    """What an object of a built-in kind holds besides attributes."""
    if isinstance(value, partial):
        made = cast("partial[Any]", value)
        yield from ((".func", made.func), (".args", made.args), (".keywords", made.keywords))
    elif _is_bound(value):
        yield from (("", value.__func__), (".__self__", value.__self__))
    elif isinstance(value, _SEQUENCES):
        yield from ((f"[{index}]", item) for index, item in enumerate(cast("list[Any]", value)))
    elif isinstance(value, dict):
        yield from ((f"[{key!r}]", item) for key, item in cast("dict[Any, Any]", value).items())


@cache
def _slots(kind: type[Any]) -> tuple[str, ...]:
    """The names of the slots of a class and its bases."""
    found: list[str] = []
    for base in kind.__mro__:
        names: Any = base.__dict__.get("__slots__", ())
        for name in (names,) if isinstance(names, str) else tuple(names):
            private = name.startswith("__") and not name.endswith("__")
            found.append(f"_{base.__name__.lstrip('_')}{name}" if private else name)
    return tuple(name for name in found if name not in ("__dict__", "__weakref__"))


@cache
def _is_opaque(kind: type[Any]) -> bool:
    """Whether objects of a class hold what :func:`state` cannot see, so that only identity tells them apart."""
    if getattr(kind, "__graphc_opaque__", False):
        return True
    if issubclass(kind, (*_PLAIN, *_SEQUENCES, dict, set, frozenset, partial, types.MethodType)):
        return False
    in_c = any(isinstance(base.__dict__.get("__new__"), types.BuiltinFunctionType) for base in kind.__mro__[:-1])
    return in_c or not (_slots(kind) or kind.__dictoffset__)


def _exact(value: Any) -> Any:
    """A plain value as one that equals itself alone: by its text 0.0 is not -0.0, and nan is nan."""
    if isinstance(value, float):
        return float.hex(value)
    return repr(value) if isinstance(value, complex) else value


def _hashable(value: Any) -> Any:
    try:
        hash(value)
    except TypeError:
        return Identity(value)
    return value


@cache
def _is_simple(kind: type[Any]) -> bool:
    """Whether objects of a class hold nothing but attributes, as most do; this saves time at every call."""
    special = (*_PLAIN, *_SEQUENCES, *_ATOMS, *_INPUTS, Variable, dict, set, frozenset, partial)
    return not (issubclass(kind, special) or _is_opaque(kind) or _slots(kind) or hasattr(kind, "__func__"))


def closure_variables(function: Any) -> list[Variable]:
    """The variables that a function reaches by itself: by its closure, its globals, and functions that it calls."""
    encoder = Encoder()
    seen: set[int] = set()

    def walk(value: Any) -> None:
        value = getattr(value, "python_function", value)
        value = getattr(value, "__func__", value)
        if not isinstance(value, types.FunctionType):
            if not isinstance(value, _ATOMS):
                encoder.encode_state(value)
        elif id(value) not in seen and not is_internal_file(value.__code__.co_filename):
            seen.add(id(value))
            for cell in value.__closure__ or ():
                with suppress(ValueError):  # an empty cell
                    walk(cell.cell_contents)
            for name in _names(value.__code__):
                if name in value.__globals__:
                    walk(value.__globals__[name])

    walk(function)
    return encoder.variables


def _names(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names(constant)


def describe(values: dict[str, Any]) -> list[tuple[str, str]]:
    """Each leaf of the arguments, by its path, and what it is, for the reasons of retraces."""
    found: list[tuple[str, str]] = []
    seen: set[int] = set()

    def walk(path: str, value: Any) -> None:
        if len(found) >= _MAX_DESCRIBED:
            return
        parts = [] if _is_leaf(value) or id(value) in seen else list(state(value))
        if not parts:
            found.append((path, _description(value)))
            return
        seen.add(id(value))
        for name, part in parts:
            walk(path + name, part)

    for name, value in values.items():
        walk(name, value)
    return found


def _is_leaf(value: Any) -> bool:
    return value is None or is_array(value) or isinstance(value, (*_PLAIN, *_ATOMS, StringTensor, Variable))


def _description(value: Any) -> str:
    if is_array(value):
        with suppress(InvalidTypeError):  # an attribute may be an array of texts or dates, which no tensor can hold
            return str(value.type if isinstance(value, Tensor) else type_of(canonical_array(value)))
    if isinstance(value, Variable):
        return f"a Variable {value.type}"
    text = repr(value)
    return text if len(text) < 80 else f"a {type(value).__name__}"
