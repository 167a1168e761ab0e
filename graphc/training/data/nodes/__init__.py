"""The transformations, each with its rows."""

__all__: list[str] = []
