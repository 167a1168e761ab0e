"""``for`` and ``while``: unrolled by Python, or rolled into one node, and what they run over and carry."""

__all__: list[str] = []
