"""Python's operators, comparisons, generator expressions, and the builtins that reduce and sort."""

__all__: list[str] = []
