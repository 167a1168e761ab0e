"""Import statements in functions: another module may have taken the name before the next call."""

from __future__ import annotations

import importlib.util
import sys
import types
from collections.abc import Callable
from typing import Any

from graphc.compiler.autograph.constructs.exceptions.origins import in_python
from graphc.compiler.autograph.constructs.overrides import Functions
from graphc.compiler.autograph.constructs.purity.reading import is_library, read_attribute
from graphc.compiler.tracing import context, looked_up

__all__ = ["OVERRIDES", "imported", "importing"]


def importing(module: str, level: int) -> None:
    """Tells that a function is about to import a module, which may not be there."""
    first = module.partition(".")[0]
    if context.trace is None or level or first in sys.modules:
        return
    try:
        # The first name only: for a.b find_spec would import a.
        is_there = importlib.util.find_spec(first) is not None
    except (ImportError, ValueError):
        is_there = False
    # `try: import x` takes its `except ImportError` now, and not once x is there.
    if not is_there:
        _record(first, None)


def imported(module: str, level: int, names: tuple[str, ...]) -> None:
    """Tells of a module of the user's that a function has just imported."""
    if context.trace is None:
        return
    if level:
        package = sys._getframe(1).f_globals.get("__package__")  # pyright: ignore[reportPrivateUsage]
        module = importlib.util.resolve_name("." * level + module, package)
    found: Any = sys.modules.get(module)
    if found is None or (
        isinstance(found, types.ModuleType) and is_library(found)
    ):  # a program may put any object there
        return
    _record(module, found)
    for name in names:
        if hasattr(found, name):
            read_attribute(found, name, getattr(found, name))


def _record(name: str, found: Any) -> None:
    assert context.trace is not None
    modules = sys.modules
    source = looked_up(modules.get, name, f"sys.modules[{name!r}]", ("module", name))
    context.trace.root.reads.record(source, found)


def _import_module(native: Callable[..., Any], name: str, package: str | None = None) -> Any:
    """``importlib.import_module``."""
    found = in_python(native, name, package)
    imported(found.__name__, 0, ())
    return found


OVERRIDES: Functions = {importlib.import_module: _import_module}
