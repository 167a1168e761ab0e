"""An example of each row of the op table: a doctest that stands in its function's docstring.

Each module of rows has a module of examples, imported when the first of its functions is made. ``python -m
tests.ops.write_examples`` adds those that are missing.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec

__all__ = ["examples_of", "file_name"]


def file_name(module: str) -> str:
    """The name of the file with the examples of a module of rows."""
    return module.removeprefix("graphc.ops.").replace(".", "_")


def examples_of(module: str) -> Mapping[str, str]:
    """The examples of a module of rows, by the names of the rows."""
    name = f"{__name__}.{file_name(module)}"
    return import_module(name).EXAMPLES if find_spec(name) else {}
