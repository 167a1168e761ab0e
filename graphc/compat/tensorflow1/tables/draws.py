"""Rows: random numbers with older arguments."""

from graphc.compat.alias import alias

ROWS = (
    alias(
        "random_poisson random.poisson(lam, shape, dtype=float32, seed=None, name=None)",
        "v2.random.poisson(shape, lam, dtype, seed)",
        "[0.5, 1.5], [2]",
    ),
    alias(
        "multinomial random.multinomial(logits, num_samples, seed=None, name=None, output_dtype=None)",
        "v2.random.categorical(logits, num_samples, output_dtype, seed)",
        "[[0.5, 0.5], [0.1, 2.0]], 3",
    ),
)
