"""``match`` statements."""

__all__: list[str] = []
