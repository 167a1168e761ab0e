"""What code changes besides names: attributes, items, the contents of lists and dicts."""

__all__: list[str] = []
