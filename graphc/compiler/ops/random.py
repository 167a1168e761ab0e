"""The namespace ``random``: random numbers from a generator whose state is a Variable.

A compiled function reads and writes the state like any variable, so it draws fresh numbers at every call and in every
loop iteration, and the same numbers from the same seed as eager code. The bits are those of JAX's Threefry generator:
each draw splits the state into the next state and a key.
"""

from __future__ import annotations

from graphc.compiler.base import hint_missing
from graphc.compiler.ops.distributions import DRAWS
from graphc.compiler.ops.generator import Generator

_default = Generator.at_import()
host_seed = _default.host_seed

METHODS = ("choice", "integers", "normal", "permutation", "seed", *(draw.name for draw in DRAWS))
"""The methods of the default generator that are functions of ``gx.random``."""


def get_global_generator() -> Generator:
    """Returns the generator behind the functions of ``gx.random``, to split it, or to save and restore its state.

    Example:
      >>> import graphc as gx
      >>> generator = gx.random.get_global_generator()
      >>> before = generator.state.numpy()
      >>> drawn = gx.random.normal()
      >>> generator.reset(before)
      >>> bool(gx.random.normal() == drawn)
      True
    """
    return _default


globals().update({name: getattr(_default, name) for name in METHODS})
__all__ = sorted([*METHODS, "Generator", "get_global_generator"])  # pyright: ignore
hint_missing(globals(), "gx.random")
