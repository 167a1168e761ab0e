"""The short way of a call, for functions whose arguments are all plain tensors."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any

from graphc.core import Tensor
from graphc.function.arguments import Arguments
from graphc.function.traced import TracedFunction
from graphc.lowering import TypesDiffer, run_on_variables

__all__ = ["MISS", "fast_path"]

MISS: Any = object()
"""What the short way returns where it cannot be taken."""

_raw = attrgetter("raw")


def fast_path(
    traced: TracedFunction, arguments: Arguments, args: tuple[Any, ...]
) -> Callable[[tuple[Any, ...]], Any] | None:
    """A call that skips binding and the key, for a function with one trace whose arguments are all plain tensors.

    The types are checked by JAX's own C++ cache: for other types the program raises TypesDiffer while JAX traces it,
    and the call takes the long way. This leaves about 1 microsecond over a raw ``jax.jit`` call.
    """
    special = traced.after_call or traced.depends_on_arguments or traced.looks_at_values or traced.device
    if special or len(args) != traced.num_arguments:
        return None
    kinds = (Tensor,) * len(args)
    if tuple(map(type, args)) != kinds:
        return None
    jitted, pack = traced.executable.jitted, traced.packer(arguments)
    captured, variables = traced.captured_tensors, traced.bound_variables(arguments)
    num_written = traced.executable.num_written

    def fast(args: tuple[Any, ...]) -> Any:
        if tuple(map(type, args)) != kinds:
            return MISS
        try:
            if variables:
                results = run_on_variables(jitted, variables, num_written, (*map(_raw, args), *map(_raw, captured)))
            else:
                results = jitted(*map(_raw, args), *map(_raw, captured))
        except TypesDiffer:
            return MISS
        return pack(map(Tensor, results))

    return fast
