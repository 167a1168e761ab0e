"""Joins two values of a name: after a branch, or at the start of each iteration of a loop.

A name's value is a structure with leaves. Where both sides have the same Python object, it stays that object. Numbers
that differ, and tensors, become one tensor type: the same shape and dtype. Only numbers take another dtype, in which
nothing of them is lost. All else is refused, with what both sides hold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, is_dataclass
from types import FunctionType, MappingProxyType
from typing import Any, NoReturn, cast

import jax
import numpy as np

from graphc.compiler.autograph.frontend.lower_jumps import where_it_returns
from graphc.compiler.autograph.values.number import Kinds, kinds_of, span_of
from graphc.compiler.autograph.values.protocol import alternatives
from graphc.compiler.autograph.values.spans import ValueRange, common_span
from graphc.compiler.base import has_mark, nest, user_location, with_article
from graphc.compiler.base.errors import GraphcError, InvalidArgumentError, InvalidTypeError, UnimplementedError
from graphc.compiler.core import SCALARS, ArrayMethods, SymbolicTensor, Tensor, kind_of_dtype, operand, scalar_array
from graphc.compiler.ir import OPS, Attrs, TensorType
from graphc.compiler.ops import AS_NUMBER
from graphc.compiler.tracing import Trace, type_of_any

_INT32 = np.iinfo(np.int32)


def is_tensor(value: Any) -> bool:
    """Returns True if the value is a tensor or an array."""
    return isinstance(value, Tensor | jax.Array | np.ndarray | np.generic) or has_mark(value, "__graphc_index__")


def is_number(value: Any) -> bool:
    """Returns True if the value is a Python number or truth value."""
    return type(value) in SCALARS


def same(first: Any, second: Any) -> bool:
    """Returns True if two leaves are the same: one object, one value in a graph, or equal plain Python values."""
    if first is second:
        return True
    if isinstance(first, SymbolicTensor) and isinstance(second, SymbolicTensor):
        # t and int(t) may be one value of the graph, but not of Python.
        return first.raw is second.raw and kinds_of(first) == kinds_of(second)
    if type(first) is not type(second):
        return False
    if is_number(first) or isinstance(first, str | bytes | range | slice):
        return repr(cast("Any", first)) == repr(second)  # 0.0 == -0.0 and nan != nan mislead; the texts do not
    return False


def same_values(first: Any, second: Any) -> bool:
    """Returns True if two nested values have one structure, and leaves that are the same."""
    leaves, structure = nest.flatten(first)
    others, other_structure = nest.flatten(second)
    return structure == other_structure and all(map(same, leaves, others))


def describe(value: Any) -> str:
    """Returns a value, for messages."""
    if isinstance(value, SymbolicTensor):
        return f"a tensor {value.type} ({value.made_at()})"
    if isinstance(value, ArrayMethods):
        return f"a tensor {value.type}"
    if has_mark(value, "__graphc_described__"):
        return str(value.__graphc_described__)
    if any(map(_shows_itself, nest.flatten(value)[0])):
        return with_article(type(value).__name__)
    chosen = alternatives(value) is not None
    shown = value.describe() if chosen else repr(value)
    return shown if len(shown) < 60 else "one of several values" if chosen else with_article(type(value).__name__)


def _shows_itself(value: Any) -> bool:
    """Tells if the user's own code says how an object looks; it may ask for the values of tensors that have none."""
    return isinstance(getattr(cast("Any", type(value)), "__repr__", None), FunctionType) and not isinstance(
        value, ArrayMethods
    )


@dataclass(frozen=True)
class Joined:
    """The join of two values of a name."""

    structure: nest.Structure
    leaves: tuple[TensorType | None, ...]  # the type of each leaf; None where both sides have the same object
    kept: tuple[Any, ...]  # the leaves of the first side
    first: Any  # the first side's value; a new one where the other has other lists or dicts of the same contents
    kinds: tuple[Kinds | None, ...]  # the Python types that each leaf may have, if it is a number on both sides
    shared: frozenset[int] = frozenset()  # identities of the containers that are one object on both sides, and stay it
    spans: tuple[ValueRange | None, ...] = ()  # of the leaves that are ints on both sides

    def columns(self) -> Iterator[tuple[Any, TensorType | None, Kinds | None, ValueRange | None]]:
        """For each leaf the first side's, the tensor type, the Python types and the span."""
        return zip(self.kept, self.leaves, self.kinds, self.spans, strict=True)


