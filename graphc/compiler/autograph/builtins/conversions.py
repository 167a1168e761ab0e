"""Builtins that look at one number or two: ``int``, ``float``, ``round``, ``abs``, ``isinstance`` and the like.

Of tensors without values they give numbers known at run time only (see
:mod:`graphc.compiler.autograph.values.number_operators`), of
the index of a rolled loop another such index; of all else what they always give.
"""

from __future__ import annotations

import copy
import dataclasses
import types
from collections.abc import Callable
from typing import Any, cast

import numpy as np

from graphc.compiler.autograph.constructs.branches.logic import require, truth_value
from graphc.compiler.autograph.constructs.calls.call import call
from graphc.compiler.autograph.constructs.exceptions.origins import in_python
from graphc.compiler.autograph.constructs.overrides import PURE, Functions, of_values
from graphc.compiler.autograph.constructs.purity.opaque import check_unseen
from graphc.compiler.autograph.constructs.purity.reading import is_library
from graphc.compiler.autograph.constructs.purity.watch import made, operator_method
from graphc.compiler.autograph.values.exact import whole_number
from graphc.compiler.autograph.values.index import is_symbolic
from graphc.compiler.autograph.values.join import describe
from graphc.compiler.autograph.values.kinds import examples, first_on, found_on, is_instance, is_users
from graphc.compiler.autograph.values.number import SymbolicNumber, kind_of, kinds_of, number
from graphc.compiler.autograph.values.protocol import as_tensor, converted, look_into, symbol_of
from graphc.compiler.base import nest, with_article
from graphc.compiler.base.errors import GraphcError, InvalidArgumentError, InvalidTypeError, UnimplementedError
from graphc.compiler.core import FUNCTIONS, ArrayMethods, SymbolicTensor, Tensor, Variable, apply, kind_of_dtype
from graphc.compiler.ir import OPS
from graphc.compiler.tracing import context, current_trace

Native = Callable[..., Any]


def _conversion(kind: type[Any]) -> Callable[..., Any]:
    def convert(native: Native, *args: Any, **kwargs: Any) -> Any:
        if len(args) == 1 and not kwargs:
            if (result := converted(args[0], kind)) is not NotImplemented:
                return result
            if isinstance(args[0], SymbolicTensor):
                return _of_tensor(args[0], kind)
            asks = kind is not complex or not isinstance(args[0], str)  # of which it reads the letters
            if asks and (method := operator_method(args[0], *_ASKED[kind])) is not None:
                name, _ = first_on(cast("type[Any]", type(args[0])), _ASKED[kind])
                return _answer(kind, args[0], name, call(method)(args[0]))
        return native(*args, **kwargs)

    return convert


_ASKED: dict[type[Any], tuple[str, ...]] = {
    bool: ("__bool__", "__len__"),
    complex: ("__complex__", "__float__", "__index__"),
    float: ("__float__", "__index__"),
    int: ("__int__", "__index__"),
}


def _answer(function: Any, owner: Any, name: str, result: Any) -> Any:
    """Returns what a builtin (``bool``, ``int``, ``float``, ``complex``, ``len``) makes of a user's method's result."""

    def native(answer: Any) -> Any:
        asked: Any = type(type(owner).__name__, (), {name: lambda self: answer})  # pyright: ignore[reportUnknownLambdaType]
        return in_python(function, asked())

    if is_symbolic(result) and not isinstance(result, SymbolicTensor):
        result = number(as_tensor(result), int)
    if not isinstance(result, SymbolicTensor):
        return native(result)
    for kind in kinds_of(result) or ():
        native(kind(1))
    if kind_of(result) is None:
        native(Tensor(np.ones(result.shape, result.dtype)))  # raises what Python raises for a tensor
    if name == "__len__":
        require(number(result, int) >= 0, lambda: ValueError("__len__() should return >= 0"))
    return truth_value(result) if function is bool else number(result, int if function is len else function)


