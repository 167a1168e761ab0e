"""The spec of a queue: its kind, capacity and component types, checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, cast

import numpy as np

from graphc.compiler.base import at, user_location
from graphc.compiler.base.errors import GraphcError, InvalidArgumentError, InvalidTypeError
from graphc.compiler.core import STRING, as_dtype, is_string_dtype
from graphc.compiler.ir import OPEN, Attrs, TensorType

__all__ = ["QueueSpec", "as_type", "component_types", "dtype_of", "integer", "refusal"]

PADDING = "PaddingFIFOQueue"


@dataclass(frozen=True)
class QueueSpec:
    """The properties that two queues with the same shared name must have in common.

    Attributes:
      kind: the name of the class.
      capacity: the maximum number of elements; -1 for no limit.
      types: the types of an element's components; open where the queue accepts any size.
      min_after_dequeue: the number of elements that stay in the queue while it is open.
      seed: the seed of the order, for a queue that shuffles.
    """

    fields: ClassVar[tuple[str, ...]] = ("kind", "capacity", "min_after_dequeue", "seed", "types")

    kind: str
    capacity: int
    types: tuple[TensorType, ...]
    min_after_dequeue: int = 0
    seed: int | None = None

    @property
    def has_shapes(self) -> bool:
        """True if rows of each component can be joined: their shapes are known, or can be padded."""
        return all(type.ranked and (self.kind == PADDING or OPEN not in type.shape) for type in self.types)

    def attrs(self) -> Attrs:
        """Returns the spec as attributes of an op."""
        return Attrs({name: getattr(self, name) for name in self.fields})

    def difference(self, attrs: Mapping[str, Any]) -> str:
        """Describes the first difference from an op's attributes; empty if there is none."""
        for name in self.fields:
            mine, wanted = getattr(self, name), attrs[name]
            if mine != wanted:
                shown = (_listed(mine), _listed(wanted)) if name == "types" else (repr(mine), repr(wanted))
                return f"{name} {shown[0]}, not {shown[1]}"
        return ""


def _listed(types: Sequence[TensorType]) -> str:
    return f"({', '.join(map(str, types))})"


def refusal(use: str, problem: str, kind: type[GraphcError] = InvalidArgumentError) -> GraphcError:
    """Makes an error with the user's line."""
    return at(kind(f"{use}: {problem}"), user_location())


def integer(use: str, name: str, value: Any) -> int:
    """Converts a user's value to an int.

    Raises:
      InvalidTypeError: it is not an int.
    """
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise refusal(use, f"{name} must be an int, got {value!r:.60}", InvalidTypeError)
    return value.__index__()


def dtype_of(use: str, dtype: Any) -> np.dtype[Any]:
    """Returns the dtype of a component; ``object`` for strings.

    Raises:
      InvalidTypeError: a tensor cannot have that dtype.
    """
    if is_string_dtype(dtype) or dtype is STRING:
        return STRING
    try:
        return as_dtype(dtype.as_numpy_dtype if hasattr(dtype, "as_numpy_dtype") else dtype)
    except InvalidTypeError as error:
        raise refusal(use, str(error.args[0]), InvalidTypeError) from None


def as_type(use: str, dtype: np.dtype[Any], shape: Any) -> TensorType:
    """Returns the type of a component from its dtype and a user's shape.

    Args:
      use: the name of the calling function, for messages.
      shape: ints, with None for open sizes; None for any shape.

    Raises:
      InvalidTypeError: it is not a shape.
    """
    if hasattr(shape, "as_list"):
        shape = None if getattr(shape, "rank", 0) is None else shape.as_list()
    if shape is None:
        return TensorType((), dtype, ranked=False)
    try:
        sizes: Any = [shape] if hasattr(shape, "__index__") else list(shape)
        return TensorType(tuple([OPEN if size is None else size.__index__() for size in sizes]), dtype)
    except (TypeError, AttributeError):
        raise refusal(use, f"a shape must be a list of ints, got {shape!r:.60}", InvalidTypeError) from None


def component_types(use: str, dtypes: Any, shapes: Any) -> tuple[TensorType, ...]:
    """Returns the types of the components of an element.

    Args:
      use: the name of the calling function, for messages.
      dtypes: a dtype, or a list of dtypes.
      shapes: None, or a shape for each dtype; for one dtype, also a single shape.

    Raises:
      InvalidArgumentError: the number of shapes differs from the number of dtypes, or there is no dtype.
    """
    several = isinstance(dtypes, list | tuple)
    given = cast("Sequence[Any]", dtypes) if several else [dtypes]
    if not given:
        raise refusal(use, "dtypes is empty; an element needs at least one component")
    found = [dtype_of(use, dtype) for dtype in given]
    if shapes is None:
        return tuple([as_type(use, dtype, None) for dtype in found])
    listed: list[Any] = [shapes]
    if isinstance(shapes, list | tuple) and (several or not _is_shape(cast("Sequence[Any]", shapes))):
        listed = list(cast("Sequence[Any]", shapes))
    if len(listed) != len(found):
        raise refusal(use, f"there are {len(found)} dtypes and {len(listed)} shapes; give one shape for each dtype")
    return tuple([as_type(use, dtype, shape) for dtype, shape in zip(found, listed, strict=True)])


def _is_shape(shapes: Sequence[Any]) -> bool:
    """Returns True for the shape of one component without a list around it: ``[2]``, ``(None, 3)`` or ``()``."""
    return all(size is None or hasattr(size, "__index__") for size in shapes) and not (
        len(shapes) == 1 and shapes[0] is None
    )
