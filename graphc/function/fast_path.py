"""The short way of a call, for functions whose arguments are all plain tensors."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
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
    the call takes the long way. This leaves about 1 microsecond over a raw ``jax.jit`` call. A loop over the arguments
    that looks at the type of each and takes its array is faster than ``map`` for the one and for the other; where there
    are few, and one tensor comes out, the loop is written out.
    """
    special = traced.after_call or traced.depends_on_arguments or traced.looks_at_values or traced.plan is not None
    if special or traced.executable.timeout is not None or len(args) != traced.num_arguments:
        return None
    if any(type(value) is not Tensor for value in args):
        return None
    jitted, pack = traced.executable.jitted, traced.packer(arguments)
    captured, variables = traced.captured_tensors, traced.bound_variables(arguments)
    num_written, num_arguments = traced.executable.num_written, len(args)
    one_tensor = pack is next
    if one_tensor and not captured and not variables and 0 < num_arguments <= _MOST_WRITTEN_OUT:
        return _written_out(num_arguments)(jitted)

    def fast(args: tuple[Any, ...]) -> Any:
        if len(args) != num_arguments:
            return MISS
        arrays: list[Any] = []
        for value in args:
            if type(value) is not Tensor:
                return MISS
            arrays.append(value.raw)
        if captured:
            arrays += map(_raw, captured)
        try:
            results = run_on_variables(jitted, variables, num_written, arrays) if variables else jitted(*arrays)
        except (TypesDiffer, ValueError):
            return MISS  # arrays that JAX does not bring together are told by the long way
        return Tensor(results[0]) if one_tensor else pack(map(Tensor, results))

    return fast


_MOST_WRITTEN_OUT = 8
_WRITTEN_OUT = """\
def bind(jitted):
    def fast(args):
        if len(args) == {count}:
            {names} = args
            if {are_tensors}:
                try:
                    result = new(Tensor)
                    (result.raw,) = jitted({arrays})
                    return result
                except (TypesDiffer, ValueError):
                    pass
        return MISS
    return fast
"""


@cache
def _written_out(count: int) -> Callable[[Any], Callable[[tuple[Any, ...]], Any]]:
    """The short way for so many arguments and one result, without a loop: a fifteenth of a small call."""
    names = [f"x{place}" for place in range(count)]
    source = _WRITTEN_OUT.format(
        count=count,
        names="".join(f"{name}, " for name in names),
        are_tensors=" and ".join(f"type({name}) is Tensor" for name in names),
        arrays=", ".join(f"{name}.raw" for name in names),
    )
    namespace: dict[str, Any] = {"MISS": MISS, "Tensor": Tensor, "TypesDiffer": TypesDiffer, "new": object.__new__}
    exec(compile(source, "<graphc call>", "exec"), namespace)
    return namespace["bind"]
