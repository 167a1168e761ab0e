"""References: hashable keys for tensors and Variables, which have no hash."""

from __future__ import annotations

from typing import Generic, TypeVar

__all__ = ["Reference"]

T = TypeVar("T")


class Reference(Generic[T]):
    """A key for one object in sets and dicts, compared by identity (TensorFlow's ``tensor.ref()``).

    Example:
      >>> import graphc as gx
      >>> x = gx.asarray([1.0, 2.0])
      >>> seen = {x.ref()}
      >>> x.ref() in seen, gx.asarray([1.0, 2.0]).ref() in seen
      (True, False)
    """

    __slots__ = ("_referenced",)

    def __init__(self, referenced: T) -> None:
        self._referenced = referenced

    def deref(self) -> T:
        """Returns the object."""
        return self._referenced

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Reference):
            return NotImplemented
        return self._referenced is other._referenced  # pyright: ignore[reportUnknownMemberType]

    def __hash__(self) -> int:
        return id(self._referenced)

    def __repr__(self) -> str:
        return f"<Reference wrapping {self._referenced!r}>"
