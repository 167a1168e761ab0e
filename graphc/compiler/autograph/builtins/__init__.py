"""Builtins and functions of the standard library as they are in a trace, and the one table of what stands for what."""

__all__: list[str] = []
