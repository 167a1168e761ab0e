"""``operator.attrgetter``, ``itemgetter`` and ``methodcaller``: what they get, they get as converted code does."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any, cast

from graphc.compiler.autograph.constructs.calls.attributes import load_attr
from graphc.compiler.autograph.values.control import control

__all__ = ["GETTERS", "get_by"]

GETTERS = (operator.attrgetter, operator.itemgetter, operator.methodcaller)


def get_by(getter: Any, call_method: Callable[[Any, str], Any], /, *args: Any, **kwargs: Any) -> Any:
    """Calls a getter.

    Args:
      call_method: returns what to call for a method of an object.
      *args: the object; of anything else Python says what it says.
    """
    if len(args) != 1 or kwargs:
        return getter(*args, **kwargs)
    (owner,) = args
    made, given = cast("tuple[Any, tuple[Any, ...]]", getter.__reduce__())  # how Python pickles it
    if isinstance(getter, operator.methodcaller):
        named = cast("functools.partial[Any]", made).keywords if isinstance(made, functools.partial) else {}
        name, *rest = (*made.args, *given) if isinstance(made, functools.partial) else given
        return call_method(owner, name)(*rest, **named)
    get = _attributes if isinstance(getter, operator.attrgetter) else control.call(operator.getitem)
    found = tuple([get(owner, key) for key in given])
    return found[0] if len(found) == 1 else found


def _attributes(owner: Any, path: str) -> Any:
    return functools.reduce(load_attr, path.split("."), owner)
