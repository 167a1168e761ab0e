"""Python numbers that depend on tensors or on a rolled loop."""

__all__: list[str] = []
