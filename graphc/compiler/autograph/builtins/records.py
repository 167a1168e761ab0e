"""Python's functions that make an object out of another: ``dataclasses.replace``, ``copy.copy``, ``_replace``.

What they do besides making an object is what its class does when one is made.
"""

from __future__ import annotations

import copy
import dataclasses
import types
from collections.abc import Callable
from typing import Any, cast

from graphc.compiler.autograph.constructs.calls.call import call
from graphc.compiler.autograph.constructs.overrides import PURE, Functions
from graphc.compiler.autograph.constructs.purity.library_reads import check_unseen
from graphc.compiler.autograph.constructs.purity.reading import is_library
from graphc.compiler.autograph.constructs.purity.watch import made, operator_method
from graphc.compiler.autograph.values.protocol import look_into
from graphc.compiler.autograph.values.python_object import found_on, is_users
from graphc.compiler.base import nest, with_article
from graphc.compiler.core import ArrayMethods
from graphc.compiler.tracing import context


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
    found: dict[int, Any] = {}
    left = [value]
    while left:
        part = left.pop()
        if id(part) in found:
            continue
        found[id(part)] = part
        inner = nest.children(part)
        attributes = cast("dict[str, Any]", vars(part)) if inner is None and _is_record(part) else {}
        left += inner[1] if inner else attributes.values()
    return list(found.values())


def _is_record(value: Any) -> bool:
    """Returns True if an object of the user's is no more than its attributes, which copying copies."""
    kind = cast("type[Any]", type(value))
    plain = all(found_on(kind, name) is found_on(object, name) for name in (*_HOOKS, "__deepcopy__"))
    return plain and not is_library(kind) and kind.__mro__[1:] == (object,) and hasattr(value, "__dict__")


def _check_hooks(value: Any, function: str, *names: str) -> None:
    """Reports code of the user's that copying runs; of other objects than containers that is not known."""
    kind = cast("type[Any]", type(value))
    known = nest.children(value) is not None or not names or isinstance(value, _PLAIN) or _is_record(value)
    hooks = (found_on(kind, name) for name in (*_HOOKS, *names))
    written = any(isinstance(hook, types.FunctionType) and _is_written(kind, hook) for hook in hooks)
    if context.trace is not None and not isinstance(value, ArrayMethods) and (written or not known):
        context.trace.side_effect(f"the call of {function} on {with_article(kind.__name__)}")


def _is_written(kind: type[Any], hook: types.FunctionType) -> bool:
    return id(hook.__code__) not in PURE and is_users(kind, hook)


_PLAIN = (str, bytes, int, float, complex, type(None), types.FunctionType, type, ArrayMethods)


def _owned(new: Any, *old: Any) -> Any:
    """Returns a new object, which the code of the open region may change."""
    return new if any(new is value for value in old) or isinstance(new, ArrayMethods) else made(new)


OVERRIDES: Functions = {dataclasses.replace: _replace, copy.copy: _copy, copy.deepcopy: _deepcopy}
