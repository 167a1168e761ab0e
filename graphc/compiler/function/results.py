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
from enum import Enum
from functools import partial, reduce
from typing import Any, cast

import jax
import numpy as np

from graphc.compiler.base import Location, has_mark, is_library_module, nest, user_location, with_article
from graphc.compiler.base.errors import GraphcError, InvalidArgumentError, UnimplementedError
from graphc.compiler.core import SymbolicTensor, Tensor
from graphc.compiler.function import front_end
from graphc.compiler.function.arguments import Arguments
from graphc.compiler.tracing import Reads, SideEffect, TensorCell, Trace, is_array

# Python objects in results: what the function makes is made anew for each call, or refused.
#
# A function is traced once, and so makes its objects once. Tuples, lists, dicts, named tuples and dataclasses are
# rebuilt for each call; what follows decides about all others.

_COPIED = (
    *(bytearray, deque, dict, list, np.ndarray, set),
    *(BaseException, types.SimpleNamespace, random.Random, np.random.RandomState, np.random.Generator),
)
_PLAIN = (bool, int, float, complex, str, bytes, range, type, types.ModuleType, types.CodeType, Tensor)
_MOST_OBJECTS = 10_000


@dataclass(frozen=True, slots=True)
class Fresh:
    """A placeholder for an object that the function makes: each call returns a copy."""

    pattern: Any
    kept: dict[int, Any]  # what it holds and the function did not make, by identity: all copies hold the same

    def make(self) -> Any:
        """Returns a new copy."""
        return copy.deepcopy(self.pattern, dict(self.kept))


def from_outside(reads: Reads, value: Any) -> dict[int, Any]:
    """Returns the containers of a result that the function did not make, as the caller knows them, by identity."""
    # Containers of the arguments that hold tensors are left out: they are rebuilt, with the tensors of each call.
    originals: dict[int, Any] = {}
    for part in _containers(value):
        original = reads.original(part)
        if reads.source(original) is None or not nest.is_mutable(part):
            continue
        kind = SymbolicTensor if original is part else Tensor  # symbolic: what the trace has put in, which is refused
        if not any(isinstance(leaf, kind) for leaf in nest.flatten(part)[0]):
            originals[id(part)] = original
    return originals


def _containers(value: Any) -> Iterator[Any]:
    parts = nest.children(value)
    if parts is not None and value is not None:
        yield value
        for part in parts[1]:
            yield from _containers(part)


def settled(trace: Trace, leaf: Any, location: Location | None) -> Any:
    """Returns what stands for an object of a result: the object itself, or :class:`Fresh` for one made in the trace."""
    if leaf is None or isinstance(leaf, _PLAIN) or trace.reads.source(leaf) is not None:
        return leaf
    if isinstance(leaf, Iterator):
        raise _refusal(trace, leaf, "is used up once", location)
    if _is_graphcs(leaf):
        return leaf
    if _holds_tensor(trace, leaf):
        raise _refusal(trace, leaf, "holds a tensor that has no value yet", location)
    if isinstance(leaf, _COPIED):
        shared = {id(part): part for part in _reached(trace, leaf) if _is_graphcs(part) or trace.reads.source(part)}
        if any(source.of_call for part in shared.values() if (source := trace.reads.source(part)) is not None):
            raise _refusal(trace, leaf, "holds an object of the call's arguments", location)
        try:
            return Fresh(copy.deepcopy(cast("Any", leaf), dict(shared)), shared)
        except Exception as error:  # the user's code, such as a __getattr__ that answers for __deepcopy__
            raise _refusal(trace, leaf, "cannot be copied", location) from error
    if isinstance(leaf, types.FunctionType) and any(_is_state(trace, part) for part in _parts_of_function(leaf)):
        name = trace.builder.name
        what = f"making the function {leaf.__name__!r}, which {name} returns and which keeps state in a closure,"
        remedy = "make the function outside and keep its state in a Variable"
        trace.side_effects.append(SideEffect(what, location, False, remedy))
    elif _is_of_users_class(leaf) and not getattr(leaf, "__dict__", None):  # of stores in its attributes it is told
        name, kind = trace.builder.name, with_article(type(leaf).__name__)
        remedy = "return a tuple, a list, a dict, a named tuple or a dataclass, or make the object outside"
        trace.side_effects.append(SideEffect(f"making {kind}, which {name} returns,", location, False, remedy))
    return leaf


def _is_of_users_class(value: Any) -> bool:
    kind = cast("type[Any]", type(value))
    return not (callable(value) or isinstance(value, Enum) or is_library_module(kind.__module__))


