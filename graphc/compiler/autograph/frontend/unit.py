"""The function that is being converted: its file, its class, and the modules that its names refer to."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from types import ModuleType
from typing import Any

from graphc.compiler.autograph.frontend.emit import PREFIX
from graphc.compiler.autograph.frontend.source import mangle
from graphc.compiler.base import Location, at, errors, held_by, is_kept, is_library_module

__all__ = ["Unit"]


class Unit:
    """One conversion: a function and everything defined inside it.

    Args:
      function: its name, for messages.
      class_name: the class by which private names are mangled, or None.
      outside: the names that the function can see outside itself, and their values now.
    """

    def __init__(self, file: str, function: str, class_name: str | None, outside: Mapping[str, object]) -> None:
        self.file = file
        self.function = function
        self.class_name = class_name
        self._outside = outside
        self._count = 0

    def number(self) -> int:
        """Returns a number that no other construct of this unit has."""
        self._count += 1
        return self._count

    def fresh(self, role: str) -> str:
        """Returns a new name for a generated variable."""
        return f"{PREFIX}{role}_{self.number()}"

    def mangle(self, name: str) -> str:
        """Returns the attribute name that Python would look up."""
        return mangle(name, self.class_name)

    def library(self, node: ast.expr) -> ModuleType | None:
        """Returns the library's module that an expression stands for, as far as that is known without running it.

        Nobody looks at the names of a library again; those of the user's own modules may change.
        """
        module = self._module(node)
        return module if module is not None and is_library_module(module.__name__) else None

    def is_kept(self, node: ast.Attribute) -> bool:
        """Returns True if the attribute of a library's module holds the same for good."""
        module = self.library(node.value)
        if module is None:
            return False
        return node.attr not in vars(module) or is_kept(node.attr, held_by(module, node.attr))

    def _module(self, node: ast.expr) -> ModuleType | None:
        value: Any = None
        if isinstance(node, ast.Name):
            value = self._outside.get(node.id)
        elif isinstance(node, ast.Attribute) and (holder := self._module(node.value)) is not None:
            value = held_by(holder, node.attr)
        return value if issubclass(type(value), ModuleType) else None  # not isinstance, which asks the object

    def refuse(self, node: ast.AST, message: str) -> errors.UnsupportedSyntaxError:
        """Returns the error for a construct that cannot be converted, with its place."""
        location = Location(self.file, getattr(node, "lineno", 1), self.function)
        return at(errors.UnsupportedSyntaxError(message), location)
