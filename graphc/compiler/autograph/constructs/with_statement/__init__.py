"""``with``: context managers, and the cancellation tokens that a compiled function refuses."""

__all__: list[str] = []
