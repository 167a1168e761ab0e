"""Python objects as they are: what a class defines, and which of its methods are the user's."""

from __future__ import annotations

import dataclasses
import reprlib
import sys
import types
from collections.abc import Sequence
from typing import Any, cast

from graphc.compiler.base import is_installed_file, is_library_module
from graphc.compiler.tracing import attribute, context, fixed, item

__all__ = ["PLAIN", "first_on", "found_on", "is_users", "users_method"]

PLAIN: set[type[Any]] = set()
"""Types, of those seen so far, whose values answer Python's operators without code of the user's."""

_PLAIN_PACKAGES = frozenset({"builtins", "graphc", "jax", "jaxlib", "ml_dtypes", "numpy"})


def found_on(kind: type[Any], name: str) -> Any:
    """Returns what Python finds for an attribute in a class and its bases, as it is there; None for nothing."""
    for base in kind.__mro__:  # getattr would bind a classmethod, and ask the metaclass
        if name in base.__dict__:
            return base.__dict__[name]
    return None


def first_on(kind: type[Any], names: Sequence[str]) -> tuple[str, Any]:
    """Returns the name of the first of these methods that a class has, and the method, whatever it is written in.

    What each object has from ``object`` passes the question on to the next name, as ``object.__str__`` does to
    ``__repr__``.
    """
    for name in names:
        method = found_on(kind, name)
        if method is not None and (method is not found_on(object, name) or name == names[-1]):
            return name, method
    return names[-1], None


def users_method(owner: Any, *names: str) -> types.FunctionType | None:
    """Returns the method of the user's with which an object answers Python, in a trace; None if there is none.

    What a class of a library's answers (a fraction, a path) is taken for pure, and what is generated (the comparisons
    of a dataclass) has no source to convert.

    Args:
      *names: the methods that Python looks for, in its order. Only the first one that the class has counts: one that is
        written in C hides those behind it.
    """
    kind = cast("type[Any]", type(owner))
    if context.trace is None or kind in PLAIN:
        return None
    if _package(kind) in _PLAIN_PACKAGES:
        if not (kind.__dictoffset__ and _package(kind) == "numpy"):  # a polynomial, whose attributes are looked at
            PLAIN.add(kind)
        return None
    name, method = first_on(kind, names)
    root = context.trace.root
    if name != names[0] or not isinstance(method, types.FunctionType):
        root.reads.names_of_class(kind, root.made_classes)  # which may get a method later
    if not isinstance(method, types.FunctionType):  # nothing else has code to convert
        base = next((base for base in kind.__mro__ if name in vars(base)), object)
        if not is_library_module(base.__module__) and base not in root.made_classes:  # `__str__ = str.upper`
            root.reads.held(item(attribute(fixed(base, base.__name__), "__dict__"), name), method)
        return None
    if not is_users(kind, method):
        if _is_generated(method):
            root.reads.whole(owner)
            root.reads.held(attribute(fixed(kind, kind.__name__), name), method)
        return None
    root.reads.record(attribute(fixed(kind, kind.__name__), name), method)
    return method


def is_users(kind: type[Any], method: types.FunctionType) -> bool:
    """Tells if a method is to be watched: it is not generated, nor a library's for a class of the library's own."""
    file = method.__code__.co_filename
    home = getattr(sys.modules.get(str(kind.__module__)), "__file__", None) or ""
    return not _is_generated(method) and not (is_installed_file(file) and is_installed_file(home))


def _is_generated(method: types.FunctionType) -> bool:
    """Tells if no file holds a method's code; the representation of a dataclass is generated, and then wrapped."""
    file = method.__code__.co_filename
    if file in (dataclasses.__file__, reprlib.__file__):
        inner = (cell.cell_contents for cell in method.__closure__ or ())
        return any(isinstance(part, types.FunctionType) and _is_generated(part) for part in inner)
    return file == "<string>"


def _package(kind: type[Any]) -> str:
    return str(kind.__module__).split(".")[0]
