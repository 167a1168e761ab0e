"""Names of a module that are made when they are first used: the one way in which graphc puts work off at import.

Python asks a module's ``__getattr__`` for a name that the module does not have (PEP 562), also in ``from module import
name``. :func:`lazy_names` gives a module such a function, and what it makes stays in the module. Two threads that ask
at the same time may both run a maker, so a maker gives the same object each time, as an import does. No lock is held
meanwhile: a maker that imports waits for Python's own locks, and two kinds of locks could wait for each other.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from importlib import import_module
from types import ModuleType
from typing import Any, cast

__all__ = ["held_by", "hint_missing", "hint_of", "imported_names", "is_kept", "lazy_names", "names_of"]

Makers = Mapping[str, Callable[[], Any]]


def lazy_names(
    namespace: dict[str, Any], makers: Makers, missing: Callable[[str], AttributeError] | None = None
) -> None:
    """Gives a module names that are made when they are first used.

    Args:
      namespace: the module's ``globals()``; it gets ``__getattr__`` and ``__dir__``.
      makers: what makes each name; they are also listed by ``dir``.
      missing: the error for a name that the module does not have; None for Python's.
    """
    module = namespace["__name__"]

    def __getattr__(name: str) -> Any:  # noqa: N807
        make = makers.get(name)
        if make is not None:
            return namespace.setdefault(name, make())
        # Tools ask every module for private names, often; Python asks for a module inside while it is imported.
        if missing is not None and not name.startswith("_") and f"{module}.{name}" not in sys.modules:
            raise missing(name)
        raise AttributeError(f"module {module!r} has no attribute {name!r}")

    namespace.update(__getattr__=__getattr__, __dir__=lambda: sorted({*namespace, *makers}), __lazy__=makers)


def held_by(module: ModuleType, name: str) -> Any:
    """Returns what a module holds under a name, made now if it is one of :func:`lazy_names`; None for nothing.

    Another module's ``__getattr__`` is not asked: it may do anything.
    """
    known = vars(module)
    return getattr(module, name) if name in known.get("__lazy__", ()) else known.get(name)


_CONSTANTS = frozenset(("e", "euler_gamma", "inf", "infj", "nan", "nanj", "newaxis", "pi", "tau"))
_PLAIN = (bool, bytes, complex, float, frozenset, int, str, tuple, type(None))


def is_kept(name: str, value: Any) -> bool:
    """Tells if a library's module holds the same under a name for good: a function, a class, a module, a constant.

    Settings, lists and whatever else may change are none of these.

    Example:
      >>> import math, sys
      >>> is_kept("sin", math.sin), is_kept("pi", math.pi), is_kept("argv", sys.argv)
      (True, True, False)
    """
    if callable(value) or isinstance(value, ModuleType) or name in _CONSTANTS:
        return True
    kind = cast("type[Any]", type(value))
    return kind not in _PLAIN and kind.__hash__ not in (None, object.__hash__)  # it is hashed by what it is


def names_of(modules: Iterable[ModuleType]) -> dict[str, Callable[[], Any]]:
    """Makers of the names that modules list, for a module that stands for them all.

    Args:
      modules: modules with ``__all__``; of a name that two of them list, the last one's is taken, as by imports.
    """
    return {name: partial(getattr, module, name) for module in modules for name in module.__all__}


def imported_names(homes: Mapping[str, str]) -> dict[str, Callable[[], Any]]:
    """Makers of names that are imported.

    Args:
      homes: for each module its names, separated by spaces; the module itself has the last part of its name.
    """
    return {name: partial(_import, module, name) for module, names in homes.items() for name in names.split()}


def _import(module: str, name: str) -> Any:
    found = import_module(module)
    return found if module.endswith(f".{name}") else getattr(found, name)


def hint_of(name: str) -> str | None:
    """Returns what graphc's user writes for a name of another library; None if it is none that is known.

    Example:
      >>> hint_of("reduce_mean")
      'gx.mean'
    """
    from graphc.base.hints import HINTS

    return HINTS.get(name)


def hint_missing(namespace: dict[str, Any], public: str) -> None:
    """Gives a module a ``__getattr__`` whose AttributeError says what to write.

    Args:
      namespace: the module's ``globals()``.
      public: what users call the module, such as ``gx.nn``.
    """
    around = namespace.get("__getattr__")

    def __getattr__(name: str) -> Any:  # noqa: N807
        if around is not None:
            try:
                return around(name)
            except AttributeError:
                pass
        text = f"module {namespace['__name__']!r} has no attribute {name!r}"
        if name.startswith("_"):  # tools ask for these
            raise AttributeError(text)
        text = f"{public} has no {name!r}"
        if (instead := hint_of(name)) is not None:
            raise AttributeError(f"{text}: use {instead}")
        names: list[str] = list(namespace.get("__all__", ()))
        from difflib import get_close_matches

        near = get_close_matches(name, names, n=3, cutoff=0.7)
        raise AttributeError(
            f"{text}; did you mean {' or '.join(f'{public}.{one}' for one in near)}?" if near else text
        )

    namespace["__getattr__"] = __getattr__
