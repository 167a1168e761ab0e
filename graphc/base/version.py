"""The version of graphc, which the build reads here."""

from __future__ import annotations

__all__ = ["VERSION"]

VERSION = "0.2.0"
