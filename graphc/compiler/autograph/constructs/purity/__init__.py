"""Follows the reads, changes and consumption that bypass the operators."""

__all__: list[str] = []
