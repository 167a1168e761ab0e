"""The order of the axes of images: batch, space and channels."""

from __future__ import annotations

from typing import Any, NamedTuple

__all__ = ["DataFormat", "per_axis"]


class DataFormat(NamedTuple):
    """What each axis of a tensor is.

    Attributes:
      letters: a letter for each axis: N for the batch, C for channels, others for space.
      space: the letters of the axes of space, in order.
    """

    letters: str
    space: str

    @staticmethod
    def parse(data_format: str | None, ndim: int, space: int | None = None) -> DataFormat:
        """Reads a format such as ``NHWC``, or takes channels last for None.

        Args:
          data_format: the format.
          ndim: how many axes the tensor has.
          space: how many axes of space there must be; None for any number.

        Raises:
          ValueError: the tensor has other axes, or N or C is missing.

        Example:
          >>> DataFormat.parse(None, 4)
          DataFormat(letters='NHWC', space='HW')
        """
        expected = ndim - 2 if space is None else space
        if ndim != expected + 2 or not 1 <= expected <= 3:
            raise ValueError(f"x has {ndim} axes, expected {expected + 2}: batch, channels and {expected} of space")
        letters = f"N{'DHW'[-expected:]}C" if data_format is None else data_format
        if sorted(letters) != sorted(f"NC{'DHW'[-expected:]}"):
            raise ValueError(f"data_format is {data_format!r}, expected the letters of 'N{'DHW'[-expected:]}C'")
        return DataFormat(letters, letters.replace("N", "").replace("C", ""))

    def spread(self, values: Any, other: Any) -> list[Any]:
        """One value for each axis of the tensor: those given on the axes of space, another one on the rest."""
        rest = iter(values)
        return [next(rest) if letter in self.space else other for letter in self.letters]


def per_axis(value: Any, count: int, name: str) -> tuple[int, ...]:
    """One int for each axis of space, from one for all or one for each.

    Raises:
      ValueError: there are more or fewer.
    """
    values = (value,) * count if isinstance(value, int) else tuple(value)
    if len(values) != count:
        raise ValueError(f"{name} are {value}, expected one or {count}")
    return values
