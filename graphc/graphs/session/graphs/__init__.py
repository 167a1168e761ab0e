"""Graphs built by hand: their tensors and names, and the functions that add nodes."""

__all__: list[str] = []
