"""Programs as users write them, against what an expert writes in JAX."""
