"""An update cut into parts, one for each device that it writes on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import jax

from graphc.compiler.ir import Attrs, TensorType
from graphc.compiler.lowering import needed_inputs
from graphc.training.optim.update import UPDATE

__all__ = ["Part", "parts"]


@dataclass(frozen=True, slots=True)
class Part:
    """The part of an update that one device does.

    Attributes:
      device: its name.
      taken: the positions of the inputs that it needs.
      wanted: the positions of the results that it gives.
      attrs: the attributes of its op.
    """

    device: str
    taken: tuple[int, ...]
    wanted: tuple[int, ...]
    attrs: Attrs


@lru_cache(maxsize=256)
def parts(attrs: Attrs, types: tuple[TensorType, ...], homes: tuple[str, ...]) -> Sequence[Part]:
    """Cuts an update into parts.

    Each takes what its results depend on and no more: the gradients of all Variables where a rule clips by their norm,
    else those of its own.

    Args:
      attrs: of the whole update.
      types: of its inputs.
      homes: the device of each of its results.
    """

    def update(*values: Any) -> Any:
        return UPDATE.impl(*values, **attrs)

    jaxpr = jax.make_jaxpr(update)(*(jax.ShapeDtypeStruct(type.shape, type.dtype) for type in types)).jaxpr
    found: list[Part] = []
    for device in dict.fromkeys(homes):
        wanted = tuple(position for position, home in enumerate(homes) if home == device)
        needed = needed_inputs(jaxpr, wanted)
        taken = tuple(position for position, variable in enumerate(jaxpr.invars) if id(variable) in needed)
        part = Attrs(**attrs, taken=taken, types=types, wanted=wanted)
        found.append(Part(device, taken, wanted, part))
    return found
