"""Names that are not bound, and names of other scopes."""

__all__: list[str] = []
