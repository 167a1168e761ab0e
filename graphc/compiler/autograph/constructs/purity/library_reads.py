"""Records what converted code reads of libraries' objects and modules, which report nothing themselves.

An attribute that such an object computes is guarded by its value. Where nothing can be guarded, as of the lines of a
memory map, the user is told that it is read once.
"""

from __future__ import annotations

import sys
import types
from collections import deque
from collections.abc import Iterator
from typing import Any, cast

import numpy as np

from graphc.compiler.autograph.constructs.exceptions.origins import in_python
from graphc.compiler.autograph.values.python_object import found_on
from graphc.compiler.base import is_kept, with_article
from graphc.compiler.tracing import MISSING, ReadGuard, attribute, context, fixed, is_unseen, recorded_whole

__all__ = ["check_unseen", "is_iterator", "is_told_unseen", "read_computed", "read_of_module"]

_GETTERS = (types.GetSetDescriptorType, types.MemberDescriptorType, property)
_FUNCTION_STATE = frozenset(("__annotations__", "__doc__", "__kwdefaults__", "__module__", "__name__", "__qualname__"))
_STATELESS = frozenset(("_struct", "jax", "jaxlib", "operator", "re", "string"))
"""Packages whose objects stay as they are, though they are no plain values; ``jax.config`` aside."""


def read_computed(owner: Any, name: str, value: Any) -> None:
    """Tells of an attribute that an object of a library's computes, or that it keeps where Python does not look."""
    assert context.trace is not None
    reads = context.trace.root.reads
    source, kind = reads.source(owner), cast("type[Any]", type(owner))
    if source is None or not _is_state(owner, kind, name):
        return
    place = attribute(source, name)
    if isinstance(value, type | types.ModuleType) or (callable(value) and not is_unseen(value)):
        return
    # Asked twice: by identity only what stays the same object can be guarded.
    if recorded_whole(value) or in_python(getattr, owner, name, MISSING) is value:
        reads.record(place, value)
    elif not is_unseen(value):  # made anew each time, and compared by what it holds
        reads.add(ReadGuard(place, "type({v}) is {0} and {v} == {1}", (cast("type[Any]", type(value)), value)))
    else:
        reads.register(place, value)


def _is_state(owner: Any, kind: type[Any], name: str) -> bool:
    if isinstance(owner, types.FunctionType):
        return name in _FUNCTION_STATE
    if isinstance(owner, np.ndarray):
        return name in ("flags", "strides")
    if isinstance(owner, deque):
        return name == "maxlen"
    found = found_on(kind, name)
    computes = isinstance(found, _GETTERS) or (
        found is not None and hasattr(cast("type[Any]", type(found)), "__set__") and not isinstance(found, type)
    )
    is_called = callable(owner) and not isinstance(owner, type) and kind.__module__.partition(".")[0] != "graphc"
    of_object = is_unseen(owner) or is_called
    return computes and (of_object or (isinstance(owner, dict | list | set) and kind not in (dict, list, set)))


def read_of_module(module: types.ModuleType, name: str, value: Any) -> None:
    """Tells of an attribute of a library's module; functions, classes and constants of its own stay as they are."""
    assert context.trace is not None
    if is_kept(name, value):
        return
    reads, place = context.trace.root.reads, attribute(fixed(module, module.__name__), name)
    # By item: any import elsewhere makes sys.modules longer.
    (reads.container if value is sys.modules else reads.record)(place, value)


def is_told_unseen(owner: Any, *, as_iterator: bool = False) -> bool:
    """Returns True if an object comes from outside and holds what no guard sees.

    Args:
      as_iterator: whether an iterator counts; to take items of it is told of elsewhere.
    """
    if context.trace is None or context.trace.root.reads.source(owner) is None:
        return False
    if is_iterator(owner) and not as_iterator:
        return False
    return is_unseen(owner) and type(owner).__module__.partition(".")[0] not in _STATELESS


def is_iterator(value: Any) -> bool:
    """Returns True if a value is an iterator."""
    return isinstance(value, Iterator)


def check_unseen(owner: Any, *, as_iterator: bool = False) -> None:
    """Says that Python code is about to look at what an object holds, if no guard can; as :func:`is_told_unseen`."""
    if is_told_unseen(owner, as_iterator=as_iterator):
        assert context.trace is not None
        context.trace.read_once(f"the use of {with_article(type(owner).__name__)}")
