"""An example of each row of the op table, by name: a doctest that stands in its function's docstring.

``python -m tests.ops.write_examples`` adds those that are missing.
"""

from graphc.ops.examples import (
    arranging,
    elementwise,
    fft,
    filling,
    lax_elementwise,
    lax_products,
    lax_reducing,
    lax_shaping,
    lax_slicing,
    linalg,
    logic,
    nn_activations,
    nn_attention,
    nn_convolution,
    nn_normalisation,
    nn_pooling,
    polynomials,
    positions,
    products,
    reduction,
    searching,
    selecting,
    shapes,
    signals,
    special,
    statistics,
)

__all__ = ["EXAMPLES"]

EXAMPLES: dict[str, str] = {
    **arranging.EXAMPLES,
    **elementwise.EXAMPLES,
    **fft.EXAMPLES,
    **filling.EXAMPLES,
    **lax_elementwise.EXAMPLES,
    **lax_products.EXAMPLES,
    **lax_reducing.EXAMPLES,
    **lax_shaping.EXAMPLES,
    **lax_slicing.EXAMPLES,
    **linalg.EXAMPLES,
    **logic.EXAMPLES,
    **nn_activations.EXAMPLES,
    **nn_attention.EXAMPLES,
    **nn_convolution.EXAMPLES,
    **nn_normalisation.EXAMPLES,
    **nn_pooling.EXAMPLES,
    **polynomials.EXAMPLES,
    **positions.EXAMPLES,
    **products.EXAMPLES,
    **reduction.EXAMPLES,
    **searching.EXAMPLES,
    **selecting.EXAMPLES,
    **shapes.EXAMPLES,
    **signals.EXAMPLES,
    **special.EXAMPLES,
    **statistics.EXAMPLES,
}
