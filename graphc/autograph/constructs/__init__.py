"""What statements and expressions do to symbolic values; they know values by what all values can do."""

__all__: list[str] = []
