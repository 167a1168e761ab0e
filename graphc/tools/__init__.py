"""Comparing, explaining, drawing, debugging and placing functions."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from graphc.tools import debug, drawing, inspect, placement

__all__ = ["debug", "drawing", "inspect", "placement"]
