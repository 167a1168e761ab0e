"""The demonstration: programs written as a user writes them, over graphc's public face."""

from graphc.cli.demo.program import run_demo

__all__ = ["run_demo"]
