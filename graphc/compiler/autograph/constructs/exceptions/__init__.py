"""Exceptions that tensors decide on: whose they are, how a call fails by them, and which handlers meet them."""

__all__: list[str] = []
