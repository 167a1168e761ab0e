"""Calls: the user's functions are converted as they are called, libraries are not."""

__all__: list[str] = []
