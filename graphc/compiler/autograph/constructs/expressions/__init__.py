"""Operators, comparisons, items, texts and assignments."""

__all__: list[str] = []
