"""Results of compiled functions: flattened when the function is traced, rebuilt after each call."""

from __future__ import annotations

import copy
import gc
import itertools
import random
import types
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from typing import Any, cast

import jax
import numpy as np

from graphc.compiler.base import Location, at, has_mark, nest, with_article
from graphc.compiler.base.errors import UnimplementedError
from graphc.compiler.core import SymbolicTensor, Tensor
from graphc.compiler.function import front_end
from graphc.compiler.tracing import Reads, SideEffect, Trace

__all__ = ["Fresh", "OwnTensor", "Place", "Result", "from_outside", "is_written", "packer", "settled", "written_result"]

# Python objects in results: what the function makes is made anew for each call, or refused.
#
# A function is traced once, and so makes its objects once. Tuples, lists, dicts, named tuples and dataclasses are
# rebuilt for each call; what follows decides about all others.

_COPIED = (
    *(bytearray, deque, dict, list, np.ndarray, set),
    *(types.SimpleNamespace, random.Random, np.random.RandomState, np.random.Generator),
)
_PLAIN = (bool, int, float, complex, str, bytes, range, type, types.ModuleType, types.CodeType, Tensor)
_MOST_OBJECTS = 10_000


@dataclass(frozen=True, slots=True)
class Fresh:
    """A placeholder for an object that the function makes: each call returns a copy.

    Attributes:
      kept: what it holds and the function did not make, by identity: all copies hold the same.
    """

    pattern: Any
    kept: dict[int, Any]

    def make(self) -> Any:
        """Returns a new copy."""
        return copy.deepcopy(self.pattern, dict(self.kept))


def from_outside(reads: Reads, value: Any) -> dict[int, Any]:
    """Returns the containers of a result that the function did not make, as the caller knows them, by identity.

    Containers of the arguments that hold tensors are left out: they are rebuilt, with the tensors of each call.
    """
    found: dict[int, Any] = {}
    for part in _containers(value):
        original = reads.original(part)
        if reads.source(original) is None or not nest.is_mutable(part):
            continue
        kind = SymbolicTensor if original is part else Tensor  # symbolic: what the trace has put in, which is refused
        if not any(isinstance(leaf, kind) for leaf in nest.flatten(part)[0]):
            found[id(part)] = original
    return found


def _containers(value: Any) -> Iterator[Any]:
    parts = nest.children(value)
    if parts is not None and value is not None:
        yield value
        for part in parts[1]:
            yield from _containers(part)


def settled(trace: Trace, leaf: Any, location: Location | None) -> Any:
    """Returns what stands for an object of a result: the object itself, or :class:`Fresh` for one made in the trace.

    Args:
      leaf: an object of the result that is no tensor and no container which is rebuilt.

    Raises:
      UnimplementedError: the object holds a tensor of the trace, or is an iterator.
    """
    if leaf is None or isinstance(leaf, _PLAIN) or trace.reads.source(leaf) is not None:
        return leaf
    if isinstance(leaf, Iterator):
        raise _refusal(trace, leaf, "is used up once", location)
    if _is_graphcs(leaf):
        return leaf
    if _holds_tensor(trace, leaf):
        raise _refusal(trace, leaf, "holds a tensor that has no value yet", location)
    if isinstance(leaf, _COPIED):
        kept = {id(part): part for part in _reached(trace, leaf) if _is_graphcs(part) or trace.reads.source(part)}
        if any(source.of_call for part in kept.values() if (source := trace.reads.source(part)) is not None):
            raise _refusal(trace, leaf, "holds an object of the call's arguments", location)
        try:
            return Fresh(copy.deepcopy(cast("Any", leaf), dict(kept)), kept)
        except Exception as error:  # the user's code, such as a __getattr__ that answers for __deepcopy__
            raise _refusal(trace, leaf, "cannot be copied", location) from error
    if isinstance(leaf, types.FunctionType) and any(_is_state(trace, part) for part in _parts_of_function(leaf)):
        name = trace.builder.name
        what = f"making the function {leaf.__name__!r}, which {name} returns and which keeps state in a closure,"
        remedy = "make the function outside and keep its state in a Variable"
        trace.side_effects.append(SideEffect(what, location, False, remedy))
    return leaf


