"""Functions and values made of the compiler's ops, which the other neighbourhoods share."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from graphc.library import arrays, checks, composites, flow, formats, lax, nest, states

__all__ = ["arrays", "checks", "composites", "flow", "formats", "lax", "nest", "states"]
