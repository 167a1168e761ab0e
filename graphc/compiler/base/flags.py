"""Command-line flags and program start with absl, which is imported at first use."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

_OLD_NAMES = {"flag_name": "name", "default_value": "default", "docstring": "help"}


def absl_flags() -> Any:
    """Returns absl's module for flags."""
    return import_module("absl.flags")


def define(kind: str, *args: Any, **kwargs: Any) -> Any:
    """Defines a flag with absl's function for its kind; TensorFlow's old names (``flag_name``) are accepted too."""
    renamed = {_OLD_NAMES.get(name, name): value for name, value in kwargs.items()}
    return getattr(absl_flags(), f"DEFINE_{kind}")(*args, **renamed)


class _Flags:
    """The values of all flags; the first read parses the command line, unless it was parsed before.

    It wraps absl's own ``FLAGS``, so it also has flags defined through absl.
    """

    def __getattr__(self, name: str) -> Any:
        values = absl_flags().FLAGS
        if not name.startswith("_") and name in values and not values.is_parsed():
            values(sys.argv, known_only=True)
        return getattr(values, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(absl_flags().FLAGS, name, value)

    def __delattr__(self, name: str) -> None:
        delattr(absl_flags().FLAGS, name)

    def __getitem__(self, name: str) -> Any:
        return absl_flags().FLAGS[name]

    def __setitem__(self, name: str, flag: Any) -> None:
        absl_flags().FLAGS[name] = flag

    def __contains__(self, name: object) -> bool:
        return name in absl_flags().FLAGS

    def __iter__(self) -> Any:
        return iter(absl_flags().FLAGS)

    def __len__(self) -> int:
        return len(absl_flags().FLAGS)

    def __dir__(self) -> list[str]:
        return dir(absl_flags().FLAGS)

    def __call__(self, argv: Sequence[str], known_only: bool = False) -> list[str]:
        return absl_flags().FLAGS(argv, known_only)

    def __repr__(self) -> str:
        return repr(absl_flags().FLAGS)

    def __str__(self) -> str:
        return str(absl_flags().FLAGS)


FLAGS = _Flags()
"""The values of all flags."""


def run(main: Callable[[list[str]], object] | None = None, argv: Sequence[str] | None = None) -> None:
    """Parses the flags, calls the program's main function with the remaining arguments, and exits."""

    def parse(arguments: Sequence[str] | None) -> list[str]:
        return FLAGS(sys.argv if arguments is None else arguments, known_only=True)  # others are left to the function

    called: Any = sys.modules["__main__"].main if main is None else main
    import_module("absl.app").run(called, argv=None if argv is None else list(argv), flags_parser=parse)
