"""graphc against hand-written JAX, as ratios of times measured in one process; see README.md."""