def _refusal(trace: Trace, leaf: Any, why: str, location: Location | None) -> BaseException:
    name, kind = trace.builder.name, with_article(type(leaf).__name__)
    return UnimplementedError(
        f"{name} returns {kind}, which {why}: it is made once, when {name} is traced, and calls cannot make it anew. "
        "Return a tuple, a list, a dict, a named tuple or a dataclass"
    ).at(location)


def _is_state(trace: Trace, value: Any) -> bool:
    return isinstance(value, _COPIED) and trace.reads.source(trace.reads.original(value)) is None


def _holds_tensor(trace: Trace, value: Any) -> bool:
    """Returns True if a tensor of the trace can be reached from an object that the trace made."""
    return any(isinstance(part, SymbolicTensor) and part.trace is trace for part in _reached(trace, value))


def _reached(trace: Trace, value: Any) -> Iterator[Any]:
    """Yields an object and what it holds, up to what is from outside or graphc's own."""
    seen: set[int] = set()
    pending = [value]
    while pending and len(seen) < _MOST_OBJECTS:
        part = pending.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        yield part
        if isinstance(part, _PLAIN) or _is_graphcs(part) or trace.reads.source(part) is not None:
            continue
        pending += _parts_of_function(part) if isinstance(part, types.FunctionType) else gc.get_referents(part)


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
class OperandReference:
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
    """The value that the user's function returned when it was traced."""

    structure: nest.Structure
    leaves: list[Any]  # its leaves: ``_OUTPUT``, ``_NUMBER`` or ``_Again`` for those that are outputs of the graph
    outputs: list[SymbolicTensor]
    # For leaves that are tensors of the caller, by leaf position: the position among the arguments' tensors, or the
    # tensor.
    own: dict[int, int | Tensor]

    @classmethod
    def of(
        cls, trace: Trace, value: Any, arguments: Sequence[SymbolicTensor], location: Location | None = None
    ) -> Result:
        """Flattens the result."""
        outside = from_outside(trace.reads, value)
        flat, structure = nest.flatten(value, outside.keys(), repeats=True)
        late = list(_late(structure))
        indices = {id(argument): index for index, argument in enumerate(arguments)}
        leaves: list[Any] = []
        outputs: list[SymbolicTensor] = []
        own: dict[int, int | Tensor] = {}
        seen: dict[tuple[int, object], int] = {}  # a number is a tensor as a result, and shows its digits in a text
        for position, leaf in enumerate(flat):
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
            if id(leaf) in indices:
                own[position] = indices[id(leaf)]
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
        rebuilt: list[Any] = []
        for leaf in leaves:
            output = next(supply) if leaf is _OUTPUT or isinstance(leaf, _Again | OwnTensor) else None
            if leaf is _NUMBER:
                output = next(supply).item()
            elif leaf is _DIGITS:
                output = front_end.number_of(next(supply))
            elif isinstance(leaf, _Again):
                output = rebuilt[leaf.index]
            elif isinstance(leaf, OwnTensor):
                output = leaf.tensor
            elif isinstance(leaf, Fresh):
                output = leaf.make()
            rebuilt.append(leaf if output is None else output)
        return nest.unflatten(structure, rebuilt)

    if not is_late(structure):
        return pack
    finish = [
        *([front_end.as_lists] if front_end.holds_growing(structure) else []),
        *([front_end.value_of] if front_end.holds_deferred(structure) else []),
    ]
    return reduce(lambda inner, outer: lambda supply: outer(inner(supply)), finish, pack)


def is_late(structure: nest.Structure) -> bool:
    """Returns True if a part is known only after a run: a list of unknown length, a string made of tensors."""
    return getattr(structure.kind, "__graphc_symbolic__", False) or any(map(is_late, structure.children))


def is_written(structure: nest.Structure) -> bool:
    """Returns True if :func:`written_result` applies: no container occurs twice or is completed after the call."""
    repeats = structure.kind is nest.SharedContainer or not all(map(is_written, structure.children))
    return not (repeats or is_late(structure))


def written_result(
    structure: nest.Structure, leaves: Sequence[Any], own: Mapping[int, str], name: Callable[[Any], str]
) -> str:
    """Returns the work of :func:`packer` as an expression of the tensors, which are called t0, t1 and so on."""
    texts: list[str] = []
    outputs = (f"t{index}" for index in itertools.count())
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
        prefix = "" if kind is list else f"{name(partial(nest.container, structure))}("
        return f"{prefix}[{inside}]{')' if prefix else ''}"

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


# Write-back of item assignments: the caller's tensors receive the new values of their items after each call.


def array_leaves(arguments: Arguments) -> list[tuple[str, Any]]:
    """Returns the tensors and arrays among the arguments, each with the expression that reaches it."""
    return [
        (path, leaf)
        for name, value in arguments.values.items()
        for path, leaf in nest.flatten_with_paths(value, name)
        if is_array(leaf)
    ]


