"""``owner.name``: properties and other descriptors of the user's are calls."""

from __future__ import annotations

import functools
import operator
import types
from collections.abc import Callable
from typing import Any, cast

from graphc.compiler.autograph.constructs.calls.guarded import call_dispatched_method, class_of, computed_once
from graphc.compiler.autograph.constructs.exceptions.origins import in_python
from graphc.compiler.autograph.constructs.purity.opaque import side_effect
from graphc.compiler.autograph.constructs.purity.reading import (
    found_after,
    is_library,
    read_attribute,
    read_descriptor,
    read_inherited,
    read_missing,
    read_unset,
)
from graphc.compiler.autograph.constructs.purity.unconverted import asked
from graphc.compiler.autograph.constructs.purity.watch import called_by, counts_as_a_whole, operator_method
from graphc.compiler.autograph.values.choice import ask, over_choices
from graphc.compiler.autograph.values.index import is_symbolic
from graphc.compiler.autograph.values.kinds import PLAIN, found_on, is_users
from graphc.compiler.autograph.values.number import example_of, has_attribute
from graphc.compiler.base import with_article
from graphc.compiler.core import ArrayMethods, converted
from graphc.compiler.tracing import context

_NATIVE = (types.WrapperDescriptorType, types.MethodDescriptorType)
_NAMESPACES = (ArrayMethods, types.ModuleType, type)


@over_choices(ask)
def load_attr(owner: Any, name: str, *, by_item: bool = False) -> Any:
    """Returns ``owner.name``; ``by_item``: nothing but items will be asked of the result."""
    kind, fallback = cast("type[Any]", type(owner)), None
    if is_symbolic(owner) and not has_attribute(owner, name):
        return in_python(getattr, example_of(owner), name)  # which says that there is none
    if is_symbolic(owner) and name == "__class__":  # that of int(t) is int
        return converted(type)(owner)
    try:
        # `super` is a builtin class, but what it finds may be the user's.
        if context.trace is None or (kind in PLAIN and kind is not super) or isinstance(owner, _NAMESPACES):
            value = in_python(getattr, owner, name)
            read_attribute(owner, name, value, by_item=by_item)
            return value
        fallback = operator_method(owner, "__getattr__")
        if (finder := operator_method(owner, "__getattribute__")) is not None:
            return converted(finder)(owner, name)
        # getattr would run the user's __getattr__ unconverted.
        return _found_attr(owner, name, getattr if fallback is None else _without_fallback, by_item=by_item)
    except AttributeError:
        read_missing(owner, name)  # it may be there in the next call
        if fallback is None:
            raise
        return converted(fallback)(owner, name)


def _without_fallback(owner: Any, name: str) -> Any:
    """``getattr`` that leaves ``__getattr__`` out."""
    return found_on(class_of(owner), "__getattribute__")(owner, name)


def _found_attr(owner: Any, name: str, native: Callable[[Any, str], Any], *, by_item: bool) -> Any:
    kind, instance = class_of(owner), owner
    if kind is super:
        kind, instance = found_after(owner, name), owner.__self__
    attribute = found_on(kind, name)
    if isinstance(attribute, property):
        function = attribute.fget
        users = isinstance(function, types.FunctionType) and is_users(kind, function)
        if users or (function is not None and not is_library(kind)):  # which may be an attrgetter, or have no source
            read_descriptor(kind, name, attribute)
            return converted(function)(instance)
    elif isinstance(attribute, functools.partialmethod):
        read_descriptor(kind, name, attribute)
    elif isinstance(attribute, functools.singledispatchmethod):
        return functools.partial(call_dispatched_method, attribute, owner, kind)
    elif isinstance(attribute, functools.cached_property):
        if name not in owner.__dict__:
            # A cached property stores its result in the object.
            side_effect(f"the first use of the cached property {name!r} of {with_article(kind.__name__)}")
            value = computed_once(owner, name)
            read_attribute(owner, name, value, by_item=by_item)
            return value
    # Python's order: a descriptor with __set__ goes before the object's own attributes, any other after them.
    elif (getter := _getter(attribute)) is not None and (
        found_on(class_of(attribute), "__set__") is not None or name not in getattr(owner, "__dict__", ())
    ):
        read_descriptor(kind, name, attribute)
        if found_on(class_of(attribute), "__set__") is None:
            read_unset(owner, name)  # such an attribute would take its place in the next call
        return converted(getter)(attribute, owner, kind)
    if isinstance(attribute, _NATIVE):  # `show = str.upper`: Python may refuse to bind it, which is an answer, too
        read_inherited(kind, name)
        read_unset(owner, name)
    value = in_python(native, owner, name)
    read_attribute(owner, name, value, by_item=by_item)
    if attribute is None and native is getattr and isinstance(found_on(kind, "__getattr__"), _NATIVE):
        read_missing(owner, name)  # `__getattr__ = dict.get` has answered, before which an attribute goes
    return value


