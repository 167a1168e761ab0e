"""``call_jax``: calls of JAX functions, as one differentiable op each."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, cast

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from graphc.compiler.base.errors import InternalError, InvalidTypeError
from graphc.compiler.core import (
    FAILED,
    NO_ATTRS,
    SCALARS,
    ArrayMethods,
    Tensor,
    apply_all,
    busy,
    context,
    operand,
    shorten,
)
from graphc.compiler.ir import Attrs, Graph, TensorType, define_op, typed_key
from graphc.compiler.ops.table import infer_by_evaluation
from graphc.compiler.tracing import Closures, root_trace, type_of_any

_KEPT = 512
"""Maximum number of cached calls, by function, structure and types."""


def call_jax(fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """Calls a function that JAX can trace, as one op: eagerly, compiled, in loops, and with gradients.

    Args:
      fn: a function of JAX arrays in any pytrees, such as a method of a flax or equinox module. It is compiled once for
        each combination of function, structure and types; a lambda made anew for each call is compiled at each call.
        Eager calls keep values read outside the arguments as they were at compile time, like ``jax.jit``; compiled
        functions check them.
      *args: pytrees. Tensors, variables and arrays become JAX arrays, with gradients; Python values are passed as they
        are, and each value has its own program. JAX random keys stay keys.
      **kwargs: keyword arguments, likewise.

    Returns:
      The function's result, with tensors in place of JAX arrays.

    Raises:
      InvalidTypeError: the function returns something other than arrays, or takes an unhashable Python value.

    Example:
      >>> import jax.numpy as jnp
      >>> import graphc as gx
      >>> weights = {"w": gx.asarray([1.0, 2.0]), "b": gx.asarray(3.0)}
      >>> gx.call_jax(lambda p, x: jnp.dot(p["w"], x) + p["b"], weights, gx.asarray([10.0, 1.0])).item()
      15.0
    """
    if not kwargs and (not busy or context.eager):
        try:  # JAX's own cache finds the program for the types, in half the time of an op with attributes
            result = _program(fn)(*[arg.raw if type(arg) is Tensor else _arrays(arg) for arg in args])
        except Exception:
            result = FAILED  # the slow path raises it again, with the user's line
        if isinstance(result, jax.Array):
            return Tensor(result)
        if result is not FAILED:
            leaves, structure = cast("Any", jax.tree.flatten)(result)
            return jax.tree.unflatten(structure, list(map(Tensor, leaves)))
    leaves, structure = cast("Any", jax.tree.flatten)((args, kwargs))
    tensors = [operand(jax.random.key_data(leaf) if _is_key(leaf) else leaf) for leaf in leaves if _is_array(leaf)]
    fixed = tuple(
        _Key(str(jax.random.key_impl(leaf))) if _is_key(leaf) else None if _is_array(leaf) else _Fixed(leaf)
        for leaf in leaves
    )
    types = tuple(type_of_any(tensor) for tensor in tensors)
    try:
        # A new trace may be due to a change of something that the function reads: JAX must trace it anew.
        trace = None if (root := root_trace()) is None else weakref.ref(root)
        call = _call(_Held(fn), structure, fixed, types, trace)
    except TypeError as error:
        if "unhashable" not in str(error):
            raise
        raise InvalidTypeError(f"call_jax: {error}; pass arrays as tensors").here() from None
    try:
        outputs = apply_all(_OP, tensors, Attrs(function=call))
    except Exception as error:
        shorten(error)
        raise
    return jax.tree.unflatten(call.result, outputs)


_TENSORS = frozenset({Tensor})


def _arrays(value: Any) -> Any:
    """Returns a pytree of arrays for a pytree of tensors; raises for anything else."""
    kind = cast("type[Any]", type(value))
    if kind is Tensor:
        return value.raw
    # Python's own containers in half the time.
    if kind is dict:
        return {key: part.raw if type(part) is Tensor else _arrays(part) for key, part in value.items()}
    if kind is list or kind is tuple:
        parts: list[Any] = [part.raw if type(part) is Tensor else _arrays(part) for part in value]
        return parts if kind is list else tuple(parts)
    leaves, structure = cast("Any", jax.tree.flatten)(value)
    if not {*map(type, leaves)} <= _TENSORS:
        raise TypeError
    return jax.tree.unflatten(structure, [leaf.raw for leaf in leaves])


@lru_cache(maxsize=_KEPT)
def _program(fn: Callable[..., Any]) -> Callable[..., Any]:
    return jax.jit(fn)


def _is_array(leaf: Any) -> bool:
    return isinstance(leaf, ArrayMethods | jax.Array | np.ndarray | np.generic)


def _is_key(leaf: Any) -> bool:
    return isinstance(leaf, jax.Array) and bool(jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key))


@dataclass(frozen=True)
class _Key:
    """A JAX random key, whose data is a tensor; ``impl`` names the key's implementation."""

    impl: str

    def wrapped(self, numbers: Any) -> Any:
        wrap: Any = jax.random.wrap_key_data
        return wrap(jnp.asarray(numbers), impl=self.impl)