@dataclass(frozen=True)
class Join:
    """Makes values of one name on two sides into one, or refuses."""

    sides: tuple[str, str]  # what the sides are, for messages
    refuse: Callable[[GraphcError], GraphcError]  # makes an error ready to be raised

    def values(self, name: str, first: Any, second: Any) -> Joined:
        """Returns how the values of ``name`` become one; refuses other structures, shapes, dtypes, Python values."""
        shared = nest.shared(first, second)  # they are merged by the writes to them, and stay the user's objects
        first_leaves, structure = nest.flatten(first, shared)
        second_leaves, second_structure = nest.flatten(second, shared)
        self.structures(name, (first, second), (structure, second_structure))
        leaves = [
            None if same(*pair) else self.leaf(name, pair, None)
            for pair in zip(first_leaves, second_leaves, strict=True)
        ]
        kinds = [common_kinds(*pair) for pair in zip(first_leaves, second_leaves, strict=True)]
        pairs = zip(first_leaves, second_leaves, strict=True)
        spans = [common_span(span_of(one), span_of(other)) for one, other in pairs]
        first = first if interchangeable(first, second) else nest.unflatten(structure, first_leaves)
        return Joined(structure, tuple(leaves), tuple(first_leaves), first, tuple(kinds), shared, tuple(spans))

    def structures(self, name: str, pair: tuple[Any, Any], structures: tuple[nest.Structure, nest.Structure]) -> None:
        """Refuses structures that differ."""
        if structures[0] != structures[1]:
            if isinstance(pair[0], dict) and isinstance(pair[1], dict):
                self._keys(name, pair)
            why, remedy = f"the structures differ{_difference(*pair)}", "give it one structure on both sides"
            self._fail(InvalidArgumentError, name, pair, why, _remedy(name, pair, remedy))

    def _keys(self, name: str, pair: tuple[dict[Any, Any], dict[Any, Any]]) -> None:
        """Refuses dicts of which one has a key that the other has not."""
        for own, other, side in zip(pair, reversed(pair), self.sides, strict=True):
            lone = [key for key in own if key not in other]
            if lone:
                text = f"{title_of(name)} has the key {lone[0]!r} only {side}; set it on both sides"
                raise self.refuse(InvalidArgumentError(text))

    def leaf(self, name: str, pair: tuple[Any, Any], first_type: TensorType | None) -> TensorType:
        """Returns the type of two leaves joined; ``first_type`` is that of the first one where it is wider by now."""
        if not all(is_tensor(value) or is_number(value) for value in pair):
            why = "Python values that depend on tensors cannot be compiled"
            remedy = "use tensors, or make the condition a Python value"
            self._fail(UnimplementedError, name, pair, why, _remedy(name, pair, remedy))
        if any(type(value) is int and not _INT32.min <= value <= _INT32.max for value in pair):
            why = (
                "the Python int becomes a tensor, as which of the two it is depends on tensors, and does not fit int32"
            )
            remedy = "use a float, or keep the number out of what depends on tensors"
            self._fail(InvalidArgumentError, name, pair, why, remedy)
        types = (first_type or leaf_type(pair[0]), leaf_type(pair[1]))
        if types[0].shape != types[1].shape:
            shapes = f"the shapes {types[0].shape} and {types[1].shape} differ"
            remedy = "give it one shape, for example with gx.zeros, or collect rows"
            self._fail(InvalidArgumentError, name, pair, shapes, remedy)
        # What was a number may be a tensor by now, in an iteration after the first.
        numbers = [kinds_of(pair[0]) is not None and (first_type is None or first_type.weak)]
        numbers.append(kinds_of(pair[1]) is not None)
        common = _common_type(types, numbers)
        if common is None:
            promoted = np.dtype(jax.numpy.promote_types(types[0].dtype, types[1].dtype)).name
            dtypes = f"the dtypes {types[0].dtype.name} and {types[1].dtype.name} differ"
            remedy = f"convert one, for example with gx.astype(x, {promoted!r})"
            self._fail(InvalidTypeError, name, pair, dtypes, remedy)
        for value, number in zip(pair, numbers, strict=True):
            if number and not _holds(common.dtype, value):
                shown = f"{value!r} does" if is_number(value) else "that one may"
                why = f"a number takes the dtype of the other side, and {shown} not fit {common.dtype.name}"
                remedy = f"convert the tensor, for example with gx.astype(x, {leaf_type(value).dtype.name!r})"
                self._fail(InvalidArgumentError, name, pair, why, remedy)
        return common

    def _fail(self, error: type[GraphcError], name: str, pair: tuple[Any, Any], why: str, remedy: str) -> NoReturn:
        first, second = map(describe, pair)
        second = "another one" if second == first else second
        sides = f"{first} {self.sides[0]} and {second} {self.sides[1]}"
        where = where_it_returns(user_location()) if name == "ag__return" else ""
        raise self.refuse(error(f"{title_of(name)} is {sides}: {why}; {remedy}{where}"))