def _getter(descriptor: Any) -> Any:
    """Returns the ``__get__`` of a descriptor of the user's, whose source may be gone; None of any other object."""
    if (method := operator_method(descriptor, "__get__")) is not None:
        return method
    method = found_on(class_of(descriptor), "__get__")
    return method if isinstance(method, types.FunctionType) and not is_library(class_of(descriptor)) else None


def own_attr(owner: Any, name: str) -> Any:
    """``object.__getattribute__(owner, name)``, also by ``super()``, as a ``__getattribute__`` of the user's asks."""
    if context.trace is None or isinstance(owner, _NAMESPACES):
        return in_python(object.__getattribute__, owner, name)
    try:
        return _found_attr(owner, name, object.__getattribute__, by_item=False)
    except AttributeError:
        read_missing(owner, name)
        raise


def getattr_in_trace(owner: Any, name: str, *default: Any) -> Any:
    """``getattr`` with a look at properties."""
    try:
        return load_attr(owner, name)
    except AttributeError:
        if default:
            return default[0]
        raise


def listing(function: Any, owner: Any) -> Any:
    """``vars`` or ``dir`` of an object."""
    read_attribute(owner, "__dict__", None)
    if function is dir:
        asked(owner, called_by(dir))
        if isinstance(owner, types.ModuleType):
            counts_as_a_whole(vars(owner))
    return in_python(function, owner)


def hasattr_in_trace(owner: Any, name: str) -> bool:
    """``hasattr``, which is ``getattr`` without the value."""
    if is_symbolic(owner):
        return has_attribute(owner, name)
    try:
        load_attr(owner, name)
    except AttributeError:
        return False
    return True


# ``operator.attrgetter``, ``itemgetter`` and ``methodcaller``: what they get, they get as converted code does.

GETTERS = (operator.attrgetter, operator.itemgetter, operator.methodcaller)


def get_by(getter: Any, call_method: Callable[[Any, str], Any], /, *args: Any, **kwargs: Any) -> Any:
    """Calls a getter of ``operator``, methods as ``call_method(object, name)``; Python answers wrong arguments."""
    if len(args) != 1 or kwargs:
        return getter(*args, **kwargs)
    (owner,) = args
    factory, keys = cast("tuple[Any, tuple[Any, ...]]", getter.__reduce__())  # how Python pickles it
    if isinstance(getter, operator.methodcaller):
        named = cast("functools.partial[Any]", factory).keywords if isinstance(factory, functools.partial) else {}
        name, *rest = (*factory.args, *keys) if isinstance(factory, functools.partial) else keys
        return call_method(owner, name)(*rest, **named)
    get = _attributes if isinstance(getter, operator.attrgetter) else converted(operator.getitem)
    values = tuple([get(owner, key) for key in keys])
    return values[0] if len(values) == 1 else values


def _attributes(owner: Any, path: str) -> Any:
    return functools.reduce(load_attr, path.split("."), owner)