def check_changed(name: str, changed: Mapping[int, tuple[str, Location | None]], arguments: Arguments) -> None:
    """Refuses a call with a NumPy array that the Python function changes in place, itself or through a view."""
    # changed: by the position of an argument, the operator, empty for an item assignment, and the line.
    leaves = array_leaves(arguments)
    for index, (symbol, location) in changed.items():
        path, leaf = leaves[index]
        if isinstance(leaf, np.ndarray):
            how = f"changes the argument {path!r} with {symbol}=" if symbol else f"assigns items of a view of {path!r}"
            raise InvalidArgumentError(
                f"{name} {how}, which was passed as a NumPy array: the compiled function would change a copy. Pass a "
                "tensor, made with gx.asarray, or change a copy made inside with gx.copy"
            ).at(location or user_location())


@dataclass(frozen=True)
class _Assigned:
    """An argument whose items are assigned."""

    index: int  # its position among the tensors of the arguments
    path: str
    location: Location | None  # the line of the first assignment


class WriteBack:
    """Stores the values that the program assigned to items into the call's tensors; an :class:`AfterCall`."""

    def __init__(self, name: str, assigned: Sequence[_Assigned], values: Sequence[SymbolicTensor]) -> None:
        self._name = name
        self._assigned = assigned
        self._values = values
        paths = ", ".join(repr(argument.path) for argument in assigned)
        self.what = f"it assigns items of the argument{'s' * (len(assigned) > 1)} {paths}"

    @classmethod
    def of(
        cls, trace: Trace, name: str, arguments: Arguments, tensors: Sequence[SymbolicTensor], before: Sequence[Any]
    ) -> WriteBack | None:
        """Returns the write-back of a trace; None if it assigned no items of arguments."""
        changed = [index for index, tensor in enumerate(tensors) if tensor.raw is not before[index]]
        if not changed:
            return None
        paths = [path for path, _ in array_leaves(arguments)]
        writes = [trace.journal.writes.get(TensorCell(tensors[index]).key) for index in changed]
        assigned = [
            _Assigned(index, paths[index], None if write is None else write.location)
            for index, write in zip(changed, writes, strict=True)
        ]
        return cls(name, assigned, [tensors[index].snapshot() for index in changed])

    @property
    def places(self) -> list[int]:
        """The positions of these arguments among the tensors of the arguments."""
        return [argument.index for argument in self._assigned]

    def tensors(self, trace: Trace) -> Sequence[SymbolicTensor]:
        """Returns the final values of the assigned arguments."""
        return [trace.lift(value) for value in self._values]

    def run(self, arrays: Sequence[Any], arguments: Any) -> None:
        """Stores the new values in the arguments: arrays, or tensors that tapes know."""
        leaves = array_leaves(arguments)
        for argument, array in zip(self._assigned, arrays, strict=True):
            leaves[argument.index][1].become(array if isinstance(array, Tensor) else Tensor(array))

    def check(self, arguments: Arguments, captured: Sequence[Tensor]) -> None:
        """Refuses a call that would leave tensors in another state than the Python function."""
        leaves = array_leaves(arguments)
        ids = {id(leaf) for leaf in nest.flatten(arguments.given)[0]}
        for argument in self._assigned:
            path, leaf = leaves[argument.index]
            if not isinstance(leaf, Tensor) or id(leaf) not in ids:
                raise self._error(
                    InvalidArgumentError,
                    argument,
                    f"which was passed as {_described(leaf)}: the compiled function would change a copy. Pass a "
                    "tensor, made with gx.asarray, or assign to the items of a copy made inside with gx.copy",
                )
            others = [other for other, value in leaves if value is leaf and other != path]
            if others:
                raise self._error(
                    UnimplementedError,
                    argument,
                    f"but the same tensor is also passed as {others[0]!r}, which the compiled function would not see "
                    "changed; pass a copy, made with gx.copy",
                )
            if any(value is leaf for value in captured):
                raise self._error(
                    UnimplementedError,
                    argument,
                    "but the function also uses the same tensor from outside, which it would not see changed; use "
                    "the argument only, or pass a copy",
                )

    def _error(self, kind: type[GraphcError], argument: _Assigned, why: str) -> GraphcError:
        return kind(f"{self._name} assigns items of the argument {argument.path!r}, {why}").at(
            argument.location or user_location()
        )


def _described(leaf: Any) -> str:
    if isinstance(leaf, Tensor):
        return "Python numbers"
    return "a NumPy array" if isinstance(leaf, np.ndarray | np.generic) else "a jax.Array"