def _len(native: Native, value: Any) -> Any:
    """``len`` of an object of the user's."""
    method = operator_method(value, "__len__")
    return native(value) if method is None else _answer(len, value, "__len__", call(method)(value))


def _abs(native: Native, value: Any) -> Any:
    method = operator_method(value, "__abs__")
    return native(value) if method is None else call(method)(value)


def _of_tensor(value: SymbolicTensor, kind: type[Any]) -> SymbolicNumber:
    if kind is bool:
        return truth_value(value)
    if value.size != 1:
        raise _refused(
            InvalidArgumentError(f"{kind.__name__}() needs exactly one element, this tensor is {value.type}")
        )
    if value.dtype.kind == "c" and kind is not complex:
        raise _refused(InvalidTypeError(f"{kind.__name__}() of a complex tensor {value.type}; use gx.real or gx.abs"))
    return whole_number(value) if kind is int else number(value, kind)


def _refused(error: GraphcError) -> GraphcError:
    return current_trace().refuse(error)


def _complex(native: Native, *args: Any, **kwargs: Any) -> Any:
    parts = (*args, *kwargs.values())
    if len(parts) == 1 or not any(is_symbolic(part) for part in parts):
        return _conversion(complex)(native, *args, **kwargs)
    parts = [_conversion(complex)(complex, part) for part in parts]
    return parts[0] + parts[1] * 1j


def _round(native: Native, value: Any, ndigits: Any = None) -> Any:
    if (method := operator_method(value, "__round__")) is not None:
        return call(method)(value) if ndigits is None else call(method)(value, ndigits)
    if not isinstance(value, SymbolicTensor):
        return native(value) if ndigits is None else native(value, ndigits)
    if value.shape:
        raise _refused(InvalidTypeError(f"round() of a tensor {value.type}; use gx.round(x, decimals)"))
    whole = kind_of_dtype(value.dtype) in "biu"
    if ndigits is None:
        return _of_tensor(value if whole else cast("SymbolicTensor", apply(OPS["rint"], (value,))), int)
    rounded = value if whole and type(ndigits) is int and ndigits >= 0 else FUNCTIONS["round"](value, ndigits)
    kind = kind_of(value)
    return rounded if kind is None else number(rounded, int if whole else kind)


_KINDS = {"b": bool, "i": int, "u": int, "c": complex}


def _item(native: Native, value: SymbolicTensor) -> SymbolicNumber:
    """``value.item()``."""
    del native
    return _of_tensor(value, _KINDS.get(kind_of_dtype(value.dtype), float))


def _tolist(native: Native, value: Any) -> Any:
    """``value.tolist()``."""
    if not isinstance(value, SymbolicTensor):
        return native()
    return [_tolist(native, row) for row in value] if value.shape else _item(native, value)


def _isinstance(native: Native, value: Any, kind: Any) -> Any:
    return is_instance(value, kind) if is_symbolic(value) else native(value, kind)


def _type(native: Native, *args: Any, **kwargs: Any) -> Any:
    if len(args) != 1 or not is_symbolic(args[0]):
        late = len(args) == 1 and symbol_of(args[0]) is not None
        return args[0].__class__ if late else native(*args, **kwargs)  # of a text, what it will be
    kinds = {_kind_in_python(example) for example in examples(args[0])}
    if len(kinds) > 1:
        names = " or ".join(sorted(kind.__name__ for kind in kinds))
        error = UnimplementedError(
            f"type() of {describe(args[0])} is not known while the function is traced: it was computed from Python "
            f"numbers, so that in plain Python it may be a {names}; make it a tensor with gx.asarray where it is bound"
        )
        raise _refused(error)
    return kinds.pop()


def _kind_in_python(example: Any) -> type[Any]:
    return Tensor if isinstance(example, SymbolicTensor) else cast("type[Any]", type(example))


OVERRIDES: Functions = {
    **{kind: of_values(_conversion(kind)) for kind in (bool, int, float)},
    ArrayMethods.tolist: of_values(_tolist),
    SymbolicTensor.item: _item,
    Variable.item: of_values(_item),
    abs: _abs,
    complex: of_values(_complex),
    isinstance: _isinstance,
    len: _len,
    round: of_values(_round),
    type: _type,
}