def _refusal(trace: Trace, leaf: Any, why: str, location: Location | None) -> BaseException:
    name, kind = trace.builder.name, with_article(type(leaf).__name__)
    error = UnimplementedError(
        f"{name} returns {kind}, which {why}: it is made once, when {name} is traced, and calls cannot make it anew. "
        "Return a tuple, a list, a dict, a named tuple or a dataclass"
    )
    return at(error, location)


def _is_state(trace: Trace, value: Any) -> bool:
    return isinstance(value, _COPIED) and trace.reads.source(trace.reads.original(value)) is None


def _holds_tensor(trace: Trace, value: Any) -> bool:
    """Returns True if a tensor of the trace can be reached from an object that the trace made."""
    return any(isinstance(part, SymbolicTensor) and part.trace is trace for part in _reached(trace, value))


def _reached(trace: Trace, value: Any) -> Iterator[Any]:
    """Yields an object and what it holds, up to what is from outside or graphc's own."""
    seen: set[int] = set()
    found = [value]
    while found and len(seen) < _MOST_OBJECTS:
        part = found.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        yield part
        if isinstance(part, _PLAIN) or _is_graphcs(part) or trace.reads.source(part) is not None:
            continue
        found += _parts_of_function(part) if isinstance(part, types.FunctionType) else gc.get_referents(part)


def _is_graphcs(value: Any) -> bool:
    """Returns True for objects of graphc, such as Variables and compiled functions, which keep no tensor of a trace."""
    return type(value).__module__.partition(".")[0] in ("graphc", "jax", "jaxlib")


