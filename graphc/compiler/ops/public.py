"""The public function of a row, compiled from its signature, so that Python binds the arguments.

A plain eager call takes the fast path (:mod:`graphc.compiler.core.fast_path`): if its arguments are tensors and
numbers, the attributes select a compiled function directly.
"""

from __future__ import annotations
import __future__

import itertools
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import TYPE_CHECKING, Any, cast

import jax
import numpy as np

from graphc.compiler.base.errors import ConcretizationError, InvalidTypeError
from graphc.compiler.core import (
    FAST_PATH,
    NO_ATTRS,
    ArrayMethods,
    Tensor,
    apply,
    as_dtype,
    device,
    dtype_rules,
    fast_path,
    has_late_values,
    is_symbolic,
    kernel,
    late_value,
    raw,
    shorten,
    tell_of_method,
)
from graphc.compiler.ir import Attrs, OpDef, static_ints, typed_key
from graphc.compiler.ops import signature as signatures
from graphc.compiler.ops.dtypes import DTypeName
from graphc.compiler.ops.signature import REQUIRED, RowSignature
from graphc.compiler.ops.values import from_values
from graphc.compiler.tracing import current_trace

if TYPE_CHECKING:
    from graphc.compiler.ops.table import Row

# The static attributes of ops, in canonical form.

DTYPES = frozenset({"dtype", "index_dtype", "new_dtype", "preferred_element_type"})
"""The attributes that are dtypes."""


def attrs_maker(op: OpDef, defaults: Mapping[str, Any]) -> Callable[[tuple[Any, ...]], Attrs]:
    """Returns a cached function from attribute values to Attrs, without those that equal their default."""

    def build(values: tuple[Any, ...]) -> Attrs:
        items: dict[str, Any] = {}
        for (name, default), value in zip(defaults.items(), values, strict=True):
            item = static_value(op, name, value)
            # NumPy considers the dtype float64 equal to None.
            if (item is None) != (default is None) or typed_key(item) != typed_key(default):
                items[name] = item
        return Attrs(items)

    indices = [index for index, name in enumerate(defaults) if name in DTYPES]
    cache: dict[Any, Attrs] = {}

    def make(values: tuple[Any, ...]) -> Attrs:
        key = tuple(map(typed_key, values))
        if indices and any(values[index] is not None for index in indices):
            key = (*key, dtype_rules())  # the meaning of a dtype depends on the x64 setting
        try:
            attrs = cache.get(key)
        except TypeError:  # lists are not hashable
            return build(values)
        if attrs is None:
            attrs = build(values)
            # Late values would keep their graph alive, and the ``__index__`` of other objects may change.
            if all(map(_stays, values)) and not has_late_values(attrs):
                cache[key] = attrs
        return attrs

    return make


class AttributeCache(dict[Any, Any]):
    """A cache of objects made from attribute values; its keys also hold their :func:`kinds`: 1 differs from True."""

    def __init__(self, make: Callable[[tuple[Any, ...]], Any], count: int) -> None:
        super().__init__()
        self._make = make
        self._count = count

    def __missing__(self, key: tuple[Any, ...]) -> Any:
        values = key[: self._count]
        entry = self._make(values)
        if all(map(_is_told, values)):
            if len(self) >= _KEPT:
                self.clear()
            self[key] = entry
        return entry


_KEPT = 512
_SIMPLE = (type(None), bool, int, str, type, np.dtype, DTypeName)
_STAYING = (*_SIMPLE, float, complex, np.generic, Enum)


def kinds(value: Any) -> Any:
    """Returns the type of an attribute's value; for a tuple, those of its items."""
    return tuple(map(type, cast("tuple[Any, ...]", value))) if type(value) is tuple else cast("Any", type(value))


def _is_told(value: Any) -> bool:
    """Returns True if value and kinds identify the value: not for zeros, nor in nested tuples."""
    if type(value) is tuple:
        return all(not isinstance(item, tuple) and _is_told(item) for item in cast("tuple[Any, ...]", value))
    return isinstance(value, _SIMPLE) or (type(value) is float and value != 0)


def _stays(value: Any) -> bool:
    """Returns True if a value's meaning never changes."""
    if type(value) is tuple:
        return all(map(_stays, cast("tuple[Any, ...]", value)))
    return isinstance(value, _STAYING)