# Python's functions that make an object out of another: ``dataclasses.replace``, ``copy.copy``, ``_replace``.


def _replace(native: Callable[..., Any], owner: Any, /, **changes: Any) -> Any:
    """``dataclasses.replace``: a new object of the same class, made as any other."""
    if not dataclasses.is_dataclass(owner) or isinstance(owner, type):
        return native(owner, **changes)
    for field in dataclasses.fields(owner):
        if field.init:
            changes.setdefault(field.name, getattr(owner, field.name))
        elif field.name in changes:
            return native(owner, **changes)  # which raises
    return call(cast("type[Any]", type(owner)))(**changes)


_HOOKS = (
    "__reduce__",
    "__reduce_ex__",
    "__getstate__",
    "__setstate__",
    "__getnewargs__",
    "__getnewargs_ex__",
    "__new__",
)
"""The methods that copying asks of an object."""


def _copy(native: Callable[[Any], Any], value: Any) -> Any:
    """``copy.copy``."""
    look_into(value)
    method = operator_method(value, "__copy__")
    if method is not None:
        return call(method)(value)
    _check_hooks(value, "copy.copy")
    check_unseen(value, as_iterator=True)
    return _owned(native(value), value)


def _deepcopy(native: Callable[..., Any], value: Any, *memo: Any) -> Any:
    """``copy.deepcopy``, of containers all parts of which are copied too."""
    for part in _parts(value):
        look_into(part)
        _check_hooks(part, "copy.deepcopy", "__deepcopy__")
        check_unseen(part, as_iterator=True)
    new = native(value, *memo)
    for part in _parts(new):
        _owned(part)
    return new


def _parts(value: Any) -> list[Any]:
    """Returns a nested value and everything in it, of the user's objects also what their attributes hold."""
    parts: dict[int, Any] = {}
    left = [value]
    while left:
        part = left.pop()
        if id(part) in parts:
            continue
        parts[id(part)] = part
        inner = nest.children(part)
        attributes = cast("dict[str, Any]", vars(part)) if inner is None and _is_record(part) else {}
        left += inner[1] if inner else attributes.values()
    return list(parts.values())


def _is_record(value: Any) -> bool:
    """Returns True if an object of the user's is no more than its attributes, which copying copies."""
    kind = cast("type[Any]", type(value))
    plain = all(found_on(kind, name) is found_on(object, name) for name in (*_HOOKS, "__deepcopy__"))
    return plain and not is_library(kind) and kind.__mro__[1:] == (object,) and hasattr(value, "__dict__")


def _check_hooks(value: Any, function: str, *names: str) -> None:
    """Reports code of the user's that copying runs; of other objects than containers that is not known."""
    kind = cast("type[Any]", type(value))
    plain = nest.children(value) is not None or not names or isinstance(value, _PLAIN) or _is_record(value)
    hooks = (found_on(kind, name) for name in (*_HOOKS, *names))
    written = any(isinstance(hook, types.FunctionType) and _is_written(kind, hook) for hook in hooks)
    if context.trace is not None and not isinstance(value, ArrayMethods) and (written or not plain):
        context.trace.side_effect(f"the call of {function} on {with_article(kind.__name__)}")


def _is_written(kind: type[Any], hook: types.FunctionType) -> bool:
    return id(hook.__code__) not in PURE and is_users(kind, hook)


_PLAIN = (str, bytes, int, float, complex, type(None), types.FunctionType, type, ArrayMethods)


def _owned(new: Any, *old: Any) -> Any:
    """Returns a new object, which the code of the open region may change."""
    return new if any(new is value for value in old) or isinstance(new, ArrayMethods) else made(new)


COPIES: Functions = {dataclasses.replace: _replace, copy.copy: _copy, copy.deepcopy: _deepcopy}