def _parts_of_function(function: types.FunctionType) -> list[Any]:
    """Returns what a function holds: its free variables and its defaults."""
    cells = [cell.cell_contents for cell in function.__closure__ or () if cell != _EMPTY]
    return [*cells, *(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]


_EMPTY = types.CellType()


_OUTPUT = object()
_NUMBER = object()  # an output that is a number in plain Python
_DIGITS = object()  # one in a text, which shows a float by as few digits as its tensor needs


@dataclass(frozen=True, slots=True)
class Place:
    """A placeholder for an object that is found again at each call."""

    index: int


@dataclass(frozen=True, slots=True)
class _Again:
    """A placeholder for the tensor of an earlier leaf of the result."""

    index: int


@dataclass(frozen=True, slots=True)
class OwnTensor:
    """A placeholder, in place of an output, for a tensor that the caller already has."""

    tensor: Tensor


@dataclass(frozen=True)
class Result:
    """The value that the user's function returned when it was traced.

    Attributes:
      leaves: its leaves: ``_OUTPUT``, ``_NUMBER`` or ``_Again`` for those that are outputs of the graph.
      own: for leaves that are tensors of the caller, by leaf position: the position among the arguments' tensors, or
        the tensor.
    """

    structure: nest.Structure
    leaves: list[Any]
    outputs: list[SymbolicTensor]
    own: dict[int, int | Tensor]

    @classmethod
    def of(
        cls, trace: Trace, value: Any, arguments: Sequence[SymbolicTensor], location: Location | None = None
    ) -> Result:
        """Flattens the result.

        Raises:
          UnimplementedError: the result holds an object that a call cannot make anew.
        """
        outside = from_outside(trace.reads, value)
        found, structure = nest.flatten(value, outside.keys(), repeats=True)
        late = list(_late(structure))
        places = {id(argument): index for index, argument in enumerate(arguments)}
        leaves: list[Any] = []
        outputs: list[SymbolicTensor] = []
        own: dict[int, int | Tensor] = {}
        seen: dict[tuple[int, object], int] = {}  # a number is a tensor as a result, and shows its digits in a text
        for position, leaf in enumerate(found):
            output = _output(trace, leaf)
            if not isinstance(output, SymbolicTensor):
                output = outside.get(id(leaf), output)
                # What puts a text together is not made by the user.
                leaves.append(settled(trace, output, location) if late[position] is None else output)
                continue
            outputs.append(output)
            kind = _OUTPUT
            if isinstance(leaf, front_end.SymbolicNumber):
                in_text = getattr(late[position], "__graphc_text__", False)
                if in_text or bool in leaf.kinds:  # a tensor holds one for True, which prints as True
                    leaf.check_kind("a text" if in_text else "a result", location)
                kind = _NUMBER if not leaf.joined else _DIGITS if in_text else _OUTPUT
            again = seen.setdefault((id(leaf), kind), position)
            leaves.append(kind if again == position else _Again(again))
            if id(leaf) in places:
                own[position] = places[id(leaf)]
            elif isinstance(leaf, Tensor) and not isinstance(leaf, SymbolicTensor):
                own[position] = leaf
        return cls(structure, leaves, outputs, own)


def packer(structure: nest.Structure, leaves: Sequence[Any]) -> Callable[[Iterator[Any]], Any]:
    """Returns the function that rebuilds the user's result from the program's tensors."""
    if structure == nest.LEAF and leaves[0] is _OUTPUT:
        return next
    if (
        structure.kind is tuple
        and all(leaf is _OUTPUT for leaf in leaves)
        and all(child == nest.LEAF for child in structure.children)
    ):
        return tuple

    def pack(supply: Iterator[Any]) -> Any:
        made: list[Any] = []
        for leaf in leaves:
            output = next(supply) if leaf is _OUTPUT or isinstance(leaf, _Again | OwnTensor) else None
            if leaf is _NUMBER:
                output = next(supply).item()
            elif leaf is _DIGITS:
                output = front_end.number_of(next(supply))
            elif isinstance(leaf, _Again):
                output = made[leaf.index]
            elif isinstance(leaf, OwnTensor):
                output = leaf.tensor
            elif isinstance(leaf, Fresh):
                output = leaf.make()
            made.append(leaf if output is None else output)
        return nest.unflatten(structure, made)

    finish = [
        *([front_end.as_lists] if front_end.holds_growing(structure) else []),
        *([front_end.value_of] if front_end.holds_deferred(structure) else []),
    ]
    return reduce(lambda inner, outer: lambda supply: outer(inner(supply)), finish, pack)


def is_written(structure: nest.Structure) -> bool:
    """Returns True if :func:`written_result` applies: no container occurs twice or is completed after the call."""
    repeats = structure.kind is nest.Repeat or not all(map(is_written, structure.children))
    return not (repeats or front_end.holds_growing(structure) or front_end.holds_deferred(structure))


def written_result(
    structure: nest.Structure, leaves: Sequence[Any], own: Mapping[int, str], name: Callable[[Any], str]
) -> str:
    """Returns the work of :func:`packer` as an expression of the tensors, which are called t0, t1 and so on.

    Args:
      structure: the result's structure, for which :func:`is_written` is True.
      own: the expressions of the leaves that are tensors of the caller, by position.
      name: returns the expression of another object or of a :class:`Place`.
    """
    texts: list[str] = []
    outputs = (f"t{place}" for place in itertools.count())
    for position, leaf in enumerate(leaves):
        if not (leaf is _OUTPUT or leaf is _NUMBER or isinstance(leaf, _Again)):
            texts.append(f"{name(leaf.make)}()" if isinstance(leaf, Fresh) else name(leaf))
            continue
        output = next(outputs)
        text = texts[leaf.index] if isinstance(leaf, _Again) else f"{output}.item()" if leaf is _NUMBER else output
        texts.append(own.get(position, text))
    supply = iter(texts)

    def written(structure: nest.Structure) -> str:
        kind, keys = structure.kind, structure.keys
        if kind is None or kind is type(None):
            return next(supply) if kind is None else "None"
        parts = [written(child) for child in structure.children]
        if kind is dict:
            texts = [repr(key) if type(key) is str else name(key) for key in keys]
            return f"{{{', '.join(f'{key}: {part}' for key, part in zip(texts, parts, strict=True))}}}"
        inside = "".join(f"{part}, " for part in parts)
        if kind is tuple:
            return f"({inside})"
        made = "" if kind is list else f"{name(partial(nest.container, structure))}("
        return f"{made}[{inside}]{')' if made else ''}"

    return written(structure)


def _late(structure: nest.Structure, inside: type | None = None) -> Iterator[type | None]:
    """Yields, for each leaf of a structure, the class of the text or other late value that it is a part of."""
    if structure.kind is None:
        yield inside
    elif front_end.holds_deferred(structure._replace(children=())):
        inside = structure.kind
    for child in structure.children:
        yield from _late(child, inside)


def _output(trace: Trace, leaf: Any) -> Any:
    """Converts a leaf of the result: tensors become outputs of the graph, Python values stay."""
    if isinstance(leaf, Tensor | jax.Array):
        return trace.lift(leaf)
    if has_mark(leaf, "__graphc_unbound__") or has_mark(leaf, "__graphc_range__"):
        leaf.fail()
    return leaf
