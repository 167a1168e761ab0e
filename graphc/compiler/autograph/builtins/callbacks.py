"""Functions of arrays that call a function of the user's for rows, axes, pieces or indices."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from graphc.compiler.autograph.constructs.calls.call import call
from graphc.compiler.autograph.constructs.overrides import Functions
from graphc.compiler.core import FUNCTIONS

__all__ = ["OVERRIDES"]

_NAMES = ("apply_along_axis", "apply_over_axes", "fromfunction", "piecewise")


def _with_converted(native: Any, /, *args: Any, **kwargs: Any) -> Any:
    """Calls a function with functions that convert those of the user's, so that what these read is followed."""
    kept = {name: _converted(value) for name, value in kwargs.items()}
    return native(*map(_converted, args), **kept)


def _converted(value: Any) -> Any:
    """Returns an argument, with functions in it, also in a list, that convert the given ones when they are called."""
    if isinstance(value, list | tuple) and any(map(callable, items := cast("list[Any]", value))):
        return [_converted(item) for item in items]
    if not callable(function := cast("Any", value)):
        return function

    def converting(*args: Any, **kwargs: Any) -> Any:
        return call(function)(*args, **kwargs)

    return converting


OVERRIDES: Functions = dict.fromkeys(
    [*map(FUNCTIONS.__getitem__, _NAMES), np.apply_along_axis, np.apply_over_axes, np.piecewise], _with_converted
)
