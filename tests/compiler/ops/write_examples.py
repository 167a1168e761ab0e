"""Adds the examples that rows lack to ``examples.txt``; run it by ``python -m tests.compiler.ops.write_examples``.

An example is the first of the row's examples in the tests, made smaller where that does no harm, with what it gives
when it is run. What is there is kept, so that it may be written better by hand.
"""

from __future__ import annotations

import inspect
import itertools
import math
from collections.abc import Iterator
from enum import Enum
from typing import Any

import numpy as np

import graphc as gx
from graphc.compiler.core import FUNCTIONS
from graphc.compiler.ops.table import FILE, ROWS, Row, examples
from tests.compiler.ops.calls import EXAMPLES
from tests.compiler.ops.examples import Example

__all__ = ["example_text", "file_text"]

_WIDTH = 108  # a docstring indents by four, and its example by two more
_FEW = 9
_WITH_FREE_SIGNS = ("eig", "eigh", "qr", "svd")


def file_text() -> str:
    """Returns the text of the file, with examples of all rows."""
    rows = sorted((row for rows in ROWS.values() for row in rows), key=lambda row: row.name)
    parts = [f"# {row.name}\n{examples().get(row.name) or example_text(row).strip()}\n" for row in rows]
    return "\n".join(parts)


def example_text(row: Row) -> str:
    """A doctest of a row.

    Raises:
      ValueError: no example of the row can be written.
    """
    for case, sizes in itertools.product(EXAMPLES[row.name], ({1: 3, 2: 2}, {1: 3, 2: 3}, {1: 99, 2: 99})):
        text = _tried(row, case, sizes)
        if text:
            return text
    raise ValueError(f"{row.name}: write an example by hand")


def _tried(row: Row, case: Example, sizes: dict[int, int]) -> str:
    """The example with arrays of this size at most; empty where it fails, or gives NaN from numbers, or nothing."""
    arguments = {f"={place}": _shown(value, sizes) for place, value in enumerate(case.args)}
    arguments |= {name: _shown(value, sizes) for name, value in case.kwargs.items()}
    names: dict[str, Any] = {"gx": gx}
    call = _call(row, arguments)
    try:
        result = eval(call, names)
    except Exception:
        return ""
    parts = list(result) if isinstance(result, tuple | list) else [result]
    arrays = [part.numpy() for part in parts if isinstance(part, gx.Tensor)]
    strange = any(array.dtype.kind in "fc" and np.isnan(array).any() for array in arrays)
    if ("nan" not in call and strange) or not all(array.size for array in arrays):
        return ""
    lines: list[str] = []
    if len(call) > _WIDTH - 35:
        parameters = list(inspect.signature(FUNCTIONS[row.name]).parameters)
        for (key, value), name in zip(list(arguments.items()), parameters, strict=False):
            if key.startswith("=") and len(value) > 16:
                arguments[key] = name
                lines.append(f"{name} = {value}")
                exec(lines[-1], names)
        call = _call(row, arguments)
    for shown in _ways(row, call, result, arrays):
        printed = _printed(shown, names)
        if "\n\n" not in printed and max(map(len, [shown, *printed.splitlines(), *lines])) + 4 <= _WIDTH:
            return "\n".join([*(f">>> {line}" for line in lines), f">>> {shown}", printed])
    return ""


def _call(row: Row, arguments: dict[str, str]) -> str:
    given = [value if name.startswith("=") else f"{name}={value}" for name, value in arguments.items()]
    return f"gx.{row.name}({', '.join(given)})"


def _ways(row: Row, call: str, result: Any, arrays: list[Any]) -> Iterator[str]:
    """Ways to show a result, the one that shows most first."""
    few = sum(array.size for array in arrays) <= 2 * _FEW and row.function not in _WITH_FREE_SIGNS
    exact = all(_is_short(array) for array in arrays)
    if not isinstance(result, tuple | list):
        if not arrays:
            yield call
        elif few:
            rounded = f"{call}.numpy().round(3)" if result.shape else f"round({call}.item(), 3)"
            yield call if exact else rounded
        yield f"{call}.shape"
        return
    if few:
        yield f"print(*{call})" if exact else f"print(*[part.numpy().round(3) for part in {call}])"
    yield f"[part.shape for part in {call}]"


def _is_short(array: Any) -> bool:
    """Whether all digits of the numbers are worth showing, and the same everywhere."""
    if array.dtype.kind not in "fc":
        return True
    sizes = np.abs(array[np.isfinite(array) & (array != 0)])
    if not sizes.size or sizes.max() > 1e6 or sizes.max() < 1e-3:
        return True
    return bool(np.array_equal(array, np.round(array, 3), equal_nan=True))


def _printed(shown: str, names: dict[str, Any]) -> str:
    if shown.startswith("print("):
        parts: list[Any] = eval(f"[{shown.removeprefix('print(').removesuffix(')')}]", names)
        return " ".join(map(str, parts))
    return repr(eval(shown, names))


def _shown(value: Any, sizes: dict[int, int]) -> str:
    """An argument as it is written."""
    if isinstance(value, list):
        return f"[{', '.join(_shown(item, sizes) for item in value)}]"
    if isinstance(value, np.dtype) or (isinstance(value, type) and issubclass(value, np.generic)):
        return f'"{np.dtype(value).name}"'
    if isinstance(value, type):
        return value.__name__
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, Enum):
        return f"gx.lax.{type(value).__name__}.{value.name}"
    if hasattr(value, "_fields"):
        return f"gx.lax.{type(value).__name__}({', '.join(repr(part) for part in value if part)})"
    if not isinstance(value, np.ndarray | np.generic):
        return repr(value)
    array = _part(np.asarray(value), sizes)
    if array.size > _FEW or array.ndim > 2:
        text = f"gx.arange({array.size}.0).reshape{array.shape}" if array.ndim < 4 else f"gx.ones({array.shape})"
        return text if array.dtype.kind == "f" else text.replace(".0)", ")", 1)
    text = _listed((array.astype(np.float64).round(2) if array.dtype.kind == "f" else array).tolist())
    natural = array.dtype.name in ("float32", "int32", "bool", "complex64")
    return text if natural else f'gx.asarray({text}, "{array.dtype.name}")'


def _part(array: Any, sizes: dict[int, int]) -> Any:
    """Less of an array: of a list its ends, which are the more telling ones, of more axes the first elements."""
    if array.ndim == 1 and array.size == 5 and sizes[1] < 5:
        return array[[0, 1, 3] if array.dtype.kind == "f" and np.isnan(array).any() else [0, 3, 4]]
    most = sizes[min(array.ndim, 2)] if array.ndim else 1
    return array[tuple(slice(0, most) for _ in array.shape)]


def _listed(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_listed, value))}]"
    if isinstance(value, float) and not math.isfinite(value):
        return "gx.nan" if math.isnan(value) else "gx.inf" if value > 0 else "-gx.inf"
    if isinstance(value, complex):
        return f"{value.real:g}" + (f" {'-' if value.imag < 0 else '+'} {abs(value.imag):g}j" if value.imag else "")
    return repr(value)


if __name__ == "__main__":
    FILE.write_text(file_text(), encoding="utf-8")
