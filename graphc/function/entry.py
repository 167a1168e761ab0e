"""Entries: the short way of a call, written out for one trace and one kind of arguments.

An entry has the parameters of the user's function, so that Python itself binds the arguments. It looks at the guards of
its trace, collects the arrays and Variables, and calls the program.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import starmap
from sys import getrefcount
from typing import Any

import jax
import numpy as np

from graphc.base import nest
from graphc.core import SymbolicTensor, Tensor, is_array, variable_lock
from graphc.function.arguments import Arguments, Binder
from graphc.function.guards import Writer, written_signature
from graphc.function.results import Place, written_packer
from graphc.function.tracebacks import shorten
from graphc.function.traced import TracedFunction
from graphc.lowering import UNSHARED, TypesDiffer, copied, restore, run_on_variables

__all__ = ["entry", "kinds_of"]

# Of so many Variables or fewer the update is written out, which spares a small program up to two microseconds.
_FEW = 4


def kinds_of(arguments: Arguments) -> tuple[Any, ...] | None:
    """Of what kinds the arrays among the arguments are, which tells two entries of one trace apart.

    None where there can be no entry: what is passed is not what the trace works on.
    """
    if arguments.values is not arguments.given:
        return None  # numbers became tensors, as input_signature asks
    leaves = [leaf for value in arguments.values.values() for leaf in nest.flatten(value)[0] if is_array(leaf)]
    plain = all(type(leaf) in (Tensor, np.ndarray) or isinstance(leaf, jax.Array | np.generic) for leaf in leaves)
    if not plain or any(isinstance(leaf, SymbolicTensor) for leaf in leaves):
        return None
    return tuple([(type(leaf), getattr(leaf, "dtype", None)) for leaf in leaves])


def entry(traced: TracedFunction, binder: Binder, arguments: Arguments, *, alone: bool) -> Callable[..., Any]:
    """The entry of a trace for arguments of these kinds.

    Args:
      traced: the trace.
      binder: of the function.
      arguments: of a call.
      alone: whether the function has no other trace.
    """
    writer = Writer(arguments.values)
    leaves = [leaf for value in arguments.values.values() for leaf in nest.flatten(value)[0] if is_array(leaf)]
    signature = written_signature(binder.signature, writer)
    guards = [guard for guard in traced.guards if guard.source.of_call]
    outside = [guard for guard in traced.guards if not guard.source.of_call]
    for guard in guards:
        writer.guard(guard)
    alone = alone and traced.is_simple
    arrays = [writer.array(source, leaf, alone=alone) for source, leaf in zip(traced.inputs, leaves, strict=True)]
    for guard in outside:
        writer.guard(guard)
    writer.distinct(*traced.distinct)
    found = [writer.find(source) for source in traced.wanted]
    if not traced.is_simple:
        return writer.function(_general(traced, writer, arrays, found), signature)
    tensors = [
        writer.find(source) if type(leaf) is Tensor else "" for source, leaf in zip(traced.inputs, leaves, strict=True)
    ]
    return writer.function(_simple(traced, writer, arrays, found, tensors), signature)


def _listed(names: list[str]) -> str:
    return "".join(f"{name}, " for name in names)


def _simple(
    traced: TracedFunction, writer: Writer, arrays: list[str], found: list[str], tensors: list[str]
) -> list[str]:
    """Calls the program, of a function that does nothing but compute and update Variables."""
    writer.namespace.update(
        program=traced.executable.jitted, pack=traced.pack, run_on_variables=run_on_variables, lock=variable_lock,
        Tensor=Tensor, new=object.__new__, Differ=(TypesDiffer, ValueError), starmap=starmap, refs=getrefcount,
        copied=copied, restore=restore,
    )  # fmt: skip

    def value(place: Any) -> str:
        return found[place.index] if isinstance(place, Place) else writer.constant(place)

    given = [*arrays, *(f"{value(place)}.raw" for place in traced.captured_places)]
    variables = [value(place) for place in traced.variable_places]
    lines: list[str] = []
    count, written = traced.num_results, traced.executable.num_written
    if written:
        call = f"run_on_variables(program, ({_listed(variables)}), {written}, ({_listed(given)}))"
    else:
        held = [f"held{place}" for place in range(len(variables))]
        if held:  # all at one time; None while a program replaces the value, for which the long way waits
            pairs = zip(held, variables, strict=True)
            lines = ["with lock:", *(f"    {name} = {variable}._array" for name, variable in pairs)]
            lines += [f"if {' or '.join(f'{name} is None' for name in held)}:", "    return MISS"]
        call = f"program({_listed([*held, *given])})"
    # Arrays that JAX does not bring together are told by the long way, as are other rules for dtypes.
    few = written > 0 and len(variables) <= _FEW
    run = _updating(variables, written, given, count) if few else [f"results = {call}"]
    lines += ["try:", *(f"    {line}" for line in run), "except Differ:", "    return MISS"]
    names = [f"t{place}" for place in range(count)]
    for place, origin in traced.own.items():  # the caller has this tensor already
        names[place] = (tensors[origin] if isinstance(origin, int) else value(origin)) or names[place]
    if (packed := written_packer(traced.structure, traced.leaves, names)) is None:
        return [*lines, f"return pack(map(Tensor, {'results[:' + str(count) + ']' if written else 'results'}))"]
    for place in range(count):  # without a call of __init__
        if names[place] == f"t{place}":
            lines += [f"t{place} = new(Tensor)", f"t{place}.raw = results[{place}]"]
    return [*lines, f"return {packed}"]


def _updating(variables: list[str], written: int, given: list[str], count: int) -> list[str]:
    """Runs a program as :func:`graphc.lowering.run_on_variables` does, written out; the reasons stand there."""
    held = [f"held{place}" for place in range(len(variables))]
    own = [f"own{place}" for place in range(written)]
    lines = [f"{name} = {variable}._array" for name, variable in zip(held, variables, strict=True)]
    lines += [f"if {' or '.join(f'{name} is None' for name in held)}:", "    return MISS"]
    body = [f"{' = '.join(f'{variable}._array' for variable in variables[:written])} = None"]
    for name, value in zip(own, held, strict=False):
        body.append(f"{name} = {value} if refs({value}) <= {UNSHARED} else copied({value})")
    body.append(f"(results,) = starmap(program, (({_listed([*own, *held[written:], *given])}),))")
    body += [f"{variable}._array = results[{count + place}]" for place, variable in enumerate(variables[:written])]
    failed = f"restore(({_listed(variables[:written])}), ({_listed(held[:written])}), results)"
    lines += ["try:", *(f"    {line}" for line in body), "except BaseException:", f"    {failed}", "    raise"]
    return ["results = None", "with lock:", *(f"    {line}" for line in lines)]


def _general(traced: TracedFunction, writer: Writer, arrays: list[str], found: list[str]) -> list[str]:
    """Calls the trace, which knows what is to be done besides."""

    def run(values: dict[str, Any], arrays: list[Any], found: tuple[Any, ...]) -> Any:
        try:
            return traced(Arguments(values, arrays, traced.types, values, found))
        except Exception as error:
            shorten(error)
            raise

    writer.namespace["run"] = run
    values = ", ".join(f"{name!r}: {own}" for name, own in writer.parameters.items())
    return [f"return run({{{values}}}, [{_listed(arrays)}], ({_listed(found)}))"]
