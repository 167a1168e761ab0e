"""Rows: random numbers. They are graphc's: the same seed does not give TensorFlow's numbers."""

from graphc.compat.alias import alias

ROWS = (
    alias("random.set_seed(seed)", "gx.random.seed(seed)", "7"),
    alias(
        "random.normal(shape, mean=0.0, stddev=1.0, dtype=float32, seed=None, name=None)",
        "gx.random.normal(tuple(shape), dtype, loc=mean, scale=stddev)",
        "[2, 3], 1.0, 0.1",
    ),
    alias(
        "random.uniform(shape, minval=0, maxval=None, dtype=float32, seed=None, name=None)",
        "gx.arrays.uniform(shape, minval, maxval, dtype)",
        "[2, 3], maxval=10, dtype=tf.int32",
    ),
    alias(
        "random.truncated_normal(shape, mean=0.0, stddev=1.0, dtype=float32, seed=None, name=None)",
        "gx.arrays.truncated_normal(shape, mean, stddev, dtype)",
        "[2, 3]",
    ),
    alias(
        "random.gamma(shape, alpha, beta=None, dtype=float32, seed=None, name=None)",
        "gx.arrays.gamma(shape, alpha, beta, dtype)",
        "[2], [0.5, 1.5]",
    ),
    alias(
        "random.poisson(shape, lam, dtype=float32, seed=None, name=None)",
        "gx.arrays.poisson(shape, lam, dtype)",
        "[2], [0.5, 1.5]",
    ),
    alias(
        "random.categorical(logits, num_samples, dtype=None, seed=None, name=None)",
        "gx.arrays.categorical(logits, num_samples, dtype)",
        "[[0.5, 0.5], [0.1, 2.0]], 3",
    ),
    alias("random.shuffle(value, seed=None, name=None)", "gx.random.permutation(gx.asarray(value))", "[1.0, 2.0, 3.0]"),
    alias(
        'random.stateless_normal(shape, seed, mean=0.0, stddev=1.0, dtype=float32, name=None, alg="auto_select")',
        "gx.arrays.stateless(seed).normal(tuple(shape), dtype, loc=mean, scale=stddev)",
        "[2, 3], seed=[1, 2]",
    ),
    alias(
        'random.stateless_uniform(shape, seed, minval=0, maxval=None, dtype=float32, name=None, alg="auto_select")',
        "gx.arrays.uniform(shape, minval, maxval, dtype, gx.arrays.stateless(seed))",
        "[2, 3], seed=[1, 2]",
    ),
    alias(
        "random.stateless_truncated_normal(shape, seed, mean=0.0, stddev=1.0, dtype=float32, name=None, "
        'alg="auto_select")',
        "gx.arrays.truncated_normal(shape, mean, stddev, dtype, gx.arrays.stateless(seed))",
        "[2, 3], seed=[1, 2]",
    ),
    alias(
        "random.stateless_gamma(shape, seed, alpha, beta=None, dtype=float32, name=None)",
        "gx.arrays.gamma(shape, alpha, beta, dtype, gx.arrays.stateless(seed), each=False)",
        "[2, 2], [1, 2], [0.5, 1.5]",
    ),
    alias(
        "random.stateless_poisson(shape, seed, lam, dtype=int32, name=None)",
        "gx.arrays.poisson(shape, lam, dtype, gx.arrays.stateless(seed), each=False)",
        "[2, 2], [1, 2], [0.5, 1.5]",
    ),
    alias(
        "random.stateless_binomial(shape, seed, counts, probs, output_dtype=int32, name=None)",
        "gx.arrays.binomial(shape, counts, probs, output_dtype, gx.arrays.stateless(seed))",
        "[2], [1, 2], [5.0, 9.0], [0.5, 0.2]",
    ),
    alias(
        "random.stateless_categorical(logits, num_samples, seed, dtype=int64, name=None)",
        "gx.arrays.categorical(logits, num_samples, dtype, gx.arrays.stateless(seed))",
        "[[0.5, 0.5], [0.1, 2.0]], 3, [1, 2]",
    ),
)
