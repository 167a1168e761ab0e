"""The transformations, each with what gives its rows."""

__all__: list[str] = []
