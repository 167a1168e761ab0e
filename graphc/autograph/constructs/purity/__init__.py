"""What code reads, changes and consumes behind the operators' backs."""

__all__: list[str] = []
