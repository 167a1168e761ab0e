"""Lazy names: module attributes made at first use, graphc's only means of deferring work at import.

Python calls a module's ``__getattr__`` for a name that the module lacks (PEP 562), also in ``from module import name``.
:func:`lazy_names` installs such a function, and the objects that it makes stay in the module. Two threads may run a
maker at the same time, so a maker returns the same object each time, as an import does. No lock is held meanwhile: a
maker that imports waits for Python's import lock, and two kinds of locks could deadlock.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from graphc.compiler.base.errors import InvalidTypeError

__all__ = [
    "held_by", "hint_missing", "hint_of", "imported_names", "lazy_names", "names_of", "public_modules",
    "refuse_options",
]  # fmt: skip

Makers = Mapping[str, Callable[[], Any]]


def lazy_names(
    namespace: dict[str, Any], makers: Makers, missing: Callable[[str], AttributeError] | None = None
) -> None:
    """Adds names to a module that are made at first use; ``dir`` lists those in ``__all__``, or all without one."""
    module = namespace["__name__"]

    def __getattr__(name: str) -> Any:  # noqa: N807
        make = makers.get(name)
        if make is not None:
            return namespace.setdefault(name, make())
        # Tools often probe modules for private names; Python probes for submodules during import.
        if missing is not None and not name.startswith("_") and f"{module}.{name}" not in sys.modules:
            error = missing(name)
            error.name = name  # with a name and no object, Python appends no "Did you mean" of its own
            raise error
        raise AttributeError(f"module {module!r} has no attribute {name!r}")

    namespace.update(__getattr__=__getattr__, __dir__=_public(namespace), __lazy__=makers)


def _public(namespace: dict[str, Any]) -> Callable[[], list[str]]:
    """Returns the ``__dir__`` of a module: Tab shows the names that it lists, and none of the modules inside."""

    def names() -> list[str]:
        listed: Iterable[str] = namespace.get("__all__", (*namespace, *namespace.get("__lazy__", ())))
        return sorted({*listed, *(name for name in namespace if name.startswith("__"))})

    return names


def held_by(module: ModuleType, name: str) -> Any:
    """Returns a module's attribute, making it if it is one of :func:`lazy_names`; None if there is none."""
    # Another module's ``__getattr__`` may do anything, so it is not called.
    attributes = vars(module)
    return getattr(module, name) if name in attributes.get("__lazy__", ()) else attributes.get(name)


def names_of(modules: Iterable[ModuleType]) -> dict[str, Callable[[], Any]]:
    """Returns makers for the names in modules' ``__all__``; of a name in two, the last wins, as with imports."""
    return {name: partial(getattr, module, name) for module in modules for name in module.__all__}


def imported_names(homes: Mapping[str, str]) -> dict[str, Callable[[], Any]]:
    """Returns makers for imported names, separated by spaces; a module itself goes by the last part of its name."""
    return {name: partial(_import, module, name) for module, names in homes.items() for name in names.split()}


def _import(module: str, name: str) -> Any:
    imported = import_module(module)
    return imported if module.endswith(f".{name}") else getattr(imported, name)


class _Aliases(MetaPathFinder, Loader):
    """Imports modules by their public names; each is one module under two names."""

    def __init__(self, homes: Mapping[str, str]) -> None:
        self._homes = homes

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> ModuleSpec | None:
        package, _, rest = fullname.partition(".")
        head, _, rest = rest.partition(".")
        home = self._homes.get(f"{package}.{head}")
        if home is None:
            return None
        parent, _, name = fullname.rpartition(".")
        if rest and not isinstance(getattr(sys.modules[parent], name, self), (ModuleType, _Aliases)):
            # A function that is named like its file: Python would put the module in its place.
            raise ModuleNotFoundError(f"{fullname} is not a module: import {name} from {parent}", name=fullname)
        return ModuleSpec(fullname, self, origin=f"{home}.{rest}" if rest else home)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = import_module(str(spec.origin))
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        alias = module.__spec__  # Python has just set it, on the module that is loaded already
        if alias is not None and alias.loader is self:
            module.__spec__ = alias.loader_state


def public_modules(homes: Mapping[str, str]) -> None:
    """Lets users import modules by their public names, the keys, as in ``from graphc.layers import Dense``."""
    sys.meta_path.insert(0, _Aliases(homes))


def hint_of(name: str) -> str | None:
    """Returns graphc's replacement for a name of another library; None if it is unknown."""
    from graphc.compiler.base.hints import HINTS

    return HINTS.get(name)


def hint_missing(namespace: dict[str, Any], public: str) -> None:  # public: the user's name, such as gx.nn
    """Gives a module a ``__getattr__`` whose AttributeError names the replacement, and a ``dir`` of public names."""
    around = namespace.get("__getattr__")

    def __getattr__(name: str) -> Any:  # noqa: N807
        if around is not None:
            try:
                return around(name)
            except AttributeError:
                pass
        text = f"module {namespace['__name__']!r} has no attribute {name!r}"
        if name.startswith("_"):  # tools probe for these
            raise AttributeError(text)
        text = f"{public} has no {name!r}"
        if (instead := hint_of(name)) is not None:
            text += f": use {instead}"
        else:
            from difflib import get_close_matches

            names: list[str] = list(namespace.get("__all__", ()))
            near = get_close_matches(name, names, n=3, cutoff=0.7)
            text += f"; did you mean {' or '.join(f'{public}.{one}' for one in near)}?" if near else ""
        raise AttributeError(text, name=name)  # without an object, Python appends no "Did you mean" of its own

    namespace.update(__getattr__=__getattr__, __dir__=_public(namespace))


def refuse_options(function: str, options: Mapping[str, object], instead: Mapping[str, str]) -> None:
    """Refuses options that a function lacks, and says what to write instead of another library's."""
    for option in options:
        remedy = instead.get(option, "see its docstring for those that there are")
        raise InvalidTypeError(f"{function}: there is no option {option!r}: {remedy}").here()
