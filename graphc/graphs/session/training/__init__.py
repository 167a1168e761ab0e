"""Training of a graph's Variables: gradients, optimizers, learning rates, averages and losses."""

__all__: list[str] = []