def _remedy(name: str, pair: tuple[Any, Any], default: str) -> str:
    """Returns what to write in place of Python values that depend on tensors."""
    if name == "ag__return" and any(value is None for value in pair):
        return "return a value on every path, or bind a name to None first (`result = None`) and return it at the end"
    kinds = {cast("type[Any]", type(value)) for value in pair if value is not None}
    if any(has_mark(value, "__graphc_described__") for value in pair):
        return "change the list in place (append, pop, del), or keep a tensor of rows"
    kind = kinds.pop() if len(kinds) == 1 else object
    written = isinstance(getattr(kind, "__dict__", {}).get("__init__"), FunctionType)
    if not written or issubclass(kind, ArrayMethods) or is_dataclass(kind):
        return default
    return (
        f"an object of class {kind.__name__!r} that a branch or loop makes is followed if that is a dataclass or a "
        "NamedTuple; or make it before, and change its attributes"
    )


def _difference(first: Any, second: Any) -> str:
    """In what two structures differ, as far as that takes few words."""
    one, other = nest.level(first), nest.level(second)
    if one.kind is other.kind and one.kind is not None and one.keys != other.keys:
        if issubclass(one.kind, list | tuple):
            return f" (of {len(one.keys)} items and of {len(other.keys)})"
        odd = [key for key in (*one.keys, *other.keys) if key not in one.keys or key not in other.keys]
        return f" ({odd[0]!r} is set on one side only)" if odd else " (in the order of the keys)"
    parts = nest.children(first), nest.children(second)
    if one != other or parts[0] is None or parts[1] is None:
        return ""
    pairs = zip(parts[0][1], parts[1][1], strict=True)
    return next((difference for pair in pairs if (difference := _difference(*pair))), "")


def title_of(name: str) -> str:
    """Returns what a name is, for messages."""
    if name.startswith(("the ", "a ")):
        return name
    return "the return value" if name == "ag__return" else f"the variable {name!r}"


def _common_type(types: tuple[TensorType, TensorType], numbers: Sequence[bool]) -> TensorType | None:
    """Returns the type that both become where numbers yield to tensors; None where a dtype that shows would change."""
    # A weak tensor has a dtype that shows, where a number that depends on tensors has none.
    tensors = [type for type, number in zip(types, numbers, strict=True) if not number]
    if len({type.dtype for type in tensors or types}) == 1:
        dtype = (tensors or types)[0].dtype
    elif not tensors and all(type.weak for type in types):
        dtype = np.dtype(jax.numpy.promote_types(types[0].dtype, types[1].dtype))
    else:
        return None
    if any(type.dtype != dtype and not (type.weak and _rank(type.dtype) <= _rank(dtype)) for type in types):
        return None
    return TensorType(types[0].shape, dtype, all(type.weak for type in tensors or types))


def _rank(dtype: np.dtype[Any]) -> int:
    """Returns the higher, the more kinds of numbers a dtype promotes to itself."""
    return {"b": 0, "i": 1, "u": 1, "f": 2, "c": 3}.get(kind_of_dtype(dtype), -1)


def _holds(dtype: np.dtype[Any], number: Any) -> bool:
    """Returns True if a dtype holds a number: an int exactly, a float as 32 bits do, and neither as 0 nor as inf."""
    if dtype.kind == "b":
        return True
    whole = kind_of_dtype(dtype) in "iu"
    if is_number(number) and not whole:
        with np.errstate(over="ignore"):
            stored = complex(dtype.type(number))
            if isinstance(number, int) or not np.isfinite(number):
                return stored == number or number != number
            near = bool(np.isfinite(stored)) and np.complex64(stored) == np.complex64(number)
        return near and bool(stored) == bool(number)
    span = span_of(number)
    if span is None or not (whole or dtype.itemsize < 4):  # an int beyond 2**24 that depends on tensors is rounded
        return dtype.itemsize >= 4
    span.rely()
    numpy = cast("Any", jax.numpy)  # its annotations are partly unknown
    limits = numpy.iinfo(dtype) if whole else numpy.finfo(dtype)
    high = limits.max if whole else 2 ** (limits.nmant + 1)
    return bool((limits.min if whole else -high) <= span.low and span.high <= high)


