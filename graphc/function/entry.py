"""Entries: the short way of a call, written out for one trace and one kind of arguments.

An entry takes the arguments of the user's function. It looks at the guards of its trace, collects the arrays and
Variables, and calls the program. The function's only entry becomes its ``__call__``, so that a call is one frame of
Python's; of several, which the function tries in turn, each gives MISS where it does not fit.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import cycle, repeat, starmap
from sys import getrefcount
from typing import Any

import jax
import numpy as np

from graphc.base import nest
from graphc.core import SCALARS, SymbolicTensor, Tensor, is_array, variable_lock
from graphc.function.arguments import Arguments, Binder
from graphc.function.binding import Binding
from graphc.function.guards import Writer
from graphc.function.results import Place, is_written, written_result
from graphc.function.tracebacks import shorten
from graphc.function.traced import TracedFunction
from graphc.lowering import UNSHARED, TypesDiffer, copied, restore, run_on_variables

__all__ = ["chooser", "entry", "kinds_of", "only_entry"]

# Of so many Variables or fewer the update is written out, which spares a small program up to two microseconds.
_FEW = 4
_KINDS = (Tensor, np.ndarray, *SCALARS)


def kinds_of(arguments: Arguments, traced: TracedFunction) -> tuple[Any, ...] | None:
    """Of what kinds the arrays among the arguments are, which tells two entries of one trace apart.

    None where there can be no entry: what is passed is not what the trace works on.
    """
    leaves = _leaves(arguments)
    if leaves is None or (arguments.values is not arguments.given and not traced.is_simple):
        return None
    plain = all(type(leaf) in _KINDS or isinstance(leaf, jax.Array | np.generic) for leaf in leaves)
    if not plain or any(isinstance(leaf, SymbolicTensor) for leaf in leaves):
        return None
    return tuple([(type(leaf), getattr(leaf, "dtype", None)) for leaf in leaves])


def _leaves(arguments: Arguments) -> list[Any] | None:
    """The arrays among the arguments, and the numbers of which input_signature made tensors; None if in lists."""
    found: list[Any] = []
    for name, value in arguments.values.items():
        given = arguments.given[name]
        if value is not given and type(given) not in SCALARS:
            return None
        found += [given] if value is not given else filter(is_array, nest.flatten(value)[0])
    return found


def entry(traced: TracedFunction, arguments: Arguments, *, alone: bool) -> Callable[..., Any]:
    """Returns the entry of a trace for arguments of these kinds; it takes all parameters by position.

    Args:
      traced: the trace.
      arguments: of a call.
      alone: whether the function has no other trace.
    """
    writer = Writer(arguments.values)
    body = _body(traced, writer, arguments, alone=alone)
    return writer.function(", ".join(writer.parameters.values()), body)


def only_entry(
    traced: TracedFunction, arguments: Arguments, binder: Binder, *, alone: bool = True
) -> Callable[..., Any]:
    """Returns the entry of a function that has no other: what the function is called with goes there.

    Args:
      traced: its only trace.
      arguments: of a call.
      binder: of the function.
      alone: as for :func:`entry`; not so where others are for other device scopes.
    """
    writer = Writer(arguments.values, miss="break")
    body = _body(traced, writer, arguments, alone=alone)
    given = [name for name, value in arguments.values.items() if is_array(value)]
    return _method(writer, Binding.of(binder.signature, writer, given), body)


def chooser(
    binder: Binder, used: set[Callable[..., Any]], promote: Callable[[Any], None], patience: int
) -> Callable[..., Any]:
    """Returns what tries the entries of a function in turn, its globals ``ag__first`` and ``ag__others``.

    Args:
      binder: of the function.
      used: gets those of the others that served.
      promote: puts one of the others in front.
      patience: after so many calls that one of the others served.
    """
    writer = Writer(binder.signature.parameters, miss="break")
    turns = cycle([*repeat(False, patience - 1), True])
    writer.namespace.update(ag__used=used, ag__promote=promote, ag__turns=turns, ag__next=next)
    passed = ", ".join(writer.parameters.values())
    body = [
        f"results = ag__first({passed})",
        "if results is not MISS: return results",
        "for ag__entry in ag__others:",
        f"    results = ag__entry({passed})",
        "    if results is not MISS:",
        "        ag__used.add(ag__entry)",
        "        if ag__next(ag__turns): ag__promote(ag__entry)",
        "        return results",
        "break",
    ]
    return _method(writer, Binding.of(binder.signature, writer), body)


def _method(writer: Writer, binding: Binding, body: list[str]) -> Callable[..., Any]:
    """Returns the function that binds what a function is called with, and runs lines that break off at a miss."""
    lines = ["while True:", *(f"    {line}" for line in (*binding.lines, *body)), *binding.missed]
    return writer.function(binding.parameters, lines)


def _body(traced: TracedFunction, writer: Writer, arguments: Arguments, *, alone: bool) -> list[str]:
    """Asks the guards, and calls the program."""
    alone = alone and traced.is_simple
    arrays = dict[Any, str]()
    leaves = _leaves(arguments) or []
    pairs = list(zip(traced.inputs, leaves, strict=True))
    dtypes = {source: aval.dtype for source, aval in zip(traced.inputs, traced.types, strict=True)}
    # What differs most from call to call comes first: the types of arguments that are arrays, then what is in others.
    for source, leaf in pairs:
        if type(leaf) in SCALARS:
            arrays[source] = writer.number(source, leaf, dtypes[source])
        elif source.base is None:
            arrays[source] = writer.array(source, leaf, alone=alone)
    guards = [guard for guard in traced.guards if guard.source.of_call]
    outside = [guard for guard in traced.guards if not guard.source.of_call]
    for guard in guards:
        writer.guard(guard)
    for source, leaf in pairs:
        if source.base is not None:
            arrays[source] = writer.array(source, leaf, alone=alone)
    for guard in outside:
        writer.guard(guard)
    writer.distinct(*traced.distinct)
    found = [writer.find(source) for source in traced.wanted]
    given = [arrays[source] for source in traced.inputs]
    if not traced.is_simple:
        tail = _general(traced, writer, given, found)
    else:
        tensors = [writer.find(source) if type(leaf) is Tensor else "" for source, leaf in pairs]
        tail = _simple(traced, writer, given, found, tensors)
    return [*writer.guarded(), *tail]


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
    timed = traced.executable.timeout is not None
    if timed:
        writer.namespace["in_time"] = traced.executable.in_time
        call = f"in_time(({_listed(given)}), ({_listed(variables)}))"
    elif written:
        call = f"run_on_variables(program, ({_listed(variables)}), {written}, ({_listed(given)}))"
    else:
        held = [f"held{place}" for place in range(len(variables))]
        if held:  # all at one time; None while a program replaces the value, for which the long way waits
            pairs = zip(held, variables, strict=True)
            lines = ["with lock:", *(f"    {name} = {variable}._array" for name, variable in pairs)]
            lines += [f"if {' or '.join(f'{name} is None' for name in held)}:", f"    {writer.miss}"]
        call = f"program({_listed([*held, *given])})"
    # Arrays that JAX does not bring together are told by the long way, as are other rules for dtypes.
    few = written > 0 and len(variables) <= _FEW and not timed
    run = _updating(writer, variables, written, given, count) if few else [f"results = {call}"]
    lines += ["try:", *(f"    {line}" for line in run), "except Differ:", f"    {writer.miss}"]
    if timed:
        lines.append(f"if results is None: {writer.miss}")
    if not is_written(traced.structure):
        return [*lines, f"return pack(map(Tensor, {'results[:' + str(count) + ']' if written else 'results'}))"]
    origins = {place: tensors[at] if isinstance(at, int) else value(at) for place, at in traced.own.items()}
    own = {place: name for place, name in origins.items() if name}  # the caller has these tensors already
    packed = written_result(traced.structure, traced.leaves, own, value)
    for place in range(count):  # without a call of __init__
        if re.search(rf"\bt{place}\b", packed):
            lines += [f"t{place} = new(Tensor)", f"t{place}.raw = results[{place}]"]
    return [*lines, f"return {packed}"]


def _updating(writer: Writer, variables: list[str], written: int, given: list[str], count: int) -> list[str]:
    """Runs a program as :func:`graphc.lowering.run_on_variables` does, written out; the reasons stand there."""
    held = [f"held{place}" for place in range(len(variables))]
    own = [f"own{place}" for place in range(written)]
    lines = [f"{name} = {variable}._array" for name, variable in zip(held, variables, strict=True)]
    lines += [f"if {' or '.join(f'{name} is None' for name in held)}:", f"    {writer.miss}"]
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