def static_value(op: OpDef, name: str, value: Any) -> Any:
    """Returns an attribute in its canonical form: a Python scalar, a string, a dtype, None, or a tuple of these."""
    # value: the user's value; lists, NumPy numbers and tensors with a value are accepted. An enumeration member, such
    # as of ``jax.lax.Precision``, becomes its name.
    if isinstance(value, list | tuple):
        return tuple(static_value(op, name, item) for item in cast("Sequence[Any]", value))
    if name in DTYPES and value is not None:
        return _dtype(op, value)
    if isinstance(value, Enum):
        return value.name
    if value is None or isinstance(value, bool | int | float | complex | str):
        return value
    if is_symbolic(value):
        if (late := late_value(value)) is not None:
            return late
        error = ConcretizationError(
            f"{op.name}: {name} must be known while the function is traced, but {value!r} has no value yet; pass a "
            "Python number"
        )
        raise current_trace().refuse(error)
    if isinstance(value, np.ndarray | np.generic | jax.Array | ArrayMethods):
        return static_ints(value)
    if hasattr(value, "__index__"):
        tell_of_method(value, "__index__")
        return value.__index__()
    raise InvalidTypeError(
        f"{op.name}: {name} must be static (numbers, strings, tuples of these), got {value!r:.60}"
    ).here()


def _dtype(op: OpDef, value: Any) -> np.dtype[Any]:
    try:
        return as_dtype(value)
    except InvalidTypeError as error:
        raise InvalidTypeError(f"{op.name}: {error.args[0]}").here() from None


_ANNOTATIONS = __future__.annotations.compiler_flag
_TEMPLATE = """\
def {name}({signature}):
    {first}{fast}{instead}try:
        return {wrap}(_apply(_op, {tensors}, {attrs}))
    except Exception as _error:
        _shorten(_error)
        raise
"""
_OPTIONAL_TEMPLATE = """\
def {name}({signature}):
    {first}{fast}{instead}try:
        _given = tuple([_name for _name, _value in ({pairs}) if _value is not None])
        _rest = [_value for _value in ({optional}) if _value is not None]
        return {wrap}(_apply(_ops[_given], ({required}*_rest, ), {attrs}))
    except Exception as _error:
        _shorten(_error)
        raise
"""
_INSTEAD = """\
if _context.trace is not None and (_found := _instead({arguments})) is not None:
        return _found
    """
_ON_DEVICE = """\
if device:
        with _device(device):
            return {name}({arguments})
    """
_FROM_VALUES = """\
if size is None:
        return {wrap}(_from_values(({tensors}), {{{attributes}}}))
    """


def combinations(optional: Sequence[str]) -> list[tuple[str, ...]]:
    """Returns the combinations of optional tensors: all subsets, the empty one first."""
    return [names for count in range(len(optional) + 1) for names in itertools.combinations(optional, count)]


def public_function(entry: Row, ops: Mapping[tuple[str, ...], OpDef]) -> Callable[..., Any]:
    """Returns the public function of a row."""
    op = ops[()]
    signature = RowSignature.parse(entry.signature)
    attributes = _items(signature.defaults)
    template = _OPTIONAL_TEMPLATE if signature.optional else _TEMPLATE
    wrap = "_wrapper"
    if entry.returns.startswith("Tensor"):
        wrap = "_some" if "tuple" in entry.returns else ""
    elif entry.returns.startswith("tuple"):
        wrap = "_tuple"
    attrs = f"_attrs(({attributes}))" if attributes else "_no_attrs"
    source = template.format(
        name=entry.function,
        signature=entry.signature,
        first=_first_steps(entry, signature, wrap),
        fast=_fast_path(entry, signature),
        instead=_INSTEAD.format(arguments=", ".join(signature.words)) if entry.instead else "",
        wrap=wrap,
        required=_items(signature.tensors),
        optional=_items(signature.optional),
        pairs="".join(f"({name!r}, {name}), " for name in signature.optional),
        tensors=f"({_items(signature.tensors)})",
        attrs=_unless_default(signature, "_no_attrs", attrs),
    )
    attrs_of = attrs_maker(op, signature.defaults)
    namespace: dict[str, Any] = {
        **FAST_PATH,
        "_Tensor": Tensor,
        "_shorten": shorten,
        "_apply": apply,
        "_attrs": attrs_of,
        "_check": entry.check,
        "_device": device,
        "_from_values": entry.by_value and from_values(op, entry.by_value),
        "_instead": entry.instead,
        "_kernel": kernel(op),
        "_kernels": AttributeCache(lambda values: kernel(op, attrs_of(values)), len(signature.defaults)),
        "_kinds": kinds,
        "_no_attrs": NO_ATTRS,
        "_op": op,
        "_ops": ops,
        "_rules": dtype_rules,
        "_some": _some,
        "_tuple": as_tuple,
        "_wrapped": _wrapped,
        "_wrapper": getattr(getattr(signatures, entry.returns, None), "_make", None),
        **{f"_default_{name}": default for name, default in signature.defaults.items()},
    }
    code = compile(source, f"<graphc op {entry.name}>", "exec", flags=_ANNOTATIONS, dont_inherit=True)
    exec(code, namespace)
    function: Callable[..., Any] = namespace[entry.function]
    function.__module__, function.__qualname__ = "graphc", entry.name  # where pickle finds it
    return function


