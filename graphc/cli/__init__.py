"""The ``graphc`` command."""

from graphc.cli.command import main

__all__ = ["main"]
