"""Data formats of images: the order of the batch, spatial and channel axes."""

from __future__ import annotations

from typing import Any, NamedTuple

__all__ = ["DataFormat", "per_axis"]


class DataFormat(NamedTuple):
    """The roles of a tensor's axes.

    Attributes:
      letters: a letter for each axis: N for the batch, C for channels, others for spatial axes.
      space: the letters of the spatial axes, in order.
    """

    letters: str
    space: str

    @staticmethod
    def parse(data_format: str | None, ndim: int, space: int | None = None) -> DataFormat:
        """Parses a format such as ``NHWC``; None means channels last.

        Args:
          space: the required number of spatial axes; None for any number.

        Raises:
          ValueError: the number of axes differs, or N or C is missing.

        Example:
          >>> DataFormat.parse(None, 4)
          DataFormat(letters='NHWC', space='HW')
        """
        expected = ndim - 2 if space is None else space
        if ndim != expected + 2 or not 1 <= expected <= 3:
            raise ValueError(f"x has {ndim} axes, expected {expected + 2}: batch, channels and {expected} spatial axes")
        letters = f"N{'DHW'[-expected:]}C" if data_format is None else data_format
        if sorted(letters) != sorted(f"NC{'DHW'[-expected:]}"):
            raise ValueError(f"data_format is {data_format!r}, expected the letters of 'N{'DHW'[-expected:]}C'")
        return DataFormat(letters, letters.replace("N", "").replace("C", ""))

    def spread(self, values: Any, other: Any) -> list[Any]:
        """Returns one value for each axis of the tensor: the given ones for spatial axes, another one for the rest."""
        rest = iter(values)
        return [next(rest) if letter in self.space else other for letter in self.letters]


def per_axis(value: Any, count: int, name: str) -> tuple[int, ...]:
    """Returns one int for each spatial axis, from a single one or one for each.

    Raises:
      ValueError: the number of ints is wrong.
    """
    values = (value,) * count if isinstance(value, int) else tuple(value)
    if len(values) != count:
        raise ValueError(f"{name} are {value}, expected one or {count}")
    return values
