"""What trains the Variables of a graph: gradients, optimizers, learning rates, averages and losses."""

__all__: list[str] = []
