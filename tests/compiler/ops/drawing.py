"""Arguments for the rows of the op table, drawn by what their signatures say.

All that is drawn comes from one function, ``choose``, which takes one of several values: hypothesis gives one that it
can shrink, a seeded generator one that gives the same every time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import permutations
from typing import Any

import ml_dtypes
import numpy as np

from graphc.compiler.ops.signature import REQUIRED, RowSignature

__all__ = ["ANY", "BROADCASTING", "DTYPES", "GAPS", "NICE", "POSITIVE", "WIDE", "Choose", "Drawing", "Drawn", "draw"]

Choose = Callable[[Sequence[Any]], Any]
Shape = tuple[int, ...]

DTYPES = (
    *("float32", "float32", "float32", "int32", "int32", "bool", "int8", "int16", "uint8", "uint16", "uint32"),
    *("float16", "bfloat16", "complex64"),
)
WIDE = ("float64", "float64", "int64", "int64", "uint64", "complex128", *DTYPES[2:])

ONE: tuple[tuple[Shape, ...], ...] = (((2, 3),), ((2, 3),), ((3,),), ((),), ((0,),), ((2, 0, 3),), ((2, 1, 3),))
BROADCASTING: tuple[tuple[Shape, ...], ...] = (
    *(((2, 3), (2, 3)), ((2, 3), (3,)), ((), (2, 3)), ((2, 1), (3,)), ((), ()), ((0,), (1,)), ((3,), (0, 1))),
    ((2, 3), (2,)),  # which do not fit
)

ANY = "any"
"""All values that a dtype has: zeros of both signs, what is not finite, the largest and the smallest."""
NICE = "nice"
"""Multiples of a quarter up to 4, whose sums and products have no error."""
GAPS = "gaps"
"""Those and NaN."""
POSITIVE = "positive"
"""Those of them that are positive."""

_NICE = tuple(np.arange(-16, 17) / 4)
_ODD = (0.0, -0.0, np.nan, np.inf, -np.inf, 1.0, -1.0, 0.5, 2.5, -3.5, 1e-3, 100.0, -7.0)


@dataclass(frozen=True)
class Drawing:
    """How the arguments of a row are drawn, where its signature does not say it.

    Attributes:
      shapes: the shapes of its tensors, one of these tuples; the last one goes on for ``*arrays``.
      kinds: the kinds of dtypes, as NumPy's letters, each a choice; None for all.
      values: ``ANY``, ``NICE`` or ``POSITIVE``.
      tensors: how to draw a tensor of its own kind by its name: a function of ``choose`` and the tensors before it.
      attributes: what an attribute is drawn from, by its name; a function is given the tensors.
      given: the attributes that are always given.
      numpy: NumPy's function for the arguments, where it is not the one of the row's name.
      seen: what of the outputs is compared, where they are not the only right ones.
      close: how many times the usual error is allowed.
      without: dtypes that are not drawn.
      zeros: whether zeros are to have the sign that they have in NumPy.
      alone: whether each tensor keeps its own dtype, so that they are not promoted together.
    """

    shapes: tuple[tuple[Shape, ...], ...] = ()
    kinds: str | None = None
    values: str = NICE
    tensors: Mapping[str, Callable[[Choose, list[Any]], Any]] = field(default_factory=dict)
    attributes: Mapping[str, Any] = field(default_factory=dict)
    given: tuple[str, ...] = ()
    numpy: Callable[..., Any] | None = None
    seen: Callable[..., Any] | None = None
    close: float = 1.0
    without: tuple[str, ...] = ()
    alone: bool = False
    zeros: bool = True


@dataclass(frozen=True)
class Drawn:
    """The arguments of a call.

    Attributes:
      args: by position; arrays and lists of arrays are tensors.
      kwargs: by name.
      together: which of the arrays are promoted together, by their places.
    """

    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    together: tuple[int, ...]

    def __repr__(self) -> str:
        given = [*map(_shown, self.args), *(f"{name}={_shown(value)}" for name, value in self.kwargs.items())]
        return f"({', '.join(given)})"

    @property
    def arrays(self) -> list[Any]:
        return [array for value in (*self.args, *self.kwargs.values()) for array in _arrays(value)]


def _arrays(value: Any) -> Iterator[Any]:
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _arrays(item)


def _shown(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"{value.dtype}{list(value.shape)} {value.tolist()}"
    return f"[{', '.join(map(_shown, value))}]" if isinstance(value, list) else repr(value)


def array(choose: Choose, shape: Shape, dtype: Any, values: str = NICE) -> np.ndarray[Any, Any]:
    """An array of values of a dtype."""
    kind = np.dtype(dtype).kind if dtype != "bfloat16" else "f"
    pool: Sequence[Any]
    if kind == "b":
        pool = (False, True)
    elif kind in "iu":
        limits = np.iinfo(dtype)
        pool = (0, 1, 2, 3, 4, 5) if kind == "u" else (0, 1, -1, 2, -2, 3, -4)
        if values == POSITIVE:
            pool = (1, 2, 3, 4)
        elif values == ANY:
            pool = (*pool, limits.min, limits.max, limits.max - 1, 7, 100)
    elif values == POSITIVE:
        pool = [value for value in _NICE if value > 0]
    else:
        pool = (*_NICE, *[np.nan] * 20) if values == GAPS else _NICE
        if values == ANY and kind != "c":  # what is odd of complex numbers has no one meaning
            info = ml_dtypes.finfo(dtype)
            pool = (*_ODD, *_NICE[::5], float(info.max), float(info.smallest_normal))
    count = int(np.prod(shape))
    drawn = [choose(pool) for _ in range(count)]
    if kind == "c":
        drawn = [complex(real, choose(pool)) for real in drawn]
    return np.asarray(drawn, np.dtype(dtype)).reshape(shape)


def draw(signature: RowSignature, how: Drawing, choose: Choose, dtypes: Sequence[str]) -> Drawn:
    """Arguments for a call of a row."""
    dtypes = [name for name in dtypes if name not in how.without and _kind(name) in (how.kinds or "biufc")]
    shapes = list(choose(how.shapes or (ONE if len(signature.tensors) == 1 else BROADCASTING)))
    first = choose(dtypes)
    mixed = choose((False, False, True))
    tensors: list[Any] = []
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    together: list[int] = []

    def tensor(parameter: str) -> Any:
        own = how.tensors.get(parameter)
        if own is not None:
            made = own(choose, tensors)
        else:
            shape = shapes.pop(0) if len(shapes) > 1 else shapes[0]
            made = array(choose, shape, choose(dtypes) if mixed and tensors else first, how.values)
            together.append(len(tensors))
        tensors.append(made)
        return made

    annotations = dict(text.lstrip("*").split(" = ")[0].split(": ", 1) for text in signature.parameters)
    for text in signature.parameters:
        key = text.lstrip("*").split(":")[0]
        if f"*{key}" in signature.tensors:
            several = [tensor(key) for _ in range(max(len(shapes), 1))]
            args.extend(several) if text.startswith("*") else args.append(several)
        elif key in signature.tensors:
            args.append(tensor(key))
        elif key in signature.optional:
            if key in how.tensors and choose((False, True)):
                kwargs[key] = tensor(key)
        elif key == "device":
            continue
        else:
            default = signature.defaults[key]
            if default is not REQUIRED and key not in how.given and not choose((False, True)):
                continue
            value = _attribute(key, annotations[key], how, tensors, choose)
            if value is _LEFT_OUT:
                continue
            if default is REQUIRED:
                args.append(value)
            else:
                kwargs[key] = value
    return Drawn(tuple(args), kwargs, () if how.alone else tuple(together))


_LEFT_OUT = object()


def _kind(dtype: str) -> str:
    return "f" if dtype == "bfloat16" else np.dtype(dtype).kind


def _attribute(key: str, annotation: str, how: Drawing, tensors: list[Any], choose: Choose) -> Any:
    found = how.attributes.get(key, ATTRIBUTES.get(f"{key}: {annotation}", ATTRIBUTES.get(key, ())))
    if callable(found):
        found = found(tensors)
    return choose(found) if len(found) else _LEFT_OUT


def axes(tensors: list[Any]) -> Sequence[Any]:
    """One axis, several or all of the first tensor."""
    ndim = tensors[0].ndim
    several = [found for count in range(1, min(ndim, 2) + 1) for found in permutations(range(ndim), count)]
    return (None, *range(-ndim, ndim), *several)


def axis(tensors: list[Any]) -> Sequence[Any]:
    """One axis of the first tensor."""
    return range(-tensors[0].ndim, tensors[0].ndim)


def optional_axis(tensors: list[Any]) -> Sequence[Any]:
    """One axis of the first tensor or None."""
    return (None, *axis(tensors))


def _complex(tensors: list[Any]) -> bool:
    return any(tensor.dtype.kind == "c" for tensor in tensors)


ATTRIBUTES: dict[str, Any] = {
    "axis: Axis": axes,
    "axis: int | None": optional_axis,
    "axis: int": axis,
    "keepdims": (True, False),
    "dtype: DType": lambda tensors: (
        ("complex64",) if _complex(tensors) else ("float32", "int32", "complex64", "float16")
    ),
    "k": (-3, -1, 0, 1, 2, 5),
    "offset": (-3, -1, 0, 1, 2, 5),
    "correction": (0, 1, 0.5),
    "equal_nan": (True, False),
    "rtol": (0.1, 1e-5),
    "atol": (0.5, 0.0),
    "invert": (True, False),
    "side": ("left", "right"),
    "right": (True, False),
    "endpoint": (True, False),
    "num": (0, 1, 5),
    "bitorder": ("big", "little"),
    "deg": (True, False),
    "rowvar": (True, False),
    "norm": ("ortho", "forward", "backward"),
}
"""What attributes are drawn from, by their names; a function is given the tensors that are drawn."""
