"""Results of compiled functions: flattened when the function is traced, rebuilt after each call."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from typing import Any

import jax

from graphc.compiler.base import Location, has_mark, nest
from graphc.compiler.core import SymbolicTensor, Tensor
from graphc.compiler.function import front_end
from graphc.compiler.function.returned import Fresh, from_outside, settled
from graphc.compiler.tracing import Trace

__all__ = ["OwnTensor", "Place", "Result", "is_written", "packer", "written_result"]

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
      structure: the nested structure of the value.
      leaves: its leaves: ``_OUTPUT``, ``_NUMBER`` or ``_Again`` for those that are outputs of the graph.
      outputs: the outputs of the graph.
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

        Args:
          trace: the function's trace.
          value: the returned value.
          arguments: the traced tensors of the arguments.
          location: the function's definition.

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
      leaves: the result's leaves.
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
