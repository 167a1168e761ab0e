"""Calls: whose functions are converted, which side effects they have, what Python calls by itself."""

__all__: list[str] = []
