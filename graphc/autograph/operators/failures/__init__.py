"""Exceptions that a call raises by the values of tensors: ``assert``, ``raise``, ``try`` and ``with``."""

__all__: list[str] = []
