"""``match``."""

__all__: list[str] = []
