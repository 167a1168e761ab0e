"""``for``, ``while``, comprehensions, and what they run over."""

__all__: list[str] = []