def _fast_path(entry: Row, signature: RowSignature) -> str:
    """Returns the code of the fast path; empty if the form of the result or the device must be checked."""
    if entry.platforms:
        return ""
    several = entry.returns.startswith("tuple")
    if not (several or entry.returns == "Tensor"):
        return ""
    # A sequence argument may be an iterator that can be read only once; those from *arguments cannot.
    conditions = [
        *(f"_type({name}) in (list, tuple)" for name in signature.sequences),
        *(f"{name} is None" for name in signature.optional),
    ]
    key = "".join(f"{name}, " for name in signature.defaults) + "".join(
        f"{_kind(name, annotation)}, " for name, annotation in signature.annotations.items()
    )
    arrays = [
        f"*[{raw('_item')} for _item in {name[1:]}]" if name.startswith("*") else raw(name)
        for name in signature.tensors
    ]
    kernel_of = f"_kernels[{key}]" if signature.defaults else "_kernel"
    kernel = f"({_unless_default(signature, '_kernel', kernel_of)})"
    return fast_path(kernel, arrays, conditions=conditions, several=several)


def _unless_default(signature: RowSignature, default: str, otherwise: str) -> str:
    """Returns an expression that is ``default`` if each attribute has its default, or may have it."""
    if not signature.defaults or any(value is REQUIRED for value in signature.defaults.values()):
        return otherwise
    # By identity, which distinguishes 1 from True and 1.0; a given default is the same object, as small ints are.
    checks = " and ".join(
        f"{name} is {value}" if value is None or isinstance(value, bool) else f"{name} is _default_{name}"
        for name, value in signature.defaults.items()
    )
    return f"{default} if {checks} else {otherwise}"


def _kind(name: str, annotation: str) -> str:
    """Returns an expression that distinguishes an attribute's value from other values equal to it."""
    if name in DTYPES:
        return f"None if {name} is None else (_rules(), _type({name}))"
    return f"_type({name})" if annotation.removesuffix(" | None") in _PLAIN else f"_kinds({name})"


_PLAIN = ("bool", "int", "float", "str")


def _wrapped(outputs: Any) -> tuple[Tensor, ...]:
    return tuple([Tensor(array) for array in as_tuple(outputs)])


def _first_steps(entry: Row, signature: RowSignature, wrap: str) -> str:
    """Returns the code that runs before the op is applied."""
    steps = f"_check({', '.join(signature.words)})\n    " if entry.check else ""
    if signature.on_device:
        arguments = ", ".join(f"{name}={name}" for name in signature.words if name != "device")
        steps += _ON_DEVICE.format(name=entry.function, arguments=arguments)
    if entry.by_value is not None:
        used = [name for name in signature.defaults if name not in ("size", "fill_value")]
        attributes = "".join(f"{name!r}: {name}, " for name in used)
        steps += _FROM_VALUES.format(wrap=wrap, tensors=_items(signature.tensors), attributes=attributes)
    return steps


def _items(names: Any) -> str:
    return "".join(f"{name}, " for name in names)


def _some(outputs: Any) -> Any:
    return () if outputs is None else outputs


def as_tuple(outputs: Any) -> tuple[Any, ...]:
    """Returns the outputs as a plain tuple, also for a single output, or for none, given as None."""
    if outputs is None:
        return ()
    return tuple(cast("Sequence[Any]", outputs)) if isinstance(outputs, tuple | list) else (outputs,)