class _Fixed:
    """A Python value in a key, where 1, 1.0 and True differ."""

    __slots__ = ("key", "value")

    def __init__(self, value: Any) -> None:
        self.value = value
        self.key = typed_key(value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Fixed) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)


class _Held:
    """A function in a key, as it is now: JAX traces it again later, when its variables may hold something else."""

    __slots__ = ("_parts", "fn")

    def __init__(self, fn: Callable[..., Any]) -> None:
        self._parts: list[Any] = [fn]

        def keep(value: Any) -> Any:
            self._parts.append(value)
            return value

        self.fn = Closures(keep, lambda function, cell: False).of(fn)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Held) and [*map(id, self._parts)] == [*map(id, other._parts)]

    def __hash__(self) -> int:
        return hash(tuple(map(id, self._parts)))


class _Call:
    """A function for one structure and types of its arguments, stored in graphs as an attribute of the op."""

    def __init__(self, fn: Callable[..., Any], structure: Any, fixed: tuple[_Fixed | _Key | None, ...]) -> None:
        self.__qualname__ = str(getattr(fn, "__qualname__", type(fn).__qualname__))
        self.infer = infer_by_evaluation(self.__call__)  # returns the types of the results for the types of the arrays
        self.result: Any = None  # the structure of the results, known once the function has been traced
        self._fn = fn
        self._structure = structure
        self._fixed = fixed

    def __repr__(self) -> str:
        return f"<{self.__qualname__}>"

    @staticmethod
    def _leaf(item: _Fixed | _Key | None, arrays: Iterator[Any]) -> Any:
        if isinstance(item, _Fixed):
            return item.value
        return jnp.asarray(next(arrays)) if item is None else item.wrapped(next(arrays))

    def is_like(self, other: object) -> bool:
        """Returns True for a call of a function with the same code, on the same Python values."""
        if not isinstance(other, _Call) or (self._structure, self._fixed) != (other._structure, other._fixed):
            return False
        mine, theirs = (getattr(call._fn, "__code__", call._fn) for call in (self, other))
        return mine is theirs or mine == theirs

    def __call__(self, *arrays: Any) -> tuple[Any, ...]:
        rest = iter(arrays)
        leaves = [self._leaf(item, rest) for item in self._fixed]
        args, kwargs = jax.tree.unflatten(self._structure, leaves)
        results, self.result = jax.tree.flatten(self._fn(*args, **kwargs))
        for result in results:
            if not isinstance(result, jax.Array | np.ndarray | np.generic | Tracer) and type(result) not in SCALARS:
                text = f"{self.__qualname__} returned {type(result).__name__} {result!r:.60}"
                raise InvalidTypeError(f"call_jax: {text}, expected arrays and pytrees of these").here()
        return tuple([jnp.asarray(result) for result in results])


def _call_jax(*arrays: Any, function: _Call) -> tuple[Any, ...]:
    return function(*arrays)


def _infer(types: Sequence[TensorType], attrs: Attrs, regions: Sequence[Graph]) -> tuple[TensorType, ...]:
    return attrs["function"].infer(types, NO_ATTRS, regions)


_OP = define_op(
    "call_jax", impl=_call_jax, infer=_infer, params=("*args",), opaque=True, doc="A JAX function as a single op."
)


@lru_cache(maxsize=_KEPT)
def _call(
    callee: _Held, structure: Any, fixed: tuple[_Fixed | _Key | None, ...], types: tuple[TensorType, ...], trace: Any
) -> _Call:
    del types, trace  # parts of the key; the structure of the results may depend on the types
    return _Call(callee.fn, structure, fixed)


# The call op, a whole graph as one step, and the op that marks a graph's status output.


def _call_call(*values: Any, assigned: Sequence[str] = (), body: Callable[..., Any]) -> tuple[Any, ...]:
    del assigned
    return tuple(body(*values))


def _call_types(types: Sequence[TensorType], attrs: Attrs, regions: Sequence[Graph]) -> tuple[TensorType, ...]:
    del types, attrs
    return tuple(value.type for value in regions[0].outputs)


def _status(status: Any, *, raises: Sequence[str]) -> Any:
    del raises
    return status


def _status_type(types: Sequence[TensorType], attrs: Attrs, regions: Sequence[Graph]) -> tuple[TensorType, ...]:
    del regions
    if not all(isinstance(text, str) for text in attrs["raises"]):
        raise InternalError("call_status: raises must hold strings")
    return tuple(types)


CALL_STATUS = define_op(
    "call_status",
    impl=_status,
    infer=_status_type,
    takes_open=True,
    params=("status",),
    differentiable=False,
    doc="Marks the status output of a function's graph, with the exceptions that it may report.",
)
"""It and the outputs after it are not part of the result. ``raises`` names the exceptions that depend on tensors, each
with its line; the exceptions themselves are not in the graph."""

CALL = define_op(
    "call",
    impl=_call_call,
    infer=_call_types,
    params=("*values",),
    regions=("body",),
    entries=lambda types, attrs, regions: [[(type, place) for place, type in enumerate(types)]],
    doc="A whole graph as one step.",
)
