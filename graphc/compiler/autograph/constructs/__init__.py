"""Statements and expressions on symbolic values."""

__all__: list[str] = []
