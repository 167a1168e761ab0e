"""An element of a queue: conversion from users' values to the form that a queue keeps, and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from graphc.compiler.core import host_type
from graphc.compiler.ir import TensorType
from graphc.graphs.queues.components import check_row, check_type, checked_rows, kept, operand_of, part_names
from graphc.graphs.queues.rows import Columns, Run
from graphc.graphs.queues.spec import QueueSpec, refusal

__all__ = ["Element", "common"]


class Element:
    """The components of an element, and their names if it is a dict.

    Args:
      spec: the queue's spec.
      names: the names that the user passed; None for no names.

    Raises:
      InvalidArgumentError: the number of names differs from the number of components, or two names are equal.
    """

    def __init__(self, spec: QueueSpec, names: Sequence[str] | None) -> None:
        self.spec = spec
        self.names = _checked(spec, names)
        self._parts = list(self.names or part_names(spec.types))

    @property
    def only(self) -> TensorType | None:
        """The type of the component, if an element is a single tensor."""
        plain = len(self.spec.types) == 1 and self.names is None
        return self.spec.types[0] if plain else None

    def row(self, use: str, vals: Any) -> Columns:
        """Converts one element to the form that a queue keeps."""
        row = self._kept(use, vals)
        check_row(use, row, self.spec.types, self._parts)
        return row

    def rows(self, use: str, vals: Any) -> Run | None:
        """Converts many elements to the form that a queue keeps; None if there are none."""
        columns = self._kept(use, vals)
        count = checked_rows(use, columns, self.spec.types, self._parts)
        return Run(columns, 0, count) if count else None

    def operands(self, use: str, vals: Any, *, many: bool = False) -> list[Any]:
        """Converts one element, or many, to an op's inputs in a graph."""
        operands: list[Any] = []
        for part, value, type in zip(self._parts, self._given(use, vals), self.spec.types, strict=True):
            found = operand_of(use, value, type.dtype)
            check_type(use, part, host_type(found), type, many=many)
            operands.append(found)
        return operands

    def returned(self, values: Any) -> Any:
        """Returns tensors in the form that users expect: a single tensor, a list or a dict."""
        parts = list(cast("Sequence[Any]", values)) if isinstance(values, list | tuple) else [values]
        if self.names is not None:
            return dict(zip(self.names, parts, strict=True))
        return parts[0] if len(parts) == 1 else parts

    def _kept(self, use: str, vals: Any) -> Columns:
        types = self.spec.types
        return tuple([kept(use, value, type.dtype) for value, type in zip(self._given(use, vals), types, strict=True)])

    def _given(self, use: str, vals: Any) -> Sequence[Any]:
        """Returns the components of a user's value, in their order."""
        if isinstance(vals, dict):
            named = cast("dict[Any, Any]", vals)
            if self.names is None:
                raise refusal(use, "got a dict, but the components have no names; pass a list, or give the queue names")
            if set(named) != set(self.names):
                raise refusal(use, f"the components are {sorted(self.names)}, got {sorted(map(str, named))}")
            return [named[name] for name in self.names]
        if self.names is not None:
            raise refusal(use, f"the components have names; pass a dict with the keys {list(self.names)}")
        values = cast("Sequence[Any]", vals) if isinstance(vals, list | tuple) else [vals]
        if len(values) != len(self.spec.types):
            remedy = "; put the tensor into a list, [x]" if len(self.spec.types) == 1 else ""
            raise refusal(use, f"an element has {len(self.spec.types)} components, got {len(values)}{remedy}")
        return values


def _checked(spec: QueueSpec, names: Sequence[str] | None) -> tuple[str, ...] | None:
    if names is None:
        return None
    found = (names,) if isinstance(names, str) else tuple(names)
    if len(found) != len(spec.types):
        raise refusal(spec.kind, f"an element has {len(spec.types)} components, but there are {len(found)} names")
    if len(set(found)) != len(found):
        raise refusal(spec.kind, f"two components have the same name: {list(found)}")
    return found


def common(types: Sequence[TensorType]) -> TensorType:
    """Returns the common type of the components of several queues: open where they differ."""
    first = types[0]
    return first if all(type == first for type in types) else TensorType((), first.dtype, ranked=False)