def interchangeable(first: Any, second: Any) -> bool:
    """Tells if the containers of two values of one structure are the same objects, or such as nobody can change."""
    parts, others = nest.children(first), nest.children(second)
    if first is second or parts is None or others is None:
        return True
    return isinstance(first, tuple) and all(map(interchangeable, parts[1], others[1]))


def common_kinds(first: Any, second: Any) -> Kinds | None:
    """Returns the Python types of which what was one of two numbers has one; None if it may be no number."""
    kinds = (kinds_of(first), kinds_of(second))
    return None if kinds[0] is None or kinds[1] is None else kinds[0] | kinds[1]


def note_aliases(
    trace: Trace,
    name: str,
    value: Any,
    sources: Sequence[Any] | None,  # values of that structure; None where they are not known
    holders: int = 0,  # references to each tensor of the sources that the user's code cannot see
    shared: AbstractSet[int] = frozenset(),  # identities of containers that stand for nothing but themselves
    copies: Mapping[int, Any] = MappingProxyType({}),  # by a copy's id: what the value stands for
) -> None:
    """Notes that the tensors and containers of a value stand for those of one of several others."""
    if id(value) in shared:
        return
    numbers: Kinds = frozenset()
    if sources is not None:
        numbers = numbers.union(*[kinds_of(source) or () for source in sources])
        numbers |= {cast("Any", one).__class__ for one in sources if isinstance(one, np.generic)}
        sources = [source for source in sources if not is_number(source) and not has_mark(source, "__graphc_unbound__")]
    parts = nest.children(value)
    if parts is None:
        unchanged = bool(sources) and all(source is value for source in sources)  # the same object on all sides
        if isinstance(value, SymbolicTensor) and not unchanged:
            trace.root.aliases.add(value, name, None if sources is None else tuple(sources), holders, numbers)
        return
    # None and () are one object each: they have no other name to tell of.
    if value is None or (isinstance(value, tuple) and not parts[1]):
        return
    columns = None if sources is None else [nest.children(source) for source in sources]
    if columns is not None and any(column is not None and len(column[1]) != len(parts[1]) for column in columns):
        columns = None
    whole = None if sources is None or holders else tuple([copies.get(id(source), source) for source in sources])
    trace.root.aliases.add(value, name, whole)
    for position, part in enumerate(parts[1]):
        inner = None if columns is None else [column[1][position] for column in columns if column is not None]
        note_aliases(trace, name, part, inner, holders, shared, copies)


def leaf_type(value: Any) -> TensorType:
    """Returns the type that a leaf has as a tensor; a Python number is weak."""
    raw = operand(value)
    if is_number(raw):
        return TensorType((), scalar_array(raw).dtype, type(raw) is not bool)  # JAX has no weak bool
    return type_of_any(raw)


def to_tensors(trace: Trace, leaves: Sequence[Any], types: Sequence[TensorType | None]) -> list[SymbolicTensor]:
    """Those leaves that have a type, as tensors of that type in ``trace``, and of their own: items may be assigned."""
    pairs = zip(leaves, types, strict=True)
    return [cast_to(trace, operand(value), type).snapshot() for value, type in pairs if type is not None]


def zeros_of(trace: Trace, type: TensorType) -> SymbolicTensor:
    """Zeros of exactly this type in ``trace``, for a value that is never looked at."""
    if not type.weak:  # the op makes strong zeros, a Python number weak ones
        return trace.apply(OPS["zeros"], (), Attrs(shape=type.shape, dtype=type.dtype))[0]
    zero = trace.lift(type.dtype.type(0).item())
    return zero if not type.shape else trace.apply(OPS["broadcast_to"], (zero,), Attrs(shape=type.shape))[0]


def cast_to(trace: Trace, value: Any, type: TensorType) -> SymbolicTensor:
    """Returns a value as a tensor of ``trace`` of exactly this type."""
    lifted = trace.lift(value)
    if lifted.type == type:
        return lifted
    if not type.weak:
        return trace.cast(lifted, type)
    if type.dtype.kind == "i" and not lifted.type.weak:
        return trace.apply(AS_NUMBER, (lifted,), Attrs(kind="int"))[0]
    # Only numbers become another weak type; adding a weak zero of the wider kind keeps the result weak.
    zero = {"c": 0j, "f": 0.0, "V": 0.0}.get(type.dtype.kind, 0)
    return trace.apply(OPS["add"], (lifted, zero))[0]
